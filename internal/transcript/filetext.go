package transcript

import (
	"strconv"
	"strings"
)

// FileText returns the file's own lines from the text of a Read result, without the line numbers that the tool puts
// before each ("   12→" in older versions, "12\t" in newer ones) and without what follows them (reminders). The lines
// are joined by newline; whether the last one had a line end is not told. ok is false where the text is not of that
// form, or its numbers do not follow each other.
func FileText(result string) (content string, firstLine int, ok bool) {
	var b strings.Builder
	b.Grow(len(result))
	next := 0
	for line := range strings.Lines(result) {
		n, text, numbered := numberedLine(strings.TrimSuffix(line, "\n"))
		if !numbered || (next > 0 && n != next) {
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
