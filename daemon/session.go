package daemon

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ccd/archive"
	"ccd/compactor"
	"ccd/compactor/companion"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// session is a session in memory: its stored state and the last stat of its transcript.
type session struct {
	transcript.Session
	state        State
	raw          []byte // state as stored, for compare-and-swap
	archivedPath string // path of the transcript as stored
	stale        bool   // state and cursor have to be loaded again
	cursor       transcript.Cursor
	waiting      *transcript.Segment // before cursor, archived with the next transaction; nil if there is none
	read         *reading            // nil if it is to be read from its beginning
	begun        time.Time           // when the last generation of a file that its agent rewrites was archived, zero for others

	offer      watcher.Offer // the last one
	sourceStat Stat          // last stat of the transcript
	missing    bool
	statErr    error // of the last stat

	byCommand bool              // a person asked for it: it is archived even if it is a summarizer's
	requested *compactor.Manual // options requested by the running command, nil if it requested none

	failures int
	failedAt Stat      // of the transcript at the last failure
	retry    time.Time // an unchanged transcript is not tried before
	races    int       // successive syncs during which another process changed the session

	in           *[]*session    // the queue of the pool that it is in
	busy         bool           // a job works on a copy of it
	newer        *watcher.Offer // came meanwhile
	ofSummarizer bool           // it belongs to a session of the summarizer's command
	published    bool           // its companion was written by the last job
	found        bool           // a scan just found it; whether its companion is made at once is decided when all are archived
}

// sessionOf makes a session from an archived one. An unreadable state counts as none, because it can be rebuilt.
func (d *Daemon) sessionOf(a archive.Session) *session {
	s := &session{Session: a.Session, raw: a.State, archivedPath: a.Path, cursor: a.Tip()}
	state, err := DecodeState(a.State)
	if s.state = state; err == nil {
		err = a.StateDamage
	}
	if err != nil {
		d.Log.Info("session state unreadable; rebuilding it", "session", s.ID, "err", err)
	}
	if at := (Place{s.cursor.Generation, s.cursor.Offset}); s.state.At != at { // some bytes were lost
		s.state.At, s.state.Source = at, Stat{}
	}
	return s
}

// register returns the session of the offered file. It creates the session, or moves it to this file, if necessary. It
// returns nil if the file belongs to no session, or if its session is read from another file.
func (d *Daemon) register(ctx context.Context, o watcher.Offer) *session {
	key, known := d.owners[o.Path]
	if s := d.sessions[key]; known && s.Path == o.Path && (!s.Packed || s.Root == "") { // without a root: Adopt
		return s
	}
	found, ok := d.Agents.Find(o.Root.Agent, o.Root.Path, o.Path)
	if !ok || found.Packed && exists(plainPath(found.Path)) || d.Archive.Forgets(found) { // an uncompressed file has priority
		return nil
	}
	if !known {
		if o.Gone {
			return nil
		}
		key = d.keyOf(ctx, found)
	}
	s := d.sessions[key]
	if s == nil {
		s = &session{Session: found}
		s.Key = key
		d.sessions[key] = s
	}
	if s.Path != o.Path {
		if o.Gone {
			delete(d.owners, o.Path) // it moved: the session is known by its new path
			return nil
		}
		if s.busy {
			return s
		}
		s.Session = found
		s.Key = key
		s.read, s.state.Read = nil, Place{} // the companion depends on the path below the root
	}
	d.owners[o.Path] = key
	return s
}

// keyOf returns the key for a new path: the one that its name says, unless the file of that session still exists below a watched root, or
// elsewhere and the new one does not go on from what is archived: two homes may share an archive. Then the new file becomes a session of
// its own, with its path as the ID.
func (d *Daemon) keyOf(ctx context.Context, found transcript.Session) transcript.Key {
	owner := d.sessions[found.Key]
	if owner == nil || owner.Path == found.Path || !exists(owner.Path) || owner.Packed && plainPath(owner.Path) == found.Path ||
		!d.watched(owner.Session) && continues(ctx, found, owner.cursor) {
		return found.Key
	}
	return transcript.Key{Agent: found.Agent, ID: strings.TrimSuffix(found.Source, ".jsonl")}
}

// yields reports whether a session that another process has changed is now that of another home, and leaves it to that one.
func (d *Daemon) yields(ctx context.Context, s *session) bool {
	a, err := d.Archive.Last(ctx, s.Key)
	if err != nil || a.Path == s.Path || d.watched(a.Session) || !exists(a.Path) || continues(ctx, s.Session, a.Tip()) {
		return false
	}
	delete(d.owners, s.Path)
	d.sessions[s.Key], d.owners[a.Path] = d.sessionOf(a), s.Key
	return true
}

