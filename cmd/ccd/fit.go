package main

import (
	"os"
	"unicode/utf8"
)

// column is one that may be cut where a table is too wide: which it is, and how many characters stay at the least.
type column struct{ at, least int }

// width returns the width of the terminal that stdout is, 0 where it is none: then nothing is cut.
func (a *app) width() int {
	if f, ok := a.out.(*os.File); ok && terminal(a.out) {
		columns, _ := screen(f)
		return columns
	}
	return 0
}

// cut shortens a line to n cells of a terminal, where it is longer, with an ellipsis as its last one.
func cut(line string, n int) string {
	at, last := 0, 0 // last: where the line ends if an ellipsis must stand behind it
	for i, r := range line {
		w := cells(r)
		if at+w > n {
			return line[:last] + "…"
		}
		if at += w; at < n {
			last = i + utf8.RuneLen(r)
		}
	}
	return line
}

// cells is how many cells of a terminal a character takes, about: two where it may be a wide one.
func cells(r rune) int {
	if r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0x1f000) {
		return 2
	}
	return 1
}

// fit cuts a table's cells in the middle until its lines are at most width characters: the given columns in their
// order, each down to its least. Where that is not enough, whole columns go, from the right. A width of 0 cuts nothing.
func fit(rows [][]string, width int, by ...column) [][]string {
	if width <= 0 {
		return rows
	}
	for _, c := range by {
		over := lineWidth(rows) - width
		if over <= 0 {
			break
		}
		most := max(c.least, cellWidth(rows, c.at)-over)
		for _, r := range rows {
			r[c.at] = middle(r[c.at], most)
		}
	}
	for len(rows[0]) > 1 && lineWidth(rows) > width {
		for i, r := range rows {
			rows[i] = r[:len(r)-1]
		}
	}
	return rows
}

// lineWidth is the width of the widest line as columns make it, two blanks between them.
func lineWidth(rows [][]string) int {
	total := -2
	for i := range rows[0] {
		total += cellWidth(rows, i) + 2
	}
	return total
}

func cellWidth(rows [][]string, at int) int {
	most := 0
	for _, r := range rows {
		most = max(most, utf8.RuneCountInString(r[at]))
	}
	return most
}

// middle cuts the middle out of text, so that n characters are left of it.
func middle(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n || n < 1 {
		return text
	}
	head := (n - 1) / 2
	return string(runes[:head]) + "…" + string(runes[len(runes)-(n-1-head):])
}
