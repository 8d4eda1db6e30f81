package archive

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"slices"
	"time"

	"ccd/internal/atomicfile"
	"ccd/internal/mark"
	"ccd/internal/ownfile"
	"ccd/internal/transcript"
)

// ErrForgotten is returned for a session that Forget has removed.
var ErrForgotten = errors.New("forgotten")

// Text is a run of bytes to forget in all transcripts.
type Text struct {
	Bytes    []byte
	From, To int  // the part that is replaced; the rest only tells where
	Fill     byte // what replaces it
}

// tombstone says where something was forgotten, so that it does not come back from a transcript, a backup or another machine. It
// has nothing of it: a place is an offset in a session and all bytes before it, with what was forgotten in them replaced. So it is
// the same one in each generation that begins with these bytes. The same text elsewhere, or pasted later, is another place.
type tombstone struct {
	Time    time.Time      `json:"time"`
	Session transcript.Key `json:"session"` // the ID encoded by mark.Name
	Offset  int64          `json:"offset,omitempty"`
	Length  int64          `json:"length,omitempty"` // 0: the whole session
	Fill    byte           `json:"fill,omitempty"`
	Before  []byte         `json:"before,omitempty"` // SHA-256 of the bytes before it
}

// tombstones are the tombstones of an archive. Nil has none.
type tombstones struct {
	all      []tombstone
	sessions map[transcript.Key]time.Time
	places   map[transcript.Key][]tombstone // by offset
	info     os.FileInfo                    // of their file when it was read
}

// tombstonesPath returns the path of the tombstones of the archive at path. They are not in the archive, so that damage of it does
// not affect them.
func tombstonesPath(path string) string { return path + ".forgotten" }

// tombstones returns the tombstones. They are read again only if their file has changed.
func (a *Archive) tombstones() (*tombstones, error) {
	if a.places != nil {
		return a.places, nil
	}
	path := tombstonesPath(a.path)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		a.lastTombstones.Store(nil)
		return nil, nil
	}
	if t := a.lastTombstones.Load(); err == nil && t != nil && os.SameFile(t.info, info) && t.info.ModTime().Equal(info.ModTime()) {
		return t, nil
	}
	var b []byte
	if err == nil {
		b, err = ownfile.Read(path, maxTombstones)
	}
	var all []tombstone
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil { // not archiving is better than storing what was forgotten
		return nil, fmt.Errorf("read what was forgotten: %s: %w; without this file, ccd stores it again if a transcript has it", path, err)
	}
	t := newTombstones(all)
	t.info = info
	a.lastTombstones.Store(t)
	return t, nil
}

func newTombstones(all []tombstone) *tombstones {
	t := &tombstones{all: all, sessions: map[transcript.Key]time.Time{}, places: map[transcript.Key][]tombstone{}}
	for _, one := range all {
		k := transcript.Key{Agent: one.Session.Agent, ID: mark.Unname(one.Session.ID)}
		if one.Length == 0 {
			t.sessions[k] = one.Time
		} else {
			t.places[k] = append(t.places[k], one)
		}
	}
	for _, places := range t.places {
		slices.SortStableFunc(places, func(x, y tombstone) int { return cmp.Compare(x.Offset, y.Offset) })
	}
	return t
}

// with returns the tombstones and more of them, each once: a rewrite that was interrupted is run again.
func (t *tombstones) with(more []tombstone) *tombstones {
	if t != nil {
		more = slices.Concat(t.all, more)
	}
	known := map[string]bool{}
	var once []tombstone
	for _, one := range more {
		place := one
		place.Time = time.Time{}
		if key := fmt.Sprint(place); !known[key] {
			known[key] = true
			once = append(once, one)
		}
	}
	return newTombstones(once)
}

// maxTombstones bounds the file of tombstones, in bytes: a million places. What is more could not be read again.
const maxTombstones = 256 << 20

// store writes the file of tombstones.
func (t *tombstones) store(a *Archive) error {
	b, err := json.Marshal(t.all)
	if len(b) > maxTombstones {
		err = fmt.Errorf("too many places (%d)", len(t.all))
	}
	if err == nil {
		err = atomicfile.Write(tombstonesPath(a.path), 0o600, b)
	}
	if err != nil {
		return fmt.Errorf("write tombstones: %w", err)
	}
	return nil
}

// Forgotten returns the sessions that Forget has removed, and when. It fails if their file cannot be read.
func (a *Archive) Forgotten() (map[transcript.Key]time.Time, error) {
	t, err := a.tombstones()
	if t == nil {
		return nil, err
	}
	return t.sessions, err
}

// Forgets reports whether the session, or the session that it belongs to, was forgotten: Append refuses it.
func (a *Archive) Forgets(s transcript.Session) bool {
	t, _ := a.tombstones() // Append fails
	return t.forgets(s)
}

func (t *tombstones) forgets(s transcript.Session) bool {
	if t == nil {
		return false
	}
	_, own := t.sessions[s.Key]
	_, parents := t.sessions[transcript.Key{Agent: s.Agent, ID: s.Parent}]
	return own || s.Parent != "" && parents
}

