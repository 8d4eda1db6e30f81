package gen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

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
	r := chance(7, 7)
	word := func(n int) (w string) {
		for range n {
			w += pick(r, syllables...)
		}
		return w
	}
	v := &vocabulary{}
	v.words = strings.Fields("the to of a and in is that it for this with not be on as from was so we now file test but " +
		"are by if then have line code one can which after first still here")
	for len(v.words) < 6000 {
		v.words = append(v.words, word(1+r.low(4)))
	}
	for len(v.names) < 3000 {
		a, b := pick(r, v.words...), pick(r, v.words...)
		v.names = append(v.names, pick(r, a+"_"+b, titled(a)+titled(b), a+titled(b)))
	}
	for range 40 {
		v.paths = append(v.paths, pick(r, "internal/", "cmd/", "pkg/", "src/", "lib/", "web/src/")+word(2))
	}
	v.manual = v.prose(r, 2200)
	return v
}

func titled(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// common returns a word of prose. A few words are most of the text, as in every language.
func (v *vocabulary) common(r *random) string { return v.words[r.low(1+r.low(len(v.words)))] }

// prose returns n words in sentences.
func (v *vocabulary) prose(r *random, n int) string {
	var b strings.Builder
	for n > 0 {
		k := min(n, r.between(4, 22))
		for i := range k {
			switch {
			case i == 0:
				b.WriteString(titled(v.common(r)))
			case r.in(60):
				b.WriteString(" `" + v.names[r.low(len(v.names))] + "`")
			default:
				b.WriteString(" " + v.common(r))
			}
		}
		b.WriteString("." + pick(r, " ", " ", " ", " ", "\n\n", "\n- ", " — "))
		n -= k
	}
	return b.String()
}

// statements are templates for lines of code: @ is an identifier, # a number, ~ a word.
var statements = []string{
	`func (s *@) @(ctx context.Context, @ string) error {`, `func @(t *testing.T) {`, `if err != nil {`, `}`, ``, ``,
	`return nil, fmt.Errorf("~ ~: %w", err)`, `@ := @(@, #)`, `@, err := s.@.@(ctx, @)`, `for _, @ := range @ {`,
	`// @ ~ ~ the ~ of ~ ~ ~ and ~ ~.`, `switch @.@ {`, `case @:`, `@ = append(@, @)`, `defer @.Close()`, `type @ struct {`,
	`@ string `, `@ map[string]@`, `const @ = #`, `@: "~-~",`, `log.Printf("~ %s after %d ~", @, @)`, `t.Fatalf("@ = %v, want %v", @, #)`,
	`if @ > # && !@.@() {`, `return @`, `export const @ = async (@: @) => {`, `await @.@({ @, @: # });`, `import { @ } from "../~/~";`,
	`<@ className="~-~" on@={@}>`, `self.@ = @.get("~", #)`, `def @(self, @, @=None):`, `raise @(f"~ ~ {@!r}")`,
}

// file is a file of the invented project that a session works on.
type file struct {
	path  string   // absolute
	names []string // the identifiers in it: a real file repeats a few
	lines []string
}

var fileLines = quantiles{{0, 12}, {250, 60}, {500, 150}, {750, 320}, {900, 600}, {980, 1100}, {1000, 2200}}

func (s *session) newFile() *file {
	f := &file{path: s.cwd + "/" + pick(s.random, s.paths...) + "/" + s.words[40+s.IntN(2000)] + pick(s.random, ".go", ".go", "_test.go", ".ts", ".py", ".md")}
	const names = 120
	from := s.IntN(len(s.names) - names)
	f.names = s.names[from : from+names]
	f.lines = s.listing(f, s.draw(fileLines))
	return f
}

// listing returns n lines of code for a file.
func (s *session) listing(f *file, n int) (lines []string) {
	for range n {
		b := []byte(strings.Repeat("\t", s.low(4)))
		for _, c := range []byte(pick(s.random, statements...)) {
			switch c {
			case '@':
				b = append(b, f.names[s.low(len(f.names))]...)
			case '~':
				b = append(b, s.common(s.random)...)
			case '#':
				b = strconv.AppendInt(b, int64(s.low(5000)), 10)
			default:
				b = append(b, c)
			}
		}
		lines = append(lines, string(b))
	}
	return lines
}

// edit replaces some lines of a file.
func (s *session) edit(f *file) (was, made []string) {
	from := s.IntN(len(f.lines))
	was = f.lines[from:min(from+1+s.low(12), len(f.lines))]
	made = s.listing(f, max(1, len(was)+s.between(-2, 5)))
	f.lines = slices.Concat(f.lines[:from], made, f.lines[from+len(was):])
	return was, made
}

// output returns n lines of a command's output, some of them coloured.
func (s *session) output(n int) string {
	var b strings.Builder
	r := s.random
	for range n {
		switch r.IntN(10) {
		case 0:
			fmt.Fprintf(&b, "--- FAIL: %s (0.%ds)\n", s.names[r.low(3000)], r.between(10, 99))
		case 1, 2, 3:
			fmt.Fprintf(&b, "ok  \texample.test/%s\t%d.%ds\n", pick(r, s.paths...), r.IntN(9), r.between(100, 999))
		case 4:
			fmt.Fprintf(&b, "\x1b[32m✓\x1b[0m %s %s (%d ms)\n", s.words[r.low(6000)], s.names[r.low(3000)], r.IntN(400))
		case 5:
			fmt.Fprintf(&b, "%s/%s.go:%d:%d: undefined: %s\n", pick(r, s.paths...), s.words[r.low(6000)], r.IntN(900), r.IntN(60), s.names[r.low(3000)])
		default:
			fmt.Fprintf(&b, "%s %s %s %s %s=%s %s=%d\n", stamp(s.now), pick(r, "INFO", "INFO", "DEBUG", "WARN"), s.common(r), s.common(r),
				s.words[r.low(100)], r.hex(2), s.words[r.low(100)], r.low(100000))
		}
	}
	return b.String()
}

// command returns a command line about a file.
func (s *session) command(f *file) string {
	return fmt.Sprintf(pick(s.random, "sed -n '1,200p' %s", "go test ./... -run %[2]s 2>&1 | tail -40", "rg -n \"%[2]s\" .", "git diff -- %s", "make check NAME=%[2]s"), f.path, s.names[s.IntN(3000)])
}

// signed returns the lines with a sign before each.
func signed(sign string, lines []string) (all []string) {
	for _, l := range lines {
		all = append(all, sign+l)
	}
	return all
}
