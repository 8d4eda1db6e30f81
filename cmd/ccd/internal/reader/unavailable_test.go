package reader

import (
	"bytes"
	"context"
	"encoding/hex"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// TestShowDecodesOnce: to see whether originals all over a session are sound, each block is decoded once, and no more than
// maxChecked in all. One that differs is told.
func TestShowDecodesOnce(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct{ size, most int64 }{{16 << 20, 16 << 20}, {48 << 20, maxChecked}} {
		a, err := archive.Open(filepath.Join(t.TempDir(), "archive.db"), archive.Options{})
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, 2))
		var text bytes.Buffer
		for text.Len() < int(c.size) {
			line := make([]byte, 500)
			for i := range line {
				line[i] = byte(random.Uint32())
			}
			text.WriteString(hex.EncodeToString(line) + "\n")
		}
		data, k := text.Bytes(), transcript.Key{Agent: "claude-code", ID: "one"}
		seg := transcript.Segment{Start: transcript.Cursor{Generation: 1}, Data: data, Rest: true, End: transcript.Cursor{Generation: 1, Offset: int64(len(data))}}
		if err := a.Append(ctx, transcript.Session{Key: k, Path: "/h/one.jsonl", Root: "/h"}, seg); err != nil {
			t.Fatal(err)
		}
		var found []archive.Found
		for range 300 {
			span := transcript.Span{Off: random.Int64N(int64(len(data)) - 1000), Len: 1 + random.Int64N(1000)}
			p := transcript.Pointer{Hash: mark.Sum(data[span.Off:span.End()]), Parts: []transcript.Part{{Span: span}}}
			found = append(found, archive.Found{Pointer: p, Key: k, Generation: 1})
		}
		found[7].Hash[0]++
		other := found[7].Hash.ID()
		l := &Library{Place: &account.Place{Archive: a}}
		bad, read := l.damaged(ctx, found)
		const block = 4 << 20 // at most, for each of two goroutines
		if read < c.most/2 || read > c.most+2*block {
			t.Errorf("%d bytes: %d were decoded", c.size, read)
		}
		if _, told := bad[other]; len(bad) > 1 || c.size < maxChecked && !told {
			t.Errorf("%d bytes: %v is damaged, want %s", c.size, bad, other)
		}
	}
}
