package redact

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"ccd/internal/lazy"
)

const (
	leastValue = 4   // bytes
	maxName    = 64  // bytes of a name
	maxGap     = 24  // bytes between a name, a sign and a value
	maxLead    = 48  // bytes of a line that are looked at before a name or after a value
	maxBefore  = 256 // bytes of a text that are looked at before a value
	maxValue   = 4 << 10
)

// place says how sure the place of a value is that it is a secret.
type place int

const (
	nowhere  place = iota
	inCode         // only a value of random characters is one
	inText         // a value that is no word, name or path is one; of other names than passwords as in code
	inConfig       // any value is one that is no sentence
	certain        // any value is one
)

// found is a name that says that its value is a secret.
type found struct {
	*view
	from, end int  // the name
	at, to    int  // the sign between the name and its value
	sign      byte // '=' with blanks around it, 'a' without, and what else places calls look with
	kind      string
	is        names
	lit
}

// names are what rows can ask of a name.
type names int

const (
	weak    names = 1 << iota // it may say something else
	upperIs                   // it has no small letter
	quoted                    // it is in quotes
	quotes                    // its value is
	single                    // in such quotes: '
	paired                    // it is the value of another member
	dotted                    // it has a full stop
	foreign                   // it ends in another script
	private                   // it begins with _
	setting                   // a line with it and another word sets it
	told                      // "is" is behind it
	noName                    // it is none: by, Bearer
	short                     // it is "pass"
	phrase                    // its value may be several words
)

// row is a kind of places. The first one that matches is the value's.
type row struct {
	signs  string
	name   names // it is all of these
	not    names // it is none of these
	before func() *regexp.Regexp
	cut    string // a value in no quotes ends before one of these
	ends   string // it does not end with one of these
	after  string // what is next in the line: one of these bytes
	file   bool   // the lines around are those of a configuration
	is     place
}

const (
	leads = `^[ \t]*(?:[-*+#>$]+ +|\d+[.)] +|[+-])?(?i:(?:export|setx?|setenv|env|arg|-e|--env|local|declare -x|final|static) +|\$env:)*["'\x60*]*$`
	sql   = `(?i)\b(?:user|role|login|server|with|encrypted|set|for)\b[^;\n]*$`
)

const endLine = "\x00#" // or a comment

var first = lazy.Regexp(leads)

// rows are the places of values, the surest first.
var rows = []row{
	{signs: "=a:", name: paired, cut: ",}", is: inConfig},
	{signs: ">", cut: "<", after: "<", is: inConfig},
	{signs: "=a:", name: quoted | quotes, not: weak, before: lazy.Regexp(leads + `|[{,\[]\s*["'\x60]$`), is: inConfig},
	{signs: ":", before: lazy.Regexp(`\$\{$`), cut: "}", is: inConfig},
	{signs: "a", before: lazy.Regexp(`[?&%]$`), cut: "&#);,<>", is: inConfig},
	{signs: "a", name: weak, is: inText},
	{signs: "a", not: upperIs, before: lazy.Regexp(`;["']?$`), cut: ";", is: inConfig},
	{signs: "a", name: upperIs, before: lazy.Regexp(leads + `|[\s;&?"'\x60=]$`), cut: ";", is: certain},
	{signs: "a", name: private, before: lazy.Regexp(`:$`), is: inConfig},
	{signs: "a", before: lazy.Regexp(`-$`), is: certain},
	{signs: "a", before: lazy.Regexp(leads + `|^[^(<]* $`), ends: ",;)>", after: endLine, is: inConfig},
	{signs: "a", before: lazy.Regexp(`=$`), is: inConfig},
	{signs: "a", before: lazy.Regexp(`(?:^|[\s"';,])[\w.-]+=[^\s(,;]+(?:[ ;]+|,)$`), cut: ")]}", is: inConfig},
	{signs: "a", name: dotted, before: lazy.Regexp(`[\s"']$`), cut: ",", is: inConfig},
	{signs: "a", cut: ",;)]}&", is: inText},
	{signs: "=:", name: single, before: lazy.Regexp(sql), is: inConfig},
	{signs: "=:", name: short, before: first, after: endLine, file: true, is: inConfig},
	{signs: "=:", not: weak, before: first, after: endLine, file: true, is: inConfig},
	{signs: ":", name: foreign, before: first, after: endLine, is: inConfig},
	{signs: "=:", cut: ",;", is: inText},

	{signs: "-", after: "\x00#-|;&>\\]),", is: inConfig},
	{signs: "-", is: inText},

	{signs: " ", name: noName | quotes, is: inConfig},
	{signs: " (", name: single, before: lazy.Regexp(sql), is: inConfig},
	{signs: " ", before: lazy.Regexp(`\blogin\s+\S+\s+$`), is: inConfig},
	{signs: " ", before: lazy.Regexp(`(?i)(?:^|\s)(?:export|setx?(?: -\w+)*|setenv|env|arg)\s+$|\bconfig (?:set|create) .*$`), after: endLine, is: inConfig},
	{signs: " ", name: setting, after: endLine, is: inConfig},
	{signs: " ", name: told, is: inText},
	{signs: " ", name: upperIs, is: inText},
	{signs: " |", is: inCode},
	{signs: "(", name: quotes, is: inText},
	{signs: ",", name: quotes, before: lazy.Regexp(`(?i)(?:set|with|put|add|define|env|environ|variable|config|property|item|header|param|field|key|update|secret\w*)\(\s*["']$`), is: inText},
}

