package view

import (
	"bytes"
	"context"

	"ccd/archive"
	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/transcript"
)

// Which records a life of Around has.
const (
	linesBefore = 300
	linesAfter  = 600
	bytesAfter  = 8 << 20
)

// Around returns a life that has only the records around one, so that a page can show them at once while the whole is
// indexed: no turns, no context, no compactions. Secrets have no numbers in it, and a result of a call may be too far away.
// It is nil where the number of records is not known or the session is more than its file, or the records are elements of one JSON value.
func Around(ctx context.Context, l *reader.Library, e reader.Entry, g archive.Generation, record int) (*Life, error) {
	if e.Kept.At != (daemon.Place{Generation: g.N, Offset: g.Tip.Offset}) || e.Kept.Torn > 0 || e.Key.Unlined() || e.Kept.Records == 0 || e.Kept.Joined != 0 || g.N > 1 {
		return nil, nil
	}
	life := Open(l, e, g)
	record = max(1, min(record, e.Kept.Records))
	life.First = max(1, record-linesBefore)
	life.shift = life.First - 1
	off, ok, err := life.seek(ctx, e.Kept.Records)
	if !ok || err != nil {
		return nil, err
	}
	if life.Bytes = off; off > 0 {
		if err := life.header(ctx, life.decoder, 0, 0); err != nil {
			return nil, err
		}
	}
	if life.decoder.Redact != nil { // its numbers count from the first record
		life.decoder.Redact.Whole = life.numbers
	}
	for more := true; more && life.Records < record+linesAfter && life.Bytes < off+bytesAfter; {
		if more, err = life.Grow(ctx, g, growStep); err != nil {
			return nil, err
		}
	}
	return life, nil
}

// seek returns the offset of line First, which it counts from the nearer end of the session. It returns false if the lines are
// not the records.
func (l *Life) seek(ctx context.Context, lines int) (off int64, ok bool, err error) {
	read := func(from, to int64) []byte {
		var data []byte
		if data, err = l.archive.Span(ctx, transcript.Span{Off: from, Len: to - from}); err != nil {
			return nil
		}
		return data
	}
	if l.First <= lines/2 {
		for line := 1; line < l.First; {
			data := read(off, min(off+growStep, l.Total))
			if len(data) == 0 {
				return 0, false, err
			}
			for len(data) > 0 && line < l.First {
				n := bytes.IndexByte(data, '\n') + 1
				if n == 0 {
					off += int64(len(data))
					break
				}
				off, data, line = off+int64(n), data[n:], line+1
			}
		}
		return off, true, nil
	}
	line := lines // the one that begins at or before off
	for off = l.Total; off > 0; {
		from := max(0, off-growStep)
		data := read(from, off)
		if err != nil {
			return 0, false, err
		}
		if off == l.Total {
			data = bytes.TrimSuffix(data, []byte("\n"))
		}
		for n := len(data); n > 0; {
			if n = bytes.LastIndexByte(data[:n], '\n'); n >= 0 {
				if line == l.First {
					return from + int64(n) + 1, true, nil
				}
				line--
			}
		}
		off = from
	}
	return 0, line == l.First, nil
}
