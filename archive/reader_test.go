package archive

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

func TestSegmentsAreWholeLines(t *testing.T) {
	t.Parallel()
	a := open(t)
	s := session("s")
	data := slices.Concat(talk(1, 3<<20), bytes.Repeat([]byte("y"), 5<<20), []byte("\n"), bytes.Repeat([]byte("z"), 17<<20), talk(2, 1000))
	fill(t, a, s, 1, data, whole)
	at := int64(0)
	pieces := 0
	for seg, err := range a.Reader(s.Key, 0).Segments(context.Background()) {
		must(t, err)
		if seg.Start.Offset != at || seg.End.Offset != at+int64(len(seg.Data)) || seg.Start.Generation != 1 {
			t.Fatalf("segment from %+v to %+v at %d", seg.Start, seg.End, at)
		}
		last := seg.End.Offset == int64(len(data))
		if seg.Rest != last || (seg.End.Head.N != 0) != last {
			t.Errorf("segment to %d: Rest %v, fingerprint %v", seg.End.Offset, seg.Rest, seg.End.Head.N)
		}
		if !bytes.HasSuffix(seg.Data, []byte("\n")) {
			pieces++
			if len(seg.Data) < pieceSize {
				t.Errorf("a piece of a line of %d bytes only", len(seg.Data))
			}
		} else if bytes.IndexByte(seg.Data, '\n') != len(seg.Data)-1 && len(seg.Data) > 4<<20 {
			t.Errorf("a segment of several lines has %d bytes", len(seg.Data))
		}
		at = seg.End.Offset
	}
	if at != int64(len(data)) || pieces == 0 {
		t.Errorf("ended at %d of %d with %d pieces", at, len(data), pieces)
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	a := open(t)
	s := session("s")
	data := talk(1, 3<<20)
	r := rand.New(rand.NewPCG(1, 1))
	fill(t, a, s, 1, data, func() int { return 1 + r.IntN(900<<10) })
	reader := a.Reader(s.Key, 1)
	for range testkit.Cases(t, 50, 200) {
		off := r.IntN(len(data))
		n := r.IntN(min(len(data)-off, 1<<r.IntN(22)) + 1)
		got, err := reader.Span(context.Background(), transcript.Span{Off: int64(off), Len: int64(n)})
		if err != nil || !bytes.Equal(got, data[off:off+n]) {
			t.Fatalf("Span(%d, %d): %v", off, n, err)
		}
		size := 0
		for _, b := range reader.kept {
			size += cap(b.raw)
		}
		if size > cacheSize+fetchSize+maxFrame {
			t.Fatalf("the reader keeps %d bytes", size)
		}
	}
	// A reader that is older than what was appended, and than frames that took the place of pieces it holds.
	more := talk(2, 2<<20)
	for off := 0; off < len(more); {
		n := min(1+r.IntN(500<<10), len(more)-off)
		must(t, a.Append(context.Background(), s, segment(1, int64(len(data)+off), more[off:off+n])))
		off += n
		from := max(0, len(data)+off-3<<20)
		got, err := reader.Span(context.Background(), transcript.Span{Off: int64(from), Len: int64(len(data) + off - from)})
		if err != nil || !bytes.Equal(got, slices.Concat(data, more)[from:len(data)+off]) {
			t.Fatalf("Span behind an old reader: %v", err)
		}
	}
	for _, bad := range []transcript.Span{{Off: -1, Len: 2}, {Off: 0, Len: -1}, {Off: 9 << 20, Len: 1 << 20}, {Off: 1 << 62, Len: 1 << 62}} {
		if _, err := reader.Span(context.Background(), bad); !errors.Is(err, ErrNotFound) {
			t.Errorf("Span(%v) = %v, want ErrNotFound", bad, err)
		}
	}
}
