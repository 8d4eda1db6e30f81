package compactor

import (
	"os"
	"path/filepath"
	"testing"

	"ccd/internal/transcript"
)

// TestRealSessionsStayStable has real sessions grow record by record: one more keeps at least 80 % of the companion's
// lines, unless the level changed. Where a session has just become long enough to be compacted, one large newcomer may
// be a fifth of it: these few steps are counted.
func TestRealSessionsStayStable(t *testing.T) {
	if raceEnabled {
		t.Skip("it takes minutes with the race detector, and starts no goroutine")
	}
	steps, sum, below := 0, 0.0, 0
	for agent, dir := range map[string]string{"claude-code": "claude", "codex": "codex"} {
		files, _ := filepath.Glob(filepath.Join("..", "..", "shared", "corpus", dir, "*.jsonl"))
		if len(files) == 0 {
			t.Skip("no real transcripts beside the project: this test needs them")
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			f := &folded{Compactor: New(Defaults(), transcript.Session{Key: transcript.Key{Agent: agent}}), data: data}
			old, level := "", Level(0)
			for r := range transcript.NewDecoder(agent, transcript.Main).Records(transcript.Segment{Data: data, Rest: true}) {
				f.Add(r)
				if f.held.total < 40000 || len(r.Items) == 0 {
					continue
				}
				c := f.compact(t)
				now := c.all()
				if old != "" && c.Header.Level == level {
					k := keptLines(old, now)
					steps++
					sum += k
					if k < 0.8 {
						below++
						t.Logf("%s #%d: %.3f of the lines stay", filepath.Base(name), r.N, k)
					}
				}
				old, level = now, c.Header.Level
			}
		}
	}
	t.Logf("%d steps, %.3f of the lines stay on average, %d below 0.8", steps, sum/float64(steps), below)
	if below*200 > steps {
		t.Errorf("%d of %d steps keep less than 0.8 of the lines", below, steps)
	}
}
