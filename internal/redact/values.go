package redact

import (
	"bytes"
	"slices"
	"strings"
)

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

var inQuotes = lazy(`^(?:[fFrRbBuU@$&]{0,2}"((?:[^"\\\n]|\\.)*)"|[fFrRbBuU@$&]{0,2}'((?:[^'\\\n]|\\.|'')*)'|` + "`([^`\n]*)`|“([^”\n]*)”|«([^»\n]*)»)")

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

var (
	// reference matches a value that is the name of one: $NAME, ${NAME}, $(command), {{ name }}, %NAME%, <name>, or an address or version.
	reference = lazy(`^(?:\$(?:[A-Z_][A-Z0-9_]*|[a-z_][a-z0-9_]*|[a-z]+(?:[A-Z][a-z]+)*|\d+$|\()|%[A-Za-z_]\w*%$|%[sdvqr](?:$|\W)|<[^<>]*>?[.,;:]?$|@[A-Z_]+@$|\{[\w.:!-]*\}$|-----|\[redacted\b|` +
		`\w{0,12}-?[\w-]{0,12}(?:\.\.\.|…)|(?:[\w-]*[_-])?[xX]{3,}|[xX*.•_-]+$|![a-z]+$|!?(?:\[?env|vault|secretref|ref|file|op):)|[$#]\{|\{\{|<%|%\(\w+\)s|(?:^|[_ -])(?i:your)[_ -]|\$\{\{|` +
		`^[a-z][a-z+.-]*://[^@\s]*$|^[\^~<>=v ]*\d+(?:\.[\dx*]+)+(?:[-+.][\w.+-]*)?$|^(?:npm|workspace|link):`)

	title  = lazy(`^[A-Z][a-z]+$`)
	number = lazy(`^[-+]?(?:0x[0-9a-fA-F]+|[\d.,:_]+)[a-zA-Z%]?$`)
	// operand matches a call, a member of words, or a reference to a name.
	operand = lazy(`^[$@&*!+-]*_*[A-Za-z]+\d{0,3}(?:(?:[_.:]+|->|\?\.|!\.)[$@]?[A-Za-z]+\d{0,3}|[A-Z][a-z]{2,}\d{0,2})*_*(?:(?:<[\w, <>]*>)?[!?]?[(\[{]|[,;]*$)`)
	// sentence matches several words of a text.
	sentence = lazy(`^(?:["'(\[]*[A-Z]?[a-z'-]+[.,:;!?)\]"'…]*(?: |$))+$`)
	nameOnly = lazy(`^(?:[$@:&*]?[A-Za-z_]+\.)*[\p{L}_-]+\d?$`)
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
