package archive

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"ccd/internal/testkit"
)

// load runs readers, each a process, for 15 reads each, beside a writer in a cold catch-up or without one.
func load(t *testing.T, path string, readers int, withWriter bool) (took []float64, writes int, span time.Duration) {
	t.Helper()
	var writer *exec.Cmd
	var group, reading sync.WaitGroup
	var mu sync.Mutex
	if withWriter {
		var out io.Reader
		writer, out = start(t, "catchup", path, 1)
		lines := bufio.NewScanner(out)
		lines.Scan() // it is at work from here on
		group.Go(func() {
			for lines.Scan() {
				writes++
			}
		})
	}
	begun := time.Now()
	for i := range readers {
		c, out := start(t, "read", path, i)
		reading.Go(func() {
			for lines := bufio.NewScanner(out); lines.Scan(); {
				us, _ := strconv.ParseFloat(lines.Text(), 64)
				mu.Lock()
				took = append(took, us/1000)
				mu.Unlock()
			}
			if err := c.Wait(); err != nil {
				t.Errorf("reader %d: %v", i, err)
			}
		})
	}
	reading.Wait()
	span = time.Since(begun)
	if withWriter {
		_ = writer.Process.Kill()
		group.Wait()
		_ = writer.Wait()
	}
	slices.Sort(took)
	return took, writes, span
}

// A writer in a cold catch-up and many readers, each a process: all of them get through, a reader within the 5 s after
// which it gives up. The bound of the whole run is against the same readers without a writer: what so many processes cost
// on this machine is not the lock's doing.
func TestReadersBesideAWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	a := openAt(t, path, Options{})
	for i, data := range newCrashData() {
		fill(t, a, session(fmt.Sprint("crash", i)), 1, data, whole)
	}
	p99 := func(readers int, withWriter bool) (ms float64, writes int) {
		took, writes, span := load(t, path, readers, withWriter)
		if len(took) != 15*readers {
			t.Fatalf("%d reads of %d", len(took), 15*readers)
		}
		ms = took[len(took)*99/100]
		t.Logf("%d readers, writer %v: %v, %d segments written, %d reads; ms p50 %.1f, p99 %.1f, max %.1f",
			readers, withWriter, span.Round(time.Millisecond), writes, len(took), took[len(took)/2], ms, took[len(took)-1])
		return ms, writes
	}
	many := testkit.Cases(t, 4, 50)
	beside, writes := p99(many, true)
	if !testkit.Full() { // how much is written in a few seconds depends on the machine
		return
	}
	if writes == 0 {
		t.Error("the writer starves")
	}
	few, _ := p99(5, true)
	alone, _ := p99(many, false)
	if limit := 4*alone + 4*few + 500; beside > limit {
		t.Errorf("p99 is %.0f ms beside a writer, %.0f ms without", beside, alone)
	}
}
