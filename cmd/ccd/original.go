package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/archive"
	"ccd/cmd/ccd/internal/history"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// original is what a restore prints: a whole generation of a session, or what a pointer stands for.
type original struct {
	library *library
	entry   entry
	session *archive.Generation // nil: found
	found   archive.Found
	raw     bool // the lines that hold it
}

// write prints it as asked for. Nothing is locked or open in the archive while w is written to.
func (o original) write(ctx context.Context, w io.Writer) error {
	switch {
	case o.session != nil:
		return o.writeSession(ctx, w)
	case o.raw && o.found.Shape != transcript.Lines && o.found.Record > 0:
		return o.writeLines(ctx, w)
	}
	return o.writeParts(ctx, w, !o.raw)
}

func (o original) writeSession(ctx context.Context, w io.Writer) error {
	if o.session.N == 0 {
		return nil
	}
	for seg, err := range o.library.archive.Reader(o.entry.Key, o.session.N).Segments(ctx) {
		if err != nil {
			return fmt.Errorf("restore session %s: %w", o.entry.ID, err)
		}
		if _, err := w.Write(seg.Data); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
	}
	return nil
}

// writeLines prints the whole lines that hold the parts of a pointer, joined by newline.
func (o original) writeLines(ctx context.Context, w io.Writer) error {
	first := true
	for r, err := range history.Holding(ctx, o.library.archive, o.entry.Session.Session, o.found.Generation, o.found.Parts) {
		if err != nil {
			return err
		}
		line := r.Raw
		if !first {
			line = append([]byte{'\n'}, line...)
		}
		first = false
		if _, err := w.Write(line); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
	}
	return nil
}

// writeParts prints the parts of a pointer joined by newline: as the agent saw them, or as they stand.
func (o original) writeParts(ctx context.Context, w io.Writer, seen bool) error {
	begun := 0
	for p, err := range o.library.archive.Raw(ctx, o.found) {
		if err != nil {
			return fmt.Errorf("restore %s: %w", o.found.Hash.ID(), err)
		}
		data := p.Data
		if seen && !p.More && o.found.Shape != transcript.Lines && p.Part.Span.Len == int64(len(data)) {
			data = transcript.Original(p.Part.Kind, data)
		}
		if p.Index >= begun {
			if begun > 0 {
				data = append([]byte{'\n'}, data...)
			}
			begun = p.Index + 1
		}
		if _, err := w.Write(data); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
	}
	return nil
}

// spilled returns the file that holds the whole of a result that the agent saw cut. What was not cut is its own whole.
func (o original) spilled(ctx context.Context) (original, error) {
	id := o.found.Hash.ID()
	if err := o.library.archive.Reader(o.found.Key, o.found.Generation).Check(ctx, o.found.Pointer); err != nil {
		return original{}, err // its ID is known: that its session is not is damage
	}
	for r, err := range history.Holding(ctx, o.library.archive, o.entry.Session.Session, o.found.Generation, o.found.Parts) {
		if err != nil {
			return original{}, err
		}
		for _, it := range r.Items {
			if it.Kind != transcript.Result || !inside(it.Span, o.found.Parts) {
				continue
			}
			said := it.Explain(it.Tool, transcript.Other)
			if whole := transcript.Demoted(said.Text); whole != "" {
				return o.library.demoted(o.entry, whole)
			}
			if said.Spilled != "" {
				return o.library.attachment(o.entry, said.Spilled)
			}
		}
	}
	return original{}, hint(fmt.Errorf("restore %s: it was not cut: the agent saw all of it", id), "ccd restore %s", id)
}

func inside(s transcript.Span, parts []transcript.Part) bool {
	for _, p := range parts {
		if p.Span.Off <= s.Off && s.End() <= p.Span.End() {
			return true
		}
	}
	return false
}

// demoted returns the whole of an output of which a hook let the agent see the beginning.
func (l *library) demoted(of entry, whole mark.ID) (original, error) {
	for _, e := range l.sessions {
		if e.Class != transcript.Attachment || e.Agent != of.Agent {
			continue
		}
		if g, err := e.generation(0); err == nil && g.Sum.ID() == whole {
			return original{library: l, entry: e, session: &g}, nil
		}
	}
	return original{}, l.missing(fmt.Errorf("restore demoted output %s: %w", whole, history.ErrNotFound))
}

