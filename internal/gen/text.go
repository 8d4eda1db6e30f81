package gen

import (
	"strconv"
	"strings"
	"time"
)

// All text in this package is made in JSON's escaped form, line by line, and only copied after that: a Read result, its
// copy for the screen and the original file of an edit are the same bytes in three places, as they are in real files.

// vocabulary is the invented language. It is the same for every seed, as English is.
type vocabulary struct {
	words  []string // of prose, the frequent ones first
	names  []string // identifiers
	paths  []string // directories of code
	manual []byte   // the instructions that an agent repeats at the head of its sessions, escaped
}

var syllables = strings.Fields("ba cor del fen gar hul in jor kam lir mon nep or pel qua ren sol tam ul vor wex yan zu " +
	"cha dro fla gri ple sta thu bri clo dre ast emb ith und ock ell ano")

func newVocabulary() *vocabulary {
	r := mix(7, 7)
	v := &vocabulary{}
	v.words = strings.Fields("the to of a and in is that it for this with not be on as from was so we now file test but " +
		"are by if then have line code one can which after first still here")
	for len(v.words) < 6000 {
		v.words = append(v.words, v.word(&r, 1+r.skewed(4)))
	}
	for len(v.names) < 3000 {
		v.names = append(v.names, v.name(&r))
	}
	for range 40 {
		v.paths = append(v.paths, pick(&r, []string{"internal/", "cmd/", "pkg/", "src/", "lib/", "web/src/"})+v.word(&r, 2))
	}
	v.manual = v.prose(nil, &r, 2200)
	return v
}

// dialectNames is how many identifiers a file knows; dialect draws the first of them.
const dialectNames = 120

func (v *vocabulary) dialect(r *rng) int { return r.n(len(v.names) - dialectNames) }

func (v *vocabulary) word(r *rng, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(pick(r, syllables))
	}
	return b.String()
}

func (v *vocabulary) name(r *rng) string {
	a, b := v.words[r.n(len(v.words))], v.words[r.n(len(v.words))]
	switch r.n(3) {
	case 0:
		return a + "_" + b
	case 1:
		return strings.ToUpper(a[:1]) + a[1:] + strings.ToUpper(b[:1]) + b[1:]
	}
	return a + strings.ToUpper(b[:1]) + b[1:]
}

// common draws a word of prose; a few words make most of it, as in every language.
func (v *vocabulary) common(r *rng) string { return v.words[r.skewed(1+r.skewed(len(v.words)))] }

// fill replaces each @ of pattern by the next of args.
func fill(b []byte, pattern string, args ...string) []byte {
	for _, a := range args {
		i := strings.IndexByte(pattern, '@')
		b = append(append(b, pattern[:i]...), a...)
		pattern = pattern[i+1:]
	}
	return append(b, pattern...)
}

// prose appends n words in sentences.
func (v *vocabulary) prose(b []byte, r *rng, n int) []byte {
	for n > 0 {
		k := min(n, r.between(4, 22))
		for i := range k {
			w := v.common(r)
			switch {
			case i == 0:
				b = append(append(b, w[0]&^0x20), w[1:]...)
			case r.chance(60):
				b = append(append(append(b, '`'), v.names[r.skewed(len(v.names))]...), '`')
			default:
				b = append(b, w...)
			}
			b = append(b, ' ')
		}
		b[len(b)-1] = '.'
		b = append(b, pick(r, []string{" ", " ", " ", " ", `\n\n`, `\n- `, ` — `})...)
		n -= k
	}
	return b
}

// statements are lines of code: @ is an identifier, # a number, ~ a word.
var statements = []string{
	`func (s *@) @(ctx context.Context, @ string) error {`, `func @(t *testing.T) {`, `if err != nil {`, `}`, ``, ``,
	`return nil, fmt.Errorf(\"~ ~: %w\", err)`, `@ := @(@, #)`, `@, err := s.@.@(ctx, @)`, `for _, @ := range @ {`,
	`// @ ~ ~ the ~ of ~ ~ ~ and ~ ~.`, `switch @.@ {`, `case @:`, `@ = append(@, @)`, `defer @.Close()`, `type @ struct {`,
	`@ string `, `@ map[string]@`, `const @ = #`, `@: \"~-~\",`, `log.Printf(\"~ %s after %d ~\", @, @)`, `t.Fatalf(\"@ = %v, want %v\", @, #)`,
	`if @ > # && !@.@() {`, `return @`, `export const @ = async (@: @) => {`, `await @.@({ @, @: # });`, `import { @ } from \"../~/~\";`,
	`<@ className=\"~-~\" on@={@}>`, `self.@ = @.get(\"~\", #)`, `def @(self, @, @=None):`, `raise @(f\"~ ~ {@!r}\")`,
}

// code appends one line of code. Its identifiers are those of the dialect: a file speaks of few things, and often.
func (v *vocabulary) code(b []byte, r *rng, dialect int) []byte {
	for range r.skewed(4) {
		b = append(b, '\\', 't')
	}
	for _, c := range []byte(statements[r.n(len(statements))]) {
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
	return b
}

// logLine appends one line of what commands print, now and then in colour.
func (v *vocabulary) logLine(b []byte, r *rng, now int64) []byte {
	switch r.n(10) {
	case 0:
		return fill(b, `--- FAIL: @ (0.@s)`, v.names[r.skewed(len(v.names))], strconv.Itoa(r.n(90)+10))
	case 1, 2, 3:
		return fill(b, `ok  \texample.test/@\t@.@s`, pick(r, v.paths), strconv.Itoa(r.n(9)), strconv.Itoa(r.n(900)+100))
	case 4:
		return fill(b, `\u001b[32m✓\u001b[0m @ @ (@ ms)`, v.words[r.skewed(6000)], v.names[r.skewed(3000)], strconv.Itoa(r.n(400)))
	case 5:
		return fill(b, `@/@.go:@:@: undefined: @`, pick(r, v.paths), v.words[r.skewed(6000)], strconv.Itoa(r.n(900)),
			strconv.Itoa(r.n(60)), v.names[r.skewed(3000)])
	}
	b = stamp(b, now)
	return fill(b, ` @ @ @ @=@ @=@`, pick(r, []string{"INFO", "INFO", "DEBUG", "WARN"}), v.common(r), v.common(r),
		v.words[r.skewed(100)], r.hex(4), v.words[r.skewed(100)], strconv.Itoa(r.skewed(100000)))
}

// jsonLine appends one line of a pretty-printed object.
func (v *vocabulary) jsonLine(b []byte, r *rng) []byte {
	return fill(b, `  \"@\": \"@ @\",`, v.names[r.skewed(300)], v.words[r.skewed(6000)], v.words[r.skewed(6000)])
}

func stamp(b []byte, ms int64) []byte {
	return time.UnixMilli(ms).UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
}

// twice appends escaped text escaped once more, as JSON inside a JSON string has it.
func twice(b, escaped []byte) []byte {
	for _, c := range escaped {
		if c == '\\' || c == '"' {
			b = append(b, '\\')
		}
		b = append(b, c)
	}
	return b
}

// plain undoes the escapes that this package makes.
var plain = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\\`, `\`, `\u001b`, "\x1b")
