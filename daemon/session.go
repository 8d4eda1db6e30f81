package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ccd/archive"
	"ccd/compactor"
	"ccd/compactor/sidecar"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// session is one session in memory: what was stored when it was last synced, what its files look like now, and, while
// it is worth keeping, its fold.
type session struct {
	transcript.Session
	state  State
	raw    []byte // state as the archive has it, for compare-and-swap
	placed string // path of the transcript as the archive has it

	isNew     bool // the archive did not know it when the daemon started
	rewritten bool // the file is not what is stored of it, from its first byte on: the next generation begins

	seen         Stat // of the transcript, by the last look
	missing      bool
	lookErr      error             // of the last look
	newSummaries bool              // summaries came that its companion does not hold
	held         bool              // a person asked for a companion: sync brings the archive up to date, and leaves the rest to them
	asked        *compactor.Manual // what stands from now on because they asked for it, nil where they asked for nothing new

	folded    bool
	cursor    transcript.Cursor
	decoder   *transcript.Decoder
	compactor *compactor.Compactor
	spans     spans // that the last companion of this fold was made from
	failures  int
	failedAt  Stat      // of the transcript when it failed last
	retry     time.Time // an unchanged transcript is not tried again before
}

// stored makes a session of what the archive knows. A state that cannot be read is as good as none: it is a cache.
func (d *Daemon) stored(a archive.Session) *session {
	s := &session{Session: a.Session, raw: a.State, placed: a.Path}
	state, err := DecodeState(a.State)
	if s.state = state; err == nil {
		err = a.StateDamage
	}
	if err != nil {
		d.Log.Warn("session state unreadable, made anew", "session", s.ID, "err", err)
	}
	return s
}

// session returns the session that the offered file belongs to, nil where it is nobody's or another file speaks for it.
func (d *Daemon) session(o watcher.Offer) (*session, error) {
	key, known := d.owners[o.Path]
	if s := d.sessions[key]; known && s.Path == o.Path && (!s.Packed || s.Root == "") { // no root: a FILE that was given
		return s, nil
	}
	found, ok := registry.Find(o.Root.Agent, o.Root.Path, o.Path)
	if !ok || found.Packed && exists(plainPath(found.Path)) { // the plain file wins
		return nil, nil
	}
	if !known {
		if o.Gone {
			return nil, nil
		}
		key = d.keyOf(found)
	}
	s := d.sessions[key]
	if s == nil {
		s = &session{Session: found, isNew: true}
		s.Key = key
		d.sessions[key] = s
	}
	if s.Path != o.Path {
		if o.Gone {
			delete(d.owners, o.Path) // it moved, and is known by its new path
			return nil, nil
		}
		s.moveTo(found)
	}
	d.owners[o.Path] = key
	return s, nil
}

// keyOf decides whose file a new path is: of the session that its name tells, unless that one's own file still stands
// elsewhere below a watched root; then it is a session of its own, by its path.
func (d *Daemon) keyOf(found transcript.Session) transcript.Key {
	owner := d.sessions[found.Key]
	if owner == nil || owner.Path == found.Path || !d.watched(owner.Session) || !exists(owner.Path) ||
		owner.Packed && plainPath(owner.Path) == found.Path {
		return found.Key
	}
	return transcript.Key{Agent: found.Agent, ID: strings.TrimSuffix(found.Source, ".jsonl")}
}

func (d *Daemon) watched(s transcript.Session) bool {
	return slices.ContainsFunc(d.Watch.Roots, func(r watcher.Root) bool { return r.Agent == s.Agent && r.Path == s.Root })
}

func plainPath(path string) string { return strings.TrimSuffix(path, ".zst") }

// exists is false only where there is certainly nothing: what may not be looked at is not gone.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !gone(err)
}

func (s *session) moveTo(found transcript.Session) {
	key := s.Key
	s.Session = found
	s.Key = key
	s.unfold() // the path below the root is part of what a companion is made from
}

// options returns what decides the session's companion: the daemon's options and the session's own.
func (d *Daemon) options(s *session) compactor.Options {
	return d.Compaction.With(s.manual())
}

// manual is what a person asked of this session, now or before.
func (s *session) manual() compactor.Manual {
	if s.asked != nil {
		return *s.asked
	}
	return s.state.Manual
}

