package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/internal/testkit"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// TestTimelineOfALongRecord: a record that is too long to be parsed is mentioned in its turn.
func TestTimelineOfALongRecord(t *testing.T) {
	testkit.Long(t, "it archives a record of 16 MB")
	home := chooseHome(t, 3*time.Hour, 2*time.Hour, time.Hour)
	path := filepath.Join(home, ".claude", "projects", "-p", chosenA+".jsonl")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString(`{"type":"user","uuid":"v","message":{"role":"user","content":"` + strings.Repeat("x", transcript.MaxLine) + `"}}` + "\n")
	must(t, err)
	must(t, f.Close())
	if code, _, said := ccdIn(home, "", "run", "--once", "-q"); code != words.ExitDone {
		t.Fatalf("run: exit %d, %s", code, said)
	}
	if code, out, said := ccdIn(home, "", "timeline", chosenA); code != words.ExitDone || !strings.HasSuffix(out, " · 1 record over 16 MB not shown\n") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
}
