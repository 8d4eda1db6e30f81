package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // the decoders of DecodeConfig
	_ "image/jpeg"
	_ "image/png"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"ccd/archive"
	"ccd/cmd/ccd/internal/history"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/view"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// The limits of an image that is shown.
const (
	maxImage  = 16 << 20   // bytes
	maxPixels = 50_000_000 // a browser allocates four bytes for each
)

// originalData is the page of an original.
type originalData struct {
	view.Original
	Called  string    `json:"-"` // the session's title, or its ID
	Now     time.Time `json:"-"`
	Home    string    `json:"-"` // the session's ID as addresses have it
	Name    string    `json:"-"` // how ccd restore calls it
	Exact   string    `json:"-"` // address of the original with its secrets
	Picture string    `json:"-"` // address of the image
	Checked string    `json:"checked"`
	Image   bool      `json:"image"`
}

// place is what an address of an original names: an ID, or a record of a session and perhaps an item of it. A record finds
// an item faster, because an ID that no companion names is searched for in the whole archive.
type place struct {
	entry  reader.Entry
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
			return p, fmt.Errorf("find record %s: %w", mark.Inline(r.PathValue("n"), 20), history.ErrNotFound)
		}
		if id = r.URL.Query().Get("id"); id == "" {
			return p, nil
		}
	}
	p.id = mark.ID(id)
	if _, _, err := mark.PrefixRange(id); err != nil { // so a path names nothing but an ID
		return p, fmt.Errorf("find id %s: %w", mark.Inline(id, 60), history.ErrNotFound)
	}
	return p, nil
}

// restore reads an original and checks it.
func (s *Server) restore(ctx context.Context, l *reader.Library, p place) (o view.Original, err error) {
	if p.record == 0 {
		return view.Restore(ctx, l, string(p.id))
	}
	err = s.near(ctx, l, p, func(one *view.Life, record int) error {
		o, err = one.Original(ctx, record, p.id)
		return err
	})
	if p.id != "" && errors.Is(err, history.ErrNotFound) {
		return view.Restore(ctx, l, string(p.id))
	}
	return o, err
}

// nearby is how many records behind a call its result is looked for, before the whole archive is searched.
const nearby = 24

// near calls try with the record of a place and, for an item that it does not have, with the records behind it.
func (s *Server) near(ctx context.Context, l *reader.Library, p place, try func(one *view.Life, record int) error) error {
	return s.shelf.use(ctx, l, p.entry, briefly, func(indexed *life, g archive.Generation) error {
		one, err := indexed.life, indexed.reach(ctx, g, p.record)
		if err != nil {
			return err
		}
		err = try(one, p.record)
		for n := p.record + 1; p.id != "" && errors.Is(err, history.ErrNotFound) && n <= min(p.record+nearby, one.Records); n++ {
			err = try(one, n)
		}
		return err
	})
}

// writeExact writes an original with its secrets. An item of a record is read before it is written, so that a slow client
// does not keep the index from others.
func (s *Server) writeExact(ctx context.Context, l *reader.Library, p place, w io.Writer) error {
	if p.record == 0 {
		return view.Exact(ctx, l, string(p.id), w)
	}
	var b bytes.Buffer
	err := s.near(ctx, l, p, func(one *view.Life, record int) error { return one.Exact(ctx, record, p.id, &b) })
	if p.id != "" && errors.Is(err, history.ErrNotFound) {
		return view.Exact(ctx, l, string(p.id), w)
	}
	if err != nil {
		return err
	}
	_, err = b.WriteTo(w)
	return err
}

