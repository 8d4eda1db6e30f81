package reader

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"ccd/archive"
	"ccd/compactor"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/redact"
	"ccd/internal/transcript"
)

// Reading is one generation of an archived session, up to its tip.
type Reading struct {
	transcript.Session
	archive.Generation
	Archive *archive.Archive
	Agents  registry.Table
}

// Reading returns number n of a session's generations, the current one for 0.
func (l *Library) Reading(e *Entry, n int) (Reading, error) {
	g, err := e.Generation(n)
	return l.At(e, g), err
}

// At returns a generation of a session.
func (l *Library) At(e *Entry, g archive.Generation) Reading {
	return Reading{Session: e.Session.Session, Generation: g, Archive: l.Archive, Agents: l.Agents}
}

// Decoder returns one that has read nothing.
func (r Reading) Decoder() *transcript.Decoder {
	return r.Agents.NewDecoder(r.Agent, r.Class)
}

// Bytes reads the generation's bytes.
func (r Reading) Bytes() *archive.Reader { return r.Archive.Reader(r.Key, r.N) }

// Text reads spans of the generation.
func (r Reading) Text(ctx context.Context) compactor.Text {
	bytes := r.Bytes()
	return func(span transcript.Span) ([]byte, error) { return bytes.Span(ctx, span) }
}

// Records yields the records in order. A record is valid until the next one. Damaged or missing bytes end the sequence with an error.
func (r Reading) Records(ctx context.Context) iter.Seq2[*transcript.Record, error] {
	return func(yield func(*transcript.Record, error) bool) { r.decoded(ctx, r.Decoder())(yield) } // a decoder reads a record once
}

// decoded yields the records as a decoder reads them.
func (r Reading) decoded(ctx context.Context, d *transcript.Decoder) iter.Seq2[*transcript.Record, error] {
	return func(yield func(*transcript.Record, error) bool) {
		for one, err := range r.Archive.Records(ctx, r.Key, r.N, d) {
			if err != nil {
				err = fmt.Errorf("read session %s: %w", r.ID, err)
			}
			if err == nil && one.Span.End() > r.Tip.Offset || !yield(one, err) {
				return
			}
		}
	}
}

// Story yields the records as models are made of them (archive.Story).
func (r Reading) Story(ctx context.Context) iter.Seq2[*transcript.Record, error] {
	return r.Archive.Story(ctx, r.Session, r.N, r.Decoder, func(d *transcript.Decoder) iter.Seq2[*transcript.Record, error] { return r.decoded(ctx, d) })
}

// Numbers returns a function for redact.Session.Whole of the decoders that begin in the middle of the generation. It reads
// the generation at its first call. It returns nil if some of it cannot be read.
func (r Reading) Numbers(ctx context.Context) func() *redact.Session {
	return sync.OnceValue(func() *redact.Session {
		d := r.Decoder()
		for _, err := range r.decoded(ctx, d) {
			if err != nil {
				return nil
			}
		}
		return d.Redact
	})
}

// Holding yields the records whose lines contain any of the parts, in order. It stops after the last part.
func (r Reading) Holding(ctx context.Context, parts []transcript.Part) iter.Seq2[*transcript.Record, error] {
	var end int64
	for _, p := range parts {
		end = max(end, p.Span.End())
	}
	return func(yield func(*transcript.Record, error) bool) {
		for one, err := range r.Records(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			holds := slices.ContainsFunc(parts, func(p transcript.Part) bool {
				return p.Span.Off < one.Span.End() && one.Span.Off < p.Span.End()
			})
			if holds && !yield(one, nil) || one.Span.End() >= end {
				return
			}
		}
	}
}

// Whole returns the pointer to a record's whole line.
func Whole(r transcript.Record) transcript.Pointer {
	return transcript.Pointer{
		Hash: mark.Combine([]mark.ID{r.Sum().ID()}), Shape: transcript.Lines, Parts: []transcript.Part{{Span: r.Span}},
		Record: r.N, Last: r.N, Time: r.Time, Note: "record",
	}
}

// Items returns the pointer to a record's content: its items as a list, its only item, or its whole line if it has no items.
func Items(r transcript.Record) transcript.Pointer {
	p := Whole(r)
	if len(r.Items) == 0 {
		return p
	}
	var ids []mark.ID
	p.Shape, p.Parts = transcript.List, nil
	for _, it := range r.Items {
		ids, p.Parts = append(ids, it.Sum().ID()), append(p.Parts, transcript.Part{Span: it.Span, Kind: it.Kind})
	}
	if p.Hash = mark.Combine(ids); len(ids) == 1 {
		p.Shape, p.Hash = transcript.Single, r.Items[0].Sum()
	}
	return p
}

// what names what a record has: "thinking, call Bash".
func what(r *transcript.Record) string {
	var all []string
	for _, it := range r.Items {
		all = append(all, strings.TrimSpace(KindName(it.Kind)+" "+mark.Inline(it.Tool, 60)))
	}
	return cmp.Or(strings.Join(slices.Compact(all), ", "), "record")
}

// KindName names a kind, as people see it.
func KindName(k transcript.Kind) string {
	if k == transcript.Text {
		return "agent"
	}
	return k.String()
}
