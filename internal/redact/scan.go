package redact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// A line is searched in two steps. The first one is fast and sees every byte: it finds tokens, stretches of at least
// minToken bytes without blanks and quotes. Only what begins like a secret, is or is encoded text goes through the second
// step: the regular expressions. Values that names say are secret are found by their signs, see named.go.

// minToken is the length of the shortest token that is looked at. A shorter secret is part of one, as in PASSWORD=secret.
const minToken = 12

// The classes of bytes.
const (
	inToken = 1 << iota // may be part of a token
	alnum
	digit
	upper
	lower
	base64Char // of both alphabets
	hexDigit
	blank     // white space and quotes
	separator // part of a token, but not of base64
	nameChar  // of what a value is assigned to
)

// classes are the classes of each byte.
var classes = func() (t [256]uint16) {
	set := func(chars string, class uint16) {
		for i := range len(chars) {
			t[chars[i]] |= class
		}
	}
	for c := byte('a'); c <= 'z'; c++ {
		t[c] |= inToken | alnum | lower | base64Char
		t[c-'a'+'A'] |= inToken | alnum | upper | base64Char
	}
	set("0123456789", inToken|alnum|digit|base64Char)
	set("0123456789abcdefABCDEF", hexDigit)
	set("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.", nameChar)
	set("_-./+=~%:@", inToken)
	set("+/-_", base64Char)
	set(".=~%:@", separator)
	set(" \t\r\n\"'`", blank)
	return t
}()

// find appends the secrets of a line to marks. The line is JSON, or a text. In JSON each mark is within one string.
func (r *Rules) find(marks []Mark, line []byte) []Mark {
	s := scan{rules: r, line: line}
	s.view(&view{text: line}, 0)
	s.configured()
	if len(s.marks) == 0 {
		return marks
	}
	return append(marks, s.merged()...)
}

// scan is one line that is searched.
type scan struct {
	rules *Rules
	line  []byte
	marks []Mark

	spent   int       // bytes of values that were looked at
	escaped []stretch // the lines of it that have JSON escapes of characters that need none
}

// stretch is bytes [from, to) of a text.
type stretch struct{ from, to int }

// escapedAt notes the line around byte i. A text has many lines, and few of them have such escapes.
func (s *scan) escapedAt(text []byte, i int) {
	n, found := slices.BinarySearchFunc(s.escaped, i, func(e stretch, i int) int {
		switch {
		case i < e.from:
			return 1
		case i >= e.to:
			return -1
		}
		return 0
	})
	if found {
		return
	}
	one := stretch{bytes.LastIndexByte(text[:i], '\n') + 1, nextByte(text, i, '\n')}
	if n > 0 && s.escaped[n-1].to+1 == one.from { // a secret may span both
		s.escaped[n-1].to = one.to
		return
	}
	s.escaped = slices.Insert(s.escaped, n, one)
}

// view is a text that was decoded from part of a line.
type view struct {
	text []byte
	at   []int32 // where in the line each byte of text begins, and where the last one ends; nil: the text is the line
	done
}

// done is up to where a text was searched already.
type done struct {
	base64 int // for wrapped base64
	keys   int // for private keys
	named  int // for values of names
}

// source returns which bytes of the line a stretch of the view was decoded from.
func (v *view) source(from, to int) (int, int) {
	if v.at == nil {
		return from, to
	}
	last := v.at[to-1]
	for to < len(v.at)-1 && v.at[to] == last { // several bytes of one base64 group
		to++
	}
	return int(v.at[from]), int(v.at[to])
}

// mark adds a secret that the view has at [from, to).
func (s *scan) mark(v *view, from, to int, kind string) {
	value := string(v.text[from:to])
	if v.at == nil && strings.IndexByte(value, '\\') >= 0 {
		value = string(unescaped(v.text, from, to).text)
	}
	from, to = v.source(from, to)
	s.marks = append(s.marks, Mark{From: from, To: to, Kind: kind, value: value})
}

