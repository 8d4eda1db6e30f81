package filter

import "testing"

func TestSummaryLine(t *testing.T) {
	for text, want := range map[string]string{
		"..\n==== 1 failed, 37 passed in 2.1s ====\n": "1 failed, 37 passed in 2.1s",
		"Tests: 3 passed, 3 total\nTime: 2 s\n":       "Tests: 3 passed, 3 total",
		"?   \tx\nok  \tccd/compactor\t0.3s\n":        "ok  \tccd/compactor\t0.3s",
		" 3 files changed, 12 insertions(+)\n":        "3 files changed, 12 insertions(+)",
		"nothing\nof note\n":                          "",
		"":                                            "",
	} {
		if got := SummaryLine(text); got != want {
			t.Errorf("SummaryLine(%q) = %q, want %q", text, got, want)
		}
	}
}
