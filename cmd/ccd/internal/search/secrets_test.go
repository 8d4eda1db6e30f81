package search_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/search"
	"ccd/internal/redact"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

const firstKey, secondKey = "AKIAQWERTYUIOPASDFGH", "AKIAZXCVBNMASDAWSHJK"

// No query shows anything of a secret: neither its text nor, by whether there is a hit, what it contains.
func TestSecretsAreNotFound(t *testing.T) {
	s := newShelf(t)
	message := func(role, text string) string {
		return fmt.Sprintf(`{"role":%q,"content":%q}`, role, text)
	}
	claude := func(n int, text string) string {
		return fmt.Sprintf(`{"type":"user","uuid":"u%d","cwd":"/src","message":{"role":"user","content":%q}}`+"\n", n, text)
	}
	call := func(path string) string {
		return fmt.Sprintf(`{"type":"assistant","uuid":"c","cwd":"/src","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":%q}}]}}`+"\n", path)
	}
	filler := strings.Repeat(claude(0, "nothing but brown bread"), 100)
	beside := "use the oven " + secondKey + " tomorrow"
	in := []*reader.Entry{
		s.source(s.put("claude-code", "lines", transcript.Main, 1, claude(1, firstKey)+filler+claude(2, beside)+call("/src/"+secondKey+".txt"), 4096)),
		s.source(s.put(transcript.Messages, "list.json", transcript.Main, 1, "["+message("user", firstKey)+",\n"+message("assistant", beside)+"]", 1<<20)),
		s.source(s.put("claude-code", "lines/tool-results/x.txt", transcript.Attachment, 1, firstKey+"\n"+beside+"\n", 16)),
	}
	rules, err := redact.New(redact.Config{})
	testkit.Must(t, err)
	l := s.library()
	l.Agents.Redact = rules
	find := func(q search.Query) (hits []search.Hit) {
		t.Helper()
		for h, err := range (search.Search{Library: l, Sessions: in, Query: q}).Hits(context.Background()) {
			testkit.Must(t, err)
			hits = append(hits, h)
		}
		return hits
	}

	for _, words := range [][]string{
		{secondKey[:6]},
		{secondKey},
		{strings.ToLower(firstKey[4:10])},
		{"oven AKIA"},
		{"oven", secondKey[14:]},
		{"tomorrow", "HJK"},
		// Part of the marks' text that of all bytes only the secret has: its mark must not count where its text may not.
		{"tomorrow", "redacted"},
		{"oven", "[", "d"},
		{"oven [redacted"},
		{"tomorrow", "aws"},
	} {
		for _, h := range find(search.Query{Words: words}) {
			t.Errorf("search %q: %s: %s", words, h.Session.ID, h.Snippet)
		}
	}
	for _, path := range []string{"AKIA*", secondKey + ".txt", "*redacted*", "*[A]KIAZX*"} {
		for _, h := range find(search.Query{Path: path}) {
			t.Errorf("search --path %q: %s", path, h.Snippet)
		}
	}
	hits := find(search.Query{Words: []string{"oven", "tomorrow"}})
	if len(hits) != len(in) {
		t.Fatalf("%d hits beside the secret: %v", len(hits), hits)
	}
	for _, h := range hits {
		if want := "use the oven [redacted aws-key 2] tomorrow"; !strings.Contains(h.Snippet, want) {
			t.Errorf("%s: %s, want %s", h.Session.ID, h.Snippet, want)
		}
	}
	for _, words := range []string{"oven", "bread"} { // the mark itself, or the snippet, may be cut anywhere
		for _, h := range find(search.Query{Words: []string{words}}) {
			if strings.Contains(h.Snippet, "AKIA") {
				t.Errorf("search %s: %s", words, h.Snippet)
			}
		}
	}
	if hits := find(search.Query{Path: "/src"}); len(hits) != 1 || !strings.Contains(hits[0].Snippet, "[redacted aws-key 2].txt") {
		t.Errorf("a call on a file whose name has a secret: %v", hits)
	}
}
