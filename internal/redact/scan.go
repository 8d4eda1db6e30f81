package redact

import (
	"bytes"
	"cmp"
	"slices"
)

// A line is a text, or JSON, whose strings are texts. One pass over a text looks at the words with which a provider's tokens begin, at
// what may be encoded, and at the signs before which a name may be (signs.go). What is encoded is decoded and searched again.

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
	joint     // what may end a name, and is no letter
	gap       // between a name and its sign
	sign      // where a value may begin or a name may end
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
	set("0123456789", inToken|alnum|digit|base64Char|nameChar|joint)
	set("0123456789abcdefABCDEF", hexDigit)
	set("_-.", nameChar|joint)
	set("_-./+=~%:@", inToken)
	set("+/-_", base64Char)
	set(".=~%:@", separator)
	set(" \t\r\n\"'`", blank)
	set(" \t\r\"'`]*:?", gap)
	set("=:>(,|- \t\n%~\\\x1b\x9a", sign)
	return t
}()

// scan searches the lines of a session.
type scan struct {
	rules   *Rules
	starts  *index[start]
	ends    *endings
	line    []byte
	marks   []Mark
	strings []stretch // of the JSON texts that are open
	names   map[string]meaning
	spent   int // bytes of values that were looked at
}

// find returns the secrets of a line in order. In JSON each mark is within one string. They are valid until the next call.
func (s *scan) find(line []byte) []Mark {
	s.line, s.marks, s.spent = line, s.marks[:0], 0
	s.search(&view{text: line})
	return s.merged()
}

