package compactor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

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

// relative returns a command with the paths below the session's directories relative to them, and without a change to one of them.
func (d *draft) relative(line string) string {
	if run := transcript.NormalizeRun("", line); run.Dir != "" && slices.ContainsFunc(d.roots, func(root string) bool { return transcript.SamePath(root, run.Dir) }) {
		if i := strings.Index(line, run.Command); i > 0 && strings.HasPrefix(line, "cd ") {
			line = line[i:]
		}
	}
	return d.below(line)
}

// below returns a text with the paths below the session's directories relative to them.
func (d *draft) below(text string) string {
	for _, root := range d.roots {
		text = strings.TrimSuffix(strings.ReplaceAll(text, root+"/", ""), " in "+root)
	}
	return text
}

// verbs are the words for what a call does.
var verbs = map[transcript.Op]string{
	transcript.Read: "read", transcript.Write: "wrote", transcript.Edit: "edit", transcript.Delete: "deleted", transcript.Rename: "moved",
	transcript.Search: "search", transcript.Web: "web", transcript.Ask: "asked", transcript.Agent: "sub-agent", transcript.Plan: "plan",
}

// doing says what a call does in one phrase of about most chars.
func (d *draft) doing(c *session.Call, most int) string {
	if c == nil {
		return "a call"
	}
	what := ""
	switch {
	case c.Op == transcript.Command && c.Command != "":
		return "`" + mark.Inline(bothEnds(joined(d.relative(c.Command)), most), 0) + "`"
	case len(c.Files) > 0:
		what = mark.Inline(d.path(c.Files[0].File.Path), most)
		if n := len(c.Files); n > 1 {
			what += fmt.Sprintf(" and %d more", n-1)
		}
		if first := max(1, c.Lines[0]); c.Lines[1] > 0 {
			what += fmt.Sprintf(" lines %d-%d", first, first+c.Lines[1]-1)
		}
	case d.planText(c) != "":
		return "the plan"
	case c.Op == transcript.Search: // a pattern, and where
		what = mark.Inline(d.relative(c.Query), most)
	case c.Query != "":
		what = "\"" + mark.Inline(d.relative(c.Query), most) + "\""
	}
	verb := verbs[c.Op]
	if verb == "" {
		verb = cmp.Or(mark.Inline(c.Tool, 60), "a call")
	}
	return strings.TrimSpace(verb + " " + what)
}

// bothEnds shortens a line to about most chars: a third of them are its end.
func bothEnds(line string, most int) string {
	if lexicon.Chars(line) <= most {
		return line
	}
	return strings.TrimSpace(lexicon.HeadAt(line, most*2/3)) + gapMark + strings.TrimSpace(lexicon.TailAt(line, most/3))
}

// action returns what a call does, with its whole command or plan.
func (d *draft) action(c *session.Call) transcript.Action {
	return d.s.Client().Understand(c.Tool, d.src.Raw(c.At))
}

// output returns the text of a call's result as the tool printed it.
func (d *draft) output(c *session.Call) string {
	if c.Result.Zero() {
		return ""
	}
	text := d.src.Outcome(c).Text
	if c.Op == transcript.Read {
		text = withoutNumbers(text)
	}
	if c.HasExit { // the head says it
		text = strings.TrimPrefix(text, fmt.Sprintf("Exit code %d\n", c.Exit))
	}
	return shownText(text)
}

// withoutNumbers removes the line numbers that a client puts before the lines of a file, if all lines have one.
func withoutNumbers(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		rest := strings.TrimLeft(strings.TrimLeft(line, " "), "0123456789")
		after, ok := strings.CutPrefix(rest, "→")
		if !ok {
			after, ok = strings.CutPrefix(rest, "\t")
		}
		if !ok || len(rest) == len(line) {
			return text
		}
		b.WriteString(after)
	}
	return b.String()
}

// shownText returns a text without the codes of a terminal and blank lines at its ends.
func shownText(text string) string {
	if strings.Contains(text, "\x1b") {
		text = ansi.Strip(text)
	}
	return strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
}

// changes returns the lines that a call removes from files and those that it adds.
func (d *draft) changes(c *session.Call) (removed, added []string) {
	text, whole := d.src.Patch(c)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case whole:
			added = append(added, line)
		case strings.HasPrefix(line, "+"):
			added = append(added, strings.TrimPrefix(line[1:], " "))
		case strings.HasPrefix(line, "-"):
			removed = append(removed, strings.TrimPrefix(line[1:], " "))
		}
	}
	return removed, added
}

// planText returns the plan that a call shows the human, "" if it asks something else.
func (d *draft) planText(c *session.Call) string {
	raw := d.src.Raw(c.At)
	if c.Op != transcript.Ask || transcript.HasQuestions(raw) {
		return ""
	}
	text, _ := transcript.Question(raw, "")
	return cmp.Or(text, c.Query, "(written to its file)")
}

// asText returns words of the transcript in quotes, on one line.
func asText(text string, most int) string { return "\"" + mark.Inline(text, most) + "\"" }

// joined returns a text on one line: each run of white space is one blank.
func joined(text string) string { return strings.Join(strings.Fields(text), " ") }
