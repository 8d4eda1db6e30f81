package daemon

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ccd/archive"
	"ccd/compactor"
	"ccd/compactor/sidecar"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// session is a session in memory: its stored state, the last stat of its transcript and, unless it was dropped, its
// tracker.
type session struct {
	transcript.Session
	state        State
	raw          []byte // state as stored, for compare-and-swap
	archivedPath string // path of the transcript as stored

	isNew     bool // not in the archive when the daemon started
	rewritten bool // the file's content differs from the archived bytes: a new generation begins

	sourceStat Stat // last stat of the transcript
	missing    bool
	statErr    error             // of the last stat
	renew      bool              // its companion is to be made again: there are new summaries, or the index may lack its IDs
	noticed    bool              // a notice was shown since the pressure rose to Options.NoticeAt
	byCommand  bool              // sync only archives: the command makes the companion itself
	requested  *compactor.Manual // options requested by the running command, nil if it requested none

	waiting *transcript.Segment // tracked, but not archived before the next save; nil if there is none

	deferred bool // only archived, until all others are

	cursor   transcript.Cursor
	tracked  bool    // decoder and tracker are at cursor
	replay   *replay // they have not reached the end of the archived bytes yet, else nil
	decoder  *transcript.Decoder
	tracker  *compactor.Tracker   // nil if there are no records in it: an attachment
	model    *compactor.Compactor // with that tracker; only while a sync reads the session from its first byte, else nil
	failures int
	failedAt Stat      // of the transcript at the last failure
	retry    time.Time // an unchanged transcript is not tried before
}

// sessionOf makes a session from an archived one. An unreadable state counts as none, because it can be rebuilt.
func (d *Daemon) sessionOf(a archive.Session) *session {
	s := &session{Session: a.Session, raw: a.State, archivedPath: a.Path}
	state, err := DecodeState(a.State)
	s.noticed = state.Pressure >= d.NoticeAt // by the daemon that stored it
	if s.state = state; err == nil {
		err = a.StateDamage
	}
	if err != nil {
		d.Log.Warn("session state unreadable; rebuilding it", "session", s.ID, "err", err)
	}
	if tip := a.Tip(); s.state.At != (Place{tip.Generation, tip.Offset}) { // some bytes were lost
		s.state.Source = Stat{}
	}
	return s
}

// register returns the session of the offered file. It creates the session, or moves it to this file, if necessary. It
// returns nil if the file belongs to no session, or if its session is read from another file. A worker only finds it.
func (d *Daemon) register(o watcher.Offer) *session {
	key, known := d.owners[o.Path]
	if d.onMain != nil {
		return d.sessions[key]
	}
	if s := d.sessions[key]; known && s.Path == o.Path && (!s.Packed || s.Root == "") { // without a root: CompactFile
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
		key = d.keyOf(found)
	}
	s := d.sessions[key]
	if s == nil {
		s = &session{Session: found, isNew: true, renew: d.rebuilt}
		s.Key = key
		d.sessions[key] = s
	}
	if s.Path != o.Path {
		if o.Gone {
			delete(d.owners, o.Path) // it moved: the session is known by its new path
			return nil
		}
		s.moveTo(found)
	}
	d.owners[o.Path] = key
	return s
}

// keyOf returns the key for a new path: the one that its name says, unless the file of that session still exists below
// a watched root. Then the new file becomes a session of its own, with its path as the ID.
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

// exists returns false only if the file certainly does not exist, not if it cannot be read.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !watcher.NotExist(err)
}

func (s *session) moveTo(found transcript.Session) {
	key := s.Key
	s.Session = found
	s.Key = key
	s.untrack() // the companion depends on the path below the root
}

// options returns the compaction options of a session.
func (d *Daemon) options(s *session) compactor.Options {
	return d.Compaction.With(s.manual()).Reading(d.Agents.Paths(s.Agent))
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
	if s.manual().IsZero() && d.Agents.Paths(s.Agent) == "" {
		return d.optionsHash
	}
	return d.options(s).Hash()
}

func (s *session) statSource() {
	s.sourceStat, s.statErr = stat(s.Path)
	s.missing = watcher.NotExist(s.statErr)
}

// upToDate reports whether there is nothing to do. It costs one stat of the companion; the transcript was stat'ed
// before.
func (s *session) upToDate(d *Daemon, o watcher.Offer) bool {
	seen := s.sourceStat
	switch {
	case s.missing:
		return s.state.Gone && (!d.outdated(s) || s.failures > 0 && time.Now().Before(s.retry))
	case s.statErr != nil || s.byCommand:
		return false
	case s.state.SkipReason != "":
		return true
	case s.failures > 0 && seen == s.failedAt && time.Now().Before(s.retry):
		return true
	case seen != s.state.Source || s.state.Gone || s.rewritten:
		return false
	case s.tailMissing() && o.Quiet >= d.Watch.Settle:
		return false
	case s.Class == transcript.Attachment:
		return true
	case d.asked && s.state.At != s.state.Covers:
		return false
	case s.state.Options != d.hash(s):
		return false
	case s.state.Trigger == "" || s.state.UnknownFormat:
		return true
	case s.renew || d.wantsSummaries(s):
		return false
	}
	return s.asWritten(d.companion(s)) && !s.refreshDue(o, d.Watch.RefreshIdle)
}

