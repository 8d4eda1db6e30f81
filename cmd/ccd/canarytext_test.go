package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode"

	"ccd/cmd/ccd/internal/cli/data"
	"ccd/internal/redact"
	"ccd/internal/testkit"
)

// fakeSecret is an invented secret.
type fakeSecret struct {
	kind   string
	text   string // the secret with what makes it one: a name, an equals sign
	secret string
}

// canaryKind describes the secrets of a kind.
type canaryKind struct {
	kind   string
	before string // what makes the text a secret: "password = "
	text   string // regular expression; its first group, if any, is the secret
	after  string
	least  float64 // entropy of the secret, in bits per byte
	digit  bool    // the secret has a digit
	starts []string
	allow  []string // regular expressions of what is no secret

	parsed *syntax.Regexp
}

// secretKinds returns the kinds of secrets that ccd knows.
func secretKinds() (all []canaryKind) {
	for _, s := range redact.Shapes() {
		if s.Kind == "aws-amazon-bedrock-api-key-short-lived" { // a fixed text: what follows it is the secret
			s.Text += `[A-Za-z0-9]{60}`
		}
		k := canaryKind{kind: s.Kind, text: s.Text, least: s.Entropy, digit: s.Digit, starts: s.Starts, allow: s.Allow}
		if s.Kind == "jwt" { // its parts begin with {"
			k.text = `eyJ[a-zA-Z0-9]{20}\.eyJ[a-zA-Z0-9_-]{20}\.[A-Za-z0-9_-]{30}`
		}
		all = append(all, k)
	}
	all = append(all,
		canaryKind{kind: "private-key", before: "-----BEGIN RSA PRIVATE KEY-----\n", text: `MII[A-Za-z0-9+/]{61}\n([A-Za-z0-9+/]{64}\n){3}[A-Za-z0-9+/]{30}==`, after: "\n-----END RSA PRIVATE KEY-----"},
		canaryKind{kind: "authorization", before: "Authorization: Bearer ", text: `[A-Za-z0-9]{40}`, digit: true},
		canaryKind{kind: "authorization", before: "Authorization: Basic ", text: `[A-Za-z0-9]{40}`, digit: true},
		canaryKind{kind: "password", before: "export DB_PASSWORD=", text: `[A-Za-z0-9]{14}`},
		canaryKind{kind: "api-key", before: "client_secret = ", text: `[a-f0-9]{32}`, digit: true},
		canaryKind{kind: "password", before: "postgres://ada:", text: `[A-Za-z0-9]{20}`, after: "@db.example.net:5432/ledger", digit: true},
	)
	for i := range all {
		re, err := syntax.Parse(all[i].text, syntax.Perl)
		if err != nil {
			panic(err)
		}
		all[i].parsed = re
	}
	return all
}

// make returns a random secret of the kind.
func (k canaryKind) make(r *rand.Rand) fakeSecret {
	var c fakeSecret
	for range 5000 {
		w := walker{rand: r, from: -1}
		w.walk(k.parsed)
		from, to := 0, len(w.out)
		if w.from >= 0 && k.kind != "private-key" {
			from, to = w.from, w.to
		}
		c = fakeSecret{k.kind, k.before + string(w.out) + k.after, string(w.out[from:to])}
		low := strings.ToLower(c.text)
		begun := len(k.starts) == 0 || slices.ContainsFunc(k.starts, func(start string) bool { return strings.Contains(low, start) })
		none := slices.ContainsFunc(k.allow, func(allow string) bool { return regexp.MustCompile(allow).MatchString(c.secret) })
		if begun && !none && bitsPerByte(c.secret) > k.least && (!k.digit || strings.ContainsAny(c.secret, "0123456789")) {
			break
		}
	}
	return c
}

func bitsPerByte(text string) (sum float64) {
	for c := range 256 {
		if n := strings.Count(text, string([]byte{byte(c)})); n > 0 {
			share := float64(n) / float64(len(text))
			sum -= share * math.Log2(share)
		}
	}
	return sum
}

