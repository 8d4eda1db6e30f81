package redact

import (
	"bytes"
	"go/ast"
	"go/parser"
	"slices"
	"strings"
	"sync"
)

// lit is a value as it is written.
type lit struct {
	from, to int  // from < 0: there is none
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
	if i < len(text) && strings.IndexByte("!|>[", text[i]) >= 0 {
		at := opening().FindSubmatchIndex(text[i:min(len(text), i+maxGap)])
		if at[2] >= 0 {
			l.quote = text[i+at[2]]
		}
		i += at[1]
	}
	if i >= len(text) || text[i] == '\n' {
		return lit{from: -1}
	}
	end := min(len(text), i+s.most())
	l.from, l.to, l.end = quotedAt(text[:end], i)
	switch {
	case l.end > 0 && l.quote == 0:
		l.quote = text[i]
	case l.end == 0:
		if isQuote(text[i]) { // it is not closed
			i++
		}
		if i == len(text) {
			return lit{from: -1}
		}
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

var (
	// opening matches what may be before a value: the signs of a tag, a block or a list.
	opening = lazy(`^(?:!\w+ )?(?:([|>])[+-]?\n *|\[["'])?`)

	inQuotes = lazy(`^(?:[fFrRbBuU@$&]{0,2}"((?:[^"\\\n]|\\.)*)"|[fFrRbBuU@$&]{0,2}'((?:[^'\\\n]|\\.|'')*)'|` + "`([^`\n]*)`|“([^”\n]*)”|«([^»\n]*)»)")
)

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

var (
	// reference matches a value that is the name of one: $NAME, ${NAME}, $(command), {{ name }}, %NAME%, <name>.
	reference = lazy(`^(?:\$(?:[A-Z_][A-Z0-9_]*|[a-z_][a-z0-9_]*|[a-z]+(?:[A-Z][a-z]+)*|\d+$|\()|%[A-Za-z_]\w*%$|%[sdvqr](?:$|\W)|<[^<>]*>?[.,;:]?$|@[A-Z_]+@$|\{[\w.:!-]*\}$|-----|` +
		`\w{0,12}-?[\w-]{0,12}(?:\.\.\.|…)|(?:[\w-]*[_-])?[xX]{3,}|[xX*.•_-]+$|!?(?:\[?env|vault|secretref|ref|file|op):)|[$#]\{|\{\{|<%|%\(\w+\)s|(?:^|[_ -])(?i:your)[_ -]|\$\{\{`)

	version = lazy(`^[\^~<>=v ]*\d+(?:\.[\dx*]+)+(?:[-+.][\w.+-]*)?$|^(?:npm|workspace|link):`)
	address = lazy(`^[a-z][a-z+.-]*://[^@\s]*$`)
	title   = lazy(`^[A-Z][a-z]+$`)
	number  = lazy(`^[-+]?(?:0x[0-9a-fA-F]+|[\d.,:_]+)[a-zA-Z%]?$`)
	hashes  = lazy(`^(?i)(?:sha|md|utf|base|u?int|float|oauth|http|tls|ed|rsa|aes|[hrep]s|ipv|[vxhpk])-?\d{1,5}(?:[-_/.]\w{1,8})?$`)

	// path matches paths and addresses of words.
	path     = lazy(`^(?:[a-z][a-z+.-]*://|arn:|urn:|[A-Za-z]:\\|(?:~|\.{1,2})?/)?(?:[\w@.{}:*-]*[/\\])+[\w.{}*?=&#%:-]*$`)
	anchored = lazy(`^(?:(?:~|\.{1,2})?/|[A-Z]:\\)`)
	// words matches words joined in any style of names.
	wordy = lazy(`^[$@:&*!_-]*(?:[A-Z]?[a-z]+|[A-Z]+)(?:[_.:-]*(?:[A-Z]?[a-z]+|[A-Z]+))*[_?!]*\d{0,2}$`)
	call  = lazy(`^(?:[$@&*!]?[A-Za-z_][\w]*(?:\.|::|->|\?\.|!\.)?)+(?:<[\w, <>]*>)?[!?]?[(\[{]`)
	ident = lazy(`^_*[A-Za-z]+\d{0,3}(?:[_.:]+[A-Za-z]+\d{0,3}|[A-Z][a-z]{2,}\d{0,2})*_*$`)
	camel = lazy(`^[A-Z][a-z]+(?:[A-Z][a-z]+)+$|^[a-z]+(?:[A-Z][a-z]+)+$`)
)

// isSecret reports whether a value in such a place is a secret of a kind.
func (r *Rules) isSecret(value []byte, kind string, in place, quoted bool) bool {
	value = value[:min(len(value), maxBefore)]
	if has := sorts(value); in == nowhere || len(value) < leastValue || in < inConfig && has&(digit|separator) == 0 ||
		in == inCode && !mixed(value) && (len(value) < 16 || !isHex(value)) || r.isNone(value) {
		return false
	}
	if quoted && title().Match(value) || number().Match(value) && (kind != passwordKind || in < inConfig || bytes.ContainsAny(value, ".,:")) {
		return false
	}
	if bytes.IndexByte(value, ' ') >= 0 && in < certain && (!quoted || kind != passwordKind || in < inConfig || sentence().Match(value)) {
		return false
	}
	if in >= inConfig {
		listed := in == certain && bytes.IndexByte([]byte("([{"), value[0]) >= 0
		return !(anchored().Match(value) && isPath(value)) && (quoted || listed || !isExpr(value))
	}
	return isOdd(value, kind, in, quoted)
}

// isOdd reports whether a value in a text or in code is no word, path, name or call.
func isOdd(value []byte, kind string, in place, quoted bool) bool {
	if len(value) < 5 || isPath(value) || !quoted && isExpr(value) || hashes().Match(value) {
		return false
	}
	if in == inText {
		return mixed(value) || kind == passwordKind || !wordy().Match(bytes.TrimRight(value, "0123456789"))
	}
	bracket := bytes.ContainsAny(value, "()[]{}<>|")
	return len(value) >= 8 && (!bracket && bytes.IndexByte(value, '\\') < 0 || quoted && !(bracket && bytes.IndexByte(value, '\\') >= 0))
}

// isNone reports whether a value stands for a secret, or is none wherever it is.
func (r *Rules) isNone(value []byte) bool {
	if bytes.ContainsAny(value, "$<{%@[.*!:-") || bytes.HasPrefix(bytes.ToLower(value), []byte("xx")) || value[0] >= 0x80 {
		if reference().Match(value) || version().Match(value) || address().Match(value) {
			return true
		}
	}
	return stands(value) || isName(value) || r.isShown(value)
}

// stands reports whether a value consists of words for a secret, or for its type.
func stands(value []byte) bool {
	for word := range bytes.FieldsFuncSeq(value, func(c rune) bool { return strings.ContainsRune("_-. ,;/!?", c) }) {
		if _, ok := placeholders()[string(bytes.ToLower(word))]; !ok {
			return false
		}
	}
	return true
}

var placeholders = sync.OnceValue(func() map[string]struct{} {
	all := map[string]struct{}{}
	for _, w := range words()["stands"] {
		all[w] = struct{}{}
	}
	return all
})

// sentence matches several words of a text.
var sentence = lazy(`^(?:["'(\[]*[A-Z]?[a-z'-]+[.,:;!?)\]"'…]*(?: |$))+$`)

// isName reports whether a value is the name of a secret itself.
func isName(value []byte) bool {
	kind, _ := says(value)
	return kind != "" && nameOnly().Match(value)
}

var nameOnly = lazy(`^(?:[$@:&*]?[A-Za-z_]+\.)*[\p{L}_-]+\d?$`)

// isPath reports whether a value is a path or an address whose parts are words. Base64 has slashes as well.
func isPath(value []byte) bool {
	if !path().Match(value) {
		return false
	}
	for part := range bytes.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(`/\.:-_`, r) }) {
		if mixed(part) && len(part) > 3 {
			return false
		}
	}
	return true
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
	return has&digit != 0 && has&(upper|lower) != 0 && (has&(upper|lower) == upper|lower || has&separator != 0 || len(text) >= 8 && (changes(text) > 2 || isHex(text) || changes(text) > 1 && digitsIn(text) > 3))
}

