package reader

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// TestShowDecodesNothing: to see whether originals all over a session are sound, the stored bytes of each block are read
// once, and no more than the limit in all. An original in a damaged block is marked.
func TestShowDecodesNothing(t *testing.T) {
	a, err := archive.Open(filepath.Join(t.TempDir(), "archive.db"), archive.Options{})
	testkit.Must(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	var text bytes.Buffer
	for text.Len() < 8<<20 {
		line := make([]byte, 500)
		for i := range line {
			line[i] = byte(random.Uint32())
		}
		text.WriteString(hex.EncodeToString(line) + "\n")
	}
	data, k := text.Bytes(), transcript.Key{Agent: "claude-code", ID: "one"}
	end := transcript.Cursor{Generation: 1, Offset: int64(len(data))}
	seg := transcript.Segment{Start: transcript.Cursor{Generation: 1}, Data: data, Rest: true, End: end}
	testkit.Must(t, a.Append(t.Context(), transcript.Session{Key: k, Path: "/h/one.jsonl", Root: "/h"}, seg))
	var pointers []transcript.Pointer
	companion := ""
	for range 300 {
		span := transcript.Span{Off: random.Int64N(int64(len(data)) - 1000), Len: 1 + random.Int64N(1000)}
		p := transcript.Pointer{Hash: mark.Sum(data[span.Off:span.End()]), Record: 1, Last: 1, Parts: []transcript.Part{{Span: span}}}
		pointers = append(pointers, p)
		companion += mark.New(p.Hash.ID(), "text") + "\n"
	}
	testkit.Must(t, a.Publish(t.Context(), archive.Publication{Key: k, At: end, Pointers: pointers}))
	l := &Library{Place: &account.Place{Archive: a}}
	shown, known, err := l.Checked(t.Context(), []byte(companion))
	if err != nil || len(known) != len(pointers) || string(shown) != companion {
		t.Errorf("%d known, %v:\n%.500s", len(known), err, shown)
	}
	raw := testkit.Read(t, a.Path())
	raw[len(raw)/2] ^= 1
	testkit.Put(t, a.Path(), string(raw))
	shown, _, err = l.Checked(t.Context(), []byte(companion))
	if n := strings.Count(string(shown), "content unavailable"); err != nil || n == 0 || n > 100 {
		t.Errorf("%d of %d are marked, %v", n, len(pointers), err)
	}
}
