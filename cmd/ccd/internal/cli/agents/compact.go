package agents

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ccd/archive"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/compactor"
	"ccd/compactor/companion"
	"ccd/daemon"
	"ccd/internal/agent/registry"
	"ccd/internal/lazy"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/internal/words"
	"ccd/watcher"
)

type compactFlags struct {
	agent, form                      string
	manual                           compactor.Manual
	filter                           filterFlags
	reset, dryRun, stdout, noArchive bool
	all                              bool
	explain                          bool
}

type compactOutput struct {
	Agent     string  `json:"agent"`
	Session   string  `json:"session"`
	Companion string  `json:"companion"`
	Original  int64   `json:"original_tokens"`
	Compacted int64   `json:"companion_tokens"`
	About     int64   `json:"companion_about"`
	Saved     float64 `json:"saved_percent"`
	Reported  int64   `json:"reported_tokens"`
	Level     string  `json:"level"`
	Verified  bool    `json:"verified"`
	Reason    string  `json:"reason"`
}

func (a *app) compactCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "compact [SESSION|FILE|-]", GroupID: cli.Agents, Short: "write a session's companion now; compact a file or stdin",
		Long: `Writes the companion of SESSION now and prints its path. --focus,
--max-tokens and --ratio stay in effect for this session until --reset.

A FILE, or stdin (-), is compacted to stdout: a transcript, or a list of
messages (JSON array or JSONL of {"role", "content"}). A FILE that ccd watches
is treated as its session.

A first pass writes the companions of the 20 newest sessions. With --all:
those of all older ones, and the path of each is printed.

With --json: one object: agent, session, companion ("" if none was written),
original_tokens and companion_tokens (estimated), companion_about (in real
tokens, converted), saved_percent, reported_tokens, level, verified, reason;
of a filtered list: original_tokens, tokens (estimated), saved_percent,
messages (the list), decisions, one for each input message: id, role, action,
reason, importance (0 to 1), chars, in (position of the output message, from
0), in_id (its id), marker (the ID of what was left out, or "").
With --explain: an array, one for each event: record, kind, importance, age,
redundancy, class, new, shown and chars (characters), why

` + cli.ExplainColumns + `

` + cli.SessionWords,
		Example: `  ccd compact
      write the companion of this directory's session
  ccd compact --focus 'invoice cents' --max-tokens 20000 5d2f7a1e
      a smaller one, with more about invoices and cents
  my-agent export | ccd compact --no-archive --format messages --ratio .60 -
      filter a list until 60 % of its characters are left
  my-agent export | ccd compact --no-archive --format messages -
      filter a list, write nothing`,
	}
	var f compactFlags
	c.Args = cli.OneSession
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := f.check(a.JSON, cli.SessionOf(args)); err != nil {
			return cli.Usage(c, err)
		}
		if f.all && (c.Flags().NFlag() > 1 || len(args) > 0) {
			return cli.Usage(c, errors.New("--all takes no SESSION and no other flag"))
		}
		if f.all {
			return a.compactAll(c.Context())
		}
		return a.compact(c.Context(), cli.SessionOf(args), f)
	}
	f.add(c)
	a.AgentFlag(c, &f.agent)
	return c
}

// add adds the flags.
func (f *compactFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.SortFlags = false
	flags.Func("focus", "keep more about these `WORDS`", func(text string) (err error) {
		f.manual.Focus, err = compactor.FocusWords(strings.Join(append([]string{text}, f.manual.Focus...), " ")) // a repeated flag adds words
		return err
	})
	budgetFlag(flags, &f.manual.MaxTokens, 1, "limit the companion or list to `N` estimated tokens (chars*4/3, about three times what agents count)")
	flags.Func("ratio", "leave at most this `SHARE` of the list's or session's characters, such as .60", func(text string) (err error) {
		if f.manual.Ratio, err = strconv.ParseFloat(text, 64); err != nil || !(f.manual.Ratio > 0 && f.manual.Ratio < 1) {
			return errors.New("must be a number between 0 and 1")
		}
		return nil
	})
	flags.BoolVar(&f.reset, "reset", false, "forget this session's --focus, --max-tokens and --ratio")
	flags.BoolVar(&f.all, "all", false, "write the companions of all older sessions that have none yet")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what it would save; write nothing")
	flags.BoolVar(&f.stdout, "stdout", false, "print the companion instead of writing it")
	flags.BoolVar(&f.explain, "explain", false, cli.ExplainText)
	cli.FormatFlag(flags, &f.form, "")
	flags.BoolVar(&f.noArchive, "no-archive", false, "write nothing; the IDs in the text cannot be restored")
	f.filter.add(flags)
	cli.NotWith(c, "ratio", "max-tokens")
	cli.NotWith(c, "reset", "focus", "max-tokens", "ratio")
	cli.NotWith(c, "format", "explain", "dry-run")
	cli.NotWith(c, "explain", "dry-run")
}

