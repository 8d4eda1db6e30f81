package agents

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/hook"
	"ccd/cmd/ccd/internal/install"
	"ccd/cmd/ccd/internal/reader"
	"ccd/compactor"
	"ccd/compactor/limits"
	"ccd/daemon"
	"ccd/internal/config"
	"ccd/internal/transcript"
)

// Time limits of a hook. What is not ready in time is not printed.
const (
	InputTime   = 500 * time.Millisecond // for the client to write its event
	ReadingTime = 120 * time.Millisecond // for hooks that only read what is ready
	foldingTime = 950 * time.Millisecond // for reading the transcript, or all sessions, and answering, including reading the event
	refreshTime = 2 * time.Second        // for updating the companion before a compaction
	compactTime = 8 * time.Second        // for answering a compaction, including reading the event; then the client's own runs
	outputTime  = 2 * time.Second        // for archiving an output, including reading the event
)

func (a *app) hookCommand() *cobra.Command {
	c := &cobra.Command{
		Hidden: true, Use: "hook EVENT", Short: "handle an agent's hook event (run by agents, not by people)",
		Long: `Agents call it after ccd agents install, with their event as JSON on stdin. On
any error it exits 0 and prints nothing, or for SessionCompact the reason as
JSON; hook.log in ccd's state directory has it, too.

  SessionStart      new session: offers the project's previous one. Resumed,
                    compacted: prints what the agent has forgotten
  UserPromptSubmit  above trigger.pressure, prints how full the context is
  SessionCompact    prints the new context of a compaction (called by the mod)
  ToolResult        archives an output above compaction.large_output_tokens;
                    the agent gets the beginning, error lines and an ID
                    (called by the mod)
  PreCompact        updates the companion; asks Claude Code to keep IDs`,
		Example: `  ccd hook SessionStart --agent codex < event.json
      what Codex gets when a session begins
  ccd hook PreCompact --agent claude-code < event.json
      what ccd asks Claude Code's summarizer to keep`,
	}
	var call HookCall
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		var help bool
		if help, call.args, call.err = parseLenient(c, args); help {
			return c.Help()
		}
		if len(call.args) == 1 && call.args[0] == serve {
			a.serve(c.Context(), call.agent)
		} else {
			a.hook(c.Context(), call)
		}
		return nil
	}
	c.DisableFlagParsing = true
	c.Flags().SortFlags = false
	c.Flags().StringVar(&call.agent, "agent", "", "the `AGENT` that runs the hook")
	c.Flags().DurationVar(&call.Within, "within", 0, "print nothing after this `TIME` (default: 120ms to 8s)")
	return c
}

// parseLenient parses the flags of a command that must not fail.
func parseLenient(c *cobra.Command, args []string) (help bool, rest []string, err error) {
	c.DisableFlagParsing = false // it was only set so that cobra does not reject wrong flags
	err = c.ParseFlags(args)
	help, _ = c.Flags().GetBool("help")
	return help, c.Flags().Args(), err
}

// HookCall is the command line of a hook, with its parse error.
type HookCall struct {
	args   []string
	agent  string
	Within time.Duration // 0: the event's default
	err    error
}

// Limits returns the time for the answer and the part of it for updating the companion first. spent is the time it took
// to read the event. It counts where the limit covers everything that the agent waits for: a large event takes time to
// read.
func (c HookCall) Limits(e hook.Event, spent time.Duration) (answer, refresh time.Duration) {
	switch {
	case e.Large() && c.Within > 0:
		return c.Within - spent, c.Within
	case e.Name == hook.ToolResult:
		return outputTime - spent, 0
	case e.Name == hook.SessionCompact:
		return compactTime - spent, compactTime
	case c.Within > 0:
		return c.Within, c.Within - c.Within/8
	case e.Name == hook.PreCompact:
		return refreshTime + ReadingTime, refreshTime
	case e.Name == hook.SessionStart, e.Continues():
		return foldingTime - spent, 0
	}
	return ReadingTime, 0
}

// hook answers an event and logs the outcome. It returns no error, because a hook must not stop the agent.
func (a *app) hook(ctx context.Context, call HookCall) {
	begun := time.Now()
	entry := hook.Entry{Time: begun.UTC().Truncate(time.Second), Agent: call.agent}
	if len(call.args) > 0 {
		entry.Event = call.args[0]
	}
	answer, err := a.answer(ctx, call, &entry)
	if len(answer.Stdout) == 0 && entry.Event == hook.SessionCompact {
		answer.Stdout = hook.Unanswered(err)
		a.withdraw(call.agent)
	}
	if len(answer.Stdout) > 0 {
		if _, failed := a.Out.Write(answer.Stdout); failed != nil {
			err = errors.Join(err, errors.New("the agent did not read the answer"))
		}
	}
	entry.Did = answer.Did
	a.logHook(entry, begun, err)
}

