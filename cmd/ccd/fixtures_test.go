package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ccd/internal/testkit"
)

// fixture is a home that the first test that needs it makes. It stays in memory, and each test gets a copy.
type fixture struct {
	make  func(t *testing.T, home string)
	once  sync.Once
	files []fixtureFile
}

type fixtureFile struct {
	path     string // below the home
	mode     os.FileMode
	modified time.Time
	content  []byte
}

// copy returns a new home with the files of the fixture.
func (f *fixture) copy(t *testing.T) (home string) {
	t.Helper()
	f.once.Do(func() {
		made := t.TempDir()
		f.make(t, made)
		must(t, filepath.WalkDir(made, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
				return err
			}
			file := fixtureFile{mode: info.Mode(), modified: info.ModTime()}
			if file.path, err = filepath.Rel(made, path); err == nil && !info.IsDir() {
				file.content, err = os.ReadFile(path)
			}
			f.files = append(f.files, file)
			return err
		}))
	})
	home = t.TempDir()
	for _, file := range f.files {
		path := filepath.Join(home, file.path)
		if file.mode.IsDir() {
			must(t, os.MkdirAll(path, file.mode.Perm()))
			continue
		}
		must(t, os.WriteFile(path, file.content, file.mode.Perm()))
		must(t, os.Chtimes(path, file.modified, file.modified))
	}
	return home
}

var must, read, put = testkit.Must, testkit.Read, testkit.Put

func configure(t *testing.T, home, text string) {
	t.Helper()
	put(t, filepath.Join(home, ".config", "ccd", "config.toml"), text)
}

const aLine = `{"type":"user","message":{"role":"user","content":"Weigh the parcels."},"uuid":"u1","timestamp":"2026-03-01T09:00:00.000Z","sessionId":"s"}` + "\n"

func transcriptPath(home string, n int) string {
	return filepath.Join(home, ".claude", "projects", "-work", fmt.Sprintf("00000000-0000-4000-8000-%012d.jsonl", n))
}

// id returns the session ID of a transcript.
func id(path string) string { return strings.TrimSuffix(filepath.Base(path), ".jsonl") }

// ledger is a session that its agent compacted.
func ledger(t *testing.T) string {
	t.Helper()
	return string(read(t, "story/ledger.jsonl")) + string(read(t, "story/compaction.jsonl"))
}

// claudeSession is a session of Claude Code with 20 replies of 2,000 characters, each with the same tokens in the context.
func claudeSession(tokens int) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(`{"type":"user","uuid":"u0","sessionId":"s","cwd":"/src/mill","timestamp":"2026-01-15T09:00:00Z","message":{"role":"user","content":"Mill the rye."}}`)
	for n := range 20 {
		for block := range 2 { // Claude Code repeats the usage in each block of a reply
			line(`{"type":"assistant","uuid":"a%d-%d","sessionId":"s","timestamp":"2026-01-15T09:%02d:00Z","requestId":"r%d","message":{"id":"m%d","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":%q}],"usage":{"input_tokens":%d,"output_tokens":1}}}`,
				n, block, n+1, n, n, strings.Repeat(fmt.Sprintf("sack %d ", n), 125), tokens)
		}
	}
	return b.String()
}