// attachment returns the archived file of a session that the transcript calls file: by its path or, where the session
// moved, by its name among the files of that session.
func (l *library) attachment(of entry, file string) (original, error) {
	name := "tool-results/" + transcript.Base(file)
	family := cmp.Or(of.Parent, of.ID)
	for _, e := range l.sessions {
		own := e.Parent == of.ID || e.Parent == family
		if e.Class == transcript.Attachment && (e.Path == file || own && strings.HasSuffix(e.ID, "/"+name)) {
			g, err := e.generation(0)
			return original{library: l, entry: e, session: &g}, err
		}
	}
	return original{}, l.missing(fmt.Errorf("restore spilled file %s: %w: it was gone before it could be archived", file, history.ErrNotFound))
}

// infoOutput is what --info tells.
type infoOutput struct {
	ID         mark.ID    `json:"id"`
	Kind       string     `json:"kind"`
	Shape      string     `json:"shape"`
	Agent      string     `json:"agent"`
	Session    string     `json:"session"`
	Generation int        `json:"generation"`
	Path       string     `json:"path"`
	Record     int        `json:"record"`
	Last       int        `json:"last_record"`
	Time       *time.Time `json:"time"`
	Offset     int64      `json:"offset"`
	Bytes      int64      `json:"bytes"`
	Size       int64      `json:"size"`
	SHA256     string     `json:"sha256"`
	Parts      int        `json:"parts"`
	Note       string     `json:"note"`
}

// counter counts what is written to it.
type counter int64

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func (a *app) restoreInfo(ctx context.Context, o original) error {
	i, err := o.info(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(i)
	}
	records := strconv.Itoa(i.Record)
	if i.Last > i.Record {
		records = fmt.Sprintf("%d to %d", i.Record, i.Last)
	}
	when := ""
	if i.Time != nil {
		when = i.Time.Format(time.RFC3339)
	}
	note := i.Note
	if note == i.Kind {
		note = ""
	}
	rows := [][]string{
		{"id", string(i.ID)},
		{"kind", i.Kind},
		{"note", mark.Inline(note, 200)},
		{"session", i.Agent + " " + i.Session},
		{"generation", strconv.Itoa(i.Generation)},
		{"path", i.Path},
		{"record", records},
		{"time", when},
		{"offset", strconv.FormatInt(i.Offset, 10)},
		{"bytes", exactSize(i.Bytes)},
		{"size", exactSize(i.Size)},
		{"sha256", i.SHA256},
	}
	return a.table(slices.DeleteFunc(rows, func(r []string) bool { return r[1] == "" || r[1] == "0" && r[0] == "record" }))
}

// exactSize tells a size to the byte, and a large one also for people.
func exactSize(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%d B (%s)", n, humanize.IBytes(uint64(n)))
}

// info reads the whole original, so that what it tells is checked.
func (o original) info(ctx context.Context) (infoOutput, error) {
	i := infoOutput{
		Agent: o.entry.Agent, Session: mark.Name(o.entry.ID), Path: mark.Name(o.entry.Path), Generation: o.found.Generation,
		ID: o.found.Hash.ID(), Record: o.found.Record, Last: o.found.Last, Time: known(o.found.Time),
		Parts: len(o.found.Parts), Note: o.found.Note, Shape: "single",
	}
	sum := sha256.New()
	var bytes, size counter
	raw := o
	raw.raw = true
	if o.session != nil {
		i.Kind, i.ID, i.Generation = "transcript", o.session.Sum.ID(), o.session.N
		i.Record, i.Last, i.Parts = 1, o.entry.state.Records, 1
	} else {
		i.Offset = o.found.Parts[0].Span.Off
		i.Kind, i.Shape = kindOf(o.found.Pointer)
	}
	if err := raw.writeRaw(ctx, io.MultiWriter(sum, &bytes)); err != nil {
		return i, err
	}
	if err := o.write(ctx, &size); err != nil {
		return i, err
	}
	i.Bytes, i.Size, i.SHA256 = int64(bytes), int64(size), hex.EncodeToString(sum.Sum(nil))
	return i, nil
}

// writeRaw prints the raw span itself, not the lines around it.
func (o original) writeRaw(ctx context.Context, w io.Writer) error {
	if o.session != nil {
		return o.writeSession(ctx, w)
	}
	return o.writeParts(ctx, w, false)
}

func kindOf(p transcript.Pointer) (kind, shape string) {
	switch p.Shape {
	case transcript.Lines:
		return "range", "lines"
	case transcript.List:
		return "list", "list"
	}
	return p.Parts[0].Kind.String(), "single"
}
