package redact

import (
	"bytes"
	"cmp"
	"slices"
)

// A line is a text, or JSON, whose strings are texts. A text is searched in two ways. What a provider's token or a private key looks
// like is found anywhere (tokens); a value that the place tells is found by the sign after its name (places.go). What is encoded is
// decoded and searched again.

const (
	leastText = 7  // of a text that can have a secret: pw=abcd
	minToken  = 12 // length of the shortest token that is looked at, in bytes
	maxDepth  = 5  // how many encodings within each other are undone
)

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
		t[c] |= inToken | alnum | lower | base64Char | nameChar
		t[c-'a'+'A'] |= inToken | alnum | upper | base64Char | nameChar
	}
	for c := 0x80; c < 0x100; c++ { // of a name in another script
		t[c] |= nameChar
	}
	set("0123456789", inToken|alnum|digit|base64Char|nameChar)
	set("0123456789abcdefABCDEF", hexDigit)
	set("_-.", nameChar)
	set("_-./+=~%:@", inToken)
	set("+/-_", base64Char)
	set(".=~%:@", separator)
	set(" \t\r\n\"'`", blank)
	return t
}()

// find appends the secrets of a line to marks. In JSON each mark is within one string.
func (r *Rules) find(marks []Mark, line []byte) []Mark {
	s := scan{rules: r, starts: starts(), line: line}
	s.search(&view{text: line})
	if bytes.Contains(line, redacted) {
		s.keep()
	}
	if len(s.marks) == 0 {
		return marks
	}
	return append(marks, s.merged()...)
}

// redacted begins what a reader gets instead of a secret.
var (
	redacted = []byte("[redacted ")
	label    = lazy(`\[redacted [a-z0-9-]+(?: \d+)?\]`)
)

// keep leaves what was redacted before as it is. The rules of the configuration stay as they are written.
func (s *scan) keep() {
	labels := label().FindAllIndex(s.line, -1)
	s.marks = slices.DeleteFunc(s.marks, func(m Mark) bool {
		own := slices.ContainsFunc(s.rules.own, func(p *pattern) bool { return p.Kind == m.Kind })
		n, _ := slices.BinarySearchFunc(labels, m.From, func(at []int, from int) int { return at[1] - 1 - from })
		return !own && n < len(labels) && labels[n][0] < m.To
	})
}

// scan is one line that is searched.
type scan struct {
	rules  *Rules
	starts *index
	line   []byte
	marks  []Mark
	spent  int // bytes of values that were looked at
}

// mark adds a secret that the view has at [from, to).
func (s *scan) mark(v *view, from, to int, kind string) {
	value := string(v.text[from:to])
	from, to = v.source(from, to)
	s.marks = append(s.marks, Mark{From: from, To: to, Kind: kind, value: value})
}

// search finds the secrets of a view. Each level of encoding is searched once, so the work grows with the line only.
func (s *scan) search(v *view) {
	if len(v.text) < leastText || v.depth > maxDepth || isTime(v.text) {
		return
	}
	if c := visible(v.text); c != '{' && c != '[' || !s.json(v) {
		s.text(v)
	}
}

// visible returns the first byte of a text that is no white space, 0 if there is none.
func visible(text []byte) byte {
	for _, c := range text {
		if c > ' ' {
			return c
		}
	}
	return 0
}

func (s *scan) text(v *view) {
	s.configured(v, []stretch{{to: len(v.text)}})
	s.stretches(v)
	s.places(v)
	s.manifest(v)
	s.keys(v)
	done := 0 // the lines with escapes and control sequences, and those that are JSON
	again := func(i int) {
		if i < done {
			return
		}
		from := bytes.LastIndexByte(v.text[:i], '\n') + 1
		done = nextByte(v.text, i, '\n')
		s.search(v.unescaped(from, done))
	}
	each(v.text, "\x1b", again)
	done = 0
	each(v.text, `\`, func(i int) {
		if n, c := unescape(v.text[i:]); n > 1 && c != '\\' {
			again(i)
		}
	})
}

// lists searches what begins at byte i as JSON: the rest of a line, or a list of arguments that has flags.
func (s *scan) lists(v *view, i int) {
	if v.text[i] == '{' {
		if before := v.text[max(0, i-8):i]; len(bytes.Trim(before[bytes.LastIndexByte(before, '\n')+1:], " [")) == 0 {
			s.nested(v, i, nextByte(v.text, i, '\n'))
		}
		return
	}
	to := nextByte(v.text[:min(len(v.text), i+maxValue)], i, map[byte]byte{'[': ']', '(': ')'}[v.text[i]])
	if i >= v.listed && bytes.Contains(v.text[i:to], []byte(`"-`)) {
		s.nested(v, i+1, to)
		v.listed = to
	}
}

