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
