package search_test

import (
	"fmt"
	"testing"

	"ccd/cmd/ccd/internal/search"
	"ccd/internal/transcript"
)

// TestRetold tests that what a hook told an agent is passed by, unless it is asked for, and what anybody else says with
// the same words is not.
func TestRetold(t *testing.T) {
	told := "ccd: record of the earlier work of this session.\\n" + transcript.HistoryNote + ": ink"
	lines := map[string]string{
		"claude-code": fmt.Sprintf(`{"type":"attachment","uuid":"a1","timestamp":"2026-02-03T10:00:00.000Z","attachment":{"type":"hook_additional_context","content":["%s"]}}`, told) + "\n" +
			fmt.Sprintf(`{"type":"user","uuid":"a2","timestamp":"2026-02-03T10:00:00.000Z","message":{"role":"user","content":"%s"}}`, told) + "\n",
		"codex": fmt.Sprintf(`{"timestamp":"2026-02-03T10:00:00.000Z","type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"%s"}]}}`, told) + "\n" +
			fmt.Sprintf(`{"timestamp":"2026-02-03T10:00:00.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"%s"}]}}`, told) + "\n",
	}
	for agent, text := range lines {
		s := newShelf(t)
		in := s.source(s.put(agent, "one", transcript.Main, 1, text, 1<<20))
		for retold, want := range map[bool]int{false: 1, true: 2} {
			if hits, _ := s.find(search.Query{Words: []string{"ink"}, Retold: retold}, in); len(hits) != want {
				t.Errorf("%s, what hooks told %t: %d hits, want %d", agent, retold, len(hits), want)
			}
		}
	}
}
