package reader

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"ccd/archive"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// Original is what a restore prints: a whole generation of a session, or what a pointer stands for.
type Original struct {
	Entry   *Entry
	Whole   bool // all of a session's file
	library *Library
	found   archive.Found
	raw     bool                // the lines that hold it
	line    *transcript.Pointer // the line that holds it, nil if it has not been read
	hidden  *secrets            // of this line
	what    string              // is in this line
}

// Raw is the lines that hold the original.
func (o Original) Raw() Original {
	o.raw = true
	return o
}

// reading is the generation that holds it.
func (o Original) reading() Reading {
	r, err := o.library.Reading(o.Entry, o.found.Generation)
	if err != nil { // what is kept of its session is damaged
		r.N, r.Tip.Offset = o.found.Generation, math.MaxInt64
	}
	return r
}

// Exact is the original with its secrets: what `ccd restore` prints for a person.
func (o Original) Exact() Original {
	place, l := *o.library.Place, *o.library
	place.Agents = place.Agents.Exact()
	l.Place = &place
	o.library, o.hidden = &l, nil
	return o
}

// Write prints it as asked for, without its secrets if the library's agents leave them out. Nothing is locked or open in
// the archive while w is written to.
func (o Original) Write(ctx context.Context, w io.Writer) error {
	switch {
	case o.Whole:
		return o.redacted(w, func(w io.Writer) error { return o.writeSession(ctx, w) })
	case o.raw && o.line != nil:
		o.found.Pointer = *o.line
	case o.raw && o.found.Shape != transcript.Lines && o.found.Record != 0:
		return o.writeLines(ctx, w)
	}
	found, err := o.secrets(ctx)
	switch {
	case err != nil:
		return err
	case found.long:
		return o.redacted(w, func(w io.Writer) error { return o.writeParts(ctx, w, !o.raw, found) })
	}
	return o.writeParts(ctx, w, !o.raw, found)
}

func (o Original) writeSession(ctx context.Context, w io.Writer) error {
	if o.found.Generation == 0 {
		return nil
	}
	for seg, err := range o.reading().Bytes().Segments(ctx) {
		if err != nil {
			return fmt.Errorf("restore session %s: %w", o.Entry.ID, err)
		}
		if _, err := w.Write(seg.Data); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
	}
	return nil
}

