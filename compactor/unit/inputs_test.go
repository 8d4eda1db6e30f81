package unit

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"ccd/compactor/fold"
	"ccd/compactor/lexicon"
	"ccd/compactor/limits"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
)

func TestInputs(t *testing.T) {
	o := limits.Defaults()
	o.Summarizer = "model"
	if _, ok := InputOf(o, strings.Repeat("x", minAsked-1)); ok {
		t.Error("a short text is asked for")
	}
	text := strings.Repeat("What is said. ", 100)
	in, ok := InputOf(o, text+"And more \xff.")
	if !ok || in.size != lexicon.Chars(text)+lexicon.Chars("And more \xff.") || in.Most != (3*in.size+5)/10 {
		t.Fatalf("%d chars of %d, %t", in.Most, in.size, ok)
	}
	if !strings.HasPrefix(in.Text, fold.RequestLine) || !strings.HasSuffix(in.Text, "What is said. And more \uFFFD.\n") {
		t.Errorf("it reads %q", in.Text)
	}
	same, _ := InputOf(o, text+"And more \xff.")
	o.Summarizer = "another"
	other, _ := InputOf(o, text+"And more \xff.")
	if in.Hash != same.Hash || in.Hash == other.Hash || in.Text != other.Text {
		t.Error("its hash is not that of summarizer and text")
	}
	huge, _ := InputOf(o, strings.Repeat("ä", 1<<20))
	if n := lexicon.Chars(huge.Text); n > maxAsked+2000 || huge.Most != o.SummaryChars {
		t.Errorf("of a huge text it reads %d chars for %d", n, huge.Most)
	}
}

func TestTake(t *testing.T) {
	in := Input{Most: 60, size: 200}
	for _, c := range []struct{ out, want, why string }{
		{"A summary.\n", "A summary.", ""},
		{"  two\n\n lines\t of it ", "two lines of it", ""},
		{"\x1b[1;32mgreen\x1b[0m \x1b]0;title\x07tail\x1b(B\x00\x7f\u202e\u200bend\xff", "green tailend", ""},
		{"<think>long\nthoughts</think>\n\nThe answer.", "The answer.", ""},
		{"<think>never done", "", "empty"},
		{"", "", "empty"},
		{" \n\x1b[0m\x00", "", "empty"},
		{strings.Repeat("x", 200), "", "not shorter"},
		{"One sentence that is rather long here. Another that passes the limit.", "One sentence that is rather long here.", ""},
		{strings.Repeat("word ", 30), strings.TrimSpace(strings.Repeat("word ", 11)) + "…", ""},
		{strings.Repeat("y", 100), strings.Repeat("y", 59) + "…", ""},
	} {
		got, why := in.Take([]byte(c.out))
		if got != c.want || why != c.why {
			t.Errorf("%q: %q, %q; want %q, %q", c.out, got, why, c.want, c.why)
		}
		if lexicon.Chars(got) > in.Most {
			t.Errorf("%q: %d chars", c.out, lexicon.Chars(got))
		}
	}
}

func FuzzTake(f *testing.F) {
	f.Add("A summary. And \x1b[1mmore\x1b[0m of it.", 40)
	f.Add("<think>x</think> y", 3)
	f.Fuzz(func(t *testing.T, out string, most int) {
		in := Input{Most: 1 + max(0, most)%1000, size: 500}
		got, why := in.Take([]byte(out))
		if (got == "") != (why != "") || lexicon.Chars(got) > in.Most || lexicon.Chars(got) >= in.size || !utf8.ValidString(got) {
			t.Errorf("%q, %q", got, why)
		}
		if clean := mark.Inline(got, 0); strings.ReplaceAll(clean, `[\ccd`, "[ccd") != got && !strings.Contains(got, `\`) {
			t.Errorf("%q has what is escaped: %q", got, clean)
		}
	})
}

func TestFieldsAndPatches(t *testing.T) {
	if got := fieldsOf([]byte(`{"plan":"one\ntwo\n","n":2,"b":"c"}`)); got != "plan:\none\ntwo\nn: 2\nb: c" {
		t.Errorf("fieldsOf = %q", got)
	}
	for _, none := range []string{`{"a":"b"}`, `["a\n"]`, `{"a\n"`, `{"a":`, `\n`, `{"a\n":}`} {
		if got := fieldsOf([]byte(none)); got != "" {
			t.Errorf("fieldsOf(%q) = %q", none, got)
		}
	}
	row, _ := registry.Table{}.Lookup("codex")
	patch := "*** Begin Patch\n*** Add File: a\n+b\n*** End Patch"
	for _, in := range []any{map[string]string{"input": patch}, map[string][]string{"command": {"apply_patch", patch}}} {
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := row.Client.Patch("shell", raw); got != patch {
			t.Errorf("Patch(%s) = %q", raw, got)
		}
	}
}
