package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Rebuilt is the result of Rebuild.
type Rebuilt struct {
	Report        // of the new file; Damage lists what is missing in it
	Aside  string // path of the old file
}

// Rebuild replaces the archive's file by a new one with everything that is intact in it (see Salvage). The old file is
// kept beside it. Others wait for the lock meanwhile. A process that dies leaves the old file or the new one in place.
// Rebuild fails with ErrNotFound if there is no archive yet. progress, if not nil, is called with thousandths.
func (a *Archive) Rebuild(ctx context.Context, progress func(done, total int64)) (r Rebuilt, err error) {
	if a.o.ReadOnly {
		return r, ErrReadOnly
	}
	l, err := a.lock(ctx, true, nil)
	if errors.Is(err, errAbsent) {
		err = ErrNotFound
	}
	if err != nil {
		return r, fmt.Errorf("rebuild archive: %w", err)
	}
	defer func() {
		a.backoff.recordHold(l)
		l.release()
	}()
	if err := a.rebuild(ctx, l.data, &r, progress); err != nil {
		return r, fmt.Errorf("rebuild archive: %w", wrapFull(err))
	}
	return r, nil
}

func (a *Archive) rebuild(ctx context.Context, f *os.File, r *Rebuilt, progress func(done, total int64)) error {
	path, err := filepath.EvalSymlinks(a.path)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := a.checkSpace(dir, info.Size()); err != nil {
		return err
	}
	tmp, err := newFile(path)
	if err != nil {
		return err
	}
	defer os.Remove(tmp) // fails after the rename
	if r.Report, err = a.salvage(ctx, f, tmp, progress); err != nil {
		return err
	}
	if r.Aside, err = setAside(path, time.Now()); err != nil {
		return err
	}
	return a.swap(tmp, path)
}

// newFile returns the path of the file that is to replace the archive at path. It removes that of a process that was
// killed.
func newFile(path string) (tmp string, err error) {
	tmp = path + ".tmp"
	if err = os.Remove(tmp); errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return tmp, err
}

// swap puts a new file in the place of the archive at path, which has no symlinks.
func (a *Archive) swap(tmp, path string) error {
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	a.checked.Store(nil)
	a.recordFile(a.stat())
	return syncDir(filepath.Dir(path))
}

const asideSuffix = ".damaged-"

// setAside gives the file a second name. The first one stays, so that there is an archive at any time.
func setAside(path string, now time.Time) (aside string, err error) {
	for n := 0; ; n++ {
		aside = path + asideSuffix + now.UTC().Format("20060102-150405")
		if n > 0 {
			aside += fmt.Sprintf("-%d", n)
		}
		err = os.Link(path, aside)
		if !errors.Is(err, os.ErrExist) {
			break
		}
	}
	if err != nil { // perhaps a file system without hard links
		err = os.Rename(path, aside)
	}
	return aside, err
}

// Heal stores again what is damaged in a generation of a session. source has the bytes of the transcript. Heal fails
// with ErrDiffers, and changes nothing, unless they are the generation's: by its hash or, if the archive has lost that,
// by all intact bytes. It returns how many bytes it has stored.
func (a *Archive) Heal(ctx context.Context, k transcript.Key, generation int, source io.ReaderAt) (healed int64, err error) {
	h := &healer{a: a, r: a.Reader(k, generation), source: source}
	for _, step := range []func(context.Context) error{h.load, h.compare, h.store} {
		if err := step(ctx); err != nil {
			return h.healed, fmt.Errorf("heal generation %d of session %s %s: %w", generation, k.Agent, k.ID, err)
		}
	}
	return h.healed, nil
}

// ErrDiffers is returned if a source does not have the archived bytes.
var ErrDiffers = errors.New("the source has other bytes")

// healer is one Heal.
type healer struct {
	a       *Archive
	r       *Reader
	source  io.ReaderAt
	session sessionRecord
	gen     generationRecord
	last    generationRecord // of the newest generation: where the track's tail begins
	was     []byte           // the newest generation's record as stored
	file    string           // identifies the archive's file
	damaged []portion
	sum     generationRecord // with the hash of the source
	unknown bool             // the generation's hash was lost
	healed  int64
}

// load reads the records.
func (h *healer) load(ctx context.Context) (err error) {
	if h.gen, err = h.r.generation(ctx); err != nil {
		return err
	}
	return h.a.view(ctx, func(tx *bolt.Tx) error { return h.newest(tx) })
}

