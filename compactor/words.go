package compactor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// path returns a path for a line: relative to the session's newest or first directory if it is below it.
func (d *draft) path(p string) string {
	for _, root := range d.roots {
		if rest, ok := transcript.Below(p, root); ok && rest != "" {
			return rest
		}
	}
	return p
}

// rootsOf returns the directories relative to which paths are shown: the newest and the first.
func rootsOf(s *session.Session) (all []string) {
	for _, root := range []string{transcript.Join("", s.Status().Cwd), s.Root()} {
		if len(root) > 3 {
			all = append(all, root)
		}
	}
	return all
}

// command returns a command as it was run: with its variables, and with its directory unless that is the session's root;
// without filters that only shorten its output.
func (d *draft) command(c *session.Call) string {
	line := strings.TrimSpace(c.Command)
	for strings.HasPrefix(line, "#") { // comments above the command
		_, rest, ok := strings.Cut(line, "\n")
		if !ok {
			break
		}
		line = strings.TrimSpace(rest)
	}
	if len(c.Acts) > 0 && strings.Contains(line, "\n") { // without the texts of here-documents, and what only looks
		return d.relative(strings.Join(c.Acts, " … "))
	}
	r := transcript.NormalizeRun("", line)
	before := ""
	if i := strings.Index(line, r.Command); i > 0 {
		before = line[:i]
	}
	if rest, ok := strings.CutPrefix(before, "cd "); ok {
		if dir, vars, ok := strings.Cut(rest, "&&"); ok && transcript.SamePath(strings.Trim(strings.TrimSpace(dir), `"'`), d.s.Root()) {
			before = strings.TrimLeft(vars, " ")
		}
	}
	if r.Command == "" {
		return d.relative(line)
	}
	return strings.TrimSpace(d.relative(before + r.Command))
}

// relative returns a command with the paths below the session's directories relative to them.
func (d *draft) relative(text string) string {
	for _, root := range d.roots {
		text = strings.ReplaceAll(text, root+"/", "")
	}
	return text
}

// label says what a call does in one phrase of about most chars.
func (d *draft) label(c *session.Call, most int) string {
	file := ""
	if len(c.Files) > 0 {
		file = d.pathEnd(c.Files[0].File, most)
		if n := len(c.Files); n > 1 && c.Op != transcript.Command {
			file += fmt.Sprintf(" and %d more", n-1)
		}
	}
	quoted := func(text string) string {
		if text = d.relative(text); text == "" {
			return "with " + mark.Inline(c.Tool, 60)
		}
		for _, root := range d.roots {
			text = strings.TrimSuffix(text, " in "+root)
		}
		return "\"" + mark.Inline(text, most) + "\""
	}
	switch c.Op {
	case transcript.Command:
		if c.Stdin {
			return "input to a running command"
		}
		ran := "ran `" + mark.Inline(d.command(c), most) + "`"
		if i := slices.IndexFunc(c.Files, func(f session.Change) bool { return f.Sure && f.Op != transcript.Read }); i >= 0 && strings.HasSuffix(ran, "…`") {
			ran += ", which changed " + d.pathEnd(c.Files[i].File, most)
		}
		return ran
	case transcript.Read:
		lines := ""
		if c.Lines[0] > 0 && c.Lines[1] > 0 {
			lines = fmt.Sprintf(" lines %d-%d", c.Lines[0], c.Lines[0]+c.Lines[1]-1)
		}
		return "read " + file + lines
	case transcript.Write:
		return "wrote " + file
	case transcript.Edit:
		return "edited " + file
	case transcript.Delete:
		return "deleted " + file
	case transcript.Rename:
		return "moved " + file
	case transcript.Search:
		return "searched " + quoted(c.Query)
	case transcript.Web:
		return "fetched " + quoted(c.Query)
	case transcript.Ask:
		return "asked " + quoted(c.Query)
	case transcript.Agent:
		return "sub-agent " + quoted(c.Query)
	case transcript.Plan:
		return "updated the plan"
	}
	if c.Query != "" {
		return mark.Inline(c.Tool, 60) + " " + quoted(c.Query)
	}
	return mark.Inline(c.Tool, 60)
}

