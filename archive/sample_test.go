package archive

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"
)

// TestSample holds that a look at an archive reads all of a small one, and meets what is damaged in it.
func TestSample(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	if s, err := openAt(t, filepath.Join(t.TempDir(), "archive.db"), Options{}).Sample(ctx, time.Second, 1); err != nil || !s.Whole || s.Frames != 0 {
		t.Errorf("no archive: %+v, %v", s, err)
	}
	ro := newRotten(t)
	a := openAt(t, ro.path, Options{ReadOnly: true})
	all := sound(t, a)
	s, err := a.Sample(ctx, time.Minute, 1)
	if err != nil || !s.Whole || len(s.Damage) > 0 {
		t.Errorf("sound: %+v, %v", s, err)
	}
	if s.Frames != all.Frames || s.Pieces != all.Pieces || s.Pointers != all.Pointers {
		t.Errorf("read %+v, Verify says %+v", s.Report, all)
	}
	if s, err := a.Sample(ctx, 0, 1); err != nil || s.Whole {
		t.Errorf("without time: %+v, %v", s, err)
	}
	for n := range 20 { // wherever the time ends, that is no damage
		if s, err := a.Sample(ctx, time.Duration(n)*time.Millisecond, uint64(n)); err != nil || len(s.Damage) > 0 {
			t.Errorf("within %d ms: %v, %v", n, s.Damage, err)
		}
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := a.Sample(stopped, time.Minute, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}
