//go:build rig

package clients

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// TestCopilotIsTold is case (d) for Copilot CLI, which compacts while it works: the record is in a request after its compaction, with a
// result of a tool, and in a resumed session.
func TestCopilotIsTold(t *testing.T) {
	t.Parallel()
	a, p := copilotAgent.found(t), newPlace(t)
	p.model.summary = says("SUMMARY OF THE MODEL")
	p.ccd("agents", "install", "copilot")
	written := func(*request) reply { // it writes down late that it compacted, and the hooks read that
		testkit.Eventually(t, "its compaction is in its file", func() bool {
			files, _ := filepath.Glob(filepath.Join(p.home, ".copilot", "session-state", "*", "events.jsonl"))
			text, err := os.ReadFile(strings.Join(files, ""))
			return err == nil && bytes.Contains(text, []byte("session.compaction_complete"))
		})
		return a.working(18, 1)[0](nil)
	}
	all, id := p.begin(a, askCent, append(a.working(0, 18), written, a.working(19, 1)[0])...)
	if len(of(all, "compaction")) == 0 {
		t.Fatalf("the client did not compact: %d requests", len(all))
	}
	main := of(all, "main")
	for _, r := range []*request{last(main), last(of(p.goOn(a, id, askOn), "main"))} {
		if n := strings.Count(string(r.raw), "ccd: record of"); n == 0 || !r.holds("SUMMARY OF THE MODEL") || !r.holds(askCent) {
			t.Errorf("the record is %d times in the request, or lacks what was asked", n)
		}
	}
	p.proved("case d: %s: after its compaction the record is in the request", a.title)
}