// maxDepth is how many encodings within each other are undone.
const maxDepth = 3

// within searches a text that was decoded from the line.
func (s *scan) within(v *view, depth int) {
	if len(v.text) >= 8 && depth < maxDepth {
		s.view(v, depth)
	}
}

// view finds the secrets of a text.
func (s *scan) view(v *view, depth int) {
	least := minToken
	if v.at != nil && len(v.text) < 2*minToken {
		least = 8
	}
	if least < minToken {
		s.stretch(v, 0, least, depth)
	} else {
		s.stretches(v, depth)
	}
	s.named(v)
	s.percents(v, depth)
	if v.at == nil {
		s.pieces(v.text)
		for _, e := range s.escaped {
			s.within(unescaped(v.text, e.from, e.to), depth)
		}
	}
}

// pieces notes the lines with control sequences of a terminal or escapes, which may be between a name and its value.
func (s *scan) pieces(text []byte) {
	places(text, "\x1b", func(i int) { s.escapedAt(text, i) })
	places(text, `\u00`, func(i int) {
		if inPieces(text[i:]) {
			s.escapedAt(text, i)
		}
	})
}

// stretches finds where minToken bytes or more are plain, which a token needs, and have a digit or are longToken.
func (s *scan) stretches(v *view, depth int) {
	text := v.text
	for i := 0; i < len(text); i++ {
		from, digits := i, uint16(0)
		for i < len(text) && text[i] >= '+' && text[i] < 0x80 {
			digits |= classes[text[i]] & digit
			i++
		}
		if n := i - from; n >= minToken && (digits != 0 || n >= longToken) && !isStamp(text[from:]) {
			i = s.stretch(v, from, minToken, depth)
		}
	}
}

// stretch finds the tokens from byte i on, up to a byte below '+' or beyond ASCII, and returns where it ended.
func (s *scan) stretch(v *view, i, least, depth int) (end int) {
	text := v.text
	for from, has := i, uint16(0); ; i++ {
		if i < len(text) && classes[text[i]]&inToken != 0 {
			has |= classes[text[i]]
			continue
		}
		if i-from >= least && (has&digit != 0 || i-from >= longToken) {
			s.token(&token{v, afterEscape(text, from), i, has}, depth)
		}
		if i == len(text) || least == minToken && (text[i] < '+' || text[i] >= 0x80) {
			return i
		}
		if text[i] == '\\' && i+3 < len(text) && v.at == nil && text[i+1] == '/' {
			s.escapedAt(text, i)
		}
		from, has = i+1, 0
	}
}

// longToken is the length from which a token is looked at if it has no digit.
const longToken = 18

// manyChars is the length from which a token of nothing but base64 is a picture, a signature or another text: words in it are
// none.
const manyChars = 400

// inPieces reports whether text begins with the JSON escape of a character that needs none, or of a quote, which may be
// between a name and its value, so that what belongs together is in pieces.
func inPieces(text []byte) bool {
	if len(text) < 6 || text[2] != '0' || text[3] != '0' {
		return false
	}
	c, ok := unhex(text[4], text[5])
	return ok && (classes[c]&inToken != 0 || bytes.IndexByte([]byte("\"'<>&\x1b"), c) >= 0)
}

// afterEscape returns where a token begins if it began with the rest of a JSON escape, as in "\nAKIA" and "\u003cAKIA".
func afterEscape(text []byte, from int) int {
	switch {
	case from == 0:
		return 0
	case text[from-1] == '[', text[from-1] == ';':
		return afterColour(text, from)
	case text[from-1] != '\\':
		return from
	}
	if bytes.IndexByte([]byte("nrtbf"), text[from]) >= 0 {
		return from + 1
	}
	if text[from] == 'u' && from+5 <= len(text) {
		_, ok := unhex(text[from+1], text[from+2])
		_, ok2 := unhex(text[from+3], text[from+4])
		if ok && ok2 {
			return from + 5
		}
	}
	return from
}

