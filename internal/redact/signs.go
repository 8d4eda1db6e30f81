package redact

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"ccd/internal/lazy"
)

// sign looks at the sign at byte i: at the name before it, or at the value behind it.
func (s *scan) sign(v *view, i int) {
	text := v.text
	switch c := text[i]; c {
	case '=', '>', ':':
		s.colon(v, i)
	case 0x9a: // a wide colon
		if name, ok := bytes.CutSuffix(text[max(0, i-2-maxName):i], []byte{0xef, 0xbc}); ok && mayBe(name, &s.ends.all) {
			s.assigns(&found{view: v, from: nameBefore(text, i-2), end: i - 2, at: i - 2, to: i + 1, sign: ':'})
		}
	case '-':
		if i == 0 || classes[text[i-1]]&blank != 0 {
			s.flag(v, i)
		}
	case ' ', '(':
		s.follows(v, i)
	case '%':
		s.percents(v, i)
	case '~':
		s.tilde(v, i)
	case escape:
		s.again(v, i)
	case '\\':
		if n, c := unescape(text[i:]); n > 1 && c != '\\' {
			s.again(v, i)
		}
	default:
		s.between(v, i)
	}
}

// between looks at the name before another sign at byte i.
func (s *scan) between(v *view, i int) {
	if end := trimmed(v.text, i); mayBe(v.text[max(0, end-maxGap):end], &s.ends.prose) {
		s.apart(&found{view: v, from: nameBefore(v.text, end), end: end, at: i, to: i + 1, sign: v.text[i]})
	}
}

// tilde looks for the secrets that have a tilde in them.
func (s *scan) tilde(v *view, i int) {
	if t := v.tokenAt(i); t.tries > 0 {
		t.tries--
		for _, p := range s.starts.of([]byte("~~~")) {
			if p.text == "~~~" {
				s.try(v, p.Shape, i)
			}
		}
	}
}

// colon looks at an address, at what is assigned, or at a line of a .pgpass.
func (s *scan) colon(v *view, i int) {
	text, c := v.text, v.text[i]
	next := text[i+1 : min(len(text), i+5)]
	if c == ':' && bytes.HasPrefix(next, []byte("//")) {
		s.formed(v, i)
	} else if name, end, ok := s.assigned(text, i); ok {
		s.assigns(&found{view: v, from: name, end: end, at: i, to: i + 1, sign: c})
	} else if c == ':' && len(next) == 4 && (next[0] == '*' || classes[next[0]]&classes[next[3]]&digit != 0) { // a port
		s.formed(v, i)
	}
}

// follows looks at what is behind a name, or a command, and a blank or a bracket at byte i.
func (s *scan) follows(v *view, i int) {
	if bytes.HasPrefix(v.text[i:], []byte(" KEY")) && bytes.HasSuffix(v.text[:i], []byte("PRIVATE")) {
		s.key(v, i-len("PRIVATE"))
		return
	}
	if i < 3 || s.ends.prose.of(v.text[i-3:i]) == nil || !mayBe(v.text[max(0, i-maxGap):i], &s.ends.prose) {
		return
	}
	from := nameBefore(v.text, i)
	if s.name(v.text[from:i]).list == "command" {
		s.commands(v, i)
	} else {
		s.apart(&found{view: v, from: from, end: i, at: i, to: i + 1, sign: v.text[i]})
	}
}

// nameBefore returns where the name begins that ends at byte end.
func nameBefore(text []byte, end int) int {
	from := end
	for from > max(0, end-maxName) && classes[text[from-1]]&nameChar != 0 {
		from--
	}
	return from
}

// trimmed returns the end of a text that ends at byte end without what may be between a name and a sign: maxGap bytes at most.
func trimmed(text []byte, end int) int {
	for least := max(0, end-maxGap); end > least && classes[text[end-1]]&gap != 0; {
		end--
	}
	return end
}

// assigned returns the name to which the sign at byte i assigns something, if it may say that this is a secret.
func (s *scan) assigned(text []byte, i int) (from, end int, ok bool) {
	end = trimmed(text, i)
	if end == 0 || classes[text[end-1]]&nameChar == 0 || !mayBe(text[max(0, end-maxName):end], &s.ends.all) && !bytes.HasSuffix(text[:end], []byte("str")) && !bytes.HasSuffix(text[:end], []byte("tring")) {
		return 0, 0, false
	}
	from = nameBefore(text, end)
	for from < end && text[from] == '-' {
		from++
	}
	if from > 1 && text[from-1] == ' ' && strings.EqualFold(string(text[from:end]), "key") { // API key:
		from = nameBefore(text, from-1)
	}
	return from, end, text[i] != '>' || from > 0 && (text[from-1] == '<' || element().Match(text[max(0, from-maxGap):from]))
}

