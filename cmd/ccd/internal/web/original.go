package web

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // the decoders of DecodeConfig
	_ "image/jpeg"
	_ "image/png"
	"net/http"
	"strconv"
	"time"

	"ccd/cmd/ccd/internal/history"
	"ccd/cmd/ccd/internal/view"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// The limits of an image that is shown.
const (
	maxImage  = 16 << 20   // bytes
	maxPixels = 50_000_000 // a browser allocates four bytes for each
)

// originalData is the page of an original.
type originalData struct {
	view.Original
	Home    string `json:"-"` // the session's ID as addresses have it
	Label   string `json:"title"`
	Name    string `json:"-"` // how ccd restore calls it
	Link    string `json:"-"` // its address
	Checked string `json:"checked"`
	Image   bool   `json:"image"`
}

func originalPage(ctx context.Context, r *request) (answer, error) {
	name, err := originalName(r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	return r.original(ctx, name)
}

// originalName checks an ID, so that a path names nothing else.
func originalName(id string) (string, error) {
	if _, _, err := mark.PrefixRange(id); err != nil {
		return "", fmt.Errorf("find id %s: %w", mark.Inline(id, 60), history.ErrNotFound)
	}
	return id, nil
}

func recordName(session, n string) string { return session + "#" + n }

func (r *request) original(ctx context.Context, name string) (answer, error) {
	o, err := view.Restore(ctx, r.library, name)
	if err != nil {
		return answer{}, err
	}
	d := originalData{
		Original: o, Home: mark.Unname(o.Session), Label: o.Kind, Name: name, Link: r.URL.EscapedPath(), Checked: time.Now().UTC().Format(time.RFC3339),
		Image: imageType(o.MediaType) && o.Size <= maxImage,
	}
	return answer{"original", d}, nil
}

// exactName returns what the path of an exact original names.
func (s *Server) exactName(r *http.Request) (string, error) {
	if r.PathValue("agent") == "" {
		return originalName(r.PathValue("id"))
	}
	l, err := s.shelf.load(r.Context())
	if err != nil {
		return "", err
	}
	e, err := sessionOf(l, r)
	return recordName(e.ID, r.PathValue("n")), err
}

// exact sends an original with its secrets, as text that no browser takes for a page.
func (s *Server) exact(w http.ResponseWriter, r *http.Request) {
	name, err := s.exactName(r)
	if err != nil {
		s.failed(w, r, err)
		return
	}
	l, err := s.shelf.load(r.Context())
	if err != nil {
		s.failed(w, r, err)
		return
	}
	how := "inline"
	if r.URL.Query().Has("download") {
		how = "attachment"
	}
	out := &late{w: w, begin: func(h http.Header) {
		h.Set("Content-Security-Policy", bareCSP)
		h.Set("Content-Type", "text/plain; charset=utf-8")
		h.Set("Content-Disposition", how+`; filename="`+fileName(name)+`.txt"`)
	}}
	if r.Method == http.MethodHead {
		out.begin(w.Header())
		return
	}
	if err := view.Exact(r.Context(), l, name, out); err != nil && !out.begun {
		s.failed(w, r, err)
	} else if err != nil {
		panic(http.ErrAbortHandler) // the client must not take a part for the whole
	} else if !out.begun {
		out.begin(w.Header()) // it is empty
	}
}

// late sets the headers before the first byte, so that an error before it can still be told in a page. Each write has its own
// time: an original may be large.
type late struct {
	w     http.ResponseWriter
	begin func(http.Header)
	begun bool
}

func (l *late) Write(p []byte) (int, error) {
	if !l.begun {
		l.begun = true
		l.begin(l.w.Header())
	}
	_ = http.NewResponseController(l.w).SetWriteDeadline(time.Now().Add(answerTime)) // a recorder of tests has none
	return l.w.Write(p)
}

// fileName keeps of a name what no system takes for anything else.
func fileName(name string) string {
	var b []byte
	for i := 0; i < len(name) && len(b) < 60; i++ {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-':
			b = append(b, c)
		default:
			b = append(b, '-')
		}
	}
	return string(b)
}

func imageType(media string) bool {
	switch media {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
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
	name, err := originalName(r.PathValue("id"))
	if err != nil {
		return nil, "", err
	}
	l, err := s.shelf.load(r.Context())
	if err != nil {
		return nil, "", err
	}
	o, err := view.Restore(r.Context(), l, name)
	if err != nil {
		return nil, "", err
	}
	if o.Kind != transcript.Image.String() || o.Size > maxImage {
		return nil, "", fmt.Errorf("show image %s: %w", name, history.ErrNotFound)
	}
	var b bytes.Buffer
	if err := view.Exact(r.Context(), l, name, &b); err != nil {
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
