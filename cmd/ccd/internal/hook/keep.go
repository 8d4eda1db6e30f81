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
	stored, err := h.Keep.Session(ctx, a.Key)
	if errors.Is(err, archive.ErrNotFound) {
		end := transcript.Cursor{Generation: 1, Offset: int64(len(original))}
		err = h.Keep.Append(ctx, a, transcript.Segment{Start: transcript.Cursor{Generation: 1}, Data: original, End: end, Rest: true})
		if err == nil || errors.Is(err, archive.ErrStale) { // another process has just stored it
			stored, err = h.Keep.Session(ctx, a.Key)
		}
	}
	if err != nil {
		return err
	}
	if n := len(stored.Generations); n != 1 || stored.Generations[0].Sum != sum {
		return fmt.Errorf("store output %s: the archive has other content under that name", sum.ID())
	}
	return h.Keep.Publish(ctx, archive.Publication{
		Key: a.Key, At: stored.Tip(), State: stored.State,
		Pointers: []transcript.Pointer{{
			Hash: sum, Shape: transcript.Single, Note: "output",
			Parts: []transcript.Part{{Span: transcript.Span{Len: int64(len(original))}, Kind: transcript.File}},
		}},
	})
}