// hash names the options of a session. Those of the daemon are hashed once: every session is looked at in every pass.
func (d *Daemon) hash(s *session) string {
	if s.manual().IsZero() {
		return d.common
	}
	return d.options(s).Hash()
}

// look stats the source.
func (s *session) look() {
	s.seen, s.lookErr = stat(s.Path)
	s.missing = gone(s.lookErr)
}

// upToDate reports whether nothing is to be done since the last look. It costs one stat, of the companion: both are
// compared with what was stored when each was last synced.
func (s *session) upToDate(d *Daemon, o watcher.Offer) bool {
	seen := s.seen
	switch {
	case s.missing:
		return s.state.Gone && (!d.outdated(s) || s.failures > 0 && time.Now().Before(s.retry))
	case s.lookErr != nil || s.held:
		return false
	case s.state.Skipped != "":
		return true
	case s.failures > 0 && seen == s.failedAt && time.Now().Before(s.retry):
		return true
	case seen != s.state.Source || s.state.Gone || s.rewritten:
		return false
	case s.behind() && o.Quiet >= d.Watch.Settle:
		return false
	case s.Class == transcript.Attachment:
		return true
	case s.state.Options != d.hash(s):
		return false
	case s.state.Fired == "" || s.state.Foreign:
		return true
	case s.newSummaries || d.lacks(s):
		return false
	}
	return s.asWritten(d.companion(s)) && !s.refreshDue(o, d.Watch.RefreshIdle)
}

// companion is where the session's companion stands: once its transcript is gone, in the state directory.
func (d *Daemon) companion(s *session) string {
	if s.state.Gone && d.CompanionDir == "" {
		return sidecar.Path(s.Session, filepath.Join(d.StateDir, "companions"))
	}
	return sidecar.Path(s.Session, d.CompanionDir)
}

// asWritten reports whether the companion stands at path as ccd last left it.
func (s *session) asWritten(path string) bool {
	if s.state.Companion != path {
		return false
	}
	written, err := stat(path)
	return err == nil && written == s.state.Written
}

// refreshDue reports whether the file is at rest and the companion does not cover all of it.
// More bytes of a torn line that the companion covers in part do not make it due: a line that grows slowly would cost
// a fold of the whole session each time.
func (s *session) refreshDue(o watcher.Offer, idle time.Duration) bool {
	at, covers := s.state.At, s.state.Covers
	grows := at.Generation == covers.Generation && at.Offset-s.state.Torn < covers.Offset
	return at != covers && !grows && o.Quiet >= idle
}

// behind reports whether the file, as it was when it was last synced, has bytes that were not taken: of a last line
// without its end. A compressed file is always taken whole.
func (s *session) behind() bool { return !s.Packed && s.state.Source.Size > s.state.At.Offset }

// due reports whether the companion is to be written now (docs/ENGINE.md): when a trigger first fires, then when
// there are enough new bytes, or the transcript is at rest; at once when it is not as written, or when the options
// changed.
func (s *session) due(d *Daemon, o watcher.Offer) bool {
	if s.Class == transcript.Attachment {
		return false
	}
	if c := s.compactor.Status(); foreign(c) || s.state.Fired == "" && c.Trigger == "" {
		return false
	}
	return s.newSummaries || d.lacks(s) || s.state.Options != d.hash(s) || !s.asWritten(d.companion(s)) ||
		s.state.At.Generation != s.state.Covers.Generation || s.grown() >= s.enough() ||
		s.refreshDue(o, d.Watch.RefreshIdle)
}

// grown is how many bytes the companion does not cover yet.
func (s *session) grown() int64 { return s.state.At.Offset - s.state.Covers.Offset }

// enough is how many new bytes make the companion due: an eighth of what it covers, so that the cost of following a
// session stays in proportion to its length, and at least a quarter of the companion's own size.
func (s *session) enough() int64 { return max(1, s.state.Covers.Offset/8, s.state.Written.Size/4) }