func (f compactFlags) check(json bool, arg string) error {
	if json && !f.explain && (!f.writes() || arg == "-") && !f.dryRun && f.form != cli.AsMessages {
		return errors.New("--json cannot be used with --stdout or --format; --format json prints the companion as JSON")
	}
	for _, p := range f.filter.patterns {
		if _, err := regexp.Compile(p); err != nil {
			return fmt.Errorf("--keep-pattern %q: not a regular expression", p)
		}
	}
	return nil
}

// compactAll writes the companions that a first pass left for later.
func (a *app) compactAll(ctx context.Context) error {
	d, _, err := a.DaemonFor(ctx, false)
	if err != nil {
		return err
	}
	written, failed := 0, 0
	for _, key := range d.Deferred() {
		made, err := d.Compact(ctx, key, daemon.CompactOptions{Write: true})
		if err == nil {
			written++
			err = a.Print(made.Path + "\n")
		} else if failed++; ctx.Err() == nil {
			a.Say("failed: %v", err)
			continue
		}
		if err != nil {
			return err
		}
	}
	if failed > 0 {
		return cli.ErrSaid
	}
	a.Say("%s written; no older session lacks one", words.Count(written, "companion"))
	return nil
}

// compact compacts what arg names: stdin, a file outside the watched roots, or a session.
func (a *app) compact(ctx context.Context, arg string, f compactFlags) error {
	o := daemon.CompactOptions{Manual: f.manual, Reset: f.reset, Write: f.writes()}
	preview := f.dryRun || f.noArchive
	d, l, err := a.DaemonFor(ctx, preview)
	if err != nil {
		return err
	}
	if arg == "-" || isFile(a.Path(arg)) {
		s, watched := d.SessionAt(ctx, a.Absolute(arg))
		own := !watched || arg == "-"
		if own {
			var done func()
			if s, done, err = a.input(ctx, arg, f.form == cli.AsMessages); err != nil {
				return err
			}
			defer done()
			d.Adopt(s)
			o.Write = false
		}
		if own || preview || !d.Archive.Forgets(s) {
			return a.compactOne(ctx, d, l, &reader.Entry{Session: archive.Session{Session: s}}, f, o)
		}
		arg, f.agent = s.ID, s.Agent // which is not found, but when it was forgotten is known
	}
	if err := l.Load(ctx); err != nil {
		return err
	}
	e, err := a.Choose(ctx, l, arg, f.agent)
	if err != nil {
		return a.notChosen(arg, err)
	}
	return a.compactOne(ctx, d, l, e, f, o)
}

// notChosen adds to the error of a session that is not found what else the user may mean: a file, or stdin.
func (a *app) notChosen(arg string, err error) error {
	switch {
	case errors.Is(err, archive.ErrNotFound) && fileNamed().MatchString(arg):
		return fmt.Errorf("compact %s: no such file; %w", arg, err)
	case arg == cli.ThisDir && !cli.IsTTY(a.In):
		return words.Hint(err, "%s; ccd compact - reads stdin", words.HintOf(err))
	}
	return err
}

// fileNamed matches what names a file rather than a session.
var fileNamed = lazy.Regexp(`[/\\]|\.jsonl$`)

// writes reports whether the session's companion is written and not only printed.
func (f compactFlags) writes() bool {
	return !f.stdout && !f.explain && (f.form == cli.AsMarkdown || f.form == "")
}

