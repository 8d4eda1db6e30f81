package prose

import (
	"strings"

	"ccd/compactor/lexicon"
)

// indentOf counts the columns of white space before a line's text, a tab as four.
func indentOf(line string) int {
	n := 0
	for i := range len(line) {
		switch line[i] {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return n
}

// keyLen is how long the key of a line `key: value` is, 0 where the line is none: a name without spaces.
func keyLen(t string) int {
	i := 0
	for i < len(t) && lexicon.ClassOf(t[i])&(lexicon.Letters|lexicon.Digit|lexicon.Under|lexicon.Hyphen|lexicon.Dot|lexicon.Slash) != 0 {
		i++
	}
	if i == 0 || i == len(t) || t[i] != ':' || lexicon.ClassOf(t[0])&(lexicon.Letters|lexicon.Under) == 0 {
		return 0
	}
	if i+1 < len(t) && t[i+1] != ' ' {
		return 0
	}
	return i
}

// isKeyLine reports whether a trimmed line may be one of YAML: a key that begins small, or an item that holds one.
func isKeyLine(t string) bool {
	t = strings.TrimPrefix(t, "- ")
	n := keyLen(t)
	return n > 0 && lexicon.ClassOf(t[0])&lexicon.Upper == 0
}

// isRow reports whether a trimmed line is a row of a table.
func isRow(t string) bool {
	switch t[0] {
	case '|':
		return t[len(t)-1] == '|' && len(t) > 2 || strings.Count(t, " | ") > 1
	case 0xe2:
		return strings.HasPrefix(t, "│") || strings.HasPrefix(t, "┌") || strings.HasPrefix(t, "├")
	case '+':
		return strings.HasPrefix(t, "+--")
	}
	i := strings.IndexByte(t, '|')
	return i > 0 && strings.Count(t[i-1:], " | ") > 1
}

// hasColumns reports whether a line's words stand in three columns or more, parted by tabs or wide gaps.
func hasColumns(t string) bool {
	if strings.IndexByte(t, '\t') < 0 && !strings.Contains(t, "  ") {
		return false
	}
	columns, last := 1, -9
	for i := 0; i < len(t); i++ {
		wide := t[i] == '\t' || t[i] == ' ' && i+1 < len(t) && t[i+1] == ' '
		if !wide {
			continue
		}
		for i+1 < len(t) && (t[i+1] == ' ' || t[i+1] == '\t') {
			i++
		}
		if i-last > 1 && i+1 < len(t) {
			columns++
		}
		last = i
	}
	return columns >= 3
}

// statusStarts begin a line that tells how one step ended.
var statusStarts = byFirst([]string{
	"PASS", "FAIL", "OK", "ok ", "not ok ", "ERROR", "Error", "error", "WARN", "Warning", "warning", "SKIP", "DONE", "FATAL",
	"panic:", "✓", "✔", "✗", "✘", "✖", "×", "[ok]", "[OK]", "[PASS]", "[FAIL]", "[ERROR]", "[WARN", "[x]", "[ ]", "---", "===",
	"npm ", "Tests:", "Test Suites:", "Total", "Finished", "BUILD", "Ran ", "INFO", "DEBUG", "[INFO", "TRACE", "NOTE",
})

// byFirst sorts texts into lists by their first byte.
func byFirst(list []string) (t [256][]string) {
	for _, s := range list {
		t[s[0]] = append(t[s[0]], s)
	}
	return t
}

// isStatus reports whether a trimmed line tells how one step ended.
func isStatus(t string) bool {
	for _, s := range statusStarts[t[0]] {
		if strings.HasPrefix(t, s) {
			next := len(s) == len(t) || lexicon.ClassOf(t[len(s)])&lexicon.Letters == 0 || lexicon.ClassOf(s[len(s)-1])&lexicon.Letters == 0
			return next
		}
	}
	return false
}

// isLogged reports whether a trimmed line begins with a date, a time or a stamp in brackets.
func isLogged(t string) bool {
	t = strings.TrimLeft(t, "[(")
	if len(t) < 8 || t[0]-'0' >= 10 || t[1]-'0' >= 10 {
		return false
	}
	return t[2] == ':' && t[5] == ':' || t[4] == '-' && t[7] == '-' || t[4] == '/' && t[7] == '/'
}

// isVerse reports whether a trimmed line may be one of verse: three words or more after a capital, no mark of prose,
// of code or of a report in it, and no end of a sentence.
func isVerse(t string) bool {
	if len(t) < 12 || len(t) > 80 || lexicon.ClassOf(t[0]) != lexicon.Upper && lexicon.ClassOf(t[0]) != lexicon.High {
		return false
	}
	words := 1
	for i := range len(t) {
		switch k := lexicon.ClassOf(t[i]); {
		case t[i] == ' ':
			words++
		case k&(lexicon.Letters|lexicon.High) != 0, t[i] == ',', t[i] == '\'', t[i] == '-' && i+1 < len(t), t[i] == ';' && i+1 == len(t):
		default:
			return false
		}
	}
	return words >= 3 && lexicon.ClassOf(t[1])&(lexicon.Small|lexicon.High|lexicon.Gap|lexicon.Quote) != 0
}
