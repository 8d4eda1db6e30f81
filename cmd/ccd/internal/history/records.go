package history

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"

	"ccd/archive"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/redact"
	"ccd/internal/transcript"
)

// Archive is an archive with the table of agents.
type Archive struct {
	*archive.Archive
	Agents registry.Table
}

// Records yields the records of one generation of an archived session in order. A record is valid until the next one.
// Damaged or missing bytes end the sequence with an error.
func Records(ctx context.Context, a Archive, s transcript.Session, generation int) iter.Seq2[*transcript.Record, error] {
	return func(yield func(*transcript.Record, error) bool) {
		records(ctx, a, a.Agents.NewDecoder(s.Agent, s.Class), s, generation)(yield) // a decoder reads a record once
	}
}

func records(ctx context.Context, a Archive, d *transcript.Decoder, s transcript.Session, generation int) iter.Seq2[*transcript.Record, error] {
	return func(yield func(*transcript.Record, error) bool) {
		for r, err := range a.Records(ctx, s.Key, generation, d) {
			if err != nil {
				err = fmt.Errorf("read session %s: %w", s.ID, err)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// Story yields the records of a session up to an offset in a generation, as models are made of them (archive.Story).
func Story(ctx context.Context, a Archive, s transcript.Session, generation int, end int64) iter.Seq2[*transcript.Record, error] {
	return a.Story(ctx, s, generation, a.decoder(s), func(d *transcript.Decoder) iter.Seq2[*transcript.Record, error] {
		return func(yield func(*transcript.Record, error) bool) {
			for r, err := range records(ctx, a, d, s, generation) {
				if err == nil && r.Span.End() > end || !yield(r, err) || err != nil {
					return
				}
			}
		}
	})
}

// Before yields the records of a session's story before those of its file, and prepares the decoder for these.
func Before(ctx context.Context, a Archive, s transcript.Session, generation int, d *transcript.Decoder) iter.Seq2[*transcript.Record, error] {
	return a.Before(ctx, s, generation, d, a.decoder(s), func(d *transcript.Decoder) iter.Seq2[*transcript.Record, error] {
		return records(ctx, a, d, s, generation)
	})
}

func (a Archive) decoder(s transcript.Session) func() *transcript.Decoder {
	return func() *transcript.Decoder { return a.Agents.NewDecoder(s.Agent, s.Class) }
}

// Numbers returns a function for redact.Session.Whole of the decoders that begin in the middle of a generation. It reads
// the generation at its first call. It returns nil if some of it cannot be read.
func (a Archive) Numbers(ctx context.Context, s transcript.Session, generation int) func() *redact.Session {
	return sync.OnceValue(func() *redact.Session {
		d := a.Agents.NewDecoder(s.Agent, s.Class)
		for _, err := range records(ctx, a, d, s, generation) {
			if err != nil {
				return nil
			}
		}
		return d.Redact
	})
}

// Lines returns where the lines stand that have the bytes of a span, without the last line end.
func (a Archive) Lines(ctx context.Context, s transcript.Session, generation int, span transcript.Span) (transcript.Span, error) {
	known, err := a.Session(ctx, s.Key)
	if err != nil {
		return transcript.Span{}, err
	}
	n := slices.IndexFunc(known.Generations, func(g archive.Generation) bool { return g.N == generation })
	if n < 0 {
		return transcript.Span{}, ErrNotFound
	}
	const step = 64 << 10
	r, size := a.Reader(s.Key, generation), known.Generations[n].Tip.Offset
	from, to := span.Off, span.End()
	for from > 0 {
		part, err := r.Span(ctx, transcript.Span{Off: max(0, from-step), Len: min(from, step)})
		if err != nil {
			return transcript.Span{}, err
		}
		begin := bytes.LastIndexByte(part, '\n') + 1
		if from -= int64(len(part) - begin); begin > 0 {
			break
		}
	}
	for to < size {
		part, err := r.Span(ctx, transcript.Span{Off: to, Len: min(size-to, step)})
		if err != nil {
			return transcript.Span{}, err
		}
		if end := bytes.IndexByte(part, '\n'); end >= 0 {
			to += int64(end)
			break
		}
		to += int64(len(part))
	}
	return transcript.Span{Off: from, Len: to - from}, nil
}

// Record returns a copy of record number n of a generation's story. It fails with ErrNotFound if that has fewer records.
func Record(ctx context.Context, a Archive, s transcript.Session, generation, n int) (transcript.Record, error) {
	last := 0
	a.Agents = a.Agents.Exact() // where it is does not depend on its secrets
	for r, err := range Story(ctx, a, s, generation, math.MaxInt64) {
		if err != nil {
			return transcript.Record{}, err
		}
		if last = r.N; r.N == n {
			return r.Clone(), nil
		}
	}
	return transcript.Record{}, fmt.Errorf("find record %s#%d: %w: the session has %d records", s.ID, n, ErrNotFound, last)
}

// Whole returns the pointer to a record's whole line.
func Whole(r transcript.Record) transcript.Pointer {
	return transcript.Pointer{
		Hash: mark.Combine([]mark.ID{r.Hash.ID()}), Shape: transcript.Lines, Parts: []transcript.Part{{Span: r.Span}},
		Record: r.N, Last: r.N, Time: r.Time, Note: "record",
	}
}

// Items returns the pointer to a record's content: its items as a list, its only item, or its whole line if it has no items.
func Items(r transcript.Record) transcript.Pointer {
	p := Whole(r)
	var ids []mark.ID
	var parts []transcript.Part
	for _, it := range r.Items {
		ids = append(ids, it.Sum().ID())
		parts = append(parts, transcript.Part{Span: it.Span, Kind: it.Kind})
	}
	switch len(parts) {
	case 0:
		return p
	case 1:
		p.Shape, p.Hash = transcript.Single, r.Items[0].Sum()
	default:
		p.Shape, p.Hash = transcript.List, mark.Combine(ids)
	}
	p.Parts, p.Note = parts, "record"
	return p
}

// Holding yields the records whose lines contain any of the parts, in order. It stops after the last part.
func Holding(ctx context.Context, a Archive, s transcript.Session, generation int, parts []transcript.Part) iter.Seq2[*transcript.Record, error] {
	var end int64
	for _, p := range parts {
		end = max(end, p.Span.End())
	}
	return func(yield func(*transcript.Record, error) bool) {
		for r, err := range Records(ctx, a, s, generation) {
			if err != nil {
				yield(nil, err)
				return
			}
			holds := slices.ContainsFunc(parts, func(p transcript.Part) bool {
				return p.Span.Off < r.Span.End() && r.Span.Off < p.Span.End()
			})
			if holds && !yield(r, nil) || r.Span.End() >= end {
				return
			}
		}
	}
}
