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

// detail is how much of an item its short form shows, in chars and lines.
type detail struct {
	keep   float64 // share of a text that is kept
	text   int     // of a message or an output: keep in chars
	cmd    int     // of a command, a path or a query
	err    int     // of an error line
	errors int     // error lines
	hits   int     // of a search
	whole  bool    // content is shown in full if it is not too long
}

const (
	wholeText = 120  // chars below which assistant text is never shortened
	maxStand  = 2000 // chars up to which a line of Conversation may show content in full
)

// details are the sizes of a short form by the third of its score: the reductions are 90, 70 and 50 %.
var details = [...]detail{
	{keep: 0.1, text: 160, cmd: 120, err: 160, errors: 4, hits: 1},
	{keep: 0.3, text: 320, cmd: 180, err: 200, errors: 6, hits: 3},
	{keep: 0.5, text: 600, cmd: 180, err: 200, errors: 8, hits: 4},
}

// full and terse are the sizes of a line with room and of a line with little room.
var (
	full  = detail{text: 320, cmd: 180, err: 200, errors: 5, hits: 4}
	terse = detail{text: wholeText, cmd: 90, err: 140, errors: 2, hits: 0}
)

// at returns the detail for a level. Stronger levels show less of messages but as much of errors.
func (v detail) at(l limits.Level) detail {
	switch l {
	case limits.Standard:
		v.text = v.text * 4 / 5
	case limits.Aggressive:
		v.text = v.text * 3 / 5
	case limits.Maximum:
		v.text = v.text * 2 / 5
	}
	v.text = max(v.text, wholeText)
	return v
}

// callForm returns a call and its result as one line.
func (w *writer) callForm(u pair, v detail) form {
	row := w.row(u.first)
	start := fmt.Sprintf("- #%d %s", row.Record(), w.label(u.first, v.cmd))
	switch w.row(u.first).Op {
	case transcript.Plan:
		return form{}
	case transcript.Write, transcript.Edit, transcript.Delete, transcript.Rename:
		return w.editForm(u, start, v)
	}
	if u.result < 0 {
		return form{line: start + " (no result)"}
	}
	if w.row(u.result).Kind == transcript.Human {
		return form{line: start + w.reply(u)}
	}
	return w.resultForm(u.result, start, v)
}

var verbs = map[transcript.Op]string{
	transcript.Write: "write", transcript.Edit: "edit", transcript.Delete: "delete", transcript.Rename: "rename",
}

// label returns the tool and its subject: Bash `pytest -q`.
func (w *writer) label(call int32, most int) string {
	row, a := w.row(call), w.action(call)
	tool := mark.Inline(w.f.Tool(row), 60)
	if verb := verbs[a.Op]; verb != "" && a.Command != "" {
		tool = verb // a patch that came through the shell
	}
	switch {
	case a.Op == transcript.Command && a.Command != "":
		return tool + " " + code(a.Command, most)
	case a.Op == transcript.Read && len(a.Files) > 0:
		return tool
	case len(a.Files) > 0:
		return tool + " " + w.paths(a.Files, most)
	case a.Query != "":
		return tool + " " + code(w.nearText(a.Query), most)
	}
	return tool
}

