package view

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/rogpeppe/go-internal/diff"

	"ccd/cmd/ccd/internal/history"
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/mark"
	"ccd/internal/redact"
	"ccd/internal/transcript"
)

// Restore returns an original by its ID, the beginning of one, or SESSION#N. It reads all of it and checks its hash. The
// error is history.ErrNotFound if there is none, an *archive.DamageError if its bytes are damaged.
func Restore(ctx context.Context, l *reader.Library, name string) (Original, error) {
	o, err := l.Original(ctx, reader.Wanted{Name: name}, nothing)
	if err != nil {
		return Original{}, err
	}
	info, err := o.Info(ctx)
	if err != nil {
		return Original{}, err
	}
	out := Original{
		ID: info.ID, Kind: info.Kind, Agent: info.Agent, Session: info.Session, Record: info.Record, Last: info.Last,
		Bytes: info.Bytes, Size: info.Size, SHA256: info.SHA256, Verified: true,
	}
	if info.Time != nil {
		out.Time = *info.Time
	}
	if out.Secrets, err = o.Hidden(ctx); err != nil {
		return Original{}, err
	}
	var cut bool
	if out.Text, out.Cut, err = shown(ctx, o); err != nil {
		return Original{}, err
	}
	if out.MediaType = mediaType([]byte(out.Text)); out.MediaType != "" {
		out.Text, out.Cut = "", false
	}
	if info.Record > 0 {
		line, err := l.Original(ctx, reader.Wanted{Name: name, Raw: true}, nothing)
		if err != nil {
			return Original{}, err
		}
		if out.Line, cut, err = shown(ctx, line); err != nil {
			return Original{}, err
		}
	}
	out.Cut = out.Cut || cut
	return out, nil
}

// Original returns an item of a record by its ID, or the whole record without one. Restore finds the same by the ID alone,
// but has to search the archive if no companion names it. The error is history.ErrNotFound if the record has no such item.
func (l *Life) Original(ctx context.Context, record int, id mark.ID) (out Original, err error) {
	err = l.record(ctx, false, record, func(r *transcript.Record) (ok bool) {
		out, ok = l.original(r, id)
		return ok
	})
	return out, err
}

// Find is Original where only the ID is known. It decodes the session until it has the item.
func (l *Life) Find(ctx context.Context, id mark.ID) (out Original, err error) {
	for next := l.First; next <= l.Records; {
		last, found := l.portion(next, 1), false
		err := l.decode(ctx, false, next, last, func(r *transcript.Record) {
			if !found {
				out, found = l.original(r, id)
			}
		})
		if found || err != nil {
			return out, err
		}
		next = last + 1
	}
	return Original{}, fmt.Errorf("find id %s in session %s: %w", id, l.entry.ID, history.ErrNotFound)
}