func (d *Daemon) watched(s transcript.Session) bool {
	return slices.ContainsFunc(d.Watch.Roots, func(r watcher.Root) bool { return r.Agent == s.Agent && r.Path == s.Root })
}

func plainPath(path string) string {
	plain, _ := transcript.Unpacked(path)
	return plain
}

// exists returns false only if the file certainly does not exist, not if it cannot be read.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !watcher.NotExist(err)
}

// options returns the compaction options of a session.
func (d *Daemon) options(s *session) compactor.Options {
	return d.Compaction.With(s.manual())
}

// manual returns the options that were requested for this session, now or earlier.
func (s *session) manual() compactor.Manual {
	if s.requested != nil {
		return *s.requested
	}
	return s.state.Manual
}

// hash returns the hash of the session's options. The common one is computed once, because every scan compares it.
func (d *Daemon) hash(s *session) string {
	if s.manual().IsZero() {
		return d.optionsHash
	}
	return d.options(s).Hash()
}

func (s *session) statSource() {
	s.sourceStat, s.statErr = stat(s.Path)
	s.missing = watcher.NotExist(s.statErr)
}

// upToDate is the one rule: what the last sync stored is what a stat says now of the transcript (isArchived) and of the
// companion (due), and both were made of the archived bytes with the current options.
func (s *session) upToDate(d *Daemon) bool {
	return s.isArchived(d) && (!s.isRead() || !s.readDue(d) && !s.dueNow(d))
}

// isArchived reports whether the archive has all bytes that the transcript had at the last stat.
func (s *session) isArchived(d *Daemon) bool {
	switch {
	case s.missing:
		return s.state.Gone
	case s.statErr != nil || s.stale:
		return false
	case s.state.SkipReason != "":
		return true
	}
	tail := !s.Packed && s.state.Source.Size > s.state.At.Offset // a last line without a newline
	return s.sourceStat == s.state.Source && s.archivedPath == s.Path && !s.state.Gone && (!tail || s.offer.Quiet < d.Watch.Settle)
}

// isRead reports whether a session has records that are read.
func (s *session) isRead() bool { return s.Class != transcript.Attachment && s.state.SkipReason == "" }

// compareNow reports whether the transcript, which changed lately, is compared with the archive at once: it was touched, rewritten or
// archived in parts since it last was, and is small enough not to hold up others.
func (s *session) compareNow() bool {
	return s.offer.Live && s.state.Checked.IsZero() && s.state.At.Offset <= recheckBytes
}

// companion returns the path of the session's companion. After the transcript is gone it is in the state directory.
func (d *Daemon) companion(s *session) string {
	if s.state.Gone && d.CompanionDir == "" {
		return companion.Path(s.Session, filepath.Join(d.StateDir, "companions"))
	}
	return companion.Path(s.Session, d.CompanionDir)
}

// asWritten reports whether the session's companion is in its place, unchanged since ccd wrote it.
func (d *Daemon) asWritten(s *session) bool {
	if s.state.Companion != d.companion(s) {
		return false
	}
	written, err := stat(s.state.Companion)
	return err == nil && written == s.state.Written
}

// readDue reports whether the records are to be read: the options or what is counted changed, or some were not read while they were archived.
func (s *session) readDue(d *Daemon) bool {
	return s.state.Options != d.hash(s) || !s.state.Counted() || s.state.At != s.state.Read
}

// lacksBeginning reports whether the records were read without those of the session that they continue, and that is archived now.
func (d *Daemon) lacksBeginning(s *session) bool {
	before := d.sessions[transcript.Key{Agent: s.Agent, ID: cmp.Or(s.Thread, s.state.Origin)}]
	return s.state.Joined < 0 && before != nil && before.cursor.Offset > 0
}

// due reports whether the companion is to be written now (docs/ENGINE.md): when a trigger fires first, then when it lags by a
// quarter of the session, five times its length in all. It is due at once if it was changed or deleted, or if the options
// changed. It costs a stat of the companion.
func (s *session) due(d *Daemon) bool {
	switch {
	case !s.isRead() || s.state.UnknownFormat || s.state.Trigger == "" || s.state.Deferred:
		return false
	case s.state.Gone:
		return s.dueGone(d)
	}
	at, made := s.state.At, s.state.Covers
	lags := at.Generation != made.Generation || at.Offset-made.Offset >= made.Offset/4 || s.offer.Quiet >= d.Watch.RefreshIdle
	return s.state.Options != d.hash(s) || !d.asWritten(s) || at != made && lags
}

// dueNow is due for a session that was not just found.
func (s *session) dueNow(d *Daemon) bool { return !s.found && s.due(d) }

