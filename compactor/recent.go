package compactor

import (
	"encoding/json"
	"fmt"
	"strings"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

const (
	cutHead = 2000 // chars shown of an item that is too large for Recent
	minUnit = 700  // chars that a unit of Recent may always take

	// unitStep is what the largest unit grows by with the budget: coarse, so that one more record seldom cuts all
	// large units anew.
	unitStep = 1000
)

// recentPart is the verbatim part: whole units from record start to the end, or as many as fit into budget.
type recentPart struct {
	start int
	text  string
	shown []int32 // rows that stand whole
}

// recentUnits renders the newest records, not before limit, while they fit.
func (d *draft) recentUnits(limit, budget int) recentPart {
	p := recentPart{start: d.last}
	var blocks []string
	room := budget
	most := max(minUnit, budget/5/unitStep*unitStep)
	for rec := d.last - 1; rec >= limit && d.err == nil; rec-- {
		var b strings.Builder
		var whole []int32
		for _, u := range d.units(rec) {
			text, shown := d.verbatim(u, most)
			b.WriteString(text)
			whole = append(whole, shown...)
		}
		n := runes(b.String())
		if n > room {
			break
		}
		room -= n
		p.start = rec
		p.shown = append(p.shown, whole...)
		blocks = append(blocks, b.String())
	}
	for i := len(blocks) - 1; i >= 0; i-- {
		p.text += blocks[i]
	}
	return p
}

// verbatim renders a unit whole, or cut where it is longer than most; shown are the rows that stand whole.
func (d *draft) verbatim(u unit, most int) (text string, shown []int32) {
	row := d.row(u.first)
	if hidden(row.kind) {
		return "", nil
	}
	switch row.kind {
	case transcript.Human:
		if n, ok := d.notes.asked[u.first]; ok {
			return fmt.Sprintf("#%d human: see Asked, %d.\n", row.record(), n), nil
		}
		return d.verbatimText(u.first, "human", most)
	case transcript.Text:
		return d.verbatimText(u.first, "assistant", most)
	case transcript.Summary:
		return d.verbatimText(u.first, "summary by the agent", most)
	case transcript.Image:
		return fmt.Sprintf("#%d %s\n", row.record(), d.imageMarker(u.first)), nil
	case transcript.Call:
		return d.verbatimCall(u, most)
	}
	text = d.outcome(u.first).Text
	body, ok := d.quoted(u.first, text, most)
	return fmt.Sprintf("#%d result%s\n", row.record(), d.status(u.first)) + body, whole(ok && text == d.text(u.first), u.first)
}

func whole(ok bool, i int32) []int32 {
	if ok {
		return []int32{i}
	}
	return nil
}

func (d *draft) verbatimText(i int32, who string, most int) (string, []int32) {
	body, ok := d.quoted(i, d.text(i), most)
	return fmt.Sprintf("#%d %s\n", d.row(i).record(), who) + body, whole(ok, i)
}

// quoted quotes an item's text; where that is longer than most, its head, a marker, its error lines and its end.
func (d *draft) quoted(i int32, text string, most int) (string, bool) {
	b := d.body(i)
	if q := mark.Quote("", text); runes(q) <= most && b.whole {
		return q, true
	}
	first := head(text, min(cutHead, most/2))
	rest := text[len(first):]
	m := mark.New(d.id(i), fmt.Sprintf("cut, %d chars", d.row(i).chars))
	var s strings.Builder
	s.WriteString(mark.Quote("", first) + m + "\n")
	var lines []string
	if row := d.row(i); row.kind == transcript.Result && row.op != transcript.Read && row.op != transcript.Search {
		lines, _ = errorsOf(rest, 8, false)
	}
	for _, l := range lines {
		s.WriteString(mark.Quote("", head(l, min(200, most/8))))
	}
	if len(lines) == 0 {
		s.WriteString(mark.Quote("", tail(rest, min(400, most/8))))
	}
	if len(text) < 4*most && runes(s.String()) >= runes(text) && b.whole {
		return mark.Quote("", text), true
	}
	return s.String(), false
}

// verbatimCall renders a call and its result.
func (d *draft) verbatimCall(u unit, most int) (string, []int32) {
	row := d.row(u.first)
	a := d.action(u.first)
	var b strings.Builder
	input, shownInput := d.input(u.first, &a, most)
	label := d.label(row, &a, 300)
	if a.Op == transcript.Read && len(a.Files) > 0 {
		label += " " + d.paths(a.Files, 300) + d.readLines(u.result)
	}
	fmt.Fprintf(&b, "#%d %s", row.record(), label)
	shown := whole(shownInput, u.first)
	if u.result < 0 {
		b.WriteString(" (no result)\n" + input)
		return b.String(), shown
	}
	if d.row(u.result).kind == transcript.Human {
		b.WriteString(d.reply(u) + "\n" + input)
		return b.String(), shown
	}
	b.WriteString(d.status(u.result) + "\n" + input)
	res := d.row(u.result)
	out := d.outcome(u.result)
	if input != "" && out.Text != "" && !trivial(&a, res) {
		fmt.Fprintf(&b, "#%d result\n", res.record())
	}
	if res.has(pictured) {
		b.WriteString(d.imageMarker(u.result) + "\n")
	}
	if out.Text == "" || trivial(&a, res) {
		return b.String(), shown
	}
	text, exact := out.Text, out.Text == d.text(u.result)
	if a.Op == transcript.Read {
		// The file's own lines, without the numbers and the reminders that the tool adds.
		if content, _, ok := transcript.FileText(out.Text); ok && !res.has(failed) {
			text, exact = strings.TrimSuffix(content, "\n"), false
		}
	}
	body, ok := d.quoted(u.result, text, most)
	b.WriteString(body)
	return b.String(), append(shown, whole(ok && exact, u.result)...)
}

// readLines tells which lines of a file a read gave, where not all.
func (d *draft) readLines(i int32) string {
	if i < 0 || !d.row(i).has(partial) {
		return ""
	}
	content, first, ok := transcript.FileText(d.outcome(i).Text)
	if !ok {
		return ""
	}
	return fmt.Sprintf(", lines %d-%d", first, first+strings.Count(strings.TrimSuffix(content, "\n"), "\n"))
}

// trivial reports whether a result says only that a change was made, or repeats what was changed.
func trivial(a *transcript.Action, res *itemRow) bool {
	switch a.Op {
	case transcript.Write, transcript.Edit, transcript.Delete, transcript.Rename, transcript.Plan:
		return !res.has(failed | rejected)
	}
	return false
}

// input shows what a call was given, where its label does not.
func (d *draft) input(i int32, a *transcript.Action, most int) (string, bool) {
	row := d.row(i)
	text := ""
	switch {
	case a.Op == transcript.Command && a.Command != "":
		if !strings.Contains(a.Command, "\n") && runes(a.Command) <= 300 {
			return "", true
		}
		text = a.Command
	case a.Op == transcript.Read, a.Op == transcript.Plan:
		return "", true
	case len(a.Files) > 0:
		text = d.changeText(i)
	case int(row.chars) <= runes(a.Query)+60:
		return "", true
	}
	if text == "" {
		text = string(d.body(i).raw)
	}
	return d.quoted(i, text, most)
}

// editInput is what the tools that change files are given, under the names that they use.
type editInput struct {
	Old     *string     `json:"old_string"`
	New     *string     `json:"new_string"`
	All     bool        `json:"replace_all"`
	Content *string     `json:"content"`
	Edits   []editInput `json:"edits"`
}

// steps are the replacements that an input asks for, in order.
func (e *editInput) steps() []editInput {
	if len(e.Edits) > 0 {
		return e.Edits
	}
	if e.Old != nil && e.New != nil {
		return []editInput{*e}
	}
	return nil
}

// changeText is a change as - and + lines, a new file as its content, and a patch as it stands.
func (d *draft) changeText(i int32) string {
	raw := d.body(i).raw
	var in editInput
	if err := json.Unmarshal(raw, &in); err != nil {
		return original(transcript.Call, raw)
	}
	if in.Content != nil {
		return *in.Content
	}
	var b strings.Builder
	for _, s := range in.steps() {
		if s.Old == nil || s.New == nil {
			return ""
		}
		signed(&b, "- ", *s.Old)
		signed(&b, "+ ", *s.New)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func signed(b *strings.Builder, sign, text string) {
	if text == "" {
		return
	}
	for line := range strings.Lines(text) {
		b.WriteString(sign + strings.TrimSuffix(line, "\n") + "\n")
	}
}
