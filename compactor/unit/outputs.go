package unit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"ccd/compactor/fold"
	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// status is the exit status of a command, or that a tool failed.
func (w *writer) status(i int32) string {
	row := w.f.Row(i)
	said := ""
	switch {
	case row.Has(fold.Rejected) && w.carriedOut(row.Pair):
		said = " -> approved, with a cleared context"
	case row.Has(fold.Rejected):
		said = " -> refused"
	case row.Has(fold.Exits):
		said = fmt.Sprintf(" -> %d", row.Exit)
	case row.Has(fold.Failed):
		said = " -> failed"
	}
	if row.Has(fold.Claimed) {
		said += " (the tool wrote this, not the human)"
	}
	return said
}

// handedOver is how Claude Code begins the message in which it hands an approved plan over to a cleared context.
const handedOver = "Implement the following plan:"

// carriedOut reports whether the next human message hands over the plan that a call showed: Claude Code writes that the
// call was refused where the human approves a plan and has the context cleared.
func (w *writer) carriedOut(call int32) bool {
	if call < 0 || w.row(call).Op != transcript.Ask || len(w.turns) == 0 {
		return false
	}
	_, plan := w.put(call)
	t := w.turnOf(call)
	if plan == "" || w.placeOf(t)+1 >= len(w.turns) {
		return false
	}
	next := w.turns[w.placeOf(t)+1].ask
	return next >= 0 && strings.HasPrefix(w.text(next), handedOver) && strings.Contains(lexicon.Head(w.text(next), 1000), plan)
}

// fileForm stands for the content of a file that was read.
func (w *writer) fileForm(i int32, start string) form {
	row := w.f.Row(i)
	out := w.outcome(i)
	if row.Has(fold.Pictured) && out.Text == "" {
		m := w.imageMarker(i)
		return form{line: start + " " + m, kind: "image", saved: int(row.Chars) - lexicon.Chars(m)}
	}
	path := ""
	if row.Pair >= 0 {
		if a := w.action(row.Pair); len(a.Files) > 0 {
			path = a.Files[0].Path
		}
	}
	content, first, ok := transcript.FileText(out.Text)
	lines := lexicon.AllLines(content)
	what := fmt.Sprintf("file %s, %d lines", mark.Inline(w.near(path), 300), lines)
	if id := transcript.Demoted(out.Text); id != "" {
		what = fmt.Sprintf("file %s, its first %d lines%s", mark.Inline(w.near(path), 300), lines, wholeOf(id))
	}
	if ok && row.Has(fold.Partial) {
		what = fmt.Sprintf("file %s, lines %d-%d", mark.Inline(w.near(path), 300), first, first+max(0, lines-1))
	}
	if t := w.f.Time(int(row.Rec)); !t.IsZero() {
		what += ", read " + t.Format("2006-01-02T15:04Z")
	}
	// Nothing is said where no edit is known: a checkout or a formatter may have changed the file all the same.
	if f := w.fileOf(row); f != nil && f.Edits > uint32(row.Edits) {
		what += fmt.Sprintf(", edited %dx later", f.Edits-uint32(row.Edits))
	}
	m := mark.New(w.id(i), what)
	if whole, fits := mark.Fits(out.Text, lexicon.Chars(m)); fits {
		return form{line: start + " " + code(w.near(path), 300) + ": " + whole}
	}
	return form{line: start + " " + m, kind: "file", saved: int(row.Chars) - lexicon.Chars(m)}
}

// outputForm stands for the output of a command: status, duration, what went wrong, the line that sums it up.
func (w *writer) outputForm(i int32, start string, v detail) form {
	row := w.f.Row(i)
	out := w.outcome(i)
	start += w.status(i)
	whole, fits := mark.Fits(out.Text, mark.MaxLine/2-1)
	if n := lexicon.Chars(whole); fits && (n <= wholeText || (n <= v.text && int(row.Chars) < w.o.OutputChars)) {
		if whole == "" {
			return form{line: start}
		}
		return form{line: start + ": " + whole}
	}
	gist := gistOf(w.commandOf(row), row.Has(fold.Failed), out.Text, v)
	m := mark.New(w.id(i), fmt.Sprintf("output, %d lines, %s%s", lexicon.CountLines(out.Text), bytesText(row.Size()), wholeOf(transcript.Demoted(out.Text))))
	if out.Duration > 0 {
		gist = strings.TrimPrefix(gist+", "+out.Duration.Round(100*time.Millisecond).String(), ", ")
	}
	if fits && lexicon.Chars(gist)+lexicon.Chars(m) >= lexicon.Chars(whole) {
		return form{line: start + ": " + whole}
	}
	if gist == "" {
		return form{line: start + " " + m, kind: "output", saved: int(row.Chars) - lexicon.Chars(m)}
	}
	return form{line: start + ": " + gist + " " + m, kind: "output", saved: int(row.Chars) - (lexicon.Chars(m) + lexicon.Chars(gist))}
}

// wholeOf tells how the whole of a demoted output comes back: the transcript itself has only its beginning.
func wholeOf(id mark.ID) string {
	if id == "" {
		return ""
	}
	return fmt.Sprintf("; the whole: `ccd agent restore %s`", id)
}

// commandOf is the command that a result answers, "" where it is not known.
func (w *writer) commandOf(row *fold.Row) string {
	if row.Pair < 0 {
		return ""
	}
	return w.action(row.Pair).Command
}

