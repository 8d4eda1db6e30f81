package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/history"
	"ccd/compactor"
	"ccd/compactor/sidecar"
	"ccd/daemon"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

type compactFlags struct {
	agent, form                      string
	manual                           compactor.Manual
	filter                           filterFlags
	reset, dryRun, stdout, noArchive bool
}

// compactOutput is what compact prints with --json.
type compactOutput struct {
	Agent     string         `json:"agent"`
	Session   string         `json:"session"`
	Companion string         `json:"companion"`
	Original  int64          `json:"original_tokens"`
	Compacted int64          `json:"companion_tokens"`
	About     int64          `json:"companion_about"`
	Saved     float64        `json:"saved_percent"`
	Reported  int64          `json:"reported_tokens"`
	Level     string         `json:"level"`
	Verified  bool           `json:"verified"`
	Reason    string         `json:"reason"`
	Kinds     []savingOutput `json:"kinds"`
}

type savingOutput struct {
	Kind   string `json:"kind"`
	Items  int    `json:"items"`
	Tokens int64  `json:"tokens"`
}

func (a *app) compactCommand() *cobra.Command {
	p := page{
		use: "compact SESSION|FILE|-", group: everyday, short: "compact a session, a file or stdin now",
		long: `ccd brings a SESSION's companion up to date, writes it, whatever its size, and prints its path. From
then on it follows its session. --focus, --level and --max-tokens are saved for this session until
--reset: its front matter has them. Without --level the pressure of the session sets the level, and the
level sets only the length of excerpts and summaries.

A FILE, or stdin (-), is compacted to stdout: a transcript of a known agent, or a plain list of messages
(a JSON array, or one {"role", "content"} a line). A FILE below a watched root is its SESSION: without
--stdout its companion is written.

With a --format other than markdown (ccd help show tells what they are) the companion is printed and not
written; as with --stdout, nothing is kept of what was asked.

With --format messages a plain list is filtered: ccd prints a list of the same shape with older prose
shortened. The newest messages, messages of kept roles, tool calls, code, data and errors stay as they
are. A copy becomes a reference to the newest copy. Consecutive messages of one role become one summary
under the first one's id. No message gets longer, tool calls and results stay together, and filtering a
list twice changes nothing more. With --max-tokens, a list that fits is printed as it is. --json reports
what happened to each message.

The input is archived first, so that the IDs in the text can be restored. With --no-archive nothing is
written, and they cannot.`,
		examples: []example{
			{"ccd compact latest", "write the companion of the session with the newest record, now"},
			{"ccd compact --max-tokens 20000 5d2f7a1e", "a shorter one, also from now on"},
			{"ccd compact --focus 'invoice cents' --level gentle latest", "more of what is about invoices and cents, less left out"},
			{"ccd compact --dry-run latest", "what would be saved, by kind"},
			{"ccd compact messages.json > short.md", "a file, to stdout"},
			{"my-agent export | ccd compact --no-archive --format messages -", "as a filter, leaving no trace"},
			{"ccd compact --format messages --keep-recent 10 --keep-role system --keep-role tool list.json", "keep more messages as they are"},
		},
		json: `one object: agent, session, companion ("" where none was written), original_tokens and
companion_tokens (estimated), companion_about (its real tokens, about), saved_percent, reported_tokens,
level, verified, reason, kinds [{kind, items, tokens}] (what was saved); of a filtered list:
original_tokens, tokens (estimated), saved_percent, messages (the list), decisions, one for each
message that came: id, role, action, reason, importance (0 to 1), chars, in (the place where it stands
now, from 0), in_id (the id there), marker (the ID of what was left out, "" where nothing was)`,
		exits: []int{exitNotFound, exitDamage},
	}
	var f compactFlags
	c := p.command(cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		if err := f.check(a.json, args[0]); err != nil {
			return usage(c, err)
		}
		return a.compact(c.Context(), args[0], f)
	})
	flags := c.Flags()
	flags.SortFlags = false
	flags.Var(focusWords{&f.manual.Focus}, "focus", "what is about these `WORDS` is important; saved for this session until --reset")
	flags.Var(levelName{&f.manual.Level}, "level", "share of what is not recent to leave out: `LEVEL` gentle (70 %), standard (80 %), aggressive (90 %),\nmaximum (95 %); saved for this session until --reset")
	flags.Var(budget{&f.manual.MaxTokens, leastTokens, "nothing of a session"}, "max-tokens", "compact to `N` estimated tokens at most; saved for this session until --reset")
	flags.BoolVar(&f.reset, "reset", false, "forget this session's --focus, --level and --max-tokens")
	flags.BoolVar(&f.dryRun, "dry-run", false, "tell what would be saved, by kind; write nothing")
	flags.BoolVar(&f.stdout, "stdout", false, "print the text instead of writing a companion")
	flags.Var(formName{&f.form}, "format", formUsage+"; any FORM but markdown goes to stdout")
	flags.BoolVar(&f.noArchive, "no-archive", false, "write nothing at all: the IDs of the text cannot be restored")
	f.filter.add(flags)
	agentFlag(c, &f.agent)
	return c
}

