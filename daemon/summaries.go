package daemon

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"ccd/archive"
	"ccd/compactor"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// ErrUnavailable is what Options.Summarize fails with where no text is to blame: its command cannot be started.
var ErrUnavailable = errors.New("summaries cannot be written")

const (
	jobTime  = 5 * time.Minute  // after which no further summary of a job is begun
	passTime = 10 * time.Minute // after which one pass begins no further job
	maxPause = 5                // doublings of the pause after failures: half an hour with the default scan interval
	enough   = 3                // failures one after the other that end a job: it is the command, not the texts
)

// Companions are first published with the compactor's own summaries. What they lack of the command's is then a job:
// one at a time, done by one goroutine of Run that knows nothing of sessions; it keeps each text in the archive as it
// comes. When it is done the session is offered again, and its companion made anew from what is kept. A session whose
// companion lacks summaries is not current, so that a later scan, or a later start, finds what was left undone.

// summaryJob is the inputs whose summaries a session's companion lacks.
type summaryJob struct {
	path   string
	key    transcript.Key
	inputs []compactor.Input
}

// outcome is what came of a job.
type outcome struct {
	summaryJob
	taken, refused int
	err            error // what ended it early
}

// writer writes summaries and keeps them. It is safe for use beside the daemon: both its parts are.
type writer struct {
	archive   *archive.Archive
	summarize func(ctx context.Context, input string) ([]byte, error)
}

// do writes the summaries of a job, the first ones first, and keeps what came of each before it begins the next.
func (w writer) do(ctx context.Context, e summaryJob) outcome {
	o := outcome{summaryJob: e}
	end := time.Now().Add(jobTime)
	failures := 0
	for _, in := range e.inputs {
		if failures == enough || time.Now().After(end) {
			break
		}
		s, failed, err := w.one(ctx, in)
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
			o.taken++
		} else {
			o.refused++
		}
	}
	return o
}

// one writes one summary. Failed tells that the command failed, err that nothing is to be kept of it.
func (w writer) one(ctx context.Context, in compactor.Input) (s archive.Summary, failed bool, err error) {
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
		s.Refused = archive.Tries // another try would bring no better
	}
	return s, false, nil
}

// jobs is Run's side of the goroutine that writes summaries.
type jobs struct {
	todo    chan summaryJob
	done    chan outcome
	asked   chan string // paths to be offered again
	busy    bool
	pauses  int       // failures one after the other
	resting time.Time // no job is begun before
}

