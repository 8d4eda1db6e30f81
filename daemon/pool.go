package daemon

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"ccd/internal/transcript"
)

// The pool does in a few goroutines what would keep the daemon's own from taking offers: it archives, and derives states and
// companions. A job works on copies of its sessions, which the daemon takes over when it has ended. So
// nothing is shared, and nothing locked.
type pool struct {
	slots   int // jobs at once
	running int
	adding  int // of them, those that archive
	ended   chan *job
	wake    chan<- struct{} // has Run look for jobs that have ended; nil outside Run

	// The queues, in the order in which they are served.
	live   []*session // live, to be archived
	urgent []*session // live, to be derived
	mains  []*session // to be archived
	parts  []*session // the same for sub-agents and attachments
	later  []*session // to be derived

	long sync.Mutex // held while a session with a long line is read
	beat sync.Mutex // held while a heartbeat is sent
}

const maxSlots = 2

func (p *pool) wakeRun() {
	select {
	case p.wake <- struct{}{}:
	default: // it is going to look, or there is no Run
	}
}

// step is what a job does.
type step int

const (
	archiving step = iota // archiveNew
	deriving              // derive
	asking                // ask, beside the others
)

// job is one step of some sessions.
type job struct {
	step     step
	sessions []*session // the daemon's
	copies   []*session
	errs     map[*session]error // by copy
	answers  answers
}

// queue has a job do the next step of a session.
func (d *Daemon) queue(s *session, next step) {
	p := &d.pool
	d.unqueue(s)
	switch {
	case s.offer.Live && next == archiving:
		s.in = &p.live
	case s.offer.Live:
		s.in = &p.urgent
	case next == deriving:
		s.in = &p.later
	case s.Parent == "":
		s.in = &p.mains
	default:
		s.in = &p.parts
	}
	*s.in = append(*s.in, s)
}

func (d *Daemon) unqueue(s *session) {
	if s.in != nil {
		*s.in = slices.DeleteFunc(*s.in, func(other *session) bool { return other == s })
		s.in = nil
	}
}

// queued returns how many sessions wait for a job or are in one.
func (p *pool) queued() int {
	return len(p.live) + len(p.urgent) + len(p.mains) + len(p.parts) + len(p.later) + p.running
}

// nextJob takes the sessions of the next job from the queues. Of a backlog everything is archived before the first companion
// is made, and sessions before their parts, which depend on what they are. While a live session grows, the agent has one of
// the processors.
func (d *Daemon) nextJob() *job {
	p, slots := &d.pool, d.pool.slots
	if time.Since(d.lastGrowth) < d.Watch.RefreshIdle {
		slots = 1
	}
	switch {
	case len(p.live) > 0 && (p.adding == 0 || p.running <= p.slots):
		return &job{step: archiving, sessions: take(&p.live, maxStates)}
	case len(p.urgent) > 0 && p.running <= p.slots:
		return &job{step: deriving, sessions: take(&p.urgent, 1)}
	case p.running >= slots || d.more && len(p.mains) < maxStates: // a job takes what more offers bring
	case len(p.mains) > 0:
		return &job{step: archiving, sessions: take(&p.mains, maxStates)}
	case len(p.parts) > 0 && p.adding == 0:
		return &job{step: archiving, sessions: take(&p.parts, maxStates)}
	case len(p.later) > 0 && p.adding == 0:
		return &job{step: deriving, sessions: take(&p.later, 1)}
	}
	return nil
}

// take removes the first sessions from a queue: at most most, and no more after maxBytes.
func take(from *[]*session, most int) []*session {
	n, bytes := 0, int64(0)
	for n < len(*from) && n < most && bytes < maxBytes {
		(*from)[n].in = nil
		bytes += (*from)[n].sourceStat.Size
		n++
	}
	taken := slices.Clone((*from)[:n])
	if *from = (*from)[n:]; len(*from) == 0 {
		*from = nil
	}
	return taken
}

// startJobs starts jobs as long as there are free slots.
func (d *Daemon) startJobs(ctx context.Context) {
	if d.pool.queued() == 0 && !d.more && ctx.Err() == nil {
		d.choose(ctx)
	}
	for ctx.Err() == nil {
		j := d.nextJob()
		if j == nil {
			return
		}
		for _, s := range j.sessions {
			if was := s.sourceStat; !s.missing {
				if s.statSource(); s.sourceStat != was {
					s.offer.Quiet = 0
				}
			}
			parent := d.sessions[transcript.Key{Agent: s.Agent, ID: s.Parent}]
			s.ofSummarizer = parent != nil && parent.state.SkipReason != ""
			copied := *s
			j.copies, s.busy = append(j.copies, &copied), true
		}
		if d.pool.running++; j.step == archiving {
			d.pool.adding++
		}
		go func() {
			d.run(ctx, j)
			d.pool.ended <- j
			d.pool.wakeRun()
		}()
	}
}

func (d *Daemon) run(ctx context.Context, j *job) {
	j.errs = map[*session]error{}
	var b batch
	save := func() {
		for s, err := range d.commit(ctx, &b) {
			j.errs[s] = errors.Join(j.errs[s], err)
		}
	}
	for _, s := range j.copies {
		if j.step == archiving {
			j.errs[s] = d.archiveNew(ctx, s, &b)
		} else if j.errs[s] = d.derive(ctx, s); j.errs[s] == nil || errors.Is(j.errs[s], ErrNotPlaced) {
			b.note(s)
		}
		if len(b.sessions) >= maxStates || b.bytes >= maxBytes {
			save()
		}
	}
	save()
}

// takeEnded takes over what jobs have done that have ended.
func (d *Daemon) takeEnded(ctx context.Context) {
	for {
		select {
		case j := <-d.pool.ended:
			d.take(ctx, j)
		default:
			return
		}
	}
}

// finishJobs does all that is queued.
func (d *Daemon) finishJobs(ctx context.Context) {
	for d.startJobs(ctx); d.pool.running > 0; d.startJobs(ctx) {
		d.take(ctx, <-d.pool.ended)
	}
}

// abandon waits for the jobs that run, whose context has ended, and drops what they have done.
func (d *Daemon) abandon() {
	for d.pool.running > 0 || d.asking {
		if j := <-d.pool.ended; j.step == asking {
			d.asking = false
		} else {
			d.pool.running--
		}
	}
}

// take takes over what a job has done, and continues with its sessions.
func (d *Daemon) take(ctx context.Context, j *job) {
	if j.step == asking {
		d.takeAnswers(ctx, j.sessions[0], j.answers)
		return
	}
	if d.pool.running--; j.step == archiving {
		d.pool.adding--
	}
	for i, s := range j.sessions {
		changed, newer := j.copies[i], s.newer
		changed.busy, changed.newer = false, nil
		*s = *changed
		err := j.errs[changed]
		if err == nil && j.step == archiving {
			d.afterArchiving(ctx, s)
		} else {
			if s.published && d.Published != nil {
				d.Published(s.Session, s.state)
			}
			s.published = false
			d.done(ctx, s, err)
		}
		if newer != nil {
			d.sync(ctx, *newer)
		}
	}
}