// logHook completes a line of the log and adds it.
func (a *app) logHook(entry hook.Entry, begun time.Time, err error) {
	entry.Ms = time.Since(begun).Milliseconds()
	if err != nil {
		entry.Why = err.Error()
		if outside := (*hook.OutsideError)(nil); errors.As(err, &outside) {
			entry.Home = outside.Dir
		}
	}
	if home, err := a.Home(); err == nil {
		if dir, err := config.StateDir(a.Getenv, home); err == nil {
			hook.Log(dir, entry)
		}
	}
}

// answer reads the event and answers it, each within its time limit.
func (a *app) answer(ctx context.Context, call HookCall, entry *hook.Entry) (hook.Answer, error) {
	if call.err != nil || len(call.args) != 1 {
		return hook.Answer{}, errors.New("command line not understood")
	}
	begun := time.Now()
	e := hook.Event{Name: entry.Event}
	wait := max(InputTime, call.Within)
	if e.Large() {
		wait, _ = call.Limits(e, 0)
	}
	e, err := disk.Bounded(ctx, wait, func(context.Context) (hook.Event, error) { return hook.Read(a.In) })
	if err != nil {
		return hook.Answer{}, err
	}
	e.Name, e.Agent = entry.Event, call.agent
	entry.Session, entry.Source = e.Session, e.Source
	limit, _ := call.Limits(e, time.Since(begun))
	return disk.Bounded(ctx, limit, func(ctx context.Context) (hook.Answer, error) {
		h, err := a.hooks(call, e)
		if err != nil {
			return hook.Answer{}, err
		}
		return h.Answer(ctx, e)
	})
}

// hooks returns what answering an event needs. Only ToolResult opens the archive at once.
func (a *app) hooks(call HookCall, e hook.Event) (hook.Hooks, error) {
	silent := *a
	silent.Err, silent.Quiet = io.Discard, true
	l, err := silent.Locate(e.Name != hook.ToolResult)
	if err != nil {
		return hook.Hooks{}, err
	}
	h := hook.Hooks{
		Agents: l.Agents, Roots: l.Roots, CompanionDir: l.Config.Companion.Dir, StateDir: l.StateDir, Pressure: l.Config.Trigger.Pressure,
		Earlier: l.Earlier, Now: time.Now(), Keep: l.Archive, Compactor: l.Compactor,
	}
	h.Program, _ = a.Executable() // else by its name
	h.Files = func(ctx context.Context, s transcript.Session, most int) ([]*reader.Version, error) {
		r, err := l.Reading(l.Session(ctx, s.Key), 0)
		if err != nil {
			return nil, err
		}
		return reader.Newest(ctx, r, most)
	}
	conf := l.Config.Compaction
	h.Live = hook.Live{Live: l.Config.Live, Large: limits.Chars(conf.MicrocompactTokens), Output: limits.Chars(conf.LargeOutputTokens)}
	if c := install.Connection(e.Agent); c.Model != nil && e.Name == hook.SessionCompact {
		if !slices.Contains(l.Config.Live.Clients, c.Name) {
			return h, errors.New("live.clients does not name it")
		}
		h.Offer = a.offer(e.Agent)
	}
	_, limit := call.Limits(e, 0)
	h.Sync = func(ctx context.Context, path string, said func() (*compactor.Status, float64)) error {
		_, err := disk.Bounded(ctx, limit, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, silent.sync(ctx, path, said)
		})
		return err
	}
	return h, nil
}

// sync archives what is new in one transcript. It notes what a model said of it, or if said is nil, updates the companion. The daemon
// does later what does not fit in the time.
func (a *app) sync(ctx context.Context, path string, said func() (*compactor.Status, float64)) error {
	d, err := a.DaemonAt(ctx, path)
	if err != nil {
		return err
	}
	d.Summarize = nil // a summarizer is slow; the daemon runs it later
	s, ok := d.SessionAt(ctx, path)
	switch {
	case !ok:
		return errors.New("archive transcript: not a session of a watched directory")
	case said != nil:
		return d.Publish(ctx, s.Key, 0, nil, said)
	}
	_, err = d.Compact(ctx, s.Key, daemon.CompactOptions{Write: true})
	return err
}
