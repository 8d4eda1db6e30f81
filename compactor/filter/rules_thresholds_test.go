package filter

import (
	"strings"
	"testing"
)

// TestThresholdsOfReasons has texts just on either side of what makes a reason.
func TestThresholdsOfReasons(t *testing.T) {
	symbols := func(n int) string { // in 1000 bytes
		return "so " + strings.Repeat("&", n) + " " + strings.Repeat("word ", (996-n)/5)
	}
	hit := func(chars int) string {
		return "It ended with permission denied. " + strings.Repeat("It goes on. ", (chars-33)/12)
	}
	for _, c := range []struct {
		name, text string
		why        reasons
		want       bool
	}{
		{"two indented lines", "What I ran\n    turn left\n    lift bar\nand so on", hasIndentedCode, true},
		{"one indented line", "What I ran\n    turn left\nand so on", hasIndentedCode, false},
		{"13 % symbols", symbols(130), hasSymbols, true},
		{"11 % symbols", symbols(110), hasSymbols, false},
		{"a place in 1480 chars", hit(1480), hasFailure, true},
		{"a place in 1540 chars", hit(1540), hasFailure, false},
		{"two places in 2900 chars", hit(1450) + hit(1450), hasFailure, true},
	} {
		if got := shapeOf(c.text).why&c.why != 0; got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}

// TestThresholdsOfRules has prose beside a fence, and names that weigh more than words.
func TestThresholdsOfRules(t *testing.T) {
	fence := "\n```go\nfunc gate() bool { return open && long && enough && to && be && no && short && text && at && all }\n```\n"
	for prose, want := range map[int]Action{79: Preserved, 80: Split} {
		text := strings.Repeat("x", prose) + fence
		if s := shapeOf(text); s.prose != prose {
			t.Fatalf("%d chars of prose, want %d", s.prose, prose)
		}
		if d := decided([]entry{message("assistant", text)}, ruled(nil))[0]; d.Action != want {
			t.Errorf("%d chars of prose: %v, want %v", prose, d.Action, want)
		}
	}
	// Of 10 terms two are shared: as words they are too little across roles, as names that weigh 2 they are enough.
	for name, shared := range map[string]string{"a word": "gatekeeper millwheel", "a name": "gate_keeper mill_wheel"} {
		older, newer := topical(0, 8, "older")+" "+shared, "Actually, "+topical(0, 8, "newer")+" "+shared
		d := decided([]entry{message("assistant", older+strings.Repeat(" of it", 20)), message("user", newer)}, ruled(func(o *Options) { o.Contradictions = true }))[0]
		if got := d.Action == Contradicted; got != (name == "a name") {
			t.Errorf("what shares %s is superseded: %t", name, got)
		}
	}
	long := strings.Repeat("aB", LongestName/2)
	if got := entities("See " + long + " here."); len(got) != 1 {
		t.Errorf("a name of %d bytes is %d entities", len(long), len(got))
	}
	if got := entities("See " + long + "a here."); len(got) != 0 {
		t.Errorf("a name of %d bytes is an entity", len(long)+1)
	}
}
