package look

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/cli/agents"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/table"
	"ccd/cmd/ccd/internal/view"
	"ccd/compactor"
	"ccd/compactor/companion"
	"ccd/daemon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

type showFlags struct {
	agent, section, form string
	fresh, path, explain bool
	steps                bool
}

func (a *app) showCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "show [SESSION]", GroupID: cli.Everyday, Short: "print a session's companion",
		Long: `On a terminal, prints the handover of the companion as ccd last wrote it; in a
pipe, the whole file. If the file is missing, ccd rebuilds it from
the archive. Text that is damaged in the archive is shown as
"[ccd ID content unavailable: PATH, hash mismatch]".

--path prints the path of its file instead, and exits 3 if there is none. With
--json: agent, session, companion, source (the transcript), source_present.

--steps lists the calls by what their results added to the context; on a
terminal the first 20. With --json: one array: record (of the result), tool,
what, about_tokens, seconds (from the call to the result, 0 if unknown), gone
(a compaction took it out of the context), id.

` + cli.ExplainColumns + `

` + cli.SessionWords,
		Example: `  ccd show
      the companion of this directory's session
  ccd show --section handover 5d2f7a1e
      the last request, work in progress, plan and open problems
  ccd show --format html latest > page.html
      read it in a browser`,
	}
	var f showFlags
	c.Args = cli.OneSession
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.section != "" && f.form == cli.AsMessages {
			return cli.Usage(c, errors.New("--section cannot be used with --format messages"))
		}
		arg := cli.SessionOf(args)
		switch {
		case f.path:
			return a.showPath(c.Context(), arg, f.agent)
		case f.steps, f.explain: // which have JSON of their own
			return a.show(c.Context(), arg, f)
		}
		err := a.NoJSON(c)
		if err != nil {
			return words.Hint(err, "ccd show --format json %s", words.Argument(arg))
		}
		if a.Agent {
			if arg, err = a.named(c.Context(), strings.Join(args, ""), f.agent); err != nil {
				return err
			}
		}
		return a.show(c.Context(), arg, f)
	}
	cli.FormatFlag(c.Flags(), &f.form, "")
	c.Flags().StringVar(&f.section, "section", "", "print only the section `NAME`, by its heading: handover, record or files")
	c.Flags().BoolVar(&f.fresh, "fresh", false, "update the companion first")
	c.Flags().BoolVar(&f.explain, "explain", false, cli.ExplainText)
	c.Flags().BoolVar(&f.steps, "steps", false, "list the calls that filled the context")
	c.Flags().BoolVar(&f.path, "path", false, "print the path of the companion's file")
	a.AgentFlag(c, &f.agent)
	a.MachineFlag(c)
	cli.NotWith(c, "path", "section", "format", "fresh") // each of these prints something else than the file
	cli.NotWith(c, "steps", "section", "format", "fresh", "explain")
	cli.NotWith(c, "explain", "section", "format")
	return c
}

// showPath prints the path of a session's companion.
func (a *app) showPath(ctx context.Context, arg, agent string) error {
	a.CollectLess()
	l, e, err := a.Session(ctx, arg, agent)
	if err != nil {
		return err
	}
	if e.Kept.Companion == "" {
		return l.Missing(words.Hint(fmt.Errorf("find companion of session %s: %w: it has none yet", e.Name(), archive.ErrNotFound),
			"ccd compact %s", l.Argument(e)))
	}
	if err := disk.Readable(e.Kept.Companion); err != nil {
		what := "is missing"
		if errors.Is(err, fs.ErrPermission) {
			what = "is not readable by you; once its transcript is deleted, it is at " + companion.Path(e.Session.Session, filepath.Join(l.StateDir, "companions"))
		}
		return words.Hint(fmt.Errorf("find companion of session %s: %w: %s %s", e.Name(), archive.ErrNotFound, e.Kept.Companion, what),
			"ccd show %s", l.Argument(e))
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{
			"agent": e.Agent, "session": mark.Name(e.Name()), "companion": mark.Name(e.Kept.Companion), "source": mark.Name(e.Path), "source_present": e.Present(),
		})
	}
	return a.Print(e.Kept.Companion + "\n")
}

func (a *app) show(ctx context.Context, arg string, f showFlags) error {
	l, e, err := a.Session(ctx, arg, f.agent)
	if err != nil {
		return err
	}
	if e.StateDamage != nil {
		a.Incomplete(l) // the labels and options that the user chose are lost
	}
	if e.Agent == transcript.Messages && f.form == cli.AsMessages {
		return agents.FilterArchived(ctx, a.App, l, e)
	}
	if !f.fresh {
		a.SayLag(l, e)
	}
	if f.steps {
		return a.showSteps(ctx, l, e)
	}
	c, err := a.companionOf(ctx, l, e, f)
	if err != nil {
		return err
	}
	if f.explain {
		return a.PrintExplained(c.Made.Events)
	}
	if a.Width() > 0 && f.form == "" && f.section == "" {
		return a.showHandover(l.Argument(e), body(c.Text))
	}
	return a.PrintForm(c, f.form, f.section)
}

