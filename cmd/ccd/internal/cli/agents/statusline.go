package agents

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/hook"
	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/table"
	"ccd/daemon"
	"ccd/internal/words"
)

// Each source of the status line has its own time limit. A late one is left out.
const (
	lineInputTime   = 250 * time.Millisecond
	lineArchiveTime = 100 * time.Millisecond
	lineDaemonTime  = 50 * time.Millisecond
)

// maxLineTokens is more than any real token count.
const maxLineTokens = 1 << 40

func (a *app) statuslineCommand() *cobra.Command {
	c := &cobra.Command{
		Hidden: true, Use: "statusline", Short: "print one line for Claude Code's status line",
		Long: `Claude Code runs it and passes the session as a JSON object on stdin. ccd
prints one line: how full the context is, when the agent last compacted it,
how many originals ` + "`ccd restore`" + ` can print, and a warning if ccd is not
running. ccd leaves out what it does not know or cannot read in time.

It reads the state of this session only. The line is colored unless NO_COLOR
is set. ` + "`ccd agents install claude --statusline`" + ` sets it up. To add it to a
status line of your own, call ` + "`ccd statusline`" + ` in your script with the same
stdin.`,
		Example: `  echo '{"transcript_path": "'$PWD'/5d2f7a1e.jsonl"}' | ccd statusline
      print the line for one transcript
  NO_COLOR=1 ccd statusline < event.json
      without colors`,
	}
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if help, _, _ := parseLenient(c, args); help {
			return c.Help()
		}
		return a.Draw(a.statusline(c.Context()) + "\n")
	}
	c.DisableFlagParsing = true
	return c
}

// lineInput is what ccd uses of Claude Code's input to a status line. Any member may be missing.
type lineInput struct {
	Transcript string `json:"transcript_path"`
	Context    struct {
		Window float64 `json:"context_window_size"`
		Usage  struct {
			Input   float64 `json:"input_tokens"`
			Created float64 `json:"cache_creation_input_tokens"`
			Read    float64 `json:"cache_read_input_tokens"`
		} `json:"current_usage"`
	} `json:"context_window"`
}

// size returns the context size that the client reports, else the one in kept.
func (in lineInput) size(kept daemon.State) status.Size {
	used, window := in.Context.Usage.Input+in.Context.Usage.Created+in.Context.Usage.Read, in.Context.Window
	if used >= 1 && used < maxLineTokens && window >= 0 && window < maxLineTokens {
		return status.SizeOf(int64(used), 0, 0, int64(window))
	}
	return status.SizeOf(kept.Reported, kept.About, kept.Estimate, kept.Window)
}

// statusline returns the status line. It has only numbers and times, no text of a transcript.
func (a *app) statusline(ctx context.Context) string {
	in, _ := disk.Bounded(ctx, lineInputTime, func(context.Context) (in lineInput, err error) {
		err = json.NewDecoder(io.LimitReader(a.In, 1<<20)).Decode(&in)
		if errors.As(err, new(*json.UnmarshalTypeError)) { // the other members were read
			err = nil
		}
		return in, err
	})
	place, err := a.Place(true)
	state := daemon.State{}
	if err == nil {
		state, _ = disk.Bounded(ctx, lineArchiveTime, func(ctx context.Context) (daemon.State, error) { return stateAt(ctx, place, in.Transcript) })
	} else if place, err = a.State(); err != nil {
		return ""
	}
	colored := a.Getenv("NO_COLOR") == ""
	var parts []string
	add := func(text string, t table.Tone) { parts = append(parts, t.Paint(text, colored)) }
	if size := in.size(state); size.Tokens > 0 {
		add("context "+size.String(), cli.SizeTone(size))
	}
	if !state.Boundary.IsZero() {
		add("compacted "+words.Ago(state.Boundary, time.Now()), table.NoTone)
	}
	if state.Items > 0 {
		add(words.Count(state.Items, "original")+" in ccd", table.NoTone)
	}
	running, err := disk.Bounded(ctx, lineDaemonTime, func(context.Context) (bool, error) {
		_, running, _ := daemon.ReadRun(place.StateDir)
		return running, nil
	})
	if err == nil && !running {
		add("ccd is not running", table.Bad)
	}
	return strings.Join(parts, " · ")
}

// stateAt returns the archived state of the session of a transcript.
func stateAt(ctx context.Context, p *account.Place, path string) (daemon.State, error) {
	if !filepath.IsAbs(path) {
		return daemon.State{}, errors.New("no transcript")
	}
	s, ok := hook.Session(p.Agents, p.Roots, path)
	if !ok {
		return daemon.State{}, errors.New("not below a watched directory")
	}
	kept, err := p.Archive.Last(ctx, s.Key)
	if err != nil {
		return daemon.State{}, err
	}
	return daemon.DecodeState(kept.State)
}
