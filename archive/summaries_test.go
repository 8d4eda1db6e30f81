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
	if got, err := a.Summary(ctx, one); err != nil || got != (Summary{}) {
		t.Fatalf("before the first write: %+v, %v", got, err)
	}
	fill(t, a, session("s"), 1, talk(1, 10_000), whole)
	if got, err := a.Summary(ctx, one); err != nil || got != (Summary{}) {
		t.Fatalf("before the first summary: %+v, %v", got, err)
	}
	for _, s := range []Summary{{Refused: 1, Why: "timed out"}, {Refused: 2, Why: "exit 1"}, {Text: "what was done"}, {Text: "another"}, {Refused: 1}} {
		must(t, a.KeepSummary(ctx, one, s))
	}
	must(t, a.KeepSummary(ctx, two, Summary{Refused: 3, Why: "empty"}))
	again := openAt(t, a.path, Options{})
	if got, err := again.Summary(ctx, one); err != nil || got != (Summary{Text: "what was done", Refused: 3}) {
		t.Errorf("the first text does not stay: %+v, %v", got, err)
	}
	if got, err := again.Summary(ctx, two); err != nil || got != (Summary{Refused: 3, Why: "empty"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if r := sound(t, again); r.Summaries != 2 {
		t.Errorf("%d summaries verified, want 2", r.Summaries)
	}
	if err := a.KeepSummary(ctx, two, Summary{Text: strings.Repeat("x", maxSummary+1)}); err == nil {
		t.Error("a text of any length is kept")
	}
}
