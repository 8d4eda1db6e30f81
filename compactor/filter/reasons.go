package filter

import (
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/lazy"
)

// symbolsIn counts the bytes that do not occur in prose, except Markdown.
func symbolsIn(s string) int {
	n := 0
	for i := range len(s) {
		switch s[i] {
		case '{', '}', '[', ']', '<', '>', '=', '+', '\\', '|', '^', '~', '@', '$', '%', '&', ';':
			n++
		}
	}
	return n
}

// looksJSON matches a text that begins like a JSON object or array.
var looksJSON = lazy.Regexp(`^\s*(?:\{\s*(?:\}|"[^"]*"\s*:)|\[\s*(?:[{"\[]|-?[\d.eE-]+\s*,|(?:true|false|null),))`)

// latex matches a command with its argument, a display, or a formula between dollars: one or two signs, or more with an
// operator among them.
var latex = lazy.Regexp(`(?:^|[^A-Za-z0-9:.])\\[A-Za-z]{2,}[{_^]|\$\$.+\$\$|^\s*\$\$\s*$|` +
	`\$[^\s\d(){}\[\]<>$"](?:[^\s$"]?|[^$"]*[\\^_=+<>][^$"]*[^\s$"])\$(?:$|[^\w(){}\[\]<>/])`)

// name is one name of a program, with dots, arrows and indices in it.
const name = `[A-Za-z_$][\w$.:()\[\]{}<>-]*`

// codeLine matches a line of source code in the usual languages: a call, a tag, an assignment, or a word that begins a
// line with what must stand in the rest of it for it to be no prose.
var codeLine = lazy.Regexp(`^(?:` + strings.Join([]string{
	name + `\(.*\)$`, `</?[A-Za-z].*>$`, `[^(].*\(.*\):$`, `@` + name + `$`,
	name + ` ?[:+*/|&-]*=.`, name + ` ` + name + ` ?[:+*/|&-]*= `,
	`import .*["'.{;_/]`, `from .* import `, `package .*[;.]`, `#include.*["<]`, `using .*;`, `use .*[;:]`,
	`(?:func|function|def|async|await|fn|raise|defer|go) .*\(`, `(?:class|else|try|elif|case|except)\b.*[({:]$`,
	`(?:struct|enum|interface|impl|switch|catch) .*\{`, `(?:if|for|while)\b.*[{)]`, `type .*[={]`, `(?:const|let|var|val|local) .*=`,
	`return .*[;(={\[]`, `(?:public|private|protected|static) .*[({;=]`, `export .*[={;(]`, `pub .*[({;]`, `throw .*[;(]`, `namespace .*[{;]`,
	`template ?<`, `typedef .*;`, `module .*[{.]`, `echo .*[$"']`, `diff .*--git`, `@@ .*@@`, `(?:#define|//|/\*|\*/|#!|<!--|<\?)(?: |$)`,
}, "|") + `)`)

// isCode reports whether a trimmed line looks like source code.
func isCode(t string) bool {
	t = t[:min(len(t), LongestName)]
	last := t[len(t)-1]
	switch {
	case last == '{', last == '}', strings.Trim(t, "{}[]();,") == "":
		return true
	case lexicon.BulletLen(t) > 0:
		return false
	case last == ';' && (strings.ContainsAny(t, "=(){}[]<>:\"'") || !strings.Contains(t, " ")):
		return true
	case t[0] == '"' && strings.IndexByte(`,"'el]`, last) >= 0 && strings.Contains(t, `":`):
		return true
	}
	return codeLine().MatchString(t)
}

// maxStatement is how many bytes of an SQL statement are read.
const maxStatement = 600

// Statements of SQL: with their verb in capitals; in small letters where they could be nothing else; and such as need to
// begin a line.
var (
	capitalSQL = lazy.Regexp(`^(?:SELECT\b(?is:.* from )|UPDATE\b(?is:.* set [^,]*=)|(?:INSERT|MERGE|DELETE|ALTER|DROP|TRUNCATE)\b|CREATE(?i:` + created +
		`)|WITH\b(?is:.* as \(.*select ))`)
	smallSQL = lazy.Regexp(`(?is)^(?:select .* from .* where .*[=<>]|(?:insert|merge) .* values ?\(|create` + created + `.*[(;])`)
	lineSQL  = lazy.Regexp(`(?is)^(?:select (?:.*\*.* from |.*[(,].* from .*` + clause + `)|update \S+ set ` + name + ` ?=.|delete from .*` + clause +
		`.*[=<>']|(?:alter|drop|truncate) .*;)`)
)

