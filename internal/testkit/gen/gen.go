// Package gen writes invented transcripts in the form of real ones. The records are those of claude.tmpl and codex.tmpl; their
// sizes, the copies and the share of each are about those of real homes. Every word is made up.
//
// The same seed and size give the same bytes on every machine, in every run of one version of ccd. The package imports
// nothing of ccd and does not know how transcripts are read. It serves tests and benchmarks only.
package gen

import (
	"bytes"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"
)

// The agents that Write knows.
const (
	Claude = "claude-code"
	Codex  = "codex"
)

//go:embed claude.tmpl codex.tmpl
var records embed.FS

// Write writes one transcript of agent to w: whole lines, at least size bytes and at most one turn more. It mentions
// sub-agents and spilled outputs without writing their files, which only Tree does. It fails for an unknown agent, and
// with the error of w.
func Write(w io.Writer, agent string, seed uint64, size int64) error {
	if agent != Claude && agent != Codex {
		return fmt.Errorf("generate transcript: unknown agent %q", agent)
	}
	s := newSession(w, agent, seed, 1, epoch)
	if s.run(size); s.err != nil {
		return fmt.Errorf("generate transcript: %w", s.err)
	}
	return nil
}

// epoch is the start of the first invented session.
var epoch = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// Tree writes a home directory below dir, which must exist: .claude/projects with sub-agents and spilled outputs, and
// .codex/sessions. About four fifths of the bytes are Claude Code's. The transcripts have size bytes in all and at most
// an eighth more; spilled outputs come on top. No transcript is much larger than an eighth of size. The modification
// time of a file is the time of its last record. Tree fails if a file exists already.
func Tree(dir string, seed uint64, size int64) error {
	begun := epoch
	var all, coded int64 // bytes written, and those of Codex
	for n := uint64(1); all < size; n++ {
		agent := Claude
		if coded*4 < all-coded {
			agent = Codex
		}
		var text bytes.Buffer
		s := newSession(&text, agent, seed, n, begun)
		path := ".claude/projects/" + slugOf(s.Cwd) + "/" + s.ID
		if agent == Codex {
			path = ".codex/sessions/" + begun.Format("2006/01/02/rollout-2006-01-02T15-04-05-") + s.ID
		}
		s.beside = func(name, text string) error { return put(filepath.Join(dir, path, name), text, s.now) }
		s.run(min(size/8, size-all, int64(s.skewed(700, 6_000_000))))
		if all += s.n + s.others; agent == Codex {
			coded += s.n
		}
		if err := errors.Join(s.err, put(filepath.Join(dir, path+".jsonl"), text.String(), s.now)); err != nil {
			return fmt.Errorf("generate transcripts: %w", err)
		}
		begun = begun.Add(time.Duration(s.number(60, 7200)) * time.Second)
	}
	return nil
}

// slugOf returns the name of the directory that Claude Code makes for a working directory.
func slugOf(cwd string) string { return strings.ReplaceAll(cwd, "/", "-") }

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

// session is a session that is being written. It uses no floating point, whose results may differ between machines.
type session struct {
	*rand.Rand
	source *rand.ChaCha8
	form   *template.Template // of its records
	out    io.Writer
	n      int64 // bytes written
	err    error // the first one
	now    time.Time
	held   int // bytes in the model's context
	files  []*file

	ID, Cwd string
	Agent   string                        // ID of the sub-agent of Claude Code whose file this is, "" in a main session
	last    string                        // JSON of the last record's UUID
	others  int64                         // bytes of the sub-agents' transcripts
	beside  func(name, text string) error // writes a file into the session's directory; nil if it has none
}

// newSession begins the n-th session made from a seed.
func newSession(w io.Writer, agent string, seed, n uint64, now time.Time) *session {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], n)
	source := rand.NewChaCha8(key)
	s := &session{Rand: rand.New(source), source: source, now: now, last: "null"}
	s.out = io.MultiWriter(w, (*counter)(&s.n))
	s.ID, s.Cwd = s.uuid(), "/home/sam/src/"+words()[40+s.IntN(30)]
	name, _, _ := strings.Cut(agent, "-")
	s.form = template.Must(template.New("").Funcs(s.functions()).ParseFS(records, name+".tmpl"))
	for range 25 {
		s.files = append(s.files, s.newFile())
	}
	return s
}

// counter counts bytes.
type counter int64

// Write counts the bytes, and does not fail.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// write writes the records of a template.
func (s *session) write(name string) {
	if s.err == nil {
		s.err = s.form.ExecuteTemplate(s.out, name, s)
	}
}

// full is the size of the context, in bytes, from which on the agent compacts it.
const full = 600_000

// run writes turns until the transcript has size bytes.
func (s *session) run(size int64) {
	s.write("begin")
	for first := true; first || s.n < size && s.err == nil; first = false {
		s.now = s.now.Add(time.Duration(s.number(5, 600)) * time.Second)
		s.write("prompt")
		for range 1 + s.low(24) {
			if s.write("reply"); s.n >= size {
				break
			}
		}
		if s.write("end"); s.held > full {
			s.write("compaction")
			s.held = 8000
		}
	}
}

// task runs a sub-agent, which has its own file, and returns its ID.
func (s *session) task() string {
	var text bytes.Buffer
	sub := newSession(&text, Claude, s.Uint64(), 3, s.now)
	sub.ID, sub.Cwd, sub.files, sub.Agent = s.ID, s.Cwd, s.files, s.hex(4)
	sub.write("asked")
	for size := int64(sub.skewed(8000, 2_200_000)); sub.n < size && sub.err == nil; {
		sub.write("reply")
	}
	sub.write("end")
	s.now = sub.now
	s.others += sub.n
	s.aside("subagents/agent-"+sub.Agent+".jsonl", text.String())
	s.aside("subagents/agent-"+sub.Agent+".meta.json", `{"agentType":"Explore","description":"look for it"}`)
	return sub.Agent
}

// spill writes an output that is too long for the context to a file, and returns its path.
func (s *session) spill(out string) string {
	name := "tool-results/b" + s.hex(4) + ".txt"
	s.aside(name, out)
	return "/home/sam/.claude/projects/" + slugOf(s.Cwd) + "/" + s.ID + "/" + name
}

// aside writes a file into the session's directory, if it has one.
func (s *session) aside(name, text string) {
	if s.beside != nil && s.err == nil {
		s.err = s.beside(name, text)
	}
}
