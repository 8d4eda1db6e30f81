package gen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Text in this package is written in JSON's escaped form, line by line, and then only copied, so that a Read result,
// its copy for the screen and the original file of an edit are the same bytes, as in real files.

// newline ends a line of escaped text.
const newline = `\n`

// vocabulary is the invented language. It is the same for every seed, as a real language is.
type vocabulary struct {
	words  []string // words of prose, the frequent ones first
	names  []string // identifiers
	paths  []string // directories of code
	manual string   // the instructions that an agent repeats at the start of its sessions
}

var syllables = strings.Fields("ba cor del fen gar hul in jor kam lir mon nep or pel qua ren sol tam ul vor wex yan zu " +
	"cha dro fla gri ple sta thu bri clo dre ast emb ith und ock ell ano")

func newVocabulary() *vocabulary {
	r := mix(7, 7)
	v := &vocabulary{}
	v.words = strings.Fields("the to of a and in is that it for this with not be on as from was so we now file test but " +
		"are by if then have line code one can which after first still here")
	for len(v.words) < 6000 {
		v.words = append(v.words, word(&r, 1+r.skewed(4)))
	}
	for len(v.names) < 3000 {
		v.names = append(v.names, v.name(&r))
	}
	for range 40 {
		v.paths = append(v.paths, pick(&r, "internal/", "cmd/", "pkg/", "src/", "lib/", "web/src/")+word(&r, 2))
	}
	v.manual = v.prose(&r, 2200)
	return v
}

func word(r *rng, n int) (w string) {
	for range n {
		w += pick(r, syllables...)
	}
	return w
}

func (v *vocabulary) name(r *rng) string {
	a, b := pick(r, v.words...), pick(r, v.words...)
	switch r.n(3) {
	case 0:
		return a + "_" + b
	case 1:
		return strings.ToUpper(a[:1]) + a[1:] + strings.ToUpper(b[:1]) + b[1:]
	}
	return a + strings.ToUpper(b[:1]) + b[1:]
}

// common returns a word of prose. A few words are most of the text, as in every language.
func (v *vocabulary) common(r *rng) string { return v.words[r.skewed(1+r.skewed(len(v.words)))] }

// prose returns n words in sentences.
func (v *vocabulary) prose(r *rng, n int) string {
	var b strings.Builder
	for n > 0 {
		k := min(n, r.between(4, 22))
		for i := range k {
			switch w := v.common(r); {
			case i == 0:
				b.WriteString(string(w[0]&^0x20) + w[1:])
			case r.chance(60):
				b.WriteString(" `" + v.names[r.skewed(len(v.names))] + "`")
			default:
				b.WriteString(" " + w)
			}
		}
		b.WriteString("." + pick(r, " ", " ", " ", " ", `\n\n`, `\n- `, ` — `))
		n -= k
	}
	return b.String()
}

// statements are templates for lines of code: @ is an identifier, # a number, ~ a word.
var statements = []string{
	`func (s *@) @(ctx context.Context, @ string) error {`, `func @(t *testing.T) {`, `if err != nil {`, `}`, ``, ``,
	`return nil, fmt.Errorf(\"~ ~: %w\", err)`, `@ := @(@, #)`, `@, err := s.@.@(ctx, @)`, `for _, @ := range @ {`,
	`// @ ~ ~ the ~ of ~ ~ ~ and ~ ~.`, `switch @.@ {`, `case @:`, `@ = append(@, @)`, `defer @.Close()`, `type @ struct {`,
	`@ string `, `@ map[string]@`, `const @ = #`, `@: \"~-~\",`, `log.Printf(\"~ %s after %d ~\", @, @)`, `t.Fatalf(\"@ = %v, want %v\", @, #)`,
	`if @ > # && !@.@() {`, `return @`, `export const @ = async (@: @) => {`, `await @.@({ @, @: # });`, `import { @ } from \"../~/~\";`,
	`<@ className=\"~-~\" on@={@}>`, `self.@ = @.get(\"~\", #)`, `def @(self, @, @=None):`, `raise @(f\"~ ~ {@!r}\")`,
}

