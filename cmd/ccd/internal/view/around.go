package view

import (
	"bytes"
	"context"
	"fmt"

	"ccd/archive"
	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/redact"
	"ccd/internal/transcript"
)

// How much Around reads at once, and which lines it keeps.
const (
	scanStep    = 1 << 20 // bytes
	linesBefore = 300
	linesAfter  = 600
	bytesAfter  = 8 << 20
)

// Around returns a life that has only the records around one, so that a page can show them at once while the whole is
// indexed: no turns, no context, no compactions. Secrets have no numbers in it, and a result of a call may be too far away.
// It counts lines and decodes nothing. It is nil where the number of records is not known, or the records are elements of
// one JSON value.
func Around(ctx context.Context, l *reader.Library, e reader.Entry, g archive.Generation, record int) (*Life, error) {
	if e.Kept.At != (daemon.Place{Generation: g.N, Offset: g.Tip.Offset}) || e.Kept.Torn > 0 || e.Key.Unlined() || e.Kept.Records == 0 {
		return nil, nil
	}
	life := Open(l, e, g)
	life.Records = e.Kept.Records
	record = max(1, min(record, life.Records))
	s := scan{life: life}
	if record > life.Records/2 {
		s.last = e.Kept.Records
		if ok, err := s.back(ctx, record-linesBefore); !ok || err != nil {
			return nil, err
		}
	} else {
		s.line = 1
	}
	if err := s.collect(ctx, record); err != nil || len(life.chunks) == 0 {
		return nil, err
	}
	if life.decoder.Redact != nil { // its numbers count from the first record
		life.decoder.Redact.Whole = func() *redact.Session { return nil }
	}
	return life, nil
}

// scan counts the lines of a session.
type scan struct {
	life *Life
	last int   // number of the last line
	off  int64 // it is in line number line
	line int
}

func (s *scan) read(ctx context.Context, off, end int64) ([]byte, error) {
	data, err := s.life.archive.Span(ctx, transcript.Span{Off: off, Len: end - off})
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", s.life.entry.ID, err)
	}
	return data, nil
}

// back counts lines from the end until it is before the beginning of a line, or at that of the session. It returns false if
// the lines are not the records.
func (s *scan) back(ctx context.Context, first int) (ok bool, err error) {
	s.off, s.line = s.life.Total, s.last
	for end := s.off; s.off > 0 && s.line >= first; end = s.off {
		from := max(0, end-scanStep)
		data, err := s.read(ctx, from, end)
		if err != nil {
			return false, err
		}
		if end == s.life.Total && data[len(data)-1] == '\n' {
			s.line++
		}
		s.line -= bytes.Count(data, []byte("\n"))
		s.off = from
	}
	return s.line >= 1 && (s.off > 0 || s.line == 1), nil
}

// collect divides the lines around a record into chunks, as an index does. It sets how far the life goes.
func (s *scan) collect(ctx context.Context, record int) error {
	l := s.life
	begins := s.off == 0 // a line begins at off
	var stop int64       // bytes after the record's line
	for s.off < l.Total {
		end := min(s.off+scanStep, l.Total)
		data, err := s.read(ctx, s.off, end)
		if err != nil {
			return err
		}
		for at := 0; at < len(data); {
			off := s.off + int64(at)
			if begins && s.line >= record-linesBefore {
				if s.line > record+linesAfter || stop > 0 && off > stop {
					l.Bytes, l.Records = off, s.line-1
					return nil
				}
				s.chunk(off)
			}
			if begins && s.line == record+1 {
				stop = off + bytesAfter
			}
			i := bytes.IndexByte(data[at:], '\n')
			if begins = i >= 0; !begins {
				break
			}
			at += i + 1
			s.line++
		}
		s.off = end
	}
	l.Bytes = l.Total
	return nil
}

// chunk begins a chunk with a line where an index would.
func (s *scan) chunk(off int64) {
	l := s.life
	if n := len(l.chunks); n == 0 || s.line-l.chunks[n-1].record >= chunkLines || off-l.chunks[n-1].off >= chunkBytes {
		l.chunks = append(l.chunks, chunk{record: s.line, off: off, cwd: l.entry.Kept.Cwd})
	}
}

// First is the first record that a page can show: 1, or in a life of Around a later one.
func (l *Life) First() int {
	if len(l.chunks) == 0 {
		return 1
	}
	return l.chunks[0].record
}
