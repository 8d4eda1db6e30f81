package compactor

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// status is the exit status of a command, or that a tool failed.
func (d *draft) status(i int32) string {
	row := d.row(i)
	said := ""
	switch {
	case row.has(rejected):
		said = " -> refused"
	case row.has(exits):
		said = fmt.Sprintf(" -> %d", row.exit)
	case row.has(failed):
		said = " -> failed"
	}
	if row.has(claimed) {
		said += " (the tool wrote this, not the human)"
	}
	return said
}

// fileForm stands for the content of a file that was read.
func (d *draft) fileForm(i int32, start string) form {
	row := d.row(i)
	out := d.outcome(i)
	if row.has(pictured) && out.Text == "" {
		m := d.imageMarker(i)
		return form{line: start + " " + m, kind: "image", saved: int64(row.chars) - int64(lexicon.Chars(m))}
	}
	path := ""
	if row.pair >= 0 {
		if a := d.action(row.pair); len(a.Files) > 0 {
			path = a.Files[0].Path
		}
	}
	content, first, ok := transcript.FileText(out.Text)
	lines := lexicon.AllLines(content)
	what := fmt.Sprintf("file %s, %d lines", mark.Inline(d.near(path), 300), lines)
	if id := transcript.Demoted(out.Text); id != "" {
		what = fmt.Sprintf("file %s, its first %d lines%s", mark.Inline(d.near(path), 300), lines, wholeOf(id))
	}
	if ok && row.has(partial) {
		what = fmt.Sprintf("file %s, lines %d-%d", mark.Inline(d.near(path), 300), first, first+max(0, lines-1))
	}
	if t := d.c.records.at(int(row.rec)).time(); !t.IsZero() {
		what += ", read " + t.Format("2006-01-02T15:04Z")
	}
	// Nothing is said where no edit is known: a checkout or a formatter may have changed the file all the same.
	if f := d.fileOf(row); f != nil && f.edits > uint32(row.edits) {
		what += fmt.Sprintf(", edited %dx later", f.edits-uint32(row.edits))
	}
	m := mark.New(d.id(i), what)
	if whole, fits := mark.Fits(out.Text, lexicon.Chars(m)); fits {
		return form{line: start + " " + code(d.near(path), 300) + ": " + whole}
	}
	return form{line: start + " " + m, kind: "file", saved: int64(row.chars) - int64(lexicon.Chars(m))}
}

// outputForm stands for the output of a command: status, duration, what went wrong, the line that sums it up.
func (d *draft) outputForm(i int32, start string, v detail) form {
	row := d.row(i)
	out := d.outcome(i)
	start += d.status(i)
	whole, fits := mark.Fits(out.Text, maxLine/2-1)
	if n := lexicon.Chars(whole); fits && (n <= wholeText || (n <= v.text && int(row.chars) < d.c.o.OutputChars)) {
		if whole == "" {
			return form{line: start}
		}
		return form{line: start + ": " + whole}
	}
	gist := gistOf(d.commandOf(row), row.has(failed), out.Text, v)
	m := mark.New(d.id(i), fmt.Sprintf("output, %d lines, %s%s", lexicon.CountLines(out.Text), bytesText(row.size()), wholeOf(transcript.Demoted(out.Text))))
	if out.Duration > 0 {
		gist = strings.TrimPrefix(gist+", "+out.Duration.Round(100*time.Millisecond).String(), ", ")
	}
	if fits && lexicon.Chars(gist)+lexicon.Chars(m) >= lexicon.Chars(whole) {
		return form{line: start + ": " + whole}
	}
	if gist == "" {
		return form{line: start + " " + m, kind: "output", saved: int64(row.chars) - int64(lexicon.Chars(m))}
	}
	return form{line: start + ": " + gist + " " + m, kind: "output", saved: int64(row.chars) - int64(lexicon.Chars(m)+lexicon.Chars(gist))}
}

// wholeOf tells how the whole of a demoted output comes back: the transcript itself has only its beginning.
func wholeOf(id mark.ID) string {
	if id == "" {
		return ""
	}
	return fmt.Sprintf("; the whole: `ccd agent restore %s`", id)
}

// commandOf is the command that a result answers, "" where it is not known.
func (d *draft) commandOf(row *itemRow) string {
	if row.pair < 0 {
		return ""
	}
	a := d.action(row.pair)
	return a.Command
}