// nearText makes the paths below the first working directory relative, as in labels.
func (w *writer) nearText(s string) string {
	root := w.f.Root()
	if len(root) < 2 {
		return s
	}
	s = strings.TrimSuffix(s, " in "+root)
	for _, sep := range []string{"/", `\`} {
		s = strings.ReplaceAll(s, root+sep, "")
	}
	return s
}

// paths names the files of a call.
func (w *writer) paths(files []transcript.FileChange, most int) string {
	var b strings.Builder
	if len(files) > 2 {
		most = min(most, 100)
	}
	for n, f := range files {
		if n == 6 {
			fmt.Fprintf(&b, " and %d more", len(files)-n)
			break
		}
		if n > 0 {
			b.WriteString(" ")
		}
		b.WriteString(code(w.near(f.Path), most))
		if f.To != "" {
			b.WriteString(" -> " + code(w.near(f.To), most))
		}
	}
	return b.String()
}

// short returns a path relative to the first working directory if it is below it.
func (w *writer) short(path string) string {
	if rest, ok := transcript.Below(path, w.f.Root()); ok {
		return rest
	}
	return path
}

// near returns a path as lines of work show it: one outside of the first working directory by its last elements only,
// because Files and the originals have the full path.
func (w *writer) near(path string) string {
	s := w.short(transcript.Join("", path))
	if !transcript.IsAbs(s) {
		return s
	}
	sep := "/"
	if s[0] != '/' {
		sep = `\`
	}
	parts := strings.Split(s, sep)
	if len(parts) <= 5 {
		return s
	}
	return "…" + sep + strings.Join(parts[len(parts)-3:], sep)
}

// editForm shows that a file was changed; Files tells the net effect, and the ID restores the input.
func (w *writer) editForm(u pair, start string, v detail) form {
	row := w.row(u.first)
	var b strings.Builder
	b.WriteString(start)
	if u.result >= 0 && w.row(u.result).Kind == transcript.Human {
		b.WriteString(w.reply(u))
	} else if u.result >= 0 && w.row(u.result).Has(fold.Failed|fold.Rejected) {
		said, _ := w.wrong(u.result, v)
		b.WriteString(w.status(u.result) + ": " + said)
	}
	m := mark.New(w.id(u.first), fmt.Sprintf("cut, %d chars", row.Chars))
	if v.hits == 0 || lexicon.Chars(m) >= int(row.Chars) {
		return form{line: b.String(), kind: "cut", saved: int(row.Chars)}
	}
	if what := changeGist(w.changeText(u.first)); row.Op == transcript.Edit && what != "" && lexicon.Chars(what)+lexicon.Chars(m) < int(row.Chars) {
		b.WriteString(": " + what)
	}
	return form{line: b.String() + " " + m, kind: "cut", saved: int(row.Chars) - lexicon.Chars(m)}
}

// reply names the record of the human's answer to a call.
func (w *writer) reply(u pair) string {
	if w.row(u.first).Has(fold.Rejected) {
		return fmt.Sprintf(" -> refused by the human (#%d)", w.row(u.result).Record())
	}
	return fmt.Sprintf(" -> answered by the human (#%d)", w.row(u.result).Record())
}

// changeGist returns the first line that a change removes and the first one that it adds, without lines that it only moves.
func changeGist(text string) string {
	signed := map[string]bool{}
	for l := range strings.Lines(text) {
		signed[l[:1]+strings.TrimSpace(l[1:])] = true
	}
	var parts []string
	for _, signs := range []string{"-+", "+-"} {
		for l := range strings.Lines(text) {
			bare := strings.TrimSpace(l[1:])
			if l[0] == signs[0] && len(bare) > 2 && !strings.HasPrefix(bare, l[:1]+l[:1]) && !signed[signs[1:]+bare] {
				parts = append(parts, code(l[:1]+" "+bare, 80))
				break
			}
		}
	}
	return strings.Join(parts, " ")
}

// errorLines returns at most n error lines of a result, and how many others it has.
func (w *writer) errorLines(i int32, n int, strict bool) (lines []string, hidden int) {
	type key struct{ strict, failed bool }
	return derive(w.Source, i, key{strict, w.row(i).Has(fold.Failed)}, func([]byte) lexicon.Errors {
		return lexicon.ErrorsOf(w.outcome(i).Text, strict)
	}).Best(n)
}

// wrong returns the error of a failed result, shortened. all reports that nothing is left out.
func (w *writer) wrong(i int32, v detail) (said string, all bool) {
	type short struct {
		said string
		all  bool
	}
	type key struct {
		detail
		flags fold.Flag
	}
	s := derive(w.Source, i, key{v, w.row(i).Flags & (fold.Failed | fold.Rejected)}, func([]byte) (s short) {
		s.said, s.all = w.shortError(i, v)
		return s
	})
	return s.said, s.all
}

func (w *writer) shortError(i int32, v detail) (said string, all bool) {
	text := w.outcome(i).Text
	if _, fits := mark.Fits(text, v.err); fits {
		return faults(lexicon.LastLines(text, v.err), 0, "", v), true
	}
	if w.row(i).Has(fold.Rejected) {
		return mark.Inline(text, v.err), false
	}
	lines, hidden := w.errorLines(i, v.errors, false)
	sum := lexicon.SummaryLine(text)
	if len(lines) == 0 {
		lines, sum = lexicon.LastLines(text, min(2, v.errors)), ""
	}
	return faults(lexicon.WithTop(text, lines), hidden, sum, v), false
}

// faults joins error lines, the number of further ones, and the summary line.
func faults(lines []string, hidden int, sum string, v detail) string {
	parts := make([]string, 0, len(lines)+2)
	for _, l := range lines {
		parts = append(parts, code(l, v.err))
	}
	if hidden > 0 {
		parts = append(parts, fmt.Sprintf("%d more", hidden))
	}
	if sum != "" && !lexicon.Holds(lines, sum) {
		parts = append(parts, mark.Inline(sum, v.err))
	}
	return strings.Join(parts, "; ")
}

// resultForm returns a result after the line's start, by the strategy for its kind of call.
func (w *writer) resultForm(i int32, start string, v detail) form {
	row, out := w.row(i), w.outcome(i)
	if f, ok := w.dup(i, start+w.status(i)); ok {
		return f
	}
	if w.stands(i, v) {
		text := out.Text
		if content, _, ok := transcript.FileText(text); ok && row.Op == transcript.Read {
			text = strings.TrimSuffix(content, "\n") // without the numbers and the reminders that the tool adds
		}
		if text != "" && lexicon.Chars(text) <= maxStand {
			if q, ok := quotedWhole(text, w.most); ok {
				return form{line: start + w.status(i), quote: q}
			}
		}
	}
	start += w.status(i)
	strategy, kind := "result", "result, "
	switch {
	case row.Op == transcript.Read && !row.Has(fold.Failed|fold.Rejected):
		strategy = "file"
	case row.Op == transcript.Command:
		strategy, kind = "output", fmt.Sprintf("output, %d lines, ", lexicon.CountLines(out.Text))
	}
	whole, fits := mark.Fits(out.Text, mark.MaxLine/2-1)
	n := lexicon.Chars(whole)
	switch {
	case !w.o.On(strategy):
		return form{line: start, quote: mark.Quote("  ", out.Text)}
	case strategy == "file":
		return w.fileForm(i, start)
	case strategy == "result" && row.Has(fold.Rejected) && !row.Has(fold.Claimed):
		return form{line: start + reason(out.Text)}
	case strategy == "result" && out.Text == "" && row.Has(fold.Pictured):
		return form{line: start + " " + w.imageMarker(i), kind: "image", saved: int(row.Chars)}
	case out.Text == "":
		return form{line: start}
	case fits && (n <= wholeText || strategy == "output" && n <= v.text && int(row.Chars) < w.o.OutputChars):
		return form{line: start + ": " + whole}
	}
	gist := w.gistOf(i, &out, v)
	m := mark.New(w.id(i), kind+bytesText(row.Size())+wholeOf(transcript.Demoted(out.Text)))
	if fits && lexicon.Chars(gist)+lexicon.Chars(m) >= n {
		return form{line: start + ": " + whole}
	}
	if gist != "" {
		start += ": " + gist
	}
	return form{line: start + " " + m, kind: strategy, saved: int(row.Chars) - (lexicon.Chars(m) + lexicon.Chars(gist))}
}

// stands reports whether no strategy applies to a result, so that its content is kept: the newest results, outputs below the
// limit, small content of unchanged files, and other small results.
func (w *writer) stands(i int32, v detail) bool {
	row, o := w.row(i), &w.o
	chars := int(row.Chars)
	switch {
	case !v.whole || chars <= wholeText || chars > maxStand || row.Has(fold.Pictured):
		return false
	case row.Op == transcript.Command:
		return chars < o.OutputChars
	case row.Op == transcript.Read:
		f := w.fileOf(row)
		if f == nil || f.Read != i || f.Edits != uint32(row.Edits) || w.age(row) > o.FileAge.Milliseconds() {
			return false
		}
	}
	return i >= w.keep || !w.isMicro(chars)
}

// isMicro reports whether a result is long enough for microcompact to replace it.
func (w *writer) isMicro(chars int) bool {
	return w.o.On("microcompact") && limits.Tokens(chars) > w.o.MicroTokens
}
