package watcher

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// Torn writes: lines go out in many small writes, while a reader takes what it can. No fragment may ever be seen.
func TestTailTornWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	overwrite(t, path, "")
	lines := testkit.Cases(t, 500, 2000)
	done := make(chan error, 1)
	go func() { done <- writeTorn(path, lines) }()
	f := follow(t, path)
	for running := true; running; {
		select {
		case err := <-done:
			must(t, err)
			running = false
		default:
		}
		f.tail(TailOptions{})
	}
	want, err := os.ReadFile(path)
	must(t, err)
	f.want(1, want)
	if n := bytes.Count(f.gens[1], []byte("\n")); n != lines {
		t.Errorf("%d lines of %d", n, lines)
	}
}

func writeTorn(path string, lines int) error {
	w, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer w.Close()
	r := rand.New(rand.NewPCG(3, 4))
	for i := range lines {
		line := fmt.Appendf(nil, `{"n":%d,"text":"%s"}`+"\n", i, strings.Repeat("t", r.IntN(3000)))
		for len(line) > 0 {
			n := 1 + r.IntN(len(line))
			if _, err := w.Write(line[:n]); err != nil {
				return err
			}
			line = line[n:]
		}
	}
	return nil
}
