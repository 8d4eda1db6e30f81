package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"ccd/cmd/ccd/internal/search"
)

func TestSince(t *testing.T) {
	now := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"":                     {},
		"2026-01-29":           time.Date(2026, 1, 29, 0, 0, 0, 0, time.UTC),
		"2026-01-29T10:30Z":    time.Date(2026, 1, 29, 10, 30, 0, 0, time.UTC),
		"2026-01-29T10:30:31Z": time.Date(2026, 1, 29, 10, 30, 31, 0, time.UTC),
		"90m":                  now.Add(-90 * time.Minute),
		"7d":                   now.Add(-7 * 24 * time.Hour),
		"0.5d":                 now.Add(-12 * time.Hour),
	} {
		if got, err := since(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"yesterday", "-3h", "7", "-1d", "1e9d"} {
		if got, err := since(text, now); err == nil {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
}

// Matches are marked on a terminal, and nothing is elsewhere.
func TestMatchesAreMarked(t *testing.T) {
	var out bytes.Buffer
	a := &app{std: std{out: &out}, env: []string{"NO_COLOR="}}
	p := a.hitPrinter(search.Query{Words: []string{"ink"}}, 1)
	if p.colour {
		t.Error("a buffer is taken for a terminal")
	}
	if got := p.marked("Ink, ink"); got != "Ink, ink" {
		t.Errorf("without colour: %q", got)
	}
	p.colour = true
	if got := p.marked("Ink, no"); got != "\x1b[1;31mInk\x1b[0m, no" {
		t.Errorf("with colour: %q", got)
	}
}

func TestQueryFromArguments(t *testing.T) {
	for _, c := range []struct {
		args   []string
		phrase bool
		want   string
	}{
		{[]string{"a", "b"}, false, "a|b"},
		{[]string{"a b", "c"}, false, "a b|c"},
		{[]string{`"a b" c`}, false, "a b|c"},
		{[]string{`f("a b")`}, false, `f("a b")`},
		{[]string{"a", "b"}, true, "a b"},
		{[]string{`"a`, `b"`}, true, `"a b"`},
	} {
		q, err := searchFlags{phrase: c.phrase}.query(c.args, time.Now())
		if got := strings.Join(q.Words, "|"); err != nil || got != c.want {
			t.Errorf("%q: %q, %v, want %q", c.args, got, err, c.want)
		}
	}
}
