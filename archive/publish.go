package archive

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/transcript"
)

// Publication is a companion, or another text with IDs, that is about to be put in place.
type Publication struct {
	Key      transcript.Key
	At       transcript.Cursor    // the tip that it was made from: must be the stored one (generation and offset)
	State    []byte               // the state that it was made from: must equal the stored one
	Pointers []transcript.Pointer // of its IDs, in generation At.Generation or, by their spans, in other files of its story
	// Replace puts the text in place and returns the state to store. It is called under the lock, so it must be quick:
	// prepare everything except the rename before Publish. If it is nil, the caller puts the text in place afterwards,
	// and the state stays.
	Replace func() (state []byte, err error)
}

// Publish indexes the IDs of a publication durably, then calls Replace, then stores the new state. It fails with
// ErrStale if the tip or the state have changed. Pointers that are indexed already cost one lookup. If Replace fails,
// its error is returned and the state stays; the IDs stay indexed.
func (a *Archive) Publish(ctx context.Context, p Publication) (err error) {
	defer wrap(&err, "publish session %s %s", p.Key.Agent, p.Key.ID)
	found, err := a.locate(ctx, p)
	if err != nil {
		return err
	}
	s, err := a.openWrite(ctx, int64(len(found))*pointerSize)
	if err != nil {
		return err
	}
	defer s.close()
	err = s.view(func(tx *bolt.Tx) error {
		found = slices.DeleteFunc(found, func(f Found) bool { return f.indexed(tx) })
		return s.a.checkCurrent(tx, p)
	})
	if err == nil && len(found) > 0 {
		err = s.update(func(tx *bolt.Tx) error { return putPointers(tx, found) })
	}
	if err != nil || p.Replace == nil {
		return err
	}
	state, err := p.Replace()
	if err != nil || bytes.Equal(state, p.State) {
		return err
	}
	return s.update(func(tx *bolt.Tx) error { return putState(tx, p.Key, state) })
}

// checkCurrent fails with ErrStale if the tip or the state are not those of p.
func (a *Archive) checkCurrent(tx *bolt.Tx, p Publication) error {
	r, g, err := getCurrent(tx, p.Key)
	if err != nil {
		return a.damageIn(p.Key, p.At, err)
	}
	if r.Key != p.Key {
		return ErrNotFound
	}
	if r.Generation != p.At.Generation || g.Offset != p.At.Offset {
		return fmt.Errorf("%w: made from generation %d, offset %d, the tip is generation %d, offset %d",
			ErrStale, p.At.Generation, p.At.Offset, r.Generation, g.Offset)
	}
	if state, _ := getState(tx, p.Key); !bytes.Equal(state, p.State) {
		return fmt.Errorf("%w: its state has changed", ErrStale)
	}
	return nil
}

// pointerSize is about how many bytes a pointer needs in the index.
const pointerSize = 256

// indexed reports whether it is in the index.
func (f Found) indexed(tx *bolt.Tx) bool {
	was, err := get(tx, kindID, pointerKey(f.Pointer))
	return err == nil && was != nil
}

// locate checks the pointers, and finds the generations that they are in.
func (a *Archive) locate(ctx context.Context, p Publication) (all []Found, err error) {
	r := a.Reader(p.Key, p.At.Generation)
	for _, ptr := range p.Pointers {
		f, err := r.Locate(ctx, ptr)
		tip := p.At.Offset
		if f.Key != p.Key || f.Generation < p.At.Generation {
			tip = math.MaxInt64
		}
		if err == nil {
			err = checkPointer(f.Pointer, tip)
		}
		if err != nil {
			return nil, fmt.Errorf("index id %s: %w", ptr.Hash.ID(), err)
		}
		all = append(all, f)
	}
	return all, nil
}

// Locate returns where a pointer of a story (Archive.Story) of the generation is. All its parts are in one generation.
// It fails with ErrNotFound if that is not archived.
func (r *Reader) Locate(ctx context.Context, p transcript.Pointer) (Found, error) {
	f := Found{Pointer: p, Key: r.key, Generation: r.n}
	if len(p.Parts) == 0 || p.Parts[0].Span.Off >= 0 {
		return f, nil
	}
	back, _ := p.Parts[0].Span.Generation()
	other, err := r.sibling(ctx, back)
	if err != nil {
		return f, err
	}
	f.Key, f.Generation, f.Parts = other.key, other.n, slices.Clone(p.Parts)
	for i := range f.Parts {
		f.Parts[i].Span = f.Parts[i].Span.Earlier(-back)
	}
	return f, nil
}

func checkPointer(p transcript.Pointer, tip int64) error {
	if len(p.Parts) == 0 || p.Shape != transcript.List && len(p.Parts) != 1 {
		return fmt.Errorf("%d parts", len(p.Parts))
	}
	for _, part := range p.Parts {
		if s := part.Span; s.Off < 0 || s.Len < 0 || s.End() < s.Off || s.End() > tip {
			return fmt.Errorf("span %d to %d is not archived, the tip is %d", s.Off, s.End(), tip)
		}
	}
	return nil
}

func putPointers(tx *bolt.Tx, all []Found) error {
	for _, f := range all {
		if err := put(tx, kindID, pointerKey(f.Pointer), encodePointer(f.Key, f.Generation, f.Pointer)); err != nil {
			return err
		}
	}
	return nil
}
