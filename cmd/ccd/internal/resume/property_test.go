package resume

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// written are the agents whose sessions ccd writes.
var written = []string{claude, codex, "gemini-cli", "qwen-code", "pi"}

// corpora are directories of real transcripts, which are not part of the repository.
var corpora = []string{"../../../../../shared/corpus", "../../../../../shared/more", "../../../../../shared/cases/*/*/*"}

// agentsOf maps a directory of the corpus to its agent.
var agentsOf = map[string]string{
	"claude": claude, "-home-me-shop": claude, "codex": codex, "gemini": "gemini-cli", "qwen": "qwen-code", "pi": "pi", "openclaw": "openclaw",
	"copilot": "copilot-cli", "cursor": "cursor", "droid": "factory-droid",
}

// TestEveryCopyIsTaken: whatever a session lacks, wherever a crash or an API error cut it off and however small the budget is,
// agents and their APIs accept the copy, it keeps its budget, and it is recognized as a copy. The same is true of a copy of it.
func TestEveryCopyIsTaken(t *testing.T) {
	var files []string
	for _, dir := range corpora {
		found, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
		testkit.Must(t, err)
		files = append(files, found...)
	}
	for i, to := range written {
		t.Run(to, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(testkit.Seed(), uint64(i)))
			made := 0
			take := func(what, from string, data []byte) {
				t.Helper()
				tokens := []int{0, LeastTokens, LeastTokens + rng.IntN(120_000)}[rng.IntN(3)]
				what = fmt.Sprintf("%s, %d bytes, %d tokens", what, len(data), tokens)
				for _, next := range []string{to, written[rng.IntN(len(written))]} {
					c, err := makeCopy(t, sourceOf(from, data), next, tokens)
					if errors.Is(err, ErrNothing) || errors.Is(err, ErrTooSmall) {
						return
					} else if err != nil {
						t.Fatalf("%s, to %s: %v", what, next, err)
					}
					holds(t, what+", to "+next, next, c, tokens+min(tokens, 400)) // a call in words may be longer than its stub, and its result has "> " before each line
					made++
					from, data = next, append(bytes.Join(c.Lines, []byte("\n")), '\n')
				}
			}
			for _, from := range []string{claude, codex} {
				for seed := range uint64(testkit.Cases(t, 2, 12)) {
					data := generated(t, from, seed, 20_000+rng.Int64N(400_000))
					take(fmt.Sprintf("%s, seed %d", from, seed), from, spoiled(rng, data[:len(data)-rng.IntN(100)]))
				}
			}
			if made < 8 {
				t.Errorf("%d copies: the test sees nothing", made)
			}
			for _, name := range testkit.Sample(t, files, 3) {
				from, data := agentsOf[filepath.Base(filepath.Dir(name))], testkit.Read(t, name)
				if from == "" || len(data) == 0 || len(data) > 2<<20 {
					continue
				}
				for range testkit.Cases(t, 3, 12) {
					at := rng.IntN(len(data))
					take(name, from, spoiled(rng, data[:at+bytes.IndexByte(data[at:], '\n')+1]))
				}
			}
		})
	}
}

// spoiled returns the lines, or in two of three cases the lines with some missing, twice, in another place or with an empty text,
// so that calls, results and replies are no longer whole.
func spoiled(rng *rand.Rand, data []byte) []byte {
	var all [][]byte
	rare := []int{1 << 30, 40, 8}[rng.IntN(3)]
	for line := range bytes.Lines(data) {
		if rng.IntN(rare) > 3 {
			all = append(all, line)
			continue
		}
		switch rng.IntN(4) {
		case 0:
		case 1:
			all = append(all, line, line)
		case 2:
			all = slices.Insert(all, rng.IntN(len(all)+1), line)
		case 3:
			all = append(all, text.ReplaceAll(line, []byte(`"$1":""`)))
		}
	}
	return bytes.Join(all, nil)
}

var text = regexp.MustCompile(`"(text|content|output|thinking|id|call_id)": ?"(?:[^"\\]|\\.)*"`)

// holds checks what is true for every copy.
func holds(t *testing.T, what, agent string, c Copy, tokens int) {
	t.Helper()
	if got := shown(agent, c.Lines) * 4 / 3; tokens > 0 && got > tokens {
		t.Errorf("%s: %d tokens, want %d at most", what, got, tokens)
	}
	known := map[mark.ID]bool{}
	for _, p := range c.Pointers {
		known[p.Hash.ID()] = true
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
