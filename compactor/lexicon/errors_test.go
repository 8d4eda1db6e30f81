package lexicon

import (
	"testing"
)

func TestErrorLines(t *testing.T) {
	for _, c := range []struct {
		line          string
		loose, strict bool
	}{
		{"error: no such thing", true, true},
		{"main.go:12:3: error: undefined: x", true, true},
		{"E   AssertionError: 1 != 2", true, true},
		{"--- FAIL: TestX (0.00s)", true, true},
		{"npm ERR! code 1", true, true},
		{"Warning: deprecated", true, true},
		{"panic: runtime error", true, true},
		{"  TypeError: x is not a function", true, true},
		{"bash: foo: command not found", true, false},
		{"return fmt.Errorf(\"failed to open\")", true, false},
		{"0 errors, 0 warnings", false, false},
		{"10 errors found", true, false},
		{"no errors", false, false},
		{"all fine", false, false},
		{"the terror of it", false, false},
		{"=========== FAILURES ===========", false, false},
		{"--- FAIL: TestX ---", false, false},
	} {
		if got := IsError(c.line, false); got != c.loose {
			t.Errorf("IsError(%q, loose) = %v", c.line, got)
		}
		if got := IsError(c.line, true); got != c.strict {
			t.Errorf("IsError(%q, strict) = %v", c.line, got)
		}
	}
}

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
