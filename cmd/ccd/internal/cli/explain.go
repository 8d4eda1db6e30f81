package cli

import (
	"fmt"

	"ccd/cmd/ccd/internal/table"
	"ccd/compactor"
)

// ExplainColumns is the help for the columns of --explain.
const ExplainColumns = `--explain lists the events: IMPORTANCE of its kind, 0.5 to 5; AGE, how much of
that is left, 0 to 1; REDUNDANCY, 1 and the part that later events repeat;
CLASS, the percent of it that counts in full; NEW, how many values and words it
adds; SHOWN, how many of its characters the text has, and WHY not all.
Important, new and short text comes first, until the room is full.`

// ExplainText is the help for --explain.
const ExplainText = "print one line an event instead: why the text has it or not"

// PrintExplained prints what a text has of each event, and why: one line an event, or with --json an array.
func (a *App) PrintExplained(all []compactor.Told) error {
	if a.JSON {
		return a.PrintJSON(all)
	}
	type told = compactor.Told
	columns := []table.Column[told]{
		{Head: "RECORD", Text: func(t told) string { return fmt.Sprintf("#%d", t.Record) }},
		{Head: "KIND", Text: func(t told) string { return t.Kind }},
		{Head: "IMPORTANCE", Text: func(t told) string { return fmt.Sprintf("%.1f", t.Importance) }, Drop: 5},
		{Head: "AGE", Text: func(t told) string { return fmt.Sprintf("%.2f", t.Age) }, Drop: 2},
		{Head: "REDUNDANCY", Text: func(t told) string { return fmt.Sprintf("%.2f", t.Redundancy) }, Drop: 1},
		{Head: "CLASS", Text: func(t told) string { return fmt.Sprintf("%d %%", t.Class) }, Drop: 3},
		{Head: "NEW", Text: func(t told) string { return fmt.Sprint(t.New) }, Drop: 4},
		{Head: "SHOWN", Text: func(t told) string { return fmt.Sprintf("%d of %d", t.Shown, t.Chars) }},
		{Head: "WHY", Text: func(t told) string { return t.Why }, Least: 36},
	}
	return PrintTable(a, all, columns)
}