// merged returns the marks in order, without overlaps.
func (s *scan) merged() []Mark {
	slices.SortStableFunc(s.marks, func(a, b Mark) int { return cmp.Or(a.From-b.From, b.To-a.To) })
	all := s.marks[:0]
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

func named(kind string) bool {
	return kind == apiKind || kind == passwordKind || kind == headerKind || kind == cookieKind
}

// mark adds a secret that the view has at [from, to).
func (s *scan) mark(v *view, from, to int, kind string) {
	value := string(v.text[from:to])
	from, to = v.source(from, to)
	s.marks = append(s.marks, Mark{From: from, To: to, Kind: kind, value: value})
}

// search finds the secrets of a view. Each level of encoding is searched once, so the work grows with the line only.
func (s *scan) search(v *view) {
	if len(v.text) < leastText || v.depth > maxDepth {
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
	s.configured(v)
	word, code := 0, 0 // where the word and the base64 before byte i begin
	for i := 0; ; i++ {
		for i < len(v.text) && classes[v.text[i]]&alnum != 0 {
			i++
		}
		if i > word && word+2 < len(v.text) {
			if shapes := s.starts.of(v.text[word:]); shapes != nil {
				s.begins(v, word, shapes)
			}
		}
		word = i + 1
		if i < len(v.text) && classes[v.text[i]]&base64Char != 0 {
			if v.text[i] == '-' {
				s.sign(v, i)
			}
			continue
		}
		if i-code >= minEncoded {
			s.encoded(v, code, i)
		}
		if code = i + 1; i >= len(v.text) {
			break
		}
		if classes[v.text[i]]&sign != 0 {
			s.sign(v, i)
		}
	}
	if v.manifest {
		s.manifest(v)
	}
}

// token is a stretch [from, to) of a text without blanks and quotes.
type token struct {
	from, to int
	tries    int // how many of its words are looked at
}

const (
	longToken = 18  // length from which a token is looked at if it has no digit
	manyChars = 400 // length from which a token of nothing but base64 is a picture, a signature or another text: one word is looked at
	maxTries  = 32  // of any other token, beside one word for each 64 bytes
)

// tokenAt returns the token around byte i. Later calls are for later bytes.
func (v *view) tokenAt(i int) *token {
	if i < v.token.to {
		return &v.token
	}
	from, to, has := i, i, uint16(0)
	for from > 0 && classes[v.text[from-1]]&inToken != 0 {
		from--
	}
	for ; to < len(v.text) && classes[v.text[to]]&inToken != 0; to++ {
		has |= classes[v.text[to]]
	}
	v.token = token{from, to, maxTries + (to-from)/64}
	switch size := to - from; {
	case size < minToken, size < longToken && has&digit == 0:
		v.token.tries = 0
	case size >= manyChars && has&(separator|upper|lower) == upper|lower:
		v.token.tries = 1
	}
	return &v.token
}

// begins tries the shapes that the word at byte i may begin.
func (s *scan) begins(v *view, i int, shapes []start) {
	for _, p := range shapes {
		if !beginsWith(v.text[i:], p.text) {
			continue
		}
		if t := v.tokenAt(i); t.tries > 0 && i+len(p.text) <= t.to {
			t.tries--
			s.try(v, p.Shape, i)
		}
	}
}

// maxSecret is how much of a token a shape is tried on, in bytes.
const maxSecret = 2 << 10

// try looks for a secret of a shape in a token, in which byte i begins a word. All letters and digits behind it belong to the secret.
func (s *scan) try(v *view, p *Shape, i int) {
	from, t := i, v.tokenAt(i)
	if p.inner {
		from = max(t.from, i-maxSecret/2)
	}
	if t.to-from < p.least {
		return
	}
	a, b, ok := s.rules.token(p, v.text[from:min(t.to, from+maxSecret)])
	if !ok {
		return
	}
	a, b = from+a, from+b
	for whole := b == from+maxSecret; b < t.to && (whole || classes[v.text[b]]&alnum != 0 || v.text[b] == '_'); {
		b++
	}
	s.mark(v, a, b, p.Kind)
}

// configured applies the rules of the configuration to a text.
func (s *scan) configured(v *view) {
	for _, p := range s.rules.own {
		for _, at := range p.re().FindAllSubmatchIndex(v.text, -1) {
			from, to := at[0], at[1]
			if len(at) > 2 && at[2] >= 0 {
				from, to = at[2], at[3]
			}
			if from < to && !s.rules.isShown(v.text[from:to]) {
				s.mark(v, from, to, p.Kind)
			}
		}
	}
}

// stretch is bytes [from, to) of a text, which in JSON are a string.
type stretch struct {
	from, to int
	key      bool
}

// json finds the secrets of a JSON text, also of one that is cut. It returns false if the text only begins like JSON.
func (s *scan) json(v *view) bool {
	first := len(s.strings)
	ok := s.split(v.text)
	strings := s.strings[first:]
	defer func() { s.strings = s.strings[:first] }()
	if !ok {
		return false
	}
	var key, pair meaning // the last one, and the name in {"name": "password", "value": "..."}
	var plain, decoded view
	list, flags := 0, false // where the strings with nothing but commas between them begin, and whether they have a flag
	for i, p := range strings {
		if len(s.rules.own) > 0 {
			s.configured(v.part(p.from, p.to))
		}
		if p.key {
			if key = s.name(v.text[p.from:p.to]); p.to-p.from >= minEncoded {
				s.search(v.part(p.from, p.to))
			}
			continue
		}
		if p.to-p.from >= 4 {
			part := &plain
			if bytes.IndexByte(v.text[p.from:p.to], '\\') >= 0 {
				part = v.unescaped(&decoded, p.from, p.to)
			} else {
				plain = *v.part(p.from, p.to)
			}
			s.search(part)
			switch {
			case key.list == "kind" && string(part.text) == "Secret":
				v.manifest = true
			case key.list == "pair":
				pair.kind, pair.is = says(part.text)
			case key.kind != "":
				s.value(part, lit{0, len(part.text), '"', 0}, key.place(), key.kind)
			case key.list == "pair-value" && pair.kind != "":
				s.value(part, lit{0, len(part.text), '"', 0}, pair.place(), pair.kind)
			}
		}
		flags = flags || p.from < p.to && v.text[p.from] == '-'
		between := v.text[p.to:min(len(v.text), p.to+1)]
		if i+1 < len(strings) {
			between = v.text[p.to:strings[i+1].from]
		}
		if bytes.IndexByte(between, '}') >= 0 {
			pair = meaning{}
		}
		if c := visible(between[min(1, len(between)):]); c != ',' && c != 0 || i == len(strings)-1 {
			if flags && bytes.IndexByte(v.text[strings[list].from:p.to], '\\') < 0 {
				s.arguments(v, strings[list].from, p.to)
			}
			list, flags = i+1, false
		}
	}
	if v.manifest {
		s.manifest(v)
	}
	return true
}

// split appends the strings of a JSON text to those that are open. What is between them must be the rest of JSON.
func (s *scan) split(text []byte) bool {
	none := len(s.strings)
	for i := 0; ; {
		q := nextByte(text, i, '"')
		for _, c := range text[i:q] {
			if !jsonChars[c] {
				return false
			}
		}
		if n := len(s.strings); n > none {
			s.strings[n-1].key = visible(text[i:q]) == ':'
		}
		if q == len(text) {
			return len(s.strings) > none
		}
		from := q + 1
		for i = nextByte(text, from, '"'); i < len(text) && escaped(text[from:i]); {
			i = nextByte(text, i+1, '"')
		}
		if bytes.IndexByte(text[from:i], '\n') >= 0 { // a string that is not closed in its line
			return false
		}
		s.strings = append(s.strings, stretch{from: from, to: i})
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
