package redact

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

const (
	maxName   = 64  // bytes of a name
	maxGap    = 24  // bytes between a name, a sign and a value
	maxLead   = 48  // bytes of a line that are looked at before a name or after a value
	maxBefore = 256 // bytes of a text that are looked at before a value
	maxValue  = 4 << 10
)

// signs are the bytes at which a value may begin or a name may end.
var signs = func() (t [256]bool) {
	for _, c := range []byte("=:>(,|- \t\n\x9a") {
		t[c] = true
	}
	return t
}()

// found is a name that says that its value is a secret.
type found struct {
	*view
	from, end int // the name
	at, to    int // the sign between the name and its value
	kind      string
	weak      bool
	paired    bool // the name is the value of another member
	lit
}

// places marks the values of a text whose place says that they are secrets.
func (s *scan) places(v *view) {
	for i, c := range v.text {
		if !signs[c] {
			continue
		}
		switch c {
		case '=', '>':
			s.sign(v, i, i+1)
		case ':':
			if bytes.HasPrefix(v.text[i:], []byte("://")) {
				s.address(v, i)
			} else {
				s.sign(v, i, i+1)
			}
		case 0x9a: // a wide colon
			if i > 2 && v.text[i-1] == 0xbc && v.text[i-2] == 0xef {
				s.sign(v, i-2, i+1)
			}
		case '-':
			if i+2 < len(v.text) && (i == 0 || classes[v.text[i-1]]&blank != 0) && (v.text[i+1] == '-' || classes[v.text[i+1]]&(upper|lower) != 0) {
				s.flag(v, i)
			}
		case ' ', '(':
			if i > 2 && ends.has(v.text[i-3:i]) && classes[v.text[i-1]]&nameChar != 0 {
				s.after(v, i, i)
			}
		default:
			if end := i - spacesBefore(v.text, i); end > 2 && classes[v.text[end-1]]&nameChar != 0 && mayBe(v.text[max(0, end-maxGap):end]) {
				s.after(v, end, i)
			}
		}
	}
}

// spacesBefore returns how many blanks and quotes are before byte i, for a sign that they may be before.
func spacesBefore(text []byte, i int) (n int) {
	for i-n > 0 && n < maxGap && (text[i-n-1] == ' ' || text[i-n-1] == '"' || text[i-n-1] == '\'' || text[i-n-1] == '\r') {
		n++
	}
	return n
}

// nameBefore returns where the name begins that ends at byte end.
func nameBefore(text []byte, end int) int {
	from := end
	for from > max(0, end-maxName) && classes[text[from-1]]&nameChar != 0 {
		from--
	}
	return from
}

// sign looks at the value that the sign [i, to) assigns.
func (s *scan) sign(v *view, i, to int) {
	text := v.text
	end := i
	if i > 0 && bytes.IndexByte([]byte("=!<>~+:?-"), text[i-1]) >= 0 { // of these only := and ?= assign
		if text[i] != '=' || text[i-1] != ':' && text[i-1] != '?' {
			return
		}
		end--
	}
	if to+1 < len(text) && (text[to] == '=' || text[to] == '~' && text[to+1] == ' ' || text[to] == ':' && text[i] == ':') {
		return
	}
	for least := max(0, end-maxGap); end > least && bytes.IndexByte([]byte(" \t\"'`]*"), text[end-1]) >= 0; {
		end--
	}
	if i+1 < len(text) && text[i] == ':' && (text[i+1] == '*' || classes[text[i+1]]&digit != 0) {
		s.pgpass(v, i)
	}
	if end == 0 || classes[text[end-1]]&nameChar == 0 || !mayBe(text[max(0, end-maxName):end]) && !isTyped(text, end) {
		return
	}
	if to < len(text) && text[to] == '>' && text[i] == '=' { // =>
		to++
	}
	f := found{view: v, from: nameBefore(text, end), end: end, at: i, to: to}
	for f.from < f.end && text[f.from] == '-' {
		f.from++
	}
	if text[i] == '>' && (f.from == 0 || text[f.from-1] != '<' && !element.Match(text[max(0, f.from-maxGap):f.from])) {
		return
	}
	if f.lit = s.literal(text, to); f.lit.from < 0 {
		return
	}
	name := text[f.from:end]
	if string(name) == "PASS" { // a test's result
		return
	}
	if f.from > 1 && text[f.from-1] == '{' && text[f.from-2] == '$' {
		s.fallback(f)
		return
	}
	if string(bytes.ToLower(name)) == "key" && f.from > 1 && text[f.from-1] == ' ' { // API key:
		f.from = nameBefore(text, f.from-1)
		name = text[f.from:end]
	}
	switch low := squeeze(name); {
	case strings.HasSuffix(low, "authorization"):
		s.header(f)
		return
	case strings.HasSuffix(low, "cookie") && text[i] == ':':
		s.cookies(v, to, low == "setcookie")
		return
	case (low == "sig" || strings.HasSuffix(low, "signature")) && f.from > 0 && (text[f.from-1] == '?' || text[f.from-1] == '&'):
		f.kind = apiKind
	case slices.Contains(words["pair-value"], low):
		f.pair()
	case text[i] == '=' && slices.Contains(words["cookie"], low) && f.adjacent():
		s.value(f, inCode, cookieKind)
		return
	default:
		if f.kind, f.weak = says(name); f.kind == "" {
			f.typed()
		}
	}
	if f.kind != "" {
		s.value(f, f.place(), f.kind)
	}
}