// showHandover prints the first section of a companion and says how to see the rest.
func (a *app) showHandover(session, text string) error {
	if text == "" {
		a.Say("ccd finds nothing in it that was said or done; its records: ccd restore --session %s", session)
		return nil
	}
	handover, _, _ := strings.Cut(text, "\n## ")
	_, lines, _ := strings.Cut(handover, "\n")
	var b strings.Builder
	for line := range strings.Lines(view.ForPerson(lines)) { // "Git: branch ...": what it is about stands above what it says
		about, says, _ := strings.Cut(mark.Visible(strings.TrimSpace(line)), ": ")
		b.WriteString(table.Head.Paint(about, a.Colours()) + "\n")
		for _, part := range table.WrapCells(says, max(a.Width()-4, table.MinCells)) {
			b.WriteString(strings.TrimRight("    "+part, " ") + "\n")
		}
	}
	if err := a.Draw(b.String()); err != nil {
		return err
	}
	a.sayRecord(session)
	a.Say("all of it: ccd show %[1]s | less\na section: ccd show %[1]s --section NAME (%s, %s)\nwhat filled the context: ccd show %[1]s --steps", session, strings.ToLower(compactor.Record), strings.ToLower(compactor.Files))
	return nil
}

// sayRecord says on a terminal what prints a record of a session.
func (a *app) sayRecord(session string) {
	if name := strings.TrimPrefix(session, "-- "); a.Width() > 0 { // one that begins with a dash
		a.Say("\na record: ccd restore %s'%s#N'", strings.TrimSuffix(session, name), name)
	}
}

// body returns a companion without what tells agents and programs what the file is, "" if that is all.
func body(companion []byte) string {
	_, after, ok := strings.Cut(string(companion), "\n## ")
	if !ok {
		return ""
	}
	return "## " + after
}

// companionOf returns the session's companion as it was last written. It makes a new one if that is missing, or if the
// form needs more than its text.
func (a *app) companionOf(ctx context.Context, l *reader.Library, e *reader.Entry, f showFlags) (reader.Companion, error) {
	defer a.Waiting()()
	if f.fresh {
		return a.freshCompanion(ctx, e)
	}
	return l.Companion(ctx, e, f.form == cli.AsMessages || f.explain)
}

func (a *app) freshCompanion(ctx context.Context, e *reader.Entry) (reader.Companion, error) {
	d, l, err := a.DaemonFor(ctx, false)
	if err != nil {
		return reader.Companion{}, err
	}
	d.Summarize = nil // agents may run this without asking, with any configuration, so it starts no command
	made, err := d.Compact(ctx, e.Key, daemon.CompactOptions{Write: true})
	if errors.Is(err, daemon.ErrNotPlaced) { // its text exists, which is enough here
		fmt.Fprintf(a.Err, "ccd: warning: %v\n", err)
		made, err = d.Compact(ctx, e.Key, daemon.CompactOptions{})
	}
	if err != nil {
		return reader.Companion{}, err
	}
	return l.Fresh(ctx, e.Session.Session, made), nil
}

// mostSteps is how many of the largest steps are listed on a terminal.
const mostSteps = 20

// showSteps prints the calls that added most to a session's context.
func (a *app) showSteps(ctx context.Context, l *reader.Library, e *reader.Entry) error {
	var index view.Index
	done := a.Waiting()
	err := index.Grow(ctx, l, e)
	if done(); err != nil {
		return err
	}
	all, tokens := index.Steps()
	if a.JSON {
		return a.PrintJSON(all)
	}
	rows := all
	if a.Width() > 0 {
		rows = all[:min(len(all), mostSteps)]
	}
	a.Say("%s", inContext(e, all, tokens))
	if err := cli.PrintTable(a.App, rows, []table.Column[view.Step]{
		{Head: "RECORD", Text: func(s view.Step) string { return "#" + strconv.Itoa(s.Record) }},
		{Head: "TOKENS", Text: func(s view.Step) string { return status.Size{Tokens: s.Tokens, About: true}.Short() }},
		{Head: "TOOK", Drop: 1, Text: func(s view.Step) string {
			if s.Seconds < 1 { // or not recorded
				return ""
			}
			return words.Short(s.Took())
		}},
		{Head: "NOW", Text: func(s view.Step) string { return map[bool]string{true: "gone"}[s.Gone] }},
		{Head: "TOOL", Text: func(s view.Step) string { return mark.Inline(s.Tool, 30) }},
		{Head: "WHAT", Least: 20, Cut: table.CutMiddle, Text: func(s view.Step) string { return within(e.Kept.Cwd, s.What) }, Piped: func(s view.Step) string { return mark.Inline(s.What, 0) }},
		{Head: "ID", Text: func(s view.Step) string { return string(s.ID) }},
	}); err != nil {
		return err
	}
	a.SayMore(len(all)-len(rows), "result", "ccd show "+l.Argument(e)+" --steps | less")
	return nil
}

// inContext says how much of the context the results of calls are: what else is in it are the words of people and the agent.
func inContext(e *reader.Entry, all []view.Step, tokens int64) string {
	gone := 0
	for _, s := range all {
		if s.Gone {
			gone++
		}
	}
	text := words.Count(len(all)-gone, "result")
	if size := status.SizeOf(e.Kept.Reported, e.Kept.About, e.Kept.Estimate, 0); size.Tokens > 0 {
		text += fmt.Sprintf(", %s of the %s tokens in the context", status.Size{Tokens: tokens, About: true}.Short(), size.Short())
	}
	if gone > 0 {
		text += fmt.Sprintf("; %d from before the last compaction", gone)
	}
	return text
}

// within is what a call does, a file as the session's directory names it.
func within(dir, what string) string {
	if rest, ok := transcript.Below(what, dir); ok {
		what = rest
	}
	return mark.Inline(what, 0)
}
