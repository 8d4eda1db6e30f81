package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"ccd/archive"
	"ccd/compactor"
	"ccd/daemon"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// A step of an answer must end within this percentage of the time. Otherwise the hook answers from the companion, which
// takes a few milliseconds.
const (
	foldPart = 60
	textPart = 85
)

// Bytes that a hook reads of a transcript at once, and records between two checks of the time.
const (
	foldChunk   = 1 << 20
	foldRecords = 256
)

// foldLookUp is how long a hook waits for the archive to say whether a transcript was rewritten. A transcript that an archive
// in use knows nothing of in that time counts as new.
const foldLookUp = 200 * time.Millisecond

var errLate = errors.New("no time left")

// liveFold folds a session from its transcript, because the archive may be behind or locked; only what a rewrite took away
// comes from the archive.
type liveFold struct {
	file     *os.File
	size     int64
	begun    time.Time
	deadline time.Time // zero: no limit
	fold     *compactor.Compactor
	earlier  *archive.Reader
	answer   []byte
	each     func(*transcript.Record) // for those of the file; nil: none
}

// Fold folds a session from its transcript, as a hook needs it: hook.Hooks.Fold. It gives up in time before the deadline of ctx.
func (l *Library) Fold(ctx context.Context, s transcript.Session, m compactor.Manual, each func(*transcript.Record)) (*compactor.Compactor, compactor.Text, func(), error) {
	h := liveFold{begun: time.Now(), fold: compactor.New(l.OptionsFor(s.Agent).With(m), s), each: each}
	h.deadline, _ = ctx.Deadline()
	if err := h.read(ctx, l, s); err != nil {
		if h.file != nil {
			h.file.Close()
		}
		return nil, nil, nil, fmt.Errorf("fold session %s: %w", s.ID, err)
	}
	return h.fold, func(span transcript.Span) ([]byte, error) { return h.text(ctx, span) }, func() { h.file.Close() }, nil
}

// late reports whether more than percent of the time is used.
func (h *liveFold) late(percent int) bool {
	if h.deadline.IsZero() {
		return false
	}
	return time.Since(h.begun)*100 > h.deadline.Sub(h.begun)*time.Duration(percent)
}

// read passes the story on up to the file's size at opening, and leaves the file open.
func (h *liveFold) read(ctx context.Context, l *Library, s transcript.Session) (err error) {
	if s.Packed {
		return errors.New("it is compressed") // unpacking would need time and a second copy
	}
	if h.file, err = watcher.Open(s); err != nil {
		return err
	}
	info, err := h.file.Stat()
	if err != nil {
		return err
	}
	h.size = info.Size()
	quick, cancel := context.WithTimeout(ctx, foldLookUp)
	generation := daemon.Generation(quick, l.Archive, s)
	cancel()
	var head []byte
	if head, err = h.head(); err != nil {
		return err
	}
	h.earlier = l.Archive.Reader(s.Key, generation).Of(s, head)
	decoder := func() *transcript.Decoder { return l.Agents.NewDecoder(s.Agent, s.Class) }
	n := 0
	for r, err := range l.Archive.Story(ctx, s, generation, decoder, h.records) {
		if err != nil {
			return err
		}
		if n++; n%foldRecords == 0 && h.late(foldPart) {
			return errLate
		}
		if h.fold.Add(r); h.each != nil && r.N > 0 && r.Span.Off >= 0 {
			h.each(r)
		}
	}
	return nil
}

// head returns the beginning of the file.
func (h *liveFold) head() ([]byte, error) {
	data := make([]byte, min(foldChunk, h.size))
	if _, err := h.file.ReadAt(data, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	return data, nil
}

// records yields the file's records. A last line without newline is one only if it is not torn.
func (h *liveFold) records(d *transcript.Decoder) iter.Seq2[*transcript.Record, error] {
	return func(yield func(*transcript.Record, error) bool) {
		buffer := make([]byte, min(foldChunk, h.size))
		for at := int64(0); at < h.size; {
			n, err := h.file.ReadAt(buffer[:min(foldChunk, h.size-at)], at)
			switch {
			case n == 0 && err != nil:
				yield(nil, fmt.Errorf("read transcript: %w", err))
				return
			case h.late(foldPart):
				yield(nil, errLate)
				return
			}
			for r := range d.Records(transcript.Segment{Start: transcript.Cursor{Offset: at}, Data: buffer[:n]}) {
				if !yield(r, nil) {
					return
				}
			}
			at += int64(n)
		}
		if d.Torn() > 0 {
			return
		}
		for r := range d.Records(transcript.Segment{Start: transcript.Cursor{Offset: h.size}, Rest: true}) {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// text returns the bytes of a span; they are valid until the next call.
func (h *liveFold) text(ctx context.Context, s transcript.Span) ([]byte, error) {
	if h.late(textPart) {
		return nil, errLate
	}
	if back, _ := s.Life(); back > 0 {
		return h.earlier.Span(ctx, s)
	}
	if int64(cap(h.answer)) < s.Len {
		h.answer = make([]byte, s.Len)
	}
	b := h.answer[:s.Len]
	if _, err := h.file.ReadAt(b, s.Off); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b, nil
}
