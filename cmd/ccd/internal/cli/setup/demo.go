package setup

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/install"
	"ccd/cmd/ccd/internal/table"
	"ccd/cmd/ccd/story"
	"ccd/internal/words"
)

// demoID is the ID of the session in package story.
const demoID = "5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b"

// demoPause is how long a person may read between two steps.
const demoPause = 1500 * time.Millisecond

func (a *app) demoCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "demo", GroupID: cli.Setup, Short: "see in 15 seconds what ccd is for, in a temporary directory",
		Long: `Plays an invented session: an agent decides something, compacts its context,
and cannot say any more why it decided so. Then ccd answers, with the commands
that you would type. ccd does not read your own files and leaves nothing
behind, or with --keep the session and its archive, to try other commands.`,
	}
	keep := c.Flags().Bool("keep", false, "leave the session, and print how to use it")
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := a.demo(c.Context(), *keep); err != nil {
			return fmt.Errorf("run demo: %w", err)
		}
		return nil
	}
	return c
}

func (a *app) demo(ctx context.Context, keep bool) (err error) {
	home, err := os.MkdirTemp("", install.DemoHome)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil || !keep {
			err = errors.Join(err, os.RemoveAll(home))
			return
		}
		caches, at := "", words.Shell(home)
		if a.typed() == goRun { // Go keeps them below HOME
			caches = `GOPATH="$(go env GOPATH)" GOCACHE="$(go env GOCACHE)" `
		}
		a.Say("\nTo try more, in a shell of its own; ccd ls lists it:")
		err = a.Print(fmt.Sprintf("  export %sHOME=%s CLAUDE_CONFIG_DIR=%[2]s/.claude XDG_STATE_HOME=%[2]s/state\n", caches, at)) // never wrapped
		a.Say("To remove it: rm -r %s", at)
	}()
	path := filepath.Join(home, ".claude", "projects", "-home-me-ledger", demoID+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path, slices.Concat(story.Session, story.Compaction), 0o600); err != nil {
		return err
	}
	return demo{app: a, home: home}.play(ctx)
}

// demo is a run of `ccd demo` with its temporary home.
type demo struct {
	*app
	home string
}

// play tells the story.
func (d demo) play(ctx context.Context) error {
	if err := d.ccd(ctx, d.Std, "run", "--once", "-q"); err != nil {
		return err
	}
	for _, step := range []struct {
		what string
		args []string // a command, or one record to quote
	}{
		{"An invented session with Claude Code. You ask:", []string{"#1"}},
		{"It measures, and decides:", []string{"#21"}},
		{"Hours later it compacts its context, and keeps this summary:", []string{"#66"}},
		{"You ask:", []string{"#67"}},
		{"It answers:", []string{"#68"}},
		{"ccd kept every word:", []string{"search", "--said", "Decimal"}},
		{"The whole answer, byte for byte:", []string{"restore", "w1sm843qvd19"}},
		{"What else does the summary not name? A test that it calls fixed failed, and was not run since:", []string{"diff", demoID[:8]}},
	} {
		show := d.command
		if len(step.args) == 1 {
			show = d.quote
		}
		if err := show(ctx, step.what, step.args...); err != nil {
			return err
		}
		if err := d.pause(ctx); err != nil {
			return err
		}
	}
	run, connect := d.typed(), d.typed()+" setup"
	if run == goRun {
		connect = "make install, then ccd setup"
	}
	d.Say("\nFor your own sessions: %s run\nTo give agents what they forgot, after each compaction: %s", run, connect)
	return nil
}

// quote prints a record of the session.
func (d demo) quote(ctx context.Context, what string, record ...string) error {
	var text bytes.Buffer
	if err := d.ccd(ctx, cli.Std{In: d.In, Out: &text, Err: d.Err}, "restore", demoID+record[0], "-q"); err != nil {
		return err
	}
	width := cmp.Or(d.Width(), 100)
	b := "\n" + what + "\n"
	for _, line := range table.WrapLines(strings.TrimSpace(text.String()), max(width-4, table.MinCells)) {
		b += "  │ " + line + "\n"
	}
	return d.Print(b)
}

// command prints a command that a person would type, and what it prints.
func (d demo) command(ctx context.Context, what string, args ...string) error {
	if err := d.Print("\n" + what + "\n"); err != nil {
		return err
	}
	if err := d.Draw(table.Match.Paint("$ ccd "+strings.Join(args, " "), d.Colours()) + "\n"); err != nil {
		return err
	}
	return d.ccd(ctx, d.Std, args...)
}

// ccd runs a command in the demo's home, without the caller's configuration.
func (d demo) ccd(ctx context.Context, s cli.Std, args ...string) error {
	env := []string{"HOME=" + d.home, "USERPROFILE=" + d.home, "XDG_STATE_HOME=" + filepath.Join(d.home, "state")}
	for _, name := range []string{"PATH", "SYSTEMROOT", "TERM", "NO_COLOR", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "DISPLAY", "WAYLAND_DISPLAY", "BROWSER"} {
		if v := d.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	if code := (&cli.App{Std: s, Env: account.Env{Vars: env, Dir: d.home}, Commands: d.Commands}).Execute(ctx, args); code != words.ExitDone {
		return fmt.Errorf("ccd %s: exit %d", strings.Join(args, " "), code)
	}
	return nil
}

// pause waits on a terminal, so that a person can read.
func (d demo) pause(ctx context.Context) error {
	if !d.Terminal(d.Out) {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(demoPause):
		return nil
	}
}
