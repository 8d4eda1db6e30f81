package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/internal/mark"
	"ccd/internal/testkit"
)

// corpus is the directory of real transcripts, which are not part of the repository.
const corpus = "../../../shared/corpus"

// layOut copies real transcripts into a home, where their agents would write them, and returns their paths. The quick
// suite takes some of each agent.
func layOut(t *testing.T, home string, quick int) []string {
	t.Helper()
	var paths []string
	for _, dir := range slices.Sorted(maps.Keys(homes)) {
		files, err := filepath.Glob(filepath.Join(corpus, dir, "*.json*"))
		if err != nil || len(files) == 0 {
			t.Skipf("no real transcripts at %s: this test needs them", filepath.Join(corpus, dir))
		}
		files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, ".meta.json") })
		for i, f := range testkit.Sample(t, files, quick) {
			b := read(t, f)
			to := filepath.Join(home, filepath.FromSlash(homes[dir](i, filepath.Base(f))))
			put(t, to, string(b))
			paths = append(paths, to)
		}
	}
	return paths
}

// homes maps a directory of the corpus to the path for transcript i.
var homes = map[string]func(i int, name string) string{
	"claude":   func(i int, name string) string { return fmt.Sprintf(".claude/projects/-work-%d/%s", i%3+1, name) },
	"codex":    func(i int, name string) string { return fmt.Sprintf(".codex/sessions/2026/01/%02d/%s", i%3+1, name) },
	"gemini":   func(_ int, name string) string { return ".gemini/tmp/mill/chats/session-" + name },
	"qwen":     func(_ int, name string) string { return ".qwen/projects/-work/chats/" + name },
	"droid":    func(_ int, name string) string { return ".factory/sessions/-work/" + name },
	"pi":       func(_ int, name string) string { return ".pi/agent/sessions/--work--/" + name },
	"openclaw": func(_ int, name string) string { return ".openclaw/agents/main/sessions/" + name },
	"copilot": func(i int, _ string) string {
		return fmt.Sprintf(".copilot/session-state/0a1b2c3d-0000-4000-8000-%012d/events.jsonl", i)
	},
	"cursor": func(i int, _ string) string {
		id := fmt.Sprintf("0a1b2c3d-0000-4000-8000-%012d", i)
		return ".cursor/projects/-work/agent-transcripts/" + id + "/" + id + ".jsonl"
	},
}

// Every real session can be restored exactly, even after its transcript is gone, and so can every ID of every
// companion.
func TestRealSessionsComeBack(t *testing.T) {
	home := t.TempDir()
	originals := map[string][]byte{}
	paths := layOut(t, home, 2)
	for _, p := range paths {
		b := read(t, p)
		originals[p] = b
	}
	comesBack := func(when string) (ids int) {
		t.Helper()
		command(t, home, "run", "--once", "-q")
		for _, p := range paths {
			if got := command(t, home, "restore", "--session", p); !bytes.Equal(got, originals[p]) {
				t.Errorf("%s: %s comes back changed", when, filepath.Base(p))
			}
		}
		return resolveIDs(t, home)
	}
	ids := comesBack("with its source")
	for _, p := range paths {
		must(t, os.Remove(p))
	}
	if again := comesBack("without its source"); again != ids || ids == 0 {
		t.Errorf("%d IDs in companions once the sources are gone, %d before", again, ids)
	}
	command(t, home, "archive", "verify")
}

// resolveIDs restores IDs of every companion below home and returns how many IDs the companions have.
func resolveIDs(t *testing.T, home string) (n int) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".ccd.md") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		ids := mark.IDs(string(text))
		n += len(ids)
		for _, id := range testkit.Sample(t, ids, 4) {
			var info struct{ Shape, SHA256 string }
			if err := json.Unmarshal(command(t, home, "restore", "--info", "--json", string(id)), &info); err != nil {
				return err
			}
			got := command(t, home, "restore", string(id))
			if sum := fmt.Sprintf("%x", sha256.Sum256(got)); info.Shape == "lines" && sum != info.SHA256 {
				t.Errorf("%s: range %s: the lines hash to %s, want %s", filepath.Base(path), id, sum, info.SHA256)
			}
			if sum, err := hex.DecodeString(info.SHA256); info.Shape == "single" && (err != nil || mark.Hash(sum).ID() != id) {
				t.Errorf("%s: ID %s, but the raw span hashes to %s", filepath.Base(path), id, info.SHA256)
			}
		}
		return nil
	})
	must(t, err)
	return n
}
