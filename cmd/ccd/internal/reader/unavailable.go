package reader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"ccd/archive"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// maxChecked bounds what showing a companion reads of the archive to see whether its originals are sound, in decoded bytes.
// Beyond it `ccd verify` tells.
const maxChecked = 32 << 20

// Checked looks up what the IDs of a companion stand for, and says so in the text where the original is damaged. What
// the index does not know is left as it is.
func (l *Library) Checked(ctx context.Context, text []byte) ([]byte, []transcript.Pointer, error) {
	var known []transcript.Pointer
	var found []archive.Found
	lost := map[mark.ID]string{} // the transcript that held it
	for _, id := range mark.IDs(string(text)) {
		got, err := l.Archive.Lookup(ctx, string(id))
		switch damaged := errors.As(err, new(*archive.DamageError)); {
		case len(got) > 0:
			known = append(known, got[0].Pointer)
			found = append(found, got[0])
		case damaged:
			lost[id] = "index"
		case err != nil:
			return nil, nil, fmt.Errorf("look up %s: %w", id, err)
		}
	}
	bad, _ := l.damaged(ctx, found)
	for id, key := range bad {
		lost[id] = l.Of(ctx, key).Path
	}
	return unavailable(text, lost), known, ctx.Err()
}

// damaged tells which originals cannot be given back, and whose they are. It reads them in the order of the archive, so that
// each block is decoded once: in one goroutine from the first on, in another from the last one, until they meet. read is how
// many bytes were decoded.
func (l *Library) damaged(ctx context.Context, found []archive.Found) (bad map[mark.ID]transcript.Key, read int64) {
	slices.SortStableFunc(found, func(x, y archive.Found) int { return cmp.Compare(sizeOf(x), sizeOf(y)) })
	var size int64
	for i, f := range found { // small ones are many, and a few large ones would be all that is read
		if size += sizeOf(f); size > maxChecked {
			found = found[:i]
			break
		}
	}
	slices.SortStableFunc(found, func(x, y archive.Found) int {
		return cmp.Or(cmp.Compare(x.Key.Agent, y.Key.Agent), cmp.Compare(x.Key.ID, y.Key.ID), cmp.Compare(x.Generation, y.Generation),
			slices.CompareFunc(x.Parts, y.Parts, func(x, y transcript.Part) int { return cmp.Compare(x.Span.Off, y.Span.Off) }))
	})
	var mu sync.Mutex
	bad = map[mark.ID]transcript.Key{}
	check := func(first bool) {
		var r *archive.Reader
		var of archive.Found // of r
		for {
			mu.Lock()
			if len(found) == 0 || read >= maxChecked || ctx.Err() != nil {
				mu.Unlock()
				return
			}
			f := found[len(found)-1]
			if first {
				f, found = found[0], found[1:]
			} else {
				found = found[:len(found)-1]
			}
			mu.Unlock()
			if r == nil || f.Key != of.Key || f.Generation != of.Generation {
				r, of = l.Archive.Reader(f.Key, f.Generation), f
			}
			before := r.Decoded()
			err := r.CheckPointer(ctx, f.Pointer)
			mu.Lock()
			if read += r.Decoded() - before; errors.As(err, new(*archive.DamageError)) {
				bad[f.Hash.ID()] = f.Key
			}
			mu.Unlock()
		}
	}
	var other sync.WaitGroup
	other.Go(func() { check(true) })
	check(false)
	other.Wait()
	return bad, read
}

// sizeOf is how many bytes an original takes in its transcript.
func sizeOf(f archive.Found) (n int64) {
	for _, p := range f.Parts {
		n += p.Span.Len
	}
	return n
}

// unavailable puts what is lost in the place of the markers of originals that cannot be given back.
func unavailable(text []byte, lost map[mark.ID]string) []byte {
	if len(lost) == 0 {
		return text
	}
	return mark.Replace(text, func(id mark.ID) (string, bool) {
		path, ok := lost[id]
		return mark.New(id, fmt.Sprintf("content unavailable: %s, hash mismatch", mark.Inline(path, 0))), ok
	})
}
