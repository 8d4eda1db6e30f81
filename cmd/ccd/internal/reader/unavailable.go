package reader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"ccd/archive"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// maxChecked bounds what showing a companion reads of its originals to see whether they are intact, in bytes. `ccd archive verify`
// checks the rest.
const maxChecked = 32 << 20

// Checked looks up the IDs of a companion and marks in the text those whose originals are damaged. It leaves IDs that
// the index does not have as they are.
func (l *Library) Checked(ctx context.Context, text []byte) ([]byte, []transcript.Pointer, error) {
	ids := mark.IDs(string(text))
	found, err := l.Archive.Lookup(ctx, ids...)
	lost := map[mark.ID]string{} // the transcript that held it
	for _, err := range archive.Damages(err) {
		var d *archive.DamageError
		if !errors.As(err, &d) {
			return nil, nil, err
		}
		if lost[d.ID] = "index"; d.ID == "" {
			for _, id := range ids {
				lost[id] = "index"
			}
		}
	}
	known := make([]transcript.Pointer, len(found))
	for i, f := range found {
		known[i] = f.Pointer
		delete(lost, f.Hash.ID())
	}
	err = l.check(ctx, found, func(f archive.Found) { lost[f.Hash.ID()] = l.Session(ctx, f.Key).Path })
	if err != nil {
		return nil, nil, err
	}
	return unavailable(text, lost), known, ctx.Err()
}

// check calls bad with the originals that are damaged, of those that it reads.
func (l *Library) check(ctx context.Context, all []archive.Found, bad func(archive.Found)) error {
	// small ones are many, and a few large ones would be all that is read
	slices.SortStableFunc(all, func(x, y archive.Found) int { return cmp.Compare(sizeOf(x), sizeOf(y)) })
	n := 0
	for left := int64(maxChecked); n < len(all) && left > 0; n++ {
		left -= sizeOf(all[n])
	}
	all = all[:n]
	slices.SortStableFunc(all, func(x, y archive.Found) int { // each block is read once
		return cmp.Or(cmp.Compare(x.Key.ID, y.Key.ID), cmp.Compare(x.Generation, y.Generation), cmp.Compare(x.Parts[0].Span.Off, y.Parts[0].Span.Off))
	})
	var r *archive.Reader
	for i, f := range all {
		if i == 0 || f.Key != all[i-1].Key || f.Generation != all[i-1].Generation {
			r = l.Archive.Reader(f.Key, f.Generation)
		}
		err := r.CheckPointer(ctx, f.Pointer)
		if errors.As(err, new(*archive.DamageError)) {
			bad(f)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// sizeOf is how many bytes an original takes in its transcript.
func sizeOf(f archive.Found) (n int64) {
	for _, p := range f.Parts {
		n += p.Span.Len
	}
	return n
}

// unavailable replaces the markers of lost originals.
func unavailable(text []byte, lost map[mark.ID]string) []byte {
	if len(lost) == 0 {
		return text
	}
	return mark.Replace(text, func(id mark.ID) (string, bool) {
		path, ok := lost[id]
		return mark.New(id, fmt.Sprintf("content unavailable: %s, hash mismatch", mark.Inline(path, 0))), ok
	})
}
