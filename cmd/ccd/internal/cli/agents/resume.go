package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ccd/archive"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/resume"
	"ccd/cmd/ccd/internal/status"
	"ccd/compactor/companion"
	"ccd/daemon"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/project"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

type resumeFlags struct {
	agent, to string
	maxTokens int
	dryRun    bool
	run       bool
}

type resumeOutput struct {
	Agent   string        `json:"agent"`
	Session string        `json:"session"`
	Source  string        `json:"source"`
	Title   string        `json:"title"`
	Path    string        `json:"path"`
	Cwd     string        `json:"cwd"`
	Moved   *resume.Moved `json:"moved"`
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
	c := &cobra.Command{
		Use: "resume [SESSION]", GroupID: cli.Agents, Short: "write a smaller copy of a session to continue from",
		Long: `Writes a new session in the agent's own format beside the original, which does
not change. The first message is a companion of the older part; the newest
messages follow verbatim. Prints the command that continues it. --as writes
the session for another agent. With --machine, the copy continues another
machine's session here: run it in your clone of the session's repository. Only
the working directory changes, and the first message says which paths are
where.

With --json: one object: agent, session (the new ID), source (the ID of the
original), title, path, cwd, moved (with --machine {from, to}, else null),
command, tokens {before, after (estimated), about_before, about_after (in
real tokens, converted)}, records, written (false with --dry-run)

The copy is the same session: its secrets are in it.

` + cli.SessionWords,
		Example: `  ccd resume
      a smaller copy of this directory's session
  ccd resume --run latest
      continue it at once
  ccd resume --as codex 5d2f7a1e
      continue a Claude Code session in Codex
  ccd resume --max-tokens 40000 --dry-run
      show the size of a smaller copy`,
	}
	var f resumeFlags
	c.Args = cli.OneSession
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.run && a.JSON {
			return cli.Usage(c, errors.New("--run cannot be used with --json"))
		}
		return a.resume(c.Context(), cli.SessionOf(args), f)
	}
	flags := c.Flags()
	flags.SortFlags = false
	asFlag(flags, &f.to)
	budgetFlag(flags, &f.maxTokens, resume.LeastTokens, fmt.Sprintf("limit what the model sees to `N` estimated tokens (chars*4/3, about three times what agents count), at least %d", resume.LeastTokens))
	flags.BoolVar(&f.run, "run", false, "start the agent with the copy, instead of printing its command")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what would be written; write nothing")
	a.AgentFlag(c, &f.agent)
	a.MachineFlag(c)
	cli.NotWith(c, "run", "dry-run")
	return c
}

func asFlag(flags *pflag.FlagSet, to *string) {
	flags.Func("as", "write it for `AGENT`: claude, codex, gemini, qwen or pi", func(name string) error {
		for _, f := range (registry.Table{}).All() {
			if f.Write != nil && (name == f.Agent || strings.HasPrefix(f.Agent, name+"-")) {
				*to = f.Agent
				return nil
			}
		}
		return errors.New("unknown agent, must be claude, codex, gemini, qwen or pi")
	})
}

// Resume makes a copy of a session and runs its agent there. It returns only if that fails.
func Resume(ctx context.Context, shared *cli.App, session, agent string) error {
	return (&app{shared}).resume(ctx, session, resumeFlags{agent: agent, run: true})
}

