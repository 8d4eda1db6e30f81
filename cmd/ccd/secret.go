package main

import (
	"bytes"
	"io"
	"regexp"
)

// secretShapes are the formats of credentials as their issuers document them. They only warn: a miss is possible, and a
// hit may be an example. Searching for the fixed starts first is faster: regular expressions over a long transcript
// would take longer than restoring it.
var secretShapes = []struct {
	name   string
	starts []string
	shape  *regexp.Regexp // matches from the start on
}{
	{"a private key", []string{"-----BEGIN "}, regexp.MustCompile(`^-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----`)},
	{"an AWS access key", []string{"AKIA", "ASIA"}, regexp.MustCompile(`^A[KS]IA[0-9A-Z]{16}\b`)},
	{"a GitHub token", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, regexp.MustCompile(`^gh[pousr]_[0-9A-Za-z]{36}`)},
	{"a GitHub token", []string{"github_pat_"}, regexp.MustCompile(`^github_pat_[0-9A-Za-z_]{40}`)},
	{"a GitLab token", []string{"glpat-"}, regexp.MustCompile(`^glpat-[0-9A-Za-z_-]{20}`)},
	{"an API key", []string{"sk-"}, regexp.MustCompile(`^sk-[0-9A-Za-z_-]{20}`)},
	{"a Google API key", []string{"AIza"}, regexp.MustCompile(`^AIza[0-9A-Za-z_-]{35}`)},
	{"a Slack token", []string{"xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-"}, regexp.MustCompile(`^xox[abprs]-[0-9A-Za-z-]{10}`)},
	{"a JSON web token", []string{"eyJ"}, regexp.MustCompile(`^eyJ[0-9A-Za-z_-]{10,200}\.eyJ[0-9A-Za-z_-]{10}`)},
}

// secretOverlap is how many bytes of the previous write are searched again, for a secret split between two writes.
const secretOverlap = 256

// secretWatch is a writer that notices the first text that looks like a secret.
type secretWatch struct {
	w    io.Writer
	seen string // its kind, "" if none was seen
	tail []byte
}

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
		for _, start := range shape.starts {
			if begins(p, []byte(start), shape.shape) {
				s.seen = shape.name
				return true
			}
		}
	}
	return false
}

// begins reports whether shape matches p at a place where start begins a word.
func begins(p, start []byte, shape *regexp.Regexp) bool {
	for at := 0; ; at++ {
		i := bytes.Index(p[at:], start)
		if i < 0 {
			return false
		}
		at += i
		if (at == 0 || !isWord(p[at-1])) && shape.Match(p[at:min(len(p), at+secretOverlap)]) {
			return true
		}
	}
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_'
}