// first joins the first n texts, and counts the others.
func first(all []string, n int) string {
	if len(all) <= n {
		return strings.Join(all, ", ")
	}
	return strings.Join(all[:n], ", ") + fmt.Sprintf(" and %d more", len(all)-n)
}

// pathEnd returns a file's path in about most chars: of a long one the end, which says what it is.
func (d *draft) pathEnd(f *session.File, most int) string {
	path := d.path(f.Path)
	if lexicon.Chars(path) > most {
		path = lexicon.Tail(path, most-1)
		if i := strings.IndexByte(path, '/'); i >= 0 && i < len(path)/2 {
			path = path[i:]
		}
		path = "…" + path
	}
	return "`" + mark.Inline(path, 0) + "`"
}

// noun names a call that was not made, for a sentence about its refusal.
func (d *draft) noun(c *session.Call, most int) string {
	verb, rest, ok := strings.Cut(d.label(c, most), " ")
	switch {
	case !ok:
		return "a call of " + verb
	case verb == "ran":
		return rest
	case verb == "edited" || verb == "wrote" || verb == "deleted" || verb == "moved":
		return "a change of " + rest
	case verb == "asked" && d.planText(c) != c.Query:
		return fmt.Sprintf("the plan of #%d", c.At.N())
	case verb == "asked":
		return "to answer " + rest
	}
	return verb + " " + rest
}

// state says how a call ended, as ", exit 1"; "" if there is nothing to say.
func (d *draft) state(c *session.Call) string {
	switch {
	case c.State == session.Pending:
		if before := d.sentBefore(c); before != nil {
			return fmt.Sprintf(", sent, no result; the same went well at #%d: check", before.At.N())
		}
		return ", sent, no result: check"
	case c.State == session.Running:
		return ", in the background"
	case c.Undoes != nil:
		return fmt.Sprintf(", undoes #%d", c.Undoes.At.N())
	case c.Over() && c.Replaced == c.Index:
		return ", no change"
	case c.Aborted:
		return ", aborted"
	}
	ending := c.Ending()
	if c.State == session.Done && c.Silent && !c.Errors && d.isCheck(c) {
		ending += ", no error printed"
	}
	if ending != "" {
		return ", " + ending
	}
	return ""
}

// sentBefore returns the newest successful call to another machine about the same thing, whatever text it sent; nil if there is none.
func (d *draft) sentBefore(c *session.Call) *session.Call {
	about := func(c *session.Call) string {
		before, _, _ := strings.Cut(strings.ReplaceAll(d.command(c), "\"", "'"), "'")
		return before
	}
	if what := about(c); c.Remote() && what != d.command(c) && idForm.MatchString(what) {
		for _, one := range slices.Backward(d.s.Calls) {
			if one != c && one.State == session.Done && one.Remote() && about(one) == what {
				return one
			}
		}
	}
	return nil
}

// outcome says how a call ended and what it gave, as `, exit 1: "..."`; "" if there is nothing to say.
func (d *draft) outcome(c *session.Call, most int) string {
	said := ""
	switch {
	case c.State == session.Failed:
		said = d.errorLine(c)
	case c.State != session.Done:
	case strings.TrimSpace(d.src.Outcome(c).Text) == "":
		return d.state(c) + ", no output"
	case c.Op == transcript.Command:
		said = d.lastLine(c)
	}
	if said == "" {
		return d.state(c)
	}
	return d.state(c) + ": \"" + mark.Inline(said, most) + "\""
}