// writeLines prints the whole lines that hold the parts of a pointer, joined by newline.
func (o Original) writeLines(ctx context.Context, w io.Writer) error {
	first := true
	for r, err := range o.reading().Holding(ctx, o.found.Parts) {
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

// writeParts prints the parts of a pointer joined by newline, without the secrets: as the agent saw them, or as they stand.
func (o Original) writeParts(ctx context.Context, w io.Writer, seen bool, hidden secrets) error {
	begun := 0
	var off int64
	for p, err := range o.library.Archive.Raw(ctx, o.found) {
		if err != nil {
			return fmt.Errorf("restore %s: %w", o.found.Hash.ID(), err)
		}
		if p.Index >= begun {
			off = p.Part.Span.Off
		}
		data := hidden.hide(p.Data, off)
		off += int64(len(p.Data))
		if seen && !p.More && o.found.Shape != transcript.Lines && p.Part.Span.Len == int64(len(p.Data)) {
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

// file is all of a generation.
func (l *Library) file(e *Entry, g archive.Generation) Original {
	p := transcript.Pointer{Hash: g.Sum, Record: 1, Last: e.Kept.Records, Parts: []transcript.Part{{Span: transcript.Span{Len: g.Tip.Offset}}}}
	return Original{library: l, Entry: e, Whole: true, found: archive.Found{Pointer: p, Key: e.Key, Generation: g.N}}
}

// Info is what --info tells.
type Info struct {
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

// Info reads the whole original, so that what it tells is checked.
func (o Original) Info(ctx context.Context) (Info, error) {
	i := Info{
		Agent: o.Entry.Agent, Session: mark.Name(o.Entry.ID), Path: mark.Name(o.Entry.Path), Generation: o.found.Generation,
		ID: o.found.Hash.ID(), Record: o.found.Record, Last: o.found.Last, Time: words.Known(o.found.Time),
		Parts: len(o.found.Parts), Note: o.found.Note, Shape: "single",
	}
	sum := sha256.New()
	var bytes, size counter
	if i.Kind = "transcript"; !o.Whole {
		i.Offset = o.found.Parts[0].Span.Off
		i.Kind, i.Shape = o.found.Pointer.Kind(), o.found.Shape.String()
	}
	write := o.writeSession
	if !o.Whole { // the raw span itself, not the lines around it
		write = func(ctx context.Context, w io.Writer) error { return o.writeParts(ctx, w, false, secrets{}) }
	}
	if err := write(ctx, io.MultiWriter(sum, &bytes)); err != nil {
		return i, err
	}
	if err := o.Write(ctx, &size); err != nil {
		return i, err
	}
	i.Bytes, i.Size, i.SHA256 = int64(bytes), int64(size), hex.EncodeToString(sum.Sum(nil))
	return i, nil
}

// ID names it.
func (o Original) ID() mark.ID { return o.found.Hash.ID() }

// Bytes is what it takes in the transcript.
func (o Original) Bytes() int64 { return sizeOf(o.found) }

// Lag returns how many bytes of a session's file are not archived, 0 for an earlier generation and for a part of one.
func (o Original) Lag() int64 {
	if !o.Whole || o.found.Generation != o.Entry.Tip().Generation {
		return 0
	}
	return o.Entry.Lag()
}

// About tells in one line what it is and where it stood.
func (o Original) About() string {
	where := o.Entry.Agent + " session " + mark.Inline(o.Entry.ID, 400)
	if o.Whole {
		return mark.New(o.ID(), "file") + " of " + where
	}
	kind := o.found.Pointer.Kind()
	switch {
	case o.found.Last > o.found.Record:
		where += fmt.Sprintf(", records %d to %d", o.found.Record, o.found.Last)
	case o.found.Record != 0:
		where += fmt.Sprintf(", record %d", o.found.Record)
	}
	if o.raw {
		kind += ", raw"
	}
	return mark.New(o.ID(), kind) + " of " + where + Naming(nil).time(", ", &o.found.Time)
}

// Heading is what stands above it in a list: "#12 · 14:05 · call Bash".
func (o Original) Heading() string {
	parts := []string{cmp.Or(o.what, o.found.Pointer.Kind())}
	if !o.found.Time.IsZero() {
		parts = append([]string{words.Local(o.found.Time)}, parts...)
	}
	return fmt.Sprintf("#%d · %s", o.found.Record, strings.Join(parts, " · "))
}

// maxApart is the size, in bytes, up to which an original is looked through for images.
const maxApart = 16 << 20

// Apart parts an original that holds images beside text. It returns none where there are none beside text: then the
// original is what write prints.
func (o Original) Apart(ctx context.Context) (text []byte, images [][]byte, err error) {
	may := slices.ContainsFunc(o.found.Parts, func(p transcript.Part) bool { // of one image alone there is nothing to part
		return p.Kind == transcript.Result || p.Kind == transcript.Image && len(o.found.Parts) > 1
	})
	if !may || o.raw || o.Whole || o.found.Shape == transcript.Lines || o.Bytes() > maxApart {
		return nil, nil, nil
	}
	hidden, err := o.secrets(ctx)
	if err != nil || hidden.long {
		return nil, nil, err
	}
	var texts [][]byte
	for p, err := range o.library.Archive.Raw(ctx, o.found) {
		if err != nil {
			return nil, nil, err
		}
		t, i := parted(p.Part.Kind, hidden.hide(p.Data, p.Part.Span.Off))
		texts, images = append(texts, t...), append(images, i...)
	}
	return bytes.Join(texts, []byte{'\n'}), images, nil
}

// Picture reports whether the original is an image and nothing else.
func (o Original) Picture() bool {
	return !o.Whole && !slices.ContainsFunc(o.found.Parts, func(p transcript.Part) bool { return p.Kind != transcript.Image })
}

// parted returns the texts and the images of one part. They share no memory with data.
func parted(kind transcript.Kind, data []byte) (texts, images [][]byte) {
	seen := bytes.Clone(transcript.Original(kind, data))
	if kind == transcript.Image {
		return nil, [][]byte{seen}
	}
	var blocks []struct {
		Source json.RawMessage `json:"source"`
		URL    json.RawMessage `json:"image_url"`
		Text   json.RawMessage `json:"text"`
	}
	if data = bytes.TrimSpace(data); !bytes.HasPrefix(data, []byte{'['}) || json.Unmarshal(data, &blocks) != nil {
		return [][]byte{seen}, nil
	}
	for _, b := range blocks {
		switch {
		case b.Source != nil:
			images = append(images, transcript.Original(transcript.Image, b.Source))
		case b.URL != nil:
			images = append(images, transcript.Original(transcript.Image, b.URL))
		case b.Text != nil:
			texts = append(texts, transcript.Original(transcript.Text, b.Text))
		default:
			return [][]byte{seen}, nil // a block of another kind: it is given as it stands
		}
	}
	if len(images) == 0 {
		return [][]byte{seen}, nil
	}
	return texts, images
}
