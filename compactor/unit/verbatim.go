package unit

import (
	"cmp"
	"fmt"
	"strings"

	"ccd/compactor/fold"
	"ccd/compactor/lexicon"
	"ccd/compactor/limits"
	"ccd/compactor/plan"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// verbatimRecord renders the pairs of a record whole, or cut if they are longer than most. Rows lists those whose originals are
// shown exactly.
func (w *writer) verbatimRecord(rec, most int) (all plan.Form) {
	for _, u := range w.pairs(rec) {
		one := w.verbatim(u, most)
		all.Text += one.Text
		all.Rows = append(all.Rows, one.Rows...)
	}
	return all
}

func (w *writer) verbatim(u pair, most int) plan.Form {
	row := w.row(u.first)
	text, head := w.text(u.first), ""
	switch row.Kind {
	case transcript.Human:
		head = "human" + w.added(u.first)
		if !w.plainly { // the conversation has it
			return plan.Form{}
		}
	case transcript.Text:
		head = "assistant"
		if !w.plainly && w.isAnswer(u.first) {
			return plan.Form{}
		}
	case transcript.Summary:
		head = "summary by the agent"
	case transcript.Image:
		return plan.Form{Text: fmt.Sprintf("#%d %s\n", row.Record(), w.imageMarker(u.first))}
	case transcript.Call:
		return w.verbatimCall(u, most)
	case transcript.Result:
		head, text = "result"+w.status(u.first), w.outcome(u.first).Text
	default: // its range covers it
		return plan.Form{}
	}
	f := w.quoted(u.first, text, most)
	f.Text = fmt.Sprintf("#%d %s\n", row.Record(), head) + f.Text
	return f
}

// quoted quotes an item. If it is longer than most: its head, a marker, the error lines in the rest, and its end.
func (w *writer) quoted(i int32, text string, most int) plan.Form {
	b, whole := w.body(i), plan.Form{}
	if w.row(i).Kind == transcript.Call || text == w.text(i) { // its original is shown exactly
		whole.Rows = []int32{i}
	}
	if q, ok := quotedWhole(text, most); ok && b.whole {
		whole.Text = q
		return whole
	}
	first := lexicon.BulkHead(text, w.headOf(i, most))
	rest := strings.TrimPrefix(text[len(first):], "\n")
	m := mark.New(w.id(i), fmt.Sprintf("cut, %d chars", w.row(i).Chars))
	var s strings.Builder
	s.WriteString(mark.Quote("", first) + m + "\n")
	wrong := w.wrongIn(i, rest, most*3/8/lexicon.LineBulk)
	for _, l := range wrong {
		s.WriteString(mark.Quote("", lexicon.Head(l, min(200, most/8))))
	}
	if len(wrong) == 0 {
		s.WriteString(mark.Quote("", lexicon.BulkTail(rest, min(400, most/8))))
	}
	if len(text) < 4*most && lexicon.Chars(s.String()) >= lexicon.Chars(text) && b.whole {
		whole.Text = mark.Quote("", text)
		return whole
	}
	return plan.Form{Text: s.String()}
}

// headOf returns how many chars of an item are shown before its marker if it is cut to most chars.
func (w *writer) headOf(i int32, most int) int {
	n := most * 5 / 8
	if row := w.row(i); row.Kind == transcript.Result && w.isLarge(row) {
		n = min(n, w.o.LargeChars)
	}
	return n
}

// isLarge reports whether a result is reduced to its beginning and its error lines everywhere.
func (w *writer) isLarge(row *fold.Row) bool {
	return w.o.On("large") && limits.Tokens(int(row.Chars)) > w.o.LargeTokens
}

// wrongIn returns the error lines in the part of a result that is not shown, at most most. Content that a
// read, a search or a successful command printed does not count, because an error line in it is not an error of the call.
func (w *writer) wrongIn(i int32, rest string, most int) []string {
	row := w.row(i)
	bad := row.Has(fold.Failed)
	if shows, _ := showsText(w.commandOf(row)); row.Kind != transcript.Result || row.Op == transcript.Read || row.Op == transcript.Search || shows && !bad {
		return nil
	}
	n := 8
	if w.isLarge(row) {
		n = 40
	}
	lines, _ := lexicon.ErrorsOf(rest, !bad).Best(max(1, min(n, most)))
	return lines
}

// verbatimCall renders a call and its result.
func (w *writer) verbatimCall(u pair, most int) plan.Form {
	row, a := w.row(u.first), w.action(u.first)
	all := w.input(u.first, &a, most)
	label := 300
	if all.Text != "" && a.Op == transcript.Command { // its input follows
		label = 80
	}
	head := fmt.Sprintf("#%d %s", row.Record(), w.label(u.first, label))
	if a.Op == transcript.Read && len(a.Files) > 0 {
		head += " " + w.paths(a.Files, 300) + w.readLines(u.result)
	}
	switch {
	case u.result < 0:
		head += " (no result)"
	case w.row(u.result).Kind == transcript.Human:
		head += w.reply(u)
	default:
		head += w.status(u.result)
	}
	all.Text = head + "\n" + all.Text
	if u.result < 0 || w.row(u.result).Kind == transcript.Human {
		return all
	}
	res, text := w.row(u.result), w.outcome(u.result).Text
	says := text != "" && !trivial(&a, res)
	if says && all.Text != head+"\n" {
		all.Text += fmt.Sprintf("#%d result\n", res.Record())
	}
	if res.Has(fold.Pictured) {
		all.Text += w.imageMarker(u.result) + "\n"
	}
	if !says {
		return all
	}
	if a.Op == transcript.Read && !res.Has(fold.Failed) {
		// The file's own lines, without the numbers and the reminders that the tool adds.
		if content, _, ok := transcript.FileText(text); ok {
			text = strings.TrimSuffix(content, "\n")
		}
	}
	out := w.quoted(u.result, text, most)
	return plan.Form{Text: all.Text + out.Text, Rows: append(all.Rows, out.Rows...)}
}

// readLines names the lines of a file that a read returned, if not all.
func (w *writer) readLines(i int32) string {
	if i < 0 || !w.row(i).Has(fold.Partial) {
		return ""
	}
	content, first, ok := transcript.FileText(w.outcome(i).Text)
	if !ok {
		return ""
	}
	return fmt.Sprintf(", lines %d-%d", first, first+strings.Count(strings.TrimSuffix(content, "\n"), "\n"))
}

// trivial reports whether a result only confirms or repeats a change.
func trivial(a *transcript.Action, res *fold.Row) bool {
	switch a.Op {
	case transcript.Write, transcript.Edit, transcript.Delete, transcript.Rename, transcript.Plan:
		return !res.Has(fold.Failed | fold.Rejected)
	}
	return false
}

// input shows the input of a call if its label does not.
func (w *writer) input(i int32, a *transcript.Action, most int) plan.Form {
	text := ""
	switch {
	case a.Op == transcript.Read, a.Op == transcript.Plan,
		a.Op == transcript.Command && a.Command != "" && !strings.Contains(a.Command, "\n") && lexicon.Chars(a.Command) <= 300,
		a.Command == "" && len(a.Files) == 0 && int(w.row(i).Chars) <= lexicon.Chars(a.Query)+60:
		return plan.Form{Rows: []int32{i}}
	case a.Op == transcript.Command && a.Command != "":
		text = a.Command
	case len(a.Files) > 0:
		text = w.changeText(i)
	default:
		text = fieldsOf(w.body(i).raw)
	}
	return w.quoted(i, cmp.Or(text, string(w.body(i).raw)), most)
}