var (
	element  = lazy.Regexp(`(?:key|name)=["']$`)
	pairName = lazy.Regexp(`(?i)(?:(?:key|name)["']*\s*[:=]\s*|(?:variable|output)\s+)["']*([\w./-]{2,64})["',\s]+\{?[^{}]*$`)
	typeName = lazy.Regexp(`(\w+)(?: |: ?)(?:&'static )?[\w&*<>\[\].]+$`)
)

// assigns looks at the value that a sign assigns to a name.
func (s *scan) assigns(f *found) {
	text := f.text
	if f.to < len(text) && (f.sign == '=' && text[f.to] == '>' || f.sign == ':' && text[f.to] == '-') { // =>, and ${NAME:-value}
		f.to++
	}
	f.lit = s.literal(text, f.to)
	block := f.block()
	if block > 0 {
		f.lit = s.literal(text, f.to+block)
	}
	name := text[f.from:f.end]
	m := s.name(name)
	if f.lit.from == f.lit.to || string(name) == "PASS" { // a test's result
		return
	}
	m, ok := s.listed(f, m)
	if !ok {
		return
	}
	if m.kind == "" && f.quote != 0 && f.sign == '=' {
		if at := typeName().FindSubmatch(text[max(0, f.from-maxLead):f.end]); at != nil {
			m = s.name(at[1])
		}
	}
	if f.means(m); f.kind == "" {
		return
	}
	if f.from > 0 && f.end < len(text) && text[f.end] == text[f.from-1] && isQuote(text[f.end]) {
		f.is |= quoted
	}
	if f.sign == '=' && f.at == f.end && (f.lit.from == f.to || f.quote != 0 && f.lit.from == f.to+1) {
		f.adjoins()
	}
	s.spent += maxBefore
	in := f.place()
	if block > 0 {
		in = m.place()
	}
	s.value(f.view, f.lit, in, f.kind)
}

// listed applies the check that a list has for the name of a value. It returns what the name means, and false if the value needs no other check.
func (s *scan) listed(f *found, m meaning) (meaning, bool) {
	switch text := f.text; m.list {
	case "header":
		s.header(f)
		return m, false
	case "cookies":
		s.cookies(f.view, f.to)
		return m, false
	case "kind":
		f.manifest = f.manifest || string(text[f.lit.from:f.lit.to]) == "Secret"
		return m, false
	case "signature":
		if f.from > 0 && (text[f.from-1] == '?' || text[f.from-1] == '&') {
			m.kind = apiKind
		}
	case "pair-value": // {"Key": "DB_PASSWORD", "Value":, and the same in YAML, XML and HCL
		if s.spent += 2 * maxBefore; s.most() < maxValue {
			return m, false
		}
		at := pairName().FindSubmatch(text[max(0, f.from-maxBefore):f.from])
		if at == nil {
			return m, false
		}
		m = s.name(at[1])
		m.is |= paired
	}
	return m, true
}

// block returns the length of what begins a text of several lines in YAML, 0 if none begins.
func (f *found) block() int {
	if f.sign != ':' {
		return 0
	}
	return len(blockScalar().Find(f.text[f.to:min(len(f.text), f.to+maxGap)]))
}

var blockScalar = lazy.Regexp(`^ [|>][+-]?\n`)

// adjoins notes that there are no blanks around the sign. Another parameter in the value ends it.
func (f *found) adjoins() {
	f.sign = 'a'
	if n := next().FindIndex(f.text[f.lit.from:f.lit.to]); f.quote == 0 && f.is&upperIs == 0 && n != nil {
		f.lit.to, f.lit.end = f.lit.from+n[0], f.lit.from+n[0]
	}
}

// next matches another parameter in a value.
var next = lazy.Regexp(`[,&][\w.-]+=`)

// means notes what the name says.
func (f *found) means(m meaning) {
	f.kind, f.is = m.kind, m.is
	if f.sign != '=' && f.sign != 'a' && bytes.IndexByte(f.text[f.from:f.end], '_') < 0 {
		f.is &^= upperIs
	}
}

// is matches what is between a name and a value in a sentence (password for the database: X), and in PowerShell.
var is = lazy.Regexp(`^[ \t]+(?:(?:is|was|ist|war|est|es|é|è|är|er|on|—|–|-|→|=>|->)(?: set to| now| still)?:?|-(?:String|AsPlainText)|(?:for|of|от|для|de|du|del|da|do|für|zum|zur|von|di|per|para|pour) [^\s:=]+(?: [^\s:=]+){0,2}:) +`)

// apart looks at what is behind a name with no sign: in a sentence, a call, a table.
func (s *scan) apart(f *found) {
	text := f.text
	name := text[f.from:f.end]
	if f.means(s.name(name)); !f.isNamed(name) {
		return
	}
	if f.sign == '\t' {
		f.sign = ' '
	}
	if text[f.at] != ' ' && f.sign != '(' && s.table(f) || f.sign == '\n' {
		return
	}
	at := is().Find(text[f.at:min(len(text), f.at+maxLead)])
	if len(at) > 0 && f.kind == passwordKind {
		f.is |= told
	}
	f.lit = s.literal(text, f.at+max(1, len(at)))
	if f.lit.from < f.lit.to && (f.sign != ' ' || text[f.lit.from] != '-') {
		s.value(f.view, f.lit, f.place(), f.kind)
	}
}

