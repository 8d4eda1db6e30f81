package tools

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ccd/internal/transcript"
)

const (
	maxHead  = 8000    // bytes that tell text and other data apart
	maxImage = 1 << 20 // bytes of the images in one answer
)

func (h handler) addRestore(s *mcp.Server, restore func(context.Context, RestoreQuery) (Original, error)) {
	const name = "restore"
	mcp.AddTool(s, describe(name, restoreText), func(ctx context.Context, req *mcp.CallToolRequest, q RestoreQuery) (*mcp.CallToolResult, any, error) {
		return h.serve(ctx, name, func(ctx context.Context) (answer, error) {
			if err := q.check(); err != nil {
				return answer{}, err
			}
			o, err := restore(ctx, q)
			if err != nil {
				return answer{}, err
			}
			return o.page(ctx, req, q)
		})
	})
}

func (q RestoreQuery) check() error {
	switch {
	case (q.ID == "") == (q.File == ""):
		return toolError("restore: give either id or file")
	case q.File == "" && (q.At != "" || q.Session != ""):
		return toolError("restore: at and session need file; to get a record of a session use id SESSION#N")
	case q.File != "" && q.Raw:
		return toolError("restore: use only one of raw and file")
	}
	return nil
}

// page returns one page of an original.
func (o Original) page(ctx context.Context, req *mcp.CallToolRequest, q RestoreQuery) (answer, error) {
	w, err := read(func(w io.Writer) error { return o.Write(ctx, w) })
	if err != nil {
		return answer{}, err
	}
	a := answer{about: o.About, notes: o.Notes}
	if o.Hidden != nil {
		hidden, err := o.Hidden(ctx)
		if err != nil {
			return answer{}, err
		}
		if hidden != "" {
			a.notes = append(a.notes, hidden)
		}
	}
	if len(o.Images) > 0 && q.Page < 2 {
		a.images = images(o.Images)
		a.notes = append(a.notes, fmt.Sprintf("Images in it: %d, shown after its text: %d. Use raw for the JSON that contains them.", len(o.Images), len(a.images)))
	}
	switch image := transcript.ImageType(w.text); {
	case image != "" && len(w.text) <= maxImage:
		a.images = append(a.images, &mcp.ImageContent{Data: w.text, MIMEType: image})
		a.end = fmt.Sprintf("That is all of it: an image of %d bytes.", len(w.text))
		return a, nil
	case image != "":
		a.end = "It is not shown: " + image + " too large for an answer" + o.elsewhere(q) + "."
		return a, nil
	case binary(w.text[:min(len(w.text), maxHead)]):
		a.end = "It is not shown: binary data" + o.elsewhere(q) + "."
		return a, nil
	}
	return o.text(a, req, q, w)
}

// elsewhere says how large an original is, and how to get it in a shell.
func (o Original) elsewhere(q RestoreQuery) (text string) {
	if o.Bytes > 0 {
		text = fmt.Sprintf(", about %d bytes in the transcript", o.Bytes)
	}
	if q.File != "" {
		return text
	}
	return text + ". In a shell: ccd agent restore '" + q.ID + "' > FILE"
}

// text adds the page that is asked for. A byte that is not UTF-8 becomes U+FFFD, because JSON cannot represent it.
func (o Original) text(a answer, req *mcp.CallToolRequest, q RestoreQuery, w whole) (answer, error) {
	text := []byte(strings.Map(func(r rune) rune { return r }, string(w.text)))
	if !utf8.Valid(w.text) {
		a.notes = append(a.notes, "Bytes in it are not UTF-8, each shown as U+FFFD. In a shell, `ccd agent restore` prints them exactly.")
	}
	a, more, err := a.paged(req, split(text, room(req)), map[string]any{"id": o.Name})
	switch {
	case err != nil || more:
	case w.more:
		a.end = "More follows, which is too long to be shown" + o.elsewhere(q) + "."
	case len(text) == 0 && len(o.Images) > 0:
		a.end = "It has no text."
	case len(text) == 0:
		a.end = "It is empty."
	}
	return a, err
}

// images returns the images of a type that models accept, at most maxImage bytes of them.
func images(all [][]byte) (shown []mcp.Content) {
	left := maxImage
	for _, data := range all {
		if mime := transcript.ImageType(data); mime != "" && len(data) <= left {
			shown = append(shown, &mcp.ImageContent{Data: data, MIMEType: mime})
			left -= len(data)
		}
	}
	return shown
}

// binary reports whether data is not text: over a tenth of it is not UTF-8, or it contains both zeros and invalid UTF-8.
func binary(head []byte) bool {
	wrong := 0
	for i := 0; i < len(head); {
		r, n := utf8.DecodeRune(head[i:])
		if r == utf8.RuneError && n == 1 && utf8.FullRune(head[i:]) {
			wrong++
		}
		i += n
	}
	return wrong*10 > len(head) || wrong > 0 && bytes.IndexByte(head, 0) >= 0
}