// gistOf is what an output says, in short: its error lines and its summary; where it has neither, how it begins or, of
// a failure, how it ends. What a command merely shows of files is no error of its own.
func gistOf(command string, bad bool, text string, v detail) string {
	n := v.errors
	if !bad {
		n = min(n, 2)
	}
	switch shows, file := showsText(command); {
	case bad:
	case file:
		return "" // how a file begins tells nothing
	case shows:
		return mark.Inline(strings.TrimSpace(lexicon.Head(text, 4*v.text)), min(v.text, 160))
	}
	lines, hidden := lexicon.ErrorLines(text, n, !bad)
	sum := lexicon.SummaryLine(text)
	if said := faults(lexicon.WithTop(text, lines), hidden, sum, v); said != "" {
		return said
	}
	if bad {
		return mark.Inline(strings.Join(lexicon.LastLines(text, 3), " / "), v.text)
	}
	return mark.Inline(strings.TrimSpace(lexicon.Head(text, 4*v.text)), min(v.text, 160))
}

// showsText reports whether a command prints what files hold; file, that it prints a file or a part of it.
func showsText(command string) (shows, file bool) {
	words := append(strings.Fields(fold.PlainCommand(command)), "", "")
	switch words[0] {
	case "cat", "sed", "head", "tail", "nl", "less", "bat":
		return true, true
	case "grep", "rg", "find", "ls", "tree", "awk", "jq", "wc", "echo":
		return true, false
	case "git":
		return slices.Contains([]string{"show", "diff", "log", "status"}, words[1]), false
	}
	return false, false
}

// answerForm stands for the result of a search, of the web or of any other tool.
func (w *writer) answerForm(i int32, start string, v detail) form {
	row := w.f.Row(i)
	out := w.outcome(i)
	start += w.status(i)
	if row.Has(fold.Rejected) && !row.Has(fold.Claimed) {
		return form{line: start + reason(out.Text)}
	}
	whole, fits := mark.Fits(out.Text, mark.MaxLine/2-1)
	if fits && lexicon.Chars(whole) <= wholeText {
		if whole == "" && row.Has(fold.Pictured) {
			return form{line: start + " " + w.imageMarker(i), kind: "image", saved: int(row.Chars)}
		}
		return form{line: start + ": " + whole}
	}
	kind, gist := "result", ""
	switch {
	case row.Has(fold.Failed):
		gist, _ = w.wrong(i, v)
	case row.Op == transcript.Search && out.Spilled == "":
		gist = w.searchGist(out.Text, v)
	case row.Op == transcript.Web:
		gist = webGist(out.Text, v)
	default:
		gist = mark.Inline(out.Text, max(60, v.text/2))
	}
	m := mark.New(w.id(i), fmt.Sprintf("%s, %s%s", kind, bytesText(row.Size()), wholeOf(transcript.Demoted(out.Text))))
	if fits && lexicon.Chars(gist)+lexicon.Chars(m) >= lexicon.Chars(whole) {
		return form{line: start + ": " + whole}
	}
	return form{line: start + ": " + gist + " " + m, kind: kind, saved: int(row.Chars) - (lexicon.Chars(m) + lexicon.Chars(gist))}
}

// reasonMark is what Claude Code puts before what a person said of a call that they refused.
const reasonMark = "the user said:"

// reason is what a person said of a call that they refused, as the client's report of it tells; "" where they said nothing.
func reason(report string) string {
	_, said, ok := strings.Cut(report, reasonMark)
	if said = strings.TrimSpace(said); !ok || said == "" {
		return ""
	}
	return ": " + mark.Inline(said, maxRule)
}

// numbered is a line of a search that names the line it was found in. Where a result has such lines, the others only
// surround them.
var numbered = regexp.MustCompile(`(?:^|[^:]:)\d+:`)

// searchGist counts the hits of a search, as the tool does where it does, and names the first ones.
func (w *writer) searchGist(text string, v detail) string {
	var all, hits []string
	said := ""
	for line := range strings.Lines(w.nearText(text)) {
		switch line = strings.TrimSpace(line); {
		case line == "" || line == "--":
		case len(all) == 0 && lexicon.IsSummaryLine(line) && !strings.ContainsAny(line, ":/"):
			said = mark.Inline(line, 60)
		case numbered.MatchString(line):
			hits = append(hits, line)
			fallthrough
		default:
			all = append(all, line)
		}
	}
	if len(hits) == 0 {
		hits = all
	}
	if said == "" {
		said = fmt.Sprintf("%d hits", len(hits))
	}
	for n, h := range hits[:min(len(hits), v.hits)] {
		said += []string{": ", ", "}[min(n, 1)] + code(h, 100)
	}
	return said
}

// webGist is how a page or a list of finds begins, and its first addresses.
func webGist(text string, v detail) string {
	s := mark.Inline(text, max(60, v.text/2))
	for _, a := range webAddress.FindAllString(lexicon.Head(text, 20000), v.hits) {
		if !strings.Contains(s, a) {
			s += " " + mark.Inline(a, 120)
		}
	}
	return s
}

// webAddress is an address, without the quote or bracket that it stands in.
var webAddress = regexp.MustCompile("https?://[^\\s\"'<>(){}|\\\\`\\[\\],]+")
