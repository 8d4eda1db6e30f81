package cli

import (
	"io"
	"strings"

	"ccd/cmd/ccd/internal/table"
)

// PrintTable prints a table: fitted to a terminal, else one tab-separated line per row, with nothing cut.
func PrintTable[T any](a *App, rows []T, columns []table.Column[T]) error {
	width := a.Width()
	if width <= 0 {
		return a.Print(table.Tabbed(rows, columns))
	}
	return a.Draw(strings.Join(table.Fit(rows, columns, width, a.Colours()), "\n") + "\n")
}

// PrintFacts prints lines of a name and a value. On a terminal, long values continue on the next line.
func (a *App) PrintFacts(rows [][]string) error {
	width := a.Width()
	if width <= 0 {
		return a.Table(rows)
	}
	return a.Draw(strings.Join(table.Facts(rows, width, a.Colours()), "\n") + "\n")
}

// Width returns the width of the terminal that stdout is, or 0 if it is none.
func (a *App) Width() int { return a.widthOf(a.Out) }

// Lines returns the lines of the terminal that stdout is, or 0 if it is none or they are unknown.
func (a *App) Lines() int {
	if !a.Terminal(a.Out) {
		return 0
	}
	_, lines := Screen(FileOf(a.Out))
	return lines
}

func (a *App) widthOf(w io.Writer) int {
	if a.Terminal(w) {
		columns, _ := Screen(FileOf(w))
		return columns
	}
	return 0
}

// Colours reports whether stdout takes colors: it is a terminal and NO_COLOR is not set.
func (a *App) Colours() bool { return a.Terminal(a.Out) && a.Getenv("NO_COLOR") == "" }
