package daemon

import (
	"cmp"
	"context"
	"errors"

	"ccd/internal/transcript"
)

// Notice says that the context of a live session is nearly full. Of the transcript it contains the agent's title and the
// project only.
type Notice struct {
	Session  transcript.Key
	Name     string // set by the user, else the agent's title; "" if there is neither
	Project  string // directory
	Pressure float64
}

// noticesName is the name under which status lists a notice that failed.
const noticesName = "notice"

// notify has a notice shown if a live session's pressure has risen to Options.NoticeAt, once until it falls below. It does not
// wait for the notice: while one is shown, the next sync of another session that rises tries again.
func (d *Daemon) notify(ctx context.Context, s *session) {
	if d.Notify == nil || d.pool.wake == nil || s.Class != transcript.Main || s.state.SkipReason != "" {
		return
	}
	switch above := s.state.Pressure >= d.NoticeAt && !s.state.Assumed; {
	case !above:
		s.noticed = false
	case s.offer.Live && !s.noticed && d.noticed == nil:
		s.noticed = true
		name := s.state.Labels.Name
		if kept, err := d.Archive.Last(ctx, s.Key); err == nil { // the user may have named it since the state was read
			if state, err := DecodeState(kept.State); err == nil {
				name = state.Labels.Name
			}
		}
		n := Notice{s.Key, cmp.Or(name, s.state.Title), s.state.Cwd, s.state.Pressure}
		done := make(chan error, 1)
		d.noticed = done
		go func() {
			done <- d.Notify(ctx, n)
			d.pool.wakeRun()
		}()
	}
}

// takeNotice takes the result of a notice.
func (d *Daemon) takeNotice(err error) {
	d.noticed = nil
	if errors.Is(err, context.Canceled) {
		return
	}
	d.health.mu.Lock()
	defer d.health.mu.Unlock()
	if d.setFailure(noticesName, err); err != nil {
		d.writeRunInfo()
	}
}
