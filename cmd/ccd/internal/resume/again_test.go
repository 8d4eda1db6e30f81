package resume

import (
	"errors"
	"strings"
	"testing"

	"ccd/compactor/companion"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// TestCopiesAreKnownByTheirFirstMessage: a rollout has no flag for copies, so its decoder recognizes them by the first
// message, but not a person's message as one.
func TestCopiesAreKnownByTheirFirstMessage(t *testing.T) {
	if !strings.HasPrefix(companion.Lead("host", "s", 0), transcript.SummaryStart) {
		t.Fatalf("a companion begins with %q", companion.Lead("host", "s", 0))
	}
	c, err := makeCopy(t, sourceOf(codex, generated(t, codex, 5, 200_000)), codex, 12_000)
	testkit.Must(t, err)
	kinds := map[transcript.Kind]int{}
	for r := range decoded(codex, c.Lines) {
		for _, it := range r.Items {
			kinds[it.Kind]++
		}
	}
	if kinds[transcript.Summary] != 1 {
		t.Errorf("got %v, want one summary", kinds)
	}
	line := `{"timestamp":"2026-01-15T09:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"ccd: why is it slow?\n\nLook."}]}}`
	for r := range decoded(codex, [][]byte{[]byte(line)}) {
		if len(r.Items) != 1 || r.Items[0].Kind != transcript.Human {
			t.Errorf("a person's message is %v", r.Items)
		}
	}
}

// FuzzMake: for any transcript there is a copy that the APIs accept, or an error.
func FuzzMake(f *testing.F) {
	f.Add(generated(f, claude, 1, 3000), true, uint16(0))
	f.Add(generated(f, codex, 1, 3000), false, uint16(900))
	f.Add([]byte(`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"a b","name":"x y","input":"\ud800"},{"type":"text","text":"\u0000 "}]}}`), true, uint16(0))
	f.Add([]byte(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":""},{"type":"image"}]},{"type":"image","source":{}}]}}`), true, uint16(1))
	f.Fuzz(func(t *testing.T, data []byte, first bool, tokens uint16) {
		from, to := claude, codex
		if !first {
			from, to = to, from
		}
		for _, agent := range []string{from, to} {
			c, err := makeCopy(t, sourceOf(from, data), agent, LeastTokens+int(tokens))
			if errors.Is(err, ErrNothing) || errors.Is(err, ErrTooSmall) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			holds(t, agent, agent, c, LeastTokens+int(tokens))
		}
	})
}
