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
	"ccd/compactor/sidecar"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// listed returns a transcript as a list of messages within a budget of estimated tokens, and the messages.
func listed(t testing.TB, agent string, data []byte, tokens int) (out []byte, all []given) {
	t.Helper()
	from := sourceOf(agent, data)
	from.Options.MaxTokens = tokens
	c := compactor.New(from.Options, from.Session)
	for r := range from.Records {
		c.Add(r)
	}
	made, err := c.Compact(c.Companion(), from.Text, nil)
	testkit.Must(t, err)
	out, err = List(agent, from.Records, Handover{Lead: sidecar.Lead("forge", "s", 0), Sections: made.Sections, Budget: tokens * 3 / 4})
	testkit.Must(t, err)
	if err := json.Unmarshal(out, &all); err != nil || !utf8.Valid(out) {
		t.Fatalf("no list of messages: %v\n%s", err, out)
	}
	return out, all
}

type given struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type givenBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Use     string          `json:"tool_use_id"`
	Input   json.RawMessage `json:"input"`
	Content json.RawMessage `json:"content"`
}

func blocksOf(t testing.TB, m given) (all []givenBlock) {
	t.Helper()
	if len(m.Content) > 0 && m.Content[0] == '[' {
		if err := json.Unmarshal(m.Content, &all); err != nil {
			t.Fatalf("content %s: %v", m.Content, err)
		}
	}
	return all
}

// faultsIn returns what an API would reject: roles that do not alternate (except for our answer), calls whose results
// do not follow at once, results without a call, empty texts, thinking.
func faultsIn(t testing.TB, all []given) (found []string) {
	fault := func(i int, format string, args ...any) {
		found = append(found, fmt.Sprintf("message %d: %s", i, fmt.Sprintf(format, args...)))
	}
	open := map[string]bool{}
	for i, m := range all {
		if m.Role != "user" && m.Role != "assistant" {
			fault(i, "role %s", m.Role)
		}
		if i > 0 && m.Role == all[i-1].Role && string(all[i-1].Content) != transcript.QuoteText(understood) {
			fault(i, "again %s", m.Role)
		}
		if len(m.Content) == 0 || string(m.Content) == `""` || string(m.Content) == `[]` {
			fault(i, "empty")
		}
		answered := map[string]bool{}
		for _, b := range blocksOf(t, m) {
			switch b.Type {
			case "text":
				if b.Text == "" {
					fault(i, "an empty text")
				}
			case "tool_result":
				if !open[b.Use] || answered[b.Use] {
					fault(i, "a result of no call: %s", b.Use)
				}
				answered[b.Use] = true
			case "tool_use", "image", "document":
			default:
				fault(i, "a block of type %q", b.Type)
			}
		}
		for id := range open {
			if !answered[id] {
				fault(i, "no result of %s", id)
			}
		}
		clear(open)
		for _, b := range blocksOf(t, m) {
			if b.Type == "tool_use" {
				if m.Role != "assistant" || b.ID == "" || len(b.Input) == 0 || b.Input[0] != '{' {
					fault(i, "a bad call %s", b.ID)
				}
				open[b.ID] = true
			}
		}
	}
	return found
}

func charsOf(t testing.TB, all []given) int {
	n := 0
	for _, m := range all {
		blocks := blocksOf(t, m)
		if blocks == nil {
			n += transcript.Chars(m.Content)
		}
		for _, b := range blocks {
			n += utf8.RuneCountInString(b.Text)
			if len(b.Input) > 0 {
				n += transcript.Chars(b.Input)
			}
			if len(b.Content) > 0 {
				n += transcript.Chars(b.Content)
			}
		}
	}
	return n
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
			out, messages := listed(t, in.agent, in.data, budget)
			for _, f := range faultsIn(t, messages) {
				t.Errorf("%s, %s, %d tokens: %s", in.name, in.agent, budget, f)
			}
			if n := charsOf(t, messages) * 4 / 3; n > budget+100 { // a call in words may be longer than its stub
				t.Errorf("%s, %s: %d tokens of %d", in.name, in.agent, n, budget)
			}
			if again, _ := listed(t, in.agent, in.data, budget); !bytes.Equal(again, out) {
				t.Errorf("%s, %s: another list of the same", in.name, in.agent)
			}
		}
	}
}

func TestFaultsAreSeen(t *testing.T) {
	for _, bad := range []string{
		`[{"role":"user","content":"a"},{"role":"user","content":"b"}]`,
		`[{"role":"assistant","content":[{"type":"tool_use","id":"a","input":{}}]},{"role":"user","content":"b"}]`,
		`[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}]`,
		`[{"role":"assistant","content":[{"type":"thinking","thinking":"x"}]}]`,
		`[{"role":"user","content":""}]`,
	} {
		if len(faultsIn(t, parsed(t, bad))) == 0 {
			t.Errorf("no fault in %s", bad)
		}
	}
}

func parsed(t *testing.T, text string) (all []given) {
	t.Helper()
	testkit.Must(t, json.Unmarshal([]byte(text), &all))
	return all
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

// A call keeps its tool and its input as an object; images come whole; what was cut has its ID.
func TestListContent(t *testing.T) {
	call := `{"command":"make","list":[1]}`
	long := transcript.QuoteText(strings.Repeat("a line of it [ccd 0123456789ab cut]\n", 20000))
	image := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJDRA=="}}`
	data := ""
	for i, m := range []string{
		`"user","content":[{"type":"text","text":"look"},` + image + `]`, `"assistant","content":[{"type":"tool_use","id":"a","name":"Brew","input":` + call + `}]`,
		`"user","content":[{"type":"tool_result","tool_use_id":"a","content":` + long + `}]`, `"assistant","content":[{"type":"text","text":"done"}]`,
	} {
		role, _, _ := strings.Cut(m[1:], `"`)
		data += fmt.Sprintf(`{"type":%q,"uuid":"u%d","sessionId":"s","timestamp":"2026-03-04T09:%02d:00Z","message":{"id":"m%[2]d","role":%[4]s}}`+"\n", role, i, i, m)
	}
	out, all := listed(t, claude, []byte(data), 20000)
	if found := faultsIn(t, all); len(found) > 0 {
		t.Errorf("faults: %q", found)
	}
	for _, want := range []string{image, `"name":"Brew","input":` + call, "[ccd " + string(mark.Sum([]byte(long)).ID()) + " "} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("%s is not in %.2000s", want, out)
		}
	}
}
