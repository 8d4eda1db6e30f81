package search

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Query selects the items that match all given fields. At least one of Words, Tool and Path must be given.
type Query struct {
	// Words must all occur in an item, in any order and case, also as parts of longer words. An entry with white space is a
	// phrase, whose words must follow each other with only white space between them.
	Words  []string
	Tool   string    // calls of the tool and their results; any case, and the name of an MCP server can be omitted
	Path   string    // calls on the file and their results: a path, the end of one, a directory, or a pattern with * ? [] **
	Retold bool      // also the context that ccd's hooks added: see transcript.HistoryNote
	Since  time.Time // only records from then on; a record without a time counts as new as its session
}

// The limits of a query.
const (
	maxWords = 32
	maxWord  = 1000 // characters
)

// Words splits a line into words and phrases in double quotes. A quote within a word is part of the word.
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

// quoted splits a quoted phrase off the beginning of line. Its closing quote is before white space or the end.
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

// Check returns an error if the query cannot be used.
func (q Query) Check() error {
	_, err := Search{Query: q}.finder()
	return err
}

// Spans returns the byte ranges of the query's words in text, in order and without overlap.
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

// In reports whether a text has all of the query's words.
func (q Query) In(text string) bool {
	terms, err := q.terms()
	return err == nil && len(terms) > 0 && !slices.ContainsFunc(terms, func(t term) bool { at, _ := t.find([]byte(text), 0); return at < 0 })
}

// first returns the first occurrence of any of the terms at or after from.
func first(terms []term, text []byte, from int) (start, end int) {
	start, end = -1, -1
	for i := range terms {
		if s, e := terms[i].find(text, from); s >= 0 && (start < 0 || s < start || s == start && e > end) {
			start, end = s, e
		}
	}
	return start, end
}

// terms checks the query and prepares its words.
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
		return nil, errors.New("WORDS, --tool or --path is required")
	}
	return terms, nil
}

// literals returns the parts of the terms that occur literally in the bytes of a session with a match. JSON writes the characters
// of a string literally, except control characters, the quote, the backslash and perhaps the slash; escapes of others are undone.
func literals(terms []term) (all []run) {
	for _, t := range terms {
		for _, u := range t.runs {
			for _, part := range strings.FieldsFunc(string(u.folded), func(r rune) bool {
				return r == '"' || r == '\\' || r == '/' || unicode.IsControl(r) || r == unicode.ReplacementChar
			}) {
				all = append(all, newRun([]rune(part)))
			}
		}
	}
	return all
}
