package resume

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// written are the agents whose sessions ccd writes.
var written = []string{claude, codex, "gemini-cli", "qwen-code", "pi"}

// TestEveryCopyIsTaken: whatever a session lacks and however small the budget is, agents and their APIs accept the
// copy, it keeps its budget, and it is recognized as a copy. The same is true of a copy of it.
func TestEveryCopyIsTaken(t *testing.T) {
	for _, from := range []string{claude, codex} {
		for i, to := range written {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(7, uint64(len(from)*100+len(to))))
				for seed := range uint64(testkit.Cases(t, 2, 12)) {
					data := generated(t, from, seed, 20_000+rng.Int64N(400_000))
					if seed%3 > 0 {
						data = dropped(data, rng, 2+rng.IntN(30))
					}
					if seed%5 == 0 && len(data) > 100 {
						data = data[:len(data)-1-rng.IntN(100)]
					}
					tokens := LeastTokens + rng.IntN(120_000)
					if seed%4 == 0 {
						tokens = 0
					}
					c, err := makeCopy(t, sourceOf(from, data), to, tokens)
					if err != nil {
						t.Fatalf("seed %d, %d tokens: %v", seed, tokens, err)
					}
					holds(t, fmt.Sprintf("seed %d", seed), to, c, tokens)
					next := written[(i+int(seed))%len(written)]
					again, err := makeCopy(t, sourceOf(to, append(bytes.Join(c.Lines, []byte("\n")), '\n')), next, tokens)
					if err != nil {
						t.Fatalf("seed %d, %d tokens, to %s: %v", seed, tokens, next, err)
					}
					holds(t, fmt.Sprintf("seed %d to %s", seed, next), next, again, tokens)
				}
			})
		}
	}
}

// holds checks what is true for every copy.
func holds(t *testing.T, what, agent string, c Copy, tokens int) {
	t.Helper()
	if got := shown(agent, c.Lines) * 4 / 3; tokens > 0 && got > tokens {
		t.Errorf("%s: %d tokens, want %d at most", what, got, tokens)
	}
	known := map[mark.ID]bool{}
	for _, pointers := range c.Pointers {
		for _, p := range pointers {
			known[p.Hash.ID()] = true
		}
	}
	first := true
	for r := range decoded(agent, c.Lines) {
		if r.Broken || r.Unknown {
			t.Fatalf("%s: record %d is not understood", what, r.N)
		}
		if first && (r.Resumed == nil || r.Resumed.Records != len(c.Lines)) {
			t.Fatalf("%s: the first record does not say that it is a copy of %d records: %v", what, len(c.Lines), r.Resumed)
		}
		first = false
		for _, it := range r.Items {
			if it.Kind != transcript.Summary {
				continue
			}
			for _, id := range mark.IDs(string(transcript.Original(it.Kind, it.Raw))) {
				if !known[id] {
					t.Errorf("%s: ID %s has no pointer", what, id)
				}
			}
		}
	}
}

func TestTooSmallABudgetIsAnError(t *testing.T) {
	_, err := makeCopy(t, sourceOf(claude, generated(t, claude, 1, 100_000)), claude, 300)
	if !errors.Is(err, ErrTooSmall) {
		t.Errorf("got %v, want ErrTooSmall", err)
	}
}

func TestASessionWithoutAWordHasNoCopy(t *testing.T) {
	data := []byte(`{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-15T09:00:00.000Z"}` + "\n")
	if _, err := makeCopy(t, sourceOf(claude, data), claude, 0); !errors.Is(err, ErrNothing) {
		t.Errorf("got %v, want ErrNothing", err)
	}
}