// Exact writes an item of a record as the agent saw it, or the whole record without an ID, with their secrets.
func (l *Life) Exact(ctx context.Context, record int, id mark.ID, w io.Writer) error {
	var text []byte
	err := l.record(ctx, true, record, func(r *transcript.Record) bool {
		if text = bytes.Clone(r.Raw); id == "" || id == history.Whole(*r).Hash.ID() {
			return true
		}
		for i := range r.Items {
			if it := &r.Items[i]; it.Sum().ID() == id {
				text = bytes.Clone(transcript.Original(it.Kind, it.Raw))
				return true
			}
		}
		return false
	})
	if err != nil {
		return err
	}
	if _, err = w.Write(text); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// record calls use with a record. It fails with history.ErrNotFound if there is no such record, or use returns false.
func (l *Life) record(ctx context.Context, exact bool, record int, use func(*transcript.Record) bool) error {
	found := false
	if record >= l.First && record <= l.Records {
		if err := l.decode(ctx, exact, record, record, func(r *transcript.Record) { found = use(r) }); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("find record %s#%d: %w", l.entry.ID, record, history.ErrNotFound)
	}
	return nil
}

// original returns an item of a record, or all of it.
func (l *Life) original(r *transcript.Record, id mark.ID) (out Original, ok bool) {
	out = Original{
		ID: history.Whole(*r).Hash.ID(), Kind: "record", Agent: l.entry.Agent, Session: mark.Name(l.entry.ID), Record: r.N, Last: r.N, Time: r.Time,
		Bytes: r.Span.Len, SHA256: r.Hash.String(), Verified: true, Secrets: secretsOf(r.Marks),
	}
	var cut bool
	if out.Line, out.Cut = clipped(r.Raw); r.Long {
		out.Cut = true
	}
	if id == "" || id == out.ID {
		out.Text, out.Size = out.Line, r.Span.Len
		return out, true
	}
	for i := range r.Items {
		it := &r.Items[i]
		sum := it.Sum()
		if sum.ID() != id {
			continue
		}
		text := transcript.Original(it.Kind, it.Raw)
		out.ID, out.Kind, out.Bytes, out.Size, out.SHA256 = id, it.Kind.String(), it.Span.Len, int64(len(text)), sum.String()
		if out.MediaType = mediaType(text); out.MediaType == "" {
			out.Text, cut = clipped(text)
			out.Cut = out.Cut || cut
		}
		return out, true
	}
	return Original{}, false
}

// secretsOf counts the secrets of a line by their kinds.
func secretsOf(marks []redact.Mark) string {
	kinds := map[string]int{}
	for _, m := range marks {
		kinds[m.Kind]++
	}
	return reader.Kinds(kinds)
}

func clipped(text []byte) (string, bool) {
	if len(text) > MaxShown {
		return string(text[:MaxShown]), true
	}
	return string(text), false
}

func nothing(int64, int64) {}

// Exact writes the original as the agent saw it, with its secrets: what `ccd restore` prints for a person.
func Exact(ctx context.Context, l *reader.Library, name string, w io.Writer) error {
	place := *l.Place
	place.Agents = place.Agents.Exact()
	exact := *l
	exact.Place = &place
	o, err := exact.Original(ctx, reader.Wanted{Name: name}, nothing)
	if err != nil {
		return err
	}
	return o.Write(ctx, w)
}

var errFull = errors.New("enough")

// limited keeps the first MaxShown bytes that are written to it, then fails with errFull.
type limited struct{ bytes.Buffer }

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	if room := MaxShown - l.Len(); len(p) > room {
		l.Buffer.Write(p[:room])
		return room, errFull
	}
	return l.Buffer.Write(p)
}

func shown(ctx context.Context, o reader.Original) (text string, cut bool, err error) {
	var w limited
	err = o.Write(ctx, &w)
	if errors.Is(err, errFull) {
		return w.String(), true, nil
	}
	return w.String(), false, err
}

// mediaType returns the type of an image that a page may show, "" for anything else.
func mediaType(data []byte) string {
	for _, m := range []struct{ magic, name string }{
		{"\x89PNG\r\n\x1a\n", "image/png"}, {"\xff\xd8\xff", "image/jpeg"}, {"GIF87a", "image/gif"}, {"GIF89a", "image/gif"},
	} {
		if bytes.HasPrefix(data, []byte(m.magic)) {
			return m.name
		}
	}
	if len(data) >= 12 && bytes.HasPrefix(data, []byte("RIFF")) && string(data[8:12]) == "WEBP" {
		return "image/webp"
	}
	return ""
}

// Versions returns a file after each of its changes in a session and its sub-agents, the oldest first, and its path. Path is
// absolute, relative to the session's directory, or the end of a path. The error is history.ErrNotFound if the session did
// not touch it, a *history.AmbiguousError if several files match.
func Versions(ctx context.Context, l *reader.Library, e reader.Entry, path string) (whole string, all []Version, err error) {
	whole, found, err := history.Changes(ctx, l.History(), l.Family(e), history.Wanted{Path: path, Dir: e.Kept.Cwd})
	if err != nil {
		return "", nil, fmt.Errorf("list versions: %w", err)
	}
	before := -1 // the last version that is known
	for i, c := range found {
		v := Version{Record: c.Record, Session: c.Source.ID, Time: c.Time, How: c.How, Text: c.Text, Known: c.Known, Lines: lines(c.Text)}
		if c.Known && before >= 0 && c.Text != found[before].Text {
			v.Diff = string(diff.Diff("before", []byte(found[before].Text), "after", []byte(c.Text)))
		}
		if c.Known {
			before = i
		}
		all = append(all, v)
	}
	return whole, all, nil
}

func lines(text string) int {
	n := bytes.Count([]byte(text), []byte("\n"))
	if text != "" && text[len(text)-1] != '\n' {
		n++
	}
	return n
}
