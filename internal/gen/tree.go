package gen

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// sessionSize is how big transcripts are, in bytes: half are under 200 KB, and the rest holds nearly all bytes.
var (
	claudeSize = quantiles{{0, 700}, {100, 2800}, {250, 20000}, {500, 194000}, {750, 1000000}, {900, 2400000}, {970, 6000000}, {995, 20000000}, {1000, 60000000}}
	codexSize  = quantiles{{0, 15000}, {250, 60000}, {500, 236000}, {750, 800000}, {900, 1500000}, {990, 6000000}, {1000, 20000000}}
)

// Tree lays a home directory out below dir, which must exist: .claude/projects with sub-agents and spilled outputs, and
// .codex/sessions; about four bytes of Claude Code to one of Codex, size bytes in all, and at most an eighth more.
// No file is larger than an eighth of size. Modification times are those of the last records. Files that stand there
// already are an error.
func Tree(dir string, seed uint64, size int64) error {
	t := &tree{dir: dir, v: newVocabulary(), r: mix(seed, 0), now: epoch}
	for n := uint64(1); t.n < size; n++ {
		id := identity{r: mix(seed, n), now: t.now}
		t.now += int64(t.r.between(60, 7200)) * 1000
		limit := min(size/8, size-t.n)
		write := t.claude
		if t.coded*4 < t.n-t.coded {
			write = t.codex
		}
		if err := write(id, limit); err != nil {
			return fmt.Errorf("generate transcripts: %w", err)
		}
	}
	return nil
}

type tree struct {
	dir      string
	v        *vocabulary
	r        rng
	now      int64
	n, coded int64 // bytes written in all, and of Codex
}

func (t *tree) claude(id identity, limit int64) error {
	s := newSink(nil)
	c := newClaude(id, t.v, s)
	project := filepath.Join(t.dir, ".claude/projects", slugOf(c.cwd))
	f, err := t.create(filepath.Join(project, c.id+".jsonl"), &c.now)
	if err != nil {
		return err
	}
	s.w = f
	c.beside = func(name string) (io.WriteCloser, error) {
		return t.create(filepath.Join(project, c.id, name), &c.now)
	}
	c.run(min(limit, int64(claudeSize.draw(&c.r))))
	return f.finish(s)
}

func (t *tree) codex(id identity, limit int64) error {
	s := newSink(nil)
	c := newCodex(id, t.v, s)
	at := time.UnixMilli(id.now).UTC()
	name := at.Format("2006/01/02/rollout-2006-01-02T15-04-05-") + c.id + ".jsonl"
	before := t.n
	f, err := t.create(filepath.Join(t.dir, ".codex/sessions", name), &c.now)
	if err != nil {
		return err
	}
	s.w = f
	c.run(min(limit, int64(codexSize.draw(&c.r))))
	err = f.finish(s)
	t.coded += t.n - before
	return err
}

// counted is a file whose bytes the tree counts, and whose time is that of its session when it is closed.
type counted struct {
	*os.File
	t   *tree
	now *int64
}

func (t *tree) create(path string, now *int64) (*counted, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &counted{f, t, now}, nil
}

// Write counts what it writes.
func (c *counted) Write(b []byte) (int, error) {
	n, err := c.File.Write(b)
	c.t.n += int64(n)
	return n, err
}

// Close closes the file and gives it the time of its session's last record.
func (c *counted) Close() error {
	if err := c.File.Close(); err != nil {
		return err
	}
	at := time.UnixMilli(*c.now)
	return os.Chtimes(c.Name(), at, at)
}

func (c *counted) finish(s *sink) error {
	err := s.close()
	if cerr := c.Close(); err == nil {
		err = cerr
	}
	return err
}

// slugOf is the directory name that Claude Code makes of a working directory.
func slugOf(cwd string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, cwd)
}