// dueGone is due for a session whose transcript is gone: its companion was made with other rules or options than the
// current ones, or does not cover all, or it never had one. A companion that the user deleted is not made again, and without its agent's
// configuration none can be.
func (s *session) dueGone(d *Daemon) bool {
	if !d.knowsAgent(s.Agent) || s.state.Options == d.hash(s) && s.state.Covers == s.state.At {
		return false
	}
	return s.state.Companion == "" && s.state.Options == "" || s.state.Companion != "" && exists(s.state.Companion)
}

// tail yields what is new in the transcript. A last line without a newline is read if the file is at rest, and a torn one
// if it has been at rest for RefreshIdle.
func (d *Daemon) tail(ctx context.Context, s *session) iter.Seq2[transcript.Segment, error] {
	quiet := s.offer.Quiet
	return watcher.Tail(ctx, s.Session, s.cursor, watcher.TailOptions{Rest: quiet >= d.Watch.Settle, Torn: quiet >= d.Watch.RefreshIdle, Heartbeat: d.heartbeat})
}

// advance records that a segment was archived, or waits for that.
func (s *session) advance(d *Daemon, seg transcript.Segment) {
	if seg.Start.Offset == 0 && seg.Start.Generation > 1 && !s.Unlined() { // such an agent rewrites its file at each change
		d.Log.Info("transcript replaced; the archive keeps its earlier content", "session", s.ID, "generation", seg.Start.Generation)
		s.state.Rewritten = time.Now().UTC()
	}
	if seg.Start.Offset == 0 && s.Unlined() {
		s.begun = time.Now()
	}
	s.cursor = seg.End
}

// rewritePause is how often a file that its agent rewrites at each change is archived before it has settled: each time is a generation.
const rewritePause = 15 * time.Second

// rewrite has the next sync archive the transcript from the start, as a new generation.
func (s *session) rewrite() {
	s.cursor = transcript.Cursor{Generation: s.cursor.Generation + 1}
	s.state.Source = Stat{}
}

// updateState updates the state from the last stat, after taken new bytes were archived.
func (s *session) updateState(taken int64) {
	s.state.At = Place{s.cursor.Generation, s.cursor.Offset}
	switch was := s.state.Source; {
	case was.IsZero() && taken >= s.state.At.Offset:
		s.state.Checked = time.Now().UTC() // all its bytes were just hashed
	case was.IsZero(), taken == 0 && s.sourceStat != was && s.sourceStat.Size == was.Size:
		s.state.Checked = time.Time{} // archived in parts, touched or rewritten: recheck compares it
	}
	s.state.Source, s.state.Gone, s.state.GoneAt = s.sourceStat, false, time.Time{}
}

// setStatus takes over what the records say.
func (s *session) setStatus(t *compactor.Tracker) {
	s.note(t.Status(), t.PerToken())
	s.state.Read = s.state.At
}

// note takes over what a model of the records says, which may not have read all that is archived.
func (s *session) note(st compactor.Status, perToken float64) {
	if s.state.At.Generation > 1 && !s.Unlined() { // what a rewrite took away was said
		st.Title, st.Ask = cmp.Or(st.Title, s.state.Title), cmp.Or(s.state.Ask, st.Ask)
	}
	s.state.setStatus(st, perToken)
}

// fail records that a sync failed. The next one loads the session from the archive.
func (d *Daemon) fail(s *session, err error) {
	d.damaged = d.damaged || errors.As(err, new(*archive.DamageError))
	if !errors.Is(err, ErrNotPlaced) {
		s.stale = true
	}
	s.failures++
	s.failedAt = s.sourceStat
	pause := d.Watch.ScanInterval / 2     // so that the next scan tries again
	if !errors.Is(err, archive.ErrFull) { // a full disk costs one check of the free space, and may end at any time
		pause <<= min(s.failures-1, 3)
	}
	s.retry = time.Now().Add(pause)
}

// paused reports whether the session is left alone: after a failure, or while its agent goes on rewriting its file.
func (s *session) paused() bool {
	if s.offer.Live && s.offer.Quiet == 0 && time.Since(s.begun) < rewritePause {
		return true
	}
	return s.failures > 0 && s.sourceStat == s.failedAt && time.Now().Before(s.retry)
}

// atRest is the Quiet time of a file that a command or a pass syncs: it counts as unchanged.
const atRest = 100 * 365 * 24 * time.Hour

// asOffer returns an offer of a session whose file may not have changed.
func (d *Daemon) asOffer(s *session) watcher.Offer {
	s.statSource()
	o := watcher.Offer{Path: s.Path, Root: watcher.Root{Agent: s.Agent, Path: s.Root}, Gone: s.missing, Quiet: atRest}
	if d.pool.wake != nil { // in Run
		o.Quiet = max(0, time.Since(time.Unix(0, s.sourceStat.ModTime)))
	}
	return o
}
