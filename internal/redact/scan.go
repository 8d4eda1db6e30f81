package redact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math/bits"
	"regexp"
	"slices"
	"strings"
)

// A line is searched in two steps. The first one is fast and sees every byte: it finds tokens, stretches of at least
// minToken bytes without blanks and quotes. Only what begins like a secret, is assigned to a name that says so, or is
// encoded text goes through the second step: the regular expressions.

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
	set("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-. ", nameChar)
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
	s.passwords(v)
	s.percents(v, depth)
	if v.at == nil {
		for _, e := range s.escaped {
			s.within(unescaped(v.text, e.from, e.to), depth)
		}
	}
}

// stretches finds where minToken bytes or more are plain, which a token needs, and have a digit or are longToken. It compares
// 64 bytes at once and has no branch for a shorter stretch, because the processor would often guess it wrong.
func (s *scan) stretches(v *view, depth int) {
	text := v.text
	done := 0
	next, nextDigits := plain64(text, 0)
	for base, before := 0, uint64(0); base < len(text); base += 64 {
		lo, digits := next, nextDigits
		hi, hiDigits := plain64(text, base+64)
		next, nextDigits = hi, hiDigits
		// Bit n of a4 says that bytes n to n+3 are plain, and so on; of d4 that one of them is a digit.
		a2, b2 := lo&(lo>>1|hi<<63), hi&(hi>>1)
		a4, b4 := a2&(a2>>2|b2<<62), b2&(b2>>2)
		a8, b8 := a4&(a4>>4|b4<<60), b4&(b4>>4)
		a12 := a8 & (a4>>8 | b4<<56)
		a18 := a8 & (a8>>8 | b8<<56) & (a2>>16 | b2<<48)
		d2, e2 := digits|digits>>1|hiDigits<<63, hiDigits|hiDigits>>1
		d4, e4 := d2|d2>>2|e2<<62, e2|e2>>2
		d12 := d4 | d4>>4 | e4<<60 | d4>>8 | e4<<56
		found := a12 & (d12 | a18) & (^uint64(0) << max(0, done-base))
		for ; found != 0; found &= ^uint64(0) << (done - base) {
			n := bits.TrailingZeros64(found)
			from := base + n + 1 - bits.LeadingZeros64(^(lo << (63 - n))) // the stretch's first byte
			if from == base {
				from -= bits.LeadingZeros64(^before)
			}
			if done = from + len("2026-03-02T08:09:21.535Z"); !isStamp(text[from:]) {
				done = s.stretch(v, from, minToken, depth)
			}
		}
		before = lo
	}
}