func (h *healer) newest(tx *bolt.Tx) (err error) {
	if h.session, _, err = getSession(tx, h.r.key); err == nil {
		s := newStream(h.session.Num, h.session.Generation)
		h.last, err = mustGeneration(tx, s)
		h.file = fileOf(tx)
		h.was = bytes.Clone(tx.Bucket(bucketGenerations).Get(s[:]))
	}
	if err != nil {
		return h.r.damage(0, err)
	}
	return nil
}

// compare finds the damaged stretches, and compares the others with the source.
func (h *healer) compare(ctx context.Context) error {
	sum, buf := sha256.New(), []byte(nil)
	for p, err := range h.r.portions(ctx, 0, h.gen.Offset) {
		if err != nil && !errors.As(err, new(*DamageError)) {
			return err
		}
		for off := p.off; off < p.end; off += int64(len(buf)) {
			if buf, err = readSpan(h.source, buf, off, min(p.end, off+maxFrame)); err != nil {
				return err
			}
			if p.data != nil && !bytes.Equal(buf, p.data[off-p.off:][:len(buf)]) {
				return ErrDiffers
			}
			sum.Write(buf)
		}
		if p.data == nil {
			h.damaged = append(h.damaged, p)
		}
	}
	want, err := h.gen.sum()
	if err != nil {
		return h.r.damage(0, err)
	}
	h.unknown = want == mark.Hash(unknownHash().Sum(nil))
	if h.unknown && h.gen.Offset == 0 || !h.unknown && mark.Hash(sum.Sum(nil)) != want {
		return ErrDiffers // with nothing to compare, any source would do
	}
	return h.sum.setHash(sum)
}

// readSpan reads the source's bytes from off to end. A source that is shorter differs.
func readSpan(source io.ReaderAt, buf []byte, off, end int64) ([]byte, error) {
	if int64(cap(buf)) < end-off {
		buf = make([]byte, end-off)
	}
	buf = buf[:end-off]
	n, err := source.ReadAt(buf, off)
	if n == len(buf) {
		return buf, nil
	}
	if errors.Is(err, io.EOF) {
		err = ErrDiffers
	}
	return buf, err
}

// store writes the damaged stretches as new blocks.
func (h *healer) store(ctx context.Context) error {
	for _, p := range h.damaged {
		e := h.r.layout.find(p.off)
		for off := p.off; off < p.end; {
			at := e.At + off - e.Off // in the track
			end := min(p.end-off, maxFrame) + at
			tail := h.last.Cut.Start
			if h.last.Track != h.r.stream.generation() {
				tail = h.gen.Cut.Start
			}
			if at < tail {
				end = min(end, tail)
			}
			raw, err := readSpan(h.source, nil, off, off+end-at)
			if err != nil {
				return err
			}
			b := &packed{block: block{Off: at, Len: end - at, Tail: at >= tail, Sum: mark.Sum(raw)}}
			b.stored = h.a.pack(raw, envelope{h.r.key, transcript.Class(h.session.Class), h.r.stream.generation(), b.Off, b.Len}, b.Sum)
			if err := h.a.reuse(ctx, b); err != nil {
				return err
			}
			err = h.a.update(ctx, int64(len(b.stored)), func(tx *bolt.Tx) error {
				err := h.unchanged(tx)
				if err == nil && !b.shared {
					err = tx.Bucket(bucketHash).Delete(b.Sum[:]) // it may lead to the damaged frame
				}
				if err != nil {
					return err
				}
				return b.write(tx, h.r.stream)
			})
			if err != nil {
				return err
			}
			h.healed += b.Len
			off += b.Len
		}
	}
	if !h.unknown {
		return nil
	}
	return h.a.update(ctx, 0, func(tx *bolt.Tx) error {
		if err := h.unchanged(tx); err != nil {
			return err
		}
		h.gen.Hash = h.sum.Hash
		return putGeneration(tx, newStream(h.session.Num, h.r.n), h.gen)
	})
}

// unchanged fails with ErrTip if something was appended meanwhile.
func (h *healer) unchanged(tx *bolt.Tx) error {
	now := healer{a: h.a, r: h.r}
	if err := now.newest(tx); err != nil {
		return err
	}
	if !bytes.Equal(now.was, h.was) || now.file != h.file {
		return fmt.Errorf("%w: the session has changed meanwhile", ErrTip)
	}
	return nil
}