// dialectNames is how many identifiers a file uses; a dialect is the index of the first one.
const dialectNames = 120

func (v *vocabulary) dialect(r *rng) int { return r.n(len(v.names) - dialectNames) }

// code returns one line of code. It uses the identifiers of the dialect because a real file repeats a few names.
func (v *vocabulary) code(r *rng, dialect int) string {
	b := make([]byte, 0, 96)
	for range r.skewed(4) {
		b = append(b, `\t`...)
	}
	for _, c := range []byte(pick(r, statements...)) {
		switch c {
		case '@':
			b = append(b, v.names[dialect+r.skewed(dialectNames)]...)
		case '~':
			b = append(b, v.common(r)...)
		case '#':
			b = strconv.AppendInt(b, int64(r.skewed(5000)), 10)
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// listing returns n lines of code.
func (v *vocabulary) listing(r *rng, dialect, n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = v.code(r, dialect)
	}
	return lines
}

// logLine returns one line of command output, sometimes coloured.
func (v *vocabulary) logLine(r *rng, now int64) string {
	switch r.n(10) {
	case 0:
		return fmt.Sprintf(`--- FAIL: %s (0.%ds)\n`, v.names[r.skewed(len(v.names))], r.n(90)+10)
	case 1, 2, 3:
		return fmt.Sprintf(`ok  \texample.test/%s\t%d.%ds\n`, pick(r, v.paths...), r.n(9), r.n(900)+100)
	case 4:
		return fmt.Sprintf(`\u001b[32m✓\u001b[0m %s %s (%d ms)\n`, v.words[r.skewed(6000)], v.names[r.skewed(3000)], r.n(400))
	case 5:
		return fmt.Sprintf(`%s/%s.go:%d:%d: undefined: %s\n`, pick(r, v.paths...), v.words[r.skewed(6000)], r.n(900), r.n(60), v.names[r.skewed(3000)])
	}
	return fmt.Sprintf(`%s %s %s %s %s=%s %s=%d\n`, stamp(now), pick(r, "INFO", "INFO", "DEBUG", "WARN"), v.common(r), v.common(r),
		v.words[r.skewed(100)], r.chars(hexDigits, 4), v.words[r.skewed(100)], r.skewed(100000))
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

var (
	twice = strings.NewReplacer(`\`, `\\`, `"`, `\"`)                                              // escapes again, as for JSON inside a JSON string
	plain = strings.NewReplacer(newline, "\n", `\t`, "\t", `\"`, `"`, `\\`, `\`, `\u001b`, "\x1b") // undoes the escapes that this package writes
)

// file is a file of the invented project that a session works on.
type file struct {
	path    string // absolute
	dialect int
	lines   []string
}

var fileLines = quantiles{{0, 12}, {250, 60}, {500, 150}, {750, 320}, {900, 600}, {980, 1100}, {1000, 2200}}

func newFile(v *vocabulary, r *rng, cwd string) *file {
	path := cwd + "/" + pick(r, v.paths...) + "/" + v.words[40+r.n(2000)] + pick(r, ".go", ".go", "_test.go", ".ts", ".py", ".md")
	f := &file{path: path, dialect: v.dialect(r)}
	f.lines = v.listing(r, f.dialect, fileLines.draw(r))
	return f
}

func newFiles(v *vocabulary, r *rng, cwd string, n int) (all []*file) {
	for range n {
		all = append(all, newFile(v, r, cwd))
	}
	return all
}

// stretch returns a random place for an edit: n lines starting at from.
func (f *file) stretch(r *rng) (from, n int) {
	from = r.n(len(f.lines))
	return from, min(1+r.skewed(12), len(f.lines)-from)
}

// change replaces n lines starting at from by new ones.
func (f *file) change(v *vocabulary, r *rng, from, n int) (made []string) {
	made = v.listing(r, f.dialect, max(1, n+r.between(-2, 5)))
	f.lines = slices.Concat(f.lines[:from], made, f.lines[from+n:])
	return made
}

func join(lines []string) string { return strings.Join(lines, newline) }

// prefixed returns the lines with a sign before each.
func prefixed(sign string, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return sign + strings.Join(lines, newline+sign) + newline
}