func originalPage(ctx context.Context, r *request) (answer, error) {
	p, err := r.placeOf(r.library, r.Request)
	if err != nil {
		return answer{}, err
	}
	o, err := r.restore(ctx, r.library, p)
	if err != nil {
		return answer{}, err
	}
	if o.Text == o.Line { // of a record without items
		o.Text = ""
	}
	now := time.Now()
	d := originalData{
		Original: o, Home: mark.Unname(o.Session), Called: o.Session, Now: now, Checked: now.UTC().Format(time.RFC3339),
		Exact: exactLink(r.URL, "exact"), Image: imageType(o.MediaType) && o.Size <= maxImage,
	}
	if e, ok := r.library.Entry(transcript.Key{Agent: o.Agent, ID: d.Home}); ok {
		d.Called = cmp.Or(status.Of(&e).Labelled(), o.Session)
	}
	if d.Name = string(o.ID); p.record != 0 && p.id == "" {
		d.Name = words.Shell(o.Session + "#" + strconv.Itoa(p.record))
	}
	if d.Image {
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

// named returns the sessions, and what the path of an exact original names.
func (s *Server) named(r *http.Request) (*reader.Library, place, error) {
	l, err := s.shelf.load(r.Context())
	if err != nil {
		return nil, place{}, err
	}
	p, err := s.placeOf(l, r)
	return l, p, err
}

// exact sends an original with its secrets, as text that no browser takes for a page.
func (s *Server) exact(w http.ResponseWriter, r *http.Request) {
	l, p, err := s.named(r)
	if err != nil {
		s.failed(w, r, err)
		return
	}
	how := "inline"
	if r.URL.Query().Has("download") {
		how = "attachment"
	}
	name := cmp.Or(string(p.id), p.entry.ID+"-"+strconv.Itoa(p.record))
	out := &late{w: w, begin: func(h http.Header) {
		h.Set("Content-Security-Policy", bareCSP)
		h.Set("Content-Type", "text/plain; charset=utf-8")
		h.Set("Content-Disposition", how+`; filename="`+unsafeInNames.ReplaceAllString(name, "-")+`.txt"`)
	}}
	err = s.writeExact(r.Context(), l, p, out)
	switch {
	case err != nil && !out.begun:
		s.failed(w, r, err)
	case err != nil:
		panic(http.ErrAbortHandler) // the client must not take a part for the whole
	case !out.begun:
		out.begin(w.Header()) // it is empty
	}
}

// unsafeInNames matches what a system may take for more than a part of a file's name.
var unsafeInNames = regexp.MustCompile(`[^a-zA-Z0-9-]`)

// late sets the headers before the first byte, so that an error before it can still be a page. Each write has its own
// time: an original may be large.
type late struct {
	w     http.ResponseWriter
	begin func(http.Header)
	begun bool
}

// Write implements io.Writer. It sends the headers before the first bytes, so that an error before them can have its own.
func (l *late) Write(p []byte) (int, error) {
	if !l.begun {
		l.begun = true
		l.begin(l.w.Header())
	}
	_ = http.NewResponseController(l.w).SetWriteDeadline(time.Now().Add(answerTime)) // a recorder of tests has none
	return l.w.Write(p)
}

func imageType(media string) bool {
	return slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, media)
}

// image sends an image that has a known format and a bounded size, in a sandbox.
func (s *Server) image(w http.ResponseWriter, r *http.Request) {
	data, media, err := s.imageOf(r)
	if err != nil {
		s.failed(w, r, err)
		return
	}
	w.Header().Set("Content-Security-Policy", bareCSP)
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Disposition", "inline")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data) // the client may be away
}

func (s *Server) imageOf(r *http.Request) ([]byte, string, error) {
	l, p, err := s.named(r)
	if err != nil {
		return nil, "", err
	}
	o, err := s.restore(r.Context(), l, p)
	if err != nil {
		return nil, "", err
	}
	if !imageType(o.MediaType) || o.Size > maxImage {
		return nil, "", fmt.Errorf("show image: %w", history.ErrNotFound)
	}
	var b bytes.Buffer
	if err := s.writeExact(r.Context(), l, p, &b); err != nil {
		return nil, "", err
	}
	media, err := decodable(b.Bytes())
	return b.Bytes(), media, err
}

// decodable returns the media type of an image, as its bytes say and not as the transcript does.
func decodable(data []byte) (string, error) {
	if wide, high, ok := webp(data); ok && wide*high <= maxPixels {
		return "image/webp", nil
	}
	c, kind, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return "", fmt.Errorf("show image: %w: %w", history.ErrNotFound, err)
	}
	if c.Width*c.Height > maxPixels {
		return "", errors.New("show image: it has too many pixels")
	}
	return "image/" + kind, nil
}

// webp reads the header of a WebP image. The standard library has no decoder, and a browser that gets broken bytes under
// this type and a sandbox shows nothing.
func webp(d []byte) (wide, high int, ok bool) {
	if len(d) < 30 || string(d[:4]) != "RIFF" || string(d[8:12]) != "WEBP" {
		return 0, 0, false
	}
	switch string(d[12:16]) {
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(d[26:]) & 0x3fff), int(binary.LittleEndian.Uint16(d[28:]) & 0x3fff), true
	case "VP8L":
		bits := binary.LittleEndian.Uint32(d[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, true
	case "VP8X":
		three := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
		return three(d[24:]) + 1, three(d[27:]) + 1, true
	}
	return 0, 0, false
}
