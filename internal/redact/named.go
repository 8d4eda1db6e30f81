package redact

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// A value is a secret if its name says so, whatever it looks like. A name is what an equals sign, a colon or a comma assigns a
// value to, the name of a flag, or a word that is followed by a password in some language. What is left out are values that are
// written as something else than text: code, references to variables, placeholders, words of a sentence.

// proof is how much a name says.
type proof int

const (
	noProof   proof = iota
	weakProof       // the value has to look like a secret as well
	proven
)

const (
	maxName   = 64  // bytes of a name
	maxGap    = 24  // bytes between a name, a sign and a value: JSON within JSON has many backslashes
	maxBefore = 256 // bytes of a command before a flag
	maxValue  = 4 << 10
)

// Words at the end of names. In those of shortNames another word must not end so: "bypass", "path".
var (
	passwordNames = []string{
		"password", "passwd", "passphrase", "passcode", "psk", "rootpw", "bindpw", "requirepass", "masterauth", "sshpass", "pgpass", "dbpass", "userpass",
		"adminpass", "rootpass", "smtppass", "mailpass", "ftppass", "mysqlpass", "redispass", "becomepass", "loginpass", "proxypass",
	}
	tokenNames = []string{"token", "secret", "sharedaccesskey"}
	shortNames = []string{"pwd", "pw", "pass", "pat", "auth", "cred", "creds", "credential", "credentials"}
	keyNames   = []string{
		"api", "access", "secret", "private", "app", "application", "account", "auth", "master", "encryption", "encrypt", "signing", "shared",
		"preshared", "storage", "service", "subscription", "license", "session", "webhook", "deploy", "client", "jwt", "hmac", "cipher",
		"security", "consumer", "integration",
	}
	openKeys    = []string{"public", "primary", "foreign", "cache", "sort", "partition"}
	cookieNames = []string{"phpsessid", "jsessionid", "sessionid", "connectsid", "laravelsession"}

	// noPass are words of which "pass" is a part.
	noPass = []string{"bypass", "compass", "surpass", "trespass", "overpass", "underpass", "subpass"}
)

// ends has the last three bytes of names that are looked at.
var ends = func() (x index) {
	for _, list := range [][]string{passwordNames, tokenNames, shortNames, cookieNames, {"key", "value", "cookie", "authorization", "sig"}} {
		for _, word := range list {
			if len(word) == 2 {
				for c := range 256 {
					x.note(three([]byte{byte(c), word[0], word[1]}))
				}
				continue
			}
			x.note(three(word[len(word)-3:]))
		}
	}
	return x
}()

// signs are the bytes at which a value or a word before one may be found.
var signs = func() (t [256]bool) {
	for _, c := range []byte("=:>,- \t\\wWyYB") {
		t[c] = true
	}
	return t
}()

// named marks the values of a text whose names say that they are secrets. How far values were found is kept for each sign.
func (s *scan) named(v *view) {
	var done ['z']int
	for i, c := range v.text {
		if !signs[c] {
			continue
		}
		v.named = done[c]
		switch c {
		case '=', ':', '>', ',':
			if i >= v.named {
				s.sign(v, i)
			}
		case '-':
			if i == 0 || classes[v.text[i-1]]&blank != 0 || v.text[i-1] == '[' {
				s.flag(v, i)
			}
		case ' ', '\t', '\\':
			if i >= 3 && (c != '\\' || i+1 < len(v.text) && v.text[i+1] == 't') && ends.has(three(v.text[i-3:])) {
				s.apart(v, i)
			}
		default:
			for _, b := range bare {
				if from := i - b.at; c == b.rare && from >= 0 && bytes.HasPrefix(v.text[from:], []byte(b.word)) {
					s.bare(v, b.word, from, from+len(b.word))
				}
			}
		}
		done[c] = v.named
	}
}

// places calls use with the places of a short text in another one. Searching for one byte is several times faster than for a word.
func places(text []byte, what string, use func(i int)) {
	for i := 0; ; i++ {
		n := bytes.IndexByte(text[i:], what[0])
		if len(what) > 1 {
			n = bytes.Index(text[i:], []byte(what))
		}
		if n < 0 {
			return
		}
		i += n
		use(i)
	}
}

