package redact

import (
	"bytes"
	"io"
)

// Windows of a stream, in bytes. A secret longer than overlap that spans two windows can be missed.
const (
	window  = 1 << 20
	overlap = 64 << 10
)

// Stream is a writer that searches any text for secrets, whatever its writes and lines are. It holds back at most about
// a MiB of the text; Close writes the rest.
type Stream struct {
	*Session
	w    io.Writer
	held []byte
}

// NewStream returns a stream to w that numbers secrets as s does. If s is nil, it passes the text on.
func NewStream(s *Session, w io.Writer) *Stream { return &Stream{Session: s, w: w} }

// Write implements io.Writer.
func (s *Stream) Write(p []byte) (int, error) {
	if s.Session == nil {
		return s.w.Write(p)
	}
	for rest := p; len(rest) > 0; {
		n := min(len(rest), window-len(s.held))
		s.held, rest = append(s.held, rest[:n]...), rest[n:]
		if len(s.held) < window {
			break
		}
		if err := s.pass(window - overlap); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// Close writes what is held back. It does not close the writer behind.
func (s *Stream) Close() error {
	if s.Session == nil {
		return nil
	}
	return s.pass(len(s.held))
}

// pass writes the beginning of what is held: the lines before byte end, or up to end if there is none, and no part of a
// secret that ends behind it.
func (s *Stream) pass(end int) error {
	marks := s.Marks(s.held)
	if end < len(s.held) {
		if i := bytes.LastIndexByte(s.held[end/2:end], '\n'); i >= 0 {
			end = end/2 + i + 1
		}
		if m := From(marks, end); len(m) > 0 && m[0].From < end {
			if end = m[0].From; end == 0 {
				end = m[0].To
			}
		}
	}
	if _, err := s.w.Write(Apply(s.held[:end], 0, marks)); err != nil {
		return err
	}
	s.held = append(s.held[:0], s.held[end:]...)
	return nil
}