var (
	element  = regexp.MustCompile(`(?:key|name)=["']$`)
	pairName = regexp.MustCompile(`(?i)(?:(?:key|name)["']*\s*[:=]\s*|variable\s+)["']*([\w./-]{2,64})["',\s]+\{?[^{}]*$`)
	typeName = regexp.MustCompile(`(\w+)(?: |: ?)(?:&'static )?[\w&*<>\[\].]+$`)
)

// fallback marks the value that a reference to a secret has if it is not set: ${NAME:value}, ${NAME:-value}.
func (s *scan) fallback(f found) {
	kind, _ := says(f.text[f.from:f.end])
	if f.lit.from = bytes.IndexByte([]byte("?+="), f.text[f.to]); kind == "" || f.lit.from >= 0 {
		return
	}
	f.lit.from = f.to
	if f.text[f.to] == '-' {
		f.lit.from++
	}
	f.lit.to = nextByte(f.text[:min(len(f.text), f.to+maxName)], f.lit.from, '}')
	s.value(f, inText, kind)
}

// pair finds the name of a value that has one beside it: {"Key": "DB_PASSWORD", "Value":, and the same in YAML, XML and HCL.
func (f *found) pair() {
	if at := pairName.FindSubmatch(f.text[max(0, f.from-maxBefore):f.from]); at != nil {
		f.kind, f.weak = says(at[1])
		f.paired = true
	}
}

// isTyped reports whether a type that ends at byte end may be between a name and its sign: password: str = "...".
func isTyped(text []byte, end int) bool {
	for _, t := range []string{"str", "string", "String", "text", "&str", "]"} {
		if bytes.HasSuffix(text[max(0, end-8):end], []byte(t)) {
			return true
		}
	}
	return false
}

func (f *found) typed() {
	if f.quote != 0 && f.text[f.at] == '=' {
		if at := typeName.FindSubmatch(f.text[max(0, f.from-maxLead):f.end]); at != nil {
			f.kind, f.weak = says(at[1])
		}
	}
}

// most returns how long a value may be. Each byte may be part of several values, but not of thousands.
func (s *scan) most() int {
	if s.spent > 16*(len(s.line)+maxValue) {
		return maxName
	}
	return maxValue
}

// literal returns the value that begins at byte i, after blanks and quotes.
func (s *scan) literal(text []byte, i int) (l lit) {
	end := min(len(text), i+maxGap)
	for i < end && (text[i] == ' ' || text[i] == '\t' || text[i] == '*') {
		i++
	}
	if i < end && (text[i] == '|' || text[i] == '>' && i+1 < len(text) && text[i+1] != '=') { // a block of YAML
		if n := len(yamlBlock.Find(text[i:end])); n > 0 {
			i, l.quote = i+n, '|'
		}
	}
	if at := prefix.FindSubmatchIndex(text[i:min(len(text), i+maxGap)]); at != nil { // f"...", &"...", !vault "...", ["..."
		i += at[2]
	}
	if l.from = i; i >= len(text) || text[i] == '\n' {
		return lit{from: -1}
	}
	most := min(len(text), i+s.most())
	for _, q := range [][2]string{{`"`, `"`}, {`'`, `'`}, {"`", "`"}, {"“", "”"}, {"«", "»"}, {"‘", "’"}} {
		if !bytes.HasPrefix(text[i:], []byte(q[0])) {
			continue
		}
		from := i + len(q[0])
		n := bytes.IndexAny(text[from:most], q[1][:1]+"\n")
		for n > 0 && text[from+n-1] == '\\' && text[from+n] != '\n' {
			next := bytes.IndexAny(text[from+n+1:most], q[1][:1]+"\n")
			if n += 1 + next; next < 0 {
				n = -1
			}
		}
		if n < 0 || text[from+n] == '\n' {
			l.from = from
			break
		}
		s.spent += n
		return lit{from, from + n, q[0][0], from + n + len(q[1])}
	}
	for l.to = l.from; l.to < most && !endsValue(text[l.to]); {
		l.to++
	}
	s.spent += l.to - l.from
	l.end = l.to
	return l
}

