package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"ccd/archive"
	"ccd/internal/mark"
	"ccd/internal/remote/pulled"
	"ccd/internal/transcript"
)

// update adds packs to the archive of a machine, in order.
type update struct {
	head  *Head
	to    *archive.Archive
	void  map[transcript.Key]int64
	here  map[transcript.Key]tip
	sums  map[transcript.Key][]byte // of the last generation of sessions with new bytes
	bytes int64

	batch  []archive.Addition // not stored yet, one for each session at most
	size   int
	states map[transcript.Key]archive.Change
}

// tip is the end of a session in the archive.
type tip struct {
	transcript.Cursor
	state []byte
}

func (r *Reader) openUpdate(ctx context.Context, h *Head) (*update, error) {
	a, err := archive.Open(pulled.Archive(r.o.Dir, h.machine), r.o.Archive)
	if err != nil {
		return nil, err
	}
	all, err := a.Sessions(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what was pulled: %w", err)
	}
	u := &update{head: h, to: a, void: tombstones(h.inner.Forgotten), here: map[transcript.Key]tip{}, sums: map[transcript.Key][]byte{}}
	for _, s := range all {
		u.here[s.Key] = tip{s.Tip(), s.State}
	}
	return u, nil
}

// remove removes what was forgotten since the pack with number at.
func (u *update) remove(ctx context.Context, at int64) (int, error) {
	var gone archive.Removal
	for k, before := range u.void {
		if _, ok := u.here[k]; ok && before > at {
			gone.Sessions = append(gone.Sessions, k)
			delete(u.here, k)
		}
	}
	if len(gone.Sessions) == 0 {
		return 0, nil
	}
	_, err := u.to.Compact(ctx, gone, nil)
	return len(gone.Sessions), wrap(err, "remove what was forgotten")
}

// add adds what a pack has and is not void.
func (u *update) add(ctx context.Context, n number, parts []Part, data []byte) error {
	u.states = map[transcript.Key]archive.Change{}
	for _, part := range parts {
		k := part.Session.Key
		void := n.last < u.void[k]
		for _, t := range part.Stretches {
			piece := data[:t.Len]
			if data = data[t.Len:]; void {
				continue
			}
			if err := u.stretch(ctx, part.Session, t, piece); err != nil {
				return err
			}
		}
		if part.State != nil && !void {
			u.states[k] = archive.Change{Session: part.Session, Old: u.here[k].state, New: part.State}
		}
	}
	if err := u.flush(ctx); err != nil || len(u.states) == 0 {
		return err
	}
	var changes []archive.Change
	for k, c := range u.states {
		at := u.here[k]
		at.state = c.New
		changes, u.here[k] = append(changes, c), at
	}
	return u.save(ctx, nil, changes)
}

// stretch adds a stretch, if it is not here already.
func (u *update) stretch(ctx context.Context, s transcript.Session, t Stretch, piece []byte) error {
	at := u.here[s.Key]
	begins := t.Generation == at.Generation+1 && t.Off == 0
	switch {
	case begins:
		at.Cursor = transcript.Cursor{Generation: t.Generation}
	case t.Generation < at.Generation, t.Generation == at.Generation && t.Off+t.Len <= at.Offset:
		return nil
	case t.Generation > at.Generation || t.Off > at.Offset:
		return badCopy(prefixOf(u.head.machine), "bytes of session %s are missing from generation %d, offset %d on", s.ID, max(at.Generation, 1), at.Offset)
	}
	for _, b := range u.batch {
		if b.Session.Key == s.Key || u.size > maxPiece {
			if err := u.flush(ctx); err != nil {
				return err
			}
			break
		}
	}
	piece = piece[at.Offset-t.Off:] // an interrupted pull has stored the beginning
	start := transcript.Cursor{Generation: at.Generation, Offset: at.Offset}
	if at.Offset += int64(len(piece)); start.Offset == 0 {
		at.Head = fingerprint(piece[:min(len(piece), printed)])
	}
	at.Back = fingerprint(piece[max(0, len(piece)-printed):])
	u.batch = append(u.batch, archive.Addition{Session: s, Segment: transcript.Segment{Start: start, Data: piece, End: at.Cursor}})
	u.size += len(piece)
	u.here[s.Key], u.sums[s.Key] = at, t.Sum
	return nil
}

// printed is the largest number of bytes that a fingerprint covers.
const printed = 4096

func fingerprint(b []byte) transcript.Fingerprint {
	if len(b) == 0 {
		return transcript.Fingerprint{}
	}
	return transcript.Fingerprint{N: int64(len(b)), Sum: mark.Sum(b)}
}

// flush stores the batch in one transaction.
func (u *update) flush(ctx context.Context) error {
	if len(u.batch) == 0 {
		return nil
	}
	err := u.save(ctx, u.batch, nil)
	u.bytes += int64(u.size)
	u.batch, u.size = nil, 0
	return err
}

func (u *update) save(ctx context.Context, batch []archive.Addition, changes []archive.Change) error {
	stale, err := u.to.Save(ctx, batch, changes)
	if err == nil && len(stale) > 0 {
		err = errors.New("another ccd remote pull is running")
	}
	return wrap(err, "store sessions")
}

// check compares the sessions with new bytes with what their machine has.
func (u *update) check(ctx context.Context) error {
	if len(u.sums) == 0 {
		return nil
	}
	all, err := u.to.Sessions(ctx)
	if err != nil {
		return fmt.Errorf("read what was pulled: %w", err)
	}
	for _, s := range all {
		sum, ok := u.sums[s.Key]
		if g := s.Generations[len(s.Generations)-1]; ok && !bytes.Equal(sum, g.Sum[:]) {
			return badCopy(prefixOf(u.head.machine), "session %s has another hash than on its machine", s.ID)
		}
	}
	return nil
}
