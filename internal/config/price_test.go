package config

import (
	"testing"

	"ccd/internal/testkit"
)

// TestPrice: the longest prefix counts.
func TestPrice(t *testing.T) {
	c := defaults("")
	testkit.Must(t, c.decode("[models.prices]\nopus = [5, 0.5, 6.25, 25]\n\"opus-4\" = [1, 1, 1, 1]\n", ""))
	for model, in := range map[string]float64{"opus-5": 5, "opus-4-5": 1, "sonnet": 0, "": 0} {
		if p, ok := c.Models.Price(model); ok != (in > 0) || p[0] != in {
			t.Errorf("%s: %v, %v", model, p, ok)
		}
	}
	for _, bad := range []string{"5", "[5]", "[5, 0.5, 6.25]", "[5, 0.5, 6.25, -1]", "[1, 1, 1, nan]", "[1, 1, 1, 1e300]", "[1, 1, 1, '1']"} {
		c := defaults("")
		if c.decode("[models.prices]\nopus = "+bad+"\n", "") == nil {
			t.Errorf("%s is taken for a price", bad)
		}
	}
}
