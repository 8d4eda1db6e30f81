package search

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ccd/internal/grams"
	"ccd/internal/lazy"
	"ccd/internal/transcript"
)

// Query selects the items that match all given fields. At least one of Words, Tool and Path must be given.
type Query struct {
	// Words must all occur in an item, in any order and case, also as parts of longer words. An entry with white space is a
	// phrase, whose words must follow each other with only white space between them.
	Words  []string
	Any    [][]string // of each list, one must occur
	None   []string   // none of these may occur
	Tool   string     // calls of the tool and their results; any case, and the name of an MCP server can be omitted
	Path   string     // calls on the file and their results: a path, the end of one, a directory, or a pattern with * ? [] **
	Said   bool       // only what people and agents said
	Human  bool       // with Said: only what people said
	Retold bool       // also the context that ccd's hooks added: see transcript.HistoryNote
	Since  time.Time  // only records from then on; a record without a time counts as new as its session
	Until  time.Time  // only records until then; zero for no limit
	Around int        // so many lines before and after that of the match are in a hit
}

// The limits of a query.
const (
	maxWords = 32
	maxWord  = 1000 // characters
)

// token is a word as it was typed.
type token struct {
	text   string
	quoted bool // it is no operator
}

// Parse reads the words of a query as they are typed on a line: phrases in double quotes, AND, OR, NOT and -WORD. OR joins what
// is on both of its sides. A quote within a word is part of the word.
func (q *Query) Parse(line string) { q.take(split(line)) }

// ParseArgs parses words that a shell has split. A word with white space is a phrase, unless it contains AND or OR. NOT does not count,
// because people write "do NOT" in capitals.
func (q *Query) ParseArgs(args []string) {
	var all []token
	for _, arg := range args {
		if strings.HasPrefix(arg, `"`) || hasOperator(arg) {
			all = append(all, split(arg)...)
		} else {
			all = append(all, token{arg, strings.ContainsFunc(arg, unicode.IsSpace)})
		}
	}
	q.take(all)
}

// hasOperator reports whether a text has AND or OR between words.
func hasOperator(text string) bool {
	return slices.ContainsFunc([]string{" AND ", " OR "}, func(o string) bool { return strings.Contains(text, o) })
}

// operator returns the operator that a token is or begins with, "" for none: in quotes, or without the words that it is about, it
// is a word itself.
func operator(all []token, i int) string {
	t, begins, ends := all[i], i == 0, i == len(all)-1
	switch {
	case t.quoted:
		return ""
	case strings.EqualFold(t.text, "-not") && !ends:
		return "NOT"
	case (t.text == "AND" || t.text == "OR") && !begins && !ends, t.text == "NOT" && !ends:
		return t.text
	case len(t.text) > 1 && t.text[0] == '-' && t.text[1] != '-':
		return "-"
	}
	return ""
}

func (q *Query) take(all []token) {
	var groups [][]string
	or, not := false, false
	for i, t := range all {
		switch operator(all, i) {
		case "AND":
			continue
		case "OR":
			or = len(groups) > 0
			continue
		case "NOT":
			not = true
			continue
		case "-":
			t.text, not = t.text[1:], true
		}
		switch last := len(groups) - 1; {
		case not:
			q.None = append(q.None, t.text)
		case or:
			groups[last] = append(groups[last], t.text)
		default:
			groups = append(groups, []string{t.text})
		}
		or, not = false, false
	}
	for _, g := range groups {
		if len(g) == 1 {
			q.Words = append(q.Words, g[0])
		} else {
			q.Any = append(q.Any, g)
		}
	}
}

// typed matches a phrase in quotes, of which the second is before white space or the end, or else a word.
var typed = lazy.Regexp(`(?s)(-?)"(.*?)"(?:[\s\v\x{85}\p{Z}]|$)|([^\s\v\x{85}\p{Z}]+)`)

// split splits a line into words and phrases.
func split(line string) (words []token) {
	for _, m := range typed().FindAllStringSubmatch(line, -1) {
		not, phrase, word := m[1], strings.TrimSpace(m[2]), m[3]
		if word != "" {
			words = append(words, token{word, false})
		} else if phrase != "" {
			words = append(words, token{not + phrase, not == ""})
		}
	}
	return words
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
	f := fold([]byte(text))
	var found, all [][2]int
	for _, t := range terms {
		for start, end := range t.each(f.text) {
			if !t.not {
				found = append(found, [2]int{start, end})
			}
		}
	}
	slices.SortFunc(found, func(a, b [2]int) int { return cmp.Or(a[0]-b[0], b[1]-a[1]) })
	last := 0
	for _, one := range found {
		if one[0] >= last && one[1] > one[0] {
			all, last = append(all, [2]int{f.in(one[0]), f.in(one[1])}), one[1]
		}
	}
	return all
}

// In reports whether a text matches the query's words.
func (q Query) In(text string) bool {
	terms, err := q.terms()
	return err == nil && len(terms) > 0 && new(match).all(terms, []byte(text))
}

// terms checks the query and prepares its words.
func (q Query) terms() ([]term, error) {
	var terms []term
	groups := slices.Clone(q.Any)
	for _, w := range q.Words {
		groups = append(groups, []string{w})
	}
	some := len(groups)
	for n, group := range append(groups, q.None) {
		for _, w := range group {
			switch {
			case strings.TrimSpace(w) == "":
				continue
			case utf8.RuneCountInString(w) > maxWord:
				return nil, fmt.Errorf("parse query: a word of more than %d characters", maxWord)
			case len(terms) == maxWords:
				return nil, fmt.Errorf("parse query: more than %d words", maxWords)
			}
			t := newTerm(w)
			t.group, t.or, t.not = n, len(group) > 1 && n < some, n == some
			terms = append(terms, t)
		}
	}
	switch {
	case q.Tool != "" || q.Path != "" || q.Said:
	case len(terms) == 0:
		return nil, errors.New("WORDS, --said, --tool or --path is required")
	case terms[0].not:
		return nil, errors.New("NOT only leaves out: name a word to look for, too")
	}
	return terms, nil
}

// literals returns the parts of the terms that occur literally in the bytes of a session with a match. JSON writes the characters
// of a string literally, except control characters, the quote, the backslash and perhaps the slash; escapes of others are undone.
func literals(terms []term) (all []grams.Word) {
	for _, t := range terms {
		if t.or || t.not {
			continue
		}
		for _, part := range strings.FieldsFunc(string(bytes.Join(t.words, []byte(" "))), func(r rune) bool {
			return r == ' ' || r == '"' || r == '\\' || r == '/' || unicode.IsControl(r) || r == unicode.ReplacementChar
		}) {
			all = append(all, grams.NewWord([]rune(part)))
		}
	}
	return all
}

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
		}
		itself := regexp.QuoteMeta(part)
		if _, err := regexp.Compile(part); len(part) > 1 && err == nil { // not so [user-id], a range that ends before it begins
			return "(?:" + part + "|" + itself + ")"
		}
		return itself
	})
	return regexp.Compile("(?is)" + begin + "(?:" + expression + "|" + regexp.QuoteMeta(p) + ")(?:/|$)")
}

func slashes(p string) string { return strings.ReplaceAll(p, `\`, "/") }

func matches(p *regexp.Regexp, file string) bool {
	return file != "" && p.MatchString(path.Clean(slashes(file)))
}
