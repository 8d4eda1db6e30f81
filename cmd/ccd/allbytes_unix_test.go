//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ccd/internal/testkit"
	"ccd/internal/words"
)

// tornEnds are the ways in which a writer may leave the end of a transcript: whole lines, half a line, a line without
// newline, half a character.
var tornEnds = []string{
	"", `{"type":"user","message":{"role":"user","content":"Weigh the par`, strings.TrimSuffix(aLine, "\n"), `{"a":"` + "\xe2\x82", "{}\n\n{", " ",
}

// tornText returns some lines and one of tornEnds. The same arguments give the same text.
func tornText(session, stage int) string {
	var b strings.Builder
	for n := range 4 {
		fmt.Fprintf(&b, `{"type":"user","message":{"role":"user","content":"%d €, parcel %d of %d: %s"},"uuid":"u%d-%d","timestamp":"2026-03-01T09:00:00.000Z"}`+"\n",
			session, n, stage, strings.Repeat("ü", 300*n), stage, n)
	}
	return b.String() + tornEnds[(session+stage)%len(tornEnds)]
}

// appendTorn writes text in pieces of any size, with random pauses.
func appendTorn(path, text string, r *rand.Rand) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	for len(text) > 0 {
		n := 1 + r.IntN(min(len(text), 700))
		if _, err := f.WriteString(text[:n]); err != nil {
			return err
		}
		text = text[n:]
		<-time.After(time.Duration(r.IntN(30)) * time.Millisecond) // a moment by chance
	}
	return nil
}

// lagOf returns what ccd status, ls and doctor report as not archived.
func lagOf(t *testing.T, home string) (status, ls int64, doctor map[string]any) {
	t.Helper()
	ask := func(into any, command ...string) {
		t.Helper()
		out, _, _ := outputs(t, home, command...)
		must(t, json.Unmarshal(out, into))
	}
	type lag struct {
		Bytes int64 `json:"lag_bytes"`
	}
	all := lag{-1} // if status does not tell
	ask(&all, "status", "--json")
	var sessions []lag
	ask(&sessions, "ls", "--all", "--json")
	for _, s := range sessions {
		ls += s.Bytes
	}
	var checks []map[string]any
	ask(&checks, "doctor", "--json")
	for _, c := range checks {
		if c["check"] == "lag" {
			doctor = c
		}
	}
	return all.Bytes, ls, doctor
}

// restoreWhole returns what ccd restore --session prints.
func restoreWhole(t *testing.T, home, path string) (out []byte, said string) {
	t.Helper()
	out, said, code := outputs(t, home, "restore", "--session", strings.TrimSuffix(filepath.Base(path), ".jsonl"))
	if code != words.ExitDone {
		t.Fatalf("restore %s: exit %d: %s", path, code, said)
	}
	return out, said
}

// TestArchivedMeansAllBytes: however a writer leaves the end of a file, the archive has its last byte once the file is
// idle, and what is appended later, even if the daemon is killed meanwhile. The control is TestLagIsReported.
func TestArchivedMeansAllBytes(t *testing.T) {
	t.Parallel()
	stages := testkit.Cases(t, 2, 3)
	sessions := testkit.Cases(t, 3, 8)
	home := t.TempDir()
	put(t, transcriptPath(home, 0), aLine)
	configure(t, home, "[watch]\nsettle = \"100ms\"\nmax_wait = \"200ms\"\nscan_interval = \"1s\"\n[companion]\nrefresh_idle = \"500ms\"\n")
	c := spawn(t, home, "run")
	testkit.Eventually(t, "the daemon runs", func() bool { return c.running(t) })
	for stage := range stages {
		var writers sync.WaitGroup
		for n := range sessions {
			writers.Go(func() {
				if err := appendTorn(transcriptPath(home, n), tornText(n, stage), rand.New(rand.NewPCG(uint64(n), uint64(stage)))); err != nil {
					t.Errorf("writer %d: %v", n, err)
				}
			})
		}
		if stage == 1 { // killed during the writes
			c.signal(t, syscall.SIGKILL)
			_ = c.Wait()
			c = spawn(t, home, "run")
		}
		writers.Wait()
		testkit.Eventually(t, fmt.Sprintf("stage %d: nothing lags", stage), func() bool { s, l, _ := lagOf(t, home); return s+l == 0 })
		for n := range sessions {
			path := transcriptPath(home, n)
			want := read(t, path)
			if got, said := restoreWhole(t, home, path); !bytes.Equal(got, want) || said != "" {
				t.Fatalf("stage %d, session %d: %d bytes of %d come back (%q), it ends with %q", stage, n, len(got), len(want), said, tornEnds[(n+stage)%len(tornEnds)])
			}
		}
	}
}

// TestLagIsReported: a torn line is not archived before the file is idle, and status, ls, doctor and restore report
// what is missing.
func TestLagIsReported(t *testing.T) {
	t.Parallel()
	const end = `{"type":"user","message":{"role":"user","content":"Weigh the par` // 65 bytes
	home := t.TempDir()
	configure(t, home, "[watch]\nsettle = \"20ms\"\n[companion]\nrefresh_idle = \"1h\"\n")
	put(t, transcriptPath(home, 1), aLine+end)
	c := spawn(t, home, "run")
	var ls int64
	var doctor map[string]any
	testkit.Eventually(t, "the whole line is archived, and status reports the other", func() bool {
		var status int64
		status, ls, doctor = lagOf(t, home)
		return status == int64(len(end))
	})
	if ls != int64(len(end)) || doctor["lag_bytes"] != float64(len(end)) || doctor["detail"] == "all transcripts are archived" {
		t.Errorf("%d bytes are missing; ls tells %d, doctor %v", len(end), ls, doctor)
	}
	if out, _, code := outputs(t, home, "status"); code != words.ExitDone || !strings.Contains(string(out), fmt.Sprintf("%d B not archived yet", len(end))) {
		t.Errorf("status: exit %d: %s", code, out)
	}
	if out, _, code := outputs(t, home, "ls"); code != words.ExitDone || !strings.Contains(string(out), fmt.Sprintf("%d B behind", len(end))) {
		t.Errorf("ls: exit %d: %s", code, out)
	}
	if got, said := restoreWhole(t, home, transcriptPath(home, 1)); string(got) != aLine || !strings.Contains(said, fmt.Sprintf("warning: %d bytes of ", len(end))) {
		t.Errorf("restore prints %q and says %q", got, said)
	}

	c.signal(t, syscall.SIGTERM)
	c.ends(t, words.ExitDone, 5*time.Second)
	once(t, home)
	if got, said := restoreWhole(t, home, transcriptPath(home, 1)); string(got) != aLine+end || said != "" {
		t.Errorf("after run --once, restore prints %q and says %q", got, said)
	}
	if status, ls, doctor := lagOf(t, home); status+ls != 0 || doctor["lag_bytes"] != 0.0 || doctor["detail"] != "all transcripts are archived" {
		t.Errorf("after run --once: status %d, ls %d, doctor %v", status, ls, doctor)
	}
}
