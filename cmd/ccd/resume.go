package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/history"
	"ccd/cmd/ccd/internal/resume"
	"ccd/compactor/sidecar"
	"ccd/daemon"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/watcher"
)

type resumeFlags struct {
	agent, to string
	maxTokens int
	dryRun    bool
}

// resumeOutput is what resume prints with --json.
type resumeOutput struct {
	Agent   string        `json:"agent"`
	Session string        `json:"session"`
	Source  string        `json:"source"`
	Title   string        `json:"title"`
	Path    string        `json:"path"`
	Cwd     string        `json:"cwd"`
	Command string        `json:"command"`
	Tokens  resumedTokens `json:"tokens"`
	Records int           `json:"records"`
	Written bool          `json:"written"`
}

type resumedTokens struct {
	Before      int64 `json:"before"`
	After       int64 `json:"after"`
	AboutBefore int64 `json:"about_before"`
	AboutAfter  int64 `json:"about_after"`
}

func (a *app) resumeCommand() *cobra.Command {
	p := page{
		use: "resume SESSION", group: agents, short: "make a smaller copy of a session that its agent goes on with",
		forms: []string{"ccd resume [--to AGENT] [--max-tokens N] [--dry-run] SESSION"},
		long: `ccd writes a new session in the agent's own format beside the one it is made from, which stays as it
is: a first message that stands for the older part (the sections of a companion but Recent, with their
IDs), then the newest messages word by word, calls with their results. A result that has no room is
"[ccd ID 7200 bytes: elided; read again before editing; ccd restore ID]". ccd prints the command that
goes on with it. The agent's list of sessions shows it as "ccd: TITLE"; it never takes the place of the
newest session (claude --continue) while that is not about to be purged, and never that of latest here,
until somebody goes on with it.

It is made from the archive, brought up to date first: also where the transcript was purged, or its
agent could not read it any more. ccd writes sessions of Claude Code and Codex; a session of another
agent needs --to. With --to it becomes a session of that agent: commands and reads become its calls,
other calls are told in words. What the agent's API would refuse is not written; the error names the
record.

Without --max-tokens it takes 40 % of the estimated tokens that the agent holds (characters * 4 / 3), at
least 16,000, which a small session fits in whole, and at most 144,000.`,
		examples: []example{
			{"ccd resume latest", "a smaller copy of the session with the newest record; prints how to go on with it"},
			{"sh -c \"$(ccd resume latest:.)\"", "and go on with it at once"},
			{"ccd resume --to codex 5d2f7a1e", "go on in Codex with what was begun in Claude Code"},
			{"ccd resume --max-tokens 40000 --dry-run latest", "how large a smaller one would be"},
		},
		json: `one object: agent, session (the new ID), source (the ID of the one it is made from), title, path, cwd,
command, tokens {before, after (estimated), about_before, about_after (real ones, about)}, records,
written (false with --dry-run)`,
		exits: []int{exitNotFound, exitDamage},
	}
	var f resumeFlags
	c := p.command(cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		return a.resume(c.Context(), args[0], f)
	})
	flags := c.Flags()
	flags.SortFlags = false
	flags.Var(target{&f.to}, "to", "write it for `AGENT`: claude or codex")
	flags.Var(budget{&f.maxTokens, resume.LeastTokens, "no session"}, "max-tokens", fmt.Sprintf("all that the model sees of it takes `N` estimated tokens at most; %d or more", resume.LeastTokens))
	flags.BoolVar(&f.dryRun, "dry-run", false, "tell what would be written, from the archive as it is; write nothing")
	agentFlag(c, &f.agent)
	return c
}

// target is the value of --to.
type target struct{ to *string }

// String implements pflag.Value.
func (target) String() string { return "" }

// Type implements pflag.Value.
func (target) Type() string { return "AGENT" }

// Set implements pflag.Value.
func (t target) Set(name string) error {
	switch name {
	case "claude", "claude-code":
		*t.to = "claude-code"
	case "codex":
		*t.to = "codex"
	default:
		return errors.New("unknown agent, want claude or codex")
	}
	return nil
}

