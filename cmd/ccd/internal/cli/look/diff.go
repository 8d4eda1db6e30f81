package look

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/install"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/view"
	"ccd/internal/mark"
	"ccd/internal/words"
)

// mostFacts limits how many facts of a class are listed without --all.
const mostFacts = 10

type diffFlags struct {
	agent string
	by    dropped.Choice
	all   bool
}

type diffOutput struct {
	Agent     string `json:"agent"`
	Session   string `json:"session"`
	Connected bool   `json:"connected"`
	*dropped.Report

	argument string // names the session in a command
	by       dropped.Choice
}

func (a *app) diffCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "diff [SESSION]", GroupID: cli.Everyday, Short: "show what the agent's last compaction dropped",
		Long: `Lists what the agent's context contained before the agent compacted it, and
its own summary neither quotes nor names: your messages and decisions, changed
files, failures, checks and commits. A message is kept if the summary has three
fifths of it, without paths, numbers and what you pasted. What the agent said
is not compared, because a summary may say it in other words. CCD ADDS counts
the dropped facts that ccd adds to the context; WOULD ADD, if the agent is not
connected. If ccd answered the compaction, KEPT are the facts kept verbatim.
Exits 3 if the agent has not compacted the session.

With --json: one object: agent, session, connected (ccd's hook is in the
agent's settings), boundary (number of the compaction), boundaries, record
(its first), last_record, time, trigger, tokens_before, summary (ID), by_ccd
(ccd answered the compaction), sealed (a part of the new context is
encrypted), preserved (records kept unchanged), chars (of the summary), facts,
kept, dropped, handed_over (of the dropped ones, those that ccd adds or would
add), classes [{class, facts, kept, dropped, handed_over, list [{text, status,
record, id, output_id, handed_over}] (dropped facts; with --kept: kept ones),
more}]

` + cli.SessionWords,
		Example: `  ccd diff
      what this directory's agent forgot
  ccd diff 5d2f7a1e --kept
      what the summary has
  ccd diff 5d2f7a1e --class files --all
      all changed files that the summary does not name`,
	}
	var f diffFlags
	c.Args = cli.OneSession
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.by.Boundary < 0 {
			return cli.Usage(c, errors.New("--boundary must be 1 or more"))
		}
		return a.diff(c.Context(), cli.SessionOf(args), f)
	}
	cli.OneOf(c.Flags(), &f.by.Class, "class", "list facts of one `CLASS` only", dropped.Classes()...)
	c.Flags().BoolVar(&f.by.Kept, "kept", false, "list the facts that were kept, not the dropped ones")
	c.Flags().BoolVar(&f.all, "all", false, fmt.Sprintf("list all facts, not only %d per class", mostFacts))
	c.Flags().IntVar(&f.by.Boundary, "boundary", 0, "use compaction number `N`, not the last one")
	a.AgentFlag(c, &f.agent)
	a.MachineFlag(c)
	return c
}

func (a *app) diff(ctx context.Context, arg string, f diffFlags) error {
	l, e, err := a.Session(ctx, arg, f.agent)
	if err != nil {
		return err
	}
	if !f.all {
		f.by.Most = mostFacts
	}
	done := a.Waiting()
	out, err := a.diffOf(ctx, l, e, f.by)
	done()
	a.SayLag(l, e)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(out)
	}
	return a.PrintWrapped(diffText(out, a.Agent, a.Width() > 0))
}

// diffOf reports on a compaction of a session. The error is ErrNotFound if there is none.
func (a *app) diffOf(ctx context.Context, l *reader.Library, e *reader.Entry, by dropped.Choice) (diffOutput, error) {
	out := diffOutput{Agent: e.Agent, Session: mark.Name(e.Name()), Connected: slices.Contains(install.Agents(), e.Agent) && !a.unused()(e.Agent), argument: l.Argument(e), by: by}
	var index view.Index
	err := index.Grow(ctx, l, e)
	if err == nil {
		out.Report, err = index.Forgotten(ctx, by)
	}
	var none *dropped.NoneError
	if !errors.As(err, &none) {
		return out, err
	}
	err = fmt.Errorf("find compaction %d of session %s: %w: the session has %s (%s)", by.Boundary, e.Name(), archive.ErrNotFound, words.Count(none.Compactions, "compaction"), words.Count(none.Records, "archived record"))
	switch {
	case none.Compactions == 0 && none.Summary > 0:
		err = fmt.Errorf("diff session %s: %w: it begins with a summary (#%d); the dropped text is not in this session", e.Name(), archive.ErrNotFound, none.Summary)
	case by.Boundary == 0: // the last seconds may not be archived yet
		err = fmt.Errorf("diff session %s: %w: the agent has not compacted it (%s)", e.Name(), archive.ErrNotFound, words.Count(none.Records, "archived record"))
	default:
		return out, words.Hint(err, "ccd diff %s", out.argument)
	}
	return out, words.Hint(err, "ccd show %s", out.argument)
}

