package search_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/search"
	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

func TestAttachments(t *testing.T) {
	s := newShelf(t)
	text := strings.Repeat("grinding\n", 700_000) + "the mill broke\n" + strings.Repeat("silence\n", 700_000) + "mended\n"
	k := s.put("claude-code", "S/tool-results/x.txt", transcript.Attachment, 1, text, 1<<20)
	for _, c := range []struct {
		q    search.Query
		line int // 0: no hit
	}{
		{search.Query{Words: []string{"MILL"}}, 700_001},
		{search.Query{Words: []string{"mended", "mill"}}, 700_001},
		{search.Query{Words: []string{"broke silence"}}, 700_001},
		{search.Query{Words: []string{"mill", "flour"}}, 0},
		{search.Query{Words: []string{"mill"}, Tool: "Bash"}, 0},
	} {
		hits, _ := s.find(c.q, s.source(k))
		switch {
		case c.line == 0 && len(hits) == 0:
		case len(hits) != 1 || hits[0].Line != c.line || hits[0].ID != mark.Sum([]byte(text)).ID() || hits[0].Kind != transcript.File:
			t.Errorf("%v: %+v, want line %d", c.q.Words, hits, c.line)
		}
	}
}

// Damage is told once, the rest is found, and numbers that it hides are not made up.
func TestDamageIsPassed(t *testing.T) {
	s := newShelf(t)
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "%s", asked(fmt.Sprintf("ink %d %s", i, mark.Sum([]byte{byte(i), byte(i >> 8)}))+strings.Repeat(" soot", 200)))
	}
	k := s.put("claude-code", "one", transcript.Main, 1, b.String(), 1<<20)
	whole, damage := s.find(search.Query{Words: []string{"ink"}}, s.source(k))
	if len(whole) != 1000 || damage != 0 {
		t.Fatalf("%d hits, %d damaged", len(whole), damage)
	}
	file, err := os.ReadFile(s.path)
	testkit.Must(t, err)
	rests := 0
	for at := len(file) / 8; at < len(file); at += len(file) / 8 {
		bad := append([]byte(nil), file...)
		for i := range 64 {
			bad[at+i] ^= 0xff
		}
		testkit.Must(t, os.WriteFile(s.path, bad, 0o600))
		a, err := archive.Open(s.path, archive.Options{ReadOnly: true})
		testkit.Must(t, err)
		one, err := a.Session(context.Background(), k)
		if err != nil {
			continue
		}
		n, met := 0, 0
		for h, err := range (search.Search{Library: &reader.Library{Place: &account.Place{Archive: a}}, Sessions: []*reader.Entry{{Session: one}}, Query: search.Query{Words: []string{"ink"}}}).Hits(context.Background()) {
			switch {
			case errors.As(err, new(*archive.DamageError)):
				met++
			case err != nil:
				t.Fatal(err)
			default:
				n++
				if want := "ink " + fmt.Sprint(h.Record-1) + " "; h.Record > 0 && !strings.HasPrefix(h.Snippet, want) {
					t.Fatalf("record %d is %q", h.Record, h.Snippet)
				}
			}
		}
		if n < 1000 && met == 0 {
			t.Errorf("at %d: %d hits of 1000, and no damage told", at, n)
		}
		if n > 0 && n < 1000 {
			rests++
		}
	}
	if rests == 0 {
		t.Error("nothing was found beside damage: the test sees nothing")
	}
}

// A search ends where its context ends it, and tells how far it is.
func TestSearchEnds(t *testing.T) {
	s := newShelf(t)
	k := s.put("claude-code", "one", transcript.Main, 1, strings.Repeat(asked("ink"), 1000), 1<<20)
	one := search.Search{Library: s.library(), Sessions: []*reader.Entry{s.source(k)}, Query: search.Query{Words: []string{"ink"}}}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := one.Best(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
	var done, total int64
	one.Progress = func(d, all int64) { done, total = d, all }
	_, err := one.Best(context.Background())
	testkit.Must(t, err)
	if done != total || total == 0 {
		t.Errorf("%d of %d looked through", done, total)
	}
}

// While a search goes on, sessions grow: neither waits for the other, and both get what they should.
func TestSearchBesideCommits(t *testing.T) {
	s := newShelf(t)
	k := s.put("claude-code", "one", transcript.Main, 1, strings.Repeat(asked("ink")+asked("soot"), 500), 1<<20)
	in := s.source(k)
	var writer sync.WaitGroup
	writer.Go(func() {
		for range 20 {
			one, err := s.Session(context.Background(), k)
			if err == nil {
				tip, more := one.Tip(), asked("ink")
				end := transcript.Cursor{Generation: 1, Offset: tip.Offset + int64(len(more))}
				err = s.Append(context.Background(), one.Session, transcript.Segment{Start: tip, Data: []byte(more), End: end})
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	for range testkit.Cases(t, 5, 20) {
		if hits, damage := s.find(search.Query{Words: []string{"ink"}}, in); len(hits) != 500 || damage != 0 || hits[0].Record != 999 {
			t.Fatalf("%d hits, %d damaged", len(hits), damage)
		}
	}
	writer.Wait()
	if hits, _ := s.find(search.Query{Words: []string{"ink"}}, s.source(k)); len(hits) != 520 {
		t.Errorf("%d hits afterwards", len(hits))
	}
}
