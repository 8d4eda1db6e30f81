// Package redact finds secrets (tokens, keys, passwords) in transcripts, and says what a reader gets in their place.
//
// Rules finds secrets; Session numbers them. Invariant: what is found in a line depends only on the line and the rules, so that every
// view of a session leaves out the same bytes; the number of a secret depends only on the session's lines before it.
// The package knows nothing of files, records and agents.
package redact

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"io"
	"slices"
	"strconv"
)

// Config is what a user can choose.
type Config struct {
	Off   bool
	Rules map[string]string // more kinds of secrets: a regular expression by kind; its first group, if any, is the secret
	Allow []string          // regular expressions of secrets to show
}

// Mark is a secret in a line.
type Mark struct {
	From, To int    // bytes of the line
	Kind     string // lower-case letters, digits and hyphens: "github-pat"
	N        int    // equal secrets of a session have equal numbers, from 1; 0 if unknown

	value string // the secret, decoded
	at    int    // where its text begins in the line without secrets
}

// Text is what a reader gets instead of the secret. It can stand in a JSON string.
func (m Mark) Text() string {
	if m.N == 0 {
		return "[redacted " + m.Kind + "]"
	}
	return "[redacted " + m.Kind + " " + strconv.Itoa(m.N) + "]"
}

// Session numbers the secrets of one generation of a session. Its lines are passed in their order. It is not safe for
// concurrent use. A nil Session finds nothing.
type Session struct {
	scan
	numbers map[sum]int
	kinds   map[string]int // how many different secrets of each kind

	// Whole is set if the session is read from its middle. It returns the numbers of all its lines, nil if they are
	// unknown. It is called at most once, when the first secret is found, because it has to read the session.
	Whole func() *Session
	whole *Session
}

// sum identifies a secret.
type sum [8]byte

// maxNumbers bounds the numbered secrets of a session. Later ones get no number.
const maxNumbers = 10_000

// Session returns the numbers of a session before its first line. It is nil if the rules are.
func (r *Rules) Session() *Session {
	if r == nil {
		return nil
	}
	return &Session{scan: scan{rules: r, starts: starts(), ends: ends(), names: map[string]meaning{}}, numbers: map[sum]int{}, kinds: map[string]int{}}
}

// Marks returns the secrets of the next line in order. They do not overlap, and are valid until the next call.
func (s *Session) Marks(line []byte) []Mark {
	if s == nil {
		return nil
	}
	return s.numbered(s.find(line))
}

// numbered gives the secrets of a line their numbers.
func (s *Session) numbered(marks []Mark) []Mark {
	longer := 0
	for i := range marks {
		m := &marks[i]
		m.N, m.value, m.at = s.number(m.Kind, m.value), "", m.From+longer
		longer += len(m.Text()) - (m.To - m.From)
	}
	return marks
}

// number returns the number of a secret within its kind.
func (s *Session) number(kind, secret string) int {
	var key sum
	h := sha256.Sum256([]byte(kind + " " + secret))
	copy(key[:], h[:])
	if s.Whole != nil {
		s.whole, s.Whole = cmp.Or(s.Whole(), &Session{}), nil
	}
	if s.whole != nil {
		return s.whole.numbers[key]
	}
	n := s.numbers[key]
	if n == 0 && len(s.numbers) < maxNumbers {
		s.kinds[kind]++
		n = s.kinds[kind]
		s.numbers[key] = n
	}
	return n
}

// Kinds returns how many different secrets of each kind there were so far. It must not be changed.
func (s *Session) Kinds() map[string]int {
	if s == nil {
		return nil
	}
	return s.kinds
}

// Apply returns part of a line without its secrets: raw begins at byte off of the line that the marks belong to. It also
// replaces marks that are only partly in raw. Without a mark it returns raw itself.
func Apply(raw []byte, off int, marks []Mark) []byte {
	var out bytes.Buffer
	at := 0
	for _, m := range From(marks, off) {
		from, to := max(m.From-off, at), min(m.To-off, len(raw))
		if from >= to {
			break
		}
		out.Write(raw[at:from])
		out.WriteString(m.Text())
		at = to
	}
	if at == 0 {
		return raw
	}
	out.Write(raw[at:])
	return out.Bytes()
}

// Hidden returns where in a line a byte of it is, given its place in the result of Apply to the whole line. A byte of a mark's
// text is at the secret's beginning.
func Hidden(i int, marks []Mark) int {
	n, found := slices.BinarySearchFunc(marks, i, func(m Mark, i int) int { return m.at - i })
	if found {
		return marks[n].From
	}
	if n == 0 {
		return i
	}
	m := marks[n-1]
	if end := m.at + len(m.Text()); i >= end {
		return m.To + i - end
	}
	return m.From
}

// From returns the marks that do not end before byte i.
func From(marks []Mark, i int) []Mark {
	n, _ := slices.BinarySearchFunc(marks, i+1, func(m Mark, i int) int { return m.To - i })
	return marks[n:]
}

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

// Write implements io.Writer. It fails as the writer behind does.
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

// Close writes what is held back. It does not close the writer behind, and fails as that does.
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
