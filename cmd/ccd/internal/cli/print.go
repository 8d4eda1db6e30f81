package cli

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"

	"ccd/cmd/ccd/internal/table"
	"ccd/internal/mark"
	"ccd/internal/words"
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

// PrintObject prints an object with --json, else a line for each of its keys that is not empty.
func (a *App) PrintObject(object any) error {
	if a.JSON {
		return a.PrintJSON(object)
	}
	var rows [][]string
	v := reflect.ValueOf(object)
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("json")
		if value := v.Field(i); name != "-" && !value.IsZero() {
			text := fmt.Sprint(value.Interface())
			if t, ok := value.Interface().(*time.Time); ok {
				if text = t.Format(time.RFC3339); a.Width() > 0 {
					text = words.Local(*t)
				}
			}
			rows = append(rows, []string{name, mark.Inline(text, 0)})
		}
	}
	return a.PrintFacts(rows)
}

// Width returns the width of the terminal that stdout is, or 0 if it is none.
func (a *App) Width() int { return a.widthOf(a.Out) }

// Lines returns the lines of the terminal that stdout is, or 0 if it is none or they are unknown.
func (a *App) Lines() int {
	_, lines := a.screen(a.Out)
	return lines
}

func (a *App) widthOf(w io.Writer) int {
	columns, _ := a.screen(w)
	return columns
}

func (a *App) screen(w io.Writer) (columns, lines int) {
	if a.Terminal(w) {
		columns, lines, _ = term.GetSize(FileOf(w).Fd()) // 0 if unknown
	}
	return columns, lines
}

// Colours reports whether stdout takes colors: it is a terminal and NO_COLOR is not set.
func (a *App) Colours() bool { return a.Terminal(a.Out) && a.Getenv("NO_COLOR") == "" }