func (a *app) resume(ctx context.Context, arg string, f resumeFlags) error {
	a.Resumes = true
	d, l, err := a.DaemonFor(ctx, f.dryRun)
	if err != nil {
		return err
	}
	rules := l.Agents.Redact
	l.Agents = l.Agents.Exact() // the copy goes back to the session
	e, err := a.resumable(ctx, l, d, arg, f.agent)
	if err != nil {
		return err
	}
	if !f.dryRun && a.Machine == "" {
		if err := a.UpToDate(ctx, d, l, e); err != nil {
			return err
		}
	}
	want, err := a.request(l, e, f)
	if err != nil {
		return err
	}
	done := a.Waiting()
	c, err := l.Copy(ctx, e, want)
	done()
	if errors.Is(err, resume.ErrNoFormat) {
		return words.Hint(err, "ccd resume --as claude %s", l.Argument(e))
	}
	if err != nil {
		return err
	}
	if want.Move { // what is at the source's path here is another session
		e.Path, e.Root = "", ""
	}
	c.Before = max(c.Before, e.Kept.Estimate) // a copy's own records count too
	for _, o := range l.Sessions {
		if o.Agent == want.Agent && o.Kept.Resumed.ID == e.ID && o.Kept.Resumed.Covers == e.Kept.Records && o.Kept.NotResumed() && o.Present() {
			a.Say("a copy of this state exists: %s", cli.SessionLine(o))
			break
		}
	}
	path, command := resumedAt(l, e, want, &c)
	if s, ok := l.Agents.Find(want.Agent, want.Root, path); ok {
		c.ID = s.ID // the ID under which ccd lists the copy
	}
	if !f.dryRun {
		if err := a.putCopy(ctx, d, e, &c, path); err != nil {
			return err
		}
	}
	c.Title = withoutSecrets(hider(rules), []byte(c.Title)) // the copy has its secrets, the terminal must not
	if err := a.printResumed(e, want.Agent, &c, path, command, f); err != nil || !f.run {
		return err
	}
	line := strings.TrimSpace(command)
	return fmt.Errorf("run %s: %w", line, syscall.Exec("/bin/sh", []string{"sh", "-c", line}, a.Vars)) // returns only if it fails, as on Windows
}

// request returns the copy to make of a session. It fails if its agent cannot be started, though the copy is to be run.
func (a *app) request(l *reader.Library, e *reader.Entry, f resumeFlags) (want resume.Request, err error) {
	known := status.Of(e) // a title that was cut may have a part of a secret, so the archive's is taken
	want = resume.Request{
		Agent: cmp.Or(f.to, e.Agent), Title: cmp.Or(known.Name, known.Title, known.Asked), MaxTokens: f.maxTokens, Now: time.Now(), Move: a.Machine != "",
	}
	row, ok := l.Agents.Lookup(want.Agent)
	if !ok {
		return want, words.Hint(fmt.Errorf("resume %s: it is a list of messages, not an agent's session", e.Name()), "ccd resume --as claude %s", l.Argument(e))
	}
	if f.run && len(row.Resume) > 0 {
		if _, err := a.LookPath(row.Resume[0]); err != nil {
			as := ""
			if want.Agent != e.Agent {
				as = "--as " + want.Agent + " "
			}
			return want, words.Hint(fmt.Errorf("resume %s: %s is not in PATH; no copy was written", e.Name(), row.Resume[0]), "ccd resume %s%s, which prints the command", as, l.Argument(e))
		}
	}
	if want.Dir, err = a.WorkingDir(); err != nil {
		return want, err
	}
	if want.ID, err = resume.NewID(want.Agent); err != nil {
		return want, fmt.Errorf("make a session ID: %w", err)
	}
	if s, err := a.AgentSetup(nil); err == nil {
		want.Provider = s.Provider(want.Agent)
	}
	want.Root = rootOf(l, e, want.Agent)
	return want, nil
}

// resumable returns the session that arg names, if an agent can continue it.
func (a *app) resumable(ctx context.Context, l *reader.Library, d *daemon.Daemon, arg, agent string) (*reader.Entry, error) {
	if err := l.Load(ctx); err != nil {
		return nil, err
	}
	var e *reader.Entry
	var err error
	if s, ok := d.SessionAt(ctx, a.Absolute(arg)); ok && isFile(a.Path(arg)) {
		e = &reader.Entry{Session: archive.Session{Session: s}}
		if have := l.Entry(s.Key); have != nil {
			e = have
		}
	} else if e, err = a.Choose(ctx, l, arg, agent); err != nil {
		return e, err
	}
	switch e.Class {
	case transcript.Attachment:
		return e, words.Hint(fmt.Errorf("resume %s: it is an attachment, not a session", e.Name()), "ccd restore --session %s", words.Shell(e.Name()))
	case transcript.SubAgent:
		return e, words.Hint(fmt.Errorf("resume %s: a sub-agent's conversation cannot be continued", e.Name()), "ccd resume %s", words.Argument(e.Parent))
	}
	return e, nil
}

// rootOf returns the watched directory for a new session of agent: if that is the source's agent, the source's own.
func rootOf(l *reader.Library, e *reader.Entry, agent string) (root string) {
	for _, r := range l.Roots {
		if r.Agent == agent && (root == "" || r.Path == e.Root && e.Agent == agent && filepath.Base(r.Path) != "archived_sessions") {
			root = r.Path
		}
	}
	return root
}

