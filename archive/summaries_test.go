package archive

import (
	"context"
	"strings"
	"testing"

	"ccd/internal/mark"
)

func TestSummariesAreKept(t *testing.T) {
	t.Parallel()
	ctx, a := context.Background(), open(t)
	one, two := mark.Sum([]byte("one")), mark.Sum([]byte("two"))
	if text, known, err := a.Summaries(ctx)(one); err != nil || known {
		t.Fatalf("before the first write: %q, %v", text, err)
	}
	fill(t, a, session("s"), 1, talk(1, 10_000), whole)
	if text, known, err := a.Summaries(ctx)(one); err != nil || known {
		t.Fatalf("before the first summary: %q, %v", text, err)
	}
	for _, s := range []Summary{{Refused: 1}, {Refused: 1}, {Text: "what was done"}, {Text: "another"}, {Refused: 1}} {
		must(t, a.KeepSummary(ctx, one, s))
		must(t, a.KeepSummary(ctx, two, Summary{Refused: s.Refused}))
	}
	again := openAt(t, a.path, Options{})
	if text, known, err := again.Summaries(ctx)(one); err != nil || text != "what was done" || !known {
		t.Errorf("the first text does not stay: %q, %v", text, err)
	}
	if text, known, err := again.Summaries(ctx)(two); err != nil || text != "" || !known { // refused three times
		t.Errorf("got %q, %v, %v", text, known, err)
	}
	if r := sound(t, again); r.Summaries != 2 {
		t.Errorf("%d summaries verified, want 2", r.Summaries)
	}
	if err := a.KeepSummary(ctx, two, Summary{Text: strings.Repeat("x", maxSummary+1)}); err == nil {
		t.Error("a text of any length is kept")
	}
}
