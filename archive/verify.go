package archive

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/transcript"
)

// Report is what Verify has read, and the damage that it met.
type Report struct {
	Sessions, Generations, Frames, Pieces, Pointers, Summaries int
	Bytes                                                      int64 // raw bytes of transcripts that were read and hashed
	Damage                                                     []*DamageError
}

// verifyBatch is how many pointers are sorted at a time: about 100 bytes each.
const verifyBatch = 50_000

// Verify reads everything and checks every hash: each block of each generation, the whole of each generation, frames
// that no generation uses, what each pointer stands for, and the summaries. Damage is listed, and the rest goes on; err is for what
// stops it. progress, if not nil, is called with raw bytes now and then, never under the lock.
func (a *Archive) Verify(ctx context.Context, progress func(done, total int64)) (Report, error) {
	v := verifier{a: a, progress: progress, frames: map[uint64]bool{}}
	for _, step := range []func(context.Context) error{v.id, v.list, v.generations, v.strays, v.pointers, v.summaries} {
		if err := step(ctx); err != nil {
			return v.Report, fmt.Errorf("verify archive: %w", err)
		}
	}
	return v.Report, nil
}

type verifier struct {
	Report
	a        *Archive
	progress func(done, total int64)
	total    int64
	sessions []transcript.Key
	frames   map[uint64]bool // that a manifest leads to, and that are sound
}

// met lists err if it is damage, and returns it otherwise.
func (v *verifier) met(err error) error {
	var d *DamageError
	if errors.As(err, &d) {
		v.Damage = append(v.Damage, d)
		return nil
	}
	return err
}

func (v *verifier) tell(n int) {
	v.Bytes += int64(n)
	if v.progress != nil {
		v.progress(v.Bytes, max(v.total, v.Bytes))
	}
}

// id reads the archive's own.
func (v *verifier) id(ctx context.Context) error {
	_, err := v.a.ID(ctx)
	return v.met(err)
}

// list reads the records of all sessions.
func (v *verifier) list(ctx context.Context) error {
	all, err := v.a.Sessions(ctx)
	for _, s := range all {
		for _, g := range s.Generations {
			v.total += g.Tip.Offset
		}
		v.Sessions++
		if err := v.met(s.StateDamage); err != nil {
			return err
		}
		v.sessions = append(v.sessions, s.Key)
	}
	for _, err := range Damages(err) {
		if err := v.met(err); err != nil {
			return err
		}
	}
	return v.met(v.a.checkForm(ctx, bucketIDs, bucketManifest))
}

func (v *verifier) generations(ctx context.Context) error {
	for _, k := range v.sessions {
		s, err := v.a.Session(ctx, k)
		if err := v.met(err); err != nil {
			return err
		}
		for _, g := range s.Generations {
			v.Generations++
			if err := v.generation(ctx, k, g.N); err != nil {
				return err
			}
		}
	}
	return nil
}

// generation reads one generation block by block.
func (v *verifier) generation(ctx context.Context, k transcript.Key, n int) error {
	r := v.a.Reader(k, n)
	g, err := r.generation(ctx)
	if err != nil {
		return v.met(err)
	}
	sum, sound := sha256.New(), true
	for at := int64(0); at < g.Offset; {
		b, err := r.load(ctx, at, g.Offset, false)
		if err != nil {
			if err := v.met(err); err != nil {
				return err
			}
			sound = false
			if at, err = r.behind(ctx, at); err != nil {
				return v.met(err)
			}
			continue
		}
		v.seen(b.block)
		data := b.raw[at-b.Off : min(b.end(), g.Offset)-b.Off]
		sum.Write(data)
		v.tell(len(data))
		at = b.end()
	}
	if sound {
		if err := g.matches(sum); err != nil {
			return v.met(r.damage(g.Offset, err))
		}
	}
	return nil
}

func (v *verifier) seen(b block) {
	switch {
	case b.Tail:
		v.Pieces++
	case !v.frames[b.ID]:
		v.frames[b.ID] = true
		v.Frames++
	}
}