// escape begins a control sequence of a terminal, such as a colour.
const escape = 0x1b

// afterColour returns where a token begins if it began with the rest of a control sequence, as in "\x1b[32mAKIA".
func afterColour(text []byte, from int) int {
	i := from - 1
	for i > 0 && i > from-maxSequence && text[i] != '[' {
		if text[i] != ';' && classes[text[i]]&digit == 0 {
			return from
		}
		i--
	}
	if text[i] != '[' || i == 0 || text[i-1] != escape && !bytes.HasSuffix(text[:i], []byte("u001b")) && !bytes.HasSuffix(text[:i], []byte("u001B")) {
		return from
	}
	for i = from; i < len(text) && classes[text[i]]&digit != 0; {
		i++
	}
	return min(i+1, len(text))
}

// maxSequence is the length of the longest control sequence that is looked at.
const maxSequence = 24

// token is a stretch [from, to) of a view without blanks and quotes.
type token struct {
	*view
	from, to int
	has      uint16 // classes of its bytes
}

func (s *scan) token(t *token, depth int) {
	text := t.text
	if t.has&digit != 0 && isTime(text[t.from:t.to]) {
		return
	}
	if t.to-t.from >= manyChars && t.has&(separator|upper|lower) == upper|lower {
		s.encoded(t, t.from, t.to, depth)
		s.begins(t, t.from)
		return
	}
	tries, tilde := 0, false
	segment, word := t.from, t.from // where they begin
	for i := t.from; ; i++ {
		if i < t.to && classes[text[i]]&alnum != 0 {
			continue
		}
		if i > word && word+2 < t.to && s.rules.starts.has(three(text[word:])) && tries < maxTries+(word-t.from)/64 {
			tries++
			s.begins(t, word)
		}
		word = i + 1
		if i < t.to && classes[text[i]]&base64Char != 0 {
			continue
		}
		if i-segment >= minEncoded {
			s.encoded(t, segment, i, depth)
		}
		if i == t.to {
			break
		}
		segment = i + 1
		if text[i] == '~' {
			tilde = true
		}
	}
	if tilde {
		s.rules.starts.at([]byte("~~~"), func(p *pattern) { s.try(t, p, t.from) })
	}
}

// maxTries bounds the words of one token that are looked at, beside one for each 64 bytes.
const maxTries = 32

// isStamp reports whether a text begins with a time that ends a JSON string. Most lines have one, so it saves a stretch.
func isStamp(text []byte) bool {
	return len(text) > 24 && text[0] == '2' && text[4] == '-' && text[7] == '-' && text[10] == 'T' && text[13] == ':' &&
		text[16] == ':' && text[19] == '.' && text[23] == 'Z' && text[24] == '"'
}

// isTime reports whether a token is a date, perhaps with a time: they are frequent.
func isTime(text []byte) bool {
	return len(text) > 10 && len(text) < 32 && text[0] == '2' && text[4] == '-' && text[7] == '-' && (text[10] == 'T' || text[10] == ':')
}

// begins tries the patterns that a word at byte i may begin.
func (s *scan) begins(t *token, i int) {
	s.rules.starts.at(t.text[i:t.to], func(p *pattern) { s.try(t, p, i) })
}

// maxSecret is how much of a token a pattern is tried on, in bytes.
const maxSecret = 2 << 10

// try looks for a pattern in a token, in which byte i begins a word. All letters and digits behind it belong to the secret.
func (s *scan) try(t *token, p *pattern, i int) {
	from := i
	if p.inner {
		from = max(t.from, i-maxSecret/2)
	}
	if t.to-from < p.least {
		return
	}
	a, b, ok := s.rules.token(p, t.text[from:min(t.to, from+maxSecret)])
	if !ok {
		return
	}
	a, b = from+a, from+b
	for whole := b == from+maxSecret; b < t.to && (whole || classes[t.text[b]]&alnum != 0 || t.text[b] == '_'); {
		b++
	}
	s.mark(t.view, a, b, p.kind)
}

