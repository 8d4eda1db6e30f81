package search

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Query is what is looked for: items in which everything stands that is given. Something must be.
type Query struct {
	// Words stand in an item in any order, in any case, also as parts of longer words. One with white space in it is a
	// phrase: its words stand in this order with nothing but white space between them.
	Words  []string
	Tool   string    // calls of the tool, and their results; its name in any case, of an MCP server's tool also without the server's
	Path   string    // calls on the file, and their results: a path, the last elements of one, a directory, or either with * ? [] **
	Retold bool      // also what ccd's hooks told an agent of earlier work: see transcript.Retold
	Since  time.Time // records from then on; one without a time counts as new as its session
}

// The most that a query may hold.
const (
	maxWords = 32
	maxWord  = 1000 // characters
)

// Words reads what a person types in one line: words, and phrases in double quotes. A quote within a word is part of it.
func Words(line string) []string {
	var words []string
	for line = strings.TrimLeftFunc(line, unicode.IsSpace); line != ""; line = strings.TrimLeftFunc(line, unicode.IsSpace) {
		if phrase, rest, ok := quoted(line); ok {
			if phrase != "" {
				words = append(words, phrase)
			}
			line = rest
			continue
		}
		end := strings.IndexFunc(line, unicode.IsSpace)
		if end < 0 {
			end = len(line)
		}
		words = append(words, line[:end])
		line = line[end:]
	}
	return words
}

// quoted takes a phrase in quotes off the beginning of line. Its closing quote stands before white space or the end.
func quoted(line string) (phrase, rest string, ok bool) {
	if line[0] != '"' {
		return "", "", false
	}
	for i := 1; i < len(line); i++ {
		if line[i] != '"' {
			continue
		}
		next, _ := utf8.DecodeRuneInString(line[i+1:])
		if i+1 == len(line) || unicode.IsSpace(next) {
			return strings.TrimSpace(line[1:i]), line[i+1:], true
		}
	}
	return "", "", false
}

// Check reports why the query cannot be used.
func (q Query) Check() error {
	_, err := q.finder()
	return err
}

// Spans returns where the words of the query stand in text, as places of bytes, in order and apart from each other.
func (q Query) Spans(text string) [][2]int {
	terms, err := q.terms()
	if err != nil {
		return nil
	}
	var all [][2]int
	for at := 0; ; {
		start, end := first(terms, []byte(text), at)
		if start < 0 || end <= at {
			return all
		}
		all = append(all, [2]int{start, end})
		at = end
	}
}

// first returns the first place, at or behind from, where any of the terms stands.
func first(terms []term, text []byte, from int) (start, end int) {
	start, end = -1, -1
	for i := range terms {
		if s, e := terms[i].find(text, from); s >= 0 && (start < 0 || s < start || s == start && e > end) {
			start, end = s, e
		}
	}
	return start, end
}

// terms checks the query and makes its words ready.
func (q Query) terms() ([]term, error) {
	var terms []term
	for _, w := range q.Words {
		switch {
		case strings.TrimSpace(w) == "":
			continue
		case utf8.RuneCountInString(w) > maxWord:
			return nil, fmt.Errorf("parse query: a word of more than %d characters", maxWord)
		case len(terms) == maxWords:
			return nil, fmt.Errorf("parse query: more than %d words", maxWords)
		}
		terms = append(terms, newTerm(w))
	}
	if len(terms) == 0 && q.Tool == "" && q.Path == "" {
		return nil, errors.New("parse query: nothing to look for")
	}
	return terms, nil
}
