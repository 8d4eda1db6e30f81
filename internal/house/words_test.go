package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// word is a word that ccd does not use, as a regular expression, and what to use.
type word struct{ not, use string }

// unused lists idioms that the field's tools do not use.
var unused = []word{
	{"anew", "again"},
	{"for ever", "forever"},
	{"mend(s|ed|ing)?", "fix, repair"},
	{"(tell|tells|telling) of|tells|told", "show, report, say"},
	{"(get|gets|got|getting) on", "continue, progress"},
	{"(go|goes|gone|going|went) on", "continue"},
	{"(give|gives|gave|giving) way", "what happens instead"},
	{"(may|can|does|do) no more", "cannot, no longer"},
	{"nobody('s)?|somebody|anybody", "you, a program, an agent"},
	{"of (ours|yours|theirs|mine)|whose words", "whose it is, by name"},
	{"holds?|held", "contain, have, keep"},
	{"stands|stood", "is, appears"},
	{"taken up", "continued"},
	{"(be|is|are|was|were|been) had|had back", "restored, available"},
	{"comes? into being", "appear"},
	{"(is|are|be) none of", "is not"},
	{"(is|are|be) waited for", "wait for"},
	{"at the (least|most)", "at least, at most"},
	{"all the same", "anyway"},
	{"leads? nowhere", "dangling, invalid"},
	{"lies|lay", "is"},
	{"where (none|there) (is|are|was|were)", "if"},
	{"stead|errand|surroundings|heed(s|ed)?", "instead, job, setup, follow"},
	{"shall|upon", "must or will, on"},
}

// fixed matches phrases that are allowed although they contain such a word: idioms, names in code, and texts that
// programs rely on.
var fixed = regexp.MustCompile(`(?i)stands? for|(holds?|held) (the|a|its|that) lock|sidecar\.[A-Z]|lines after these that tell of something wrong|\bmend \(how to fix it\)`)

// glossary returns the rows of the glossary in docs/FORMAT.md (term, meaning, words that ccd does not use for it), and the
// document without the last column.
func glossary(doc string) (rows [][]string, rest string) {
	before, after, _ := strings.Cut(doc, "\n## Glossary\n")
	table, after, _ := strings.Cut(after, "\n## ")
	rest = before
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) == 5 {
			rows = append(rows, []string{strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2]), strings.TrimSpace(cells[3])})
			line = cells[1] + "|" + cells[2] + "\n"
		}
		rest += line
	}
	return rows[min(len(rows), 2):], rest + after // without the header
}

// vocabulary is the list of words that ccd does not use.
type vocabulary struct {
	words []word
	found []*regexp.Regexp
}

func newVocabulary(words []word) *vocabulary {
	v := &vocabulary{words: words}
	for _, w := range words {
		v.found = append(v.found, regexp.MustCompile(`(?i)\b(?:`+strings.ReplaceAll(w.not, " ", `\s+`)+`)\b`))
	}
	return v
}

// faults returns each word in text that ccd does not use, with its line. The text begins at line first.
func (v *vocabulary) faults(path string, first int, text string) (all []string) {
	text = fixed.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("_", len(s)) })
	for n, re := range v.found {
		for _, at := range re.FindAllStringIndex(text, -1) {
			around := strings.Join(strings.Fields(text[max(0, at[0]-30):min(len(text), at[1]+30)]), " ")
			all = append(all, fmt.Sprintf("%s:%d: %q in %q: use %s", path, first+strings.Count(text[:at[0]], "\n"), text[at[0]:at[1]], around, v.words[n].use))
		}
	}
	return all
}

// literals calls yield with the texts that s may print: string literals with a space, with the parts of a concatenation
// joined. It skips imports, tags and regular expressions.
func (s source) literals(yield func(line int, text string)) {
	var walk func(n ast.Node) bool
	walk = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field: // without its tag
			ast.Inspect(n.Type, walk)
			return false
		case *ast.CallExpr:
			return !selects(n.Fun, "regexp", "MustCompile")
		case *ast.BinaryExpr, *ast.BasicLit:
			if text, ok := joined(n.(ast.Expr)); ok {
				if strings.Contains(text, " ") {
					yield(s.set.Position(n.Pos()).Line, text)
				}
				return false
			}
		}
		return true
	}
	ast.Inspect(s.file, walk)
}

