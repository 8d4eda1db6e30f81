package gen

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// functions are what the templates call.
func (s *session) functions() template.FuncMap {
	return template.FuncMap{
		"now": func() string {
			s.now = s.now.Add(time.Duration(s.number(20, 4000)) * time.Millisecond)
			return s.now.Format("2006-01-02T15:04:05.000Z")
		},
		"parent": func() string { return s.last },
		"root": func() string {
			s.last = "null"
			return ""
		},
		"next": func() string {
			id := s.uuid()
			s.last = `"` + id + `"`
			return id
		},
		"held": func() int { return 14_000 + s.held/4 }, // in tokens
		"said": func(n int) string { return s.hold(s.prose(n)) },
		"hold": s.hold, "json": quote, "prose": s.prose, "output": s.output, "file": func() *file { return s.files[s.low(len(s.files))] },
		"command": s.command, "task": s.task, "spill": s.spill,
		"number": s.number, "skewed": s.skewed, "chance": func(p int) bool { return s.IntN(100) < p },
		"hex": s.hex, "base64": func(n int) string { return base64.StdEncoding.EncodeToString(s.some(n)) },
	}
}

// quote returns a text as a JSON string.
func quote(text string) string {
	b, _ := jsontext.AppendQuote(nil, text) // it is valid UTF-8
	return string(b)
}

// hold returns a text that gets into the model's context, as a JSON string.
func (s *session) hold(text string) string {
	s.held += len(text)
	return quote(text)
}

// number returns a number in [lo, hi].
func (s *session) number(lo, hi int) int { return lo + s.IntN(hi-lo+1) }

// skewed returns a number in [lo, hi). Half of all are in the lowest thirtieth, the mean is at a sixteenth.
func (s *session) skewed(lo, hi int) int { return lo + s.low(1+s.low(hi-lo)) }

// low returns an index in [0, n) and prefers low ones, as a language prefers some words.
func (s *session) low(n int) int { return s.IntN(1 + s.IntN(n)) }

func pick[T any](s *session, from ...T) T { return from[s.IntN(len(from))] }

func (s *session) some(n int) []byte {
	b := make([]byte, n)
	s.source.Read(b) // it never fails
	return b
}

func (s *session) hex(n int) string { return hex.EncodeToString(s.some(n)) }

func (s *session) uuid() string { return uuid.UUID(s.some(16)).String() }

// words is the vocabulary of the invented language, most frequent first. It is the same for every seed.
var words = sync.OnceValue(func() []string {
	all := strings.Fields("the to of a and in is that it for this with not be on as from was so we now file test but " +
		"are by if then have line code one can which after first still here")
	syllables := strings.Fields("ba cor del fen gar hul in jor kam lir mon nep or pel qua ren sol tam ul vor wex yan zu " +
		"cha dro fla gri ple sta thu bri clo dre ast emb ith und ock ell ano")
	r := rand.New(rand.NewPCG(7, 7))
	for len(all) < 6000 {
		word := ""
		for range 1 + r.IntN(4) {
			word += syllables[r.IntN(len(syllables))]
		}
		all = append(all, word)
	}
	return all
})

// word returns a word of prose. A few words are most of the text, as in every language.
func (s *session) word() string { return words()[s.low(1+s.low(6000))] }

// name returns an identifier.
func (s *session) name() string {
	a, b := words()[s.low(6000)], s.word()
	return pick(s, a+"_"+b, a+strings.ToUpper(b[:1])+b[1:])
}

// prose returns n words in sentences.
func (s *session) prose(n int) string {
	var b strings.Builder
	for n > 0 {
		k := min(n, s.number(4, 22))
		n -= k
		b.WriteString("So")
		for range k {
			if b.WriteString(" "); s.IntN(16) == 0 {
				b.WriteString("`" + s.name() + "`")
			} else {
				b.WriteString(s.word())
			}
		}
		b.WriteString(pick(s, ". ", ". ", ". ", ".\n\n", ".\n- ", ". — "))
	}
	return b.String()
}