// sign looks at what is assigned by the sign at byte i.
func (s *scan) sign(v *view, i int) {
	text := v.text
	if text[i] == ':' && i+2 < len(text) && text[i+1] == '/' && text[i+2] == '/' {
		s.address(v, i)
		return
	}
	end := i
	if i > 0 && bytes.IndexByte([]byte(":?!"), text[i-1]) >= 0 { // :=
		end--
	}
	for least := max(0, i-maxGap); end > least && bytes.IndexByte(between, text[end-1]) >= 0; {
		end--
	}
	if end == 0 || classes[text[end-1]]&nameChar == 0 || text[i] == ',' && end == i {
		return
	}
	to := i + 1
	for to < min(len(text), i+3) && (text[to] == '=' || text[to] == '>' || text[to] == ':') {
		to++
	}
	if text[i] == ':' && to < len(text) && (text[to] == '*' || classes[text[to]]&digit != 0) {
		s.pgpass(v, i)
	}
	known := ends.has(three(tail(text[max(0, end-maxName):end])))
	if !known {
		s.inner(v, end, to)
		if text[i] != '=' {
			return
		}
	}
	from := nameBefore(text, end)
	if text[i] == '>' && (from == 0 || text[from-1] != '<' && !attribute.Match(text[max(0, from-maxGap):from])) || text[i] == ',' && (from == 0 || !isQuote(text[from-1]) || text[from-1] != text[i-1]) {
		return // a comparison, a list
	}
	if !known && from > 0 && text[from-1] == ' ' { // password string = "..."
		end = from - 1
		if from = nameBefore(text, end); from == end || !ends.has(three(tail(text[from:end]))) {
			return
		}
		if l := s.literalAt(text, to); l.quote != 0 {
			if p, kind := says(text[from:end]); p == proven {
				s.value(v, l, p, kind)
			}
		}
	}
	if !known {
		return
	}
	name := text[from:end]
	l := s.literalAt(text, to)
	if l.from < 0 {
		return
	}
	l.adjacent = end == i && (l.from == to || l.quote != 0)
	low := strings.ToLower(string(name))
	switch {
	case strings.HasSuffix(low, "authorization"):
		s.header(v, l)
		return
	case strings.HasSuffix(low, "cookie") && text[i] == ':':
		s.cookies(v, to, low == "set-cookie")
		return
	case low == "sig":
		if text[i] == '=' && from > 0 && (text[from-1] == '?' || text[from-1] == '&' || text[from-1] == '6') && l.to-l.from >= 16 {
			s.value(v, l, proven, apiKind)
		}
		return
	case strings.HasSuffix(low, "value"):
		if s.most() < maxValue {
			return
		}
		before := text[max(0, from-3*maxName):from]
		s.spent += 2 * len(before)
		if at := pairName.FindSubmatch(before); at != nil {
			if p, kind := says(at[1]); p != noProof {
				s.value(v, l, p, kind)
			}
		}
		return
	}
	p, kind := says(name)
	if p == noProof && text[i] == '=' && l.adjacent && slices.Contains(cookieNames, squeeze(name)) {
		p, kind = weakProof, cookieKind
	}
	switch {
	case p == noProof:
		s.inner(v, end, to)
		return
	case text[i] == ',' || list.Match(text[to:]) || to < len(text) && list.Match(text[to+1:]):
		p = weakProof
	case string(name) == "pass" && from > 1 && passFlag.Match(text[max(0, from-maxName):from]): // openssl -passin pass:X
		p, l.env = proven, true
	case low == "pwd" && text[from] == 'P' && text[from+1] == 'W': // the working directory
		return
	case low == "pass" && text[from] == 'P' && text[from+1] == 'A' && text[i] == ':': // the result of a test
		return
	}
	if l.quote == 0 && l.adjacent && text[i] == '=' && beginsLine(text, from) {
		l = s.toBlank(text, l)
	}
	if l.quote == 0 && !l.env {
		if at := annotation.FindIndex(text[l.from:min(len(text), l.from+maxName)]); at != nil { // password: str = "..."
			l = s.literalAt(text, l.from+at[1])
			if l.from < 0 || l.quote == 0 {
				return
			}
		}
	}
	s.value(v, l, p, kind)
}

// apart looks at what is behind a name and the blank at byte i: in a table, a file of settings, a sentence.
func (s *scan) apart(v *view, i int) {
	text := v.text
	from := nameBefore(text, i)
	p, kind := says(text[from:i])
	if p != proven {
		return
	}
	at := apart.Find(text[i:min(len(text), i+maxGap)])
	l := s.literalAt(text, i+len(at))
	if len(at) == 0 || l.from < 0 || l.to <= l.from {
		return
	}
	value := text[l.from:l.to]
	setting := settingBefore.Match(text[max(0, from-maxGap):from]) && endsLine(text, l)
	said := len(at) > 1
	switch word := isWord(value); {
	case setting && slices.Contains(settings, string(text[from:i])):
		l.env = true
	case mixed(value) && (said || !word), said && !word && sorts(value)&^lower != 0,
		setting && !bytes.HasSuffix(at, []byte("is ")) && looks(value) && !bytes.ContainsAny(bytes.TrimRight(value, "="), "\"'=("):
		p = weakProof
	default:
		return
	}
	s.value(v, l, p, kind)
}

// settings are names that are no words: a line with one and another word sets it.
var settings = []string{"requirepass", "masterauth", "rootpw", "bindpw"}

var (
	apart         = regexp.MustCompile(`^(?:[ \t|]|\\+t)+(?:is )?`)
	settingBefore = regexp.MustCompile(`(?:^|\n|\\[nr]|[:\[{]\\*"|(?:^|[\s"'n;])(?:export|set|SET|setenv|env|ENV|ARG|-e|--env) )[ \t|]*$`)
)

// endsLine reports whether a line ends after a literal.
func endsLine(text []byte, l written) bool {
	i := l.to
	if l.quote != 0 {
		i = nextByte(text, i, l.quote) + 1
	}
	rest := bytes.TrimLeft(text[min(i, len(text)):min(len(text), i+maxGap)], " |")
	return len(rest) == 0 || rest[0] == '\n' || rest[0] == '"' || rest[0] == '\r' || rest[0] == '\\'
}