// compactOne compacts a session and prints what it made. A preview writes nothing; of a session whose transcript is gone it reads the
// archive.
func (a *app) compactOne(ctx context.Context, d *daemon.Daemon, l *reader.Library, e *reader.Entry, f compactFlags, o daemon.CompactOptions) error {
	s := e.Session.Session
	preview, gone := f.dryRun || f.noArchive, !e.Present()
	filter, err := f.isFilter(s, a.JSON)
	switch {
	case s.Class == transcript.Attachment:
		return words.Hint(fmt.Errorf("compact %s: an attachment has nothing to compact", s.ID), "ccd restore --session %s", words.Shell(s.ID))
	case err != nil:
		return err
	case filter && preview && gone:
		return a.filterArchived(ctx, l, e, f)
	case filter:
		return a.filterSession(ctx, d, l, s, f)
	}
	var c reader.Companion
	var made daemon.Compacted
	done := a.Waiting()
	switch {
	case preview && gone:
		c, err = l.Recompact(ctx, e, reader.Options(l.Place).With(o.Merge(e.Kept.Manual)), daemon.Place{})
	case preview:
		if made, err = d.Preview(ctx, s, o); err == nil {
			c = reader.Made(made, fileRecords(ctx, d.Agents, s))
		}
	default:
		if made, err = d.Compact(ctx, s.Key, o); err == nil {
			c = l.Fresh(ctx, s, made)
		}
	}
	if done(); err != nil {
		return err
	}
	return a.printCompacted(c, s, f, o.Write && !preview)
}

// printCompacted prints a companion, or of one that was written its path, as the flags say.
func (a *app) printCompacted(c reader.Companion, s transcript.Session, f compactFlags, written bool) error {
	switch {
	case f.explain:
		return a.PrintExplained(c.Made.Events)
	case a.JSON:
		return a.PrintJSON(outputOf(s, *c.Made))
	case f.dryRun:
		return a.Print(savedLine(*c.Made) + "\n")
	case written:
		a.Say("%s", savedLine(*c.Made))
		return a.Print(c.Made.Path + "\n")
	case f.noArchive:
		a.Say("ccd: warning: not archived: the IDs in this text cannot be restored")
	}
	a.Say("%s: %s", a.Agents().Title(s.Agent), savedLine(*c.Made))
	return a.PrintForm(c, f.form, "")
}

// savedLine says how much smaller the companion is than the messages, in the unit of --ratio if that is set, and whether it passed its
// checks.
func savedLine(made daemon.Compacted) string {
	h := made.Header
	line := status.Shrunk(withinReported(companion.About(h.Tokens.Context, h.Tokens.CharsPerToken), h.Tokens.Reported), made.About)
	if ratio := made.Options.Manual.Ratio; ratio > 0 && h.Tokens.Original > 0 {
		asked := ratio * float64(h.Tokens.Original)
		line = fmt.Sprintf("~%s tokens, %.1f%% of the session's characters", words.Tokens(made.About), 100-made.Saved)
		switch {
		case float64(made.Tokens) > asked:
			line += fmt.Sprintf(", more than --ratio %g: no companion is so short", ratio)
		case float64(made.Options.MaxTokens) < asked:
			line += ", as without --ratio: --max-tokens allows more"
		}
	}
	if most := made.Options.Manual.MaxTokens; most > 0 {
		line += fmt.Sprintf(", %s of %s estimated tokens", humanize.Comma(int64(made.Tokens)), humanize.Comma(int64(most)))
	}
	line += ", level " + h.Level.String()
	if h.Verified {
		return line + ", verified"
	}
	return line + ", not verified: " + strings.TrimSpace(h.Reason)
}

func outputOf(s transcript.Session, made daemon.Compacted) compactOutput {
	h := made.Header
	return compactOutput{
		Agent: s.Agent, Session: mark.Name(s.ID), Companion: mark.Name(made.Path), Original: h.Tokens.Original, Compacted: made.Tokens, About: made.About,
		Saved: made.Saved, Reported: h.Tokens.Reported, Level: h.Level.String(), Verified: h.Verified, Reason: h.Reason,
	}
}

func fileRecords(ctx context.Context, agents registry.Table, s transcript.Session) iter.Seq2[*transcript.Record, error] {
	tail := watcher.Tail(ctx, s, transcript.Cursor{}, watcher.TailOptions{Rest: true, Torn: true}) // its errors say what was read
	return func(yield func(*transcript.Record, error) bool) { agents.NewDecoder(s.Agent, s.Class).All(tail)(yield) }
}

// leastTokens is the smallest budget of a companion, in estimated tokens.
const leastTokens = 1000

// mostTokens is the largest budget: more than any context window, and small enough that computations do not overflow.
const mostTokens = 1_000_000_000

// budgetFlag adds --max-tokens.
func budgetFlag(flags *pflag.FlagSet, tokens *int, least int, text string) {
	flags.Func("max-tokens", text, func(text string) error {
		n, err := strconv.Atoi(text)
		switch {
		case err != nil:
			return errors.New("must be a whole number")
		case n < least:
			return fmt.Errorf("must be %d or more", least)
		case n > mostTokens:
			return fmt.Errorf("must be %d or less", mostTokens)
		}
		*tokens = n
		return nil
	})
}