// nested searches bytes [from, to) of a text as JSON.
func (s *scan) nested(v *view, from, to int) {
	if v.depth < maxDepth {
		part := v.part(from, to)
		part.depth++
		s.json(part)
	}
}

// each calls use with the places of a short text in another one.
func each(text []byte, what string, use func(i int)) {
	for i := 0; ; i += len(what) {
		n := bytes.Index(text[i:], []byte(what))
		if n < 0 {
			return
		}
		i += n
		use(i)
	}
}

// longToken is the length from which a token is looked at if it has no digit.
const longToken = 18

// manyChars is the length from which a token of nothing but base64 is a picture, a signature or another text: words in it are none.
const manyChars = 400

// token is a stretch [from, to) of a view without blanks and quotes.
type token struct {
	*view
	from, to int
	has      uint16 // classes of its bytes
}

// stretches finds the tokens of a text: minToken bytes or more with a digit, or longToken.
func (s *scan) stretches(v *view) {
	text, least := v.text, minToken
	if v.depth > 0 && len(text) < 2*minToken {
		least = 8
	}
	for i := 0; i < len(text); i++ {
		from, has := i, uint16(0)
		for i < len(text) && classes[text[i]]&inToken != 0 {
			has |= classes[text[i]]
			i++
		}
		if i-from >= least && (has&digit != 0 || i-from >= longToken) && !isTime(text[from:i]) {
			s.token(&token{v, from, i, has})
		}
	}
}

// isTime reports whether a token is a date, perhaps with a time: they are frequent.
func isTime(text []byte) bool {
	return len(text) > 10 && len(text) < 32 && text[0] == '2' && text[4] == '-' && text[7] == '-' && (text[10] == 'T' || text[10] == ':')
}

func (s *scan) token(t *token) {
	text := t.text
	if t.to-t.from >= manyChars && t.has&(separator|upper|lower) == upper|lower {
		s.encoded(t, t.from, t.to)
		s.begins(t, t.from)
		return
	}
	tries, tilde := 0, false
	segment, word := t.from, t.from // where they begin
	for i := t.from; ; i++ {
		if i < t.to && classes[text[i]]&alnum != 0 {
			continue
		}
		if i > word && word+2 < t.to && s.starts.known.has(text[word:]) && tries < maxTries+(word-t.from)/64 {
			tries++
			s.begins(t, word)
		}
		word = i + 1
		if i < t.to && classes[text[i]]&base64Char != 0 {
			continue
		}
		if i-segment >= minEncoded {
			s.encoded(t, segment, i)
		}
		if i == t.to {
			break
		}
		segment, tilde = i+1, tilde || text[i] == '~'
	}
	if bytes.IndexByte(text[t.from:t.to], '%') >= 0 {
		s.percents(t)
	}
	if tilde {
		s.starts.at([]byte("~~~"), func(p *pattern) { s.try(t, p, t.from) })
	}
}

// maxTries bounds the words of one token that are looked at, beside one for each 64 bytes.
const maxTries = 32

// begins tries the patterns that a word at byte i may begin.
func (s *scan) begins(t *token, i int) {
	s.starts.at(t.text[i:t.to], func(p *pattern) { s.try(t, p, i) })
}

// maxSecret is how much of a token a pattern is tried on, in bytes.
const maxSecret = 2 << 10