// inner marks the value after a sign before byte i if the name that ends at byte end says that it is secret in a word that is not
// its last one, as in PASSWORD_PROD: the value has to look like a secret much more.
func (s *scan) inner(v *view, end, i int) {
	for n := 0; n < 2; n++ {
		least := max(0, end-maxGap)
		for end > least && classes[v.text[end-1]]&alnum != 0 {
			end--
		}
		if end == least || bytes.IndexByte([]byte("_-."), v.text[end-1]) < 0 {
			return
		}
		if end--; !ends.has(three(tail(v.text[least:end]))) {
			continue
		}
		p, kind := says(v.text[nameBefore(v.text, end):end])
		if p != proven {
			continue
		}
		if l := s.literalAt(v.text, i); l.from >= 0 {
			if value := v.text[l.from:l.to]; len(value) >= 8 && mixed(value) || len(value) >= 16 && entropy(value) >= 3 && isHex(value) {
				s.value(v, l, weakProof, kind)
			}
		}
		return
	}
}

func isHex(value []byte) bool {
	return !slices.ContainsFunc(value, func(c byte) bool { return classes[c]&hexDigit == 0 })
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// between are the bytes between a name, its sign and its value.
var between = []byte(" \t\"'`\\]*")

var (
	// pairName is the name in {"Key": "DB_PASSWORD", "Type": "...", "Value":, and the same in YAML and XML.
	pairName = regexp.MustCompile(`(?i)(?:key|name)["'\\]*\s*[:=]\s*["'\\]*([\w./-]{2,64})(?:["',\s\\]|\\[nr])[^{}]*$`)

	annotation = regexp.MustCompile(`^(?:[A-Za-z_&*][\w.\[\]<>|, ]*? ?= ?|!!?\w+ )`)
	attribute  = regexp.MustCompile(`(?:key|name)=\\*["']$`)
	yamlBlock  = regexp.MustCompile(`^[|>][+-]?(?:\n|\\+n) *`)
	list       = regexp.MustCompile(`^\[\\*["']`)
	passFlag   = regexp.MustCompile(`-pass(?:in|out)?["', ]+$`)
)

// nameBefore returns where the name begins that ends at byte end.
func nameBefore(text []byte, end int) int {
	from := end
	for from > max(0, end-maxName) && classes[text[from-1]]&nameChar != 0 {
		from--
	}
	if from < end {
		from = min(afterEscape(text, from), end)
	}
	return from
}

// tail returns the last three letters of a name, which may have a number behind it.
func tail(name []byte) []byte {
	for len(name) > 0 && classes[name[len(name)-1]]&(upper|lower) == 0 {
		name = name[:len(name)-1]
	}
	switch len(name) {
	case 0, 1:
		return []byte("   ")
	case 2:
		return []byte{' ', name[0], name[1]}
	}
	return name[len(name)-3:]
}

// squeeze returns a name in lower case without what divides its words.
func squeeze(name []byte) string {
	out := make([]byte, 0, len(name))
	for _, c := range name {
		if classes[c]&(upper|lower) != 0 {
			out = append(out, c|0x20)
		}
	}
	return string(out)
}

// says returns what a name says about its value.
func says(name []byte) (proof, string) {
	flat := squeeze(name)
	ends := func(word string) bool { return strings.HasSuffix(flat, word) }
	switch {
	case slices.ContainsFunc(passwordNames, ends):
		return proven, passwordKind
	case slices.ContainsFunc(tokenNames, ends):
		return proven, apiKind
	case ends("key"):
		flat = strings.TrimSuffix(flat, "key")
		if slices.ContainsFunc(keyNames, ends) {
			return proven, apiKind
		}
		if bytes.HasSuffix(name, []byte("_KEY")) && !slices.ContainsFunc(openKeys, ends) {
			return weakProof, apiKind
		}
		return noProof, ""
	case slices.ContainsFunc(noPass, ends):
		return noProof, ""
	case ends("pass") && len(flat) <= len("userpass")+4:
		return weakProof, passwordKind
	}
	for _, word := range shortNames {
		if !ends(word) || !beginsWord(name, len(word)) {
			continue
		}
		switch word {
		case "pwd", "pw":
			return proven, passwordKind
		case "pat", "auth":
			if len(flat) > len(word) || name[0] == '_' {
				return proven, apiKind
			}
			if word == "pat" {
				return noProof, ""
			}
		}
		return weakProof, passwordKind
	}
	return noProof, ""
}

// beginsWord reports whether the last n letters of a name are a word of it.
func beginsWord(name []byte, n int) bool {
	i := len(name)
	for ; n > 0; n-- {
		for i--; classes[name[i]]&(upper|lower) == 0; i-- {
		}
	}
	return i == 0 || classes[name[i-1]]&(upper|lower) == 0 || classes[name[i]]&upper != 0 && classes[name[i-1]]&lower != 0
}

// written is a value as it is written.
type written struct {
	from, to int  // from < 0: there is none
	quote    byte // 0 if it is in no quotes
	formed   bool // its quotes are those of a string that is formatted
	adjacent bool // there is no blank between it and its name
	env      bool // it is the rest of a line after NAME=
}

// literalAt returns the literal that begins at byte i, after blanks and quotes.
func (s *scan) literalAt(text []byte, i int) (l written) {
	level := 0 // backslashes before the quote
	l.from = i
	for end := min(len(text), i+maxGap); i < end; {
		c, n := text[i], 0
		for i+n < end && text[i+n] == '\\' {
			n++
		}
		if n > 0 && i+n < len(text) {
			c = text[i+n]
			switch {
			case c == 't':
				i += n + 1
				l.from = i
				continue
			case c == 'n' || c == 'r':
				l.from = -1
				return l
			case c == 'u' && i+n+5 <= len(text) && bytes.IndexByte(quoteEscapes, text[i+n+4]) >= 0 && string(text[i+n+1:i+n+3]) == "00":
				q, ok := unhex(text[i+n+3], text[i+n+4])
				if !ok || q != '"' && q != '\'' && q != '`' {
					break
				}
				i += n + 5
				l.from = i
				continue
			}
		}
		switch {
		case c == '"' || c == '\'' || c == '`':
			if l.quote == c && level == n { // an empty text
				l.from = -1
				return l
			}
			l.quote, level = c, n
			i += n + 1
		case n > 0:
			end = i
			continue
		case (c == '|' || c == '>') && l.quote == 0:
			n = len(yamlBlock.Find(text[i:min(len(text), i+maxGap)]))
			if i += n; n == 0 {
				end = i
				continue
			}
		case c == '[' && l.quote == 0 && list.Match(text[i:min(len(text), i+maxGap)]):
			i++
		case c == ' ' || c == '\t' || c == '*':
			if l.quote != 0 && c != '*' {
				end = i
				continue
			}
			i++
		case bytes.IndexByte([]byte("fFrRbBuU@$"), c) >= 0 && i+1 < len(text) && l.quote == 0 && (text[i+1] == '"' || text[i+1] == '\''):
			l.formed = c == 'f' || c == 'F' || c == '$'
			i++
		default:
			end = i
			continue
		}
		l.from = i
	}
	if l.from >= len(text) {
		l.from = -1
		return l
	}
	if l.quote != 0 {
		if l.to = quoteEnd(text[:min(len(text), l.from+s.most())], l.from, l.quote, level); l.to >= 0 {
			s.spent += l.to - l.from
			return l
		}
		l.quote = 0
	}
	l.to = l.from
	for most := min(len(text), l.from+s.most()); l.to < most && !endsValue(text, l.to) && !endsItem(text, l.to); {
		l.to++
	}
	s.spent += l.to - l.from
	for l.to > l.from && bytes.IndexByte([]byte(".:!?"), text[l.to-1]) >= 0 {
		l.to--
	}
	return l
}

// most returns how long a value may be. Each byte of a line may be part of several values, but not of thousands.
func (s *scan) most() int {
	if s.spent > 16*(len(s.line)+maxValue) {
		return maxName
	}
	return maxValue
}

// quoteEscapes are the last digits of the JSON escapes of quotes.
var quoteEscapes = []byte("270")

// toBlank makes the literal all up to the next blank or quote.
func (s *scan) toBlank(text []byte, l written) written {
	l.env = true
	for l.to = l.from; l.to < min(len(text), l.from+s.most()) && !endsValue(text, l.to); {
		l.to++
	}
	s.spent += l.to - l.from
	if n := bytes.IndexAny(text[l.from:l.to], "&|"); l.to > l.from && text[l.to-1] == ';' && n < 0 {
		l.to--
	}
	return l
}

// endsValue reports whether byte i is a blank, a quote or the escape of one.
func endsValue(text []byte, i int) bool {
	if c := text[i]; c != '\\' {
		return c < ' ' || classes[c]&blank != 0
	}
	for i < len(text) && text[i] == '\\' {
		i++
	}
	if i == len(text) || bytes.IndexByte([]byte(`nrt"'`), text[i]) >= 0 {
		return true
	}
	if text[i] != 'u' || i+5 > len(text) || text[i+1] != '0' || text[i+2] != '0' {
		return false
	}
	c, ok := unhex(text[i+3], text[i+4])
	return ok && (c < ' ' || classes[c]&blank != 0)
}

// endsItem reports whether byte i ends an item of a list: another one begins there, or no word.
func endsItem(text []byte, i int) bool {
	switch text[i] {
	case ';', '&', '<', '>':
		return true
	case ',', ')', ']', '}':
		return !item.Match(text[i+1 : min(len(text), i+maxGap)])
	}
	return false
}

// item matches the rest of a value after a character that may end it.
var item = regexp.MustCompile(`^\w+(?:[^\w=:]|$)`)

// quoteEnd returns the end of a text that began with a quote after some backslashes, -1 if it does not end in the same line.
func quoteEnd(text []byte, i int, quote byte, level int) int {
	other := false // whether a double quote was in single ones: it may end a text around them
	for i < len(text) {
		switch c := text[i]; {
		case c == quote:
			return i
		case c == '\n', other && bytes.IndexByte([]byte(" ,:}"), c) >= 0:
			return -1
		case c != '\\':
			other = other || c == '"'
			i++
			continue
		}
		from := i
		for i < len(text) && text[i] == '\\' {
			i++
		}
		switch {
		case i == len(text):
			return -1
		case text[i] == quote && i-from <= level:
			return from
		case (text[i] == 'n' || text[i] == 'r') && (i-from)%2 == 1:
			return -1
		}
		other = other || text[i] == '"' && quote != '"'
		i++
	}
	return -1
}

// beginsLine reports whether the name at byte i is the first one of a line, perhaps after a word of a shell.
func beginsLine(text []byte, i int) bool {
	before := text[max(0, i-12):i]
	if len(before) == 0 {
		return true
	}
	switch c := before[len(before)-1]; {
	case c == '\n' || c == '"' || c == '\'' || c == '`':
		return true
	case len(before) > 1 && (c == 'n' || c == 'r') && before[len(before)-2] == '\\':
		return true
	}
	return shellWord.Match(before)
}

var shellWord = regexp.MustCompile(`(?:^|[\s"'n;])(?:export|set|setenv|env|ENV|ARG|-e|--env) +$`)

// value marks a literal, if it is written as text and not as a word for one.
func (s *scan) value(v *view, l written, p proof, kind string) {
	if l.from < 0 || l.to <= l.from {
		return
	}
	value := v.text[l.from:l.to]
	if bytes.IndexByte(value, '\\') >= 0 {
		value = unescaped(v.text, l.from, l.to).text
	}
	if l.to <= v.named && l.from >= v.named-maxValue { // part of another one
		return
	}
	least := 4
	if p == weakProof {
		least = 6
	}
	switch {
	case len(value) < least || s.rules.isShown(value) || placeholder(value):
	case p == weakProof && (!looks(value) || bytes.IndexByte(value, ' ') >= 0 || !l.env && (l.quote == 0 && notText(value) || address.Match(value) || isNamed(value))):
	case l.quote != 0 && isSentence(value) && kind != passwordKind:
	case l.quote != 0 && isSentence(value) && bytes.IndexByte(value, ' ') >= 0 && !bytes.HasSuffix(squeezeBefore(v.text, l.from), []byte("phrase")):
	case l.quote == 0 && !l.env && isCode(v.text, l, kind), l.env && member.Match(value), v.at != nil && s.isReference(v, l):
	case l.formed && bytes.IndexByte(value, '{') >= 0:
	default:
		s.mark(v, l.from, l.to, kind)
		v.named = l.to
	}
}

// isReference reports whether the line has a reference where the view has a value.
func (s *scan) isReference(v *view, l written) bool {
	from, to := v.source(l.from, l.to)
	return placeholder(s.line[from:to])
}

// squeezeBefore returns the letters of a name before a value.
func squeezeBefore(text []byte, i int) []byte {
	return []byte(strings.TrimRight(squeeze(text[max(0, i-maxGap):i]), " "))
}

// sorts returns the classes of a text's characters: digit, upper, lower, and separator for those that no name, number or path has.
func sorts(text []byte) (has uint16) {
	for _, c := range text {
		if class := classes[c] & (digit | upper | lower); class != 0 {
			has |= class
		} else if bytes.IndexByte([]byte("-_./,:="), c) < 0 {
			has |= separator
		}
	}
	return has
}

// looks reports whether a value looks like a secret: no word, and no small number.
func looks(value []byte) bool {
	has := sorts(value)
	if has&(upper|lower) == 0 {
		return len(value) >= 8
	}
	return has&(digit|separator) != 0 || !isWord(value)
}

// mixed reports whether a text has letters and digits, and of letters both cases or another character.
func mixed(text []byte) bool {
	has := sorts(text)
	return has&digit != 0 && has&(upper|lower) != 0 && (has&(upper|lower) == upper|lower || has&separator != 0)
}

// pairs are the letters that often follow each letter in English words and the names of programs. Of eight random letters 1 in 60
// have such pairs only, of twelve 1 in 500.
var pairs = func() (follows ['z' + 1]uint32) {
	const list = "abcdfgiklmnprstuvwxy bacefijlorsuy cacdefhiklmoprstuy dadefilnorstuy eabcdefghiklmnopqrstuvwxy fadefiloprstuy gaceghilmnoprstu " +
		"haeilmorstu iabcdefgklmnoprstvxz jaeosu kaeinos labcdefgilnopstuvy mabdeilmopsu nabcdefghiklmnoprstuvy oabcdefgiklmnoprstuvw " +
		"pacdehikloprstuy qu rabcdefgiklmnoprstuvwy sacefghiklmnopstuwy tacdefhilmnoprstuwy uabcdefgilmnoprst vaeio waehinors xaceipst yilmnoprst zaeio"
	for row := range strings.FieldsSeq(list) {
		for _, c := range row[1:] {
			follows[row[0]] |= 1 << (c - 'a')
		}
	}
	return follows
}()

// isWord reports whether the letters of a text may be words, in any style of names.
func isWord(text []byte) bool {
	short, long := 0, 0 // single letters and digits; letters in runs of more than two
	text = bytes.TrimRight(text, "0123456789")
	for i := 0; i < len(text); {
		from := i
		for i < len(text) && classes[text[i]]&(upper|lower) != 0 && (i == from || classes[text[i]]&upper == 0 || classes[text[i-1]]&upper != 0) {
			if i > from+1 && pairs[text[i-1]|0x20]>>(text[i]|0x20-'a')&1 == 0 || i == from+2 && pairs[text[from]|0x20]>>(text[from+1]|0x20-'a')&1 == 0 {
				return false
			}
			i++
		}
		switch n := i - from; {
		case n > 2:
			long += n
		case n == 0:
			short += int(classes[text[i]] & digit / digit)
			i++
		default:
			short += n % 2
		}
	}
	return short < long || len(text) < 8
}

var (
	camel    = regexp.MustCompile(`^[A-Z]?[a-z]+(?:[A-Z][a-z]+)*$`)
	sentence = regexp.MustCompile(`^(?:["'(\[]*[A-Za-z](?:[A-Za-z'/-]|’)*[.,:;!?)\]"'…]*(?: |$))+$`)
)

// isSentence reports whether a text has several words and nothing else.
func isSentence(value []byte) bool { return bytes.IndexByte(value, ' ') >= 0 && sentence.Match(value) }

var (
	// code matches what begins as code does: a list, a variable, a type, an address.
	code = regexp.MustCompile(`^(?:[({\[<|]|&[a-z]|![A-Z]\w+$|-(?:$|[a-z/+-]+$|>)|arn:|[*]+\w*$|` +
		`(?i:null|none|nil|true|false|undefined|str|string|bytes|bool|u?int\d*|float\d*|any|optional|text)(?:$|[\[(<?|]))`)

	address = regexp.MustCompile(`^(?:[a-z][a-z+]*://|\{\w+\}/)`)

	// words matches words, and paths of them.
	words = regexp.MustCompile(`^(?:(?:[A-Za-z]+:)?\\?(?:~|\.{1,2})?/(?:[a-z_.-]+/)*[a-z_.-]+\d{0,5}|[a-z]+(?:[_-][a-z]+)*|[A-Z][a-z]+|[A-Z]+(?:_[A-Z]+)+)$`)

	// chain matches the members of a value, and calls.
	chain = regexp.MustCompile(`^_*[A-Za-z]?[a-z_]+(?:[A-Z][a-z_]+)*\d{0,2}(?:(?:\.|::|->|\?\.|!\.)_*(?:[A-Za-z][a-z_]+(?:[A-Z][a-z_]+)*|[A-Z][A-Z_]+)\d{0,2})*`)

	// member matches the call of a member.
	member = regexp.MustCompile(`^[a-z_]+(?:\.[a-z_]+)+[(\[]`)

	// variable matches the name of one, alone or as a member.
	variable = regexp.MustCompile(`^(?:[A-Za-z_]+\.)*([A-Za-z_-]+)$`)
)

// isNamed reports whether a value is the name of a secret itself.
func isNamed(value []byte) bool {
	at := variable.FindSubmatch(value)
	if at == nil {
		return false
	}
	p, _ := says(at[1])
	return p != noProof
}

// notText reports whether a value in no quotes is written as code or a word.
func notText(value []byte) bool {
	return code.Match(value) || address.Match(value) || words.Match(value) && isWord(value)
}

// isCode reports whether a value in no quotes is code or a word.
func isCode(text []byte, l written, kind string) bool {
	value := text[l.from:l.to]
	if notText(value) {
		return true
	}
	if kind != passwordKind && len(value) < 8 && bytes.IndexFunc(value, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != ':' }) < 0 {
		return true // a number
	}
	if isNamed(value) {
		return true
	}
	at := chain.Find(value)
	if at == nil {
		return false
	}
	rest := text[l.from+len(at) : min(len(text), l.to+1)]
	switch {
	case len(at) == len(value):
		return bytes.IndexAny(at, ".:>") > 0 || !l.adjacent && len(rest) > 0 && bytes.IndexByte([]byte(";,)"), rest[0]) >= 0 && camel.Match(at) && isWord(at)
	case rest[0] == '(' || rest[0] == '[' || rest[0] == '{' && (isWord(at) || bytes.IndexByte(at, '.') > 0):
		return true
	}
	return false
}

