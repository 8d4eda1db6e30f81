package redact

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// Rules find secrets. They are safe for concurrent use. Nil Rules find nothing.
type Rules struct {
	own     []ownRule
	allow   []*regexp.Regexp
	version string
}

// version changes whenever the same line may have other marks.
const version = "1"

type ownRule struct {
	kind string
	re   *regexp.Regexp
}

// New compiles a configuration. It returns nil Rules if redaction is off.
func New(c Config) (*Rules, error) {
	if c.Off {
		return nil, nil
	}
	r := &Rules{own: []ownRule{{"aws-key", regexp.MustCompile(`AKIA[A-Z2-7]{16}`)}}}
	sum := sha256.New()
	fmt.Fprint(sum, version)
	for _, kind := range slices.Sorted(maps.Keys(c.Rules)) {
		re, err := regexp.Compile(c.Rules[kind])
		if err != nil {
			return nil, fmt.Errorf("parse rule %s: %w", kind, err)
		}
		r.own = append(r.own, ownRule{kind, re})
		fmt.Fprintf(sum, "\nrule %q %q", kind, c.Rules[kind])
	}
	for _, text := range c.Allow {
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, fmt.Errorf("parse allowed text: %w", err)
		}
		r.allow = append(r.allow, re)
		fmt.Fprintf(sum, "\nallow %q", text)
	}
	r.version = hex.EncodeToString(sum.Sum(nil)[:4])
	return r, nil
}

// Version identifies the rules, for the hash of a companion's options. It is "" for nil Rules.
func (r *Rules) Version() string {
	if r == nil {
		return ""
	}
	return r.version
}

// find appends the secrets of a line to marks. The line is JSON, or a text. In JSON each mark is within one string.
func (r *Rules) find(marks []Mark, line []byte) []Mark {
	for _, own := range r.own {
		for _, at := range own.re.FindAllIndex(line, -1) {
			if slices.ContainsFunc(r.allow, func(re *regexp.Regexp) bool { return re.Match(line[at[0]:at[1]]) }) {
				continue
			}
			marks = append(marks, Mark{From: at[0], To: at[1], Kind: own.kind})
		}
	}
	return marks
}
