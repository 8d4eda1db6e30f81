package search

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"ccd/internal/lazy"
	"ccd/internal/transcript"
)

// At returns a function that reports whether a file is at a path, or below it, as Query.Path means it.
func At(path string) (func(file string) bool, error) {
	p, err := newPattern(path)
	return func(file string) bool { return matches(p, file) }, err
}

// glob matches a part of a path that is one of its own in an expression.
var glob = lazy.Regexp(`(?s)\*\*/?|\[[^\]]+\]|.`)

// newPattern makes an expression of a path, nil of none. An absolute one matches itself, a relative one any path that ends with it, and
// each also matches what is below such a path, in any case. What looks like a pattern also stands for itself.
func newPattern(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	p, begin := path.Clean(slashes(transcript.Join("", text))), "(?:^|/)"
	if p == "." {
		p = "**"
	}
	if strings.HasPrefix(p, "/") {
		p, begin = p[1:], "^/?"
	}
	if _, err := path.Match(p, ""); err != nil {
		return nil, fmt.Errorf("parse path %q: %w", text, err)
	}
	expression := glob().ReplaceAllStringFunc(p, func(part string) string {
		switch {
		case part == "**/":
			return "(?:.*/)?"
		case part == "**":
			return ".*"
		case part == "*":
			return "[^/]*"
		case part == "?":
			return "[^/]"
		case len(part) > 1 && part[0] == '[':
			return part
		}
		return regexp.QuoteMeta(part)
	})
	return regexp.Compile("(?is)" + begin + "(?:" + expression + "|" + regexp.QuoteMeta(p) + ")(?:/|$)")
}

func slashes(p string) string { return strings.ReplaceAll(p, `\`, "/") }

func matches(p *regexp.Regexp, file string) bool {
	return file != "" && p.MatchString(path.Clean(slashes(file)))
}
