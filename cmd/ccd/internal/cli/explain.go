package cli

import (
	"fmt"

	"ccd/cmd/ccd/internal/table"
	"ccd/compactor"
)

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
		{Head: "IMPORTANCE", Text: func(t told) string { return fmt.Sprintf("%.1f", t.Importance) }},
		{Head: "AGE", Text: func(t told) string { return fmt.Sprintf("%.2f", t.Age) }},
		{Head: "REDUNDANCY", Text: func(t told) string { return fmt.Sprintf("%.2f", t.Redundancy) }},
		{Head: "CLASS", Text: func(t told) string { return fmt.Sprintf("%d %%", t.Class) }},
		{Head: "NEW", Text: func(t told) string { return fmt.Sprint(t.New) }},
		{Head: "SHOWN", Text: func(t told) string { return fmt.Sprintf("%d of %d", t.Shown, t.Chars) }},
		{Head: "WHY", Text: func(t told) string { return t.Why }, Least: 8},
	}
	return PrintTable(a, all, columns)
}
