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

// status returns the exit status of a command, or that a tool failed.
func (w *writer) status(i int32) string {
	row := w.row(i)
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

// handedOver begins the message with which Claude Code passes an approved plan to a cleared context.
const handedOver = "Implement the following plan:"

// carriedOut reports whether the next human message contains the plan of a call, which means that it was approved. If the human
// approves a plan and has the context cleared, Claude Code records the call as refused.
func (w *writer) carriedOut(call int32) bool {
	if call < 0 || w.row(call).Op != transcript.Ask || len(w.turns) == 0 {
		return false
	}
	_, plan := w.proposed(call)
	t := w.turnOf(call)
	if plan == "" || t.place+1 >= len(w.turns) {
		return false
	}
	next := w.turns[t.place+1].ask
	return next >= 0 && strings.HasPrefix(w.text(next), handedOver) && strings.Contains(lexicon.Head(w.text(next), 1000), plan)
}

// fileForm returns the line that replaces the content of a file that was read.
func (w *writer) fileForm(i int32, start string) form {
	row := w.row(i)
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
	// Without a known edit it does not say "unchanged", because a checkout or a formatter may have changed the file.
	if f := w.fileOf(row); f != nil && f.Edits > uint32(row.Edits) {
		what += fmt.Sprintf(", edited %dx later", f.Edits-uint32(row.Edits))
	}
	m := mark.New(w.id(i), what)
	if whole, fits := mark.Fits(out.Text, lexicon.Chars(m)); fits {
		return form{line: start + " " + code(w.near(path), 300) + ": " + whole}
	}
	return form{line: start + " " + m, kind: "file", saved: int(row.Chars) - lexicon.Chars(m)}
}

// wholeOf returns how to restore all of a demoted output, of which the transcript has only the beginning.
func wholeOf(id mark.ID) string {
	if id == "" {
		return ""
	}
	return fmt.Sprintf("; the whole: `ccd agent restore %s`", id)
}

// commandOf returns the command of a result, "" if unknown.
func (w *writer) commandOf(row *fold.Row) string {
	if row.Pair < 0 {
		return ""
	}
	return w.action(row.Pair).Command
}

// gistOf returns the gist of a result: why it failed, the hits of a search, the addresses of a page, or its beginning.
func (w *writer) gistOf(i int32, out *transcript.Outcome, v detail) string {
	row := w.row(i)
	switch failed := row.Has(fold.Failed); {
	case row.Op == transcript.Command:
		type key struct {
			detail
			command string
			failed  bool
		}
		command := w.commandOf(row)
		gist := derive(w.Source, i, key{v, command, failed}, func([]byte) string { return w.outputGist(i, command, failed, out.Text, v) })
		if out.Duration > 0 {
			gist = strings.TrimPrefix(gist+", "+out.Duration.Round(100*time.Millisecond).String(), ", ")
		}
		return gist
	case failed:
		gist, _ := w.wrong(i, v)
		return gist
	case row.Op == transcript.Search && out.Spilled == "":
		type key struct {
			hits int
			root string
		}
		return derive(w.Source, i, key{v.hits, w.f.Root()}, func([]byte) string { return w.searchGist(out.Text, v) })
	case row.Op == transcript.Web:
		return webGist(out.Text, v)
	}
	return mark.Inline(out.Text, max(60, v.text/2))
}

// outputGist returns the gist of an output: its error lines and its summary or, if it has neither, its beginning or, for a
// failure, its end. Error lines in the content of printed files do not count.
func (w *writer) outputGist(i int32, command string, bad bool, text string, v detail) string {
	begins := mark.Inline(strings.TrimSpace(lexicon.Head(text, 4*v.text)), min(v.text, 160))
	n := v.errors
	if !bad {
		n = min(n, 2)
		if shows, file := showsText(command); file {
			return "" // the beginning of a file is no gist
		} else if shows {
			return begins
		}
	}
	lines, hidden := w.errorLines(i, n, !bad)
	if said := faults(lexicon.WithTop(text, lines), hidden, lexicon.SummaryLine(text), v); said != "" {
		return said
	}
	if bad {
		return mark.Inline(strings.Join(lexicon.LastLines(text, 3), " / "), v.text)
	}
	return begins
}

// showsText reports whether a command prints the content of files. file reports that it prints a file or a part of one.
func showsText(command string) (shows, file bool) {
	words := append(strings.Fields(transcript.NormalizeRun("", command).Command), "", "")
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

// reasonMark is what Claude Code puts before a person's reason for refusing a call.
const reasonMark = "the user said:"

// reason returns a person's reason for refusing a call from the client's report, "" if they gave none.
func reason(report string) string {
	_, said, ok := strings.Cut(report, reasonMark)
	if said = strings.TrimSpace(said); !ok || said == "" {
		return ""
	}
	return ": " + mark.Inline(said, maxRule)
}

// isNumbered reports whether a line of a search result has a line number: digits before a colon, at its beginning or after
// a colon of a path. If a result has such lines, the others are context.
func isNumbered(line string) bool {
	for end := 0; ; end++ {
		n := strings.IndexByte(line[end:], ':')
		if n < 0 {
			return false
		}
		end += n
		from := end
		for from > 0 && '0' <= line[from-1] && line[from-1] <= '9' {
			from--
		}
		if from < end && (from == 0 || from > 1 && line[from-1] == ':' && line[from-2] != ':') {
			return true
		}
	}
}

// searchGist returns the number of hits of a search, the tool's own count if it gives one, and the first hits.
func (w *writer) searchGist(text string, v detail) string {
	var all, hits []string
	said := ""
	for line := range strings.Lines(w.nearText(text)) {
		switch line = strings.TrimSpace(line); {
		case line == "" || line == "--":
		case len(all) == 0 && lexicon.IsSummaryLine(line) && !strings.ContainsAny(line, ":/"):
			said = mark.Inline(line, 60)
		case isNumbered(line):
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

// webGist returns the beginning of a page or list of hits, and its first addresses.
func webGist(text string, v detail) string {
	s := mark.Inline(text, max(60, v.text/2))
	for _, a := range webAddress.FindAllString(lexicon.Head(text, 20000), v.hits) {
		if !strings.Contains(s, a) {
			s += " " + mark.Inline(a, 120)
		}
	}
	return s
}

// webAddress matches an address without surrounding quotes or brackets.
var webAddress = regexp.MustCompile("https?://[^\\s\"'<>(){}|\\\\`\\[\\],]+")