// reference matches a value that is the name of one: $NAME, ${NAME}, $(command), {{ name }}, %NAME%, <name>.
var reference = regexp.MustCompile(`^(?:\$(?:[A-Z_][A-Z0-9_]*|[a-z_][a-z0-9_]*|[a-z]+(?:[A-Z][a-z]+)*)$|\$\(|%[A-Za-z_]\w*%$|<[^<>]*>$|@[A-Z_]+@$|\{[\w.]*\}$|\[redacted|-----|` +
	`\w{0,12}-?[\w-]{0,12}(?:\.\.\.|…)|(?:[\w-]*[_-])?x+$|(?i:\*+|x+|\.+)$)|[$#]\{|\{\{|<%|%\(\w+\)s|(?:^|[_-])(?i:your)[_-]`)

// stands matches words that stand for a secret.
var stands = regexp.MustCompile(`^(?i:(?:your|my|new|old|the|a|current|user|db|database|api|access|auth|client|app|secret|password|passwd|passphrase|pass|token|key|here|example|placeholder|change|me|this|to|with|actual|real|insert|enter|replace|goes|value|test|signed)(?:[_\- .,]+|$))+$`)

// placeholder reports whether a value is a reference or a word for a secret.
func placeholder(value []byte) bool {
	value = value[:min(len(value), maxBefore)]
	return reference.Match(value) || stands.Match(value)
}

