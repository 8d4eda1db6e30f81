// Package gen writes invented transcripts in the form of real ones. The records, their sizes, the copies and the share
// of each were measured in real homes; every word is made up.
//
// The same seed and size give the same bytes on every machine, in every run of one version of ccd. The package imports
// nothing of ccd and does not know how transcripts are read. It serves tests and benchmarks only.
package gen

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
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
	s := &sink{w: bufio.NewWriterSize(w, 256<<10)}
	switch r := mix(seed, 1); agent {
	case Claude:
		newClaude(r, epoch, newVocabulary(), s).run(size)
	case Codex:
		newCodex(r, epoch, newVocabulary(), s).run(size)
	default:
		return fmt.Errorf("generate transcript: unknown agent %q", agent)
	}
	if err := s.w.Flush(); err != nil {
		return fmt.Errorf("generate transcript: %w", err)
	}
	return nil
}

// epoch is the start of the first invented session, in milliseconds: 2026-03-02T08:00:00Z.
const epoch = 1772438400000

// sink writes lines and counts their bytes. After an error it writes nothing more.
type sink struct {
	w   *bufio.Writer
	n   int64
	err error
}

func (s *sink) line(text string) {
	s.n += int64(len(text)) + 1
	s.w.WriteString(text)
	s.err = s.w.WriteByte('\n')
}

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
	v, r, now := newVocabulary(), mix(seed, 0), int64(epoch)
	var all, coded int64 // bytes written, and those of Codex
	for n := uint64(1); all < size; n++ {
		var text bytes.Buffer
		s := &sink{w: bufio.NewWriter(&text)}
		one, begun, limit := mix(seed, n), now, min(size/8, size-all)
		now += int64(r.between(60, 7200)) * 1000
		var path string
		var last *int64
		if coded*4 < all-coded {
			c := newCodex(one, begun, v, s)
			path, last = ".codex/sessions/"+time.UnixMilli(begun).UTC().Format("2006/01/02/rollout-2006-01-02T15-04-05-")+c.id, &c.now
			c.run(min(limit, int64(codexSize.draw(&c.r))))
			coded += s.n
		} else {
			c := newClaude(one, begun, v, s)
			path, last = ".claude/projects/"+slugOf(c.cwd)+"/"+c.id, &c.now
			c.beside = func(name, text string) error {
				if strings.HasPrefix(name, "subagents/") { // spilled outputs do not count; they are a few percent
					all += int64(len(text))
				}
				return put(filepath.Join(dir, path, name), text, c.now)
			}
			c.run(min(limit, int64(claudeSize.draw(&c.r))))
		}
		if s.err == nil {
			s.w.Flush() // a bytes.Buffer never fails
			s.err = put(filepath.Join(dir, path+".jsonl"), text.String(), *last)
		}
		if all += s.n; s.err != nil {
			return fmt.Errorf("generate transcripts: %w", s.err)
		}
	}
	return nil
}

// put writes a new file with this modification time, in milliseconds.
func put(path, text string, now int64) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	at := time.UnixMilli(now)
	return os.Chtimes(path, at, at)
}

// slugOf returns the name of the directory that Claude Code makes for a working directory.
func slugOf(cwd string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, cwd)
}
