package resume

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// TestAnotherMachine: a copy of another machine's session continues at the same place of a clone. Only the working
// directory changes, and the first message says so: what people and tools sent stays as it was.
func TestAnotherMachine(t *testing.T) {
	for _, agent := range []string{claude, codex} {
		data := generated(t, agent, 1, 400_000)
		cwd := ""
		for r := range decoded(agent, [][]byte{bytes.TrimSpace(data)}) {
			if cwd = r.Cwd; cwd != "" {
				break
			}
		}
		root, sub := filepath.Split(cwd) // as if it worked in a directory of a repository "src"
		top, err := filepath.EvalSymlinks(t.TempDir())
		testkit.Must(t, err)
		clone := filepath.Join(top, "src")
		for _, dir := range []string{filepath.Join(clone, sub), filepath.Join(clone, ".git"), filepath.Join(clone, "elsewhere")} {
			testkit.Must(t, os.MkdirAll(dir, 0o700))
		}
		make := func(dir string) Copy {
			t.Helper()
			c, err := Make(sourceOf(agent, data), Request{Agent: agent, ID: newID, MaxTokens: 60_000, Now: time.Unix(1_800_000_000, 0), Dir: dir, Move: dir != ""})
			testkit.Must(t, err)
			return c
		}
		plain, moved, away := make(""), make(filepath.Join(clone, "elsewhere")), make(top)
		want := Moved{From: strings.TrimSuffix(root, "/"), To: clone}
		if moved.Cwd != filepath.Join(clone, sub) || moved.Moved == nil || *moved.Moved != want {
			t.Errorf("%s: %s, %+v, want %+v", agent, moved.Cwd, moved.Moved, want)
		}
		if away.Cwd != top || away.Moved == nil || *away.Moved != (Moved{From: cwd, To: top}) {
			t.Errorf("%s: outside of a clone: %s, %+v", agent, away.Cwd, away.Moved)
		}
		if plain.Moved != nil || plain.Cwd != cwd {
			t.Errorf("%s: of this machine: %s, %+v", agent, plain.Cwd, plain.Moved)
		}
		sent := func(c Copy) (all []string) {
			for r := range decoded(agent, c.Lines) {
				if r.Cwd != "" && r.Cwd != c.Cwd {
					t.Errorf("%s: record %d is in %s, want %s", agent, r.N, r.Cwd, c.Cwd)
				}
				for _, it := range r.Items {
					if it.Kind != transcript.Summary {
						all = append(all, string(it.Raw))
					}
				}
			}
			return all
		}
		// the note takes some room of the verbatim part
		before, after := sent(plain), sent(moved)
		same := min(len(before), len(after)) - 1
		if same < 10 || strings.Join(before[len(before)-same:], "\n") != strings.Join(after[len(after)-same:], "\n") || !strings.Contains(strings.Join(after, "\n"), cwd) {
			t.Errorf("%s: what was sent is not as it was: %d and %d items", agent, len(before), len(after))
		}
		if text := string(bytes.Join(moved.Lines, nil)); !strings.Contains(text, "What is in `"+want.From+"` in its messages is in `"+clone+"` here") {
			t.Errorf("%s: nothing says which paths are where: %.600s", agent, text)
		}
	}
}
