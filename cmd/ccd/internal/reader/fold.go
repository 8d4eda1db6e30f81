package reader

import (
	"context"
	"errors"
	"fmt"
	"time"

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

// foldLookUp is how long a hook waits for the archive to say whether a transcript was rewritten. A transcript that an archive
// in use knows nothing of in that time counts as new.
const foldLookUp = 200 * time.Millisecond

// within returns a context that ends after a part, in percent, of the time that is left.
func within(ctx context.Context, percent int) (context.Context, context.CancelFunc) {
	end, limited := ctx.Deadline()
	if !limited {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Until(end)*time.Duration(percent)/100)
}

// Fold folds a session from its transcript, because the archive may be behind or locked, as a hook needs it: hook.Hooks.Fold. It gives up
// in time before the deadline of ctx.
func (l *Library) Fold(ctx context.Context, s transcript.Session, m compactor.Manual, each func(*transcript.Record)) (*compactor.Compactor, compactor.Text, func(), error) {
	if s.Packed { // unpacking would need time
		return nil, nil, nil, fmt.Errorf("fold session %s: %w", s.ID, errors.New("it is compressed"))
	}
	reads, stop := within(ctx, foldPart)
	defer stop()
	texts, done := within(ctx, textPart)
	quick, cancel := context.WithTimeout(ctx, foldLookUp)
	generation := daemon.Generation(quick, l.Archive, s)
	cancel()
	model := compactor.New(l.OptionsFor(s.Agent).With(m), s)
	read, err := daemon.ReadTranscript(reads, l.Archive, l.Agents, s, generation, watcher.TailOptions{Rest: true}, func(r *transcript.Record) {
		if model.Add(r); each != nil && r.N > 0 && r.Span.Off >= 0 {
			each(r)
		}
	})
	if err != nil {
		done()
		return nil, nil, nil, fmt.Errorf("fold session %s: %w", s.ID, err)
	}
	return model, read.Text(texts), done, nil
}
