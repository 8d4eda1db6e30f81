package redact

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // the rules
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ccd/internal/lazy"
)

// Shape is a kind of secret that its looks tell: a token that begins with certain texts.
type Shape struct {
	Kind    string
	Starts  []string // in small letters: the secret, or what is before it, contains one of them
	Text    string   // regular expression of the secret; its first group, if any, is the secret
	least   int      // length of the shortest token, in bytes
	Entropy float64  // at least, in bits per byte
	Digit   bool     // the secret has one
	Allow   []string // regular expressions of what is none
	inner   bool     // a word in the token begins so, not the token
	re      func() *regexp.Regexp
	none    func() *regexp.Regexp
}

var (
	//go:embed gitleaks.tsv
	gitleaks string
	//go:embed tokens.tsv
	tokens string
)

// Kinds of secrets that no shape describes.
const (
	passwordKind = "password"
	privateKind  = "private-key"
	headerKind   = "authorization"
	apiKind      = "api-key"
	cookieKind   = "session-cookie"
)

// kinds are the names of kinds that are not those of gitleaks.
var kinds = map[string]string{"aws-access-token": "aws-key", "generic-api-key": apiKind, "airtable-personnal-access-token": "airtable-personal-access-token"}

// Shapes returns the rules for tokens.
func Shapes() (all []Shape) {
	for row := range strings.Lines(tokens + gitleaks) {
		col := strings.Split(strings.TrimRight(row, "\n"), "\t")
		if row[0] == '#' || len(col) != 7 {
			continue
		}
		least, _ := strconv.Atoi(col[2])
		entropy, _ := strconv.ParseFloat(col[3], 64)
		inner, text := col[4] == "inner", col[5]
		if !inner {
			text = "^(?:" + text + ")"
		}
		all = append(all, Shape{
			Kind: cmp.Or(kinds[col[0]], col[0]), Starts: strings.Fields(col[1]), Text: col[5], Entropy: entropy, Digit: col[4] == "digit",
			Allow: strings.Fields(col[6]), least: least, inner: inner, re: lazy.Regexp(text), none: lazy.Regexp(strings.Join(append(strings.Fields(col[6]), "^$"), "|")),
		})
	}
	return all
}

// start is a text with which the secrets of a shape begin.
type start struct {
	text string
	*Shape
}

var (
	// starts are the shapes by the texts with which they begin.
	starts = sync.OnceValue(func() *index[start] {
		x := &index[start]{}
		for _, s := range Shapes() {
			for _, text := range s.Starts {
				one, word := s, strings.TrimLeft(text, "_") // words begin with a letter or digit
				if word != text && !s.inner {
					one.inner, one.re = true, lazy.Regexp(s.Text)
				}
				if word == "~" { // see tilde
					word = "~~~"
				}
				if len(word) > 2 {
					x.add(word, start{word, &one})
					continue
				}
				for c := byte('-'); c <= 'z'; c++ {
					if classes[c]&inToken != 0 && classes[c]&upper == 0 {
						x.add(word+string(c), start{word, &one})
					}
				}
			}
		}
		return x
	})

	// shown matches what is no secret, whatever the rule.
	shown = sync.OnceValue(func() *regexp.Regexp {
		_, texts, _ := strings.Cut(gitleaks, "\n\n")
		return regexp.MustCompile("(?:" + strings.Join(strings.Split(strings.TrimSpace(texts), "\n")[1:], ")|(?:") + ")")
	})
)

// Rules find secrets. They are safe for concurrent use. Nil Rules find nothing.
type Rules struct {
	own     []Shape          // of the configuration: tried on every line
	allow   []*regexp.Regexp // of the configuration
	version string
}

// rulesVersion changes whenever the same line may have other marks.
const rulesVersion = "9"

