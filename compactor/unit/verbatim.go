package unit

import (
	"fmt"
	"strings"

	"ccd/compactor/fold"
	"ccd/compactor/lexicon"
	"ccd/compactor/limits"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

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

func (w *writer) verbatimRecord(rec, most int) shown {
	var all shown
	for _, u := range w.pairs(rec) {
		all.add(w.verbatim(u, most))
	}
	return all
}

// verbatim renders a unit whole, or cut where it is longer than most.
func (w *writer) verbatim(u pair, most int) shown {
	row := w.f.Row(u.first)
	if hidden(row.Kind) {
		return shown{}
	}
	switch row.Kind {
	case transcript.Human:
		if !w.plainly {
			return shown{} // it stands in the conversation
		}
		return w.verbatimText(u.first, "human", most)
	case transcript.Text:
		if !w.plainly && w.isAnswer(u.first) {
			return shown{}
		}
		return w.verbatimText(u.first, "assistant", most)
	case transcript.Summary:
		return w.verbatimText(u.first, "summary by the agent", most)
	case transcript.Image:
		return shown{text: fmt.Sprintf("#%d %s\n", row.Record(), w.imageMarker(u.first))}
	case transcript.Call:
		return w.verbatimCall(u, most)
	}
	text := w.outcome(u.first).Text
	s := w.quoted(u.first, text, text == w.text(u.first), most)
	s.text = fmt.Sprintf("#%d result%s\n", row.Record(), w.status(u.first)) + s.text
	return s
}

func (w *writer) verbatimText(i int32, who string, most int) shown {
	s := w.quoted(i, w.text(i), true, most)
	s.text = fmt.Sprintf("#%d %s%s\n", w.f.Row(i).Record(), who, w.added(i)) + s.text
	return s
}

// quoted quotes an item's text; where that is longer than most, its head, a marker, what went wrong in the rest, and
// its end. Exact tells that the text is the original as it is.
func (w *writer) quoted(i int32, text string, exact bool, most int) shown {
	b := w.body(i)
	all := shown{}
	if exact {
		all.whole = []int32{i}
	}
	if q, ok := quotedWhole(text, most); ok && b.whole {
		all.text = q
		return all
	}
	first := lexicon.BulkHead(text, w.headOf(i, most))
	rest := strings.TrimPrefix(text[len(first):], "\n")
	m := mark.New(w.id(i), fmt.Sprintf("cut, %d chars", w.f.Row(i).Chars))
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
		all.text = mark.Quote("", text)
		return all
	}
	return shown{text: s.String(), cut: true}
}

// headOf is how many chars of an item stand before its marker where it is cut to most chars.
func (w *writer) headOf(i int32, most int) int {
	n := most * 5 / 8
	if row := w.f.Row(i); row.Kind == transcript.Result && w.isLarge(row) {
		n = min(n, w.o.LargeChars)
	}
	return n
}

// isLarge reports whether a result is demoted to its beginning and its error lines wherever it stands.
func (w *writer) isLarge(row *fold.Row) bool {
	return w.o.On("large") && limits.Tokens(int(row.Chars)) > w.o.LargeTokens
}

// wrongIn is the error lines in the part of a result that is not shown, at most so many. What a command that succeeded
// prints of files has none.
func (w *writer) wrongIn(i int32, rest string, most int) []string {
	row := w.f.Row(i)
	bad := row.Has(fold.Failed)
	if shows, _ := showsText(w.commandOf(row)); row.Kind != transcript.Result || row.Op == transcript.Read || row.Op == transcript.Search || shows && !bad {
		return nil
	}
	n := 8
	if w.isLarge(row) {
		n = 40
	}
	lines, _ := lexicon.ErrorLines(rest, max(1, min(n, most)), !bad)
	return lines
}

// verbatimCall renders a call and its result.
func (w *writer) verbatimCall(u pair, most int) shown {
	row := w.f.Row(u.first)
	a := w.action(u.first)
	input := w.input(u.first, &a, most)
	s := shown{text: fmt.Sprintf("#%d %s", row.Record(), w.callLabel(u, &a, input.text != "")), whole: input.whole, cut: input.cut}
	if len(input.whole) > 0 && len(a.Files) == 1 {
		s.files = append(s.files, u.first)
	}
	switch {
	case u.result < 0:
		s.text += " (no result)\n" + input.text
		return s
	case w.f.Row(u.result).Kind == transcript.Human:
		s.text += w.reply(u) + "\n" + input.text
		return s
	}
	s.text += w.status(u.result)
	res := w.f.Row(u.result)
	out := w.outcome(u.result)
	s.text += "\n" + input.text
	if input.text != "" && out.Text != "" && !trivial(&a, res) {
		s.text += fmt.Sprintf("#%d result\n", res.Record())
	}
	if res.Has(fold.Pictured) {
		s.text += w.imageMarker(u.result) + "\n"
	}
	if out.Text == "" || trivial(&a, res) {
		return s
	}
	s.add(w.verbatimResult(u.result, &a, out.Text, most))
	return s
}

// verbatimResult renders what a call gave.
func (w *writer) verbatimResult(i int32, a *transcript.Action, text string, most int) shown {
	if a.Op == transcript.Read && !w.f.Row(i).Has(fold.Failed) {
		// The file's own lines, without the numbers and the reminders that the tool adds.
		if content, _, ok := transcript.FileText(text); ok {
			s := w.quoted(i, strings.TrimSuffix(content, "\n"), false, most)
			if !s.cut {
				s.files = []int32{i}
			}
			return s
		}
	}
	return w.quoted(i, text, text == w.text(i), most)
}

// callLabel is a call's label; where its input follows, a command needs no more than its beginning.
func (w *writer) callLabel(u pair, a *transcript.Action, follows bool) string {
	most := 300
	if follows && a.Op == transcript.Command {
		most = 80
	}
	label := w.label(w.f.Row(u.first), a, most)
	if a.Op == transcript.Read && len(a.Files) > 0 {
		label += " " + w.paths(a.Files, 300) + w.readLines(u.result)
	}
	return label
}

// readLines tells which lines of a file a read gave, where not all.
func (w *writer) readLines(i int32) string {
	if i < 0 || !w.f.Row(i).Has(fold.Partial) {
		return ""
	}
	content, first, ok := transcript.FileText(w.outcome(i).Text)
	if !ok {
		return ""
	}
	return fmt.Sprintf(", lines %d-%d", first, first+strings.Count(strings.TrimSuffix(content, "\n"), "\n"))
}

// trivial reports whether a result says only that a change was made, or repeats what was changed.
func trivial(a *transcript.Action, res *fold.Row) bool {
	switch a.Op {
	case transcript.Write, transcript.Edit, transcript.Delete, transcript.Rename, transcript.Plan:
		return !res.Has(fold.Failed | fold.Rejected)
	}
	return false
}

// input shows what a call was given, where its label does not.
func (w *writer) input(i int32, a *transcript.Action, most int) shown {
	row := w.f.Row(i)
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
		text = w.changeText(i)
	case int(row.Chars) <= lexicon.Chars(a.Query)+60:
		return shown{whole: []int32{i}}
	default:
		text = fieldsOf(w.body(i).raw)
	}
	if text == "" {
		text = string(w.body(i).raw)
	}
	return w.quoted(i, text, true, most)
}
