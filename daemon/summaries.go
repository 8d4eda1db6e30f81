package daemon

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"ccd/archive"
	"ccd/compactor"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// ErrUnavailable is returned by Options.Summarize if its command cannot be started.
var ErrUnavailable = errors.New("summaries cannot be written")

const (
	jobTime   = 5 * time.Minute  // after it no further summary of a job is started
	passTime  = 10 * time.Minute // after it a pass starts no further job
	maxPause  = 5                // doublings of the pause after failures: half an hour with the default scan interval
	maxFailed = 3                // successive failures that end a job: the command is broken, not the texts
)

// A companion is first published with the compactor's own summaries. A job then has the command write those that are
// missing: one job at a time, in one goroutine of Run, which stores each summary in the archive. When the job is done,
// the session is offered again and its companion made with the stored summaries. A session whose companion lacks
// summaries is not up to date, so a later scan or start continues the work.

// summaryJob is the list of inputs whose summaries a session's companion lacks.
type summaryJob struct {
	path   string
	key    transcript.Key
	inputs []compactor.Input
}

// outcome is the result of a job.
type outcome struct {
	summaryJob
	accepted, refused int
	err               error // why it ended early
}

// writer writes summaries and stores them. It is safe for concurrent use with the daemon.
type writer struct {
	archive   *archive.Archive
	summarize func(ctx context.Context, input string) ([]byte, error)
}

// run writes the summaries of a job in order, and stores each before it starts the next.
func (w writer) run(ctx context.Context, e summaryJob) outcome {
	o := outcome{summaryJob: e}
	end := time.Now().Add(jobTime)
	failures := 0
	for _, in := range e.inputs {
		if failures == maxFailed || time.Now().After(end) {
			break
		}
		s, failed, err := w.write(ctx, in)
		if err == nil {
			err = w.archive.KeepSummary(ctx, in.Hash, s)
		}
		if err != nil {
			o.err = err
			break
		}
		if failures++; !failed {
			failures = 0
		}
		if s.Text != "" {
			o.accepted++
		} else {
			o.refused++
		}
	}
	return o
}

// write writes one summary. failed means that the command failed, err that nothing is to be stored.
func (w writer) write(ctx context.Context, in compactor.Input) (s archive.Summary, failed bool, err error) {
	out, err := w.summarize(ctx, in.Text)
	switch {
	case ctx.Err() != nil:
		return s, false, ctx.Err()
	case errors.Is(err, ErrUnavailable):
		return s, false, err
	case err != nil:
		return archive.Summary{Refused: 1, Why: err.Error()}, true, nil
	}
	if s.Text, s.Why = in.Take(out); s.Text == "" {
		s.Refused = archive.Tries // do not try again: the result would be the same
	}
	return s, false, nil
}

// jobs connects Run with the goroutine that writes summaries.
type jobs struct {
	todo        chan summaryJob
	done        chan outcome
	busy        bool
	pauses      int       // successive failures
	pausedUntil time.Time // no job is started before
}

// startSummaries starts the goroutine that writes summaries if there is a summarizer. The returned function waits for
// it to end after ctx ends.
func (d *Daemon) startSummaries(ctx context.Context) (wait func()) {
	if d.Summarize == nil {
		return func() {}
	}
	// There is one job at a time, so sending to todo and done never blocks.
	e := &jobs{todo: make(chan summaryJob, 1), done: make(chan outcome, 1)}
	d.jobs = e
	w := writer{d.Archive, d.Summarize}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case job := <-e.todo:
				e.done <- w.run(ctx, job)
				select {
				case d.again <- job.path:
				case <-ctx.Done():
				}
			}
		}
	}()
	return func() {
		<-ended
		d.jobs = nil
	}
}

// wantsSummaries reports whether a session's companion lacks summaries and a job could be started now.
func (d *Daemon) wantsSummaries(s *session) bool {
	e := d.jobs
	return s.state.MissingSummaries > 0 && e != nil && !e.busy && !time.Now().Before(e.pausedUntil)
}

// startJob starts the job of a session after its companion was published. If another job runs, a later scan starts it.
func (d *Daemon) startJob(s *session, inputs []compactor.Input) {
	if len(inputs) > 0 && d.onMain != nil {
		d.onMain(func(d *Daemon) { d.startJob(s, inputs) })
		return
	}
	if len(inputs) > 0 && d.wantsSummaries(s) {
		d.jobs.busy = true
		d.jobs.todo <- summaryJob{path: s.Path, key: s.Key, inputs: inputs}
	}
}

// takeSummaries processes the result of the last job, if it is done.
func (d *Daemon) takeSummaries() {
	e := d.jobs
	if e == nil {
		return
	}
	select {
	case o := <-e.done:
		e.busy = false
		d.recordOutcome(o)
		if o.err == nil && o.refused == 0 {
			e.pauses = 0
			return
		}
		e.pausedUntil = time.Now().Add(d.Watch.ScanInterval << min(e.pauses, maxPause))
		e.pauses++
	default:
	}
}

