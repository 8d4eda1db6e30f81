package compactor

import (
	"fmt"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/compactor/prose"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// detail is how much of an item its short form shows, in chars and numbers of lines.
type detail struct {
	keep   float64 // part of a text that stays
	text   int     // of a message or an output: what keep comes to
	cmd    int     // of a command, a path or a query
	err    int     // of an error line
	errors int     // error lines
	hits   int     // of a search
	whole  bool    // content stands whole where it is not too long
	kept   int     // of a message that the rules keep whole, at most
}

const (
	wholeText = 120  // chars below which assistant text is never shortened
	maxStand  = 2000 // chars up to which content may stand whole in Earlier
)

// details are the sizes of a short form by the third of its score: the reductions are 90, 70 and 50 %.
var details = [...]detail{
	{keep: 0.1, text: 160, cmd: 120, err: 160, errors: 4, hits: 1},
	{keep: 0.3, text: 320, cmd: 180, err: 200, errors: 6, hits: 3},
	{keep: 0.5, text: 600, cmd: 180, err: 200, errors: 8, hits: 4},
}

// full and terse are the sizes of a line in State, and of one for which there is little room.
var (
	full  = detail{text: 320, cmd: 180, err: 200, errors: 5, hits: 4}
	terse = detail{text: wholeText, cmd: 90, err: 140, errors: 2, hits: 0}
)

// at is the detail for a level: harder levels show less of what is said, and as much of what went wrong.
func (v detail) at(l Level) detail {
	switch l {
	case Standard:
		v.text = v.text * 4 / 5
	case Aggressive:
		v.text = v.text * 3 / 5
	case Maximum:
		v.text = v.text * 2 / 5
	}
	v.text = max(v.text, wholeText)
	return v
}

// form is the short form of a unit: one line, what stands quoted below it, and what it saved.
type form struct {
	line  string
	quote string
	kind  string // the strategy, as Saving.Kind
	saved int64  // chars
}

// form gives the line of a unit in Earlier, without its line end; "" where the unit needs none: its records are under
// their range all the same.
func (d *draft) form(u unit, v detail) form {
	row := d.row(u.first)
	switch row.kind {
	case transcript.Text:
		return d.talkForm(u.first, "assistant", v)
	case transcript.Summary:
		return d.talkForm(u.first, "summary by the agent", v)
	case transcript.Image:
		if !d.c.o.on("image") {
			return form{}
		}
		return form{line: fmt.Sprintf("- #%d %s", row.record(), d.imageMarker(u.first)), kind: "image"}
	case transcript.Call:
		return d.callForm(u, v)
	case transcript.Result:
		return d.resultForm(u.first, fmt.Sprintf("- #%d result", row.record()), v)
	}
	return form{}
}

// copyOf finds the newer copy of an item's content that the companion shows.
func (d *draft) copyOf(i int32) (record int, ok bool) {
	row := d.row(i)
	if !d.c.o.Dedup || row.chars < prose.DupChars {
		return 0, false
	}
	at, ok := d.newest[row.key]
	if !ok || at <= i {
		return 0, false
	}
	return d.row(at).record(), true
}

// show remembers that the companion shows an item's content.
func (d *draft) show(i int32) {
	if i < 0 {
		return
	}
	row := d.row(i)
	if row.chars < prose.DupChars {
		return
	}
	if at, ok := d.newest[row.key]; !ok || at < i {
		d.newest[row.key] = i
	}
}

// callForm is a call and its result as one line.
func (d *draft) callForm(u unit, v detail) form {
	row := d.row(u.first)
	a := d.action(u.first)
	start := fmt.Sprintf("- #%d %s", row.record(), d.label(row, &a, v.cmd))
	switch a.Op {
	case transcript.Plan:
		return form{}
	case transcript.Write, transcript.Edit, transcript.Delete, transcript.Rename:
		return d.editForm(u, start, v)
	}
	if u.result < 0 {
		return form{line: start + " (no result)"}
	}
	if d.row(u.result).kind == transcript.Human {
		return form{line: start + d.reply(u)}
	}
	return d.resultForm(u.result, start, v)
}

var verbs = map[transcript.Op]string{
	transcript.Write: "write", transcript.Edit: "edit", transcript.Delete: "delete", transcript.Rename: "rename",
}

// label is the tool and what it was about: Bash `pytest -q`.
func (d *draft) label(row *itemRow, a *transcript.Action, most int) string {
	tool := mark.Inline(d.c.names.name(row.tool), 60)
	if verb := verbs[a.Op]; verb != "" && a.Command != "" {
		tool = verb // a patch that came through the shell
	}
	switch {
	case a.Op == transcript.Command && a.Command != "":
		return tool + " " + code(a.Command, most)
	case a.Op == transcript.Read && len(a.Files) > 0:
		return tool
	case len(a.Files) > 0:
		return tool + " " + d.paths(a.Files, most)
	case a.Query != "":
		return tool + " " + code(d.nearText(a.Query), most)
	}
	return tool
}

// nearText is text in which paths below the first working directory are relative, as those of the labels.
func (d *draft) nearText(s string) string {
	root := d.c.root
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
func (d *draft) paths(files []transcript.FileChange, most int) string {
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
		b.WriteString(code(d.near(f.Path), most))
		if f.To != "" {
			b.WriteString(" -> " + code(d.near(f.To), most))
		}
	}
	return b.String()
}

// short is a path relative to the first working directory, where it lies below it.
func (d *draft) short(path string) string {
	if rest, ok := transcript.Below(path, d.c.root); ok {
		return rest
	}
	return path
}

// near is a path as lines of work name it: what lies outside of the first working directory by its last elements, as State
// and the originals name it whole.
func (d *draft) near(path string) string {
	s := d.short(transcript.Join("", path))
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

// editForm shows that a file was changed; State tells the net effect and the input is one ID away.
func (d *draft) editForm(u unit, start string, v detail) form {
	row := d.row(u.first)
	var b strings.Builder
	b.WriteString(start)
	if u.result >= 0 && d.row(u.result).kind == transcript.Human {
		b.WriteString(d.reply(u))
	} else if u.result >= 0 && d.row(u.result).has(failed|rejected) {
		said, _ := d.wrong(u.result, v)
		b.WriteString(d.status(u.result) + ": " + said)
	}
	m := mark.New(d.id(u.first), fmt.Sprintf("cut, %d chars", row.chars))
	if v.hits == 0 || lexicon.Chars(m) >= int(row.chars) {
		return form{line: b.String(), kind: "cut", saved: int64(row.chars)}
	}
	if what := changeGist(d.changeText(u.first)); row.op == transcript.Edit && what != "" && lexicon.Chars(what)+lexicon.Chars(m) < int(row.chars) {
		b.WriteString(": " + what)
	}
	return form{line: b.String() + " " + m, kind: "cut", saved: int64(row.chars) - int64(lexicon.Chars(m))}
}

// reply tells where the human's answer to a call stands.
func (d *draft) reply(u unit) string {
	if d.row(u.first).has(rejected) {
		return fmt.Sprintf(" -> refused by the human (#%d)", d.row(u.result).record())
	}
	return fmt.Sprintf(" -> answered by the human (#%d)", d.row(u.result).record())
}

// changeGist is the first line that a change takes out for good and the first new one that it puts in.
func changeGist(text string) string {
	signs := map[string]byte{}
	for l := range strings.Lines(text) {
		if l = strings.TrimRight(l, " \t\r\n"); len(l) > 1 && (l[0] == '-' || l[0] == '+') {
			signs[strings.TrimSpace(l[1:])] |= l[0] & 6 // '+' is 2b, '-' is 2d: 2 and 4
		}
	}
	var out, in string
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if len(l) < 4 || strings.HasPrefix(l, "---") || strings.HasPrefix(l, "+++") || signs[strings.TrimSpace(l[1:])] == 6 {
			continue
		}
		if l[0] == '-' && out == "" {
			out = l
		} else if l[0] == '+' && in == "" {
			in = l
		}
	}
	var parts []string
	for _, l := range []string{out, in} {
		if l != "" {
			parts = append(parts, code(l, 80))
		}
	}
	return strings.Join(parts, " ")
}

// wrong is what a failed result says, in short; all reports that nothing of it is left out.
func (d *draft) wrong(i int32, v detail) (said string, all bool) {
	text := d.outcome(i).Text
	if _, fits := mark.Fits(text, v.err); fits {
		return faults(lexicon.LastLines(text, v.err), 0, "", v), true
	}
	if d.row(i).has(rejected) {
		return mark.Inline(text, v.err), false
	}
	lines, hidden := lexicon.ErrorLines(text, v.errors, false)
	sum := lexicon.SummaryLine(text)
	if len(lines) == 0 {
		lines, sum = lexicon.LastLines(text, min(2, v.errors)), ""
	}
	return faults(lexicon.WithTop(text, lines), hidden, sum, v), false
}

// faults lists error lines, how many more there are, and the line that sums them up.
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

// resultForm is a result behind the line's start, by the strategy for what the call does.
func (d *draft) resultForm(i int32, start string, v detail) form {
	row := d.row(i)
	if at, ok := d.copyOf(i); ok {
		m := mark.New(d.id(i), fmt.Sprintf("dup of #%d, %d chars", at, row.chars))
		return form{line: start + d.status(i) + " " + m, kind: "dup", saved: int64(row.chars) - int64(lexicon.Chars(m))}
	}
	if d.stands(i, v) {
		text := d.outcome(i).Text
		if content, _, ok := transcript.FileText(text); ok && row.op == transcript.Read {
			text = strings.TrimSuffix(content, "\n") // without the numbers and the reminders that the tool adds
		}
		if text != "" && lexicon.Chars(text) <= maxStand {
			if q, ok := quotedWhole(text, d.standMost()); ok {
				return form{line: start + d.status(i), quote: q}
			}
		}
	}
	strategy := "result"
	switch {
	case row.op == transcript.Read && !row.has(failed|rejected):
		strategy = "file"
	case row.op == transcript.Command:
		strategy = "output"
	}
	switch {
	case !d.c.o.on(strategy):
		return form{line: start + d.status(i), quote: mark.Quote("  ", d.outcome(i).Text)}
	case strategy == "file":
		return d.fileForm(i, start)
	case strategy == "output":
		return d.outputForm(i, start, v)
	}
	return d.answerForm(i, start, v)
}

// stands reports whether no strategy is due for a result, so that its content stays: the newest results, outputs below
// the limit, small content of files that are as they were read, and other small results.
func (d *draft) stands(i int32, v detail) bool {
	row, o := d.row(i), &d.c.o
	chars := int(row.chars)
	switch {
	case !v.whole || chars <= wholeText || chars > maxStand || row.has(pictured):
		return false
	case row.op == transcript.Command:
		return chars < o.OutputChars
	case row.op == transcript.Read:
		f := d.fileOf(row)
		if f == nil || f.read != i || f.edits != uint32(row.edits) || d.age(row) > o.FileAge.Milliseconds() {
			return false
		}
	}
	return i >= d.keep || !d.isMicro(chars)
}

// isMicro reports whether a result is long enough for microcompact to replace it.
func (d *draft) isMicro(chars int) bool {
	return d.c.o.on("microcompact") && tokens(chars) > d.c.o.MicroTokens
}

// keepFrom is the row of the oldest of the newest results that microcompact leaves alone.
func (c *Compactor) keepFrom() int32 {
	left, i := c.o.MicroKeep, c.rows.n
	for i > c.rows.from && left > 0 {
		i--
		if row := c.rows.at(i); row.kind == transcript.Result && !row.has(side) {
			left--
		}
	}
	return int32(i)
}
