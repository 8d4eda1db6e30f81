//go:build rig

package clients

import (
	"strings"
	"testing"
)

// TestCopilotIsTold is case (d) for Copilot CLI, which compacts while it works: the record is in a request after its compaction, with a
// result of a tool, and in a resumed session.
func TestCopilotIsTold(t *testing.T) {
	t.Parallel()
	a, p := copilotAgent.found(t), newPlace(t)
	p.model.summary = says("SUMMARY OF THE MODEL")
	p.ccd("agents", "install", "copilot")
	all, id := p.begin(a, askCent, a.working(0, 16)...)
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
