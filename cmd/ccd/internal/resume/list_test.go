package resume

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"ccd/compactor"
	"ccd/compactor/companion"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// listed returns a transcript as a list of messages within a budget of estimated tokens, which an API accepts.
func listed(t testing.TB, agent string, data []byte, tokens int) (out []byte) {
	t.Helper()
	from := sourceOf(agent, data)
	from.Options.MaxTokens = tokens
	c := compactor.New(from.Options, from.Session)
	for r := range from.Records {
		c.Add(r)
	}
	made, err := c.Compact(c.Companion(), from.Text, nil)
	testkit.Must(t, err)
	out, err = List(agent, from.Records, Handover{Lead: companion.Lead("forge", "s", 0), Sections: made.Sections, Budget: tokens * 3 / 4})
	testkit.Must(t, err)
	var all []struct {
		Role    string
		Content any
	}
	if err := json.Unmarshal(out, &all); err != nil || !utf8.Valid(out) {
		t.Fatalf("no list of messages: %v\n%s", err, out)
	}
	for i := 1; i < len(all); i++ {
		if all[i].Role == all[i-1].Role && all[i-1].Content != understood {
			t.Errorf("message %d: again %s", i, all[i].Role)
		}
	}
	if err := checkRecords(transcript.Messages, [][]byte{out}); err != nil {
		t.Errorf("%d tokens: %v", tokens, err)
	}
	return out
}

// Transcripts become lists that an API accepts, in all forms and sizes, the same ones each time.
func TestTranscriptsBecomeMessages(t *testing.T) {
	type input struct {
		name, agent string
		data        []byte
	}
	var all []input
	for _, agent := range []string{claude, codex} {
		for seed := range uint64(testkit.Cases(t, 1, 3)) {
			all = append(all, input{fmt.Sprint("seed ", seed), agent, generated(t, agent, seed, 400_000)})
		}
	}
	files, err := filepath.Glob("../../../../../shared/corpus/c*/*.jsonl")
	testkit.Must(t, err)
	for _, f := range testkit.Sample(t, files, 3) {
		data := testkit.Read(t, f)
		if agent, _, ok := (registry.Table{}).Sniff(data); ok && agent != transcript.Messages {
			all = append(all, input{filepath.Base(f), agent, data})
		}
	}
	for _, in := range all {
		for _, budget := range testkit.Sample(t, []int{72000, 16000, 8000, 4000}, 2) {
			out := listed(t, in.agent, in.data, budget)
			if n := shown(transcript.Messages, [][]byte{out}) * 4 / 3; n > budget+100 { // a call in words may be longer than its stub
				t.Errorf("%s, %s: %d tokens of %d", in.name, in.agent, n, budget)
			}
			if again := listed(t, in.agent, in.data, budget); !bytes.Equal(again, out) {
				t.Errorf("%s, %s: another list of the same", in.name, in.agent)
			}
		}
	}
}

// A list begins with the sections, as many whole lines as its room holds.
func TestHandoverText(t *testing.T) {
	h := Handover{Lead: "lead\n\n", Sections: []compactor.Section{{Name: "Handover", Body: "a\n"}, {Name: "Record", Body: "b\n"}}}
	begins := "[Conversation compressed]\n\nlead\n\n## Handover\na\n"
	for room, want := range map[int]string{100: begins + "\n## Record\nb\n", 27: begins + "\n## Record\n", 17: begins + "\n"} {
		if got := h.text(room); got != want {
			t.Errorf("%d: got %q, want %q", room, got, want)
		}
	}
}

// A call keeps its tool and its input as an object; an image has its ID, as what was cut.
func TestListContent(t *testing.T) {
	call := `{"command":"make","list":[1]}`
	long := transcript.QuoteText(strings.Repeat("a line of it [ccd 0123456789ab cut]\n", 20000))
	source := `{"type":"base64","media_type":"image/png","data":"QUJDRA=="}`
	image := `{"type":"image","source":` + source + `}`
	data := ""
	for i, m := range []string{
		`"user","content":[{"type":"text","text":"look"},` + image + `]`, `"assistant","content":[{"type":"tool_use","id":"a","name":"Brew","input":` + call + `}]`,
		`"user","content":[{"type":"tool_result","tool_use_id":"a","content":` + long + `}]`, `"assistant","content":[{"type":"text","text":"done"}]`,
	} {
		role, _, _ := strings.Cut(m[1:], `"`)
		data += fmt.Sprintf(`{"type":%q,"uuid":"u%d","sessionId":"s","timestamp":"2026-03-04T09:%02d:00Z","message":{"id":"m%[2]d","role":%[4]s}}`+"\n", role, i, i, m)
	}
	out := listed(t, claude, []byte(data), 20000)
	for _, want := range []string{": only here; ccd agent restore " + string(mark.Sum([]byte(source)).ID()), `"name":"Brew","input":` + call, "[ccd " + string(mark.Sum([]byte(long)).ID()) + " "} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("%s is not in %.2000s", want, out)
		}
	}
}
