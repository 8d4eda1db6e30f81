package soak

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// figures are what one daemon uses at a moment.
type figures struct{ memory, files float64 } // KB of anonymous memory, open files

func (s *soak) figures() (f figures) {
	s.Helper()
	dir := fmt.Sprintf("/proc/%d/", s.daemon.Process.Pid)
	status, err := os.ReadFile(dir + "status")
	if err != nil {
		s.Fatal(err)
	}
	m := regexp.MustCompile(`RssAnon:\s+(\d+)`).FindSubmatch(status)
	if m == nil {
		s.Fatalf("no RssAnon: %s", status)
	}
	f.memory, _ = strconv.ParseFloat(string(m[1]), 64)
	open, err := os.ReadDir(dir + "fd")
	if err != nil {
		s.Fatal(err)
	}
	f.files = float64(len(open))
	return f
}

// slope is the growth of the least-squares line over the whole series.
func slope(series []float64) float64 {
	n := float64(len(series))
	var x, y, xy, xx float64
	for i, v := range series {
		x, y, xy, xx = x+float64(i), y+v, xy+float64(i)*v, xx+float64(i)*float64(i)
	}
	return (n*xy - x*y) / (n*xx - x*x) * (n - 1)
}

// grows reports whether the second half of a series grows by more than limit. The first half is for caches to fill.
func grows(series []float64, limit float64) (float64, bool) {
	by := slope(series[len(series)/2:])
	return by, by > limit
}

// TestSteady: one daemon that is never killed does not grow with time while sessions grow and commands read.
func TestSteady(t *testing.T) {
	lasts, err := time.ParseDuration(os.Getenv(length))
	if err != nil {
		t.Skipf("%s: %v: a short run shows no growth", length, err)
	}
	s := newSoak(t)
	s.start()
	ctx, cancel := context.WithTimeout(t.Context(), lasts)
	defer cancel()
	var writers sync.WaitGroup
	for n := range 12 { // a daemon of few sessions has few buffers
		w := newWriter(s.home, n)
		s.files = append(s.files, w.path)
		writers.Go(func() {
			if err := w.run(ctx, lasts); err != nil {
				t.Error(err)
			}
		})
	}
	var memory, files []float64
	for turn := 0; wait(ctx, lasts/200); turn++ {
		f := s.figures()
		memory, files = append(memory, f.memory), append(files, f.files)
		if turn%20 == 0 {
			s.look()
		}
	}
	writers.Wait()
	s.settled()
	s.compare()
	s.signal(s.daemon, syscall.SIGTERM)
	if err := s.daemon.Wait(); err != nil {
		t.Errorf("the daemon: %v", err)
	}
	var sources float64
	for _, path := range s.files {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		sources += float64(info.Size())
	}
	size := float64(0)
	if info, err := os.Stat(filepath.Join(s.state, "archive.db")); err == nil {
		size = float64(info.Size())
	}
	grown, leaks := grows(memory, 4<<10)
	if leaks {
		t.Errorf("memory grew by %.0f KB in the second half: %v", grown, memory)
	}
	opened, leaking := grows(files, 2)
	if leaking {
		t.Errorf("%.1f more files are open at the end of the second half: %v", opened, files)
	}
	if size > 2*sources {
		t.Errorf("the archive has %.0f bytes, the transcripts %.0f", size, sources)
	}
	t.Logf("%d samples; second half: memory %+.0f KB, open files %+.1f; archive/transcripts %.2f", len(memory), grown, opened, size/sources)
}

// TestSteadyCanFail is the control: a leak in noise is seen.
func TestSteadyCanFail(t *testing.T) {
	noisy := func(leak float64) (series []float64) {
		for i := range 200 {
			series = append(series, 20_000+leak*float64(i)/100+float64(i*7919%1500))
		}
		return series
	}
	if by, yes := grows(noisy(0), 4<<10); yes {
		t.Errorf("noise alone grows by %.0f", by)
	}
	if by, yes := grows(noisy(5<<10), 4<<10); !yes {
		t.Errorf("a leak of 5 MB is seen as %.0f KB", by)
	}
}
