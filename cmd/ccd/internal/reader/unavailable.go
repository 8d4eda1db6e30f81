package reader

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"ccd/archive"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// maxChecked bounds what showing a companion reads of the archive to see whether its originals are intact: stored bytes, or
// decoded ones of blocks without a checksum. `ccd archive verify` checks the rest.
const maxChecked = 32 << 20

// Checked looks up the IDs of a companion and marks in the text those whose originals are damaged. It leaves IDs that
// the index does not have as they are.
func (l *Library) Checked(ctx context.Context, text []byte) ([]byte, []transcript.Pointer, error) {
	found, damaged, err := l.Archive.LookupAll(ctx, mark.IDs(string(text)))
	if err != nil {
		return nil, nil, err
	}
	lost := map[mark.ID]string{} // the transcript that held it
	for _, id := range damaged {
		lost[id] = "index"
	}
	known := make([]transcript.Pointer, len(found))
	for i, f := range found {
		known[i] = f.Pointer
	}
	// small ones are many, and a few large ones would be all that is read
	slices.SortStableFunc(found, func(x, y archive.Found) int { return cmp.Compare(sizeOf(x), sizeOf(y)) })
	bad, _, err := l.Archive.CheckStored(ctx, found, maxChecked)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range bad {
		lost[f.Hash.ID()] = l.Of(ctx, f.Key).Path
	}
	return unavailable(text, lost), known, ctx.Err()
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