// walker makes a text that a regular expression matches.
type walker struct {
	rand     *rand.Rand
	out      []byte
	from, to int // of the first group that is not empty
}

func (w *walker) walk(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		w.out = append(w.out, string(re.Rune)...)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL: // a dot that nobody escaped
		w.out = append(w.out, '.')
	case syntax.OpCharClass:
		chars := charsOf(re)
		w.out = append(w.out, chars[w.rand.IntN(len(chars))])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			w.walk(sub)
		}
	case syntax.OpAlternate:
		w.walk(re.Sub[w.rand.IntN(len(re.Sub))])
	case syntax.OpCapture:
		from := len(w.out)
		w.walk(re.Sub[0])
		if w.from < 0 && len(w.out) > from {
			w.from, w.to = from, len(w.out)
		}
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		for range w.times(re) {
			w.walk(re.Sub[0])
		}
	}
}

// times returns how often a part is repeated: a middle number, because rules have both ends.
func (w *walker) times(re *syntax.Regexp) int {
	least, most := re.Min, re.Max
	switch re.Op {
	case syntax.OpStar:
		least, most = 0, -1
	case syntax.OpPlus:
		least, most = 1, -1
	case syntax.OpQuest:
		return w.rand.IntN(2)
	}
	if most < 0 || most > least+64 {
		most = least + 24
		if least > 1 {
			most = least + 4
		}
	}
	return least + (most-least)/2
}

// charsOf returns the letters and digits of a class if it has any, else all its visible characters.
func charsOf(re *syntax.Regexp) (all []byte) {
	var word []byte
	for c := byte(' '); c < 0x7f; c++ {
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if rune(c) >= re.Rune[i] && rune(c) <= re.Rune[i+1] {
				all = append(all, c)
				if unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c)) {
					word = append(word, c)
				}
			}
		}
	}
	if len(word) > 0 {
		return word
	}
	return all
}

// encodings are the ways in which transcripts have a text. Each result stands in a JSON string.
var encodings = []struct {
	name   string
	encode func(string) string // in the string
	raw    func(string) string // of the string in JSON; nil: as encoding/json does it
}{
	{"plain", func(s string) string { return s }, nil},
	{"escapes", func(s string) string { return s }, unicodeEscapes},
	{"nested JSON", func(s string) string { return inJSON(inJSON(s)) }, nil},
	{"base64", func(s string) string { return base64.StdEncoding.EncodeToString([]byte("key: " + s + "\n")) }, nil},
	{"base64url", func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }, nil},
	{"hex", func(s string) string { return hex.EncodeToString([]byte(s)) }, nil},
	{"percent", percentForm, nil},
	{"after a line break", func(s string) string { return "one\n" + s + "\n\ttwo" }, nil},
	{"shell quotes", func(s string) string { return "export V='" + strings.ReplaceAll(s, "'", `'\''`) + "'" }, nil},
	{"angle brackets", func(s string) string { return "<" + s + ">" }, data.HtmlJSON},
	{"escaped quotes", func(s string) string { return "'" + s + "'" }, data.StrictJSON},
	{"escaped slashes", func(s string) string { return s }, func(s string) string { return data.SlashJSON(s) }},
}

// unicodeEscapes returns a JSON string of nothing but \u escapes.
func unicodeEscapes(s string) string {
	var b strings.Builder
	for i, c := range []byte(s) {
		fmt.Fprintf(&b, []string{`\u%04x`, `\u%04X`}[i%2], c)
	}
	return b.String()
}

func inJSON(s string) string {
	b, _ := json.Marshal(map[string]string{"v": s})
	return string(b)
}

