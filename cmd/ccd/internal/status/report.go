package status

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/cmd/ccd/internal/doctor"
	"ccd/cmd/ccd/internal/hook"
	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/mark"
	"ccd/internal/remote/pulled"
	"ccd/internal/transcript"
	"ccd/internal/words"
	"ccd/watcher"
)

// Report is how things are. Its keys are a promise.
type Report struct {
	Running     bool                 `json:"running"`
	ShouldRun   bool                 `json:"should_run"`
	Stale       bool                 `json:"stale"`
	Findings    []doctor.Finding     `json:"-"`
	Degraded    []string             `json:"degraded"` // those that are wrong, as text
	Damage      []reader.Damage      `json:"damage"`
	Pid         int                  `json:"pid"`
	Version     string               `json:"version"`
	This        string               `json:"this_version"`
	Since       *time.Time           `json:"since"`
	LastPass    *time.Time           `json:"last_pass"`
	LagSeconds  float64              `json:"lag_seconds"`
	LagBytes    *int64               `json:"lag_bytes"`
	Waiting     int                  `json:"waiting"`
	CatchUp     *daemon.Progress     `json:"catch_up"` // null if the daemon has dealt with all files that it found
	Overflows   int                  `json:"overflows"`
	Unreadable  int                  `json:"unreadable"`
	Linked      int                  `json:"hard_links"`
	Failing     int                  `json:"failing"`
	Config      string               `json:"config"`
	Service     Service              `json:"service"`
	Roots       []watcher.RootHealth `json:"roots"`
	Sessions    int                  `json:"sessions"`
	Attachments int                  `json:"attachments"`
	Companions  int                  `json:"companions"`
	Deferred    int                  `json:"deferred"`
	Unverified  int                  `json:"unverified"`
	Foreign     int                  `json:"not_understood"`
	Unknown     int                  `json:"unknown_records"`
	Broken      int                  `json:"broken_records"`
	Rewritten   int                  `json:"rewritten"`
	Forgotten   int                  `json:"forgotten"`
	Live        []Session            `json:"live"`
	Archive     Archive              `json:"archive"`
	Errors      []daemon.Failure     `json:"errors"`
	Remote      *pulled.Push         `json:"remote"` // null if ccd remote has not pushed
	// Agents is what came of each agent's newest compaction, as far as hook.log goes back.
	Agents map[string]hook.Outcome `json:"agents"`
}

// Service is the service as its manager knows it.
type Service struct {
	Installed bool   `json:"installed"`
	Enabled   bool   `json:"enabled"`
	Active    bool   `json:"active"`
	Detail    string `json:"detail"`
}

// Archive is the archive's file and what it holds.
type Archive struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
	Free  int64  `json:"free_bytes"`
	Raw   int64  `json:"raw_bytes"`
	Max   int64  `json:"max_bytes"`
	Space int64  `json:"space_bytes"`

	unread bool // the archive cannot be read: the number of sessions is from run.json
}

// liveWithin is how recently a session must have grown to be told of by status.
const liveWithin = 10 * time.Minute

// run takes over what the running daemon tells of itself.
func (o *Report) run(info daemon.RunInfo) {
	o.Stale = info.Stale
	o.Pid, o.Version, o.Waiting = info.Pid, info.Version, info.Watch.Waiting
	o.Overflows, o.Unreadable, o.Linked = info.Watch.Overflows, len(info.Watch.Unreadable), info.Watch.Linked
	o.CatchUp = info.CatchUp
	o.Failing = max(info.Failing, len(info.Errors))
	o.Config = info.Config
	o.Since, o.LastPass = words.Known(info.Start), words.Known(info.LastPass)
	if !info.LastPass.IsZero() {
		o.LagSeconds = max(0, time.Since(info.LastPass).Seconds())
	}
	o.Roots = append(o.Roots, info.Watch.Roots...)
}

func (o *Report) count(sessions []*reader.Entry) {
	for _, e := range sessions {
		if e.Class == transcript.Attachment {
			o.Attachments++
			continue
		}
		o.Sessions++
		o.Unknown += e.Kept.Unknown
		if e.Kept.UnknownFormat {
			o.Foreign++
		}
		o.Broken += e.Kept.Broken
		if !e.Kept.Rewritten.IsZero() {
			o.Rewritten++
		}
		if e.Kept.Deferred {
			o.Deferred++
		}
		if e.HasCompanion() {
			o.Companions++
			if !e.Kept.Verified {
				o.Unverified++
			}
		}
		if time.Since(e.Last()) < liveWithin && Of(e).Apart() == "" {
			o.Live = append(o.Live, Of(e))
		}
	}
}

