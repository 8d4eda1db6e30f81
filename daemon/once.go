package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"ccd/archive"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// Report is what one pass did.
type Report struct {
	Files       int           `json:"files"`       // found
	Sessions    int           `json:"sessions"`    // conversations in the archive now, also those whose files are gone
	Attachments int           `json:"attachments"` // files of sessions in the archive now
	Bytes       int64         `json:"bytes"`       // of the files found
	Companions  int           `json:"companions"`  // that stand now
	Failed      []Failure     `json:"failed"`
	Skipped     []string      `json:"skipped"`   // what has a transcript's name and is no regular file
	Summaries   int           `json:"summaries"` // written by the summarizer's command in this pass
	Lacking     int           `json:"lacking"`   // companions that still lack summaries of it
	Took        time.Duration `json:"took_ns"`
}

// attempts is how often a session is tried again in one pass when another process was faster.
const attempts = 5

// Once brings everything up to date and returns: live sessions first, then newest first. A session that fails is
// listed in the report and keeps none of the others from their turn. Progress is told the bytes of the files done and of
// all. It fails with *RunningError where a daemon runs, and with an *archive.LockedError where another process keeps the
// archive's lock.
func (d *Daemon) Once(ctx context.Context, progress func(done, all int64)) (Report, error) {
	start := time.Now()
	release, err := d.begin()
	if err != nil {
		return Report{}, err
	}
	defer release()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	ctx = archive.Patiently(ctx, func(locked *archive.LockedError) {
		if locked != nil && locked.Waited >= longWait { // each file would wait anew
			giveUp(fmt.Errorf("bring everything up to date: %w", locked))
		}
	})
	found, wrong := watcher.Scan(ctx, d.watch(ctx, nil))
	report := Report{Failed: []Failure{}, Skipped: []string{}}
	for _, err := range wrong {
		if errors.Is(err, watcher.ErrIrregular) {
			report.Skipped = append(report.Skipped, err.Error())
		} else {
			report.fail("", err)
		}
	}
	d.vacateAll(ctx)
	var all int64
	for _, f := range found {
		all += f.Size
	}
	for i, f := range found {
		if ctx.Err() != nil {
			return report, context.Cause(ctx)
		}
		offer := watcher.Offer{Path: f.Path, Root: f.Root, Quiet: atRest, More: i < len(found)-1}
		if err := errors.Join(d.bring(ctx, offer), d.saveAll(ctx, offer.More)); err != nil {
			report.fail(f.Path, err)
		}
		report.Files, report.Bytes = report.Files+1, report.Bytes+f.Size
		progress(report.Bytes, all)
	}
	d.recheck(ctx, start, atRest, func(o watcher.Offer, err error) { report.fail(o.Path, err) })
	d.leave(ctx, &report)
	if err := d.expire(ctx, start); err != nil {
		report.fail(d.StateDir, err)
	}
	if report.Summaries, report.Lacking, err = d.fillIn(ctx); err != nil {
		report.fail(summariesName, err)
	}
	report.Took = time.Since(start)
	for _, s := range d.sessions {
		switch {
		case s.Class == transcript.Attachment:
			report.Attachments++
		case s.placed != "" && s.state.Skipped == "":
			report.Sessions++
		}
		if s.state.Companion != "" && exists(s.state.Companion) {
			report.Companions++
		}
	}
	d.health.mu.Lock()
	defer d.health.mu.Unlock()
	h := &d.health.info
	h.Errors, h.Failing = last(report.Failed, maxFailures), len(report.Failed)
	h.Sessions, h.LastPass = report.Sessions, start.UTC()
	d.tell()
	return report, context.Cause(ctx)
}

func (r *Report) fail(path string, err error) {
	r.Failed = append(r.Failed, Failure{Path: mark.Name(path), Error: mark.Name(err.Error()), Time: time.Now().UTC()})
}

// bring syncs one file until no other process is in the way, and drops its fold.
func (d *Daemon) bring(ctx context.Context, o watcher.Offer) error {
	var err error
	for tries := 0; tries < attempts; tries++ {
		if err = d.sync(ctx, o); errors.Is(err, errMore) {
			tries--
		} else if !raced(err) {
			break
		}
	}
	if s := d.sessions[d.owners[o.Path]]; s != nil {
		s.unfold()
	}
	return err
}

// saveAll saves, and syncs again what another process has changed meanwhile.
func (d *Daemon) saveAll(ctx context.Context, more bool) error {
	stale, err := d.save(ctx, more)
	for _, s := range stale {
		err = errors.Join(err, d.bring(ctx, watcher.Offer{Path: s.Path, Root: watcher.Root{Agent: s.Agent, Path: s.Root}, Quiet: atRest, More: more}))
	}
	return err
}

// leave notes the sessions whose files are gone, and has companions made anew that only the archive can make.
func (d *Daemon) leave(ctx context.Context, report *Report) {
	for _, s := range d.sessions {
		if d.outdated(s) {
			offer := watcher.Offer{Path: s.Path, Root: watcher.Root{Agent: s.Agent, Path: s.Root}, Gone: true, Quiet: atRest}
			if err := d.bring(ctx, offer); err != nil {
				report.fail(s.Path, err)
			}
		}
		if !s.state.Gone && !exists(s.Path) && exists(s.Root) {
			if err := d.purge(ctx, s); err != nil {
				report.fail(s.Path, err)
			}
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
	New       int64      `json:"new_bytes"`     // not yet in the archive, about
	Archive   int64      `json:"archive_bytes"` // what New will need there, about
	Errors    []string   `json:"errors"`
	Companion string     `json:"companions"` // where they stand: a directory, or "beside each transcript"
}

// RootPlan is one watched directory.
type RootPlan struct {
	Agent    string `json:"agent"`
	Path     string `json:"path"`
	Present  bool   `json:"present"`
	Files    int    `json:"files"`
	Sessions int    `json:"sessions"` // conversations among the files
	Bytes    int64  `json:"bytes"`
}

// shrink is what the archive needs of each byte that is new to it: measured on real transcripts, docs/PERFORMANCE.md.
const shrink = 0.25

// Plan looks at what there is and changes nothing.
func (d *Daemon) Plan(ctx context.Context) (Plan, error) {
	found, wrong := watcher.Scan(ctx, d.watch(ctx, nil))
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
			return p, fmt.Errorf("plan: %s lies below no root", f.Path)
		}
		p.Roots[i].Files++
		p.Roots[i].Bytes += f.Size
		p.Files++
		p.Bytes += f.Size
		if s, ok := registry.Find(f.Root.Agent, f.Root.Path, f.Path); ok && s.Class != transcript.Attachment {
			p.Roots[i].Sessions++
			p.Sessions++
		}
		p.New += f.Size
		if s := d.sessions[d.owners[f.Path]]; s != nil {
			p.New -= min(f.Size, s.state.At.Offset)
		}
	}
	p.Known = d.conversations()
	p.Archive = int64(float64(p.New) * shrink)
	return p, nil
}
