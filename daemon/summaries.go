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
)

// ErrUnavailable is returned by Options.Summarize if its command cannot be started.
var ErrUnavailable = errors.New("summaries cannot be written")

const (
	jobTime   = 5 * time.Minute  // after it no further summary of a session is started
	passTime  = 10 * time.Minute // after it a pass begins no further session
	failPause = 10 * time.Minute // after a failure
	maxFailed = 3                // successive failures that end a job: the command is broken, not the texts
)

// A companion is first published with the compactor's own summaries. Then the command writes those that are missing, those of
// one session at a time, in a goroutine that stores each summary in the archive. After that the session is synced again and
// its companion made with the stored summaries. A session whose companion lacks summaries is not up to date, so a later scan
// or start continues the work.

// outcome is the result of writing the summaries that a session's companion lacks.
type outcome struct {
	key               transcript.Key
	accepted, refused int
	err               error // why it ended early
}

// summarize writes the summaries of some inputs in order, and stores each before it starts the next. It may run beside the
// daemon.
func (d *Daemon) summarize(ctx context.Context, k transcript.Key, inputs []compactor.Input) outcome {
	o := outcome{key: k}
	end := time.Now().Add(jobTime)
	failures := 0
	for _, in := range inputs {
		if failures == maxFailed || time.Now().After(end) {
			break
		}
		s, failed, err := d.summarizeOne(ctx, in)
		if err == nil {
			err = d.Archive.KeepSummary(ctx, in.Hash, s)
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

// summarizeOne writes one summary. failed means that the command failed, err that nothing is to be stored.
func (d *Daemon) summarizeOne(ctx context.Context, in compactor.Input) (s archive.Summary, failed bool, err error) {
	out, err := d.Summarize(ctx, in.Text)
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

// summaries is the state of writing summaries.
type summaries struct {
	done        chan outcome // nil if nothing is being written
	written     int
	err         error     // the last one
	pausedUntil time.Time // nothing is begun before
}

// wantsSummaries reports whether a session's companion lacks summaries and they could be written now, beside Run.
func (d *Daemon) wantsSummaries(s *session) bool {
	e := &d.summaries
	return s.state.MissingSummaries > 0 && d.Summarize != nil && d.pool.wake != nil && e.done == nil && time.Now().After(e.pausedUntil)
}

// startSummaries has the summaries written that a session's companion lacks. If others are being written, a later scan
// starts it.
func (d *Daemon) startSummaries(ctx context.Context, s *session) {
	if len(s.wanted) == 0 || !d.wantsSummaries(s) {
		return
	}
	done := make(chan outcome, 1)
	d.summaries.done = done
	key, inputs := s.Key, s.wanted
	go func() {
		done <- d.summarize(archive.WaitForLock(ctx, func(*archive.LockedError) {}), key, inputs)
		d.pool.wakeRun()
	}()
}

// takeSummaries syncs a session again for which summaries were written.
func (d *Daemon) takeSummaries(ctx context.Context, o outcome) {
	d.summaries.done = nil
	d.summarized(o)
	if !errors.Is(o.err, context.Canceled) {
		d.health.mu.Lock()
		d.setFailure(summariesName, o.err)
		d.health.mu.Unlock()
	}
	if s := d.sessions[o.key]; s != nil && o.accepted+o.refused > 0 {
		if !s.busy {
			s.renew = true
		}
		d.sync(ctx, d.unchanged(s))
	}
}

// summarized records what was written.
func (d *Daemon) summarized(o outcome) {
	e := &d.summaries
	e.err, e.written = o.err, e.written+o.accepted
	if o.err != nil || o.refused > 0 {
		e.pausedUntil = time.Now().Add(failPause)
	}
	d.Log.Info("summaries written", "session", o.key.ID, "taken", o.accepted, "refused", o.refused)
}

// summariesName is the name under which failures of the summarizer are listed, instead of a path.
const summariesName = "summarizer"

// writeMissing writes the summaries that companions lack, of the most recent sessions first. It stops after passTime, or when
// one has failed. It returns how many companions still lack some.
func (d *Daemon) writeMissing(ctx context.Context) (lacking int, err error) {
	var all []*session
	for _, s := range d.sessions {
		if s.state.MissingSummaries > 0 && !s.state.Gone {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(x, y *session) int { return y.state.Last.Compare(x.state.Last) })
	for end := time.Now().Add(passTime); len(all) > 0; all = all[1:] {
		if d.Summarize != nil && ctx.Err() == nil && err == nil && time.Now().Before(end) && time.Now().After(d.summaries.pausedUntil) {
			err = d.withRecords(ctx, all[0], func(model *compactor.Compactor) error {
				_, err := d.compact(ctx, all[0], model, true)
				return err
			})
		}
		if all[0].state.MissingSummaries > 0 {
			lacking++
		}
	}
	return lacking, cmp.Or(err, d.summaries.err)
}

// addSummaries writes the summaries that a requested companion lacks and makes it again, until nothing is added or
// passTime is over. If the summarizer fails, the companion stays as it is.
func (d *Daemon) addSummaries(ctx context.Context, s *session, made Compacted, again func() (Compacted, error)) (Compacted, error) {
	end := time.Now().Add(passTime)
	for d.Summarize != nil && len(made.Wanted) > 0 && time.Now().Before(end) {
		o := d.summarize(ctx, s.Key, made.Wanted)
		if ctx.Err() != nil {
			return made, ctx.Err()
		}
		d.summarized(o)
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

// isSummarizer reports whether the new bytes of a session show that the summarizer's command runs in it, or it belongs to such
// a session: it only contains texts of other ones.
func (d *Daemon) isSummarizer(s *session, seg transcript.Segment) bool {
	switch {
	case s.byCommand:
		return false
	case s.ofSummarizer:
		return true
	case s.Class == transcript.Attachment || seg.Start.Offset >= maxPeek || s.state.Ask != "":
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

// belongsToSummarizer reports whether a session is a part of one that the summarizer's command runs in.
func (d *Daemon) belongsToSummarizer(s *session) bool {
	parent := d.sessions[transcript.Key{Agent: s.Agent, ID: s.Parent}]
	return parent != nil && parent.state.SkipReason != ""
}
