package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"ccd/cmd/ccd/internal/reader"
	"ccd/compactor"
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
	hookChunk   = 1 << 20
	hookRecords = 256
)

var errLate = errors.New("no time left")

// hookFold folds a session from its transcript, because the archive may be behind or locked. It holds the
// records of three chunks of the file at a time.
type hookFold struct {
	file     *os.File
	begun    time.Time
	deadline time.Time // zero: no limit
	fold     *compactor.Compactor
	decoder  *transcript.Decoder
	answer   []byte
	each     func(*transcript.Record) // nil: none

	// Decoding and folding take about the same time, so each has a goroutine of its own.
	batches chan []transcript.Record
	folded  chan error // the result of foldAll
}

// foldFor implements hook.Hooks.Fold.
func foldFor(ctx context.Context, l *reader.Library, s transcript.Session, m compactor.Manual, each func(*transcript.Record)) (*compactor.Compactor, compactor.Text, func(), error) {
	h := hookFold{
		begun: time.Now(), fold: compactor.New(l.OptionsFor(s.Agent).With(m), s), decoder: l.Agents.NewDecoder(s.Agent, s.Class), each: each,
		batches: make(chan []transcript.Record, 1), folded: make(chan error, 1),
	}
	go func() { h.folded <- h.foldAll() }()
	h.deadline, _ = ctx.Deadline()
	err := h.read(s)
	close(h.batches)
	if unfolded := <-h.folded; err == nil && unfolded != nil {
		err = unfolded
		h.file.Close()
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("fold session %s: %w", s.ID, err)
	}
	return h.fold, h.text, func() { h.file.Close() }, nil
}

// late reports whether more than percent of the time is used.
func (h *hookFold) late(percent int) bool {
	if h.deadline.IsZero() {
		return false
	}
	return time.Since(h.begun)*100 > h.deadline.Sub(h.begun)*time.Duration(percent)
}

// read folds the file up to its size at opening, and leaves it open. It adds a last line without newline only if the
// line is not torn.
func (h *hookFold) read(s transcript.Session) (err error) {
	if s.Packed {
		return errors.New("it is compressed") // unpacking would need time and a second copy
	}
	if h.file, err = watcher.Open(s); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			h.file.Close()
		}
	}()
	info, err := h.file.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	buffer := make([]byte, min(hookChunk, size))
	for at := int64(0); at < size; {
		n, err := h.file.ReadAt(buffer[:min(hookChunk, size-at)], at)
		if n == 0 && err != nil {
			return fmt.Errorf("read transcript: %w", err)
		}
		if err := h.take(transcript.Segment{Start: transcript.Cursor{Offset: at}, Data: buffer[:n]}); err != nil {
			return err
		}
		at += int64(n)
	}
	if h.decoder.Torn() > 0 {
		return nil
	}
	return h.take(transcript.Segment{Start: transcript.Cursor{Offset: size}, Rest: true})
}

// take decodes a segment and passes its records on.
func (h *hookFold) take(seg transcript.Segment) error {
	if h.late(foldPart) {
		return errLate
	}
	var err error
	var batch []transcript.Record
	for r := range h.decoder.Records(seg) { // the decoder requires that the loop reads to the end
		if err == nil && r.N%hookRecords == 0 && h.late(foldPart) {
			err = errLate
		}
		if err == nil {
			batch = append(batch, r.Clone())
		}
	}
	if err != nil || len(batch) == 0 {
		return err
	}
	select {
	case h.batches <- batch:
		return nil
	case err := <-h.folded:
		h.folded <- err
		return err
	}
}

// foldAll folds what take passes on.
func (h *hookFold) foldAll() (err error) {
	defer func() {
		if fault := recover(); fault != nil { // as in inTime, which does not see this goroutine
			err = errors.New("panic")
		}
	}()
	for batch := range h.batches {
		for i := range batch {
			h.fold.Add(&batch[i])
			if h.each != nil {
				h.each(&batch[i])
			}
		}
	}
	return nil
}

// text returns the bytes of a span; they are valid until the next call.
func (h *hookFold) text(s transcript.Span) ([]byte, error) {
	if h.late(textPart) {
		return nil, errLate
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
