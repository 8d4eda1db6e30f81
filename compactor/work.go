package compactor

import (
	"fmt"
	"strings"

	"ccd/internal/mark"
)

// planPart is the plan as last left.
func (d *draft) planPart(budget int) string {
	t := &d.c.tables
	if len(t.plan) == 0 || t.planRow < 0 {
		return ""
	}
	l := lines{room: budget - 60}
	title := fmt.Sprintf("### Plan as last left (#%d)\n", d.row(t.planRow).record())
	if !l.add(title) {
		return ""
	}
	shown := 0
	for _, open := range []bool{true, false} {
		for _, p := range t.plan {
			if (p.status != "completed") == open && l.room > runes(p.text)+8 {
				l.room -= runes(p.text) + 8
				shown++
			}
		}
	}
	for n, p := range t.plan {
		if n >= shown {
			fmt.Fprintf(&l.b, "- %d more %s\n", len(t.plan)-n, mark.New(d.id(t.planRow), "cut, the plan"))
			break
		}
		line := box(p.status) + mark.Inline(p.text, maxText)
		d.fact("plan", line, t.planRow, false)
		l.b.WriteString("- " + line + "\n")
	}
	return l.b.String()
}

// box is the check box of a plan item.
func box(status string) string {
	switch status {
	case "completed":
		return "[x] "
	case "in_progress":
		return "[>] "
	}
	return "[ ] "
}

// filesPart is the net effect on files: changed ones, then those only read.
func (d *draft) filesPart(budget int) string {
	var changed, read []string
	var changedRows, readRows []int32
	for _, f := range d.c.tables.files.newestFirst() {
		if f.tried > 0 || f.from != "" {
			changed = append(changed, d.changedText(f))
			changedRows = append(changedRows, f.touched)
		} else if f.reads > 0 {
			read = append(read, code(d.short(f.path), 200))
			readRows = append(readRows, f.touched)
		}
	}
	if len(changed)+len(read) == 0 {
		return ""
	}
	title := "### Files" + d.place() + "\n"
	room := budget - runes(title) - 200
	n := fitting(changed, room)
	if n < len(changed) {
		changed = append(changed[:n:n], "changed too: "+d.rest(changedRows[n:], "files"))
	}
	text := bullets(changed)
	room -= runes(text)
	if m := fitting(read, room); m < len(read) {
		read = append(read[:m:m], d.rest(readRows[m:], "files"))
	}
	if len(read) > 0 {
		read[0] = "read: " + read[0]
	}
	return title + text + flow(read) + forgotten(d.c.tables.files.evicted, "files")
}

// place is where the session works.
func (d *draft) place() string {
	s := d.c.status
	var parts []string
	if s.Cwd != "" {
		parts = append(parts, "working directory "+mark.Inline(s.Cwd, 300))
	}
	if s.Branch != "" {
		parts = append(parts, "branch "+mark.Inline(s.Branch, 120))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// changedText is what became of one file.
func (d *draft) changedText(f *fileState) string {
	path := code(d.short(f.path), 300)
	d.fact("file", path, f.touched, true)
	last := f.changed
	if last < 0 {
		last = f.touched
	}
	at := fmt.Sprintf("#%d", d.row(last).record())
	switch {
	case f.deleted:
		return "deleted " + path + " (" + at + ")"
	case f.to != "":
		return "renamed " + path + " -> " + code(d.short(f.to), 300) + " (" + at + ")"
	case f.edits == 0:
		return fmt.Sprintf("not changed, %s: %s (%s)", d.why(last), path, at)
	case f.created && f.edits == 1:
		return "created " + path + " (" + at + ")"
	case f.created:
		return fmt.Sprintf("created, then edited %dx %s (last %s)", f.edits-1, path, at)
	case f.edits == 1:
		return "edited " + path + " (" + at + ")"
	}
	return fmt.Sprintf("edited %dx %s (last %s)", f.edits, path, at)
}

// why tells what became of a change that was not made.
func (d *draft) why(call int32) string {
	switch pair := d.row(call).pair; {
	case pair < 0:
		return "no result yet"
	case d.row(call).has(rejected), d.row(pair).has(rejected):
		return "refused by the human"
	}
	return "the edit failed"
}

// commandsPart lists the distinct commands, newest first, with the status they last ended with.
func (d *draft) commandsPart(budget int) string {
	var pieces []string
	var rows []int32
	all := d.c.tables.commands.newestFirst()
	same := map[string]int{}
	for _, s := range all {
		same[s.text]++
	}
	for _, s := range all {
		pieces = append(pieces, d.commandText(s, same[s.text] > 1))
		rows = append(rows, s.row)
	}
	n := fitting(pieces, budget-120)
	for i := range n {
		d.fact("command", pieces[i], rows[i], false)
	}
	if n < len(pieces) {
		pieces = append(pieces[:n:n], d.rest(rows[n:], "commands"))
	}
	return bullets(pieces) + forgotten(d.c.tables.commands.evicted, "commands")
}

// forgotten counts what a table was too small for; it stands under the ranges all the same.
func forgotten(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("- before them %d more %s, under the ranges below\n", n, what)
}

// commandText is a command and how it ended; placed tells where it ran.
func (d *draft) commandText(s *commandState, placed bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d %s", d.row(s.row).record(), code(s.text, 160))
	if placed && s.dir != "" {
		b.WriteString(" in " + code(d.short(s.dir), 100))
	}
	switch {
	case s.ended:
		fmt.Fprintf(&b, " -> %d", s.exit)
	case d.row(s.row).pair >= 0 && d.row(d.row(s.row).pair).has(failed|rejected):
		b.WriteString(d.status(d.row(s.row).pair))
	case s.pending:
		b.WriteString(" (no result yet)")
	}
	if s.hadOther {
		fmt.Fprintf(&b, " (was %d at #%d)", s.other, d.row(s.otherRow).record())
	} else if s.runs > 2 {
		fmt.Fprintf(&b, " (%dx)", s.runs)
	}
	return b.String()
}

// errorsPart lists failures that nothing has made good, newest first.
func (d *draft) errorsPart(budget int) string {
	all := d.c.tables.errors.newestFirst()
	if len(all) == 0 {
		return ""
	}
	title := "### Open errors, newest first (no later success of the same)\n"
	l := lines{room: budget - runes(title) - 120}
	var left []int32
	for n, e := range all {
		v := full
		if n > 4 || l.room < budget/2 {
			v = terse
		}
		if len(left) > 0 {
			left = append(left, e.result)
			continue
		}
		line := d.errorLine(e, v)
		if !l.add(line) {
			left = append(left, e.result)
			continue
		}
		d.fact("error", strings.TrimSuffix(line, "\n"), e.result, true)
	}
	if len(left) > 0 {
		l.b.WriteString("- older: " + d.rest(left, "errors") + "\n")
	}
	return title + l.b.String() + forgotten(d.c.tables.errors.evicted, "errors")
}

func (d *draft) errorLine(e *openError, v detail) string {
	row := d.row(e.call)
	a := d.action(e.call)
	label := d.label(row, &a, v.cmd)
	if len(a.Files) > 0 && !strings.Contains(label, "`") {
		label += " " + d.paths(a.Files, v.cmd)
	}
	said, all := d.wrong(e.result, v)
	if !all {
		said += " " + mark.New(d.id(e.result), "output, "+bytesText(d.row(e.result).size()))
	}
	return fmt.Sprintf("- #%d %s%s: %s\n", row.record(), label, d.status(e.result), said)
}