// resumedAt returns the path of a copy and the command that continues it. A copy for the same agent goes into the
// directory of its source, if that exists. It continues in the session's directory; if that is gone, in the main one of its repository,
// else in want.Dir.
func resumedAt(l *reader.Library, e *reader.Entry, want resume.Request, c *resume.Copy) (path, command string) {
	path = filepath.Join(want.Root, filepath.FromSlash(c.Place))
	name := c.ID
	row, _ := l.Agents.Lookup(want.Agent)
	if dir := filepath.Dir(e.Path); e.Agent == want.Agent && e.Agent != "codex" && dir != filepath.Dir(path) && e.Root != "" && disk.Exists(dir) {
		// The client looks up an ID only in the directory named after its working directory, but a path anywhere.
		if path = filepath.Join(dir, filepath.Base(path)); row.ByPath {
			name = path
		}
	}
	if c.Cwd != "" && !disk.Exists(c.Cwd) { // a worktree that was removed, or a directory that was renamed, perhaps to the present one
		if c.Gone, c.Cwd = c.Cwd, cmp.Or(project.Instead(c.Cwd), want.Dir); row.ByPath {
			name = path
		}
	}
	return path, "cd " + words.Shell(c.Cwd) + " && " + strings.Join(row.Resume, " ") + " " + words.Shell(name)
}

// putCopy adds the copy's IDs to the index, then writes the copy, so that each ID in it can be restored.
func (a *app) putCopy(ctx context.Context, d *daemon.Daemon, e *reader.Entry, c *resume.Copy, path string) error {
	if len(c.Pointers) > 0 {
		g, err := e.Generation(0)
		if err == nil {
			err = d.Publish(ctx, e.Key, g.N, c.Pointers, nil)
		}
		switch {
		case errors.As(err, new(*archive.DamageError)):
			a.Say("ccd: warning: %v", err)
		case err != nil:
			return err
		}
	}
	source := ""
	if e.Present() {
		source = e.Path
	}
	err := c.Put(path, source, time.Now())
	if s, ok := d.SessionAt(ctx, path); ok && err == nil { // then it is found by its ID
		err = d.Update(ctx, s.Key)
	}
	return err
}

// withinReported bounds the converted size of messages by that of the context that they are a part of.
func withinReported(about, reported int64) int64 {
	if reported > 0 {
		return min(about, reported)
	}
	return about
}

func (a *app) printResumed(e *reader.Entry, agent string, c *resume.Copy, path, command string, f resumeFlags) error {
	tokens := resumedTokens{c.Before, c.After, withinReported(companion.About(c.Before, c.PerToken), c.Reported), companion.About(c.After, c.PerToken)}
	if a.JSON {
		return a.PrintJSON(resumeOutput{
			Agent: agent, Session: c.ID, Source: e.Name(), Title: c.Title, Path: path, Cwd: c.Cwd, Moved: c.Moved, Command: command,
			Tokens: tokens, Records: len(c.Lines), Written: !f.dryRun,
		})
	}
	if e.Kept.Refusal != "" {
		a.Say("the API refused the session's last request: %s", mark.Inline(e.Kept.Refusal, 300))
	}
	a.Say("%q\n%s; the newest %d are word for word", strings.TrimPrefix(c.Title, transcript.TitlePrefix), status.Shrunk(tokens.AboutBefore, tokens.AboutAfter), c.Verbatim)
	if m := c.Moved; m != nil {
		a.Say("%s is %s here", mark.Inline(m.From, 300), mark.Inline(m.To, 300))
	}
	instead := a.Machine == "" && agent == e.Agent                       // the original can be continued
	more := len(e.Generations) > 1 || e.Kept.Refusal != "" || !e.Whole() // the copy has what the original lacks
	if c.After >= c.Before && instead && !more {
		a.Say("ccd: warning: the copy is not smaller than the original; continue that instead")
	}
	if c.Gone != "" {
		a.Say("the session's directory %s does not exist: it continues in %s", mark.Inline(c.Gone, 300), mark.Inline(c.Cwd, 300))
	}
	switch {
	case f.dryRun:
		return a.Print("would write " + path + "\n")
	case f.run:
		return nil
	}
	a.Say("the copy: %s", path)
	return a.Print(strings.TrimSpace(command) + "\n")
}
