// Package table lays out text in the cells of a terminal: tables that fit, wrapped lines, and colors by meaning.
package table

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"ccd/internal/mark"
)

// Column is one column of a table with rows of type T.
type Column[T any] struct {
	Head  string
	Text  func(T) string
	Piped func(T) string                      // text in a pipe; nil: same as text
	Tone  func(T) Tone                        // nil: no color
	Drop  int                                 // if the table is too wide, columns are dropped in this order; 0: never
	Cut   func(text string, cells int) string // how it is cut; nil: Cut
	Least int                                 // the column may be cut to this many cells; 0: never cut
	Part  int                                 // before a column is dropped, it keeps this many percent of the width
}

// Tabbed returns a table as tab-separated text.
func Tabbed[T any](rows []T, columns []Column[T]) string {
	var b strings.Builder
	for at := -1; at < len(rows); at++ {
		for i, c := range columns {
			text := c.Head
			switch {
			case at >= 0 && c.Piped != nil:
				text = c.Piped(rows[at])
			case at >= 0:
				text = c.Text(rows[at])
			}
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Fit lays out a table in lines of at most width cells. A column that no row has is left out.
func Fit[T any](rows []T, columns []Column[T], width int, colours bool) []string {
	texts := make([][]string, len(columns)) // by column; the heading first, then the rows
	for i, c := range columns {
		texts[i] = append(texts[i], c.Head)
		for _, r := range rows {
			texts[i] = append(texts[i], mark.Visible(c.Text(r)))
		}
	}
	shown, widths := room(columns, texts, width)
	lines := make([]string, len(rows)+1)
	for at := range lines {
		var b strings.Builder
		for n, i := range shown {
			cut, tone := columns[i].Cut, NoTone
			if cut == nil {
				cut = Cut
			}
			cell := cut(texts[i][at], widths[i])
			if at > 0 && columns[i].Tone != nil {
				tone = columns[i].Tone(rows[at-1])
			}
			b.WriteString(tone.Paint(cell, colours))
			if n < len(shown)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-CellsOf(cell)+gap))
			}
		}
		lines[at] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

const (
	gap      = 2 // spaces between two columns
	MinCells = 8 // cells that a column keeps if no other can be dropped
)

// room decides which columns are shown and how wide each is. It drops empty columns, then others until these fit at their least
// widths, then shares the rest among the columns that can be cut, the last one first.
func room[T any](columns []Column[T], texts [][]string, width int) (shown, widths []int) {
	widths, natural := make([]int, len(columns)), make([]int, len(columns))
	need := -gap
	for i, c := range columns {
		if rows := texts[i][1:]; len(rows) > 0 && strings.Join(rows, "") == "" {
			continue
		}
		for _, text := range texts[i] {
			natural[i] = max(natural[i], CellsOf(text))
		}
		widths[i] = natural[i]
		if c.Least > 0 {
			widths[i] = min(widths[i], max(c.Least, width*c.Part/100))
		}
		shown = append(shown, i)
		need += widths[i] + gap
	}
	for need > width {
		at := -1 // index in shown
		for n, i := range shown {
			if d := columns[i].Drop; d > 0 && (at < 0 || d < columns[shown[at]].Drop) {
				at = n
			}
		}
		if at < 0 {
			break
		}
		need -= widths[shown[at]] + gap
		shown = slices.Delete(shown, at, at+1)
	}
	for _, i := range slices.Backward(shown) { // nothing more to drop: narrow the columns that can be cut; below, drop the last ones
		if less := min(need-width, widths[i]-MinCells); less > 0 && columns[i].Least > 0 {
			widths[i] -= less
			need -= less
		}
	}
	for need > width && len(shown) > 1 {
		need -= widths[shown[len(shown)-1]] + gap
		shown = shown[:len(shown)-1]
	}
	if need > width {
		widths[shown[0]] = width
	}
	for _, i := range slices.Backward(shown) {
		if more := min(natural[i]-widths[i], width-need); more > 0 {
			widths[i] += more
			need += more
		}
	}
	return shown, widths
}

// factTones are the tones of rows that begin with a state.
var factTones = map[string]Tone{"degraded": Bad, "error": Bad, "wrong": Bad, "note": Warn, "ok": Good}

// Facts returns the lines of rows of equally many cells. The last cell of each continues in lines of its own.
func Facts(rows [][]string, width int, colours bool) (lines []string) {
	if len(rows) == 0 {
		return nil
	}
	wide := make([]int, len(rows[0])-1)
	for _, r := range rows {
		for i, cell := range r[:len(r)-1] {
			wide[i] = max(wide[i], CellsOf(cell))
		}
	}
	for _, r := range rows {
		head, indent := "", 0
		for i, cell := range r[:len(r)-1] {
			cell = Cut(cell, width)
			head += factTones[cell].Paint(cell, colours) + strings.Repeat(" ", wide[i]-CellsOf(cell)+gap)
			indent += wide[i] + gap
		}
		last := mark.Visible(r[len(r)-1])
		parts := WrapCells(last, max(width-indent, MinCells))
		for _, begin := range []string{"fix: ", "hint: ", "or: "} {
			if strings.HasPrefix(last, begin) && !strings.Contains(last, "`") { // people copy the command
				parts = []string{last}
				head = head[:min(len(head), max(gap, width-CellsOf(last)))]
			}
		}
		for _, part := range parts {
			lines = append(lines, head+part)
			head = strings.Repeat(" ", indent)
		}
	}
	return lines
}

// WrapCells breaks text into lines of at most width cells, between words or within words that are longer.
func WrapCells(text string, width int) (lines []string) {
	line := ""
	all := strings.Fields(text)
	for i, word := range all {
		if word == "[ccd" && i+1 < len(all) { // an ID stays with what makes it a marker
			all[i+1] = word + " " + all[i+1]
			continue
		}
		if longer := line + " " + word; line != "" && CellsOf(longer) <= width {
			line = longer
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		parts := strings.Split(ansi.Hardwrap(word, width, true), "\n")
		lines, line = append(lines, parts[:len(parts)-1]...), parts[len(parts)-1]
	}
	return append(lines, line)
}

// WrapLines breaks a text into lines of at most width cells. Each line keeps its indentation.
func WrapLines(text string, width int) (lines []string) {
	for line := range strings.Lines(text) {
		line = mark.Visible(strings.TrimRight(line, "\r\n"))
		if CellsOf(line) <= width { // a table keeps its columns
			lines = append(lines, line)
			continue
		}
		rest := strings.TrimLeft(line, "> ") // each part of a quoted line is quoted
		indent := line[:len(line)-len(rest)]
		if len(indent) >= width/2 {
			indent, rest = "", line
		}
		for _, part := range WrapCells(rest, max(1, width-len(indent))) {
			lines = append(lines, indent+part)
		}
	}
	return lines
}

// Cut shortens a line that is longer than n cells; the last cell is then an ellipsis.
func Cut(line string, n int) string { return ansi.Truncate(line, n, "…") }

// CutMiddle shortens a path that is longer than n cells: the name at its end says most.
func CutMiddle(line string, n int) string {
	cells := CellsOf(line)
	if cells <= n {
		return line
	}
	head := Cut(line, max(1, n/3))
	tail := ansi.TruncateLeft(line, cells-n+CellsOf(head), "")
	if CellsOf(head+tail) > n { // half a wide character is none
		tail = ansi.TruncateLeft(tail, 2, "")
	}
	return head + tail
}

// CellsOf returns how many terminal cells text takes.
func CellsOf(text string) int { return ansi.StringWidth(text) }

// Tone is the meaning of a text, shown as a color on a terminal.
type Tone string

// The tones.
const (
	NoTone Tone = ""
	Good   Tone = "\x1b[32m"   // at work
	Dim    Tone = "\x1b[2m"    // past
	Warn   Tone = "\x1b[33m"   // needs attention soon
	Bad    Tone = "\x1b[31m"   // failed or missing
	Match  Tone = "\x1b[1;31m" // matches a search
	Head   Tone = "\x1b[1m"    // what the next lines are about
)

// Paint returns text in the color of a tone, if on.
func (t Tone) Paint(text string, on bool) string {
	if !on || t == NoTone || text == "" {
		return text
	}
	return string(t) + text + "\x1b[0m"
}