// companion returns the path of the session's companion. After the transcript is gone it is in the state directory.
func (d *Daemon) companion(s *session) string {
	if s.state.Gone && d.CompanionDir == "" {
		return sidecar.Path(s.Session, filepath.Join(d.StateDir, "companions"))
	}
	return sidecar.Path(s.Session, d.CompanionDir)
}

// asWritten reports whether the companion at path is unchanged since ccd wrote it.
func (s *session) asWritten(path string) bool {
	if s.state.Companion != path {
		return false
	}
	written, err := stat(path)
	return err == nil && written == s.state.Written
}

// refreshDue reports whether the file is at rest and the companion does not cover all of it. A companion that covers
// part of a torn line is not due when that line grows: each time would cost a pass over the whole session.
func (s *session) refreshDue(o watcher.Offer, idle time.Duration) bool {
	at, covers := s.state.At, s.state.Covers
	grows := at.Generation == covers.Generation && at.Offset-s.state.Torn < covers.Offset
	return at != covers && !grows && o.Quiet >= idle
}

// tailMissing reports whether the file had bytes at the last sync that were not read: a last line without a newline. A
// compressed file is always read to its end.
func (s *session) tailMissing() bool { return !s.Packed && s.state.Source.Size > s.state.At.Offset }

// due reports whether the companion is to be written now (docs/ENGINE.md): when a trigger fires first, then after
// enough new bytes or when the transcript is at rest. It is due at once if the companion was changed or deleted, or if
// the options changed.
func (s *session) due(d *Daemon, o watcher.Offer) bool {
	if s.Class == transcript.Attachment {
		return false
	}
	switch c := s.tracker.Status(); {
	case unknownFormat(c):
		return false
	case d.asked && s.state.At != s.state.Covers:
		return true
	case s.state.Trigger == "" && c.Trigger == "":
		return false
	}
	return s.renew || d.wantsSummaries(s) || s.state.Options != d.hash(s) || !s.asWritten(d.companion(s)) ||
		s.state.At.Generation != s.state.Covers.Generation || s.uncovered() >= s.refreshBytes() ||
		s.refreshDue(o, d.Watch.RefreshIdle)
}

// uncovered returns how many bytes the companion does not cover yet.
func (s *session) uncovered() int64 { return s.state.At.Offset - s.state.Covers.Offset }

// refreshBytes returns how many new bytes make the companion due: a quarter of what it covers. Each companion takes a
// pass over the session, so all of a growing session take five times its length, and the tracker takes it once.
func (s *session) refreshBytes() int64 {
	return max(1, s.state.Covers.Offset/4)
}

// open sets the cursor to the end of the archived bytes, unless the tracker has it, or will with at most limit bytes more.
func (d *Daemon) open(ctx context.Context, s *session, limit int64) error {
	if s.tracked {
		return d.continueReplay(s, limit)
	}
	s.cursor = transcript.Cursor{}
	if s.isNew { // if another process has archived it since, Append fails with ErrTip
		return nil
	}
	err := d.reload(ctx, s)
	if errors.Is(err, archive.ErrNotFound) {
		return nil
	}
	if s.rewritten {
		s.cursor = transcript.Cursor{Generation: s.cursor.Generation + 1}
	}
	return err
}

// track brings the session's tracker up to the end of the archived bytes.
func (d *Daemon) track(ctx context.Context, s *session) error {
	if err := d.open(ctx, s, math.MaxInt64); err != nil {
		return err
	}
	return d.trackTo(ctx, s, s.cursor, math.MaxInt64)
}

// trackTo makes the tracker end at a cursor. If there is none in memory, it reads the archived bytes up to there. After
// limit bytes it returns errMore, and open continues.
func (d *Daemon) trackTo(ctx context.Context, s *session, at transcript.Cursor, limit int64) error {
	if s.tracked && at.Generation <= max(1, s.cursor.Generation) {
		return nil
	}
	if was := s.cursor.Generation; at.Generation > max(1, was) && !s.Unlined() {
		d.Log.Info("transcript replaced; the archive keeps its earlier content", "session", s.ID, "generation", at.Generation)
	}
	s.begin(d, transcript.Cursor{Generation: at.Generation})
	if at.Offset > 0 && s.Class != transcript.Attachment {
		next, stop := iter.Pull2(d.Archive.Reader(s.Key, at.Generation).Segments(ctx))
		s.replay = &replay{next, stop, at}
		return d.continueReplay(s, limit)
	}
	s.cursor = at
	return nil
}

