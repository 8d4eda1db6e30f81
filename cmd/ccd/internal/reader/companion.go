package reader

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"

	"ccd/archive"
	"ccd/cmd/ccd/internal/history"
	"ccd/compactor"
	"ccd/daemon"
	"ccd/internal/transcript"
)

// Companion is one that is to be printed: its text and, where it was made just now, what it was made of.
type Companion struct {
	Text    []byte
	Made    *daemon.Compacted
	Known   []transcript.Pointer // what its IDs stand for, as far as that is known
	Records iter.Seq2[*transcript.Record, error]
}

// Companion returns the session's companion as it was last written. It makes a new one from the archive if the file is
// missing, or, with made, in any case: then it covers what the written one does, and has its records.
func (l *Library) Companion(ctx context.Context, e Entry, made bool) (Companion, error) {
	at := daemon.Place{}
	if file := e.CompanionFile(); file != "" {
		switch text, err := os.ReadFile(file); {
		case err == nil && made:
			at = e.Kept.Covers
		case err == nil:
			text, known, err := l.Checked(ctx, text)
			return Companion{Text: text, Known: known}, err
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission): // a companion of another machine or user is not readable here
			return Companion{}, fmt.Errorf("read companion: %w", err)
		}
	}
	return l.Recompact(ctx, e, l.Options(e), at)
}

// Model returns the model of a generation up to record number last, and a function that reads its spans. With an
// error it is that of the records before it.
func (l *Library) Model(ctx context.Context, e Entry, generation, last int) (*compactor.Compactor, compactor.Text, error) {
	model, text := compactor.New(l.Options(e), e.Session.Session), l.text(ctx, e, generation)
	for r, err := range history.Story(ctx, l.History(), e.Session.Session, generation, math.MaxInt64) {
		if err != nil {
			return model, text, err
		}
		if model.Add(r); r.N == last {
			break
		}
	}
	return model, text, nil
}

// Fresh is a companion as it was made just now, with the records that it was made from.
func Fresh(made daemon.Compacted, records iter.Seq2[*transcript.Record, error]) Companion {
	return Companion{Text: made.Text, Made: &made, Known: made.Pointers, Records: records}
}

// Recompact makes a companion from the archive and writes nothing. It is the one that the daemon would write; where the
// archive is damaged, that of what can still be read. At is how far it goes; the zero Place means as far as the archive
// does, and only then its text names the bytes by their hash.
func (l *Library) Recompact(ctx context.Context, e Entry, o compactor.Options, at daemon.Place) (Companion, error) {
	g, err := e.Generation(at.Generation)
	if err != nil {
		return Companion{}, err
	}
	whole := daemon.Place{Generation: g.N, Offset: g.Tip.Offset}
	r := remake{library: l, entry: e, generation: g, options: o, at: at}
	if at.Generation == 0 {
		r.at = whole
	}
	r.records = history.Story(ctx, l.History(), e.Session.Session, g.N, r.at.Offset)
	c, err := r.companion(ctx)
	if err == nil || !errors.As(err, new(*archive.DamageError)) {
		return c, err
	}
	s, err := l.Salvaged(ctx, e, g, err)
	if err != nil {
		return Companion{}, err
	}
	r.at, r.records, r.tell = whole, s.Records(ctx), s.Tell
	return r.companion(ctx)
}

// remake is a companion that is made anew.
type remake struct {
	library    *Library
	entry      Entry
	generation archive.Generation
	options    compactor.Options
	at         daemon.Place
	records    iter.Seq2[*transcript.Record, error]
	// tell, if not nil, changes what it says; it is given the number of the first record that is lost.
	tell func(ctx context.Context, c *compactor.Compaction, first int) error
}

func (r remake) companion(ctx context.Context) (Companion, error) {
	l, model, lost := r.library, compactor.New(r.options, r.entry.Session.Session), 0
	for rec, err := range r.records {
		if err != nil {
			return Companion{}, err
		}
		if lost == 0 && rec.Broken && rec.Span.Len == 0 {
			lost = rec.N
		}
		model.Add(rec)
	}
	c, err := model.Compact(model.Companion(), l.text(ctx, r.entry, r.generation.N), l.Archive.Summaries(ctx))
	if err != nil {
		return Companion{}, fmt.Errorf("compact session %s: %w", r.entry.ID, err)
	}
	if r.tell != nil {
		if err := r.tell(ctx, c, lost); err != nil {
			return Companion{}, err
		}
	}
	return Fresh(daemon.Made(r.entry.Session.Session, r.options, model.Status(), c, r.at, r.generation.Sum), r.records), nil
}
