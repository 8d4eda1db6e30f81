package redact

import (
	"cmp"
	"slices"
)

// Shape describes what a rule finds, for tests that make secrets.
type Shape struct {
	Kind    string
	Starts  []string // in lower case: the secret, or what is before it, contains one of them
	Text    string   // regular expression of the secret; its first group, if any, is the secret
	Entropy float64  // at least, in bits per byte
	Digit   bool     // the secret has one
	Allow   []string // regular expressions of what is none
}

// Shapes returns the shapes of the rules that have a regular expression.
func Shapes() (all []Shape) {
	for _, p := range slices.Concat(own, gitleaks) {
		all = append(all, Shape{cmp.Or(kinds[p.kind], p.kind), p.starts, p.text, p.entropy, p.digit, p.allow})
	}
	return all
}