// plainWords matches words that are no sentence, as a passphrase is.
var plainWords = lazy.Regexp(`^[a-z]+(?:[ -][a-z]+){2,}$`)

// place says how sure the place of a value is, and cuts the value as the place says.
func (f *found) place() place {
	if f.quote != 0 {
		f.is |= quotes
	}
	if f.quote == '\'' {
		f.is |= single
	}
	before := f.text[max(0, f.from-2*maxLead):f.from]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	if f.sign != ' ' {
		before = line
	}
	for i := range rows {
		if r := &rows[i]; f.isAt(r, before) {
			sure := f.kind == passwordKind && f.is&(weak|short) != weak || f.sign == '-' || f.is&(upperIs|told) != 0 && f.is&weak == 0
			switch {
			case r.is == inText && !sure:
				return inCode
			case f.is&(phrase|quotes) == phrase|quotes && plainWords().Match(f.text[f.lit.from:f.lit.to]):
				return certain
			}
			return r.is
		}
	}
	return nowhere
}

// isAt reports whether a row is the value's, and cuts the value as it says.
func (f *found) isAt(r *row, before []byte) bool {
	if strings.IndexByte(r.signs, f.sign) < 0 || f.is&r.name != r.name || f.is&r.not != 0 {
		return false
	}
	whole := f.lit
	if n := bytes.IndexAny(f.text[f.lit.from:f.lit.to], r.cut); n >= 0 && f.quote == 0 {
		f.lit.to, f.lit.end = f.lit.from+n, f.lit.from+n
	}
	ended := f.quote == 0 && f.lit.to > f.lit.from && strings.IndexByte(r.ends, f.text[f.lit.to-1]) >= 0
	if !ended && (r.after == "" || strings.IndexByte(r.after, f.next()) >= 0) && (r.before == nil || r.before().Match(before)) && (!r.file || f.inFile()) {
		return true
	}
	f.lit = whole
	return false
}

// next returns the byte that follows the value in its line: 0 for none, # for a comment.
func (f *found) next() byte {
	rest := bytes.TrimLeft(f.text[f.lit.end:min(len(f.text), f.lit.end+maxLead)], " \t\r\"'`")
	switch {
	case len(rest) == 0, rest[0] == '\n':
		return 0
	case bytes.HasPrefix(rest, []byte("//")):
		return '#'
	}
	return rest[0]
}

var (
	camel = lazy.Regexp(`^(?:[A-Z][a-z]+|[a-z]+)(?:[A-Z][a-z]+)+$`)
	// settingLine matches a line of a configuration, neutral one that may be beside it.
	settingLine = lazy.Regexp(`^(?:- )?["']?[\w.$/-]+["']?(?:\s*=\s*|:\s+|:$)(?:"[^"]*"|'[^']*'|[^\s(){}\[\],;]*|\[[^\[\]()]*\])\s*(?:#.*)?$`)
	neutral     = lazy.Regexp("^(?:$|#|---|```|\\$ |\\[)")
)

// inFile reports whether the lines beside the name's are those of a configuration too.
func (f *found) inFile() bool {
	lines := bytes.Split(f.text[max(0, f.from-2*maxBefore):f.from], []byte("\n"))
	slices.Reverse(lines)
	if below := bytes.SplitN(f.text[f.lit.end:min(len(f.text), f.lit.end+maxBefore)], []byte("\n"), 3); len(below) > 1 {
		lines[0] = below[1]
	} else {
		lines[0] = nil
	}
	settings := 0
	for i, line := range lines {
		line = bytes.TrimSpace(line)
		same := bytes.IndexByte(line, f.text[f.at]) > 0 && settingLine().Match(line)
		ok := same || neutral().Match(line)
		switch {
		case !ok && i < 2:
			return false
		case same:
			settings++
		}
		if !ok || i == 1 && f.sign == ':' { // YAML has no sections
			break
		}
	}
	return settings > 0 && (f.quote != 0 || !camel().Match(f.text[f.lit.from:f.lit.to]))
}

