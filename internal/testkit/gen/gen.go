// Package gen writes invented transcripts in the form of real ones. The records, their sizes, the copies and the share
// of each were measured in real homes; every word is made up.
//
// The same seed and size give the same bytes on every machine, in every run of one version of ccd. The package imports
// nothing of ccd and does not know how transcripts are read. It serves tests and benchmarks only.
package gen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// The agents that Write knows.
const (
	Claude = "claude-code"
	Codex  = "codex"
)

// Write writes one transcript of agent to w: whole lines, at least size bytes and at most one turn more. It mentions
// sub-agents and spilled outputs without writing their files, which only Tree does. It fails for an unknown agent, and
// with the error of w.
func Write(w io.Writer, agent string, seed uint64, size int64) error {
	s := newSession(w, newVocabulary(), chance(seed, 1), epoch)
	switch agent {
	case Claude:
		newClaude(s).run(size)
	case Codex:
		newCodex(s).run(size)
	default:
		return fmt.Errorf("generate transcript: unknown agent %q", agent)
	}
	if s.err != nil {
		return fmt.Errorf("generate transcript: %w", s.err)
	}
	return nil
}

// epoch is the start of the first invented session.
var epoch = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// Sizes of transcripts, in bytes: half are under 200 KB, and the larger half has nearly all the bytes.
var (
	claudeSize = quantiles{{0, 700}, {100, 2800}, {250, 20000}, {500, 194000}, {750, 1000000}, {900, 2400000}, {970, 6000000}, {995, 20000000}, {1000, 60000000}}
	codexSize  = quantiles{{0, 15000}, {250, 60000}, {500, 236000}, {750, 800000}, {900, 1500000}, {990, 6000000}, {1000, 20000000}}
)

// Tree writes a home directory below dir, which must exist: .claude/projects with sub-agents and spilled outputs, and
// .codex/sessions. About four fifths of the bytes are Claude Code's. The transcripts have size bytes in all and at most
// an eighth more; spilled outputs come on top. No transcript is much larger than an eighth of size. The modification
// time of a file is the time of its last record. Tree fails if a file exists already.
func Tree(dir string, seed uint64, size int64) error {
	v, between, begun := newVocabulary(), chance(seed, 0), epoch
	var all, coded int64 // bytes written, and those of Codex
	for n := uint64(1); all < size; n++ {
		var text bytes.Buffer
		s := newSession(&text, v, chance(seed, n), begun)
		limit, path := min(size/8, size-all), ""
		if coded*4 < all-coded {
			path = ".codex/sessions/" + begun.Format("2006/01/02/rollout-2006-01-02T15-04-05-") + s.id
			newCodex(s).run(min(limit, int64(s.draw(codexSize))))
			coded += s.n
		} else {
			path = ".claude/projects/" + slugOf(s.cwd) + "/" + s.id
			c := newClaude(s)
			c.beside = func(name, text string) error { return put(filepath.Join(dir, path, name), text, s.now) }
			c.run(min(limit, int64(s.draw(claudeSize))))
			all += c.others
		}
		all += s.n
		if err := errors.Join(s.err, put(filepath.Join(dir, path+".jsonl"), text.String(), s.now)); err != nil {
			return fmt.Errorf("generate transcripts: %w", err)
		}
		begun = begun.Add(time.Duration(between.between(60, 7200)) * time.Second)
	}
	return nil
}

// put writes a new file with this modification time.
func put(path, text string, at time.Time) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close(), os.Chtimes(path, at, at))
}

// object is a JSON object.
type object = map[string]any

// session is what the sessions of both agents have.
type session struct {
	*random
	*vocabulary
	out     *json.Encoder
	n       int64 // bytes written
	err     error // the first one
	now     time.Time
	id, cwd string
	files   []*file
	held    int // bytes in the model's context
}

func newSession(w io.Writer, v *vocabulary, r *random, now time.Time) *session {
	s := &session{random: r, vocabulary: v, now: now, id: r.uuid()}
	s.cwd = "/home/sam/src/" + v.words[40+r.IntN(30)] + "-" + v.words[80+r.IntN(30)]
	for range 25 {
		s.files = append(s.files, s.newFile())
	}
	s.out = json.NewEncoder(io.MultiWriter(w, (*counter)(&s.n)))
	s.out.SetEscapeHTML(false)
	return s
}

// counter counts bytes.
type counter int64

// Write counts the bytes, and does not fail.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// line writes a record, a short time after the one before.
func (s *session) line(record object) {
	s.now = s.now.Add(time.Duration(s.between(20, 4000)) * time.Millisecond)
	record["timestamp"] = stamp(s.now)
	s.err = errors.Join(s.err, s.out.Encode(record))
}

// turns writes turns until the transcript has size bytes.
func (s *session) turns(size int64, turn func()) {
	for first := true; first || s.n < size && s.err == nil; first = false {
		s.now = s.now.Add(time.Duration(s.between(5, 600)) * time.Second)
		turn()
	}
}

var promptWords = quantiles{{0, 3}, {500, 25}, {900, 120}, {1000, 900}}

// said returns prose that gets into the model's context.
func (s *session) said(words int) string {
	text := s.prose(s.random, words)
	s.held += len(text)
	return text
}

func stamp(at time.Time) string { return at.Format("2006-01-02T15:04:05.000Z") }
