package redact

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// rule is a kind of secret: a token that begins with certain texts.
type rule struct {
	kind    string
	starts  []string // in lower case: the secret begins with one of them
	inner   bool     // or a word in it does
	text    string   // regular expression of the secret, as its first group if it has one
	least   int      // length of the shortest token
	entropy float64  // of the secret, at least, in bits per byte
	digit   bool     // the secret has one

	allow []string // regular expressions of what is no secret
}

// own are rules beside those of gitleaks.
var own = []rule{
	{kind: apiKind, starts: []string{"sk-"}, least: 24, entropy: 3.5, digit: true, text: `\bsk-(?:[a-z]{2,12}\d{0,2}-)*[A-Za-z0-9_-]{20,}`},
	{kind: "google-oauth-token", starts: []string{"ya29."}, text: `ya29\.[A-Za-z0-9_-]{30,}`},
	{kind: "google-client-secret", starts: []string{"gocspx-"}, text: `GOCSPX-[A-Za-z0-9_-]{20,}`},
	{kind: "xai-key", starts: []string{"xai-"}, digit: true, text: `xai-[A-Za-z0-9_-]{40,}`},
	{kind: "groq-key", starts: []string{"gsk_"}, text: `gsk_[A-Za-z0-9]{40,}`},
	{kind: "docker-token", starts: []string{"dckr_"}, text: `dckr_[po]at_[A-Za-z0-9_-]{20,}`},
	{kind: "tavily-key", starts: []string{"tvly-"}, digit: true, text: `tvly-[A-Za-z0-9_-]{20,}`},
	{kind: "replicate-token", starts: []string{"r8_"}, text: `r8_[A-Za-z0-9]{30,}`},
	{kind: "stripe-webhook-secret", starts: []string{"whsec_"}, digit: true, text: `whsec_[A-Za-z0-9+/]{20,}`},
	{kind: "supabase-token", starts: []string{"sbp_"}, text: `sbp_[a-f0-9]{40}`},
	{kind: "figma-token", starts: []string{"figd_"}, digit: true, text: `figd_[A-Za-z0-9_-]{30,}`},
	{kind: "notion-token", starts: []string{"ntn_"}, digit: true, text: `ntn_[A-Za-z0-9]{30,}`},
	{kind: "netlify-token", starts: []string{"nfp_"}, digit: true, text: `nfp_[A-Za-z0-9]{30,}`},
	{kind: "tailscale-key", starts: []string{"tskey-"}, digit: true, text: `tskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{20,}`},
	{kind: "telegram-bot-api-token", starts: []string{"bot"}, text: `bot([0-9]{8,10}:AA?[A-Za-z0-9_-]{33,34})`},
}

// Kinds of secrets that no rule of a table describes.
const (
	passwordKind = "password"
	privateKind  = "private-key"
	headerKind   = "authorization"
	apiKind      = "api-key"
	cookieKind   = "session-cookie"
)

// kinds are the names of kinds that are not those of gitleaks.
var kinds = map[string]string{"aws-access-token": "aws-key", "generic-api-key": apiKind, "airtable-personnal-access-token": "airtable-personal-access-token"}

// pattern is a rule with its regular expressions, which are compiled when a line first needs them.
type pattern struct {
	rule
	once    sync.Once
	re      *regexp.Regexp
	allowed []*regexp.Regexp
}

func (p *pattern) compile() *regexp.Regexp {
	p.once.Do(func() {
		text := p.text
		if !p.inner {
			text = "^(?:" + text + ")"
		}
		p.re = regexp.MustCompile(text)
		for _, text := range p.allow {
			p.allowed = append(p.allowed, regexp.MustCompile(text))
		}
	})
	return p.re
}

// Rules find secrets. They are safe for concurrent use. Nil Rules find nothing.
type Rules struct {
	starts  index
	own     []*pattern       // of the configuration: tried on every line
	allow   []*regexp.Regexp // of the configuration
	shown   func() []*regexp.Regexp
	version string
}

// version changes whenever the same line may have other marks.
const version = "5"

