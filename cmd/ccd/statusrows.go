package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/daemon"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
)

// rows are the lines of status for people: what is wrong stands high, what may be long stands low.
func (o statusOutput) rows() [][]string {
	rows := [][]string{{"daemon", daemonLine(o)}, {"service", serviceLine(o.Service)}}
	if o.Config != "" {
		rows = append(rows, []string{"config", o.Config})
	}
	for _, d := range o.Degraded {
		rows = append(rows, []string{"degraded", d})
	}
	for _, e := range o.Errors {
		rows = append(rows, []string{"error", fmt.Sprintf("%s (%s ago)", mark.Inline(failureLine(daemon.Failure(e)), maxName), age(e.Time))})
	}
	for _, r := range o.Roots {
		if !r.Present {
			continue
		}
		rows = append(rows, []string{"root", fmt.Sprintf("%s %s, %s", r.Agent, r.Path, r.state(o.Running))})
	}
	if absent := notThere(o.Roots); absent != "" {
		rows = append(rows, []string{"not there", absent})
	}
	rows = append(rows, []string{"sessions", sessionsLine(o)}, []string{"archive", archiveLine(o.Archive)}, []string{"lag", lagLine(o)})
	if o.Rewritten > 0 {
		rows = append(rows, []string{"rewritten", count(o.Rewritten, "session") +
			" rewritten and archived again; ccd restore --session ID --generation N prints the earlier version"})
	}
	for _, s := range o.Live {
		rows = append(rows, []string{"live", liveLine(s)})
	}
	return rows
}

// notThere names the roots that are not there yet: an agent that is not here by its title, another directory by its path.
func notThere(roots []rootOutput) string {
	here, all := map[string]bool{}, map[string]int{}
	for _, r := range roots {
		here[r.Agent] = here[r.Agent] || r.Present
		all[r.Agent]++
	}
	var names []string
	for _, r := range roots {
		row, _ := registry.Lookup(r.Agent)
		name := r.Path
		if !here[r.Agent] && row.Roots != nil && all[r.Agent] == len(row.Roots(func(string) string { return "" }, "/")) {
			name = row.Title
		}
		if !r.Present && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

func lagLine(o statusOutput) string {
	if o.LagBytes == nil {
		return "unknown"
	}
	return humanize.IBytes(uint64(*o.LagBytes)) + " not archived yet"
}

func (r rootOutput) state(running bool) string {
	switch {
	case r.Polled:
		return "polled: " + r.Why
	case !running:
		return "there"
	}
	return "watched"
}

func sessionsLine(o statusOutput) string {
	if o.Archive.unread && o.Sessions == 0 {
		return "unknown (the archive cannot be read)"
	}
	if o.Archive.unread {
		return fmt.Sprintf("%d (from run.json; the archive cannot be read)", o.Sessions)
	}
	line := fmt.Sprintf("%d, %s", o.Sessions, count(o.Companions, "companion"))
	if o.Attachments > 0 {
		line += ", " + count(o.Attachments, "attachment")
	}
	if o.Foreign > 0 {
		line += fmt.Sprintf(", %d in an unknown format", o.Foreign)
	}
	if o.Unverified > 0 {
		line += fmt.Sprintf(", %d not verified", o.Unverified)
	}
	return line
}

func daemonLine(o statusOutput) string {
	switch {
	case !o.Running && o.ShouldRun:
		return "not running, although its service is installed"
	case !o.Running:
		return "not running"
	case o.Stale && o.LastPass != nil:
		return fmt.Sprintf("running, pid %d, since %s; last update %s ago; the current state is unknown", o.Pid, o.since(), age(*o.LastPass))
	case o.LastPass == nil:
		return fmt.Sprintf("running, pid %d, since %s", o.Pid, o.since())
	}
	line := fmt.Sprintf("running, pid %d, since %s, last scan %s ago, %d waiting", o.Pid, o.since(), age(*o.LastPass), o.Waiting)
	if o.Overflows > 0 {
		line += fmt.Sprintf(", %s healed by a scan", count(o.Overflows, "overflow"))
	}
	return line
}

func (o statusOutput) since() string {
	if o.Since == nil {
		return "?"
	}
	return minute(*o.Since)
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
	return fmt.Sprintf("%s %s: %s%s, pressure %.2f of %s%s%s%s", s.Agent, shortID(s.Session), tokens,
		estimated(s.Estimate, s.About), s.Pressure, humanize.Comma(s.Window), assumed, outlierNote(s.Outliers), project)
}

// bar draws a share of 1 in ten characters.
func bar(share float64) string {
	n := min(10, max(0, int(share*10+0.5)))
	return "[" + strings.Repeat("#", n) + strings.Repeat(".", 10-n) + "]"
}

func archiveLine(o archiveOutput) string {
	if o.Bytes == 0 && o.unread {
		return o.Path + ", cannot be read"
	}
	if o.Bytes == 0 {
		return o.Path + ", not there yet"
	}
	line := fmt.Sprintf("%s, %s for %s of transcripts", o.Path, humanize.IBytes(uint64(o.Bytes)), humanize.IBytes(uint64(o.Raw)))
	if o.Max > 0 {
		line += fmt.Sprintf(", %d %% of archive.max_size", 100*o.Bytes/o.Max)
	}
	if o.measured {
		line += fmt.Sprintf(", %s free beside it", humanize.IBytes(uint64(o.Space)))
	}
	return line
}

// stalled is how long a running daemon may go without the end of a scan until it counts as hanging.
func stalled(interval time.Duration) time.Duration { return max(3*interval, 3*time.Minute) }