// Masker replaces what was forgotten in the bytes of a transcript, which it gets in order. Nil replaces nothing.
type Masker struct {
	places []tombstone   // that are still to come
	open   []maskedRange // that the next bytes may be in
	off    int64         // of the next byte
	sum    hash.Hash
	filled []maskedRange
}

// Filler returns the filler for the bytes of a session's transcript from the first one on.
func (a *Archive) Filler(k transcript.Key) *Masker {
	t, _ := a.tombstones() // Append fails
	return t.masker(k)
}

func (t *tombstones) masker(k transcript.Key) *Masker {
	if t == nil || len(t.places[k]) == 0 {
		return nil
	}
	return &Masker{places: t.places[k], sum: sha256.New()}
}

// masked returns what may have been forgotten in a session.
func (t *tombstones) masked(k transcript.Key) (all []maskedRange) {
	if t == nil {
		return nil
	}
	for _, p := range t.places[k] {
		all = append(all, p.masked())
	}
	return joinRanges(all)
}

// Mask replaces what was forgotten in the next bytes, and reports whether there was any.
func (f *Masker) Mask(data []byte) (any bool) {
	if f == nil {
		return false
	}
	end := f.off + int64(len(data))
	to := func(off int64) {
		part := data[:off-f.off]
		any = mask(part, f.off, f.open) || any
		f.sum.Write(part)
		data, f.off = data[len(part):], off
		f.open = slices.DeleteFunc(f.open, func(h maskedRange) bool { return h.to <= off })
	}
	for len(f.places) > 0 && f.places[0].Offset < end {
		p := f.places[0]
		if f.places = f.places[1:]; p.Offset < f.off {
			continue
		}
		if to(p.Offset); bytes.Equal(p.Before, f.sum.Sum(nil)) {
			f.open, f.filled = append(f.open, p.masked()), append(f.filled, p.masked())
		}
	}
	to(end)
	return any
}

func (p tombstone) masked() maskedRange {
	return maskedRange{from: p.Offset, to: p.Offset + p.Length, fill: p.Fill}
}

// continued returns the filler for the bytes after those of a stored generation, of which sum is the hash.
func (t *tombstones) continued(ctx context.Context, r *Reader, off int64, sum hash.Hash) (*Masker, error) {
	f := t.masker(r.key)
	if f == nil || off == 0 {
		return f, nil
	}
	f.off, f.sum = off, sum
	for _, p := range f.places {
		if p.Offset >= off || p.masked().to <= off {
			continue
		}
		begun, err := r.Span(ctx, transcript.Span{Off: p.Offset, Len: off - p.Offset})
		if err := skipDamage(err); err != nil {
			return nil, err
		}
		if err == nil && len(bytes.Trim(begun, string(rune(p.Fill)))) == 0 {
			f.open = append(f.open, p.masked())
		}
	}
	return f, nil
}

// maskedRange is a stretch of bytes to be replaced.
type maskedRange struct {
	from, to int64
	fill     byte
	isNew    bool // it was not replaced before
}

// occurrences returns where the texts are in data, which begins at off, in no order.
func occurrences(data []byte, off int64, texts []Text) (holes []maskedRange) {
	for _, t := range texts {
		for at := 0; ; at++ {
			i := bytes.Index(data[at:], t.Bytes)
			if i < 0 {
				break
			}
			at += i
			holes = append(holes, maskedRange{from: off + int64(at+t.From), to: off + int64(at+t.To), fill: t.Fill})
		}
	}
	return holes
}

// mask replaces the holes in data, which begins at off, and reports whether there are any.
func mask(data []byte, off int64, holes []maskedRange) (any bool) {
	end := off + int64(len(data))
	for n, h := range holes {
		for i := max(h.from, off); i < min(h.to, end); i++ {
			any, holes[n].isNew = true, holes[n].isNew || data[i-off] != h.fill
			data[i-off] = h.fill
		}
	}
	return any
}

// joinRanges sorts holes and joins those that overlap.
func joinRanges(holes []maskedRange) (joined []maskedRange) {
	slices.SortStableFunc(holes, func(x, y maskedRange) int { return cmp.Compare(x.from, y.from) })
	for _, h := range holes {
		if i := len(joined) - 1; i >= 0 && h.from < joined[i].to {
			h.from = joined[i].to
		}
		if h.from < h.to {
			joined = append(joined, h)
		}
	}
	return joined
}

// overlapping returns those of sorted holes that overlap the bytes from from to to.
func overlapping(holes []maskedRange, from, to int64) []maskedRange {
	i, _ := slices.BinarySearchFunc(holes, from, func(h maskedRange, from int64) int { return cmp.Compare(h.to-1, from) })
	n, _ := slices.BinarySearchFunc(holes[i:], to, func(h maskedRange, to int64) int { return cmp.Compare(h.from, to) })
	return holes[i : i+n]
}
