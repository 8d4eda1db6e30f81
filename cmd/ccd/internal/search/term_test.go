package search

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"ccd/internal/grams"
)

// inText returns the first occurrence of the term in a text.
func (t *term) inText(text string, from int) (start, end int) {
	f := fold([]byte(text))
	for start, end := range t.each(f.text[from:]) {
		return f.in(from + start), f.in(from + end)
	}
	return -1, -1
}

// A term is found where a plain search in the folded text finds it.
func FuzzFind(f *testing.F) {
	f.Add("Mix the ink, MIX it", "mix")
	f.Add("aaaab aab", "aab")
	f.Add("\u212aelvin ſ", "kelvin S")
	f.Add("a  b\n c", "b c")
	f.Add("\u0130stanbul", "i\u0307stanbul")
	f.Add("quayside and quarries", "quarries")
	f.Add("xi\u0307\u0307stanbul", "i\u0307\u0307stanbul")
	f.Add("I\u0307stanbul, \u0130zm\u0130r", "izm\u0130r")
	f.Add("xi\u0307\u0307y a\u0307", "\u0307y")
	f.Fuzz(func(t *testing.T, text, word string) {
		if !utf8.ValidString(text) || !utf8.ValidString(word) || strings.TrimSpace(word) == "" || len(word) > 100 {
			return
		}
		low := func(s string) string {
			return strings.Join(strings.Fields(strings.ReplaceAll(strings.Map(grams.Fold, s), "i\u0307", "i")), " ")
		}
		words := strings.Fields(low(word))
		if slices.ContainsFunc(words, func(w string) bool { return strings.Map(grams.Fold, w) != w }) {
			return
		}
		want := strings.Contains(" "+low(text)+" ", low(word)) || strings.Contains(low(text), low(word))
		u := newTerm(word)
		start, end := u.inText(text, 0)
		if (start >= 0) != want {
			t.Fatalf("find %q in %q: %v, want %v", word, text, start >= 0, want)
		}
		for _, word := range strings.Fields(string(bytes.Join(u.words, []byte(" ")))) {
			one, w := newTerm(word), grams.NewWord([]rune(word))
			if at, _ := one.inText(text, 0); at < 0 {
				continue
			}
			if !grams.New([]byte(text), 100).May(w) {
				t.Errorf("the index denies %q in %q", word, text)
			}
			for at := range min(len(text), 300) {
				a, b := grams.New([]byte(text[:at]), 100), grams.New([]byte(text[at:]), 100)
				if !a.May(w) && !b.May(w) && !a.MayCross(b, w) {
					t.Errorf("the index denies %q in %q, cut at %d", word, text, at)
				}
			}
		}
		if start >= 0 && low(text[start:end]) != low(word) {
			t.Errorf("find %q in %q: it is not at %d to %d", word, text, start, end)
		}
	})
}

// The dot of an i is no letter of its own, whoever wrote it out.
func TestDottedI(t *testing.T) {
	for _, text := range []string{"in istanbul", "in \u0130stanbul", "in i\u0307stanbul", "in I\u0307STANBUL"} {
		for _, word := range []string{"istanbul", "\u0130STANBUL", "i\u0307stanbul", "\u0130"} {
			one := newTerm(word)
			start, end := one.inText(text, 1)
			if want := len(text); start != 3 || end != want && word != "\u0130" {
				t.Errorf("%q in %q: from %d to %d, want 3 to %d", word, text, start, end, want)
			}
		}
	}
	for text, word := range map[string]string{"a\u0307": "a", "\u0131stanbul": "istanbul", "\u0307": "i"} {
		one := newTerm(word + "x")
		if start, _ := one.inText(text+"x", 0); start >= 0 {
			t.Errorf("%q is found in %q", word, text)
		}
	}
}

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		`ink gum`:                     {"ink", "gum"},
		`"exit status" 2`:             {"exit status", "2"},
		`  "a b"	"c"  `:               {"a b", "c"},
		`say("hi there")`:             {`say("hi`, `there")`},
		`"not closed here`:            {`"not`, "closed", "here"},
		`"" x`:                        {"x"},
		`"a "b" c"`:                   {`a "b`, `c"`},
		``:                            nil,
		"\u00a0ink\u2003\"soot gum\"": {"ink", "soot gum"},
	} {
		var q Query
		if q.Parse(line); !cmp.Equal(want, q.Words) {
			t.Errorf("%q (-want +got):\n%s", line, cmp.Diff(want, q.Words))
		}
	}
}