// lastLine returns what a result says about its run: the line that sums it up, all of a short one, or a short last
// line that begins with a number. If the status is hidden and there
// are error lines, it is one of these. "" if there is none.
func (d *draft) lastLine(c *session.Call) string {
	if c.Result.Zero() || c.Remote() { // a remote's answer has no last line of its own
		return ""
	}
	text := d.src.Outcome(c).Text
	if c.Silent && c.Errors {
		if said, _ := firstError(text, true); said != "" {
			return said
		}
	}
	if s := strings.TrimSpace(lexicon.SummaryLine(text)); s != "" && speaks(s) && single(text, s) {
		return lexicon.Head(s, 300)
	}
	lines := lexicon.LastLines(text, 8)
	if all := strings.Join(lines, "\n"); len(lines) <= 3 && !slices.ContainsFunc(lines, func(l string) bool { return !speaks(l) || d.s.Repeated(l) }) && len(all) <= 300 {
		return all
	}
	for _, l := range slices.Backward(lines) {
		if l = strings.TrimSpace(l); l != "" && l[0]-'0' < 10 && strings.Count(l, " ") < 4 && speaks(l) && single(text, l) { // a count
			return lexicon.Head(l, 300)
		}
	}
	return ""
}

// single reports whether no other line of a text begins as a line does, so that it speaks of all and not of a part.
func single(text, line string) bool {
	first := func(l string) string {
		word, _, _ := strings.Cut(strings.TrimSpace(l), " ")
		word, _, _ = strings.Cut(word, "\t")
		return figures.ReplaceAllString(word, "0")
	}
	n, word := 0, first(line)
	for l := range strings.Lines(text) {
		if first(l) == word {
			n++
		}
	}
	return n < 2
}

// speaks reports whether a line has words, and is neither data nor a list of paths nor a runner's echo of a command or pointer into the
// source.
func speaks(line string) bool {
	paths := !slices.ContainsFunc(strings.Fields(line), func(w string) bool { return !strings.ContainsAny(w, `/\`) })
	return !paths && strings.ContainsFunc(line, unicode.IsLetter) && line[0] != '>' && (len(line) < 80 || line[0] != '{' && line[0] != '[')
}

// column is the place of a compiler's or linter's line.
var column = regexp.MustCompile(`^[^\s:]*[./][^\s:]*:[0-9]+:[0-9]+: \S`)

// named is an error by its class, with what it says.
var named = regexp.MustCompile(`^(?:E\s+)?(?:[\w$]+[.:]+)*[A-Z]\w*(?:Error|Exception): \S`)

// errorLine returns the line of a failed result that says most: the first error with a place and words, else the first that
// names its class, else the first with a place, else the first error, else the last line.
func (d *draft) errorLine(c *session.Call) string {
	if c.Result.Zero() || c.Aborted {
		return ""
	}
	text := d.src.Outcome(c).Text
	said, placed := firstError(text, false)
	if _, after, _ := strings.Cut(said, ": "); placed && strings.Contains(after, " ") {
		return said
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); named.MatchString(line) {
			return lexicon.Head(line, 300)
		}
	}
	if placed {
		return said
	}
	for line := range strings.Lines(text) { // where it failed, if no error line says so
		if line = strings.TrimSpace(line); column.MatchString(line) && speaks(line) {
			return lexicon.Head(line, 300)
		}
	}
	if said != "" {
		return said
	}
	return d.lastLine(c)
}

// firstError returns the first error line with a place, else the first error line, "" if there is none.
func firstError(text string, strict bool) (first string, placed bool) {
	for _, line := range lexicon.NumberedErrors(text, strict) {
		line = strings.TrimSpace(line)
		if !speaks(line) {
			continue
		}
		if lexicon.IsPlaced(line) && !warns(line) {
			return lexicon.Head(line, 300), true
		}
		if first == "" || warns(first) && !warns(line) {
			first = line
		}
	}
	return lexicon.Head(first, 300), false
}

// warns reports whether a line is only a warning.
func warns(line string) bool {
	line = strings.ToLower(line)
	return strings.HasPrefix(line, "warn") || strings.Contains(line, ": warning:")
}

// usedValues counts the values of a text that are used after an event.
func (d *draft) usedValues(text string, e int32) int {
	n, seen := 0, map[string]bool{}
	lexicon.Terms(text[:min(len(text), 16<<10)], func(term string) bool {
		if len(term) > 3 && !seen[term] && d.s.UsedAfter(term, e) {
			n++
		}
		seen[term] = true
		return len(seen) < 400
	})
	return n
}
