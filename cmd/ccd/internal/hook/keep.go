package hook

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"ccd/archive"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// slice is how much of an original is appended to the archive at a time, in bytes.
const slice = 4 << 20

// attempts is how often storing is tried while another process stores the same original.
const attempts = 5

// keep stores an original durably as an attachment of the session. The attachment is named by its hash, so storing it again
// costs one lookup. Its ID resolves when keep returns.
func (h Hooks) keep(ctx context.Context, s transcript.Session, original []byte) error {
	sum := mark.Sum(original)
	name := "/ccd/" + string(sum.ID())
	a := transcript.Session{
		Key:    transcript.Key{Agent: s.Agent, ID: s.ID + name},
		Class:  transcript.Attachment,
		Parent: s.ID,
		Path:   strings.TrimSuffix(s.Path, ".jsonl") + filepath.FromSlash(name), // no such file exists
		Root:   s.Root,
		Source: strings.TrimSuffix(s.Source, ".jsonl") + name,
	}
	for range attempts {
		tip, err := h.store(ctx, a, original)
		if err == nil {
			err = h.index(ctx, a, sum, tip)
		}
		if !errors.Is(err, archive.ErrTip) && !errors.Is(err, archive.ErrStale) {
			return err
		}
	}
	return fmt.Errorf("store output %s: another process is storing it", sum.ID())
}

// store appends the part of an original that the archive lacks. The key is derived from the content, so what the archive
// has is the beginning of the same original.
func (h Hooks) store(ctx context.Context, a transcript.Session, original []byte) (transcript.Cursor, error) {
	stored, err := h.Keep.Session(ctx, a.Key)
	if err != nil && !errors.Is(err, archive.ErrNotFound) {
		return transcript.Cursor{}, err
	}
	tip := stored.Tip()
	tip.Generation = max(tip.Generation, 1)
	for int(tip.Offset) < len(original) {
		if ctx.Err() != nil {
			return tip, ctx.Err()
		}
		next := tip
		next.Offset = min(tip.Offset+slice, int64(len(original)))
		seg := transcript.Segment{Start: tip, Data: original[tip.Offset:next.Offset], End: next, Rest: next.Offset == int64(len(original))}
		if err := h.Keep.Append(ctx, a, seg); err != nil {
			return tip, err
		}
		tip = next
	}
	return tip, nil
}

// index makes the ID resolve if the archive has the whole original.
func (h Hooks) index(ctx context.Context, a transcript.Session, sum mark.Hash, tip transcript.Cursor) error {
	stored, err := h.Keep.Session(ctx, a.Key)
	if err != nil {
		return err
	}
	if n := len(stored.Generations); n != 1 || stored.Generations[0].Sum != sum {
		return fmt.Errorf("store output %s: the archive has other content under that name", sum.ID())
	}
	return h.Keep.Publish(ctx, archive.Publication{
		Key: a.Key, At: tip, State: stored.State,
		Pointers: []transcript.Pointer{{
			Hash: sum, Shape: transcript.Single, Note: "output",
			Parts: []transcript.Part{{Span: transcript.Span{Len: tip.Offset}, Kind: transcript.File}},
		}},
	})
}
