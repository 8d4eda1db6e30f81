package filter

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestNearCopiesPointAtOneThatStands: what is replaced itself is no reference for others.
func TestNearCopiesPointAtOneThatStands(t *testing.T) {
	o := shipped()
	o.NearDedup = true
	all := []entry{message("t", listing(40, 0)), message("t", listing(40, 1)), message("t", listing(40, 2)), message("t", "ok"), message("t", listing(40, 1))}
	all[4].kept = "recent" // it stays, whatever it is like
	ds := decided(all, o)
	for i, d := range ds {
		if d.Action == NearDuped && ds[d.Of].Action == NearDuped {
			t.Errorf("item %d points at %d, which points on", i, d.Of)
		}
	}
	all[4] = message("t", listing(40, 3)) // now the newest of two equal texts is itself replaced
	all[2] = all[1]
	if ds := decided(all, o); ds[1].Action != NearDuped || ds[1].Of != 4 {
		t.Errorf("a copy of a near copy: %+v", ds[1])
	}
	if ds[0].Of != 4 || ds[1].Of != 4 || ds[2].Of != 4 || ds[1].Action != Deduped || math.Abs(ds[2].Like-39.0/41) > 1e-9 {
		t.Errorf("decisions %v", ds)
	}
}

// listing is n lines of output, of which the last ones are changed.
func listing(n, change int) string {
	var b strings.Builder
	for i := range n {
		if i >= n-change {
			fmt.Fprintf(&b, "changed line %d of it\n", i)
			continue
		}
		fmt.Fprintf(&b, "line %d of the listing\n", i)
	}
	return b.String()
}
