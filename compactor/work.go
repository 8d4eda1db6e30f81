package compactor

import (
	"fmt"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// planPart is the plan as last left. Where not all of it fits, what is still open stays, then what was done last.
func (d *draft) planPart(budget int) string {
	t := &d.c.tables
	if len(t.plan) == 0 || t.planRow < 0 {
		return ""
	}
	title := fmt.Sprintf("### Plan as last left (#%d), in the agent's own words\n", d.row(t.planRow).record())
	room := budget - lexicon.Chars(title)
	shown := planShown(t.plan, room)
	if len(shown) < len(t.plan) {
		shown = planShown(t.plan, room-60)
	}
	if room < 60 {
		return ""
	}
	var b strings.Builder
	b.WriteString(title)
	for n := range t.plan {
		if line, ok := shown[n]; ok {
			d.fact("plan", line, t.planRow, false)
			b.WriteString("- " + line + "\n")
		}
	}
	if left := len(t.plan) - len(shown); left > 0 {
		fmt.Fprintf(&b, "- %d more %s\n", left, mark.New(d.id(t.planRow), "cut, the plan"))
	}
	return b.String()
}

// planShown chooses the lines of a plan that fit into room chars, by their place.
func planShown(plan []planItem, room int) map[int]string {
	shown := map[int]string{}
	for _, done := range []bool{false, true} {
		for n := range plan {
			if done {
				n = len(plan) - 1 - n
			}
			if (plan[n].status == "completed") != done {
				continue
			}
			line := box(plan[n].status) + mark.Inline(plan[n].text, maxText)
			if cost := lexicon.Chars(line) + 3; cost <= room {
				room -= cost
				shown[n] = line
			}
		}
	}
	return shown
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

// place is where the session works.
func (d *draft) place() string {
	s := d.c.status
	dir := transcript.Join("", s.Cwd)
	var parts []string
	if !transcript.SamePath(d.c.root, dir) {
		parts = append(parts, "paths below "+mark.Inline(d.c.root, 300))
	}
	if dir != "" {
		parts = append(parts, "working directory "+mark.Inline(dir, 300))
	}
	if s.Branch != "" {
		parts = append(parts, "branch "+mark.Inline(s.Branch, 120))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// cmdLengths are how much of a command is shown: short ones where that shows more of them, each with its status.
var cmdLengths = []int{200, 110, 84}

// commandsPart lists the distinct commands, newest first, with the status they last ended with.
func (d *draft) commandsPart(budget int) string {
	all := d.c.tables.commands.newestFirst()
	same := map[string]int{}
	for _, s := range all {
		same[s.text]++
	}
	var pieces []string
	rows := make([]int32, 0, len(all))
	for _, s := range all {
		rows = append(rows, s.row)
	}
	n := 0
	for _, most := range cmdLengths {
		pieces = pieces[:0]
		for _, s := range all {
			pieces = append(pieces, d.commandText(s, same[s.text] > 1, most))
		}
		room := budget - 60
		if n = fitting(pieces, room); n < len(pieces) {
			n = fitting(pieces, room-60)
		} else {
			break
		}
	}
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
func (d *draft) commandText(s *commandState, placed bool, most int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d %s", d.row(s.row).record(), code(s.text, most))
	if placed && s.dir != "" && s.dir != d.c.root {
		b.WriteString(" in " + code(d.short(s.dir), 100))
	}
	switch {
	case s.ended:
		fmt.Fprintf(&b, " -> %d", s.exit)
	case s.stopped:
		b.WriteString(" (stopped)")
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
	l := lines{room: budget - lexicon.Chars(title) - 120}
	var left []int32
	for n, e := range all {
		v := full
		if n > 4 && l.room < budget*3/4 || l.room < budget/2 {
			v = terse
		}
		if d.narrow {
			v.cmd = narrowCmd // Commands has it
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
		if !d.narrow {
			l.add(d.moreErrors(e.result, v, l.room/3))
		}
	}
	if len(left) > 0 {
		l.b.WriteString("- older: " + d.rest(left, "errors") + "\n")
	}
	return title + l.b.String() + forgotten(d.c.tables.errors.evicted, "errors")
}

const (
	narrowCmd  = 40 // chars of the command in the line of an open error where there is little room
	mostErrors = 40 // error lines of one open error
)

// moreErrors quotes the error lines that the line of an open error has no room for.
func (d *draft) moreErrors(i int32, v detail, room int) string {
	if d.row(i).has(rejected) {
		return ""
	}
	said, _ := d.wrong(i, v)
	lines, _ := lexicon.ErrorLines(d.outcome(i).Text, mostErrors, false)
	var b strings.Builder
	for _, line := range lines {
		if strings.Contains(said, mark.Inline(line, v.err)) {
			continue
		}
		q := mark.Quote("  ", lexicon.Head(line, 2*v.err))
		if room -= lexicon.Chars(q); room < 0 {
			break
		}
		b.WriteString(q)
	}
	return b.String()
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
