package daemon

import (
	"cmp"
	"context"
	"errors"

	"ccd/internal/transcript"
	"ccd/watcher"
)

// Notice says that the context of a live session is nearly full. Of the transcript it contains the agent's title and the
// project only.
type Notice struct {
	Session  transcript.Key
	Name     string // set by the user, else the agent's title; "" if there is neither
	Project  string // directory
	Pressure float64
}

// maxNotices is how many notices may wait for Options.Notify; more are dropped.
const maxNotices = 8

// noticesName is the name under which status lists a notice that failed.
const noticesName = "notice"

// startNotices starts the goroutine that calls Options.Notify. The goroutine ends with ctx; the returned function waits for
// that.
func (d *Daemon) startNotices(ctx context.Context) (wait func()) {
	if d.Notify == nil {
		return func() {}
	}
	queue, ended := make(chan Notice, maxNotices), make(chan struct{})
	d.notices = queue
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case n := <-queue:
				if err := d.Notify(ctx, n); !errors.Is(err, context.Canceled) {
					d.health.mu.Lock()
					if d.setFailure(noticesName, err); err != nil {
						d.writeRunInfo()
					}
					d.health.mu.Unlock()
				}
			}
		}
	}()
	return func() {
		<-ended
		d.notices = nil
	}
}

// notify queues a notice if a live session's pressure has risen to Options.NoticeAt, once until it falls below. It does not
// wait for the notice.
func (d *Daemon) notify(ctx context.Context, s *session, o watcher.Offer) {
	if d.notices == nil || s.Class != transcript.Main || s.state.SkipReason != "" {
		return
	}
	switch above := s.state.Pressure >= d.NoticeAt && !s.state.Assumed; {
	case !above:
		s.noticed = false
	case o.Live && !s.noticed:
		s.noticed = true
		name := s.state.Labels.Name
		if kept, err := d.Archive.Last(ctx, s.Key); err == nil { // the user may have named it since the state was read
			if state, err := DecodeState(kept.State); err == nil {
				name = state.Labels.Name
			}
		}
		select {
		case d.notices <- Notice{s.Key, cmp.Or(name, s.state.Title), s.state.Cwd, s.state.Pressure}:
		default:
			d.Log.Warn("notice dropped, too many are waiting", "session", s.ID)
		}
	}
}
