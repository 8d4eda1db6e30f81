package status

import (
	"time"

	"ccd/cmd/ccd/internal/doctor"
	"ccd/cmd/ccd/internal/hook"
	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/remote/pulled"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// Report is how things are. Its keys are a promise.
type Report struct {
	Running     bool             `json:"running"`
	ShouldRun   bool             `json:"should_run"`
	Stale       bool             `json:"stale"`
	Findings    []doctor.Finding `json:"-"`
	Degraded    []string         `json:"degraded"` // those that are wrong, as text
	Damage      []reader.Damage  `json:"damage"`
	Pid         int              `json:"pid"`
	Version     string           `json:"version"`
	This        string           `json:"this_version"`
	Since       *time.Time       `json:"since"`
	LastPass    *time.Time       `json:"last_pass"`
	LagSeconds  float64          `json:"lag_seconds"`
	LagBytes    *int64           `json:"lag_bytes"`
	Waiting     int              `json:"waiting"`
	CatchUp     *daemon.Progress `json:"catch_up"` // null if the daemon has dealt with all files that it found
	Overflows   int              `json:"overflows"`
	Unreadable  int              `json:"unreadable"`
	Linked      int              `json:"hard_links"`
	Failing     int              `json:"failing"`
	Config      string           `json:"config"`
	Service     Service          `json:"service"`
	Roots       []Root           `json:"roots"`
	Sessions    int              `json:"sessions"`
	Attachments int              `json:"attachments"`
	Companions  int              `json:"companions"`
	Deferred    int              `json:"deferred"`
	Unverified  int              `json:"unverified"`
	Foreign     int              `json:"not_understood"`
	Unknown     int              `json:"unknown_records"`
	Broken      int              `json:"broken_records"`
	Rewritten   int              `json:"rewritten"`
	Live        []Session        `json:"live"`
	Archive     Archive          `json:"archive"`
	Errors      []daemon.Failure `json:"errors"`
	Remote      *pulled.Push     `json:"remote"` // null if ccd remote has not pushed
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

// Root is a watched directory.
type Root struct {
	Agent   string `json:"agent"`
	Path    string `json:"path"`
	Present bool   `json:"present"`
	Polled  bool   `json:"polled"`
	Why     string `json:"why"`
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
	for _, r := range info.Watch.Roots {
		o.Roots = append(o.Roots, Root{r.Agent, r.Path, r.Present, r.Polled, r.Why})
	}
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
		if time.Since(e.Last()) < liveWithin {
			o.Live = append(o.Live, Of(e))
		}
	}
}