func (a *app) resume(ctx context.Context, arg string, f resumeFlags) error {
	d, l, err := a.daemonFor(ctx, f.dryRun)
	if err != nil {
		return err
	}
	e, err := l.resumable(ctx, d, arg, f.agent)
	if err != nil {
		return err
	}
	if !f.dryRun {
		if err := a.upToDate(ctx, d, l, &e); err != nil {
			return err
		}
	}
	want := resume.Request{Agent: f.to, MaxTokens: f.maxTokens, Now: time.Now()}
	if want.Dir, err = os.Getwd(); err != nil {
		return fmt.Errorf("find working directory: %w", err)
	}
	if want.Agent == "" {
		want.Agent = e.Agent
	}
	if _, ok := registry.Lookup(want.Agent); !ok {
		return hint(fmt.Errorf("resume %s: a list of messages is no agent's session", e.ID), "ccd resume --to claude %s", l.argument(e))
	}
	if want.ID, err = resume.NewID(want.Agent); err != nil {
		return fmt.Errorf("make a session ID: %w", err)
	}
	family, c, err := l.copied(ctx, e, want)
	if errors.Is(err, resume.ErrNoFormat) {
		return hint(err, "ccd resume --to claude %s", l.argument(e))
	}
	if err != nil {
		return err
	}
	path, command := l.resumedAt(e, want.Agent, &c)
	if !f.dryRun {
		if err := a.putCopy(ctx, d, family, want.Agent, &c, path); err != nil {
			return err
		}
	}
	return a.printResumed(e, want.Agent, &c, path, command, !f.dryRun)
}

// resumable returns the session that an argument names, if it is one that an agent can go on with.
func (l *library) resumable(ctx context.Context, d *daemon.Daemon, arg, agent string) (entry, error) {
	if err := l.load(ctx); err != nil {
		return entry{}, err
	}
	var e entry
	var err error
	if s, ok := d.Known(absolute(arg)); ok && isFile(arg) {
		e = entry{Session: archive.Session{Session: s}}
		if have, ok := l.entry(s.Key); ok {
			e = have
		}
	} else if e, err = l.find(arg, agent); err != nil {
		s, ok := l.unarchived(ctx, d, arg, agent)
		if !ok || len(l.damage) > 0 || !errors.Is(err, history.ErrNotFound) { // what is damaged is archived, not new
			return e, err
		}
		e = entry{Session: archive.Session{Session: s}}
	}
	switch e.Class {
	case transcript.Attachment:
		return e, hint(fmt.Errorf("resume %s: an attachment is no session", e.ID), "ccd restore --session %s", shellWord(e.ID))
	case transcript.SubAgent:
		return e, hint(fmt.Errorf("resume %s: a sub-agent's conversation cannot be gone on with", e.ID), "ccd resume %s", shellWord(e.Parent))
	}
	return e, nil
}

// unarchived looks for a session that is not archived yet: a copy just made, where no daemon runs.
func (l *library) unarchived(ctx context.Context, d *daemon.Daemon, arg, agent string) (found transcript.Session, ok bool) {
	files, _ := watcher.Scan(ctx, l.watch) // what cannot be looked at holds nothing to resume
	for _, f := range files {
		s, is := registry.Find(f.Root.Agent, f.Root.Path, f.Path)
		if !is || s.Class != transcript.Main || agent != "" && s.Agent != agent || len(arg) < mark.MinPrefix || !strings.HasPrefix(s.ID, arg) {
			continue
		}
		if ok { // several
			return found, false
		}
		found, ok = d.Known(f.Path)
	}
	return found, ok
}

// upToDate brings the archive up to date with the session. Damage there stops nothing: what can be read is taken.
func (a *app) upToDate(ctx context.Context, d *daemon.Daemon, l *library, e *entry) error {
	if err := d.Update(ctx, e.Key); err != nil {
		if !errors.As(err, new(*archive.DamageError)) {
			return err
		}
		a.say("ccd: warning: %v", err)
	}
	if err := l.load(ctx); err != nil {
		return err
	}
	if fresh, ok := l.entry(e.Key); ok {
		*e = fresh
	}
	return nil
}