// New returns the rules of a configuration, nil if redaction is off. It fails if a regular expression is invalid.
func New(c Config) (*Rules, error) {
	if c.Off {
		return nil, nil
	}
	r := &Rules{shown: sync.OnceValue(compileShown)}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %+v %+v", version, gitleaks, own)
	for _, kind := range slices.Sorted(maps.Keys(c.Rules)) {
		re, err := regexp.Compile(c.Rules[kind])
		if err != nil {
			return nil, fmt.Errorf("parse rule %s: %w", kind, err)
		}
		if re.MatchString("") {
			return nil, fmt.Errorf("parse rule %s: it matches every text", kind)
		}
		p := &pattern{rule: rule{kind: kind, text: c.Rules[kind]}, re: re}
		p.once.Do(func() {})
		r.own = append(r.own, p)
		fmt.Fprintf(sum, "\nrule %q %q", kind, c.Rules[kind])
	}
	for _, text := range c.Allow {
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, fmt.Errorf("parse allowed text: %w", err)
		}
		if re.MatchString("") {
			return nil, fmt.Errorf("parse allowed text %q: it matches every text; to show all secrets, set secrets = false", text)
		}
		r.allow = append(r.allow, re)
		fmt.Fprintf(sum, "\nallow %q", text)
	}
	r.version = hex.EncodeToString(sum.Sum(nil)[:4])
	for _, list := range [][]rule{own, gitleaks} {
		for i := range list {
			p := &pattern{rule: list[i]}
			p.kind = cmp.Or(kinds[p.kind], p.kind)
			for _, start := range p.rule.starts {
				word := strings.TrimLeft(start, "_") // words begin with a letter or digit
				p.inner = p.inner || word != start
				r.starts.add(word, p)
			}
		}
	}
	return r, nil
}

func compileShown() (all []*regexp.Regexp) {
	for _, text := range shown {
		all = append(all, regexp.MustCompile(text))
	}
	return all
}

// Version identifies the rules, for the hash of a companion's options. It is "" for nil Rules.
func (r *Rules) Version() string {
	if r == nil {
		return ""
	}
	return r.version
}

// index finds patterns by the first three bytes of their texts.
type index struct {
	bits [1 << 15 / 64]uint64 // by a hash of them
	all  map[uint32][]entry
}

type entry struct {
	text string // folded
	*pattern
}

// fold makes letters lower case. It is applied to both sides of a comparison, so it may change other bytes too.
func fold(c byte) byte { return c | 0x20 }

// three returns the first three bytes of a text.
func three[T string | []byte](text T) uint32 {
	return uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16
}

// fold3 makes letters lower case in each of three bytes, as fold does. The fourth is dropped.
func fold3(k uint32) uint32 { return k&0xffffff | 0x202020 }

func bit(k uint32) uint32 { return k * 0x9e3779b1 >> 17 }

func (x *index) add(text string, p *pattern) {
	switch len(text) {
	case 1: // the tilde, see token
		text += text + text
	case 2:
		for c := byte('-'); c <= 'z'; c++ {
			if classes[c]&inToken != 0 && classes[c]&upper == 0 {
				x.add(text+string(c), p)
			}
		}
		return
	}
	folded := make([]byte, len(text))
	for i := range folded {
		folded[i] = fold(text[i])
	}
	k := fold3(three(text))
	x.note(k)
	if x.all == nil {
		x.all = map[uint32][]entry{}
	}
	x.all[k] = append(x.all[k], entry{string(folded), p})
}

// note has has report three bytes.
func (x *index) note(three uint32) {
	k := bit(fold3(three))
	x.bits[k/64] |= 1 << (k % 64)
}

// has reports whether a text may begin with three bytes.
func (x *index) has(three uint32) bool {
	k := bit(fold3(three))
	return x.bits[k/64]>>(k%64)&1 != 0
}

// at yields the entries with which text begins.
func (x *index) at(text []byte, take func(*pattern)) {
	for _, e := range x.all[fold3(three(text))] {
		if len(text) >= len(e.text) && beginsWith(text, e.text) {
			take(e.pattern)
		}
	}
}

func beginsWith(text []byte, folded string) bool {
	for i := range len(folded) {
		if fold(text[i]) != folded[i] {
			return false
		}
	}
	return true
}

// token returns where the pattern finds its secret in text.
func (r *Rules) token(p *pattern, text []byte) (from, to int, ok bool) {
	at := p.compile().FindSubmatchIndex(text)
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
	return from, to, !r.isNone(p, text[from:to])
}

// isNone reports whether a text that a pattern matches is none of its secrets.
func (r *Rules) isNone(p *pattern, value []byte) bool {
	if p.entropy > 0 && entropy(value) < p.entropy || p.digit && !bytes.ContainsAny(value, "0123456789") || r.isShown(value) {
		return true
	}
	for _, re := range p.allowed {
		if re.Match(value) {
			return true
		}
	}
	return false
}

// isShown reports whether a text is no secret, whatever the rule.
func (r *Rules) isShown(value []byte) bool {
	for _, list := range [][]*regexp.Regexp{r.allow, r.shown()} {
		for _, re := range list {
			if re.Match(value) {
				return true
			}
		}
	}
	return false
}

// entropy returns the entropy of a text in bits per byte (Shannon).
func entropy(text []byte) float64 {
	var counts [256]int
	for _, c := range text {
		counts[c]++
	}
	sum := 0.0
	for _, n := range counts {
		if n > 0 {
			share := float64(n) / float64(len(text))
			sum -= share * math.Log2(share)
		}
	}
	return sum
}
