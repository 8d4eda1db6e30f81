package daemon

import (
	"cmp"
	"context"
	"errors"
	"time"

	"ccd/archive"
	"ccd/compactor"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// ErrUnavailable is returned by Options.Summarize if its command cannot be started.
var ErrUnavailable = errors.New("summaries cannot be written")

const (
	jobTime   = 5 * time.Minute  // after it no further one of these is asked for
	passTime  = 10 * time.Minute // after it a pass or a command asks for no further ones
	failPause = 10 * time.Minute // after a failure
	maxFailed = 3                // successive failures that end a job: the command is broken, not the texts
)

// A companion is first published with the compactor's own summaries; the session's state says how many of the command's it
// lacks. Beside the pool one goroutine asks for them, for the companion of one session at a time, and the archive keeps each
// answer. Then the companion is made again, like any that is due. So whatever ends this, a later scan or start goes on.

// answers is what the command gave for the summaries that a companion lacks.
type answers struct {
	taken, refused int
	err            error // why no more were asked for
}

// ask asks for summaries in order, and keeps each before it asks for the next. It may run beside the daemon.
func (d *Daemon) ask(ctx context.Context, s *session, wanted []compactor.Input) (a answers) {
	end, failures := time.Now().Add(jobTime), 0
	for _, in := range wanted {
		if failures == maxFailed || time.Now().After(end) {
			break
		}
		out, err := d.Summarize(ctx, in.Text)
		var kept archive.Summary
		switch {
		case ctx.Err() != nil || errors.Is(err, ErrUnavailable):
			a.err = cmp.Or(ctx.Err(), err)
			return a
		case err != nil:
			failures++
			kept.Refused = 1
		default:
			failures = 0
			if kept.Text = in.Take(out); kept.Text == "" {
				kept.Refused = archive.Tries // do not try again: the result would be the same
			}
		}
		if a.err = d.Archive.KeepSummary(ctx, in.Hash, kept); a.err != nil {
			return a
		}
		if kept.Text != "" {
			a.taken++
		} else {
			a.refused++
		}
	}
	d.Log.Info("summaries written", "session", s.ID, "taken", a.taken, "refused", a.refused)
	return a
}

// startAsking asks for the summaries that a companion lacks, of the session that was active last. One whose companion waits
// to be made again has to wait.
func (d *Daemon) startAsking(ctx context.Context) {
	if d.Summarize == nil || d.asking || time.Now().Before(d.askAgain) {
		return
	}
	var s *session
	for _, other := range d.sessions {
		lacks := other.state.MissingSummaries > 0 && !other.state.Gone && other.state.Covers != Place{} && !other.busy && other.in == nil
		if lacks && (s == nil || other.state.Last.After(s.state.Last)) {
			s = other
		}
	}
	if s == nil {
		return
	}
	d.asking = true
	copied := *s
	copied.read = nil // a job may go on with it meanwhile
	go func() {
		j := &job{step: asking, sessions: []*session{s}}
		if made, _, err := d.makeCompanion(ctx, &copied); err == nil { // otherwise the next sync reports it
			j.answers = d.ask(ctx, &copied, made.Wanted)
		}
		d.pool.ended <- j
		d.pool.wakeRun()
	}()
}

// takeAnswers has the companion made again for which summaries were asked.
func (d *Daemon) takeAnswers(ctx context.Context, s *session, a answers) {
	d.asking = false
	d.summaries += a.taken
	if a.err != nil || a.refused > 0 {
		d.askAgain = time.Now().Add(failPause)
	}
	if ctx.Err() == nil {
		d.result(watcher.Offer{Path: summariesName}, a.err)
	}
	if d.sessions[s.Key] == s && !s.busy && (a.err == nil || a.taken > 0) {
		s.state.Covers = Place{}
		d.sync(ctx, d.asOffer(s))
	}
}

// summariesName is the name under which failures of the summarizer are listed, instead of a path.
const summariesName = "summarizer"

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
	for r := range d.Agents.Exact().NewDecoder(s.Agent, s.Class).Records(seg) {
		if asks, settled := compactor.Asks(r); settled {
			return asks
		}
	}
	return false
}
