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

// maxChecked bounds what showing a companion reads of the archive to see whether its originals are sound, in raw bytes.
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
	for id, key := range l.damaged(ctx, found) {
		lost[id] = l.Of(ctx, key).Path
	}
	return unavailable(text, lost), known, ctx.Err()
}

// damaged tells which originals cannot be given back, and whose they are. Small ones are looked at first.
func (l *Library) damaged(ctx context.Context, found []archive.Found) map[mark.ID]transcript.Key {
	slices.SortStableFunc(found, func(x, y archive.Found) int { return cmp.Compare(sizeOf(x), sizeOf(y)) })
	type stream struct {
		key        transcript.Key
		generation int
	}
	readers := map[stream]*archive.Reader{}
	bad := map[mark.ID]transcript.Key{}
	var read int64
	for _, f := range found {
		if read += sizeOf(f); read > maxChecked || ctx.Err() != nil {
			break
		}
		at := stream{f.Key, f.Generation}
		if readers[at] == nil {
			readers[at] = l.Archive.Reader(f.Key, f.Generation)
		}
		if err := readers[at].CheckPointer(ctx, f.Pointer); errors.As(err, new(*archive.DamageError)) {
			bad[f.Hash.ID()] = f.Key
		}
	}
	return bad
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
