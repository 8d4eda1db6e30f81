package remote

import (
	"fmt"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// TestCostOfADay counts the requests and bytes of a machine's working day, 120 pushes of 3 sessions of 40, then those of
// readers. Machines are independent, so a thousand of them cost a thousand times as much; only the list of heads is shared.
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
	day := map[string]int{"put": s.requests["put"], "get": s.requests["get"], "list": s.requests["list"]}
	if day["put"] > 242 || day["get"]+day["list"] > 0 {
		t.Errorf("a day of pushes: %v requests, want at most 242 PUT", day)
	}
	if mean := heads / 120; mean > 16<<10 {
		t.Errorf("a head has %d bytes on average", mean)
	}
	clear(s.requests)
	b.same(follower)
	if got := s.requests["get"]; got != 1+len(s.named("/c/"))+120 {
		t.Errorf("recovery of a machine: %v requests", s.requests)
	}
	recovery := s.requests["get"]
	clear(s.requests)
	_, err := follower.look(t.Context(), b.ID(), true)
	must(t, err)
	look := s.requests["get"]
	for n := range 999 { // other machines
		s.objects[headsPrefix+strings.Repeat("0", 28)+fmt.Sprintf("%04x", n)] = []byte("head")
	}
	clear(s.requests)
	names, _, err := follower.Names(t.Context())
	if must(t, err); len(names) != 1000 || s.requests["list"] != 1 {
		t.Errorf("%d machines in %v requests", len(names), s.requests)
	}
	const put, get = 0.005 / 1000, 0.0004 / 1000 // USD a request, Amazon's list price
	t.Logf("a day of one machine: %d PUT, %d bytes in packs, %d in heads, %.4f USD; of 1,000 machines: %.2f USD",
		day["put"], sent, heads, float64(day["put"])*put, float64(day["put"])*put*1000)
	t.Logf("ls of a machine: %d GET; of 1,000: 1 LIST and %d GET, %.4f USD; recovery of a machine after a day: %d GET", look, 1000*look, 1000*float64(look)*get, recovery)
	clear(s.requests)
	c, err := b.GC(t.Context(), GCOptions{All: true})
	must(t, err)
	t.Logf("gc that merges a day: %d packs to %d, %v requests", c.Rewritten, c.Packs, s.requests)
	if c.Rewritten != 120 || c.Packs != 1 || s.requests["put"] != 3 {
		t.Errorf("gc: %+v, %v requests", c, s.requests)
	}
}