// summariesName is the name under which failures of the summarizer are listed, instead of a path.
const summariesName = "summarizer"

// recordOutcome processes the result of a job. The session's companion is made again if there are new summaries.
func (d *Daemon) recordOutcome(o outcome) {
	if s := d.sessions[o.key]; s != nil && o.accepted+o.refused > 0 {
		s.renew = true
	}
	if o.err == nil || !errors.Is(o.err, context.Canceled) {
		d.health.mu.Lock()
		d.setFailure(summariesName, o.err)
		d.health.mu.Unlock()
	}
	d.Log.Info("summaries written", "session", o.key.ID, "taken", o.accepted, "refused", o.refused)
}

// writeMissing writes the summaries that companions lack, of the most recent sessions first, and updates these
// companions. It stops after passTime, or when a job writes nothing. It returns how many summaries were written, and
// how many companions still lack some.
func (d *Daemon) writeMissing(ctx context.Context) (written, lacking int, err error) {
	var all []*session
	for _, s := range d.sessions {
		if s.state.MissingSummaries > 0 && !s.state.Gone {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *session) int {
		return cmp.Or(b.state.Last.Compare(a.state.Last), cmp.Compare(a.ID, b.ID))
	})
	end := time.Now().Add(passTime)
	for _, s := range all {
		for d.Summarize != nil && s.state.MissingSummaries > 0 && time.Now().Before(end) {
			var taken int
			if taken, err = d.writeMissingOf(ctx, s); taken == 0 {
				end = time.Time{}
			}
			written += taken
		}
		if s.state.MissingSummaries > 0 {
			lacking++
		}
		s.untrack()
	}
	return written, lacking, err
}

// writeMissingOf runs one job of a session and updates its companion.
func (d *Daemon) writeMissingOf(ctx context.Context, s *session) (taken int, err error) {
	if err := d.track(ctx, s); err != nil {
		return 0, err
	}
	_, c, _, err := d.makeCompanion(ctx, s)
	if err != nil {
		return 0, err
	}
	o := writer{d.Archive, d.Summarize}.run(ctx, summaryJob{s.Path, s.Key, c.Wanted})
	s.renew = true
	return o.accepted, errors.Join(o.err, d.syncFully(ctx, []watcher.Offer{s.offer()}, nil))
}

// addSummaries writes the summaries that a requested companion lacks and makes it again, until nothing is added or
// passTime is over. If the summarizer fails, the companion stays as it is.
func (d *Daemon) addSummaries(ctx context.Context, s *session, made Compacted, again func() (Compacted, error)) (Compacted, error) {
	end := time.Now().Add(passTime)
	for d.Summarize != nil && len(made.Wanted) > 0 && time.Now().Before(end) {
		o := writer{d.Archive, d.Summarize}.run(ctx, summaryJob{s.Path, s.Key, made.Wanted})
		if ctx.Err() != nil {
			return made, ctx.Err()
		}
		if o.err != nil || o.refused > 0 {
			d.Log.Warn("summaries not written; using ccd's own", "session", s.ID, "refused", o.refused, "err", o.err)
		}
		if o.accepted == 0 {
			break
		}
		var err error
		if made, err = again(); err != nil {
			return made, err
		}
	}
	return made, nil
}

// maxPeek is how far into a transcript a summarizer's request is looked for, in bytes.
const maxPeek = 256 << 10

// skippedSummarizer is State.SkipReason of the summarizer's own sessions.
const skippedSummarizer = "summarizer"

// isSummarizer reports whether the new bytes of a session, or its parent, show that the summarizer's command runs in
// it. Such a session only contains texts of other ones.
func (d *Daemon) isSummarizer(s *session, seg transcript.Segment) bool {
	if parent := d.sessions[transcript.Key{Agent: s.Agent, ID: s.Parent}]; parent != nil && parent.state.SkipReason != "" {
		return true
	}
	if s.Class == transcript.Attachment || seg.Start.Offset >= maxPeek || s.tracker.Status().Ask != "" {
		return false
	}
	if len(seg.Data) > maxPeek {
		seg.Data, seg.Rest = seg.Data[:maxPeek], false
	}
	for r := range d.Agents.NewDecoder(s.Agent, s.Class).Records(seg) {
		if asks, settled := compactor.Asks(r); settled {
			return asks
		}
	}
	return false
}

// skip marks a session as not followed. No more of it is archived.
func (d *Daemon) skip(s *session) {
	d.Log.Info("skipping session of the summarizer's own command", "session", s.ID)
	s.state.SkipReason, s.state.Source = skippedSummarizer, s.sourceStat
	s.untrack()
	d.unsaved[s] = true
}