// stretch finds the tokens from byte i on, up to a byte below '+' or beyond ASCII, and returns where it ended.
func (s *scan) stretch(v *view, i, least, depth int) (end int) {
	text := v.text
	from, base, has := i, i, uint16(0)
	other, digits := other64(text, base)
	for m := other; ; m &= m - 1 {
		for m == 0 {
			if digits>>max(0, from-base) != 0 {
				has |= digit
			}
			base += 64
			other, digits = other64(text, base)
			m = other
		}
		i = base + bits.TrailingZeros64(m)
		if i < len(text) && classes[text[i]]&inToken != 0 {
			has |= classes[text[i]]
			continue
		}
		if i-from >= least {
			if digits&(1<<(i-base)-1)>>max(0, from-base) != 0 {
				has |= digit
			}
			if has&digit != 0 || i-from >= longToken {
				t := token{v, afterEscape(text, from), i, has, 0}
				if t.from >= base {
					t.other = other >> (t.from - base)
				} else {
					t.other, _ = other64(text, t.from)
				}
				s.token(&t, depth)
			}
		}
		if i == len(text) || least == minToken && (text[i] < '+' || text[i] >= 0x80) {
			return i
		}
		if text[i] == '\\' && i+3 < len(text) && v.at == nil && (text[i+1] == '/' || text[i+1] == 'u' && inPieces(text[i:])) {
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
	return ok && (classes[c]&inToken != 0 || c == '"' || c == '\'')
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
	has      uint16 // classes of its bytes that are no letters
	other    uint64 // which of its first 64 bytes are no letters or digits
}

func (s *scan) token(t *token, depth int) {
	text := t.text
	if t.has&digit != 0 && isTime(text[t.from:t.to]) {
		return
	}
	if t.to-t.from >= manyChars && t.has&separator == 0 && hasBoth(text[t.from:t.to]) {
		s.encoded(t, t.from, t.to, depth)
		s.begins(t, t.from)
		return
	}
	var other uint16 // which separators it has
	assignments, tries := 0, 0
	segment, word := t.from, t.from // where they begin
	for base, m := t.from, t.other; ; m &= m - 1 {
		for m == 0 {
			base += 64
			m, _ = other64(text, base)
		}
		i := base + bits.TrailingZeros64(m) // the end of the word
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
		switch text[i] {
		case '=', ':':
			if assignments++; i > t.from && i+1 < t.to && assignments <= maxAssignments {
				s.assigned(t, t.from, i, i+1)
			}
			other |= hasColon
		case '@':
			other |= hasAt
		case '~':
			other |= hasTilde
		}
	}
	s.value(t)
	if other == 0 {
		return
	}
	if other&hasColon != 0 {
		s.login(t)
	}
	if other&hasColon != 0 && (other&hasAt != 0 || t.to < len(text) && bytes.IndexByte([]byte("!$&*#(),;<{"), text[t.to]) >= 0) {
		s.address(t)
	}
	if other&hasTilde != 0 {
		s.rules.starts.at([]byte("~~~"), func(p *pattern) { s.try(t, p, t.from) })
	}
}

// The separators of a token's parts.
const (
	hasColon = 1 << iota
	hasAt
	hasTilde
)

// maxAssignments bounds the assignments that are looked at in one token.
const maxAssignments = 100

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

// maxValue is the length of the longest secret that only its name tells, in bytes.
const maxValue = 2 << 10

// maxName is how much is read before a value for the name that it is assigned to, in bytes.
const maxName = 64

// value tries a token as the value of an assignment, a flag or a header before it.
func (s *scan) value(t *token) {
	text, i := t.text, t.from
	if t.has&digit == 0 && t.to-t.from < 24 {
		return
	}
	if bytes.HasPrefix(text[i:t.to], []byte("-p")) && bytes.Contains(text[max(0, i-maxName):i], []byte("mysql")) {
		s.password(t.view, []byte("password"), i+len("-p"))
	}
	assigns := false
	for n := 0; i > 0 && n < 12; n++ {
		switch c := text[i-1]; {
		case c == ' ' || c == '\t' || c == '"' || c == '\'' || c == '`' || c == '\\':
		case c == '=' || c == ':' || c == '>' || c == ',' || c == '(' || c == '|' || c == '?':
			assigns = true
		default:
			n = 12
			i++
		}
		i--
	}
	if assigns {
		s.assigned(t, 0, i, t.from)
		return
	}
	if t.from > 1 && (text[t.from-1] == ' ' || classes[text[t.from-1]]&blank != 0) {
		s.follows(t, i)
	}
}

// follows tries a token that follows a word of a header, or a flag, which ends at byte end.
func (s *scan) follows(t *token, end int) {
	from := end
	for from > max(0, end-maxName) && (classes[t.text[from-1]]&alnum != 0 || t.text[from-1] == '-') {
		from--
	}
	word := t.text[from:end]
	if len(word) < 2 || word[0] != '-' && !slices.Contains(valueWords, len(word)) {
		return
	}
	begin, to, kind := t.from, s.extended(t), passwordKind
	before := func(word string) bool {
		return bytes.Contains(bytes.ToLower(t.text[max(0, from-maxName):from]), []byte(word))
	}
	switch name := strings.ToLower(string(word)); {
	case name == "bearer" || name == "basic" || name == "token" || name == "apikey":
		if !before("authorization") && (name == "token" || name == "apikey" || !mixed(t.text[begin:to])) { // a word of a text
			return
		}
		kind = headerKind
	case name == "-u" || name == "--user": // a name, a colon, a password
		i := bytes.IndexByte(t.text[begin:to], ':')
		if i < 0 || !s.isLogin(t.text, begin) {
			return
		}
		begin += i + 1
	case name == "-p" && (before("sshpass ") || before(" login ")):
	case name == "password" && before("login "): // a line of a .netrc
	case name == "by" && before("identified "): // SQL
	case name[0] == '-' && flags.MatchString(name):
	default:
		return
	}
	value := t.text[begin:to]
	if len(value) < 4 || kind == headerKind && entropy(value) < 3 || s.rules.isShown(value) || placeholder(value) ||
		kind != headerKind && s.hasNoSecret(t.text[t.from:to]) {
		return
	}
	s.mark(t.view, begin, to, kind)
}

// mixed reports whether a text has capital and small letters and digits.
func mixed(text []byte) bool {
	var has uint16
	for _, c := range text {
		has |= classes[c]
	}
	return has&upper != 0 && has&lower != 0 && has&digit != 0
}

// valueWords are the lengths of the words in follows.
var valueWords = []int{len("by"), len("basic"), len("bearer"), len("password")}

// flags are names of flags whose values are secrets.
var flags = regexp.MustCompile(`^(?i)--?(?:[a-z]+-)*(?:password|passwd|passphrase|token|secret|api-?key|access-key|secret-key)$`)

// extended returns the end of a value that has other characters than tokens.
func (s *scan) extended(t *token) int {
	to := t.to
	for to < len(t.text) && classes[t.text[to]]&blank == 0 && bytes.IndexByte([]byte(`\,;)]}<>`), t.text[to]) < 0 && t.text[to] < 0x80 {
		to++
	}
	return to
}

// assigned tries text[value:t.to], which is assigned to a name that ends at byte end.
func (s *scan) assigned(t *token, from, end, value int) {
	if t.to-value < 6 || t.to-value > maxValue || t.has&digit == 0 && t.to-value < 24 {
		return
	}
	least, named := max(from, end-maxName), false
	k := uint32(0) // three bytes of the name
	for from = end; from > least && inName(t.text[from-1]); from-- {
		k = k<<8 | uint32(t.text[from-1])
		named = named || s.rules.names.has(k) && from+2 <= end
	}
	if !named {
		return
	}
	var tried [8]*pattern
	n := 0
	for i := from; i+2 < end; i++ {
		s.rules.names.at(t.text[i:end], func(p *pattern) {
			if n < len(tried) && !slices.Contains(tried[:n], p) {
				tried[n] = p
				n++
			}
		})
	}
	if n == 0 {
		return
	}
	name := bytes.TrimSpace(t.text[from:end])
	for _, to := range []int{t.to, s.extended(t)} { // a password may have characters that no token has
		secret := bytes.TrimRight(t.text[value:to], ".:")
		if s.hasNoSecret(secret) || to < len(t.text) && t.text[to] == '(' { // the call of a function
			continue
		}
		for _, p := range tried[:n] {
			if s.rules.value(p, name, secret) {
				s.mark(t.view, value, value+len(secret), p.kind)
				return
			}
		}
	}
}

// inName reports whether a byte may be part of a name, which may have several words.
func inName(c byte) bool { return classes[c]&nameChar != 0 }

// hasNoSecret is a fast test that most values do not pass.
func (s *scan) hasNoSecret(value []byte) bool {
	if len(value) < 8 || value[0] == '$' || value[0] == '%' && value[len(value)-1] == '%' {
		return true
	}
	var has uint16
	for _, c := range value {
		has |= classes[c]
	}
	return has&digit == 0 && len(value) < 24
}

// userInfo finds the password in an address.
var userInfo = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:([^\s/@]{3,}(?:@[^\s/@.:]+)*)@`)

// address marks the password in an address such as postgres://user:password@host.
func (s *scan) address(t *token) {
	to := t.to
	for to < min(len(t.text), t.to+maxName) && classes[t.text[to]]&blank == 0 && t.text[to] != '\\' {
		to++
	}
	text := t.text[t.from:to]
	for {
		i := bytes.Index(text, []byte("://"))
		if i < 0 {
			return
		}
		begin := i
		for begin > 0 && classes[text[begin-1]]&alnum != 0 || begin > 0 && bytes.IndexByte([]byte("+.-"), text[begin-1]) >= 0 {
			begin--
		}
		for begin < i && classes[text[begin]]&(upper|lower) == 0 { // the sign of a line of a diff
			begin++
		}
		if at := userInfo.FindSubmatchIndex(text[begin:]); at != nil {
			from, end := begin+at[2], begin+at[3]
			if value := text[from:end]; !s.rules.isShown(value) && !placeholder(value) {
				off := to - len(text)
				s.mark(t.view, off+from, off+end, passwordKind)
			}
		}
		text = text[i+3:]
	}
}

// placeholder reports whether a password is one that stands for another: <password>, ${PASSWORD}, ***, or a word for it.
func placeholder(value []byte) bool {
	if bytes.ContainsAny(value, "<>{}$*") && !bytes.ContainsAny(value, "0123456789") {
		return true
	}
	low := bytes.ToLower(value)
	return bytes.HasPrefix(low, []byte("pass")) && len(value) <= len("passwords") || bytes.Equal(low, []byte("secret")) || bytes.Equal(low, []byte("token"))
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
	cut := s.inStrings(all)
	if size(cut) < size(all) && !json.Valid(s.line) { // the text only begins like JSON, or its quotes are in disorder
		return all
	}
	return cut
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

// hasBoth reports whether a text has both upper-case and lower-case letters.
func hasBoth(text []byte) bool {
	var has uint16
	for _, c := range text {
		if has |= classes[c]; has&upper != 0 && has&lower != 0 {
			return true
		}
	}
	return false
}
