package resume

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"ccd/internal/testkit"
)

// corpora are directories of real transcripts, which are not part of the repository.
var corpora = []string{"../../../../../shared/corpus", "../../../../../shared/more", "../../../../../shared/cases/*/*/*"}

// agentsOf maps a directory of the corpus to its agent.
var agentsOf = map[string]string{
	"claude": claude, "-home-me-shop": claude, "codex": codex, "gemini": "gemini-cli", "qwen": "qwen-code", "pi": "pi", "openclaw": "openclaw",
	"copilot": "copilot-cli", "cursor": "cursor", "droid": "factory-droid",
}

// TestEveryCutIsTaken cuts real sessions off behind any record, as a crash or an API error does: a copy is made of each, for each
// agent, and at any size, and is never one that an agent would refuse.
func TestEveryCutIsTaken(t *testing.T) {
	var files []string
	for _, dir := range corpora {
		found, _ := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Skip("no real transcripts: this test needs them")
	}
	rng := rand.New(rand.NewPCG(testkit.Seed(), 9))
	for _, name := range testkit.Sample(t, files, 12) {
		from := agentsOf[filepath.Base(filepath.Dir(name))]
		data := testkit.Read(t, name)
		if from == "" || len(data) == 0 || len(data) > 2<<20 {
			continue
		}
		lines := bytes.SplitAfter(data, []byte("\n"))
		for range testkit.Cases(t, 4, 60) {
			cut := bytes.Join(spoiled(rng, lines[:1+rng.IntN(len(lines))]), nil)
			to, tokens := written[rng.IntN(len(written))], []int{0, LeastTokens, LeastTokens + rng.IntN(60_000)}[rng.IntN(3)]
			if rng.IntN(2) == 0 {
				to = from
			}
			if !slices.Contains(written, to) {
				to = claude
			}
			_, err := makeCopy(t, sourceOf(from, cut), to, tokens)
			if err != nil && !errors.Is(err, ErrNothing) && !errors.Is(err, ErrTooSmall) {
				t.Errorf("%s, %d bytes, to %s, %d tokens: %v", name, len(cut), to, tokens, err)
			}
		}
	}
}

// spoiled returns the lines, or in two of three cases the lines with some missing, twice, in another place or with an empty text,
// so that calls, results and replies are no longer whole.
func spoiled(rng *rand.Rand, lines [][]byte) (all [][]byte) {
	rare := []int{1 << 30, 40, 8}[rng.IntN(3)]
	for _, line := range lines {
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
	return all
}

var text = regexp.MustCompile(`"(text|content|output|thinking|id|call_id)": ?"(?:[^"\\]|\\.)*"`)