// New returns the rules of a configuration, nil if redaction is off. It fails if a regular expression is invalid.
func New(c Config) (*Rules, error) {
	if c.Off {
		return nil, nil
	}
	r := &Rules{}
	sum := sha256.New()
	fmt.Fprint(sum, rulesVersion, gitleaks, tokens, wordList)
	for _, kind := range slices.Sorted(maps.Keys(c.Rules)) {
		if err := check(c.Rules[kind], ""); err != nil {
			return nil, fmt.Errorf("parse rule %s: %w", kind, err)
		}
		r.own = append(r.own, Shape{Kind: kind, re: lazy.Regexp(c.Rules[kind])})
		fmt.Fprintf(sum, "\nrule %q %q", kind, c.Rules[kind])
	}
	for _, text := range c.Allow {
		if err := check(text, "; to show all secrets, set secrets = false"); err != nil {
			return nil, fmt.Errorf("parse allowed text %q: %w", text, err)
		}
		r.allow = append(r.allow, regexp.MustCompile(text))
		fmt.Fprintf(sum, "\nallow %q", text)
	}
	r.version = hex.EncodeToString(sum.Sum(nil)[:4])
	return r, nil
}

func check(text, hint string) error {
	re, err := regexp.Compile(text)
	if err == nil && re.MatchString("") {
		return fmt.Errorf("it matches every text%s", hint)
	}
	return err
}

// Version identifies the rules, for the hash of a companion's options. It is "" for nil Rules.
func (r *Rules) Version() string {
	if r == nil {
		return ""
	}
	return r.version
}

// token returns where a secret of a shape is in text.
func (r *Rules) token(s *Shape, text []byte) (from, to int, ok bool) {
	at := s.re().FindSubmatchIndex(text)
	if at == nil {
		return 0, 0, false
	}
	from, to = at[0], at[1]
	for i := 2; i < len(at); i += 2 {
		if at[i] >= 0 && at[i] < at[i+1] {
			from, to = at[i], at[i+1]
			break
		}
	}
	value := text[from:to]
	return from, to, (s.Entropy == 0 || entropy(value) >= s.Entropy) && (!s.Digit || sorts(value)&digit != 0) && !r.isShown(value) && !s.none().Match(value)
}

// isShown reports whether a text is no secret, whatever the rule.
func (r *Rules) isShown(value []byte) bool {
	c := value[0] // all of what is shown begins so
	if strings.IndexByte("$%@/{*.nNtTfF", c) >= 0 || len(value) < 2 || fold(c) == fold(value[1]) {
		if shown().Match(value) {
			return true
		}
	}
	return slices.ContainsFunc(r.allow, func(re *regexp.Regexp) bool { return re.Match(value) })
}

// entropy returns the entropy of a text in bits per byte (Shannon).
func entropy(text []byte) (sum float64) {
	var counts [256]int
	for _, c := range text {
		counts[c]++
	}
	for _, n := range counts {
		if n > 0 {
			share := float64(n) / float64(len(text))
			sum -= share * math.Log2(share)
		}
	}
	return sum
}

// index finds entries by three bytes of a text, whose letters may be small or not.
type index[T any] struct {
	known [1 << 15 / 64]uint64 // a bit for each slot that has entries: most texts need only these few cache lines
	slots [1 << 15]uint16      // where the entries are, by a hash of the bytes: what it finds has to be compared
	all   [][]T
}

// slot returns where the first three bytes of a text are.
func slot[S string | []byte](text S) uint32 {
	k := (uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16) | 0x202020
	return k * 0x9e3779b1 >> 17
}

func (x *index[T]) add(text string, entry T) {
	at := slot(text)
	if x.known[at/64]>>(at%64)&1 == 0 {
		x.known[at/64] |= 1 << (at % 64)
		x.slots[at] = uint16(len(x.all))
		x.all = append(x.all, nil)
	}
	x.all[x.slots[at]] = append(x.all[x.slots[at]], entry)
}

// of returns the entries of what may be the first three bytes of a text.
func (x *index[T]) of(text []byte) []T {
	at := slot(text)
	if x.known[at/64]>>(at%64)&1 == 0 {
		return nil
	}
	return x.all[x.slots[at]]
}

// fold makes letters small. It is applied to both sides of a comparison, so it may change other bytes too.
func fold(c byte) byte { return c | 0x20 }

func beginsWith(text []byte, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if fold(text[i]) != fold(word[i]) {
			return false
		}
	}
	return true
}
