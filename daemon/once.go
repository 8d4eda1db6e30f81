package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"ccd/archive"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// Report is the result of one pass.
type Report struct {
	Files       int           `json:"files"`       // found
	Sessions    int           `json:"sessions"`    // conversations in the archive now, including those whose files are gone
	Attachments int           `json:"attachments"` // files of sessions in the archive now
	Bytes       int64         `json:"bytes"`       // of the files found
	Companions  int           `json:"companions"`  // that exist now
	Deferred    int           `json:"deferred"`    // sessions that get theirs when they grow, or when somebody asks for it
	Failed      []Failure     `json:"failed"`
	Skipped     []string      `json:"skipped"`   // named like a transcript, but not a regular file
	Summaries   int           `json:"summaries"` // written by the summarizer's command in this pass
	Lacking     int           `json:"lacking"`   // companions that still lack some of its summaries
	Took        time.Duration `json:"took_ns"`
}

// Once brings everything up to date and returns: live sessions first, then newest first. The report lists the sessions
// that failed; the others are still processed. progress is called with the bytes done and the total (see Progress). Once
// fails with *archive.LockedError if another process keeps the archive locked.
func (d *Daemon) Once(ctx context.Context, progress func(done, all int64)) (Report, error) {
	start := time.Now()
	d.start(ctx)
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	ctx = archive.WaitForLock(ctx, func(locked *archive.LockedError) {
		if locked != nil && locked.Waited >= longWait { // otherwise every file would wait
			giveUp(fmt.Errorf("archive sessions: %w", locked))
		}
	})
	report := Report{Skipped: []string{}}
	d.result = func(o watcher.Offer, err error) {
		d.health.mu.Lock()
		defer d.health.mu.Unlock()
		d.setFailure(o.Path, err)
	}
	d.catchUp = &catchUp{show: progress}
	var wrong []error
	report.Files, report.Bytes, wrong = d.syncAll(ctx)
	d.catchUp = nil
	if ctx.Err() != nil {
		return report, context.Cause(ctx)
	}
	for _, err := range wrong {
		if errors.Is(err, watcher.ErrIrregular) {
			report.Skipped = append(report.Skipped, err.Error())
		} else {
			d.health.failing[err.Error()] = failureOf("", err)
		}
	}
	d.atScan(ctx, start)
	d.finishJobs(ctx)
	for end := time.Now().Add(passTime); time.Now().Before(end); d.finishJobs(ctx) { // until no summary is lacking, or one is refused
		if d.startAsking(ctx); !d.asking {
			break
		}
		d.take(ctx, <-d.pool.ended)
	}
	d.count(&report)
	report.Took, report.Summaries, report.Failed = time.Since(start), d.summaries, append([]Failure{}, d.health.failures()...)
	d.say(func(h *RunInfo) { h.Sessions, h.LastPass = report.Sessions, start.UTC() })
	return report, context.Cause(ctx)
}

// syncAll syncs all transcripts and companions. It returns what it found.
func (d *Daemon) syncAll(ctx context.Context) (files int, bytes int64, wrong []error) {
	found, wrong := watcher.Scan(ctx, d.watcherOptions(ctx, nil, nil))
	var offers []watcher.Offer
	for _, f := range found {
		offers = append(offers, watcher.Offer{Path: f.Path, Root: f.Root, Size: f.Size, Quiet: atRest, Cold: true})
		bytes += f.Size
	}
	d.countFound(bytes)
	d.bring(ctx, offers...)
	d.bring(ctx, d.unscanned()...)
	return len(found), bytes, wrong
}

// count counts what there is.
func (d *Daemon) count(report *Report) {
	report.Sessions = d.conversations()
	for _, s := range d.sessions {
		if s.Class == transcript.Attachment {
			report.Attachments++
		}
		if s.state.Companion != "" && exists(s.state.Companion) {
			report.Companions++
		}
		if s.state.Deferred {
			report.Deferred++
		}
		if s.state.MissingSummaries > 0 && !s.state.Gone {
			report.Lacking++
		}
	}
}

// Plan is what a pass would read and write.
type Plan struct {
	Roots     []RootPlan `json:"roots"`
	Files     int        `json:"files"`
	Sessions  int        `json:"sessions"` // conversations among the files
	Bytes     int64      `json:"bytes"`
	Known     int        `json:"archived_sessions"`
	New       int64      `json:"new_bytes"`     // not yet archived, about
	Archive   int64      `json:"archive_bytes"` // expected growth of the archive
	Errors    []string   `json:"errors"`
	Companion string     `json:"companions"` // their directory, or "beside each transcript"
}

// RootPlan is the part of a Plan for one root.
type RootPlan struct {
	Agent    string `json:"agent"`
	Path     string `json:"path"`
	Present  bool   `json:"present"`
	Files    int    `json:"files"`
	Sessions int    `json:"sessions"` // conversations among the files
	Bytes    int64  `json:"bytes"`
}

// archiveRatio is about the archive's size per byte of transcript (TestCostOfAFirstPass).
const archiveRatio = 0.3

// Plan scans the roots and changes nothing. It fails if the scan finds a file outside the roots.
func (d *Daemon) Plan(ctx context.Context) (Plan, error) {
	found, wrong := watcher.Scan(ctx, d.watcherOptions(ctx, nil, nil))
	p := Plan{Roots: []RootPlan{}, Errors: []string{}, Companion: cmp.Or(d.CompanionDir, "beside each transcript")}
	for _, err := range wrong {
		p.Errors = append(p.Errors, err.Error())
	}
	at := map[watcher.Root]int{}
	for i, r := range d.Watch.Roots {
		at[r] = i
		p.Roots = append(p.Roots, RootPlan{Agent: r.Agent, Path: r.Path, Present: exists(r.Path)})
	}
	for _, f := range found {
		i, ok := at[f.Root]
		if !ok {
			return p, fmt.Errorf("plan: %s is not below a watched root", f.Path)
		}
		p.Roots[i].Files++
		p.Roots[i].Bytes += f.Size
		p.Files++
		p.Bytes += f.Size
		s, ok := d.Agents.Find(f.Root.Agent, f.Root.Path, f.Path)
		if ok && d.Archive.Forgets(s) {
			continue
		}
		if ok && s.Class != transcript.Attachment && s.Thread == "" {
			p.Roots[i].Sessions++
			p.Sessions++
		}
		p.New += f.Size
		if s := d.sessions[d.owners[f.Path]]; s != nil {
			p.New -= min(f.Size, s.state.At.Offset)
		}
	}
	p.Known = d.conversations()
	p.Archive = int64(float64(p.New) * archiveRatio)
	return p, nil
}
