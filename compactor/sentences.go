package compactor

import (
	"iter"
	"strings"

	"ccd/compactor/prose"
)

// sentences gives the sentences of a text in order: a line that is not prose (a bullet, a heading) is one of its own,
// and a dot within a name or a number ends nothing. Fenced code is left out. Linear in the text.
func sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		fence := false
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "```") {
				fence = !fence
				continue
			}
			if fence {
				continue
			}
			for line != "" {
				n := prose.SentenceEnd(line)
				s := strings.TrimSpace(line[:n])
				line = strings.TrimSpace(line[n:])
				if s = bare(s); s != "" && !yield(s) {
					return
				}
			}
		}
	}
}

// bare is a sentence without its bullet or heading mark.
func bare(s string) string {
	s = trimBullet(s)
	if n, rest, ok := strings.Cut(s, ". "); ok && prose.IsNumber(n) && len(n) <= 3 {
		s = rest
	}
	return strings.TrimSpace(s)
}

// saysNo reports whether a sentence opens with a plain no.
func saysNo(s string) bool {
	low := lower(s[:min(len(s), 8)])
	return strings.HasPrefix(low, "no ") || strings.HasPrefix(low, "no,") || strings.HasPrefix(low, "no.") ||
		strings.HasPrefix(low, "nope") || low == "no"
}

// isCorrection and isConstraint look at one sentence of a human.
func isCorrection(s string) bool { return saysNo(s) || hasAny(s, correctionWords) }
func isConstraint(s string) bool { return hasAny(s, constraintWords) }

// anySentence reports whether one sentence of the text, within the first 64 KB, is as is says.
func anySentence(text string, is func(string) bool) bool {
	for s := range sentences(text[:min(len(text), maxSignal)]) {
		if is(s) {
			return true
		}
	}
	return false
}

// trimBullet takes the marks off that begin a list item, a heading or a quote; emphasis stays, as it is part of the text.
func trimBullet(s string) string {
	s = strings.TrimLeft(s, "#>•+ \t")
	for strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "* ") {
		s = strings.TrimLeft(s[2:], " \t")
	}
	return s
}