// startErrands starts the goroutine that writes summaries, where summaries are written at all. The returned function
// waits for its end, which that of ctx brings.
func (d *Daemon) startErrands(ctx context.Context) (wait func()) {
	if d.Summarize == nil {
		return func() {}
	}
	// One job at a time: there is always room in todo and done.
	e := &jobs{todo: make(chan summaryJob, 1), done: make(chan outcome, 1), asked: make(chan string, 1)}
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
				e.done <- w.do(ctx, job)
				select {
				case e.asked <- job.path:
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

// lacks reports whether a session's companion lacks summaries that could be asked for now.
func (d *Daemon) lacks(s *session) bool {
	e := d.jobs
	return s.state.Wanted > 0 && e != nil && !e.busy && !time.Now().Before(e.resting)
}

// ask begins the job of a session whose companion was just published, unless another one is on its way: a later
// scan comes back to it then.
func (d *Daemon) ask(s *session, inputs []compactor.Input) {
	if len(inputs) > 0 && d.lacks(s) {
		d.jobs.busy = true
		d.jobs.todo <- summaryJob{path: s.Path, key: s.Key, inputs: inputs}
	}
}

// takeSummaries takes what came of the last job, if it is done.
func (d *Daemon) takeSummaries() {
	e := d.jobs
	if e == nil {
		return
	}
	select {
	case o := <-e.done:
		e.busy = false
		d.take(o)
		if o.err == nil && o.refused == 0 {
			e.pauses = 0
			return
		}
		e.resting = time.Now().Add(d.Watch.ScanInterval << min(e.pauses, maxPause))
		e.pauses++
	default:
	}
}

// summariesName is how what ails the summaries is listed beside the paths of what ails a session.
const summariesName = "summarizer"

// take notes what came of a job: the session's companion is made anew where something did.
func (d *Daemon) take(o outcome) {
	if s := d.sessions[o.key]; s != nil && o.taken+o.refused > 0 {
		s.newSummaries = true
	}
	if o.err == nil || !errors.Is(o.err, context.Canceled) {
		d.health.mu.Lock()
		d.fail(summariesName, o.err)
		d.health.mu.Unlock()
	}
	d.Log.Info("summaries written", "session", o.key.ID, "taken", o.taken, "refused", o.refused)
}

// fillIn asks for the summaries that companions lack, those of the sessions that grew last first, and makes them anew,
// for passTime at most, and until a job brings nothing. It returns how many summaries were written, and how many
// companions lack some.
func (d *Daemon) fillIn(ctx context.Context) (written, lacking int, err error) {
	var all []*session
	for _, s := range d.sessions {
		if s.state.Wanted > 0 && !s.state.Gone {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *session) int {
		return cmp.Or(b.state.Last.Compare(a.state.Last), cmp.Compare(a.ID, b.ID))
	})
	end := time.Now().Add(passTime)
	for _, s := range all {
		for d.Summarize != nil && s.state.Wanted > 0 && time.Now().Before(end) {
			var taken int
			if taken, err = d.filled(ctx, s); taken == 0 {
				end = time.Time{}
			}
			written += taken
		}
		if s.state.Wanted > 0 {
			lacking++
		}
		s.unfold()
	}
	return written, lacking, err
}

// filled does one job of a session and makes its companion anew.
func (d *Daemon) filled(ctx context.Context, s *session) (taken int, err error) {
	if err := d.fold(ctx, s); err != nil {
		return 0, err
	}
	_, c, _, err := d.document(ctx, s)
	if err != nil {
		return 0, err
	}
	o := writer{d.Archive, d.Summarize}.do(ctx, summaryJob{s.Path, s.Key, c.Wanted})
	s.newSummaries = true
	again := watcher.Offer{Path: s.Path, Root: watcher.Root{Agent: s.Agent, Path: s.Root}, Quiet: atRest}
	return o.taken, errors.Join(o.err, d.bring(ctx, again))
}

// improve writes the summaries that a companion lacks while a person waits for it, and has it made anew, as often as
// that brings more, for passTime at most. That none can be written leaves it as it is.
func (d *Daemon) improve(ctx context.Context, s *session, made Compacted, again func() (Compacted, error)) (Compacted, error) {
	end := time.Now().Add(passTime)
	for d.Summarize != nil && len(made.Wanted) > 0 && time.Now().Before(end) {
		o := writer{d.Archive, d.Summarize}.do(ctx, summaryJob{s.Path, s.Key, made.Wanted})
		if ctx.Err() != nil {
			return made, ctx.Err()
		}
		if o.err != nil || o.refused > 0 {
			d.Log.Warn("summaries not written, ccd's own stand", "session", s.ID, "refused", o.refused, "err", o.err)
		}
		if o.taken == 0 {
			break
		}
		var err error
		if made, err = again(); err != nil {
			return made, err
		}
	}
	return made, nil
}

// peeked is how far into a transcript the request may stand that tells a session of the summarizer's command, in bytes.
const peeked = 256 << 10

// skippedSummarizer is State.Skipped of the sessions of the summarizer's command.
const skippedSummarizer = "summarizer"

// ours reports whether the new bytes of a session, or its parent, tell that the summarizer's command runs in it. What
// such a session holds is a text of another one.
func (d *Daemon) ours(s *session, seg transcript.Segment) bool {
	if parent := d.sessions[transcript.Key{Agent: s.Agent, ID: s.Parent}]; parent != nil && parent.state.Skipped != "" {
		return true
	}
	if s.Class == transcript.Attachment || seg.Start.Offset >= peeked || s.compactor.Status().Asked.Len > 0 {
		return false
	}
	if len(seg.Data) > peeked {
		seg.Data, seg.Rest = seg.Data[:peeked], false
	}
	for r := range registry.NewDecoder(s.Agent, s.Class).Records(seg) {
		if asks, settled := compactor.Asks(r); settled {
			return asks
		}
	}
	return false
}

// skip notes that a session is not to be followed. Nothing of it is archived from here on.
func (d *Daemon) skip(s *session) {
	d.Log.Info("session of the summarizer's command, not followed", "session", s.ID)
	s.state.Skipped, s.state.Source = skippedSummarizer, s.seen
	s.unfold()
	d.unsaved[s] = true
}