// value marks a value if it is a secret in such a place.
func (s *scan) value(v *view, l lit, in place, kind string) {
	value := v.text[l.from:l.to]
	if l.quote == 0 && in < inConfig {
		value = bytes.TrimRight(value, ".,:;!?)]}>")
	}
	if s.rules.isSecret(value, kind, in, l.quote != 0 && l.quote != '`') {
		s.mark(v, l.from, l.from+len(value), kind)
	}
}

// lit is a value as it is written.
type lit struct {
	from, to int  // equal: there is none
	quote    byte // 0 if it is in no quotes
	end      int  // after its quotes
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
	blanks := text[i:min(len(text), i+maxGap)]
	i += len(blanks) - len(bytes.TrimLeft(blanks, " \t*"))
	if i == len(text) || text[i] == '\n' {
		return lit{from: i, to: i, end: i}
	}
	if strings.IndexByte("[!", text[i]) >= 0 {
		if at := wrapped().Find(text[i:min(len(text), i+maxGap)]); at != nil {
			i += len(at) - 1
		}
	}
	end := min(len(text), i+s.most())
	l.from, l.to, l.end = quotedAt(text[:end], i)
	if l.end > 0 {
		l.quote = text[i]
	} else {
		l.from, l.to = i, i
		for l.to < end && text[l.to] > ' ' && !isQuote(text[l.to]) {
			l.to++
		}
		l.end = l.to
	}
	s.spent += l.to - l.from
	return l
}

// wrapped matches what may be before a value in quotes: the bracket of a list, a tag of YAML.
var wrapped = lazy.Regexp(`^(?:\[ *|![a-z]+ +)(?:["'])`)

// quotedAt returns the text in the quotes that open at byte i, and their end, 0 if there are none.
func quotedAt(text []byte, i int) (from, to, end int) {
	if !isQuote(text[i]) && strings.IndexByte("fFrRbBuU@$&\xe2\xc2", text[i]) < 0 {
		return 0, 0, 0
	}
	at := inQuotes().FindSubmatchIndex(text[i:])
	for n := 2; n < len(at); n += 2 {
		if at[n] >= 0 {
			return i + at[n], i + at[n+1], i + at[1]
		}
	}
	return 0, 0, 0
}

var inQuotes = lazy.Regexp(`^(?:[fFrRbBuU@$&]{0,2}"((?:[^"\\\n]|\\.)*)"|[fFrRbBuU@$&]{0,2}'((?:[^'\\\n]|\\.|'')*)'|` + "`([^`\n]*)`|“([^”\n]*)”|«([^»\n]*)»)")

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

var (
	// reference matches a value that is the name of one: $NAME, ${NAME}, $(command), {{ name }}, %NAME%, <name>, or an address or version.
	reference = lazy.Regexp(`^(?:\$(?:[A-Z_][A-Z0-9_]*|[a-z_][a-z0-9_]*|[a-z]+(?:[A-Z][a-z]+)*|\d+$|\()|%[A-Za-z_]\w*%$|%[sdvqr](?:$|\W)|<[^<>]*>?[.,;:]?$|@[A-Z_]+@$|\{[\w.:!-]*\}$|-----|\[redacted\b|` +
		`\w{0,12}-?[\w-]{0,12}(?:\.\.\.|…)|(?:[\w-]*[_-])?[xX]{3,}|[xX*.•_-]+$|![a-z]+$|!?(?:\[?env|vault|secretref|ref|file|op):)|[$#]\{|\{\{|<%|%\(\w+\)s|(?:^|[_ -])(?i:your)[_ -]|\$\{\{|` +
		`^[a-z][a-z+.-]*://[^@\s]*$|^[\^~<>=v ]*\d+(?:\.[\dx*]+)+(?:[-+.][\w.+-]*)?$|^(?:npm|workspace|link):`)

	title  = lazy.Regexp(`^[A-Z][a-z]+$`)
	number = lazy.Regexp(`^[-+]?(?:0x[0-9a-fA-F]+|[\d.,:_]+)[a-zA-Z%]?$`)
	// operand matches a call, a member of words, or a reference to a name.
	operand = lazy.Regexp(`^[$@&*!+-]*_*[A-Za-z]+\d{0,3}(?:(?:[_.:]+|->|\?\.|!\.)[$@]?[A-Za-z]+\d{0,3}|[A-Z][a-z]{2,}\d{0,2})*_*(?:(?:<[\w, <>]*>)?[!?]?[(\[{]|[,;]*$)`)
	// sentence matches several words of a text.
	sentence = lazy.Regexp(`^(?:["'(\[]*[A-Z]?[a-z'-]+[.,:;!?)\]"'…]*(?: |$))+$`)
	nameOnly = lazy.Regexp(`^(?:[$@:&*]?[A-Za-z_]+\.)*[\p{L}_-]+\d?$`)
)

