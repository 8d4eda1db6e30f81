package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"ccd/cmd/ccd/internal/disk"
)

// Purge counts the sessions that exist only in the archive and asks for that number.
func TestPurgeAsksForTheNumberOfLostSessions(t *testing.T) {
	home := t.TempDir()
	two := aLine + strings.ReplaceAll(aLine, "parcels", "letters")
	for n := range 6 {
		put(t, transcriptPath(home, n), two)
	}
	once := func() {
		t.Helper()
		if _, talk, code := outputs(t, home, "run", "--once"); code != exitDone {
			t.Fatal(code, talk)
		}
	}
	refused := func(want string) {
		t.Helper()
		_, talk, code := outputs(t, home, "setup", "--undo", "--purge")
		if code != exitUsage || !strings.Contains(talk, "purge: "+want+"no terminal to confirm on") {
			t.Errorf("exit %d: %s, want %q", code, talk, want)
		}
	}
	once()
	refused("")
	if got, code := onTerminal(t, home, "no", "setup", "--undo", "--purge"); code != exitFailed || !strings.Contains(got, "Type yes to remove all of it") || strings.Contains(got, "only in this archive") {
		t.Errorf("nothing is lost: exit %d: %s", code, got)
	}
	put(t, transcriptPath(home, 1), two+aLine)                // grown: the file has all that is archived
	must(t, os.Remove(transcriptPath(home, 2)))               // gone
	must(t, os.Truncate(transcriptPath(home, 3), 100))        // shorter
	put(t, transcriptPath(home, 4), strings.ToUpper(two)+two) // another file, and longer
	refused("3 sessions exist only in this archive; ")
	must(t, os.Truncate(transcriptPath(home, 5), 0))
	once() // a new generation of 3 and 4, and perhaps 5: their first one is only in the archive
	refused("4 sessions exist only in this archive; ")
	before, err := treeOf(home)
	must(t, err)
	for _, answer := range []string{"yes", "3", "44"} {
		got, code := onTerminal(t, home, answer, "setup", "--undo", "--purge")
		after, err := treeOf(home)
		must(t, err)
		if code != exitFailed || after != before || !strings.Contains(got, "4 sessions exist only in this archive. Type 4 to") {
			t.Errorf("%s: exit %d, removed %v: %s", answer, code, after != before, got)
		}
	}
	got, code := onTerminal(t, home, "4", "setup", "--undo", "--purge")
	if code != exitDone || disk.Exists(stateOf(t, home)) || !disk.Exists(transcriptPath(home, 0)) {
		t.Errorf("the number: exit %d: %s", code, fmt.Sprint(got))
	}
}