// joined returns the text of a string literal, or of a concatenation of several.
func joined(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, ok := joined(e.X)
		right, also := joined(e.Y)
		return left + right, ok && also && e.Op == token.ADD
	}
	return "", false
}

// printing matches the packages whose string literals people read. It leaves out internal/agent, internal/transcript
// and compactor, whose literals match what other programs write.
var printing = regexp.MustCompile(`^(cmd/ccd|daemon|watcher|archive|packaging|internal/(atomicfile|config|ownfile|project|summarizer))/`)

var (
	code    = regexp.MustCompile("``[^\n]+?``|`[^`\n]*`")
	example = regexp.MustCompile(`(?s)<!-- (example|screens) -->.*?<!-- /(example|screens) -->`) // quotes of transcripts
)

// TestWords checks that what ccd prints and what its documents say use the words of the glossary, and none of those
// that it excludes.
func TestWords(t *testing.T) {
	doc, err := os.ReadFile("docs/FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, format := glossary(string(doc))
	if len(rows) < 15 || len(rows) > 30 {
		t.Errorf("the glossary of docs/FORMAT.md has %d terms, want 15 to 30", len(rows))
	}
	words := slices.Clone(unused)
	for _, r := range rows {
		if r[0] == "" || r[1] == "" {
			t.Errorf("the glossary's row %q has no term or no meaning", r)
		}
		if r[2] != "" {
			words = append(words, word{r[2], r[0]})
		}
	}
	v := newVocabulary(words)
	for _, s := range sources(t) {
		if s.test() || !printing.MatchString(s.path) {
			continue
		}
		s.literals(func(line int, text string) {
			for _, f := range v.faults(s.path, line, text) {
				t.Error(f)
			}
		})
	}
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		prose := string(text)
		if path == "docs/FORMAT.md" {
			prose = format
		}
		blank := func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) }
		prose = code.ReplaceAllString(example.ReplaceAllStringFunc(prose, blank), "`")
		for _, f := range v.faults(path, 1, prose) {
			t.Error(f)
		}
	}
}

// TestWordsCanFail is the negative control.
func TestWordsCanFail(t *testing.T) {
	rows, rest := glossary("# A\n\n## Glossary\n\n| term | meaning | not |\n|---|---|---|\n| companion | a file | sidecar |\n\n## B\nthe sidecar\n")
	if len(rows) != 1 || rows[0][2] != "sidecar" || strings.Count(rest, "sidecar") != 1 {
		t.Fatalf("rows %q of %q", rows, rest)
	}
	v := newVocabulary(append(slices.Clone(unused), word{rows[0][2], rows[0][0]}))
	for text, want := range map[string]int{
		"made anew": 1, "Anew: it stands there": 2, "renewed, a thread, the stand, remains": 0, "a sidecar": 1, "the work goes\non": 1, "kept for ever, or forever": 1,
		"the marker stands for it and holds the lock": 0, "what it holds": 1, "sidecar.Render": 0,
	} {
		if got := v.faults("x", 1, text); len(got) != want {
			t.Errorf("%q: %q, want %d", text, got, want)
		}
	}
	s, err := parse("bad.go", "package bad\nimport \"a mend/b\"\nvar v = regexp.MustCompile(`it stands`)\ntype t struct { F int `json:\"it holds\"` }\n"+
		"const one = \"holds\"\nfunc f() error {\n\treturn errors.New(\"it gets\" +\n\t\t\" on\" + x, \"made anew\")\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	s.literals(func(line int, text string) { got = append(got, v.faults(s.path, line, text)...) })
	if len(got) != 2 || !strings.HasPrefix(got[0], "bad.go:7: ") || !strings.HasPrefix(got[1], "bad.go:8: ") {
		t.Errorf("got %q", got)
	}
}
