package transcript

import (
	"slices"
	"strconv"
	"strings"
)

// FileText returns the file's own lines from the text of a Read result, without the line numbers that the tool puts
// before each ("   12→" in older versions, "12\t" in newer ones) and without what follows them (reminders, the marker of
// a demoted output). The lines are joined by newline; whether the last one had a line end is not told. ok is false where
// the text is not of that form, or its numbers do not follow each other.
func FileText(result string) (content string, firstLine int, ok bool) {
	var b strings.Builder
	b.Grow(len(result))
	next := 0
	for line := range strings.Lines(result) {
		n, text, numbered := numberedLine(strings.TrimSuffix(line, "\n"))
		if !numbered || (next > 0 && n != next) || demotion(text) != "" {
			break
		}
		if next == 0 {
			firstLine = n
		} else {
			b.WriteByte('\n')
		}
		b.WriteString(text)
		next = n + 1
	}
	return b.String(), firstLine, next > 0
}

// numberedLine divides "  12→text" or "12\ttext".
func numberedLine(line string) (n int, text string, ok bool) {
	digits := strings.TrimLeft(line, " ")
	end := 0
	for end < len(digits) && end < 10 && digits[end] >= '0' && digits[end] <= '9' {
		end++
	}
	if end == 0 {
		return 0, "", false
	}
	n, err := strconv.Atoi(digits[:end])
	if err != nil {
		return 0, "", false
	}
	if text, ok = strings.CutPrefix(digits[end:], "→"); ok {
		return n, text, true
	}
	text, ok = strings.CutPrefix(digits[end:], "\t")
	return n, text, ok
}

// The reading tool of Claude Code stops after so many lines where it is given no limit, and cuts longer lines; chars.
const (
	readLines = 2000
	readLine  = 2000
)

// Reading is what the result of a call tells of the one file that it reads: the zero Content where it tells nothing for
// certain. Line ends are newlines: whether a file has others, the result does not tell.
func Reading(tool string, a *Action, o *Outcome) Content {
	switch {
	case o.Failed || o.Rejected || o.Images > 0 || o.Spilled != "" || len(a.Files) != 1 || a.Files[0].Op != Read:
		return Content{}
	case a.Op == Read:
		return numbered(o.Text, a.Lines[1])
	case a.Op == Command && o.HasExit && o.Exit == 0 && !strings.EqualFold(tool, "bash"): // whose output comes trimmed
		return printed(a.Command, o.Text)
	}
	return Content{}
}

// numbered reads a result with line numbers. It goes up to the file's end where nothing else follows and fewer lines
// came than were asked for.
func numbered(result string, limit int) (c Content) {
	if limit <= 0 {
		limit = readLines
	}
	next, count, used := 0, 0, 0
	for line := range strings.Lines(result) {
		n, text, ok := numberedLine(strings.TrimSuffix(line, "\n"))
		if !ok || (next > 0 && n != next) || demotion(text) != "" {
			break
		}
		next, count, used = n+1, count+1, used+len(line)
		last := len(c.parts) - 1
		switch {
		case len(text) >= readLine: // perhaps cut
		case last >= 0 && c.parts[last].end() == n:
			c.parts[last].lines = append(c.parts[last].lines, text)
		default:
			c.parts = append(c.parts, stretch{n, []string{text}})
		}
	}
	rest := strings.TrimSpace(result[used:])
	if count > 0 && count < limit && (rest == "" || strings.HasPrefix(rest, "<system-reminder>")) {
		c.total = next - 1
	}
	return c
}

// printed reads what a single plain command prints of a file: cat, nl, head or sed -n.
func printed(cmd, text string) Content {
	list, ok := parseShell(cmd)
	lower := strings.ToLower(text)
	if !ok || len(list) != 1 || len(list[0].pipe) != 1 || strings.Contains(lower, "truncated") || strings.Contains(lower, "omitted") {
		return Content{}
	}
	name, args := list[0].pipe[0].name()
	from, lines := 1, 1<<30
	switch {
	case name == "cat" && len(args) == 1:
	case name == "nl", name == "cat" && len(args) == 2 && args[0].text == "-n":
		c := numbered(text, lines)
		c.total = 0 // how the last line ends is not told
		return c
	case name == "head":
		if _, lines = linesArgs(args); lines < 1 {
			return Content{}
		}
	case name == "sed":
		a, b, _, ok := printArgs(args)
		if !ok {
			return Content{}
		}
		from, lines = a, b-a+1
	default:
		return Content{}
	}
	body, ended := strings.CutSuffix(text, "\n")
	if text == "" {
		return Content{}
	}
	c := Some(from, body, true)
	if count := len(c.parts[0].lines); ended && count < lines {
		c.parts[0].lines = append(slices.Clip(c.parts[0].lines), "")
		c.total = from + count
	}
	return c
}