const (
	created = `(?: or replace| temporary| temp| unique)* (?:table|index|view|trigger|schema|database|materialized view) `
	clause  = `(?: where | join | group by | order by | limit |;)`
)

// isSQL reports whether a text begins with an SQL statement.
func isSQL(text string, first bool) bool {
	text = strings.ReplaceAll(text[:min(len(text), maxStatement)], "\n", " ")
	return capitalSQL().MatchString(text) || smallSQL().MatchString(text) || first && lineSQL().MatchString(text)
}

// isBase64 reports whether a long word is encoded bytes: capitals, small letters and digits in no order. Hexadecimal
// digits, paths and names are not.
func isBase64(s string) bool {
	changes, marks := 0, 0
	var last, has lexicon.Class
	for i := range len(s) {
		k := lexicon.ClassOf(s[i])
		switch {
		case k&(lexicon.Slash|lexicon.Hyphen|lexicon.Under) != 0:
			marks++
		case k&(lexicon.Letters|lexicon.Digit|lexicon.Equals) == 0 && s[i] != '+':
			return false
		}
		if k != last {
			changes++
		}
		last = k
		has |= k
	}
	const all = lexicon.Letters | lexicon.Digit
	return has&all == all && changes*3 >= len(s) && marks*16 <= len(s)
}

// httpError matches the status of a failed request: 400 to 599, named as one before or behind.
var httpError = lazy.Regexp(`(?i)\b(?:http\S*|status|statuscode|status_code|code|error)[ :=(]*[45]\d\d\b|\b[45]\d\d (?:not found|bad request|unauthorized|forbidden|` +
	`method not allowed|request timeout|conflict|gone|payload too large|unprocessable|too many requests|internal server error|not implemented|bad gateway|` +
	`service unavailable|gateway timeout)\b`)

// isException reports whether a word with what follows it names a thrown exception: KeyError: ...
func isException(core, rest string) bool {
	return len(core) > 6 && (strings.HasSuffix(core, "Error") || strings.HasSuffix(core, "Exception")) && strings.HasPrefix(rest, ":")
}

// indentOf counts the columns of white space before a line's text, a tab as four.
func indentOf(line string) int {
	blank := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	return len(blank) + 3*strings.Count(blank, "\t")
}

// keyLine matches a line of YAML: a key that begins small, or an item that holds one.
var keyLine = lazy.Regexp(`^(?:- )?[a-z_][\w./-]*:(?: |$)`)

// isRow reports whether a trimmed line is a row of a table.
func isRow(t string) bool {
	for _, start := range []string{"│", "┌", "├", "+--"} {
		if strings.HasPrefix(t, start) {
			return true
		}
	}
	return t[0] == '|' && t[len(t)-1] == '|' && len(t) > 2 || strings.Count(t, " | ") > 1
}

// columns matches three words or more separated by tabs or wide gaps.
var columns = lazy.Regexp(`\S(?:  +|\t\s*)\S.*?(?:  +|\t\s*)\S`)

// hasColumns reports whether a line's words form three columns or more.
func hasColumns(t string) bool {
	return (strings.Contains(t, "  ") || strings.Contains(t, "\t")) && columns().MatchString(t)
}

// verse matches a line of three words or more after a capital, without a mark of prose, of code or of a report in it.
var verse = lazy.Regexp(`^(?:[A-Z][a-z' \pL]|\pL)[\pL,' -]*;?$`)

// isVerse reports whether a trimmed line may be one of verse.
func isVerse(t string) bool {
	c := lexicon.ClassOf(t[0])
	return len(t) >= 12 && len(t) <= 80 && (c == lexicon.Upper && lexicon.ClassOf(t[1])&(lexicon.Upper|lexicon.Digit) == 0 || c == lexicon.High) &&
		strings.Count(t, " ") >= 2 && t[len(t)-1] != '-' && verse().MatchString(t)
}
