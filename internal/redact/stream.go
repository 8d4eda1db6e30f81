package redact

import (
	"bytes"
	"io"
)

// Windows of a stream, in bytes. What is further apart than overlap does not tell what the other is: a secret, or the lines around one.
const (
	window  = 1 << 20
	overlap = 64 << 10
)

// Stream is a writer that searches any text for secrets, whatever its writes and lines are. It holds back at most about
// a MiB of the text; Close writes the rest.
type Stream struct {
	*Session
	w               io.Writer
	held            []byte
	written         int // of held, which stays for what is behind it
	window, overlap int
}

// NewStream returns a stream to w that numbers secrets as s does. If s is nil, it passes the text on.
func NewStream(s *Session, w io.Writer) *Stream {
	return &Stream{Session: s, w: w, window: window, overlap: overlap}
}

// Write implements io.Writer.
func (s *Stream) Write(p []byte) (int, error) {
	if s.Session == nil {
		return s.w.Write(p)
	}
	for rest := p; len(rest) > 0; {
		n := min(len(rest), s.window-len(s.held))
		s.held, rest = append(s.held, rest[:n]...), rest[n:]
		if len(s.held) < s.window {
			break
		}
		if err := s.pass(s.window - s.overlap); err != nil {
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
	marks := From(s.find(s.held), s.written)
	if end < len(s.held) {
		if least := max(end/2, s.written); bytes.IndexByte(s.held[least:end], '\n') >= 0 {
			end = bytes.LastIndexByte(s.held[:end], '\n') + 1
		}
		n := len(marks) - len(From(marks, end))
		if n < len(marks) && marks[n].From < end {
			if end = marks[n].From; end <= s.written {
				end = marks[n].To
				n++
			}
		}
		marks = marks[:n]
	}
	if _, err := s.w.Write(Apply(s.held[s.written:end], s.written, s.numbered(marks))); err != nil {
		return err
	}
	keep := max(0, end-s.overlap)
	if i := bytes.IndexByte(s.held[keep:end], '\n'); keep > 0 && i >= 0 {
		keep += i + 1
	}
	s.held, s.written = append(s.held[:0], s.held[keep:]...), end-keep
	return nil
}