var (
	yamlBlock = regexp.MustCompile(`^[|>][+-]?\n *`)
	prefix    = regexp.MustCompile(`^(?:!\w+ |\[)?(?:[fFrRbBuU@$&]{1,2})?(["'\x60])`)
)

func endsValue(c byte) bool { return c <= ' ' || c == '"' || c == '\'' || c == '`' }

func (f *found) adjacent() bool {
	return f.at == f.end && (f.lit.from == f.to || f.quote != 0 && f.lit.from == f.to+1)
}

// before returns the line before the name, and its last byte that is no quote.
func (f *found) before() (lead []byte, last byte) {
	lead = f.text[max(0, f.from-maxLead):f.from]
	if n := bytes.LastIndexByte(lead, '\n'); n >= 0 {
		lead = lead[n+1:]
	} else if f.from > maxLead {
		lead = append([]byte("x"), lead...)
	}
	if rest := bytes.TrimRight(lead, "\"'`"); len(rest) > 0 {
		return lead, rest[len(rest)-1]
	}
	return lead, '\n'
}

// member returns the last byte before the name that is no blank or quote.
func (f *found) member() byte {
	if rest := bytes.TrimRight(f.text[max(0, f.from-maxGap):f.from], " \"'`\n"); len(rest) > 0 {
		return rest[len(rest)-1]
	}
	return '{'
}

// after returns the first byte after the value that is no blank, a line end if there is none but a comment.
func (f *found) after() byte {
	rest := f.text[f.lit.end:min(len(f.text), f.lit.end+maxLead)]
	if n := bytes.IndexByte(rest, '\n'); n >= 0 {
		rest = rest[:n]
	}
	rest = bytes.TrimLeft(rest, " \t\r")
	if len(rest) == 0 || rest[0] == '#' || bytes.HasPrefix(rest, []byte("//")) {
		return '\n'
	}
	return rest[0]
}

// lead matches what is before the first name of a line: an indentation, a list's sign, a command that sets it, a quote.
var lead = regexp.MustCompile(`^[ \t]*(?:[-*+#>$]+ +|\d+[.)] +|[+-])?(?i:(?:export|set|setx|setenv|env|arg|-e|--env|local|declare -x|final|static) +|\$env:)*["'\x60*]*$`)

// place says how sure the place of a value is.
func (f *found) place() place {
	text := f.text
	before, last := f.before()
	first, next := lead.Match(before), f.after()
	assigned, quoted := text[f.at] == '=', f.end > 0 && f.end < len(text) && f.from > 0 && text[f.end] == text[f.from-1]
	sure := inText
	if f.weak || f.kind != passwordKind {
		sure = inCode
	}
	list := f.quote != 0 && text[f.lit.from-2] == '['
	switch {
	case list:
		return sure
	case f.paired && (f.quote != 0 || !quoted):
		f.cut(",}")
		return inConfig
	case f.quote == '|':
		return inConfig
	case text[f.at] == '>':
		if f.cut("<"); !bytes.HasPrefix(text[f.lit.to:], []byte("</")) {
			return nowhere
		}
		return inConfig
	case quoted && f.quote != 0 && !f.weak && (first || bytes.IndexByte([]byte("{,["), f.member()) >= 0) && next != ':':
		return inConfig
	case assigned && f.adjacent():
		return f.environment(first, last, next, sure)
	case f.quote == '\'' && sqlKey.Match(before):
		return inConfig
	case f.weak && squeeze(text[f.from:f.end]) != "pass":
		return sure
	case first && next == '\n' && (f.inFile() || text[f.end-1] >= 0x80):
		return inConfig
	case first && next == '\n' && !assigned && f.quote != 0:
		return inText
	case f.quote == 0 && next != '\n' && assigned:
		f.cut(",;)]}")
		return inCode
	case f.quote == 0:
		f.cut(",;")
	}
	return sure
}