// diffText formats a report. Text from the transcript has no control characters.
func diffText(out diffOutput, agent, local bool) string {
	var b strings.Builder
	b.WriteString(diffHead(out, local))
	if out.Facts == 0 {
		b.WriteString("Nothing to compare: before it, ccd found no message, decision, change or failure.\n")
		return b.String() + diffFoot(out, agent)
	}
	row := func(class string, numbers ...any) {
		if out.Told == "" { // ccd has no hook in this agent
			numbers = numbers[:3]
		}
		fmt.Fprintf(&b, "%-9s %5v %5v %7v"+strings.Repeat(" %9v", len(numbers)-3)+"\n", append([]any{class}, numbers...)...)
	}
	b.WriteByte('\n')
	adds := "CCD ADDS"
	if !out.Connected {
		adds = "WOULD ADD"
	}
	row("FACTS", "TOTAL", "KEPT", "DROPPED", adds)
	for _, c := range out.Classes {
		if out.by.Class == "" || c.Class == out.by.Class {
			row(string(c.Class), c.Facts, c.Kept, c.Dropped, c.InTold)
		}
	}
	if out.by.Class == "" {
		row("all", out.Facts, out.Kept, out.Dropped, out.InTold)
	}
	if out.Dropped > 0 && !agent && !out.by.Kept {
		b.WriteString("dropped: the summary does not name it; it may be there in other words\n")
	}
	for _, c := range out.Classes {
		if len(c.List) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s, %d %s:\n", c.Class, len(c.List)+c.More, map[bool]string{true: "kept", false: "dropped"}[out.by.Kept])
		for _, one := range c.List {
			b.WriteString(droppedLine(one) + "\n")
		}
		if c.More > 0 {
			fmt.Fprintf(&b, "  %d more\n", c.More)
		}
	}
	return b.String() + diffFoot(out, agent)
}

// diffHead says which compaction it was, when (in local time if local), and how the agent summarized.
func diffHead(out diffOutput, local bool) string {
	said := []string{fmt.Sprintf("compaction %d of %d, #%d", out.Boundary, out.Boundaries, out.Record)}
	if !local { // a terminal has a heading
		said[0] = out.Agent + " " + mark.Inline(out.Session, 200) + ": " + said[0]
	}
	if out.Time != nil {
		when := words.Minute(*out.Time)
		if local {
			when = words.Local(*out.Time)
		}
		said[0] += " " + when
	}
	if out.Trigger != "" {
		said = append(said, mark.Inline(out.Trigger, 20))
	}
	if out.Tokens > 0 {
		said = append(said, humanize.Comma(out.Tokens)+" tokens before")
	}
	after := "no readable summary"
	if out.Summary != "" {
		after = "summary " + mark.New(out.Summary, "")
	}
	if out.ByCCD {
		after += " by ccd"
	}
	if out.Sealed {
		after += ", a part of it encrypted, so not compared"
	}
	if out.Preserved > 0 {
		after += ", " + words.Count(out.Preserved, "record") + " kept"
	}
	return fmt.Sprintf("%s\nafter it: %s; %s chars\n", strings.Join(said, ", "), after, humanize.Comma(int64(out.Chars)))
}

// diffFoot says what to do next.
func diffFoot(out diffOutput, agent bool) string {
	restore, flags := "ccd restore", typedFlags("class", string(out.by.Class))
	if agent {
		restore = "ccd agent restore"
	}
	if out.by.Kept {
		flags = " --kept" + flags
	}
	next := ""
	add := func(when bool, format string, args ...any) {
		if when {
			next += fmt.Sprintf(format+"\n", args...)
		}
	}
	listed := slices.DeleteFunc(slices.Clone(out.Classes), func(c dropped.List) bool { return len(c.List) == 0 })
	add(len(listed) > 0 && out.InTold > 0 && !out.Connected && !out.by.Kept, "To give these back to the agent: ccd setup")
	add(len(listed) > 0, "Print an original: %s ID", restore)
	add(slices.ContainsFunc(listed, func(c dropped.List) bool { return c.Class == dropped.Files }), "Print a file: ccd restore --file PATH %s", out.argument)
	add(slices.ContainsFunc(listed, func(c dropped.List) bool { return c.More > 0 }), "List all: ccd diff --all%s %s", flags, out.argument)
	add(out.Kept > 0 && !out.by.Kept, "List what was kept: ccd diff --kept%s %s", flags, out.argument)
	add(out.Boundary > 1, "The compaction before: ccd diff --boundary %d %s", out.Boundary-1, out.argument)
	if next != "" {
		next = "\n" + next
	}
	return next
}

// droppedLine formats one fact: its record, text and ID.
func droppedLine(one dropped.Fact) string {
	chars := 160
	if one.Class == dropped.Asked {
		chars = 320
	}
	line := "  #" + strconv.Itoa(one.Record) + " " + one.Inline(chars) + " " + mark.New(one.ID, "")
	if one.Output != "" {
		line += " output " + mark.New(one.Output, "")
	}
	return line
}
