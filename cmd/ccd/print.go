package main

import "strings"

// printTable prints a table: fitted to a terminal, else one tab-separated line per row, with nothing cut.
func printTable[T any](a *app, rows []T, columns []column[T]) error {
	width := a.width()
	if width <= 0 {
		return a.print(tabbed(rows, columns))
	}
	return a.draw(strings.Join(fit(rows, columns, width, a.colours()), "\n") + "\n")
}

// printFacts prints lines of a name and a value. On a terminal, long values continue on the next line.
func (a *app) printFacts(rows [][]string) error {
	width := a.width()
	if width <= 0 {
		return a.table(rows)
	}
	return a.draw(strings.Join(facts(rows, width, a.colours()), "\n") + "\n")
}

// width returns the width of the terminal that stdout is, or 0 if it is none.
func (a *app) width() int {
	if a.terminal(a.out) {
		columns, _ := screen(fileOf(a.out))
		return columns
	}
	return 0
}

// colours reports whether stdout takes colors: it is a terminal and NO_COLOR is not set.
func (a *app) colours() bool { return a.terminal(a.out) && a.Getenv("NO_COLOR") == "" }
