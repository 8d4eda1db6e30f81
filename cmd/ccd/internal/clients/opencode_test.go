//go:build rig

package clients

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// TestOpenCodeAsksForItsSummary is case (n) for OpenCode, whose model is asked for next to nothing: the summary is ccd's, made of an export
// that the plugin writes. Without ccd, or if it hangs, the model's own summary is taken.
func TestOpenCodeAsksForItsSummary(t *testing.T) {
	t.Parallel()
	a, p := opencodeAgent.found(t), newPlace(t)
	p.model.summary = says("SUMMARY OF THE MODEL")
	p.ccd("agents", "install", "opencode")
	p.asks(a, a.ask(nil, askCent), append(a.working(0, 12), says(saidCent))...)
	id := regexp.MustCompile("ses_[A-Za-z0-9]+").FindString(p.must(a.path, "session", "list", "--format", "json"))
	compacts := func() (asked, next *request) {
		t.Helper()
		all := p.goOn(a, id, askOn, says(saidToEnd).reporting(a.full))
		if len(of(all, "compaction")) != 1 {
			t.Fatalf("the model was asked for %d summaries", len(of(all, "compaction")))
		}
		return of(all, "compaction")[0], last(all)
	}
	for n := range 2 {
		asked, next := compacts()
		if !asked.holds("ccd has the summary") || len(asked.raw) > 2000 {
			t.Errorf("compaction %d: the model was sent %d bytes", n+1, len(asked.raw))
		}
		for _, words := range []string{askCent, saidToEnd, "on follow it as they were"} {
			if !next.holds(words) {
				t.Errorf("compaction %d: the next request lacks %q", n+1, words)
			}
		}
		ids := markerID.FindAllStringSubmatch(string(next.raw), -1)
		for _, m := range ids {
			p.must(p.ccdPath(), "agent", "restore", m[1])
		}
		if texts := strings.Count(string(next.raw), "live: {covers"); n == 0 && len(ids) == 0 || texts != 1 {
			t.Errorf("compaction %d: ccd's text is there %d times, with %d IDs", n+1, texts, len(ids))
		}
	}
	testkit.Must(t, os.Rename(p.ccdPath(), p.ccdPath()+".away"))
	for _, does := range []string{"", "exec tail -f /dev/null"} {
		if does != "" {
			p.write(p.ccdPath(), "#!/bin/sh\n"+does+"\n")
			testkit.Must(t, os.Chmod(p.ccdPath(), 0o700))
		}
		if asked, next := compacts(); asked.holds("ccd has the summary") || !next.holds("SUMMARY OF THE MODEL") {
			t.Errorf("with a ccd that fails (%q) the model's own summary is not taken", does)
		}
	}
	p.proved("case n: %s: ccd wrote the summary, twice; without ccd, or if it hangs, the model's own is taken", a.title)
}