func (f compactFlags) check(json bool, arg string) error {
	switch {
	case f.reset && !f.manual.IsZero():
		return errors.New("--reset goes without --focus, --level and --max-tokens: it forgets them")
	case json && (!f.writes() || arg == "-") && !f.dryRun && f.form != asMessages:
		return errors.New("--json goes with a written companion or with --dry-run; --format json prints the companion itself")
	case f.dryRun && f.form != "":
		return errors.New("--dry-run prints no companion: it goes without --format")
	}
	for _, p := range f.filter.patterns {
		if _, err := regexp.Compile(p); err != nil {
			return fmt.Errorf("--keep-pattern %q: not a regular expression", p)
		}
	}
	return nil
}

// compact decides what the argument is: a stream, a file of its own, or a session.
func (a *app) compact(ctx context.Context, arg string, f compactFlags) error {
	asked := daemon.CompactOptions{Manual: f.manual, Reset: f.reset, Write: f.writes()}
	d, l, err := a.daemonFor(ctx, f.dryRun || f.noArchive)
	if err != nil {
		return err
	}
	if arg == "-" || isFile(arg) {
		if s, ok := d.Known(absolute(arg)); ok && arg != "-" {
			return a.compactSession(ctx, d, l, entry{Session: archive.Session{Session: s}}, f, asked)
		}
		return a.compactFile(ctx, d, l, arg, f, asked)
	}
	if err := l.load(ctx); err != nil {
		return err
	}
	e, err := l.find(arg, f.agent)
	if err != nil {
		return err
	}
	if (f.dryRun || f.noArchive) && e.Class != transcript.Attachment && !e.present() {
		return a.compactPurged(ctx, l, e, f, asked)
	}
	return a.compactSession(ctx, d, l, e, f, asked)
}

// writes reports whether a session's companion is put in place: printing it is all that is asked for otherwise.
func (f compactFlags) writes() bool { return !f.stdout && (f.form == asMarkdown || f.form == "") }

func (a *app) compactSession(ctx context.Context, d *daemon.Daemon, l *library, e entry, f compactFlags, o daemon.CompactOptions) error {
	s := e.Session.Session
	filter, err := f.isFilter(s, a.json)
	if err != nil {
		return err
	}
	if s.Class == transcript.Attachment {
		return hint(fmt.Errorf("compact %s: an attachment has nothing to compact", s.ID), "ccd restore --session %s", shellWord(s.ID))
	}
	switch {
	case filter:
		return a.filterSession(ctx, d, l, s, f)
	case f.dryRun || f.noArchive:
		return a.previewed(ctx, d, s, f, o)
	}
	made, err := d.Compact(ctx, s.Key, o)
	switch {
	case err != nil:
		return err
	case a.json:
		return a.printJSON(outputOf(s, made))
	case !o.Write:
		return a.printMade(fresh(made, history.Records(ctx, d.Archive, s, made.At.Generation)), s, f)
	}
	a.say("%s", savedLine(made))
	return a.print(made.Path + "\n")
}

