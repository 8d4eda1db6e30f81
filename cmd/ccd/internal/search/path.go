package search

import (
	"fmt"
	"path"
	"strings"

	"ccd/internal/transcript"
)

// pattern is a path of a query, split at its slashes; nil for none.
type pattern []string

// At returns a function that reports whether a file is at a path, or below it, as Query.Path means it.
func At(path string) (func(file string) bool, error) {
	p, err := newPattern(path)
	return p.matches, err
}

// newPattern parses a path. An absolute one matches itself, a relative one any path that ends with it, and each also matches
// what is below such a path.
func newPattern(text string) (pattern, error) {
	if text == "" {
		return nil, nil
	}
	clean := path.Clean(slashes(transcript.Join("", text)))
	var p pattern
	if !strings.HasPrefix(clean, "/") {
		p = append(p, "**")
	}
	for _, e := range strings.Split(strings.Trim(clean, "/"), "/") {
		if _, err := path.Match(e, ""); err != nil {
			return nil, fmt.Errorf("parse path %q: %w", text, err)
		}
		if e != "" && e != "." {
			p = append(p, e)
		}
	}
	if len(p) == 0 || p[len(p)-1] != "**" {
		p = append(p, "**") // the file itself and everything below it
	}
	return p, nil
}

func slashes(p string) string { return strings.ReplaceAll(p, `\`, "/") }

// matches reports whether a path matches.
func (p pattern) matches(file string) bool {
	if file == "" {
		return false
	}
	if transcript.IsAbs(file) && file[0] != '/' { // Windows paths are case-insensitive
		file = strings.ToLower(file)
		p = strings.Split(strings.ToLower(strings.Join(p, "/")), "/")
	}
	return matchElements(p, strings.Split(strings.Trim(path.Clean(slashes(file)), "/"), "/"))
}

// matchElements compares elements. ** matches any number of them. Only the last ** is tried at several positions, so the
// work is at most the product of the two lengths.
func matchElements(p, elements []string) bool {
	i, j, star, from := 0, 0, -1, 0
	for j < len(elements) {
		switch {
		case i < len(p) && p[i] == "**":
			star, from = i, j
			i++
		case i < len(p) && matchOne(p[i], elements[j]):
			i, j = i+1, j+1
		case star >= 0:
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(p) && p[i] == "**" {
		i++
	}
	return i == len(p)
}

func matchOne(p, element string) bool {
	if p == element {
		return true // also if it contains characters that are special in a pattern
	}
	ok, err := path.Match(p, element)
	return err == nil && ok
}
