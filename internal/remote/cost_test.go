package remote

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// TestCostOfADay counts the requests and bytes of a machine's working day, 120 pushes of 3 sessions of 40, then those of
// readers. Machines are independent, so a thousand of them cost a thousand times as much; only the list of heads is shared.
// docs/REMOTE-FORMAT.md has the counts.
func TestCostOfADay(t *testing.T) {
	testkit.Long(t, "the requests and the price of a day of 120 pushes")
	s, me := newMemory(), identity(t)
	b := newBox(t, s, me)
	follower := readerAt(t, s, me, t.TempDir())
	heads, sent := 0, int64(0)
	for n := range 120 {
		for k := range 3 {
			b.grow(fmt.Sprint("s", (n/10*3+k)%40), talk(uint64(n*3+k), 20_000))
		}
		sent += b.push().Sent
		heads += len(s.objects[headsPrefix+b.ID()])
	}
	count := func() map[string]int { r := maps.Clone(s.requests); clear(s.requests); return r }
	day := count()
	if got := fmt.Sprint(day); got != "map[get:119 put:240]" {
		t.Errorf("a day of pushes: %v", got)
	}
	if mean := heads / 120; mean > 4<<10 {
		t.Errorf("a head has %d bytes on average", mean)
	}
	b.same(follower)
	if got := fmt.Sprint(count()); got != "map[get:121 list:1]" { // the head, the packs
		t.Errorf("recovery of a machine: %v", got)
	}
	for n := range 999 { // other machines
		s.objects[headsPrefix+strings.Repeat("0", 28)+fmt.Sprintf("%04x", n)] = []byte("head")
	}
	names, _, err := follower.Names(t.Context())
	must(t, err)
	if got := fmt.Sprint(count()); len(names) != 1000 || got != "map[list:1]" {
		t.Errorf("%d machines: %v", len(names), got)
	}
	const put, get = 0.005 / 1000, 0.0004 / 1000 // USD a request, Amazon's list price
	price := float64(day["put"])*put + float64(day["get"])*get
	t.Logf("a day of one machine: %d bytes in packs, %d in heads, %.4f USD; of 1,000 machines: %.2f USD", sent, heads, price, price*1000)
	if c, err := b.GC(t.Context(), GCOptions{}); err != nil || c.Rewritten != 120 || c.Packs != 1 || fmt.Sprint(count()) != "map[delete:120 get:1 list:1 put:1]" {
		t.Errorf("gc that merges a day: %+v, %v", c, err)
	}
	b.same(readerAt(t, s, me, t.TempDir()))
	if got := fmt.Sprint(count()); got != "map[get:2 list:1]" {
		t.Errorf("recovery after gc: %v", got)
	}
}
