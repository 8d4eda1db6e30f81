package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"ccd/archive"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// Healed is the result of Heal.
type Healed struct {
	Found int                    // damaged places
	Bytes int64                  // stored again from transcripts
	Aside string                 // path of the old file, "" if it was repaired in place
	Left  []*archive.DamageError // damaged places that no transcript can repair
}

// Heal reads the whole archive and repairs what is damaged. What a transcript still has is stored again under the same
// session and generation. If that is not enough, the archive's file is rebuilt from what is intact in it, the old one is
// set aside, and all transcripts and companions are synced. progress, if not nil, is called with bytes.
func (d *Daemon) Heal(ctx context.Context, progress func(done, total int64)) (h Healed, err error) {
	verify := func() error {
		report, err := d.Archive.Verify(ctx, progress)
		h.Left = report.Damage
		return err
	}
	if err := verify(); err != nil || len(h.Left) == 0 {
		return h, err
	}
	h.Found = len(h.Left)
	sources := func() error { return d.healSessions(ctx, &h) }
	rebuild := func() error { return d.rebuild(ctx, &h, progress) }
	steps := []func() error{sources, verify, rebuild, sources, func() error { return d.syncAll(ctx) }, verify}
	if slices.ContainsFunc(h.Left, func(e *archive.DamageError) bool { return e.Session == transcript.Key{} && e.ID == "" }) {
		steps = steps[2:] // do not write to a file whose pages are damaged
	}
	for _, step := range steps {
		if err := step(); err != nil || len(h.Left) == 0 && h.Aside == "" {
			return h, err
		}
	}
	return h, nil
}

// healSessions heals the generations in h.Left whose transcripts still have their bytes.
func (d *Daemon) healSessions(ctx context.Context, h *Healed) error {
	type generation struct {
		transcript.Key
		n int
	}
	tried := map[generation]bool{}
	for _, damage := range h.Left {
		g := generation{damage.Session, damage.Generation}
		s := d.sessions[g.Key]
		if s == nil || g.n == 0 || tried[g] {
			continue
		}
		tried[g] = true
		d.heartbeat()
		n, err := d.healGeneration(ctx, s, g.n)
		h.Bytes += n
		switch {
		case err == nil:
			s.invalidate()
		case errors.Is(err, archive.ErrDiffers), errors.Is(err, archive.ErrNotFound), errors.As(err, new(*archive.DamageError)), watcher.NotExist(err):
		default:
			return err
		}
	}
	return nil
}

func (d *Daemon) healGeneration(ctx context.Context, s *session, n int) (healed int64, err error) {
	f, err := os.CreateTemp("", "ccd-*.jsonl")
	if err != nil {
		return 0, err
	}
	defer func() {
		f.Close()
		os.Remove(f.Name())
	}()
	for seg, err := range watcher.Tail(ctx, s.Session, transcript.Cursor{}, watcher.TailOptions{Rest: true, Torn: true, Scratch: &d.scratch, Heartbeat: d.Heartbeat}) {
		if err == nil {
			d.Archive.Fill(seg.Data)
			_, err = f.WriteAt(seg.Data, seg.Start.Offset)
		}
		if err != nil {
			return 0, fmt.Errorf("read transcript of session %s: %w", s.ID, err)
		}
	}
	err = retryRaces(ctx, func() error {
		more, err := d.Archive.Heal(ctx, s.Key, n, f)
		healed += more
		return err
	})
	return healed, err
}

// rebuild rebuilds the archive's file, unless all that is left was missing after an earlier rebuild.
func (d *Daemon) rebuild(ctx context.Context, h *Healed, progress func(done, total int64)) error {
	if !slices.ContainsFunc(h.Left, func(e *archive.DamageError) bool {
		return !errors.Is(e, archive.ErrMissing) && !errors.Is(e, archive.ErrNotFound)
	}) {
		return nil
	}
	r, err := d.Archive.Rebuild(ctx, progress)
	if err != nil {
		return err
	}
	h.Aside, h.Left = r.Aside, r.Damage
	if err := d.load(ctx); err != nil {
		return err
	}
	for _, s := range d.sessions {
		s.renew = true
	}
	d.rebuilt = true
	return nil
}

// syncAll syncs all transcripts, because sessions may be lost, and after a rebuild all companions.
func (d *Daemon) syncAll(ctx context.Context) error {
	defer func() { d.rebuilt = false }()
	found, _ := watcher.Scan(ctx, d.watcherOptions(ctx, nil, nil))
	var offers []watcher.Offer
	for _, f := range found {
		offers = append(offers, watcher.Offer{Path: f.Path, Root: f.Root, Quiet: atRest})
	}
	_ = d.syncFully(ctx, offers, func(o watcher.Offer, err error) {
		if err != nil {
			d.failed(o, err)
		}
	})
	var gone Report
	d.syncMissing(ctx, &gone)
	return d.syncFully(ctx, nil, nil)
}

// healPause is the time between two repairs by the daemon itself.
const healPause = time.Hour

// healIfDamaged repairs the archive if damage was seen.
func (d *Daemon) healIfDamaged(ctx context.Context) {
	if !d.damaged || time.Since(d.healed) < healPause {
		return
	}
	d.damaged, d.healed = false, time.Now()
	h, err := d.Heal(ctx, func(int64, int64) { d.heartbeat() })
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		d.Log.Error("cannot repair the archive", "err", err)
		d.failed(watcher.Offer{Path: d.Archive.Path()}, fmt.Errorf("repair archive: %w", err))
	case h.Found > 0:
		d.Log.Warn("archive repaired", "damaged", h.Found, "restored_bytes", h.Bytes, "old_file", h.Aside, "left", len(h.Left))
	}
	for _, damage := range h.Left {
		if s := d.sessions[damage.Session]; s != nil {
			d.failed(s.offer(), damage)
		}
	}
}
