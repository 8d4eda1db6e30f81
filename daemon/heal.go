package daemon

import (
	"context"
	"fmt"
	"iter"
	"time"

	"ccd/archive"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// Heal repairs the archive, with the transcripts that exist as sources, and syncs all transcripts and companions if that has changed
// something (see archive.Repair). It fails as that does.
func (d *Daemon) Heal(ctx context.Context, progress func(done, total int64)) (h archive.Repaired, err error) {
	h, err = d.Archive.Repair(ctx, d.sources(ctx), progress)
	if err != nil || h.Aside == "" && h.Filled == 0 {
		return h, err
	}
	if err := d.load(ctx); err != nil {
		return h, err
	}
	var b batch
	for _, s := range d.sessions {
		s.state.Covers = Place{} // the index may lack the companion's IDs
		b.note(s)
	}
	d.save(ctx, &b)
	d.syncAll(ctx)
	if ctx.Err() != nil {
		return h, ctx.Err()
	}
	report, err := d.Archive.Verify(ctx, progress)
	h.Left = report.Damage
	return h, err
}

// sources returns the transcripts that exist, by the session that they are of: the archive may have lost where they are.
func (d *Daemon) sources(ctx context.Context) archive.Sources {
	files := map[transcript.Key]transcript.Session{}
	found, _ := watcher.Scan(ctx, d.watcherOptions(ctx, nil, nil))
	for _, f := range found {
		if s, ok := d.Agents.Find(f.Root.Agent, f.Root.Path, f.Path); ok {
			files[s.Key] = s
		}
	}
	for k, s := range d.sessions {
		if exists(s.Path) {
			files[k] = s.Session
		}
	}
	return func(s transcript.Session, _ archive.Generation) []iter.Seq2[transcript.Segment, error] {
		d.heartbeat()
		file, ok := files[s.Key]
		if !ok {
			return nil
		}
		return []iter.Seq2[transcript.Segment, error]{d.original(ctx, file)}
	}
}

// original yields all bytes of a transcript.
func (d *Daemon) original(ctx context.Context, s transcript.Session) iter.Seq2[transcript.Segment, error] {
	return watcher.Tail(ctx, s, transcript.Cursor{}, watcher.TailOptions{Rest: true, Torn: true, Heartbeat: d.heartbeat})
}

// healPause is the time between two repairs by the daemon itself.
const healPause = time.Hour

// healIfDamaged repairs the archive if damage was seen.
func (d *Daemon) healIfDamaged(ctx context.Context) {
	if !d.damaged || time.Since(d.healed) < healPause {
		return
	}
	d.finishJobs(ctx)
	d.damaged, d.healed = false, time.Now()
	h, err := d.Heal(ctx, func(int64, int64) { d.heartbeat() })
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		d.Log.Error("cannot repair the archive", "err", err)
		d.result(watcher.Offer{Path: d.Archive.Path()}, fmt.Errorf("repair archive: %w", err))
	case h.Found > 0:
		d.Log.Warn("archive repaired", "damaged", h.Found, "restored_bytes", h.Bytes, "old_file", h.Aside, "left", len(h.Left))
	}
	for _, damage := range h.Left {
		if s := d.sessions[damage.Session]; s != nil {
			d.result(d.asOffer(s), damage)
		}
	}
}