// resumedAt is where a copy belongs, and the command that goes on with it. A copy for the same agent stands beside its
// source, while that directory is there.
func (l *library) resumedAt(e entry, agent string, c *resume.Copy) (path, command string) {
	root := ""
	for _, r := range l.roots {
		if r.Agent == agent && (root == "" || r.Path == e.Root && e.Agent == agent && filepath.Base(r.Path) != "archived_sessions") {
			root = r.Path
		}
	}
	path = filepath.Join(root, filepath.FromSlash(c.Place))
	at := "cd " + shellWord(c.Cwd) + " && "
	if agent == "codex" {
		return path, at + "codex resume " + c.ID
	}
	name := c.ID
	if dir := filepath.Dir(e.Path); e.Agent == agent && dir != filepath.Dir(path) && e.Root != "" && exists(dir) {
		// The client looks for an ID in the directory that is named after where it runs, for a path anywhere.
		path = filepath.Join(dir, filepath.Base(path))
		name = path
	}
	return path, at + "claude --resume " + shellWord(name)
}

// putCopy makes the copy's IDs resolve, then writes it.
func (a *app) putCopy(ctx context.Context, d *daemon.Daemon, family []entry, agent string, c *resume.Copy, path string) error {
	for i, e := range family {
		if len(c.Pointers[i]) == 0 {
			continue
		}
		g, err := e.generation(0)
		if err == nil {
			err = d.Publish(ctx, e.Key, g.N, c.Pointers[i])
		}
		switch {
		case errors.As(err, new(*archive.DamageError)):
			a.say("ccd: warning: %v", err)
		case err != nil:
			return err
		}
	}
	source := ""
	if len(family) > 0 && family[0].present() {
		source = family[0].Path
	}
	newest, err := c.Put(path, source, a.purgeAge(agent), time.Now())
	if newest {
		a.say("ccd: warning: the sessions beside the copy are about to be purged: claude --continue goes on with the copy")
	}
	return err
}

// purgeAge is the age at which an agent removes sessions, 0 where it never does. Settings that cannot be read, or that
// keep nothing, count as its default.
func (a *app) purgeAge(agent string) time.Duration {
	const day, most = 24 * time.Hour, 36500
	if agent != "claude-code" {
		return 0
	}
	days, _, err := a.claudePurge()
	if err != nil || days == nil || *days <= 0 {
		return claudeKeeps * day
	}
	return time.Duration(min(*days, most) * float64(day))
}

func (a *app) printResumed(e entry, agent string, c *resume.Copy, path, command string, written bool) error {
	tokens := resumedTokens{c.Before, c.After, sidecar.About(c.Before*3/4, c.PerToken), sidecar.About(c.After*3/4, c.PerToken)}
	if a.json {
		return a.printJSON(resumeOutput{
			Agent: agent, Session: c.ID, Source: e.ID, Title: c.Title, Path: path, Cwd: c.Cwd, Command: command,
			Tokens: tokens, Records: len(c.Lines), Written: written,
		})
	}
	a.say("%s -> %s tokens (est; about %s -> %s), %s word by word: %s", humanize.Comma(tokens.Before), humanize.Comma(tokens.After),
		humanize.Comma(tokens.AboutBefore), humanize.Comma(tokens.AboutAfter), count(c.Verbatim, "message"), c.Title)
	if c.After >= c.Before && agent == e.Agent {
		a.say("ccd: warning: the copy is no smaller than what the agent holds; going on with the session itself loses nothing")
	}
	if _, err := os.Stat(c.Cwd); err != nil {
		a.say("ccd: warning: the session's directory %s is not here", mark.Inline(c.Cwd, 300))
	}
	if !written {
		return a.print("would write " + path + "\n")
	}
	return a.print(strings.TrimSpace(command) + "\n")
}