// gistOf is what an output says, in short: its error lines and its summary; where it has neither, how it begins or, of
// a failure, how it ends. What a command merely shows of files is no error of its own.
func gistOf(command string, bad bool, text string, v detail) string {
	n := v.errors
	if !bad {
		n = min(n, 2)
	}
	if !bad && showsText(command) {
		if printsFile(command) {
			return "" // how a file begins tells nothing
		}
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

// showsText reports whether a command prints what files hold.
func showsText(command string) bool {
	words := strings.Fields(plainCommand(command))
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "cat", "sed", "head", "tail", "nl", "less", "grep", "rg", "find", "ls", "tree", "awk", "jq", "wc", "echo", "bat":
		return true
	case "git":
		return len(words) > 1 && (words[1] == "show" || words[1] == "diff" || words[1] == "log" || words[1] == "status")
	}
	return false
}

// printsFile reports whether a command prints a file, or a part of it.
func printsFile(command string) bool {
	first, _, _ := strings.Cut(plainCommand(command), " ")
	switch first {
	case "cat", "sed", "head", "tail", "nl", "less", "bat":
		return true
	}
	return false
}

// answerForm stands for the result of a search, of the web or of any other tool.
func (d *draft) answerForm(i int32, start string, v detail) form {
	row := d.row(i)
	out := d.outcome(i)
	start += d.status(i)
	whole, fits := mark.Fits(out.Text, maxLine/2-1)
	if fits && lexicon.Chars(whole) <= wholeText {
		if whole == "" && row.has(pictured) {
			return form{line: start + " " + d.imageMarker(i), kind: "image", saved: int64(row.chars)}
		}
		return form{line: start + ": " + whole}
	}
	kind, gist := "result", ""
	switch {
	case row.has(failed):
		gist, _ = d.wrong(i, v)
	case row.op == transcript.Search && out.Spilled == "":
		gist = d.searchGist(out.Text, v)
	case row.op == transcript.Web:
		gist = webGist(out.Text, v)
	default:
		gist = mark.Inline(out.Text, max(60, v.text/2))
	}
	m := mark.New(d.id(i), fmt.Sprintf("%s, %s%s", kind, bytesText(row.size()), wholeOf(transcript.Demoted(out.Text))))
	if fits && lexicon.Chars(gist)+lexicon.Chars(m) >= lexicon.Chars(whole) {
		return form{line: start + ": " + whole}
	}
	return form{line: start + ": " + gist + " " + m, kind: kind, saved: int64(row.chars) - int64(lexicon.Chars(m)+lexicon.Chars(gist))}
}

// searchGist counts the hits of a search and names the first ones.
func (d *draft) searchGist(text string, v detail) string {
	text = d.nearText(text)
	hits, said := hitsOf(text)
	count := fmt.Sprintf("%d hits", len(hits))
	if said != "" {
		count = mark.Inline(said, 60)
	}
	hits = hits[:min(len(hits), v.hits)]
	if len(hits) == 0 {
		return count
	}
	named := make([]string, 0, len(hits))
	for _, h := range hits {
		named = append(named, code(h, 100))
	}
	return count + ": " + strings.Join(named, ", ")
}

// hitsOf gives the lines of a search's result that are hits, and the count that the tool itself says above them, ""
// where it says none. Lines that only surround a hit (`path-12-text`) are none: they name a file that has one.
func hitsOf(text string) (hits []string, said string) {
	files := map[string]bool{}
	for line := range strings.Lines(text) {
		for name := range places(line, ':') {
			files[name] = true
			break
		}
	}
	first := true
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line == "--" {
			continue
		}
		if first && lexicon.IsSummaryLine(line) && !strings.ContainsAny(line, ":/") {
			said = line
			continue
		}
		first = false
		if !surrounds(line, files) {
			hits = append(hits, line)
		}
	}
	return hits, said
}

// surrounds reports whether a line is one beside a hit in one of the files.
func surrounds(line string, files map[string]bool) bool {
	for name := range places(line, '-') {
		if files[name] {
			return true
		}
	}
	return false
}

// places gives the file names that a line may begin with: what stands before a number between two separators, as in
// `path:12:text`, without its directories; "" in `12:text`, of a search in a single file.
func places(line string, sep byte) iter.Seq[string] {
	line = line[:min(len(line), maxPath)]
	return func(yield func(string) bool) {
		for i := -1; i < len(line); {
			j := i + 1
			for j < len(line) && line[j] >= '0' && line[j] <= '9' {
				j++
			}
			path := line[:max(i, 0)]
			if j > i+1 && j < len(line) && line[j] == sep && !yield(path[strings.LastIndexByte(path, '/')+1:]) {
				return
			}
			k := strings.IndexByte(line[i+1:], sep)
			if k < 0 {
				return
			}
			i += 1 + k
		}
	}
}

// address is a URL without what stands right behind it: the quote or bracket that it stood in.
func address(s string) string {
	if i := strings.IndexAny(s, "\"'<>()[]{}|\\`"); i > 0 {
		return s[:i]
	}
	return s
}

// webGist is how a page or a list of finds begins, and its first addresses.
func webGist(text string, v detail) string {
	s := mark.Inline(text, max(60, v.text/2))
	shown := 0
	for _, w := range strings.Fields(lexicon.Head(text, 20000)) {
		w = strings.Trim(w, "\"'<>()[]{},")
		i := strings.Index(w, "http")
		if i < 0 || shown == v.hits || strings.Contains(s, address(w[i:])) || !strings.Contains(w[i:], "://") {
			continue
		}
		s += " " + mark.Inline(address(w[i:]), 120)
		shown++
	}
	return s
}