// environment is place for NAME=value without blanks: a variable, a parameter of an address or of a connection, an argument.
func (f *found) environment(first bool, last, next byte, sure place) place {
	name := f.text[f.from:f.end]
	if n := bytes.IndexByte(f.text[f.lit.from:f.lit.end], '&'); n >= 0 && !isUpper(name) && bytes.IndexByte(f.text[f.lit.from+n:f.lit.end], '=') > 0 {
		f.cut("&")
	}
	sets := strings.IndexByte(" \t;&?\n\"'`=", last) >= 0 || first
	switch {
	case last == '?' || last == '&' || last == '%':
		f.cut("&#);,<>")
		return inConfig
	case f.weak:
		return sure
	case (last == ';' || last == '\n' || last == '"' || last == '\'') && bytes.IndexByte(f.text[f.lit.from:f.lit.end], ';') > 0 && !isUpper(name):
		f.cut(";")
		return inConfig
	case isUpper(name) && sets:
		f.cut(";")
		return certain
	case last == ':' && name[0] == '_': // of npm
		return inConfig
	case last == '-':
		return certain
	case last == ' ' && next == '\n' && bytes.IndexAny(f.text[max(0, f.from-maxLead):f.from], "(<") < 0 && (f.quote != 0 || bytes.IndexAny(f.text[f.lit.from:f.lit.to], ")>,;") < 0):
		return inConfig
	case last == '=' || first && next == '\n' && (f.quote != 0 || strings.IndexByte(",;)", f.text[f.lit.end-1]) < 0):
		return inConfig
	case sets && others.Match(f.text[max(0, f.from-maxLead):f.from]), last == ',' && f.quote == 0 && others.Match(f.text[max(0, f.from-maxLead):f.from]):
		f.cut(")]}")
		if n := bytes.IndexAny(f.text[f.lit.from:f.lit.to], ",&"); n > 0 && bytes.IndexByte(f.text[f.lit.from+n:f.lit.to], '=') > 0 {
			f.lit.to = f.lit.from + n
		}
		return inConfig
	case bytes.IndexByte(name, '.') > 0 && sets:
		f.cut(",")
		return inConfig
	}
	f.cut(",;)]}&")
	return sure
}

// others matches another parameter before one, without blanks or an argument's bracket between.
var others = regexp.MustCompile(`(?:^|[\s"';,])[\w.-]+=[^\s(,;]+(?:[ ;]+|,)$`)

// cut ends a value in no quotes before the first of some bytes.
func (f *found) cut(at string) {
	if f.quote != 0 {
		return
	}
	if n := bytes.IndexAny(f.text[f.lit.from:f.lit.to], at); n >= 0 {
		f.lit.to = f.lit.from + n
	}
}

// setting matches a line of a configuration.
var setting = regexp.MustCompile(`^\s*(?:- )?["']?[\w.$/-]+["']?(?:\s*=\s*|:\s+|:$)(?:"[^"]*"|'[^']*'|[^\s(){}\[\],;]*|\[[^\[\]()]*\])\s*(?:#.*)?$`)

// inFile reports whether the lines beside the name's are those of a configuration too.
func (f *found) inFile() bool {
	before, after := f.text[max(0, f.from-2*maxBefore):f.from], f.text[f.lit.end:min(len(f.text), f.lit.end+maxBefore)]
	above, below := bytes.Split(before, []byte("\n")), bytes.SplitN(after, []byte("\n"), 3)
	lines := append(below[1:min(2, len(below))], above[:len(above)-1]...)
	slices.Reverse(lines[min(1, len(below)-1):])
	n := 0
	for i, line := range lines {
		line = bytes.TrimRight(line, " \r")
		switch same := bytes.IndexByte(line, f.text[f.at]) > 0; {
		case len(line) == 0, line[0] == '#', bytes.HasPrefix(line, []byte("---")), bytes.HasPrefix(line, []byte("```")), bytes.HasPrefix(line, []byte("$ ")):
		case line[0] == '[' && line[len(line)-1] == ']':
			return true
		case same && setting.Match(line):
			n++
		case i < 2:
			return false
		default:
			i = len(lines)
		}
	}
	value := f.text[f.lit.from:f.lit.to]
	return n > 0 && (f.quote != 0 || f.text[f.at] == ':' && !camel.Match(value) || !wordy.Match(value))
}

// value marks a value if it is a secret in such a place.
func (s *scan) value(f found, in place, kind string) {
	if f.lit.from < 0 || f.lit.to <= f.lit.from {
		return
	}
	if f.quote == 0 && in < inConfig {
		f.lit.to -= len(f.text[f.lit.from:f.lit.to]) - len(bytes.TrimRight(f.text[f.lit.from:f.lit.to], ".,:;!?)]}>"))
	}
	if f.end > f.from && bytes.EqualFold(f.text[f.from:f.end], f.text[f.lit.from:f.lit.to]) {
		return
	}
	value, phrase := f.text[f.lit.from:f.lit.to], f.end > f.from && strings.HasSuffix(squeeze(f.text[f.from:f.end]), "phrase")
	if phrase && in > inCode && bytes.Count(value, []byte(" ")) > 2 && value[len(value)-1] != '.' || s.rules.isSecret(value, kind, in, f.quote != 0 && f.quote != '`') {
		s.mark(f.view, f.lit.from, f.lit.to, kind)
	}
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }
