package main

import (
	"io"
	"regexp"
)

// secretShapes are general shapes of credentials, as their issuers document them. They only warn: a miss is possible
// and a hit may be an example.
var secretShapes = []struct {
	name  string
	shape *regexp.Regexp
}{
	{"a private key", regexp.MustCompile(`-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----`)},
	{"an AWS access key", regexp.MustCompile(`\b(AKIA|ASIA)[0-9A-Z]{16}\b`)},
	{"a GitHub token", regexp.MustCompile(`\b(gh[pousr]_[0-9A-Za-z]{36}|github_pat_[0-9A-Za-z_]{40})`)},
	{"a GitLab token", regexp.MustCompile(`\bglpat-[0-9A-Za-z_-]{20}`)},
	{"an API key", regexp.MustCompile(`\bsk-[0-9A-Za-z_-]{20}`)},
	{"a Google API key", regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{35}`)},
	{"a Slack token", regexp.MustCompile(`\bxox[abprs]-[0-9A-Za-z-]{10}`)},
	{"a JSON web token", regexp.MustCompile(`\beyJ[0-9A-Za-z_-]{10,200}\.eyJ[0-9A-Za-z_-]{10}`)},
}

// secretOverlap is how much of what passed is looked at again, so that a token cut by a write is seen.
const secretOverlap = 256

// secretWatch passes bytes on and notices the first that look like a secret.
type secretWatch struct {
	w    io.Writer
	seen string // what it looks like, "" while nothing does
	tail []byte
}

// Write implements io.Writer.
func (s *secretWatch) Write(p []byte) (int, error) {
	if s.seen == "" {
		s.look(p)
	}
	return s.w.Write(p)
}

func (s *secretWatch) look(p []byte) {
	if joint := append(s.tail, p[:min(len(p), secretOverlap)]...); s.match(joint) || s.match(p) {
		return
	}
	s.tail = append(s.tail, p[max(0, len(p)-secretOverlap):]...)
	s.tail = s.tail[max(0, len(s.tail)-secretOverlap):]
}

func (s *secretWatch) match(p []byte) bool {
	for _, shape := range secretShapes {
		if shape.shape.Match(p) {
			s.seen = shape.name
			return true
		}
	}
	return false
}
