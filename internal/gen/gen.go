// Package gen writes invented transcripts that are shaped like real ones: the records, the sizes, the copies and the
// share of each are those that were measured in real homes, every word is made up.
//
// It owns determinism: the same seed and size give the same bytes on every machine, for ever within one version of
// ccd. It imports nothing of ccd and knows nothing of how transcripts are read; it serves tests and benchmarks only.
package gen

import (
	"fmt"
	"io"
)

// Agents that Write knows.
const (
	Claude = "claude-code"
	Codex  = "codex"
)

// Write writes one transcript of agent to w: whole lines, at least size bytes and at most one turn more. Sub-agents and
// spilled outputs have files of their own, which only Tree writes; here they are mentioned and not there. It fails for
// an agent that it does not know, and with the error of w.
func Write(w io.Writer, agent string, seed uint64, size int64) error {
	s := newSink(w)
	id := identity{r: mix(seed, 1), now: epoch}
	switch agent {
	case Claude:
		newClaude(id, newVocabulary(), s).run(size)
	case Codex:
		newCodex(id, newVocabulary(), s).run(size)
	default:
		return fmt.Errorf("generate transcript: unknown agent %q", agent)
	}
	return s.close()
}

// epoch is when the first invented session begins, in milliseconds: 2026-03-02T08:00:00Z.
const epoch = 1772438400000

// identity is what distinguishes one session from the next.
type identity struct {
	r   rng
	now int64 // ms since 1970
}

// sink takes lines and writes them in large pieces. After an error it takes nothing more.
type sink struct {
	w   io.Writer
	b   []byte
	n   int64 // bytes taken
	err error
}

const flushAt = 256 << 10

func newSink(w io.Writer) *sink { return &sink{w: w, b: make([]byte, 0, flushAt*5/4)} }

// end marks the end of what was appended to b since the last call.
func (s *sink) end(b []byte) {
	s.n += int64(len(b) - len(s.b))
	s.b = b
	if len(s.b) >= flushAt {
		s.flush()
	}
}

func (s *sink) flush() {
	if s.err == nil {
		_, s.err = s.w.Write(s.b)
	}
	s.b = s.b[:0]
}

func (s *sink) close() error {
	s.flush()
	if s.err != nil {
		return fmt.Errorf("generate transcript: %w", s.err)
	}
	return nil
}
