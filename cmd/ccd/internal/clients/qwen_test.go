//go:build rig

package clients

import (
	"strings"
	"testing"
)

// TestQwenCodeIsTold is case (d) for Qwen Code: after its own compaction the record is in the next request, once.
func TestQwenCodeIsTold(t *testing.T) {
	t.Parallel()
	a, p := qwenAgent.found(t), newPlace(t)
	p.model.summary = says("<analysis>read</analysis>\n<state_snapshot>SUMMARY OF THE MODEL</state_snapshot>").reporting(a.full - 5000)
	p.ccd("agents", "install", "qwen")
	_, id := p.begin(a, askCent, a.working(0, 6)...)
	p.goOn(a, id, askFiles, says(saidFiles).reporting(a.full))
	all := p.goOn(a, id, askOn, a.working(30, 2)...)
	for _, r := range append(p.goOn(a, id, askOn), last(all)) {
		if n := strings.Count(string(r.raw), "ccd: record of"); n != 1 || !r.holds("SUMMARY OF THE MODEL") || !r.holds(askCent) {
			t.Errorf("the record is %d times in the request, or lacks what was asked", n)
		}
	}
	p.proved("case d: %s: after its compaction the record is in the request, once", a.title)
}
