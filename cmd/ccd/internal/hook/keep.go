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

// slice is how much of an original goes into the archive at a time, in bytes.
const slice = 4 << 20

// attempts is how often an original is tried again where another process stores the same one.
const attempts = 5

// keep makes an original durable, as an attachment of the session that is named by its content: a second time it costs
// one look. Its ID resolves at return.
func (h Hooks) keep(ctx context.Context, s transcript.Session, original []byte) error {
	sum := mark.Sum(original)
	name := "/ccd/" + string(sum.ID())
	a := transcript.Session{
		Key:    transcript.Key{Agent: s.Agent, ID: s.ID + name},
		Class:  transcript.Attachment,
		Parent: s.ID,
		Path:   strings.TrimSuffix(s.Path, ".jsonl") + filepath.FromSlash(name), // where such a file would stand: there is none
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
	return fmt.Errorf("keep output %s: others store it, too", sum.ID())
}

// store appends what the archive does not have yet of an original. The key is the content's, so what it has is the
// beginning of the same one.
func (h Hooks) store(ctx context.Context, a transcript.Session, original []byte) (transcript.Cursor, error) {
	held, err := h.Keep.Session(ctx, a.Key)
	if err != nil && !errors.Is(err, archive.ErrNotFound) {
		return transcript.Cursor{}, err
	}
	tip := held.Tip()
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

// index makes the ID resolve, if what is held is the original.
func (h Hooks) index(ctx context.Context, a transcript.Session, sum mark.Hash, tip transcript.Cursor) error {
	held, err := h.Keep.Session(ctx, a.Key)
	if err != nil {
		return err
	}
	if n := len(held.Generations); n != 1 || held.Generations[0].Sum != sum {
		return fmt.Errorf("keep output %s: the archive has something else under its name", sum.ID())
	}
	return h.Keep.Publish(ctx, archive.Publication{
		Key: a.Key, At: tip, State: held.State,
		Pointers: []transcript.Pointer{{
			Hash: sum, Shape: transcript.Single, Note: "output",
			Parts: []transcript.Part{{Span: transcript.Span{Len: tip.Offset}, Kind: transcript.File}},
		}},
	})
}