// replay is the archived bytes of a generation that are still to be read. They must end at end.
type replay struct {
	next func() (transcript.Segment, error, bool)
	stop func()
	end  transcript.Cursor
}

// continueReplay reads the rest of the session's replay. After limit bytes it returns errMore.
func (d *Daemon) continueReplay(s *session, limit int64) error {
	for s.replay != nil {
		seg, err, more := s.replay.next()
		switch end := s.replay.end; {
		case err != nil:
			err = fmt.Errorf("read session %s: %w", s.ID, err)
		case d.tooLong(seg):
			err = errMainOnly
		case more:
			d.heartbeat()
			s.take(seg)
		case s.cursor.Offset != end.Offset: // another process appended
			err = archive.ErrTip
		default:
			s.replay, s.cursor = nil, end
			return nil
		}
		if err != nil {
			s.cursor = s.replay.end
			s.untrack()
			return err
		}
		if limit -= int64(len(seg.Data)); limit <= 0 {
			return errMore
		}
	}
	return nil
}

// begin starts an empty model at a cursor.
func (s *session) begin(d *Daemon, at transcript.Cursor) {
	s.cursor, s.tracked = at, true
	if s.Class != transcript.Attachment {
		s.decoder = d.Agents.NewDecoder(s.Agent, s.Class)
		s.model = compactor.New(d.options(s), s.Session)
		s.tracker = s.model.Tracker
		if at.Generation > 1 && !s.Unlined() { // its story begins in an earlier generation
			s.model = nil
		}
	}
}

// add takes a segment after the archive has stored it.
func (d *Daemon) add(ctx context.Context, s *session, seg transcript.Segment) error {
	switch {
	case s.Class == transcript.Attachment:
		s.cursor = seg.End
		return nil
	case s.decoder.ContinuesLine(seg):
		s.untrack()
		return d.track(ctx, s)
	}
	s.take(seg)
	return nil
}

// take reads a segment. A last line without a newline counts if it is whole JSON. A torn one waits for its end, or for
// takeTail: most torn lines are completed, and a line read too early costs another pass over the whole session.
func (s *session) take(seg transcript.Segment) {
	rest := seg.Rest
	seg.Rest = false
	s.feed(seg)
	s.cursor = seg.End
	if rest && s.decoder.Torn() == 0 {
		s.takeTail()
	}
}

// takeTail reads a torn last line as it is, for a companion that covers all bytes.
func (s *session) takeTail() { s.feed(transcript.Segment{Start: s.cursor, Rest: true}) }

func (s *session) feed(seg transcript.Segment) {
	for r := range s.decoder.Records(seg) {
		if s.model != nil {
			s.model.Add(r)
		} else {
			s.tracker.Add(r)
		}
	}
}

// untrack drops what was read of the session.
func (s *session) untrack() {
	if s.replay != nil {
		s.replay.stop()
		s.replay = nil
	}
	s.tracked, s.decoder, s.tracker, s.model = false, nil, nil, nil
}

// finishSync records the result of a sync, and drops the model. After an error the tracker is dropped too, and the next
// sync reads the session again. A conflict with another process is no failure and needs no pause.
func (d *Daemon) finishSync(s *session, err error) {
	if !errors.Is(err, errMore) && !s.byCommand {
		s.model = nil
	}
	if err == nil {
		s.failures = 0
	}
	if err == nil || errors.Is(err, errMore) || errors.Is(err, errLater) || errors.Is(err, errMainOnly) {
		return
	}
	if raced(err) {
		s.invalidate()
		return
	}
	d.damaged = d.damaged || errors.As(err, new(*archive.DamageError))
	if !errors.As(err, new(notPlacedError)) {
		s.untrack()
		s.isNew = false
	}
	s.failures++
	s.failedAt = s.sourceStat
	pause := d.Watch.ScanInterval / 2     // so that the next scan tries again
	if !errors.Is(err, archive.ErrFull) { // a full disk costs one check of the free space, and may end at any time
		pause <<= min(s.failures-1, 3)
	}
	s.retry = time.Now().Add(pause)
}

// invalidate makes the next sync load the session from the archive again, even if its file has not changed: another
// process has stored a change.
func (s *session) invalidate() {
	s.untrack()
	s.isNew = false
	s.state.Source = Stat{}
}

// offer returns the offer with which a command syncs the session: its file counts as at rest.
func (s *session) offer() watcher.Offer {
	return watcher.Offer{Path: s.Path, Root: watcher.Root{Agent: s.Agent, Path: s.Root}, Quiet: atRest}
}

// tailOptions returns how to read the end of the file. A last line without a newline is read if the file is at rest,
// and a torn one if it has been at rest for RefreshIdle.
func (s *session) tailOptions(d *Daemon, o watcher.Offer) watcher.TailOptions {
	return watcher.TailOptions{Rest: o.Quiet >= d.Watch.Settle, Torn: o.Quiet >= d.Watch.RefreshIdle, Scratch: &d.scratch, Heartbeat: d.Heartbeat}
}