// fold brings the session's fold up to the archive's tip: it is cached, or folded anew.
func (d *Daemon) fold(ctx context.Context, s *session) error {
	if s.folded {
		return nil
	}
	if s.isNew { // should another process know it meanwhile, Append says so
		s.begin(d, transcript.Cursor{})
		return nil
	}
	a, err := d.Archive.Session(ctx, s.Key)
	if errors.Is(err, archive.ErrNotFound) {
		s.begin(d, transcript.Cursor{})
		return nil
	}
	if err != nil {
		return err
	}
	fresh := d.stored(a)
	s.state, s.raw, s.placed = fresh.state, fresh.raw, fresh.placed
	if len(a.Generations) == 0 {
		s.begin(d, transcript.Cursor{})
		return nil
	}
	last := a.Generations[len(a.Generations)-1]
	if s.rewritten {
		s.begin(d, transcript.Cursor{Generation: last.N + 1})
		return nil
	}
	s.begin(d, transcript.Cursor{Generation: last.N})
	if s.Class != transcript.Attachment {
		if err := d.replay(ctx, s, last); err != nil {
			s.unfold()
			return err
		}
	}
	s.cursor = last.Tip
	return nil
}

// replay folds what the archive has of the session's last generation.
func (d *Daemon) replay(ctx context.Context, s *session, g archive.Generation) error {
	for seg, err := range d.Archive.Reader(s.Key, g.N).Segments(ctx) {
		if err != nil {
			return fmt.Errorf("fold session %s: %w", s.ID, err)
		}
		d.alive()
		s.take(seg)
	}
	if s.cursor.Offset != g.Tip.Offset { // another process went on meanwhile
		return archive.ErrTip
	}
	return nil
}

// begin starts an empty fold at a cursor.
func (s *session) begin(d *Daemon, at transcript.Cursor) {
	s.cursor, s.folded, s.spans = at, true, spans{}
	if s.Class != transcript.Attachment {
		s.decoder = registry.NewDecoder(s.Agent, s.Class)
		s.compactor = compactor.New(d.options(s), s.Session)
	}
}

// add folds a segment that the archive has taken.
func (d *Daemon) add(ctx context.Context, s *session, seg transcript.Segment) error {
	switch {
	case s.Class == transcript.Attachment:
		s.cursor = seg.End
		return nil
	case s.cursor.Generation != 0 && seg.Start.Generation != s.cursor.Generation:
		d.Log.Info("transcript replaced, its earlier content stays in the archive", "session", s.ID, "generation", seg.Start.Generation)
		s.begin(d, seg.Start)
	case s.decoder.Reopens(seg):
		s.unfold()
		return d.fold(ctx, s)
	}
	s.take(seg)
	return nil
}

// take folds a segment. A last line without its end is folded if it is whole JSON. A torn one waits for the rest of it,
// or for finish: most torn lines go on, and a line that was folded too early costs another fold of the whole session.
func (s *session) take(seg transcript.Segment) {
	rest := seg.Rest
	seg.Rest = false
	s.feed(seg)
	s.cursor = seg.End
	if rest && s.decoder.Torn() == 0 {
		s.finish()
	}
}

// finish folds the last line as it stands, for a companion that covers all bytes.
func (s *session) finish() { s.feed(transcript.Segment{Start: s.cursor, Rest: true}) }

func (s *session) feed(seg transcript.Segment) {
	for r := range s.decoder.Records(seg) {
		s.compactor.Add(r)
	}
}

func (s *session) unfold() {
	s.folded, s.decoder, s.compactor, s.spans = false, nil, nil, spans{}
}

// forget drops what is in memory of a session after an error: the next sync folds it anew. That another process was
// faster is no failure, and needs no pause.
func (d *Daemon) forget(s *session, err error) {
	if !errors.As(err, new(placeError)) {
		s.unfold()
		s.isNew = false
	}
	if raced(err) {
		return
	}
	s.failures++
	s.failedAt = s.seen
	pause := d.Watch.ScanInterval / 2     // the next scan comes after it
	if !errors.Is(err, archive.ErrFull) { // which costs one look at the file system, and ends without a change of ours
		pause <<= min(s.failures-1, 3)
	}
	s.retry = time.Now().Add(pause)
}

// tail tells how the file is to be read: a last line without its end is taken from a file at rest, one that does not
// parse from a file at rest for long.
func (s *session) tail(d *Daemon, o watcher.Offer) watcher.TailOptions {
	return watcher.TailOptions{Rest: o.Quiet >= d.Watch.Settle, Torn: o.Quiet >= d.Watch.RefreshIdle, Scratch: &d.scratch, Alive: d.Alive}
}