// isNamed reports whether a name with no sign says something.
func (f *found) isNamed(name []byte) bool {
	is := func(end []byte, what string) bool { return strings.EqualFold(string(end), what) }
	switch {
	case is(name[max(0, len(name)-len("securestring")):], "securestring"), is(name, "by") && strings.EqualFold(string(f.text[max(0, f.from-11):f.from]), "identified "):
		f.kind, f.is = passwordKind, noName
	case is(name, "bearer") && f.sign == ' ':
		f.kind, f.is = headerKind, 0
	}
	return f.kind != "" && f.is&weak == 0
}

// flagEnd matches what is between the name of a flag, also in quotes, and its value.
var flagEnd = lazy.Regexp(`^(?:["'],?)?[ ,]+`)

// flag marks the value of the flag at byte i.
func (s *scan) flag(v *view, i int) {
	text, from := v.text, i+1
	if from < len(text) && text[from] == '-' {
		from++
	}
	end := from
	for end < min(len(text), from+maxName) && classes[text[end]]&nameChar != 0 {
		end++
	}
	if end == from || classes[text[from]]&(upper|lower) == 0 {
		return
	}
	if at := flagEnd().FindIndex(text[end:min(len(text), end+maxGap)]); at != nil && mayBe(text[from:end], &s.ends.all) {
		f := &found{view: v, from: from, end: end, at: i, sign: '-'}
		f.means(s.name(text[from:end]))
		f.lit = s.literal(text, end+at[1])
		if f.kind != "" && f.lit.from < f.lit.to && text[f.lit.from] != '-' && (f.quote != 0 || !isQuote(text[end])) {
			s.value(v, f.lit, f.place(), f.kind)
			return
		}
	}
	if end-from == 1 && text[from] == 'p' && end < len(text) && user().Match(text[max(0, i-maxLead):i]) {
		s.value(v, s.literal(text, end), inText, passwordKind)
		return
	}
	s.commands(v, i)
}

// user matches the name of a user before a flag for the password of any program.
var user = lazy.Regexp(`\s-u\s+[^\s-]\S*\s+$`)

// commands are what is before the secret in the arguments of each command that words.txt has.
var commands = sync.OnceValue(func() map[string]func() *regexp.Regexp {
	all := map[string]func() *regexp.Regexp{}
	for line := range strings.Lines(wordList) {
		if names, args, _ := strings.Cut(strings.TrimRight(line, "\n"), ":"); line[0] == '$' {
			re := lazy.Regexp(strings.NewReplacer(" ", between, "~", "(?:"+between+"|=)").Replace(args))
			for name := range strings.FieldsSeq(names) {
				all[name[1:]] = re
			}
		}
	}
	return all
})

// between matches what is between two arguments.
const between = `(?:["']?[,\s]+["']?)`

// commands looks at the commands in the line around byte i.
func (s *scan) commands(v *view, i int) {
	if i < v.shell {
		return
	}
	from := max(v.shell, i-maxValue)
	from += bytes.LastIndexByte(v.text[from:i], '\n') + 1
	if v.shell = nextByte(v.text[:min(len(v.text), i+maxValue)], i, '\n'); v.shell-from < maxValue {
		s.arguments(v, from, v.shell)
	}
}

// arguments marks the secrets in the arguments of the commands in bytes [from, to) of a text.
func (s *scan) arguments(v *view, from, to int) {
	for i := from; i < to; i++ {
		name := i
		for i < to && classes[v.text[i]]&nameChar != 0 {
			i++
		}
		args := commands()[string(v.text[name:i])]
		if args == nil || s.most() < maxValue {
			continue
		}
		s.spent += to - i
		for _, at := range args().FindAllSubmatchIndex(v.text[i:to], -1) {
			l := s.argument(v.text[:to], i, at)
			if n := bytes.IndexAny(v.text[l.from:l.to], ";|&)"); n >= 0 && l.quote == 0 {
				l.to = l.from + n
			}
			if l.from < l.to && v.text[l.from] != '-' {
				s.value(v, lit{from: l.from, to: l.to}, certain, passwordKind)
			}
		}
	}
}

// argument returns what a match in the text from byte i on says is the secret: its group, or the argument behind it.
func (s *scan) argument(text []byte, i int, at []int) lit {
	for group := 2; group < len(at); group += 2 {
		if at[group] >= 0 {
			return lit{from: i + at[group], to: i + at[group+1]}
		}
	}
	from := i + at[1]
	if isQuote(text[from-1]) {
		from--
	}
	if from == len(text) || text[from] <= ' ' {
		return lit{}
	}
	return s.literal(text, from)
}
