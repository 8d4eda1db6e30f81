package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ccd/internal/testkit"
)

// fixture is a home that the first test that needs it makes, and each test gets a copy of.
type fixture struct {
	make func(t *testing.T, home string)
	once sync.Once
	made string
}

// copy returns a new home with the files of the fixture.
func (f *fixture) copy(t *testing.T) (home string) {
	t.Helper()
	f.once.Do(func() {
		f.made = filepath.Join(filepath.Dir(programPath), t.Name())
		must(t, os.Mkdir(f.made, 0o700))
		f.make(t, f.made)
	})
	home = t.TempDir()
	if out, err := exec.Command("cp", "-a", f.made+"/.", home).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
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