// scheme is the scheme of an authorization header.
var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]* +`)

// header marks the value of an authorization header.
func (s *scan) header(v *view, l written) {
	quoted := l.quote
	if at := scheme.Find(v.text[l.from:min(len(v.text), l.from+maxName)]); at != nil {
		l = s.literalAt(v.text, l.from+len(at))
	} else if quoted == 0 && notText(v.text[l.from:l.to]) {
		return
	}
	if l.from < 0 || l.to-l.from < 8 || bytes.IndexByte([]byte("[({"), v.text[l.from]) >= 0 {
		return
	}
	l.quote, l.env = 0, true
	s.value(v, l, proven, headerKind)
}

// cookie is a cookie of a header.
var cookie = regexp.MustCompile(`([\w.-]+)=([^;,\s"'\\]{8,})`)

// cookies marks the values of the cookies in a header, of all or of the first one.
func (s *scan) cookies(v *view, i int, first bool) {
	to := i
	for most := min(len(v.text), i+s.most()); to < most && (v.text[to] == ' ' || !endsValue(v.text, to)); {
		to++
	}
	s.spent += 2 * (to - i)
	v.named = to
	n := -1
	if first {
		n = 1
	}
	for _, at := range cookie.FindAllSubmatchIndex(v.text[i:to], n) {
		if value := v.text[i+at[4] : i+at[5]]; looks(value) && !placeholder(value) && !s.rules.isShown(value) {
			s.mark(v, i+at[4], i+at[5], cookieKind)
		}
	}
}

// pgpassLine is a line of a .pgpass up to the password.
var pgpassLine = regexp.MustCompile(`^(?:[\w*-]+\.)*[\w*-]+:(?:\d{4,5}|\*):(?:\*|[A-Za-z_][\w-]*):(?:\*|[A-Za-z_][\w.@-]*):`)

// pgpass marks the password of a line of a .pgpass with a host before byte i.
func (s *scan) pgpass(v *view, i int) {
	if i+5 >= len(v.text) || v.text[i+5] != ':' && v.text[i+1] != '*' && (i+6 >= len(v.text) || v.text[i+6] != ':') {
		return
	}
	from := nameBefore(v.text, i)
	if at := pgpassLine.FindIndex(v.text[from:min(len(v.text), i+3*maxName)]); at != nil && beginsLine(v.text, from) {
		l := s.toBlank(v.text, written{from: from + at[1]})
		s.value(v, l, weakProof, passwordKind)
	}
}

// bare are words that a password follows in a configuration, an SQL statement or a header, and a rare byte of each.
var bare = []struct {
	word string
	rare byte
	at   int
}{{"assword ", 'w', 3}, {"ASSWORD ", 'W', 3}, {"by '", 'y', 1}, {"BY '", 'Y', 1}, {"Bearer ", 'B', 0}}

// bare marks what follows a word [from, to).
func (s *scan) bare(v *view, word string, from, to int) {
	before := bytes.ToLower(v.text[max(0, from-maxName):from])
	if word[0]|0x20 == 'b' {
		to = from + 3
	}
	if word == "Bearer " {
		to = from + len(word)
	}
	l := s.literalAt(v.text, to)
	if l.from < 0 {
		return
	}
	l.env = true
	switch word {
	case "Bearer ": // where no authorization is before it
		if value := v.text[l.from:l.to]; len(value) >= 16 && mixed(value) {
			s.value(v, l, proven, headerKind)
		}
		return
	case "assword ", "ASSWORD ": // WITH PASSWORD 'x', login me password x
		if l.quote == 0 && !bytes.Contains(before, []byte("login ")) || l.quote != 0 && (l.quote != '\'' || !sqlUser.Match(before)) {
			return
		}
	case "by '", "BY '":
		if !bytes.HasSuffix(before, []byte("identified ")) {
			return
		}
	}
	s.value(v, l, proven, passwordKind)
}

// sqlUser matches the beginning of an SQL statement about a user.
var sqlUser = regexp.MustCompile(`\b(?:user|role|login|server|with|encrypted|set)\b[^;]*$`)

// login is a flag whose value is a password, or a user and a password, for certain commands.
type login struct {
	flag     string
	commands *regexp.Regexp
	attached bool // the value may follow without a blank
	after    byte // of the value: the password is behind it
}

var logins = []login{
	{"p", regexp.MustCompile(`\b(?:mysql|mariadb)\w*\b|\b(?:7z\w?|rar|unrar)\b`), true, 0},
	{"p", regexp.MustCompile(`\bsshpass\b|\bmongo\w*\b| login\b|\bhtpasswd\b`), false, 0},
	{"P", regexp.MustCompile(`\b(?:un)?zip\b`), true, 0},
	{"a", regexp.MustCompile(`\bredis-cli\b`), false, 0},
	{"w", regexp.MustCompile(`\bldap\w+\b`), true, 0},
	{"k", regexp.MustCompile(`\bopenssl enc\b`), false, 0},
	{"u", regexp.MustCompile(`\b(?:curl|wget)\b`), true, ':'},
	{"-user", regexp.MustCompile(`\b(?:curl|wget)\b`), false, ':'},
	{"U", regexp.MustCompile(`\b(?:smb|rpc|cifs)\w+\b`), true, '%'},
	{"a", regexp.MustCompile(`\bhttps?\b `), false, ':'},
}

// userFlag matches a flag for a user's name, in a command that has one for the password as well.
var userFlag = regexp.MustCompile(`\s(?:-[uU]|--?user(?:name)?)[ =]\S`)

// flag marks the value of the flag at byte i.
func (s *scan) flag(v *view, i int) {
	text := v.text
	name := i + 1
	if name < len(text) && text[name] == '-' {
		name++
	}
	end := name
	for end < min(len(text), name+maxName) && (classes[text[end]]&alnum != 0 || text[end] == '-' || text[end] == '_') {
		end++
	}
	if end == name || classes[text[name]]&(upper|lower) == 0 || end < len(text) && text[end] == '=' {
		return
	}
	apart := end < len(text) && (classes[text[end]]&blank != 0 || text[end] == '\\')
	if apart && isQuote(text[end]) || apart && text[end] == '\\' { // an argument of a list
		for end < min(len(text), name+maxName) && (text[end] == '\\' || isQuote(text[end])) {
			end++
		}
		n := bytes.IndexAny(text[end:min(len(text), end+maxGap)], "\"'`\\")
		if n <= 0 || len(bytes.Trim(text[end:end+n], ", ")) > 0 {
			return
		}
	}
	if apart && end-name > 1 && ends.has(three(tail(text[name:end]))) {
		if p, kind := says(text[name:end]); p != noProof {
			l := s.literalAt(text, end)
			l.env = slices.Contains(settings, string(text[name:end]))
			s.value(v, l, p, kind)
			return
		}
	}
	if c := text[name]; bytes.IndexByte([]byte("pPawkuUb"), c) < 0 {
		return
	}
	if s.most() < maxValue {
		return
	}
	command := text[max(0, i-maxBefore):i]
	s.spent += len(command)
	if n := bytes.LastIndexAny(command, ";|&\n"); n >= 0 {
		command = command[n:]
	}
	if n := bytes.LastIndex(command, []byte(`\n`)); n >= 0 {
		command = command[n+2:]
	}
	flag := string(text[i+1 : end])
	if flag == "b" || flag == "-cookie" {
		if apart && bytes.Contains(command, []byte("curl")) {
			s.cookies(v, s.literalAt(text, end).from, false)
		}
		return
	}
	for _, one := range logins {
		from := i + 1 + len(one.flag)
		switch {
		case flag == one.flag && apart && !(one.attached && one.after == 0 && one.flag == "p"):
		case one.attached && len(flag) > len(one.flag) && strings.HasPrefix(flag, one.flag):
		case one.attached && flag == one.flag && !apart:
		default:
			continue
		}
		if !one.commands.Match(command) {
			continue
		}
		l := s.literalAt(text, from)
		if l.from < 0 {
			return
		}
		if l.quote == 0 {
			l = s.toBlank(text, l)
		}
		if one.after != 0 {
			n := bytes.IndexByte(text[l.from:l.to], one.after)
			if n < 0 {
				return
			}
			l.from += n + 1
		}
		l.env = true
		s.value(v, l, proven, passwordKind)
		return
	}
	if flag == "p" && apart && userFlag.Match(command) { // any command with a user and a password
		l := s.literalAt(text, end)
		if l.from < 0 {
			return
		}
		if l.quote == 0 {
			l = s.toBlank(text, l)
		}
		if value := text[l.from:l.to]; mixed(value) && bytes.IndexByte(value, '/') < 0 {
			s.value(v, l, weakProof, passwordKind)
		}
	}
}

// userInfo finds the password in an address.
var userInfo = regexp.MustCompile("^://[^\\s/:@\"'`]*:([^\\s/@\"'`]{3,}(?:@[^\\s/@.:\"'`]+)*)@")

// address marks the password in an address such as postgres://user:password@host with the colon at byte i.
func (s *scan) address(v *view, i int) {
	if i == 0 || classes[v.text[i-1]]&alnum == 0 {
		return
	}
	at := userInfo.FindSubmatchIndex(v.text[i:min(len(v.text), i+maxBefore)])
	if at == nil {
		return
	}
	if value := v.text[i+at[2] : i+at[3]]; !s.rules.isShown(value) && !placeholder(value) {
		s.mark(v, i+at[2], i+at[3], passwordKind)
	}
}
