package redact

import (
	"bytes"
	"regexp"
)

// Passwords may be too short for a token, or have characters that no token has. Their names are rare, so each is looked for
// in the whole text.

// minPassword is the length of the shortest password, in bytes.
const minPassword = 8

// passwords marks short passwords that are assigned to a name.
func (s *scan) passwords(v *view) {
	text := v.text
	eachByte(text, 'w', func(i int) { s.named(v, i) })
	eachByte(text, 'W', func(i int) { s.named(v, i) })
}

// login marks the password of a user in a flag of curl or wget near a token that is an address.
func (s *scan) login(t *token) {
	if !bytes.Contains(t.text[t.from:t.to], []byte("://")) {
		return
	}
	from, to := max(0, t.from-4*maxName), min(len(t.text), t.to+4*maxName)
	for _, flag := range []string{" -u ", "--user "} {
		for i := from; ; {
			n := bytes.Index(t.text[i:to], []byte(flag))
			if n < 0 {
				break
			}
			i += n + len(flag)
			begin := skipQuotes(t.text, i)
			if n := bytes.IndexByte(t.text[begin:s.valueEnd(t.text, begin)], ':'); n > 0 && s.isLogin(t.text, i) {
				s.password(t.view, []byte("password"), begin+n+1)
			}
		}
	}
}

// eachByte calls use with the places of a byte in text. Searching for one byte is several times faster than for a word.
func eachByte(text []byte, c byte, use func(i int)) {
	for i := 0; ; i++ {
		n := bytes.IndexByte(text[i:], c)
		if n < 0 {
			return
		}
		i += n
		use(i)
	}
}

// named marks the value of a name with the w of "passw" at byte i.
func (s *scan) named(v *view, i int) {
	text, name := v.text, i-len("pass")
	if name < 0 || !beginsWith(text[name:], "passw") {
		return
	}
	for i < min(len(text), name+maxName) && (classes[text[i]]&alnum != 0 || text[i] == '_' || text[i] == '-') {
		i++
	}
	if value, ok := assignedAt(text, i); ok {
		s.password(v, text[name:i], value)
	}
}

// isLogin reports whether the flag -u before byte i has a user's name and password, as those of curl and wget have.
func (s *scan) isLogin(text []byte, i int) bool {
	before := text[max(0, i-4*maxName):i]
	return bytes.Contains(before, []byte("curl")) || bytes.Contains(before, []byte("wget"))
}

// password marks the value at byte from if it can be a password.
func (s *scan) password(v *view, name []byte, from int) {
	value := v.text[from:s.valueEnd(v.text, from)]
	if from > 0 && (v.text[from-1] == '"' || v.text[from-1] == '\'') { // up to the quote
		if n := bytes.IndexAny(v.text[from:min(len(v.text), from+maxPassword)], "\"'\\\n"); n > len(value) && bytes.IndexByte(v.text[from:from+n], ' ') < 0 {
			value = v.text[from : from+n]
		}
	}
	if len(value) >= minPassword && len(value) <= maxValue && !s.hasNoSecret(value) && !placeholder(value) && s.rules.value(s.rules.password, name, value) {
		s.mark(v, from, from+len(value), passwordKind)
	}
}

// maxPassword is the length of the longest password with characters that no token has.
const maxPassword = 128

// valueKey is the key of the value of a pair, after its name.
var valueKey = regexp.MustCompile(`^(?:\s|\\+[nrt]|\\*["'],?)+value\b`)

// assignedAt returns where the value begins that is assigned to a name which ends at byte i.
func assignedAt(text []byte, i int) (value int, ok bool) {
	if pair := valueKey.FindIndex(text[i:min(len(text), i+maxName)]); pair != nil { // {"name": "DB_PASSWORD", "value": ...}
		i += pair[1]
	}
	i = skipQuotes(text, i)
	sign := i
	for i < len(text) && i < sign+2 && (text[i] == ':' || text[i] == '=' || text[i] == '>') {
		i++
	}
	return skipQuotes(text, i), i > sign
}

// maxQuotes is how many quotes, blanks and backslashes may be between a name and its value: JSON within JSON has many.
const maxQuotes = 24

var between = []byte(" \t\"'`\\]*")

func skipQuotes(text []byte, i int) int {
	for end := min(len(text), i+maxQuotes); i < end && bytes.IndexByte(between, text[i]) >= 0; {
		i++
	}
	return i
}

// valueEnd returns the end of a value that begins at byte i.
func (s *scan) valueEnd(text []byte, i int) int {
	return s.extended(&token{view: &view{text: text[:min(len(text), i+maxValue+1)]}, to: i})
}
