package main

import (
	"context"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/daemon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// statusOutput is what status prints.
type statusOutput struct {
	Running     bool            `json:"running"`
	ShouldRun   bool            `json:"should_run"`
	Pid         int             `json:"pid"`
	Version     string          `json:"version"`
	Since       *time.Time      `json:"since"`
	LastPass    *time.Time      `json:"last_pass"`
	LagSeconds  float64         `json:"lag_seconds"`
	Waiting     int             `json:"waiting"`
	Service     serviceOutput   `json:"service"`
	Roots       []rootOutput    `json:"roots"`
	Sessions    int             `json:"sessions"`
	Attachments int             `json:"attachments"`
	Companions  int             `json:"companions"`
	Unverified  int             `json:"unverified"`
	Unknown     int             `json:"unknown_records"`
	Broken      int             `json:"broken_records"`
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
		long: `It should run where its service is installed: then it exits 1 if no daemon does. Live sessions (grown in
the last 10 minutes) are listed with their pressure: what the agent's model reports of its context
window first, our estimate, marked est, second. Lag is the time since the last scan of all roots.`,
		examples: []example{
			{"ccd status", "at a glance"},
			{"ccd status --json | jq '.live[].pressure'", "for a script or a status line"},
			{"ccd status -q || ccd start", "start the service if it should run and does not"},
		},
		json: `one object: running, should_run, pid, version, since, last_pass, lag_seconds, waiting, service
{installed, enabled, active, detail}, roots [{agent, path, present, polled, why}], sessions,
attachments, companions (whose files are there), unverified, unknown_records, broken_records, live
(sessions as in ls), archive {path, bytes, free_bytes, raw_bytes}, errors [{path, error, time}]`,
	}
	return p.command(cobra.NoArgs, func(c *cobra.Command, _ []string) error { return a.status(c.Context()) })
}

func (a *app) status(ctx context.Context) error {
	l, err := a.library(ctx)
	if err != nil {
		return err
	}
	out, err := a.statusOf(ctx, l)
	if err != nil {
		return err
	}
	switch {
	case a.json:
		err = a.printJSON(out)
	case !a.quiet:
		err = a.printStatus(out)
	}
	if err == nil && out.ShouldRun && !out.Running {
		if !a.quiet && !a.json {
			fmt.Fprintln(a.err, "hint: ccd start")
		}
		return errSaid
	}
	return err
}

func (a *app) statusOf(ctx context.Context, l *library) (statusOutput, error) {
	out := statusOutput{Roots: []rootOutput{}, Live: []sessionOutput{}, Errors: []failureOutput{}}
	info, running, err := daemon.ReadRun(l.stateDir)
	if err != nil {
		return out, err
	}
	out.Running = running
	for _, f := range info.Errors { // where no daemon runs, those of the last one
		out.Errors = append(out.Errors, failureOutput{f.Path, f.Error, f.Time})
	}
	if running {
		out.run(info)
	} else {
		for _, r := range l.roots {
			out.Roots = append(out.Roots, rootOutput{Agent: r.Agent, Path: r.Path, Present: exists(r.Path)})
		}
	}
	if service, err := a.installedService(l); err == nil {
		if s, err := service.Status(ctx); err == nil {
			out.Service = serviceOutput{s.Installed, s.Enabled, s.Active, s.Detail}
		}
	}
	out.ShouldRun = out.Service.Installed
	out.count(l.sessions)
	size, err := l.archive.Size(ctx)
	if err != nil {
		return out, fmt.Errorf("measure archive: %w", err)
	}
	out.Archive = archiveOutput{l.archivePath, size.File, size.Free, size.Raw}
	return out, nil
}

// run takes over what the running daemon tells of itself.
func (o *statusOutput) run(info daemon.RunInfo) {
	o.Pid, o.Version, o.Waiting = info.Pid, info.Version, info.Watch.Waiting
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
		o.Broken += e.state.Broken
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

func (a *app) printStatus(o statusOutput) error {
	rows := [][]string{{"daemon", daemonLine(o)}, {"service", serviceLine(o.Service)}}
	for _, r := range o.Roots {
		state := "watched"
		switch {
		case !r.Present:
			state = "not there yet"
		case r.Polled:
			state = "polled: " + r.Why
		case !o.Running:
			state = "there"
		}
		rows = append(rows, []string{"root", fmt.Sprintf("%s %s, %s", r.Agent, r.Path, state)})
	}
	sessions := fmt.Sprintf("%d, %s", o.Sessions, count(o.Companions, "companion"))
	if o.Attachments > 0 {
		sessions += ", " + count(o.Attachments, "attachment")
	}
	if o.Unverified > 0 {
		sessions += fmt.Sprintf(", %d not verified", o.Unverified)
	}
	rows = append(rows, []string{"sessions", sessions})
	for _, s := range o.Live {
		rows = append(rows, []string{"live", liveLine(s)})
	}
	rows = append(rows, []string{"archive", archiveLine(o.Archive)})
	for _, e := range o.Errors {
		rows = append(rows, []string{"error", fmt.Sprintf("%s (%s ago)", failureLine(daemon.Failure(e)), age(e.Time))})
	}
	return a.table(rows)
}

func daemonLine(o statusOutput) string {
	switch {
	case !o.Running && o.ShouldRun:
		return "not running, although its service is installed"
	case !o.Running:
		return "not running"
	case o.LastPass == nil:
		return fmt.Sprintf("running, pid %d, since %s", o.Pid, minute(*o.Since))
	}
	return fmt.Sprintf("running, pid %d, since %s, last scan %s ago, %d waiting", o.Pid, minute(*o.Since), age(*o.LastPass), o.Waiting)
}

func serviceLine(s serviceOutput) string {
	if !s.Installed {
		return "not installed"
	}
	if s.Detail == "" {
		return "installed"
	}
	return "installed, " + s.Detail
}

func liveLine(s sessionOutput) string {
	tokens := ""
	if s.Reported > 0 {
		tokens = humanize.Comma(s.Reported) + " tokens, "
	}
	assumed := ""
	if s.Assumed {
		assumed = " (assumed)"
	}
	project := ""
	if s.Project != "" {
		project = ", " + mark.Inline(s.Project, 60)
	}
	return fmt.Sprintf("%s %s: %s%s est, pressure %.2f of %s%s%s", s.Agent, shortID(s.Session), tokens,
		humanize.Comma(s.Estimate), s.Pressure, humanize.Comma(s.Window), assumed, project)
}

func archiveLine(o archiveOutput) string {
	if o.Bytes == 0 {
		return o.Path + ", not there yet"
	}
	return fmt.Sprintf("%s, %s for %s of transcripts", o.Path, humanize.IBytes(uint64(o.Bytes)), humanize.IBytes(uint64(o.Raw)))
}