// statements are templates for lines of code: @ is an identifier, # a number, ~ a word.
var statements = []string{
	`func (s *@) @(ctx context.Context, @ string) error {`, `func @(t *testing.T) {`, `if err != nil {`, `}`, ``, ``,
	`return nil, fmt.Errorf("~ ~: %w", err)`, `@ := @(@, #)`, `@, err := s.@.@(ctx, @)`, `for _, @ := range @ {`,
	`// @ ~ ~ the ~ of ~ ~ ~ and ~ ~.`, `@ = append(@, @)`, `defer @.Close()`, `@: "~-~",`, `if @ > # && !@.@() {`, `return @`,
	`export const @ = async (@: @) => {`, `import { @ } from "../~/~";`, `def @(self, @, @=None):`, `raise @(f"~ ~ {@!r}")`,
}

// file is a file of the invented project that a session works on.
type file struct {
	s     *session
	Path  string // absolute
	names []string
	Lines []string
}

func (s *session) newFile() *file {
	f := &file{s: s, Path: s.Cwd + "/" + pick(s, "internal/", "cmd/", "web/src/") + s.word() + "/" + s.name() + pick(s, ".go", "_test.go", ".ts", ".py", ".md")}
	for range 60 { // a real file repeats a few
		f.names = append(f.names, s.name())
	}
	f.Lines = f.listing(s.skewed(12, 4000))
	return f
}

// listing returns n lines of code for a file.
func (f *file) listing(n int) (lines []string) {
	for range n {
		b := []byte(strings.Repeat("\t", f.s.low(4)))
		for _, c := range []byte(pick(f.s, statements...)) {
			switch c {
			case '@':
				b = append(b, f.names[f.s.low(len(f.names))]...)
			case '~':
				b = append(b, f.s.word()...)
			case '#':
				b = strconv.AppendInt(b, int64(f.s.low(5000)), 10)
			default:
				b = append(b, c)
			}
		}
		lines = append(lines, string(b))
	}
	return lines
}

// reading is what a call shows of a file.
type reading struct {
	Part           bool
	From, N        int // line and number of lines
	Text, Numbered string
}

// Read shows a file, or a part of a long one.
func (f *file) Read() (r reading) {
	r.From, r.N = 1, len(f.Lines)
	if r.Part = r.N > 400 || f.s.IntN(4) == 0; r.Part {
		r.From += f.s.IntN(r.N)
		r.N = min(r.N-r.From+1, f.s.number(20, 200))
	}
	part := f.Lines[r.From-1:][:r.N]
	var b strings.Builder
	for i, l := range part {
		fmt.Fprintf(&b, "%6d→%s\n", r.From+i, l)
	}
	r.Text, r.Numbered = strings.Join(part, "\n"), b.String()
	return r
}

// edit is a replacement of some lines.
type edit struct{ Old, New, Patch, Original string }

// Edit replaces some lines of a file.
func (f *file) Edit() edit {
	from, original := f.s.IntN(len(f.Lines)), strings.Join(f.Lines, "\n")+"\n"
	was := f.Lines[from:min(from+1+f.s.low(12), len(f.Lines))]
	made := f.listing(max(1, len(was)+f.s.number(-2, 5)))
	f.Lines = slices.Concat(f.Lines[:from], made, f.Lines[from+len(was):])
	return edit{strings.Join(was, "\n"), strings.Join(made, "\n"), "-" + strings.Join(was, "\n-") + "\n+" + strings.Join(made, "\n+"), original}
}

// output returns n lines of a command's output, some of them coloured.
func (s *session) output(n int) string {
	var b strings.Builder
	for range n {
		switch s.IntN(8) {
		case 0:
			fmt.Fprintf(&b, "--- FAIL: %s (0.%ds)\n", s.name(), s.number(10, 99))
		case 1, 2:
			fmt.Fprintf(&b, "ok  \texample.test/%s\t%d.%ds\n", s.word(), s.IntN(9), s.number(100, 999))
		case 3:
			fmt.Fprintf(&b, "\x1b[32m✓\x1b[0m %s %s (%d ms)\n", s.word(), s.name(), s.IntN(400))
		default:
			fmt.Fprintf(&b, "INFO %s %s=%s %s.go:%d\n", s.prose(6), s.word(), s.hex(2), s.name(), s.low(100000))
		}
	}
	return b.String()
}

// command returns a command line about a file.
func (s *session) command(f *file) string {
	return fmt.Sprintf(pick(s, "sed -n '1,200p' %s", "go test ./... -run %[2]s 2>&1 | tail -40", "rg -n \"%[2]s\" .", "git diff -- %s", "make check NAME=%[2]s"), f.Path, s.name())
}