// TestOperators: what must occur, of what one must, and what must not; quoted, and at an end, operators are words.
func TestOperators(t *testing.T) {
	for line, want := range map[string]struct{ yes, no []string }{
		"ink AND gum":             {[]string{"gum and ink"}, []string{"ink", "gum"}},
		"ink OR gum":              {[]string{"ink", "gum"}, []string{"soot"}},
		"soot ink OR gum OR tar":  {[]string{"tar and soot", "soot, gum"}, []string{"ink", "soot"}},
		"ink OR gum soot OR tar":  {[]string{"ink, tar", "gum, soot"}, []string{"ink gum", "soot tar"}},
		"ink -not gum":            {[]string{"ink"}, []string{"ink and gum", "soot"}},
		"ink -gum":                {[]string{"ink"}, []string{"ink and gum", "soot"}},
		`ink -"gum tree" NOT tar`: {[]string{"ink gum"}, []string{"ink of a gum  tree", "ink tar"}},
		`ink "-gum"`:              {[]string{"ink -gum"}, []string{"ink gum"}},
		`ink "OR" gum`:            {[]string{"ink or gum"}, []string{"ink gum"}},
		"OR ink":                  {[]string{"ink or"}, []string{"ink"}},
		"ink NOT":                 {[]string{"not ink"}, []string{"ink"}},
		"--ink":                   {[]string{"a --ink"}, []string{"ink"}},
		"- ink":                   {[]string{"ink - gum"}, []string{"ink"}},
	} {
		var q Query
		q.Parse(line)
		if err := q.Check(); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		for _, text := range want.yes {
			if !q.In(text) {
				t.Errorf("%s: not in %q", line, text)
			}
		}
		for _, text := range want.no {
			if q.In(text) {
				t.Errorf("%s: in %q", line, text)
			}
		}
	}
	q := Query{None: []string{"ink"}}
	if q.Check() == nil {
		t.Error("a query of what is left out only is taken")
	}
}

func TestQueriesThatCannotBeUsed(t *testing.T) {
	for _, q := range []Query{
		{},
		{Words: []string{" "}},
		{Words: []string{strings.Repeat("x", 1001)}},
		{Words: strings.Fields(strings.Repeat("x ", 33))},
		{Path: "a[b"},
	} {
		if q.Check() == nil {
			t.Errorf("%.60v is taken", q)
		}
	}
	for _, q := range []Query{{Words: []string{"x"}}, {Tool: "Bash"}, {Path: "a"}} {
		if err := q.Check(); err != nil {
			t.Errorf("%v: %v", q, err)
		}
	}
}

func TestSpans(t *testing.T) {
	got := Query{Words: []string{"ink", "the ink"}}.Spans("INK, and the\n Ink; thinking")
	want := [][2]int{{0, 3}, {9, 17}, {21, 24}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
}

func TestSnippet(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"short":  {"First.\nMix the ink.\nNow.", "Mix the ink."},
		"inert":  {"\x1b[31m ink [ccd 123]", `\x1b[31m ink [\ccd 123]`},
		"middle": {strings.Repeat("soot ", 100) + "ink" + strings.Repeat(" gum", 100), "…soot"},
		"hidden": {strings.Repeat("\u200b", 100) + "ink", "…"},
	} {
		start := strings.Index(c.text, "ink")
		got := snippet([]byte(c.text), start, start+3)
		if !strings.HasPrefix(got, c.want) || !strings.Contains(got, "ink") || utf8.RuneCountInString(got) > maxSnippet {
			t.Errorf("%s: %q, %d characters", name, got, utf8.RuneCountInString(got))
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, file string
		want          bool
	}{
		{"/src/a.go", "/src/a.go", true},
		{"/src/a.go", "/x/src/a.go", false},
		{"a.go", "/src/a.go", true},
		{"src/a.go", "/x/src/a.go", true},
		{"rc/a.go", "/src/a.go", false},
		{"./src/", "/x/src/a.go", true},
		{"*.go", "/src/a.go", true},
		{"*.go", "/src/a.gox", false},
		{"src/*/a.go", "/src/b/a.go", true},
		{"src/*/a.go", "/src/b/c/a.go", false},
		{"src/**/a.go", "/src/b/c/a.go", true},
		{"src/**/a.go", "/src/a.go", true},
		{"[slug].tsx", "/app/[slug].tsx", true},
		{"app/[user-id]/page.tsx", "/app/[user-id]/page.tsx", true},
		{"app/[slug]/*.tsx", "/app/[slug]/page.tsx", true},
		{"app/[[...slug]]/*", "/app/[[...slug]]/page.tsx", true},
		{"[ab].go", "/b.go", true},
		{"a?.go", "/ab.go", true},
		{`C:\src\a.go`, `C:\src\a.go`, true},
		{"a.go", "", false},
		{"**", "/x", true},
		{"/", "/src", true},
	} {
		p, err := newPattern(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
		} else if got := matches(p, c.file); got != c.want {
			t.Errorf("%s matches %s: %v, want %v", c.pattern, c.file, got, c.want)
		}
	}
}
