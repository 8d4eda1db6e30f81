package tools

import (
	"bytes"
	"unicode/utf8"
)

const (
	maxHead  = 8000    // bytes by which an original is told to be text, an image or neither
	maxImage = 1 << 20 // bytes of an image that is given as one
)

// sorter tells from its first bytes what an original is: text goes on to a window, an image is kept while it is small
// enough, anything else is only counted.
type sorter struct {
	text  *window
	image string // MIME type, "" for no image
	other bool   // neither text nor an image
	told  bool   // it is known which
	head  []byte // bytes before it is known; of an image all, up to maxImage
	size  int64  // bytes that have passed
	kept  bool   // head is the whole image
}

// Write implements io.Writer. It fails with errEnough when nothing more is needed.
func (s *sorter) Write(data []byte) (int, error) {
	s.size += int64(len(data))
	if !s.told {
		if s.head = append(s.head, data...); len(s.head) < maxHead {
			return len(data), nil
		}
		return len(data), s.tell()
	}
	return len(data), s.pass(data)
}

// tell decides, and passes on what was held back.
func (s *sorter) tell() error {
	s.told = true
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
	if !s.told {
		if err := s.tell(); err != nil {
			return err
		}
	}
	if s.image != "" {
		s.kept = true
		return nil
	}
	return s.text.end()
}

// imageType returns the MIME type of an image that models take, by its first bytes.
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

// binary reports whether bytes are no text: more than one of ten is not UTF-8, or some are not and others are zero.
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
