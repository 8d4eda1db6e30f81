package unit

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	_ "image/gif"  // so that DecodeConfig knows the dimensions
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise

	"ccd/internal/mark"
)

// imageHead is how much of an image is read for its format and dimensions, in bytes.
const imageHead = 64 << 10

// imageMarker returns the marker for an item that is or contains an image. It reads only the beginning of a large one.
func (w *writer) imageMarker(i int32) string {
	row := w.row(i)
	s := w.f.Span(row)
	s.Len = min(s.Len, imageHead)
	kind, size := "image", ""
	if cfg, format, err := image.DecodeConfig(bytes.NewReader(imageBytes(w.span(s)))); err == nil {
		kind, size = "image "+format, fmt.Sprintf(" %dx%d", cfg.Width, cfg.Height)
	}
	return mark.New(w.id(i), fmt.Sprintf("%s%s, %s", kind, size, bytesText(row.Size()*3/4)))
}

// imageBytes decodes the first base64 text of a JSON value as far as possible.
func imageBytes(raw []byte) []byte {
	for _, before := range []string{`;base64,`, `"data":"`, `"data": "`} {
		_, data, ok := bytes.Cut(raw, []byte(before))
		if !ok {
			continue
		}
		if end := bytes.IndexByte(data, '"'); end >= 0 {
			data = data[:end]
		}
		out := make([]byte, base64.StdEncoding.DecodedLen(len(data)))
		// An error at the truncated end is expected; the bytes before it are decoded.
		n, _ := base64.StdEncoding.Decode(out, data[:len(data)/4*4])
		return out[:n]
	}
	return nil
}
