package compactor

import (
	"fmt"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// recentPart is the verbatim part: whole units from record start to the end, or as many as fit into budget.
type recentPart struct {
	start int
	text  string
	shown []int32 // rows that stand whole
	files []int32 // rows whose file content stands whole
}

// recentUnits renders the newest records, not before limit, while they fit, each unit in about most chars at most: the
// oldest in what room is left, where that brings it in.
func (d *draft) recentUnits(limit, budget, most int) recentPart {
	p := recentPart{start: d.last}
	var blocks []string
	room := budget
	for rec := d.last - 1; rec >= max(limit, d.c.records.from) && d.err == nil; rec-- {
		block := d.verbatimRecord(rec, most)
		for m := min(most, room); d.taken(block.text) > room && m >= leastCut; m = m * 7 / 8 {
			block = d.verbatimRecord(rec, m)
		}
		n := d.taken(block.text)
		if n > room {
			break
		}
		room -= n
		p.start = rec
		p.shown = append(p.shown, block.whole...)
		p.files = append(p.files, block.files...)
		blocks = append(blocks, block.text)
	}
	p.text = joinBack(blocks)
	return p
}

// taken is what a text takes of the room of Recent: many short lines would come and go at once, the more where there is
// little room.
func (d *draft) taken(text string) int {
	if d.narrow {
		return lexicon.Bulk(text)
	}
	return (lexicon.Chars(text) + lexicon.Bulk(text)) / 2
}

// shown is what Recent shows of a unit, or of a record's units.
type shown struct {
	text  string
	whole []int32 // rows whose originals stand exactly as they are
	files []int32 // rows whose file content stands whole, without what the tool adds to it
	cut   bool    // something was left out for its length
}

func (s *shown) add(o shown) {
	s.text += o.text
	s.whole = append(s.whole, o.whole...)
	s.files = append(s.files, o.files...)
	s.cut = s.cut || o.cut
}

func (d *draft) verbatimRecord(rec, most int) shown {
	var all shown
	for _, u := range d.units(rec) {
		all.add(d.verbatim(u, most))
	}
	return all
}

// verbatim renders a unit whole, or cut where it is longer than most.
func (d *draft) verbatim(u unit, most int) shown {
	row := d.row(u.first)
	if hidden(row.kind) {
		return shown{}
	}
	switch row.kind {
	case transcript.Human:
		if n, ok := d.notes.asked[u.first]; ok {
			return shown{text: fmt.Sprintf("#%d human: see Asked, %d.\n", row.record(), n)}
		}
		return d.verbatimText(u.first, "human", most)
	case transcript.Text:
		if u.first == d.notes.answer {
			return shown{text: fmt.Sprintf("#%d assistant: see Last answer\n", row.record())}
		}
		s := d.verbatimText(u.first, "assistant", most)
		if t := d.notes.turns[u.first]; t != nil && (t.whole || s.cut) {
			return shown{text: fmt.Sprintf("#%d assistant: see Asked, %d.\n", row.record(), t.turn+1)}
		}
		return s
	case transcript.Summary:
		return d.verbatimText(u.first, "summary by the agent", most)
	case transcript.Image:
		return shown{text: fmt.Sprintf("#%d %s\n", row.record(), d.imageMarker(u.first))}
	case transcript.Call:
		return d.verbatimCall(u, most)
	}
	text := d.outcome(u.first).Text
	s := d.quoted(u.first, text, text == d.text(u.first), most)
	s.text = fmt.Sprintf("#%d result%s\n", row.record(), d.status(u.first)) + s.text
	return s
}

func (d *draft) verbatimText(i int32, who string, most int) shown {
	s := d.quoted(i, d.text(i), true, most)
	s.text = fmt.Sprintf("#%d %s%s\n", d.row(i).record(), who, d.added(i)) + s.text
	return s
}

// quoted quotes an item's text; where that is longer than most, its head, a marker, what went wrong in the rest, and
// its end. Exact tells that the text is the original as it is.
func (d *draft) quoted(i int32, text string, exact bool, most int) shown {
	b := d.body(i)
	all := shown{}
	if exact {
		all.whole = []int32{i}
	}
	if q, ok := quotedWhole(text, most); ok && b.whole {
		all.text = q
		return all
	}
	first := lexicon.BulkHead(text, d.headOf(i, most))
	rest := strings.TrimPrefix(text[len(first):], "\n")
	m := mark.New(d.id(i), fmt.Sprintf("cut, %d chars", d.row(i).chars))
	var s strings.Builder
	s.WriteString(mark.Quote("", first) + m + "\n")
	wrong := d.wrongIn(i, rest, most*3/8/lexicon.LineBulk)
	for _, l := range wrong {
		s.WriteString(mark.Quote("", lexicon.Head(l, min(200, most/8))))
	}
	if len(wrong) == 0 {
		s.WriteString(mark.Quote("", lexicon.BulkTail(rest, min(400, most/8))))
	}
	if len(text) < 4*most && lexicon.Chars(s.String()) >= lexicon.Chars(text) && b.whole {
		all.text = mark.Quote("", text)
		return all
	}
	return shown{text: s.String(), cut: true}
}

// headOf is how many chars of an item stand before its marker where it is cut to most chars.
func (d *draft) headOf(i int32, most int) int {
	n := most * 5 / 8
	if row := d.row(i); row.kind == transcript.Result && d.isLarge(row) {
		n = min(n, d.c.o.LargeChars)
	}
	return n
}

// isLarge reports whether a result is demoted to its beginning and its error lines wherever it stands.
func (d *draft) isLarge(row *itemRow) bool {
	return d.c.o.on("large") && tokens(int(row.chars)) > d.c.o.LargeTokens
}

// wrongIn is the error lines in the part of a result that is not shown, at most so many. What a command that succeeded
// prints of files has none.
func (d *draft) wrongIn(i int32, rest string, most int) []string {
	row := d.row(i)
	bad := row.has(failed)
	if row.kind != transcript.Result || row.op == transcript.Read || row.op == transcript.Search ||
		(!bad && showsText(d.commandOf(row))) {
		return nil
	}
	n := 8
	if d.isLarge(row) {
		n = 40
	}
	lines, _ := lexicon.ErrorLines(rest, max(1, min(n, most)), !bad)
	return lines
}

// verbatimCall renders a call and its result.
func (d *draft) verbatimCall(u unit, most int) shown {
	row := d.row(u.first)
	a := d.action(u.first)
	input := d.input(u.first, &a, most)
	s := shown{text: fmt.Sprintf("#%d %s", row.record(), d.callLabel(u, &a, input.text != "")), whole: input.whole, cut: input.cut}
	if len(input.whole) > 0 && len(a.Files) == 1 {
		s.files = append(s.files, u.first)
	}
	switch {
	case u.result < 0:
		s.text += " (no result)\n" + input.text
		return s
	case d.row(u.result).kind == transcript.Human:
		s.text += d.reply(u) + "\n" + input.text
		return s
	}
	s.text += d.status(u.result)
	res := d.row(u.result)
	out := d.outcome(u.result)
	if d.inFiles(u.first, most) || d.inFiles(u.result, most) {
		return shown{text: s.text + ": see Files\n"}
	}
	s.text += "\n" + input.text
	if input.text != "" && out.Text != "" && !trivial(&a, res) {
		s.text += fmt.Sprintf("#%d result\n", res.record())
	}
	if res.has(pictured) {
		s.text += d.imageMarker(u.result) + "\n"
	}
	if out.Text == "" || trivial(&a, res) {
		return s
	}
	s.add(d.verbatimResult(u.result, &a, out.Text, most))
	return s
}

// verbatimResult renders what a call gave.
func (d *draft) verbatimResult(i int32, a *transcript.Action, text string, most int) shown {
	if a.Op == transcript.Read && !d.row(i).has(failed) {
		// The file's own lines, without the numbers and the reminders that the tool adds.
		if content, _, ok := transcript.FileText(text); ok {
			s := d.quoted(i, strings.TrimSuffix(content, "\n"), false, most)
			if !s.cut {
				s.files = []int32{i}
			}
			return s
		}
	}
	return d.quoted(i, text, text == d.text(i), most)
}

// inFiles reports whether Files shows the content of a row whole, or as much of it as would stand here.
func (d *draft) inFiles(i int32, most int) bool {
	f, ok := d.notes.filed[i]
	return ok && (f.whole || int(d.row(i).chars) > most)
}

// callLabel is a call's label; where its input follows, a command needs no more than its beginning.
func (d *draft) callLabel(u unit, a *transcript.Action, follows bool) string {
	most := 300
	if follows && a.Op == transcript.Command {
		most = 80
	}
	label := d.label(d.row(u.first), a, most)
	if a.Op == transcript.Read && len(a.Files) > 0 {
		label += " " + d.paths(a.Files, 300) + d.readLines(u.result)
	}
	return label
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
func (d *draft) input(i int32, a *transcript.Action, most int) shown {
	row := d.row(i)
	text := ""
	switch {
	case a.Op == transcript.Command && a.Command != "":
		if !strings.Contains(a.Command, "\n") && lexicon.Chars(a.Command) <= 300 {
			return shown{whole: []int32{i}}
		}
		text = a.Command
	case a.Op == transcript.Read, a.Op == transcript.Plan:
		return shown{whole: []int32{i}}
	case len(a.Files) > 0:
		text = d.changeText(i)
	case int(row.chars) <= lexicon.Chars(a.Query)+60:
		return shown{whole: []int32{i}}
	default:
		text = fieldsOf(d.body(i).raw)
	}
	if text == "" {
		text = string(d.body(i).raw)
	}
	return d.quoted(i, text, true, most)
}

// joinBack joins lines that were collected from the last to the first.
func joinBack(lines []string) string {
	var b strings.Builder
	for i := len(lines) - 1; i >= 0; i-- {
		b.WriteString(lines[i])
	}
	return b.String()
}
