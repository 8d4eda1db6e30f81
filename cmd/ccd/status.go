package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"ccd/daemon"
	"ccd/internal/transcript"
)

// statusOutput is what status prints.
type statusOutput struct {
	Running     bool            `json:"running"`
	ShouldRun   bool            `json:"should_run"`
	Stale       bool            `json:"stale"`
	Degraded    []string        `json:"degraded"`
	Damage      []damageOutput  `json:"damage"`
	Pid         int             `json:"pid"`
	Version     string          `json:"version"`
	This        string          `json:"this_version"`
	Since       *time.Time      `json:"since"`
	LastPass    *time.Time      `json:"last_pass"`
	LagSeconds  float64         `json:"lag_seconds"`
	LagBytes    *int64          `json:"lag_bytes"`
	Waiting     int             `json:"waiting"`
	Overflows   int             `json:"overflows"`
	Unreadable  int             `json:"unreadable"`
	Linked      int             `json:"hard_links"`
	Failing     int             `json:"failing"`
	Config      string          `json:"config"`
	Reload      *daemon.Reload  `json:"reload"`
	Service     serviceOutput   `json:"service"`
	Roots       []rootOutput    `json:"roots"`
	Sessions    int             `json:"sessions"`
	Attachments int             `json:"attachments"`
	Companions  int             `json:"companions"`
	Unverified  int             `json:"unverified"`
	Foreign     int             `json:"not_understood"`
	Unknown     int             `json:"unknown_records"`
	Broken      int             `json:"broken_records"`
	Rewritten   int             `json:"rewritten"`
	Live        []sessionOutput `json:"live"`
	Archive     archiveOutput   `json:"archive"`
	Errors      []failureOutput `json:"errors"`
}

type serviceOutput struct {
	Installed bool   `json:"installed"`
	Enabled   bool   `json:"enabled"`
	Active    bool   `json:"active"`
	Detail    string `json:"detail"`
}

type rootOutput struct {
	Agent   string `json:"agent"`
	Path    string `json:"path"`
	Present bool   `json:"present"`
	Polled  bool   `json:"polled"`
	Why     string `json:"why"`
}

type archiveOutput struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
	Free  int64  `json:"free_bytes"`
	Raw   int64  `json:"raw_bytes"`
	Max   int64  `json:"max_bytes"`
	Space int64  `json:"space_bytes"`

	measured bool // Space is known
	unread   bool // the archive cannot be read: the number of sessions is from run.json
}

type failureOutput struct {
	Path  string    `json:"path"`
	Error string    `json:"error"`
	Time  time.Time `json:"time"`
}

// liveWithin is how recently a session must have grown to be told of by status.
const liveWithin = 10 * time.Minute

