package prose

import "strings"

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

// fenceOf is the fence that a line consists of or begins with, "" where it is none: three or more backticks or tildes,
// at any depth. A closing fence is at least as long as the open one and stands alone.
func fenceOf(line, open string) string {
	t := strings.TrimLeft(line, " \t>")
	if len(t) < 3 || t[0] != '`' && t[0] != '~' {
		return ""
	}
	n := 1
	for n < len(t) && t[n] == t[0] {
		n++
	}
	switch {
	case n < 3:
		return ""
	case open == "" && t[0] == '`' && strings.IndexByte(t[n:], '`') >= 0:
		return "" // inline code
	case open != "" && (t[0] != open[0] || n < len(open) || strings.TrimSpace(t[n:]) != ""):
		return ""
	}
	return t[:n]
}

// bulletLen is how many bytes of a trimmed line are its bullet or its number, 0 where it has none.
func bulletLen(t string) int {
	if len(t) > 1 && (t[0] == '-' || t[0] == '*' || t[0] == '+') && t[1] == ' ' {
		return 2
	}
	if strings.HasPrefix(t, "• ") {
		return len("• ")
	}
	return numberLen(t)
}

// numberLen is how many bytes of a trimmed line are the number of a step: `1. ` or `2) `.
func numberLen(t string) int {
	i := 0
	for i < len(t) && i < 4 && t[i]-'0' < 10 {
		i++
	}
	if i == 0 || i+1 >= len(t) || t[i] != '.' && t[i] != ')' || t[i+1] != ' ' {
		return 0
	}
	return i + 2
}

// keyLen is how long the key of a line `key: value` is, 0 where the line is none: a name without spaces.
func keyLen(t string) int {
	i := 0
	for i < len(t) && classOf[t[i]]&(letterBytes|digitByte|underByte|hyphenByte|dotByte|slashByte) != 0 {
		i++
	}
	if i == 0 || i == len(t) || t[i] != ':' || classOf[t[0]]&(letterBytes|underByte) == 0 {
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
	return n > 0 && classOf[t[0]]&upperByte == 0
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

// IsFrame reports whether a trimmed line is a frame of a stack.
func IsFrame(t string) bool {
	switch {
	case strings.HasPrefix(t, "at "):
		return strings.HasSuffix(t, "(Native Method)") || afterColon(strings.TrimSuffix(t, ")"))
	case strings.HasPrefix(t, `File "`):
		return strings.Contains(t, `", line `)
	case strings.HasPrefix(t, "goroutine "):
		return strings.HasSuffix(t, "]:")
	}
	return false
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
			next := len(s) == len(t) || classOf[t[len(s)]]&letterBytes == 0 || classOf[s[len(s)-1]]&letterBytes == 0
			return next
		}
	}
	return false
}

// IsPlaced reports whether a trimmed line begins with a place: `path:12:` or `path:12:3:`.
func IsPlaced(t string) bool {
	i := strings.IndexByte(t, ':')
	if i < 1 || i > longestName || i+1 >= len(t) || t[i+1]-'0' >= 10 || strings.IndexByte(t[:i], ' ') >= 0 {
		return false
	}
	return strings.ContainsAny(t[:i], "./") && hasLetter(t[:i])
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
	if len(t) < 12 || len(t) > 80 || classOf[t[0]] != upperByte && classOf[t[0]] != highByte {
		return false
	}
	words := 1
	for i := range len(t) {
		switch k := classOf[t[i]]; {
		case t[i] == ' ':
			words++
		case k&(letterBytes|highByte) != 0, t[i] == ',', t[i] == '\'', t[i] == '-' && i+1 < len(t), t[i] == ';' && i+1 == len(t):
		default:
			return false
		}
	}
	return words >= 3 && classOf[t[1]]&(smallByte|highByte|gapByte|quoteByte) != 0
}