func percentForm(s string) string {
	var b strings.Builder
	for i, c := range []byte(s) {
		if c == ' ' || !unicode.IsLetter(rune(c)) && !unicode.IsDigit(rune(c)) || i%5 == 4 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// piece is the length of the shortest part of a canary that must not appear.
const piece = 12

// needles finds pieces of canaries in any encoding.
type needles struct {
	pieces map[[piece]byte]int // the number of the canary
	bits   [1 << 20 / 64]uint64
}

func newNeedles() *needles { return &needles{pieces: map[[piece]byte]int{}} }

// add adds canary number n, but for what its kind's name has too: that stands in marks.
func (n *needles) add(number int, c fakeSecret) {
	text := []byte(c.secret)
	n.pick(number, c.secret, c.kind)
	n.pick(number, hex.EncodeToString(text), "")
	n.pick(number, strings.ToUpper(hex.EncodeToString(text)), "")
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			code := enc.EncodeToString(append(make([]byte, shift), text...))[shift*2:] // without what is mixed with the bytes before
			n.pick(number, code[:max(0, len(code)-2)], "")
		}
	}
}

func (n *needles) pick(number int, code, not string) {
	for i := 0; i+piece <= len(code); i++ {
		if strings.Contains(not, code[i:i+piece]) {
			continue
		}
		key := [piece]byte([]byte(code[i:]))
		if _, ok := n.pieces[key]; !ok {
			n.pieces[key] = number
		}
		at := bit(key[:])
		n.bits[at/64] |= 1 << (at % 64)
	}
}

func bit(b []byte) uint32 {
	return (uint32(b[0]) | uint32(b[3])<<8 | uint32(b[6])<<16 | uint32(b[9])<<24) * 0x9e3779b1 >> 12
}

// find returns the numbers of the canaries that an output has, in the output itself or in what its escapes stand for.
func (n *needles) find(out []byte) map[int]bool {
	found := map[int]bool{}
	for _, text := range [][]byte{out, unescaped(out)} {
		for i := 0; i+piece <= len(text); i++ {
			if at := bit(text[i:]); n.bits[at/64]>>(at%64)&1 != 0 {
				if number, ok := n.pieces[[piece]byte(text[i:])]; ok {
					found[number] = true
				}
			}
		}
	}
	return found
}

// unescaped undoes the escapes of JSON, of any depth, and percent signs.
func unescaped(text []byte) []byte {
	if bytes.IndexByte(text, '\\') < 0 && bytes.IndexByte(text, '%') < 0 {
		return nil
	}
	var out []byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+5 < len(text) && text[i+1] == 'u' && bytes.Equal(bytes.ToLower(text[i+2:i+4]), []byte("00")):
			if b, err := hex.DecodeString(string(text[i+4 : i+6])); err == nil {
				out = append(out, b[0])
			}
			i += 5
		case c == '%' && i+2 < len(text):
			if b, err := hex.DecodeString(string(text[i+1 : i+3])); err == nil {
				out = append(out, b[0])
				i += 2
			} else {
				out = append(out, c)
			}
		case c == '\\':
		default:
			out = append(out, c)
		}
	}
	return out
}

// A canary is found by its needles in every encoding and in no mark, and by ccd's rules in every encoding too.
func TestCanariesAreFoundInEveryEncoding(t *testing.T) {
	rules, err := redact.New(redact.Config{})
	must(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	missed := map[string][]string{}
	for _, kind := range secretKinds() {
		for range testkit.Cases(t, 1, 4) {
			c, n := kind.make(r), newNeedles()
			n.add(1, c)
			if len(c.secret) >= piece {
				if len(n.find([]byte("[redacted "+c.kind+" 1] "+c.secret[:piece-1]))) > 0 {
					t.Error(c.kind, "is found in its mark")
				}
			}
			for _, e := range encodings {
				raw := data.PlainJSON(e.encode(c.text))
				if e.raw != nil {
					raw = e.raw(e.encode(c.text))
				}
				if len(n.find([]byte(raw))) == 0 && len(c.secret) >= piece+4 {
					t.Errorf("%s is not found in %s: %s", c.kind, e.name, raw)
				}
				line := []byte(`{"content":"Use ` + raw + ` there."}`)
				line = redact.Apply(line, 0, rules.Session().Marks(line))
				if len(n.find(line)) > 0 || len(c.secret) < piece && bytes.Contains(line, []byte(c.secret)) {
					name := c.kind + " " + kind.before
					missed[name] = append(missed[name], e.name)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missed)) {
		t.Errorf("%s is missed in %v", name, missed[name])
	}
}