// behind returns where the next block after a damaged one at off starts.
func (r *Reader) behind(ctx context.Context, off int64) (next int64, err error) {
	r.ahead = nil
	err = r.a.view(ctx, func(tx *bolt.Tx) error {
		c := tx.Bucket(bucketManifest).Cursor()
		k, _ := c.Seek(manifestKey(r.stream, off+1))
		if !bytes.HasPrefix(k, r.stream[:]) || len(k) != len(r.stream)+8 {
			next = r.tip
			return nil
		}
		next = int64(binary.BigEndian.Uint64(k[len(r.stream):]))
		return nil
	})
	return next, err
}

// strays checks the frames that are known by hash and that no generation has led to.
func (v *verifier) strays(ctx context.Context) error {
	var blocks []block
	err := v.a.each(ctx, bucketHash, func(_ *bolt.Tx, key, value []byte) error {
		b, err := parseShared(key, value)
		if err != nil {
			return v.met(v.a.damage("frame index: %w", err))
		}
		if !v.frames[b.ID] {
			blocks = append(blocks, b)
		}
		return nil
	})
	if err := v.met(err); err != nil {
		return err
	}
	for _, b := range blocks {
		err := v.a.checkFrame(ctx, b)
		if err := v.met(err); err != nil {
			return err
		}
		if err == nil {
			v.Frames++
		}
	}
	return nil
}

// checkFrame reads one frame and checks it.
func (a *Archive) checkFrame(ctx context.Context, b block) error {
	var data []byte
	err := a.view(ctx, func(tx *bolt.Tx) (err error) {
		data, err = getChunks(b.bucket(tx), b.ID, nil)
		if err != nil {
			err = a.damage("frame %d: %w", b.ID, err)
		}
		return err
	})
	if err != nil {
		return err
	}
	if _, err := a.unpack(b, data, nil); err != nil {
		return a.damage("frame %d: %w", b.ID, err)
	}
	return nil
}

// place is where a pointer leads; pointers are checked in the order of their places, so that blocks are read once.
type place struct {
	key  [33]byte
	sess transcript.Key
	gen  int
	off  int64
}

func (v *verifier) pointers(ctx context.Context) error {
	var places []place
	var last []byte
	for more := true; more; {
		var err error
		last, more, err = v.a.page(ctx, bucketIDs, last, func(_ *bolt.Tx, key, value []byte) error {
			f, err := parsePointer(key, value)
			if err == nil && (len(key) != len(place{}.key) || len(f.Parts) == 0) {
				err = errMismatch
			}
			if err != nil {
				return v.met(&DamageError{Path: v.a.path, ID: f.Hash.ID(), Err: err})
			}
			places = append(places, place{[33]byte(key), f.Key, f.Generation, f.Parts[0].Span.Off})
			return nil
		})
		if err := v.met(err); err != nil {
			return err
		}
		if len(places) < verifyBatch && more {
			continue
		}
		if err := v.visit(ctx, places); err != nil {
			return err
		}
		places = places[:0]
	}
	return nil
}

func (v *verifier) visit(ctx context.Context, places []place) error {
	slices.SortFunc(places, func(x, y place) int {
		return cmp.Or(cmp.Compare(x.sess.Agent, y.sess.Agent), cmp.Compare(x.sess.ID, y.sess.ID),
			cmp.Compare(x.gen, y.gen), cmp.Compare(x.off, y.off))
	})
	var r *Reader
	for i, p := range places {
		if i == 0 || p.sess != places[i-1].sess || p.gen != places[i-1].gen {
			r = v.a.Reader(p.sess, p.gen)
		}
		if err := v.pointer(ctx, r, p); err != nil {
			return err
		}
	}
	v.Pointers += len(places)
	return nil
}

func (v *verifier) pointer(ctx context.Context, r *Reader, p place) error {
	var f Found
	err := v.a.view(ctx, func(tx *bolt.Tx) (err error) {
		f, err = parsePointer(p.key[:], tx.Bucket(bucketIDs).Get(p.key[:]))
		return err
	})
	if err != nil {
		return v.met(&DamageError{Path: v.a.path, ID: f.Hash.ID(), Err: err})
	}
	return v.met(r.verify(ctx, f.Pointer))
}
