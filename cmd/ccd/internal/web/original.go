package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"ccd/archive"
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
	Called  string // the session's title, or its ID
	Now     time.Time
	Home    string // the session's ID as addresses have it
	Name    string // how ccd restore calls it
	Exact   string // address of the original with its secrets
	Picture string // address of the image, "" if it is none
}

// place is what an address of an original names: an ID, or a record of a session and perhaps an item of it. A record finds
// an item faster, because an ID that no companion names is searched for in the whole archive.
type place struct {
	entry  *reader.Entry
	record int // 0: only the ID is known
	id     mark.ID
}

func (s *Server) placeOf(l *reader.Library, r *http.Request) (p place, err error) {
	id := r.PathValue("id")
	if r.PathValue("agent") != "" {
		if p.entry, err = sessionOf(l, r); err != nil {
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

// find finds what a place names.
func (s *Server) find(ctx context.Context, l *reader.Library, p place) (o reader.Original, err error) {
	if p.record != 0 {
		err = s.shelf.use(ctx, l, p.entry, func(one *view.Index) error {
			o, err = one.Original(ctx, p.record, p.id)
			return err
		})
		if p.id == "" || !errors.Is(err, archive.ErrNotFound) {
			return o, noneIf(err, "This session has no record %d.", p.record)
		}
	}
	o, err = l.Original(ctx, reader.Wanted{Name: string(p.id)}, nil)
	return o, noneIf(err, "The archive has no original %s.", p.id)
}

func originalPage(ctx context.Context, r *request) (answer, error) {
	p, err := r.placeOf(r.library, r.Request)
	if err != nil {
		return answer{}, err
	}
	found, err := r.find(ctx, r.library, p)
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
	d := originalData{Original: o, Home: mark.Unname(o.Session), Called: o.Session, Now: time.Now(), Exact: exactLink(r.URL, "exact")}
	if e := r.library.Entry(transcript.Key{Agent: o.Agent, ID: d.Home}); e != nil {
		d.Called = cmp.Or(status.Of(e).Labelled(), o.Session)
	}
	if d.Name = string(o.ID); p.record != 0 && p.id == "" {
		d.Name = words.Shell(o.Session + "#" + strconv.Itoa(p.record))
	}
	if o.MediaType != "" && o.Size <= maxImage {
		d.Picture = exactLink(r.URL, "image")
	}
	return answer{"original", d}, nil
}

// exactLink returns the address of another form of the original at u.
func exactLink(u *url.URL, form string) string {
	to := u.EscapedPath() + "/" + form
	if id := u.Query().Get("id"); id != "" {
		to += "?" + url.Values{"id": {id}}.Encode()
	}
	return to
}

// named returns what the path of an exact original names.
func (s *Server) named(r *http.Request) (p place, o reader.Original, err error) {
	l, err := s.shelf.load(r.Context())
	if err != nil {
		return p, o, err
	}
	if p, err = s.placeOf(l, r); err != nil {
		return p, o, err
	}
	if o, err = s.find(r.Context(), l, p); err != nil {
		return p, o, err
	}
	return p, o.Exact(), nil
}

// exact sends an original with its secrets, as text that no browser takes for a page.
func (s *Server) exact(w http.ResponseWriter, r *http.Request) {
	p, o, err := s.named(r)
	if err != nil {
		s.failed(w, err)
		return
	}
	how := "inline"
	if r.URL.Query().Has("download") {
		how = "attachment"
	}
	name := cmp.Or(string(p.id), p.entry.ID+"-"+strconv.Itoa(p.record))
	s.send(w, how, name, "text/plain", ".txt", func(w io.Writer) error { return o.Write(r.Context(), w) })
}

// export sends a session as one file, as ccd export writes it.
func (s *Server) export(w http.ResponseWriter, r *http.Request) {
	l, e, err := s.session(r)
	if err != nil {
		s.failed(w, err)
		return
	}
	s.send(w, "attachment", e.ID, "text/html", ".html", func(w io.Writer) error { return Export(r.Context(), l, e, w) })
}

// version sends a version of a file, without its secrets.
func (s *Server) version(w http.ResponseWriter, r *http.Request) {
	l, e, err := s.session(r)
	if err != nil {
		s.failed(w, err)
		return
	}
	path, all, err := l.Changes(r.Context(), e, r.URL.Query().Get("path"))
	n, _ := strconv.Atoi(r.URL.Query().Get("v"))
	if err == nil && (n < 1 || n > len(all)) {
		err = none("The file has no such version.")
	}
	if err != nil {
		s.failed(w, err)
		return
	}
	s.send(w, "attachment", words.Directory(path), "text/plain", ".txt", func(w io.Writer) error {
		_, err := io.WriteString(w, all[n-1].Text)
		return err
	})
}

// session returns the session that an address names.
func (s *Server) session(r *http.Request) (l *reader.Library, e *reader.Entry, err error) {
	if l, err = s.shelf.load(r.Context()); err == nil {
		e, err = sessionOf(l, r)
	}
	return l, e, err
}

// send sends a file that write writes, shown inline or as an attachment.
func (s *Server) send(w http.ResponseWriter, how, name, kind, ending string, write func(io.Writer) error) {
	out := &late{w: w, begin: func(h http.Header) {
		h.Set("Content-Security-Policy", bareCSP)
		h.Set("Content-Type", kind+"; charset=utf-8")
		h.Set("Content-Disposition", how+`; filename="`+unsafeInNames().ReplaceAllString(name, "-")+ending+`"`)
	}}
	err := write(out)
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
var unsafeInNames = lazy.Regexp(`[^a-zA-Z0-9-]`)

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

// image sends an image of a known type, as its bytes say and not as the transcript does, in a sandbox.
func (s *Server) image(w http.ResponseWriter, r *http.Request) {
	_, o, err := s.named(r)
	var b bytes.Buffer
	if err == nil && o.Bytes() <= 2*maxImage { // it is in base64
		err = o.Write(r.Context(), &b)
	}
	media := view.MediaType(b.Bytes())
	if err == nil && (media == "" || b.Len() > maxImage) {
		err = none("ccd does not show this original as an image.")
	}
	if err != nil {
		s.failed(w, err)
		return
	}
	w.Header().Set("Content-Security-Policy", bareCSP)
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Disposition", "inline")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	_, _ = b.WriteTo(w) // the client may be away
}