// compactFile compacts what lies below no watched root.
func (a *app) compactFile(ctx context.Context, d *daemon.Daemon, l *library, arg string, f compactFlags, o daemon.CompactOptions) error {
	s, done, err := a.input(ctx, arg, f.form == asMessages)
	if err != nil {
		return err
	}
	defer done()
	filter, err := f.isFilter(s, a.json)
	switch {
	case err != nil:
		return err
	case filter:
		d.Adopt(s)
		return a.filterSession(ctx, d, l, s, f)
	case f.dryRun || f.noArchive:
		return a.previewed(ctx, d, s, f, o)
	}
	made, err := d.CompactFile(ctx, s, o)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(outputOf(s, made))
	}
	return a.printMade(fresh(made, history.Records(ctx, d.Archive, s, made.At.Generation)), s, f)
}

// previewed makes the text and writes nothing.
func (a *app) previewed(ctx context.Context, d *daemon.Daemon, s transcript.Session, f compactFlags, o daemon.CompactOptions) error {
	made, err := d.Preview(ctx, s, o)
	if err != nil {
		return err
	}
	return a.printPreview(fresh(made, fileRecords(ctx, s)), s, f)
}

// compactPurged previews a session whose transcript is gone: the archive has it.
func (a *app) compactPurged(ctx context.Context, l *library, e entry, f compactFlags, o daemon.CompactOptions) error {
	switch filter, err := f.isFilter(e.Session.Session, a.json); {
	case err != nil:
		return err
	case filter:
		return a.filterArchived(ctx, l, e, f)
	}
	c, err := l.recompact(ctx, e, compactionOptions(l.config).With(o.After(e.state.Manual)), daemon.Place{})
	if err != nil {
		return err
	}
	return a.printPreview(c, e.Session.Session, f)
}

func (a *app) printPreview(c companion, s transcript.Session, f compactFlags) error {
	switch {
	case a.json:
		return a.printJSON(outputOf(s, *c.made))
	case f.dryRun:
		return a.printSavings(*c.made)
	}
	a.say("ccd: warning: not archived: the IDs in this text cannot be restored")
	return a.printMade(c, s, f)
}

func (a *app) printMade(c companion, s transcript.Session, f compactFlags) error {
	a.say("%s: %s", registry.Title(s.Agent), savedLine(*c.made))
	return a.printForm(c, f.form, "")
}

func (a *app) printSavings(made daemon.Compacted) error {
	rows := [][]string{{"KIND", "ITEMS", "TOKENS SAVED (est)"}}
	for _, k := range made.Header.Saved {
		rows = append(rows, []string{k.Kind, fmt.Sprint(k.Items), humanize.Comma(k.Tokens)})
	}
	if err := a.table(rows); err != nil {
		return err
	}
	return a.print(savedLine(made) + "\n")
}

func savedLine(made daemon.Compacted) string {
	h := made.Header
	original := sidecar.About(h.Tokens.Original*3/4, h.Tokens.CharsPerToken)
	if made.Saved < 0 { // what a companion says of itself is more than there is to say
		return fmt.Sprintf("%s tokens (est; about %s): too short to save anything, a companion has %s (about %s)", humanize.Comma(h.Tokens.Original),
			humanize.Comma(original), humanize.Comma(made.Tokens), humanize.Comma(made.About))
	}
	line := fmt.Sprintf("%s -> %s tokens (est; about %s -> %s), %.1f %% saved, level %s", humanize.Comma(h.Tokens.Original),
		humanize.Comma(made.Tokens), humanize.Comma(original), humanize.Comma(made.About), made.Saved, h.Level)
	if h.Tokens.Reported > 0 {
		line = humanize.Comma(h.Tokens.Reported) + " tokens reported; " + line
	}
	if h.Verified {
		return line + ", verified"
	}
	return line + ", not verified: " + strings.TrimSpace(h.Reason)
}

func outputOf(s transcript.Session, made daemon.Compacted) compactOutput {
	h := made.Header
	out := compactOutput{
		Agent: s.Agent, Session: mark.Name(s.ID), Companion: mark.Name(made.Path), Original: h.Tokens.Original, Compacted: made.Tokens, About: made.About,
		Saved: made.Saved, Reported: h.Tokens.Reported, Level: h.Level.String(), Verified: h.Verified, Reason: h.Reason,
		Kinds: []savingOutput{},
	}
	for _, k := range h.Saved {
		out.Kinds = append(out.Kinds, savingOutput{k.Kind, k.Items, k.Tokens})
	}
	return out
}
