package reader

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/daemon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// TestShowDecodesNothing: to see whether originals all over a session are sound, the stored bytes of each block are read
// once, and no more than the limit in all. An original in a damaged block is marked.
func TestShowDecodesNothing(t *testing.T) {
	a, err := archive.Open(filepath.Join(t.TempDir(), "archive.db"), archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
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
	if err := a.Append(t.Context(), transcript.Session{Key: k, Path: "/h/one.jsonl", Root: "/h"}, seg); err != nil {
		t.Fatal(err)
	}
	var pointers []transcript.Pointer
	companion := ""
	for range 300 {
		span := transcript.Span{Off: random.Int64N(int64(len(data)) - 1000), Len: 1 + random.Int64N(1000)}
		p := transcript.Pointer{Hash: mark.Sum(data[span.Off:span.End()]), Record: 1, Last: 1, Parts: []transcript.Part{{Span: span}}}
		pointers = append(pointers, p)
		companion += mark.New(p.Hash.ID(), "text") + "\n"
	}
	if err := a.Publish(t.Context(), archive.Publication{Key: k, At: end, Pointers: pointers}); err != nil {
		t.Fatal(err)
	}
	l := &Library{Place: &account.Place{Archive: a}}
	shown, known, err := l.Checked(t.Context(), []byte(companion))
	if err != nil || len(known) != len(pointers) || string(shown) != companion {
		t.Errorf("%d known, %v:\n%.500s", len(known), err, shown)
	}
	raw, err := os.ReadFile(a.Path())
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 1
	if err := os.WriteFile(a.Path(), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	shown, _, err = l.Checked(t.Context(), []byte(companion))
	if n := strings.Count(string(shown), "content unavailable"); err != nil || n == 0 || n > 100 {
		t.Errorf("%d of %d are marked, %v", n, len(pointers), err)
	}
}

// TestNumbersBehindDamage: what can be read behind a damaged block has the numbers that it always had.
func TestNumbersBehindDamage(t *testing.T) {
	a, err := archive.Open(filepath.Join(t.TempDir(), "archive.db"), archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	const lines = 8000
	var text strings.Builder
	for n := range lines {
		text.WriteString(asked(fmt.Sprint(n+1), fmt.Sprintf("%d %x %x", n+1, random.Uint64(), random.Uint64())))
	}
	k := transcript.Key{Agent: "claude-code", ID: "one"}
	end := transcript.Cursor{Generation: 1, Offset: int64(text.Len())}
	seg := transcript.Segment{Start: transcript.Cursor{Generation: 1}, Data: []byte(text.String()), Rest: true, End: end}
	if err := a.Append(t.Context(), transcript.Session{Key: k, Path: "/h/one.jsonl", Root: "/h"}, seg); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(a.Path())
	if err != nil {
		t.Fatal(err)
	}
	met := false // a damage in the middle of the session: where its blocks are in the file is chance
	for part := 2; part < 9; part++ {
		flipped := bytes.Clone(raw)
		flipped[len(raw)*part/10] ^= 1
		if err := os.WriteFile(a.Path(), flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		before, behind := numbersBehind(t, a, k, end, lines)
		met = met || before > 0 && behind > 0
	}
	if !met {
		t.Error("no damage was in the middle: the test sees nothing")
	}
}

// numbersBehind reads a damaged session, and returns how many records are known before and behind the damage.
func numbersBehind(t *testing.T, a *archive.Archive, k transcript.Key, end transcript.Cursor, lines int) (before, behind int) {
	t.Helper()
	l := &Library{Place: &account.Place{Archive: a}}
	e := l.Session(t.Context(), k)
	if e == nil {
		return 0, 0
	}
	e.Kept.At, e.Kept.Records = daemon.Place{Generation: 1, Offset: end.Offset}, lines
	g, err := l.Reading(e, 0)
	if err != nil {
		t.Fatal(err)
	}
	var cause error
	for _, err := range g.Records(t.Context()) {
		cause = err
	}
	if cause == nil { // it was in no block
		return 0, 0
	}
	s, err := l.salvaged(t.Context(), e, g, cause)
	if err != nil || !errors.As(cause, new(*archive.DamageError)) {
		t.Fatal(err, cause)
	}
	blank := 0
	for r, err := range s.Records(t.Context()) {
		switch {
		case err != nil:
			t.Fatal(err)
		case r.UUID == "":
			blank++
		case r.UUID != fmt.Sprint(r.N):
			t.Fatalf("record %s has number %d", r.UUID, r.N)
		case blank == 0:
			before++
		default:
			behind++
		}
	}
	if before+blank+behind != lines || s.first != before+1 || s.lost != blank {
		t.Errorf("%d before, %d lost, %d behind of %d; first %d, lost %d", before, blank, behind, lines, s.first, s.lost)
	}
	return before, behind
}