// try looks for a pattern in a token, in which byte i begins a word. All letters and digits behind it belong to the secret.
func (s *scan) try(t *token, p *pattern, i int) {
	from := i
	if p.Inner {
		from = max(t.from, i-maxSecret/2)
	}
	if t.to-from < p.Least {
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
	s.mark(t.view, a, b, p.Kind)
}

// configured applies the rules of the configuration to a text, or to the strings of JSON.
func (s *scan) configured(v *view, parts []stretch) {
	for _, p := range s.rules.own {
		for _, at := range p.re().FindAllSubmatchIndex(v.text, -1) {
			from, to := at[0], at[1]
			if len(at) > 2 && at[2] >= 0 {
				from, to = at[2], at[3]
			}
			if from >= to || s.rules.isShown(v.text[from:to]) {
				continue
			}
			n, _ := slices.BinarySearchFunc(parts, from, func(p stretch, from int) int { return p.to - from })
			for ; n < len(parts) && parts[n].from < to; n++ {
				if a, b := max(from, parts[n].from), min(to, parts[n].to); a < b {
					s.mark(v, a, b, p.Kind)
				}
			}
		}
	}
}

// merged returns the marks in order, without overlaps.
func (s *scan) merged() (all []Mark) {
	slices.SortStableFunc(s.marks, func(a, b Mark) int { return cmp.Or(a.From-b.From, b.To-a.To) })
	for _, m := range s.marks {
		if n := len(all); n > 0 && m.From < all[n-1].To {
			last := &all[n-1]
			last.To = max(last.To, m.To)
			if named(last.Kind) && !named(m.Kind) { // a token's kind says more
				last.Kind, last.value = m.Kind, m.value
			}
			continue
		}
		all = append(all, m)
	}
	return all
}

func named(kind string) bool { return kind == apiKind || kind == passwordKind || kind == headerKind }

// stretch is bytes [from, to) of a text, which in JSON are a string.
type stretch struct {
	from, to int
	key      bool
}

// json finds the secrets of a JSON text, also of one that is cut. It returns false if the text only begins like JSON.
func (s *scan) json(v *view) bool {
	strings, ok := split(v.text)
	if !ok {
		return false
	}
	s.configured(v, strings)
	var key, pair []byte // the last key, and the name in {"name": "password", "value": "..."}
	var list []word
	for i, p := range strings {
		between := v.text[p.to:min(len(v.text), p.to+1)]
		if i+1 < len(strings) {
			between = v.text[p.to:strings[i+1].from]
		}
		text := v.text[p.from:p.to]
		if p.key {
			if key = text; len(text) >= minToken {
				s.search(v.part(p.from, p.to))
			}
			continue
		}
		list = append(list, word{v, p.from, p.to})
		if len(text) >= 4 {
			part := v.part(p.from, p.to)
			if bytes.IndexByte(text, '\\') >= 0 {
				part = v.unescaped(p.from, p.to)
			}
			s.search(part)
			if isOf("pair", key) {
				pair = part.text
			} else if kind, weak := says(key); kind != "" {
				s.member(part, kind, weak)
			} else if kind, weak := says(pair); kind != "" && isOf("pair-value", key) {
				s.member(part, kind, weak)
			}
		}
		if bytes.IndexByte(between, '}') >= 0 {
			pair = nil
		}
		if c := visible(between[min(1, len(between)):]); c != ',' && c != 0 || i == len(strings)-1 {
			s.command(list)
			list = list[:0]
		}
	}
	s.manifest(v)
	return true
}

// split returns the strings of a JSON text. What is between them must be the rest of JSON.
func split(text []byte) (all []stretch, ok bool) {
	for i := 0; ; {
		q := nextByte(text, i, '"')
		for _, c := range text[i:q] {
			if !jsonChars[c] {
				return nil, false
			}
		}
		if len(all) > 0 {
			all[len(all)-1].key = visible(text[i:q]) == ':'
		}
		if q == len(text) {
			return all, len(all) > 0
		}
		from := q + 1
		for i = nextByte(text, from, '"'); i < len(text) && escaped(text[from:i]); {
			i = nextByte(text, i+1, '"')
		}
		if bytes.IndexByte(text[from:i], '\n') >= 0 { // a string that is not closed in its line
			return nil, false
		}
		all = append(all, stretch{from: from, to: i})
		i = min(i+1, len(text))
	}
}

// escaped reports whether what follows text is escaped.
func escaped(text []byte) bool {
	return (len(text)-len(bytes.TrimRight(text, `\`)))%2 == 1
}

// jsonChars are the bytes between the strings of JSON.
var jsonChars = func() (t [256]bool) {
	for _, c := range []byte("{}[]:, \t\r\n0123456789+-.eEtrufalsn") {
		t[c] = true
	}
	return t
}()
