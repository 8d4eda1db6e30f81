package daemon

import (
	"context"
	"errors"
	"slices"

	"ccd/internal/transcript"
)

// What no live session needs at once waits, and is done when no offer is due: first all is archived, then the first companion is made;
// sessions before their parts, which depend on what they are.

// queue has a session wait in one of the daemon's lists.
func (d *Daemon) queue(in *[]*session, s *session) {
	d.unqueue(s)
	s.in = in
	*in = append(*in, s)
}

func (d *Daemon) unqueue(s *session) {
	if s.in != nil {
		*s.in = slices.DeleteFunc(*s.in, func(other *session) bool { return other == s })
		s.in = nil
	}
}

// firstOf takes the first session of a list that waits.
func firstOf(from *[]*session) *session {
	s := (*from)[0]
	s.in = nil
	if *from = (*from)[1:]; len(*from) == 0 {
		*from = nil
	}
	if was := s.sourceStat; !s.missing {
		if s.statSource(); s.sourceStat != was { // meanwhile
			s.offer.Quiet = 0
		}
	}
	return s
}

// waiting returns how many sessions wait.
func (d *Daemon) waiting() int { return len(d.batch.ended) + len(d.parts) + len(d.later) }

// work does one step of what waits, and reports whether there was any.
func (d *Daemon) work(ctx context.Context) bool {
	switch {
	case ctx.Err() != nil:
		return false
	case len(d.parts) > 0:
		d.archive(ctx, firstOf(&d.parts))
	case len(d.batch.ended) > 0:
		d.flush(ctx)
	case len(d.later) > 0:
		d.refresh(ctx, firstOf(&d.later))
	case len(d.found) > 0:
		d.choose(ctx)
	default:
		return false
	}
	return true
}

// finish does all that waits.
func (d *Daemon) finish(ctx context.Context) {
	for d.work(ctx) {
		continue
	}
}

// archive archives what is new in a transcript, with others in one transaction, unless it is live.
func (d *Daemon) archive(ctx context.Context, s *session) {
	d.batch.end(s, d.archiveNew(ctx, s, &d.batch))
	if full := len(d.batch.sessions) >= maxStates || d.batch.bytes >= maxBytes; s.offer.Live || full {
		d.flush(ctx)
	}
}

// flush stores the batch, reads what is new in its sessions for lists, and goes on with them.
func (d *Daemon) flush(ctx context.Context) {
	failed, ended := d.commit(ctx, &d.batch), d.batch.ended
	d.batch = batch{}
	read := batch{failed: failed}
	for _, s := range ended {
		if failed[s] != nil || !s.isRead() || s.state.At == s.state.Read {
			continue
		}
		if err := d.readArchived(ctx, s); err != nil {
			read.fail(s, err)
			continue
		}
		if read.note(s); s.state.Companion == "" {
			s.state.Options = d.hash(s)
		}
	}
	failed = d.commit(ctx, &read)
	for _, s := range ended {
		if failed[s] == nil {
			d.afterArchiving(ctx, s)
		} else {
			d.done(ctx, s, failed[s])
		}
	}
}

// refresh makes what depends on the archived bytes of a session (derive), and stores its state.
func (d *Daemon) refresh(ctx context.Context, s *session) {
	var b batch
	published, err := d.derive(ctx, s)
	if err == nil || errors.Is(err, ErrNotPlaced) {
		b.note(s)
		err = errors.Join(err, d.commit(ctx, &b)[s])
	}
	if published && d.Published != nil {
		d.Published(s.Session, s.state)
	}
	d.done(ctx, s, err)
}

// parentSkipped reports whether a session belongs to one that is not followed.
func (d *Daemon) parentSkipped(s *session) bool {
	parent := d.sessions[transcript.Key{Agent: s.Agent, ID: s.Parent}]
	return parent != nil && parent.state.SkipReason != ""
}
