package lexicon

import (
	"slices"
	"strings"
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
	text := strings.Repeat("error: the same\n", 50) + "error: a\nerror: b\nerror: c\nerror: d\n"
	lines, hidden := ErrorsOf(text, false).Best(3)
	if want := []string{"error: the same", "error: a", "error: d"}; !slices.Equal(lines, want) || hidden != 2 {
		t.Errorf("ErrorLines = %q, %d hidden", lines, hidden)
	}
}

// Test runners tell a message twice: where it happened and behind the name of the test.
func TestErrorsAreToldOnce(t *testing.T) {
	text := "=== FAILURES ===\n> assert a.total() == Money(1)\nE   AssertionError: Money(2) != Money(1)\na_test.py:7: AssertionError\n" +
		"=== short ===\nFAILED a_test.py::test_total - AssertionError: Money(2) != Money(1)\nerror: E\nerror: E and more\n"
	lines, hidden := ErrorsOf(text, false).Best(9)
	want := []string{
		"> assert a.total() == Money(1)", "E   AssertionError: Money(2) != Money(1)", "a_test.py:7: AssertionError",
		"FAILED a_test.py::test_total", "error: E", "error: E and more",
	}
	if !slices.Equal(lines, want) || hidden != 0 {
		t.Errorf("ErrorLines = %q, %d hidden, want %q", lines, hidden, want)
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