func (a *app) statusCommand() *cobra.Command {
	p := page{
		use: "status", group: everyday, short: "is it running, how far behind, which sessions are filling up",
		forms: []string{"ccd status [--watch [INTERVAL]]"},
		long: `Shows the daemon, its service, the watched directories, the sessions and the archive. degraded lists
every problem: the service is installed but not running; sessions fail; the archive is damaged, locked or
unreadable; the disk is full; a directory cannot be read or watched; no scan finishes; run.json cannot be
written; the configuration is invalid; the daemon has another version.

The exit status is 4 if the index of sessions is damaged, else 1 if anything is degraded, else 0. status
does not read contents, ` + "`ccd verify`" + ` does. ` + "`ccd doctor`" + ` runs more checks.

Live sessions (changed in the last 10 minutes) are listed with their pressure: first what the agent's
model reports of its context window, then our estimate, marked est, and about how many
real tokens that is. "not verified" counts companions that failed a check of their text; their front
matter says which (reason). The archive is not affected: if a companion is not enough, use ccd timeline
and ccd restore.
Lag is the number of bytes of the transcripts that are not archived yet. It is 0 when nothing has changed
for companion.refresh_idle.

--watch runs until Ctrl-C (exit 130). A terminal shows it in place, anew every INTERVAL; elsewhere it
is printed again, behind an empty line, whenever it has changed in more than times (with --json one
object a line).`,
		examples: []example{
			{"ccd status", "at a glance"},
			{"ccd status --watch", "live, every two seconds"},
			{"ccd status --watch 10s --json | jq -c .degraded", "a line at each change, for a script that follows"},
			{"ccd status --json | jq '.live[].pressure'", "for a script or a status line"},
			{"ccd status -q || ccd doctor", "run doctor if anything is degraded"},
			{"ccd status -q && ccd verify -q", "for cron: the contents of the archive too"},
		},
		exits: []int{exitDamage},
		json: `one object: running, should_run, stale (the daemon cannot write run.json; its figures are old),
degraded (reasons), damage (sessions that cannot be read, as in verify), pid, version (of the daemon),
this_version (of this ccd), since, last_pass, lag_seconds (since last_pass), lag_bytes (of the
transcripts, not archived yet; null if unknown), waiting (files), overflows (times that events were
lost), unreadable (directories and files that are passed over), hard_links (files with several names),
failing (files), config (the file that the daemon runs with, else the one that is read here, "" for
none), reload {time, error, note} (the configuration's last one), service {installed, enabled, active,
detail}, roots [{agent, path, present, polled, why}], sessions, attachments, companions (whose files
are there), unverified, not_understood (sessions without any known record), unknown_records,
broken_records, rewritten (sessions whose transcript was replaced or rewritten in place, and was
archived again), live (sessions as in ls), archive {path, bytes, free_bytes (within bytes), raw_bytes,
max_bytes (0: no limit), space_bytes (free on its file system)}, errors [{path, error, time}].
With --watch: one such object a line`,
	}
	w := watchFlag{}
	c := p.command(cobra.MaximumNArgs(1), func(c *cobra.Command, args []string) error {
		if len(args) == 1 {
			if !w.on {
				return usage(c, fmt.Errorf("want `ccd status`, got 1 argument"))
			}
			if err := w.Set(args[0]); err != nil { // --watch 5s
				return usage(c, fmt.Errorf("--watch %q: %w", args[0], err))
			}
		}
		if w.on {
			return a.watchStatus(c.Context(), w.interval)
		}
		return a.status(c.Context())
	})
	c.Flags().Var(&w, "watch", "go on telling, every `INTERVAL` (2s)")
	c.Flags().Lookup("watch").NoOptDefVal = "2s"
	return c
}

func (a *app) status(ctx context.Context) error {
	g, err := a.gauge()
	if err != nil {
		return err
	}
	out, err := g.read(ctx)
	if err != nil {
		return err
	}
	if g.wrong != nil && !out.Running && !out.ShouldRun {
		return g.wrong // nothing else to show
	}
	switch {
	case a.json:
		err = a.printJSON(out)
	case !a.quiet:
		err = a.table(out.rows())
	}
	switch {
	case err != nil:
		return err
	case len(out.Damage) > 0:
		return errDamaged
	case out.ShouldRun && !out.Running && !a.quiet && !a.json:
		fmt.Fprintln(a.err, "hint: ccd start")
	}
	if len(out.Degraded) > 0 {
		return errSaid
	}
	return nil
}

// run takes over what the running daemon tells of itself.
func (o *statusOutput) run(info daemon.RunInfo) {
	o.Stale = info.Stale
	o.Pid, o.Version, o.Waiting = info.Pid, info.Version, info.Watch.Waiting
	o.Overflows, o.Unreadable, o.Linked = info.Watch.Overflows, len(info.Watch.Unreadable), info.Watch.Linked
	o.Failing, o.Reload = max(info.Failing, len(info.Errors)), info.Reload
	o.Config = info.Config
	o.Since, o.LastPass = known(info.Start), known(info.LastPass)
	if !info.LastPass.IsZero() {
		o.LagSeconds = max(0, time.Since(info.LastPass).Seconds())
	}
	for _, r := range info.Watch.Roots {
		o.Roots = append(o.Roots, rootOutput{r.Agent, r.Path, r.Present, r.Polled, r.Why})
	}
}

func (o *statusOutput) count(sessions []entry) {
	for _, e := range sessions {
		if e.Class == transcript.Attachment {
			o.Attachments++
			continue
		}
		o.Sessions++
		o.Unknown += e.state.Unknown
		if e.state.Foreign {
			o.Foreign++
		}
		o.Broken += e.state.Broken
		if !e.state.Rewritten.IsZero() {
			o.Rewritten++
		}
		if e.companion() {
			o.Companions++
			if !e.state.Verified {
				o.Unverified++
			}
		}
		if time.Since(e.last()) < liveWithin {
			o.Live = append(o.Live, e.output())
		}
	}
}