// isSecret reports whether a value in such a place is a secret of a kind.
func (r *Rules) isSecret(value []byte, kind string, in place, quoted bool) bool {
	value = value[:min(len(value), maxBefore)]
	if in == nowhere || len(value) < leastValue || r.isNone(value) || !quoted && isExpr(value, in) || quoted && title().Match(value) {
		return false
	}
	if number().Match(value) && (kind != passwordKind || in < inConfig || bytes.ContainsAny(value, ".,:")) {
		return false
	}
	if bytes.IndexByte(value, ' ') >= 0 && in < certain && (!quoted || kind != passwordKind || in < inConfig || sentence().Match(value)) {
		return false
	}
	if (in < inConfig || strings.IndexByte("/.~", value[0]) >= 0) && isPath(value) {
		return false
	}
	switch in {
	case inText:
		return len(value) > leastValue && sorts(value)&(digit|separator) != 0
	case inCode:
		bracket, escape := bytes.ContainsAny(value, "()[]{}<>|"), bytes.IndexByte(value, '\\') >= 0
		return len(value) >= 8 && (mixed(value) || len(value) >= 16 && isHex(value)) && (!bracket && !escape || quoted && !(bracket && escape))
	}
	return true
}

// isNone reports whether a value stands for a secret, or is none wherever it is.
func (r *Rules) isNone(value []byte) bool {
	if bytes.ContainsAny(value, "$<{%@[.*!:-") || bytes.HasPrefix(bytes.ToLower(value), []byte("xx")) || value[0] >= 0x80 {
		if reference().Match(value) {
			return true
		}
	}
	return stands(value) || isName(value) || r.isShown(value)
}

// stands reports whether a value consists of words for a secret, or for its type.
func stands(value []byte) bool {
	for word := range bytes.FieldsFuncSeq(value, func(c rune) bool { return strings.ContainsRune("_-. ,;/|!?>", c) }) {
		if !slices.Contains(words()["stands"], string(bytes.ToLower(word))) {
			return false
		}
	}
	return true
}

// isName reports whether a value is the name of a secret itself.
func isName(value []byte) bool {
	kind, _ := says(value)
	return kind != "" && nameOnly().Match(value)
}

// isPath reports whether a value is a path whose parts are words. Base64 has slashes as well.
func isPath(value []byte) bool {
	for part := range bytes.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(`/\.:-_`, r) }) {
		if mixed(part) && len(part) > 3 {
			return false
		}
	}
	return bytes.ContainsAny(value, `/\`)
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

// mixed reports whether a text has letters and digits, and of letters both cases or another character.
func mixed(text []byte) bool {
	has := sorts(text)
	if has&digit == 0 || has&(upper|lower) == 0 {
		return false
	}
	changes, digits := 0, 0 // how often letters and digits follow each other
	for i, c := range text {
		digits += int(classes[c] & digit / digit)
		if i > 0 && classes[text[i-1]]&classes[c]&alnum != 0 && (classes[text[i-1]]^classes[c])&digit != 0 {
			changes++
		}
	}
	return has&(upper|lower) == upper|lower || has&separator != 0 || len(text) >= 8 && (changes > 2 || isHex(text) || changes > 1 && digits > 3)
}

func isHex(value []byte) bool {
	return !slices.ContainsFunc(value, func(c byte) bool { return classes[c]&hexDigit == 0 })
}

// isExpr reports whether a value in no quotes is an expression of a programming language: a list, a call, a member.
func isExpr(value []byte, in place) bool {
	return in < certain && strings.IndexByte("([{", value[0]) >= 0 || bytes.ContainsAny(value, ".:>&([{") && operand().Match(value)
}
