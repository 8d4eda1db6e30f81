package web

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/view"
	"ccd/internal/lazy"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// maxImage is how large an image may be that is shown, in bytes.
const maxImage = 16 << 20

// originalData is the page of an original.
type originalData struct {
	view.Original
	Called  string // the session's title, or its ID, escaped
	Now     time.Time
	Home    string // the session's ID as addresses have it
	Name    string // how ccd restore calls it
	Exact   string // address of the original with its secrets
	Picture string // address of the image, "" if it is none
}

// place is what an address of an original names: an ID, or a record of a session and perhaps an item of it. The session finds
// an item faster, because an ID that no companion names is searched for in the whole archive.
type place struct {
	entry  *reader.Entry // nil: only the ID is known
	record int
	id     mark.ID
}

func (r *request) place() (p place, err error) {
	id := r.PathValue("id")
	if r.PathValue("agent") != "" {
		if p.entry, err = sessionOf(r.library, r.Request); err != nil {
			return p, err
		}
		if p.record, err = strconv.Atoi(r.PathValue("n")); err != nil || p.record == 0 {
			return p, none(mark.Inline(r.PathValue("n"), 20) + " is not the number of a record.")
		}
		if id = r.URL.Query().Get("id"); id == "" {
			return p, nil
		}
	}
	p.id = mark.ID(id)
	if _, _, err := mark.PrefixRange(id); err != nil { // so a path names nothing but an ID
		return p, none(mark.Inline(id, 60) + " is not an ID.")
	}
	return p, nil
}

// original finds what the address names.
func (r *request) original(ctx context.Context) (p place, o reader.Original, err error) {
	if p, err = r.place(); err != nil {
		return p, o, err
	}
	if p.id == "" {
		for o, err = range r.library.Records(ctx, p.entry, reader.Wanted{Raw: true}, p.record, p.record) {
			break
		}
		return p, o, noneIf(err, "This session has no record %d.", p.record)
	}
	o, err = r.library.Original(ctx, reader.Wanted{Name: string(p.id), In: p.entry}, nil)
	return p, o, noneIf(err, "The archive has no original %s.", p.id)
}

// form returns the address of another form of the original.
func (r *request) form(name string) string {
	return r.URL.EscapedPath() + "/" + name + "?" + r.URL.RawQuery
}

func originalPage(ctx context.Context, r *request) (answer, error) {
	p, found, err := r.original(ctx)
	if err != nil {
		return answer{}, err
	}
	o, err := view.Show(ctx, found)
	if err != nil {
		return answer{}, err
	}
	if o.Text == o.Line { // of a record without items
		o.Text = ""
	}
	d := originalData{Original: o, Home: mark.Unname(o.Session), Called: inline(mark.Unname(o.Session)), Now: time.Now(), Exact: r.form("exact")}
	if e := r.library.Entry(transcript.Key{Agent: o.Agent, ID: d.Home}); e != nil {
		d.Called = cmp.Or(status.Of(e).Labelled(), d.Called)
	}
	if d.Name = string(o.ID); p.record != 0 && p.id == "" {
		d.Name = words.Shell(o.Session + "#" + strconv.Itoa(p.record))
	}
	if o.MediaType != "" && o.Size <= maxImage {
		d.Picture = r.form("image")
	}
	return answer{template: "original", data: d}, nil
}

// file is what a page sends that is none itself.
type file struct {
	how, name, kind string // how is inline or attachment
	write           func(io.Writer) error
}

// exactFile is an original with its secrets, as text that no browser takes for a page.
func exactFile(ctx context.Context, r *request) (answer, error) {
	p, o, err := r.original(ctx)
	if err != nil {
		return answer{}, err
	}
	f := &file{"inline", string(p.id) + ".txt", "text/plain; charset=utf-8", func(w io.Writer) error { return o.Exact().Write(r.Context(), w) }}
	if r.URL.Query().Has("download") {
		f.how = "attachment"
	}
	if p.id == "" {
		f.name = p.entry.ID + "-" + strconv.Itoa(p.record) + ".txt"
	}
	return answer{file: f}, nil
}

// exportFile is a session as one file, as ccd export writes it.
func exportFile(_ context.Context, r *request) (answer, error) {
	return answer{file: &file{"attachment", r.entry.ID + ".html", "text/html; charset=utf-8", func(w io.Writer) error {
		return Export(r.Context(), r.library, r.entry, w)
	}}}, nil
}

// transcriptFile is a session's transcript with its secrets, byte for byte.
func transcriptFile(_ context.Context, r *request) (answer, error) {
	o, err := r.library.Whole(r.entry, 0)
	write := func(w io.Writer) error { return o.Exact().Write(r.Context(), w) }
	name, _ := transcript.Unpacked(r.entry.Path)
	return answer{file: &file{"attachment", transcript.Base(name), "text/plain; charset=utf-8", write}}, err
}

// imageFile is an image of a known type, as its bytes say and not as the transcript does.
func imageFile(ctx context.Context, r *request) (answer, error) {
	_, o, err := r.original(ctx)
	var b bytes.Buffer
	if err == nil && o.Bytes() <= 2*maxImage { // it is in base64
		err = o.Exact().Write(ctx, &b)
	}
	media := transcript.ImageType(b.Bytes())
	if err == nil && (media == "" || b.Len() > maxImage) {
		err = none("ccd does not show this original as an image.")
	}
	return answer{file: &file{"inline", "image", media, func(w io.Writer) error {
		_, err := b.WriteTo(w)
		return err
	}}}, err
}

// send sends a file, in a sandbox.
func (s *Server) send(w http.ResponseWriter, f *file) {
	out := &late{w: w, begin: func(h http.Header) {
		h.Set("Content-Security-Policy", bareCSP)
		h.Set("Content-Type", f.kind)
		h.Set("Content-Disposition", f.how+`; filename="`+strings.TrimLeft(unsafeInNames().ReplaceAllString(f.name, "-"), ".")+`"`) // a dot before it would hide it
	}}
	err := f.write(out)
	switch {
	case err != nil && !out.begun:
		s.failed(w, err)
	case err != nil:
		panic(http.ErrAbortHandler) // the client must not take a part for the whole
	case !out.begun:
		out.begin(w.Header()) // it is empty
	}
}

// unsafeInNames matches what a system may take for more than a part of a file's name.
var unsafeInNames = lazy.Regexp(`[^a-zA-Z0-9._-]`)

// late sets the headers before the first byte, so that an error before it can still be a page. Each write has its own
// time: an original may be large.
type late struct {
	w     http.ResponseWriter
	begin func(http.Header)
	begun bool
}

// Write implements io.Writer.
func (l *late) Write(p []byte) (int, error) {
	if !l.begun {
		l.begun = true
		l.begin(l.w.Header())
	}
	_ = http.NewResponseController(l.w).SetWriteDeadline(time.Now().Add(answerTime)) // a recorder of tests has none
	return l.w.Write(p)
}
