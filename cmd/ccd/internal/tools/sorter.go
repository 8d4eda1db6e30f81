package tools

import (
	"bytes"
	"unicode/utf8"
)

const (
	maxHead  = 8000    // bytes needed to tell text, image and other data apart
	maxImage = 1 << 20 // bytes of the images in one answer
)

// sorter detects from its first bytes whether an original is text, an image or neither. It passes text to a window, keeps
// an image that is small enough, and drops anything else.
type sorter struct {
	text  *window
	image string // MIME type, "" if it is not an image
	other bool   // neither text nor an image
	known bool   // the kind has been detected
	head  []byte // the bytes before detection; for an image all of it, up to maxImage
	size  int64  // bytes written so far
	kept  bool   // head is the whole image
}

// Write implements io.Writer. It fails with errEnough when nothing more is needed.
func (s *sorter) Write(data []byte) (int, error) {
	s.size += int64(len(data))
	if !s.known {
		if s.head = append(s.head, data...); len(s.head) < maxHead {
			return len(data), nil
		}
		return len(data), s.detect()
	}
	return len(data), s.pass(data)
}

// detect decides the kind and passes on the buffered bytes.
func (s *sorter) detect() error {
	s.known = true
	s.image = imageType(s.head)
	s.other = s.image == "" && binary(s.head[:min(len(s.head), maxHead)])
	head := s.head
	s.head = nil
	return s.pass(head)
}

func (s *sorter) pass(data []byte) error {
	switch {
	case s.other:
		return errEnough
	case s.image == "":
		_, err := s.text.Write(data)
		return err
	case s.size > maxImage:
		s.head = nil
		return errEnough
	}
	s.head = append(s.head, data...)
	return nil
}

func (s *sorter) end() error {
	if !s.known {
		if err := s.detect(); err != nil {
			return err
		}
	}
	if s.image != "" {
		s.kept = true
		return nil
	}
	return s.text.end()
}

// imageType returns the MIME type of an image that models accept, by its first bytes, "" for anything else.
func imageType(head []byte) string {
	for _, f := range []struct{ starts, mime string }{
		{"\x89PNG\r\n\x1a\n", "image/png"}, {"\xff\xd8\xff", "image/jpeg"}, {"GIF87a", "image/gif"}, {"GIF89a", "image/gif"},
	} {
		if bytes.HasPrefix(head, []byte(f.starts)) {
			return f.mime
		}
	}
	if len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP" {
		return "image/webp"
	}
	return ""
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
