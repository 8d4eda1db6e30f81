package transcript

import (
	"strings"
	"testing"
)

func TestFileText(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		first            int
		ok               bool
	}{
		{"arrow", "     1→package a\n     2→\n     3→// é\n", "package a\n\n// é", 1, true},
		{"tab", "9\tx\n10\ty", "x\ny", 9, true},
		{"reminder behind", "     1→a\n\n<system-reminder>\n     2→b\n</system-reminder>", "a", 1, true},
		{"a gap", "1\ta\n3\tb", "a", 1, true},
		{"tab in the line", "1\t\ta\r\n", "\ta\r", 1, true},
		{"no numbers", "package a\n", "", 0, false},
		{"empty", "", "", 0, false},
		{"a huge number", "99999999999999999999\ta", "", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, first, ok := FileText(c.text)
			if got != c.want || first != c.first || ok != c.ok {
				t.Errorf("FileText = %q, %d, %v", got, first, ok)
			}
		})
	}
}

// FileText returns the file's own lines from the text of a Read result, without line numbers ("   12→" in older
// versions, "12\t" in newer ones) and without what follows (reminders, the marker of a demoted output). Lines are
// joined by newline; the result does not show whether the last one had a newline. ok is false if the text has another
// form, or its numbers are not consecutive.
func FileText(result string) (content string, firstLine int, ok bool) {
	var lines []string
	for n, text := range numberedLines(result) {
		if lines == nil {
			firstLine = n
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "\n"), firstLine, lines != nil
}