// merged returns the marks in order, without overlaps, each within one string of the line.
func (s *scan) merged() (all []Mark) {
	slices.SortStableFunc(s.marks, func(a, b Mark) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To)) })
	for _, m := range s.marks {
		if n := len(all); n > 0 && m.From < all[n-1].To {
			last := &all[n-1]
			last.To = max(last.To, m.To)
			if last.Kind == apiKind { // any other kind says more
				last.Kind, last.value = m.Kind, m.value
			}
			continue
		}
		all = append(all, m)
	}
	if len(s.line) == 0 || s.line[0] != '{' && s.line[0] != '[' {
		return all
	}
	for i := range all {
		s.whole(&all[i])
	}
	cut := s.inStrings(all)
	if size(cut) < size(all) && !json.Valid(s.line) { // the text only begins like JSON, or its quotes are in disorder
		return all
	}
	return cut
}

// whole moves the ends of a mark that are within a JSON escape, so that none is cut. An escape of JSON within JSON has more
// backslashes.
func (s *scan) whole(m *Mark) {
	if from, _ := s.escapeAround(m.From); from < m.From {
		m.From = from
	}
	from, to := s.escapeAround(m.To)
	if from < m.To && s.line[m.To-1] == '\\' && from > m.From { // only its backslashes
		to = from
	}
	m.To = min(max(to, m.From+1), len(s.line))
}

// escapeAround returns the JSON escape in which byte i is but does not begin, else i.
func (s *scan) escapeAround(i int) (from, to int) {
	for k := i - 1; k >= max(0, i-5); k-- {
		c := s.line[k]
		switch {
		case c == '\\':
			to = k + 2
			if k+1 < len(s.line) && s.line[k+1] == 'u' {
				to = k + 6
			}
			for k > 0 && s.line[k-1] == '\\' {
				k--
			}
			if to <= i {
				return i, i
			}
			return k, to
		case c != 'u' && classes[c]&hexDigit == 0:
			return i, i
		}
	}
	return i, i
}

// size returns the bytes that marks cover.
func size(marks []Mark) (n int) {
	for _, m := range marks {
		n += m.To - m.From
	}
	return n
}

// inStrings cuts the marks of a JSON line at the ends of its strings, so that what replaces them leaves it valid.
func (s *scan) inStrings(marks []Mark) (all []Mark) {
	i, from := 0, -1 // from: beginning of the string at i, -1 outside
	next := 0
	for next < len(marks) && i < len(s.line) {
		q := bytes.IndexByte(s.line[i:], '"')
		if q < 0 {
			break
		}
		if i += q; from < 0 {
			i++
			from = i
			continue
		}
		n := i
		for n > from && s.line[n-1] == '\\' {
			n--
		}
		if (i-n)%2 != 0 {
			i++
			continue
		}
		for k := next; k < len(marks) && marks[k].From < i; k++ {
			m := marks[k]
			m.From, m.To = max(m.From, from), min(m.To, i)
			if m.From < m.To {
				all = append(all, m)
			}
			if marks[k].To <= i {
				next = k + 1
			}
		}
		i++
		from = -1
	}
	return all
}

// configured applies the rules of the configuration to the line's text.
func (s *scan) configured() {
	if len(s.rules.own) == 0 {
		return
	}
	v := unescaped(s.line, 0, len(s.line))
	for _, p := range s.rules.own {
		for _, at := range p.re.FindAllSubmatchIndex(v.text, -1) {
			from, to := at[0], at[1]
			if len(at) > 2 && at[2] >= 0 {
				from, to = at[2], at[3]
			}
			if from < to && !s.rules.isShown(v.text[from:to]) {
				s.mark(v, from, to, p.kind)
			}
		}
	}
}