func digitsIn(text []byte) (n int) {
	for _, c := range text {
		n += int(classes[c] & digit / digit)
	}
	return n
}

// changes counts where letters and digits follow each other.
func changes(text []byte) (n int) {
	for i := 1; i < len(text); i++ {
		if a, b := classes[text[i-1]], classes[text[i]]; a&b&alnum != 0 && (a^b)&digit != 0 {
			n++
		}
	}
	return n
}

func isHex(value []byte) bool {
	return !slices.ContainsFunc(value, func(c byte) bool { return classes[c]&hexDigit == 0 })
}

// access makes one operator of what languages write between a value and its member.
var access = strings.NewReplacer("->", ".", "::", ".", "?.", ".", "!.", ".", "$", "", "@", "", "'", `"`)

// isExpr reports whether a value in no quotes is an expression of a programming language: a call, a member, an operation on words.
func isExpr(value []byte) bool {
	if n := bytes.IndexAny(value, "([{"); n > 0 && call().Match(value) && ident().MatchString(strings.TrimRight(access.Replace(string(value[:n])), ".")) || bytes.IndexByte([]byte("([{"), value[0]) >= 0 || bytes.HasPrefix(value, []byte("&")) && wordy().Match(value) {
		return true
	}
	if !bytes.ContainsAny(value, ".-+*/&|:>") {
		return false
	}
	e, err := parser.ParseExpr(access.Replace(string(bytes.TrimRight(value, ",;"))))
	if err != nil {
		return false
	}
	words := true
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			words = words && ident().MatchString(id.Name)
		}
		return words
	})
	_, binary := e.(*ast.BinaryExpr)
	_, plain := e.(*ast.BasicLit)
	return words && !plain && (!binary || bytes.IndexByte(value, '-') < 0)
}
