package resume

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ccd/compactor/sidecar"
	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// TestACopyOfACopy: the first session is summarized from its own records, not from the summary in the copy, and every
// ID belongs to one of the two.
func TestACopyOfACopy(t *testing.T) {
	first := sourceOf(claude, generated(t, claude, 3, 300_000))
	first.Session.ID = "22222222-2222-4222-8222-222222222222"
	c, err := makeCopy(t, first, claude, 20_000)
	testkit.Must(t, err)
	grown := append(bytes.Join(c.Lines, []byte("\n")), '\n')
	s := script{last: "none"}
	s.human("And now the report of the third quarter")
	for i := range 30 {
		id := fmt.Sprintf("toolu_again_%d", i)
		s.calls(id, fmt.Sprintf("report --part %d", i))
		s.gets(id, strings.Repeat("a figure of the report\n", 80), "")
	}
	grown = append(grown, s.b.String()...)
	second := sourceOf(claude, grown)
	second.Resumed = transcript.Resumed{ID: first.Session.ID, Records: len(c.Lines), Covers: 50}
	first.Until = 50
	again, err := Make([]Source{second, first}, Request{Agent: claude, ID: newID, MaxTokens: 24_000})
	testkit.Must(t, err)
	holds(t, "again", claude, again, 24_000)
	said := ""
	for r := range decoded(claude, again.Lines) {
		if len(r.Items) > 0 && r.Items[0].Kind == transcript.Summary {
			said = string(transcript.Original(transcript.Summary, r.Items[0].Raw))
		}
	}
	for _, want := range []string{"of session " + first.Session.ID + ", which this one continues\n", "Task (#"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %s", want, said)
		}
	}
	if !strings.Contains(string(bytes.Join(again.Lines, nil)), "report of the third quarter") {
		t.Error("what was asked last is not in the copy")
	}
	if n := strings.Count(said, transcript.SummaryStart); n != 1 {
		t.Errorf("%d summaries stand in the first message, want its own alone", n)
	}
	// the pointers of each source are spans of its own bytes
	for i, src := range []Source{second, first} {
		for _, p := range again.Pointers[i] {
			raw, err := src.Text(p.Parts[0].Span)
			if err != nil || p.Shape == transcript.Single && mark.Sum(raw) != p.Hash {
				t.Errorf("source %d: pointer to record %d is not its bytes", i, p.Record)
			}
		}
	}
}

// TestCopiesAreKnownByTheirFirstMessage: a rollout has no flag for copies, so its decoder recognizes them by the first
// message, but not a person's message as one.
func TestCopiesAreKnownByTheirFirstMessage(t *testing.T) {
	if !strings.HasPrefix(sidecar.Lead("host", "s", 0), transcript.SummaryStart) {
		t.Fatalf("a companion begins with %q", sidecar.Lead("host", "s", 0))
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