// Rows are the lines of status for people, problems first; the live sessions are a table of their own.
func (o Report) Rows() [][]string {
	var rows, sound [][]string
	for _, f := range o.Findings {
		switch line := []string{f.Check, f.Detail}; {
		case f.State == "wrong":
			rows = append(rows, []string{"degraded", f.Detail}, []string{"", "fix: " + f.Fix})
		case f.State == "note" && f.Fix != "":
			line[1] += "; fix: " + f.Fix
			fallthrough
		default:
			sound = append(sound, line)
		}
	}
	for _, line := range FailedLines(o.Errors, true) {
		rows = append(rows, []string{"error", line})
	}
	rows = append(rows, sound...)
	absent := 0
	for _, r := range o.Roots {
		if !r.Present {
			absent++
			continue
		}
		rows = append(rows, []string{"root", fmt.Sprintf("%s %s, %s", r.Agent, r.Path, rootState(r, o.Running))})
	}
	if absent > 0 {
		rows = append(rows, []string{"not found", fmt.Sprintf("directories: %d, watched when they appear; ccd doctor lists their agents", absent)})
	}
	rows = append(rows, []string{"sessions", sessionsLine(o)}, []string{"lag", lagLine(o)})
	if p := o.CatchUp; p != nil { // how far the daemon is with the files that it found, and when it ends
		rows = append(rows, []string{"catching up", humanize.IBytes(uint64(p.Done)) + " of " + Pace(*p)})
	}
	for _, agent := range slices.Sorted(maps.Keys(o.Agents)) {
		if what := o.Agents[agent].String(); what != "" {
			rows = append(rows, []string{"agent", agent + ": " + what})
		}
	}
	if o.Forgotten > 0 {
		rows = append(rows, []string{"forgotten", words.Count(o.Forgotten, "file") + " of sessions, removed by ccd archive forget and not archived again"})
	}
	if o.Rewritten > 0 {
		rows = append(rows, []string{"rewritten", words.Count(o.Rewritten, "session") +
			" rewritten and archived again; ccd restore --session ID --generation N prints the earlier version"})
	}
	return rows
}

// FailedLines returns a line for each reason for which files failed, the newest failure first.
func FailedLines(all []daemon.Failure, ages bool) (lines []string) {
	reason := func(f daemon.Failure) string { // a companion's path begins as its transcript's does
		return strings.ReplaceAll(f.Error, strings.TrimSuffix(f.Path, filepath.Ext(f.Path)), "")
	}
	files := map[string]int{}
	for _, f := range all {
		files[reason(f)]++
	}
	for _, f := range all {
		n, line := files[reason(f)], mark.Inline(f.String(), 0)
		if n == 0 {
			continue
		}
		delete(files, reason(f))
		if n > 1 {
			line += fmt.Sprintf("; the same for %s", words.Count(n-1, "more file"))
		}
		if ages {
			line += " (" + words.Age(f.Time) + " ago)"
		}
		lines = append(lines, line)
	}
	return lines
}

func lagLine(o Report) string {
	if o.LagBytes == nil {
		return "unknown"
	}
	line := humanize.IBytes(uint64(*o.LagBytes)) + " not archived yet"
	if o.Unreadable > 0 {
		line += ", not counting " + words.Count(o.Unreadable, "path") + " that cannot be read"
	}
	return line
}

// Pace is the size of a catch-up, its rate and the time left, if they are known.
func Pace(p daemon.Progress) string {
	line := humanize.IBytes(uint64(p.Bytes))
	if p.Rate > 0 {
		line += fmt.Sprintf(", %s/s, about %s left", humanize.IBytes(uint64(p.Rate)), words.Short(max(0, time.Until(p.Ends))))
	}
	return line
}

func rootState(r watcher.RootHealth, running bool) string {
	switch {
	case r.Polled:
		return "polled: " + r.Why
	case !running:
		return "not watched"
	}
	return "watched"
}

func sessionsLine(o Report) string {
	if o.Archive.unread && o.Sessions == 0 {
		return "unknown (the archive cannot be read)"
	}
	if o.Archive.unread {
		return fmt.Sprintf("%d (from run.json; the archive cannot be read)", o.Sessions)
	}
	line := fmt.Sprintf("%d, %s", o.Sessions, words.Count(o.Companions, "companion"))
	if o.Attachments > 0 {
		line += ", " + words.Count(o.Attachments, "attachment")
	}
	if o.Foreign > 0 {
		line += fmt.Sprintf(", %d in an unknown format", o.Foreign)
	}
	if o.Unverified > 0 {
		line += fmt.Sprintf(", %d not verified (ccd ls names them, ccd compact SESSION says why)", o.Unverified)
	}
	if o.Deferred > 0 {
		line += "; " + DeferredLine(o.Deferred)
	}
	return line
}

// DeferredLine says when so many older sessions get companions.
func DeferredLine(n int) string {
	if n == 1 {
		return "1 older session gets one when it grows, or with ccd compact --all"
	}
	return fmt.Sprintf("%d older sessions get one when they grow, or with ccd compact --all", n)
}
