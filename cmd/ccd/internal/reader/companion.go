package reader

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"

	"ccd/archive"
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
func (l *Library) Companion(ctx context.Context, e *Entry, made bool) (Companion, error) {
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
func (r Reading) Model(ctx context.Context, o compactor.Options, last int) (*compactor.Compactor, compactor.Text, error) {
	model := compactor.New(o, r.Session)
	for one, err := range r.Story(ctx) {
		if err != nil {
			return model, r.Text(ctx), err
		}
		if model.Add(one); one.N == last {
			break
		}
	}
	return model, r.Text(ctx), nil
}

// Fresh is a companion as it was made just now, with the records that it was made from.
func (l *Library) Fresh(ctx context.Context, s transcript.Session, made daemon.Compacted) Companion {
	g := archive.Generation{N: made.At.Generation, Tip: transcript.Cursor{Offset: made.At.Offset}}
	return Made(made, Reading{s, g, l.Archive, l.Agents}.Story(ctx))
}

// Made is a companion that was made of records just now.
func Made(made daemon.Compacted, records iter.Seq2[*transcript.Record, error]) Companion {
	return Companion{Text: made.Text, Made: &made, Known: made.Pointers, Records: records}
}

// Recompact makes a companion from the archive and writes nothing. It is the one that the daemon would write; where the
// archive is damaged, that of what can still be read. At is how far it goes; the zero Place means as far as the archive
// does, and only then its text names the bytes by their hash.
func (l *Library) Recompact(ctx context.Context, e *Entry, o compactor.Options, at daemon.Place) (Companion, error) {
	g, err := l.Reading(e, at.Generation)
	if err != nil {
		return Companion{}, err
	}
	whole := daemon.Place{Generation: g.N, Offset: g.Tip.Offset}
	part := g
	if at.Generation == 0 {
		at = whole
	}
	part.Tip.Offset = at.Offset
	c, err := l.made(ctx, g, o, at, part.Story(ctx), nil)
	if err == nil || !errors.As(err, new(*archive.DamageError)) {
		return c, err
	}
	s, err := l.salvaged(ctx, e, g, err)
	if err != nil {
		return Companion{}, err
	}
	return l.made(ctx, g, o, whole, s.Records(ctx), s.tell)
}

// made makes a companion of records. tell, if not nil, changes what it says.
func (l *Library) made(ctx context.Context, g Reading, o compactor.Options, at daemon.Place, records iter.Seq2[*transcript.Record, error], tell func(context.Context, *compactor.Compaction) error) (Companion, error) {
	model := compactor.New(o, g.Session)
	for rec, err := range records {
		if err != nil {
			return Companion{}, err
		}
		model.Add(rec)
	}
	c, err := model.Compact(model.Companion(), g.Text(ctx), l.Archive.Summaries(ctx))
	if err != nil {
		return Companion{}, fmt.Errorf("compact session %s: %w", g.ID, err)
	}
	if tell != nil {
		if err := tell(ctx, c); err != nil {
			return Companion{}, err
		}
	}
	return Made(daemon.Made(g.Session, o, model.Status(), c, at, g.Sum), records), nil
}
