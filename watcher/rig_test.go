package watcher

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"ccd/internal/testkit"
)

// rig runs a Watcher on real files, but with the test's own events and synctest's clock.
type rig struct {
	t       *testing.T
	dir     string // the root, by default
	o       Options
	w       *Watcher
	start   time.Time
	events  chan fsnotify.Event
	errs    chan error
	watched map[string]bool
	addErr  func(dir string) error
	offers  []string             // "2s live a.jsonl quiet 2s"
	consume func(o Offer) string // called in the loop's body; what it returns is noted too
	cancel  context.CancelFunc
	done    chan struct{}
}

func match(_ Root, path string) bool { return strings.HasSuffix(path, ".jsonl") }

// play calls script in a bubble. The watcher runs from the call of r.run to the end of the script.
func play(t *testing.T, script func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{
			t: t, dir: t.TempDir(), start: time.Now(), watched: map[string]bool{}, done: make(chan struct{}),
			events: make(chan fsnotify.Event), errs: make(chan error),
		}
		r.cancel = func() { close(r.done) } // until run
		r.o = Options{Roots: []Root{{"agent", r.dir}}, Match: match, MaxWait: 15 * time.Second}
		defer func() {
			r.cancel()
			<-r.done
		}()
		script(r)
	})
}

func (r *rig) run() {
	r.w = New(r.o)
	r.w.open = func() (*stream, error) {
		return &stream{
			events: r.events, errors: r.errs,
			add: func(dir string) error {
				if r.addErr != nil {
					if err := r.addErr(dir); err != nil {
						return err
					}
				}
				_, err := os.Stat(dir)
				r.watched[dir] = err == nil
				return err
			},
			remove: func(dir string) error { delete(r.watched, dir); return nil },
			close:  func() error { return nil },
		}, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	go func() {
		defer close(r.done)
		for o := range r.w.Run(ctx) {
			r.offers = append(r.offers, r.describe(o))
			if r.consume != nil {
				if s := r.consume(o); s != "" {
					r.offers = append(r.offers, s)
				}
			}
		}
	}()
	synctest.Wait()
}

func (r *rig) describe(o Offer) string {
	rel, err := filepath.Rel(r.dir, o.Path)
	must(r.t, err)
	s := fmt.Sprintf("%v %s", time.Since(r.start).Round(100*time.Millisecond), rel)
	switch {
	case o.Gone:
		s += " gone"
	case o.Live:
		s += fmt.Sprintf(" live quiet %v", o.Quiet.Round(100*time.Millisecond))
	default:
		s += fmt.Sprintf(" quiet %v", o.Quiet.Round(100*time.Millisecond))
	}
	return s
}

// pass lets time go by until at after the start.
func (r *rig) pass(at time.Duration) {
	r.t.Helper()
	d := at - time.Since(r.start)
	if d < 0 {
		r.t.Fatalf("%v is over", at)
	}
	<-time.After(d) // between two looks
	synctest.Wait()
}

// want checks the offers since it was last called.
func (r *rig) want(offers ...string) {
	r.t.Helper()
	synctest.Wait()
	if !slices.Equal(r.offers, offers) {
		r.t.Fatalf("at %v offers are\n\t%s\nwant\n\t%s", time.Since(r.start), strings.Join(r.offers, "\n\t"), strings.Join(offers, "\n\t"))
	}
	r.offers = nil
}

func (r *rig) path(name string) string { return filepath.Join(r.dir, name) }

// put appends to a file without an event; its time is ago before now.
func (r *rig) put(name string, ago time.Duration) {
	r.t.Helper()
	testkit.Append(r.t, r.path(name), "line\n")
	r.date(name, ago)
}

func (r *rig) date(name string, ago time.Duration) {
	at := time.Now().Add(-ago)
	must(r.t, os.Chtimes(r.path(name), at, at))
}

// write appends to a file, with the event that the system would send.
func (r *rig) write(name string) {
	r.t.Helper()
	op := fsnotify.Write
	if _, err := os.Lstat(r.path(name)); errors.Is(err, os.ErrNotExist) {
		op = fsnotify.Create
	}
	r.put(name, 0)
	r.event(name, op)
}

func (r *rig) event(name string, op fsnotify.Op) {
	r.events <- fsnotify.Event{Name: r.path(name), Op: op}
	synctest.Wait()
}

func (r *rig) remove(name string) {
	r.t.Helper()
	must(r.t, os.RemoveAll(r.path(name)))
	r.event(name, fsnotify.Remove)
}
