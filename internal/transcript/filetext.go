package transcript

import (
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"
)

// numberedLines yields the lines at the beginning of a result that have consecutive numbers.
func numberedLines(result string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		next := 0
		for line := range strings.Lines(result) {
			n, text, ok := numberedLine(strings.TrimSuffix(line, "\n"))
			if !ok || next > 0 && n != next || demotion(text) != "" || !yield(n, text) {
				return
			}
			next = n + 1
		}
	}
}

// numberedLine splits "  12→text" or "12\ttext".
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

// Limits of Claude Code's reading tool: lines without an explicit limit, and chars of a line.
const (
	readLines = 2000
	readLine  = 2000
)

// Reading returns what the result of a call shows of the one file that it reads, or the zero Content if that is
// uncertain. Line ends are newlines, because the result does not show others.
func (c *Client) Reading(tool string, a *Action, o *Outcome) Content {
	switch {
	case o.Failed || o.Rejected || o.Images > 0 || o.Spilled != "" || len(a.Files) != 1 || a.Files[0].Op != Read:
		return Content{}
	case a.Op == Read && c.Bare != nil:
		if o.Text == "" || strings.ContainsRune(o.Text, utf8.RuneError) { // nothing recorded, or not text
			return Content{}
		}
		return c.Bare(a, o.Text)
	case a.Op == Read:
		return numbered(o.Text, a.Lines[1])
	case a.Op == Command && o.HasExit && o.Exit == 0 && !strings.EqualFold(tool, "bash"): // Bash's output is trimmed
		return printed(a.Command, o.Text)
	}
	return Content{}
}

// numbered reads the first lines of a result with line numbers. It reaches the end of the file if nothing follows and there
// are fewer lines than requested.
func numbered(result string, limit int) Content {
	if limit <= 0 {
		limit = readLines
	}
	first, count, cut, rest := 0, 0, false, result
	var lines []string
	for n, text := range numberedLines(result) {
		if count == 0 {
			first = n
		}
		if cut = cut || len(text) >= readLine; !cut { // perhaps truncated
			lines = append(lines, text)
		}
		count++
		_, rest, _ = strings.Cut(rest, "\n")
	}
	if len(lines) == 0 {
		return Content{}
	}
	rest = strings.TrimSpace(rest)
	return Some(first, strings.Join(lines, "\n"), cut || count >= limit || rest != "" && !strings.HasPrefix(rest, "<system-reminder>"))
}

// printed reads the output of one plain command that prints a file: cat, nl, head or sed -n.
func printed(cmd, text string) Content {
	list, ok := parseShell(cmd)
	lower := strings.ToLower(text)
	if !ok || len(list) != 1 || strings.Contains(lower, "truncated") || strings.Contains(lower, "omitted") {
		return Content{}
	}
	name, args := list[0].name()
	from, lines := 1, 1<<30
	switch {
	case name == "cat" && len(args) == 1:
	case name == "nl", name == "cat" && len(args) == 2 && args[0].text == "-n":
		c := numbered(text, lines)
		c.end = false // unknown whether the last line has a newline
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
	switch {
	case text == "":
		return Content{}
	case ended && strings.Count(text, "\n") < lines:
		return Some(from, text, false)
	}
	return Some(from, body, true)
}
