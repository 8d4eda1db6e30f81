package lexicon

import "strings"

// FenceOf returns the fence that a line consists of or begins with, "" if there is none: three or more backticks or tildes, at
// any indentation. open is the fence that is open before the line, or "". A closing fence is at least as long and alone in its
// line.
func FenceOf(line, open string) string {
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

// Fences tracks which lines of a text are fenced code. Its zero value is for the start of a text.
type Fences struct{ open string }

// Line takes the next line. fence reports that it is a fence; code, that a fence is open after it.
func (f *Fences) Line(line string) (fence, code bool) {
	if found := FenceOf(line, f.open); found != "" {
		if f.open != "" {
			found = ""
		}
		f.open = found
		return true, f.open != ""
	}
	return false, f.open != ""
}

// BulletLen returns the length in bytes of the bullet or number of a trimmed line, 0 if it has none.
func BulletLen(t string) int {
	if len(t) > 1 && (t[0] == '-' || t[0] == '*' || t[0] == '+') && t[1] == ' ' {
		return 2
	}
	if strings.HasPrefix(t, "• ") {
		return len("• ")
	}
	return NumberLen(t)
}

// mostDigits is the maximum number of digits of a list item's number, less than a year has.
const mostDigits = 3

// NumberLen returns the length in bytes of a step's number in a trimmed line: `1. ` or `2) `.
func NumberLen(t string) int {
	i := 0
	for i < len(t) && i < mostDigits && t[i]-'0' < 10 {
		i++
	}
	if i == 0 || i+1 >= len(t) || t[i] != '.' && t[i] != ')' || t[i+1] != ' ' {
		return 0
	}
	return i + 2
}

// IsRule reports whether a trimmed line is a rule, or the rule below the head of a table.
func IsRule(t string) bool { return strings.Trim(t, "-=*_|:+ ") == "" }

// LeadLen returns the length in bytes of the bullet, heading or quote marks at the start of a trimmed line, 0 if nothing follows
// them.
func LeadLen(t string) int {
	rest := strings.TrimLeft(t, "#> \t")
	if n := BulletLen(rest); n > 0 && n < len(rest) {
		rest = strings.TrimLeft(rest[n:], " ")
		for _, box := range []string{"[ ] ", "[x] "} {
			rest = strings.TrimPrefix(rest, box)
		}
	}
	if rest == "" {
		return 0
	}
	return len(t) - len(rest)
}

// Leads reports whether a line ends in a colon, so that it means little without what follows.
func Leads(s string) bool {
	s = strings.TrimRight(s, "*_ ")
	return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：")
}

// AllLines counts the lines of a text, including blank ones.
func AllLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
