package view

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"ccd/archive"
	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/redact"
	"ccd/internal/transcript"
)

// tailBytes is how much of the end of a session Tail reads.
const tailBytes = 512 << 10

// Tail returns a life that has only the last records of a session, so that a page can show them at once while the whole is
// indexed: no turns, no context, no compactions. Secrets have no numbers in it. It is nil where the number of records is not
// known, or the records are elements of one JSON value.
func Tail(ctx context.Context, l *reader.Library, e reader.Entry, g archive.Generation) (*Life, error) {
	if e.Kept.At != (daemon.Place{Generation: g.N, Offset: g.Tip.Offset}) || e.Kept.Torn > 0 || e.Key.Unlined() || e.Kept.Records == 0 {
		return nil, nil
	}
	life := Open(l, e, g)
	off := max(0, g.Tip.Offset-tailBytes)
	data, err := life.archive.Span(ctx, transcript.Span{Off: off, Len: g.Tip.Offset - off})
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", e.ID, err)
	}
	if off > 0 {
		i := bytes.IndexByte(data, '\n')
		if i < 0 || i+1 == len(data) {
			return nil, nil // one long line
		}
		off, data = off+int64(i)+1, data[i+1:]
	}
	lines := bytes.Count(data, []byte("\n"))
	if data[len(data)-1] != '\n' {
		lines++
	}
	if life.Records, life.Bytes = e.Kept.Records, g.Tip.Offset; lines > life.Records {
		return nil, nil
	}
	record := life.Records - lines + 1
	for at := 0; at < len(data); { // as many chunks as an index would have
		life.chunks = append(life.chunks, chunk{record: record, off: off + int64(at), cwd: e.Kept.Cwd})
		for begin, n := at, 0; at < len(data) && n < chunkLines && at-begin < chunkBytes; n++ {
			i := bytes.IndexByte(data[at:], '\n')
			if i < 0 {
				i = len(data) - at - 1
			}
			at += i + 1
			record++
		}
	}
	if life.decoder.Redact != nil { // its numbers count from the first record
		life.decoder.Redact.Whole = func() *redact.Session { return nil }
	}
	life.chunks = slices.Clip(life.chunks)
	return life, nil
}

// First is the first record that a page can show: 1, or in a Tail a later one.
func (l *Life) First() int {
	if len(l.chunks) == 0 {
		return 1
	}
	return l.chunks[0].record
}
