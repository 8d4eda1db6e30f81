package config

import (
	"testing"
	"time"

	"ccd/internal/testkit"
)

// TestPrice: the longest prefix counts, and of its prices the newest one that holds at that time.
func TestPrice(t *testing.T) {
	c := defaults("")
	text := "[models.prices]\nopus = \"2026-01-01 5 0.5 6.25 25; 2026-06-01 4 0.4 5 20\"\n\"opus-4\" = \"2026-01-01 1 1 1 1\"\n"
	testkit.Must(t, c.decode(text, ""))
	for _, w := range []struct {
		model, day string
		in         float64
		ok         bool
	}{
		{"opus-5", "2026-05-31", 5, true},
		{"opus-5", "2026-06-01", 4, true},
		{"opus-5", "2025-12-31", 0, false},
		{"opus-4-5", "2026-07-01", 1, true},
		{"sonnet", "2026-07-01", 0, false},
		{"", "2026-07-01", 0, false},
	} {
		at, err := time.Parse(time.DateOnly, w.day)
		testkit.Must(t, err)
		if p, ok := c.Models.Price(w.model, at); ok != w.ok || p.In != w.in {
			t.Errorf("%s on %s: %+v, %v", w.model, w.day, p, ok)
		}
	}
	for _, bad := range []string{"5", "2026-01-01 5 0.5 6.25", "2026-01-01 5 0.5 6.25 -1", "2026-13-01 1 1 1 1", "2026-01-01 1 1 1 NaN", "2026-01-01 1 1 1 1e300", "2026-06-01 1 1 1 1; 2026-01-01 1 1 1 1"} {
		c := defaults("")
		if c.decode("[models.prices]\nopus = \""+bad+"\"\n", "") == nil {
			t.Errorf("%q is taken for a price", bad)
		}
	}
}
