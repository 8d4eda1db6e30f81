package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"ccd/compactor"
	"ccd/internal/gen"
	"ccd/internal/mark"
	"ccd/internal/sidecar"
	"ccd/internal/transcript"
)

func recordsOf(agent string, data []byte) iter.Seq2[*transcript.Record, error] {
	return func(yield func(*transcript.Record, error) bool) {
		seg := transcript.Segment{Start: transcript.Cursor{Generation: 1}, Data: data, Rest: true}
		for r := range transcript.NewDecoder(agent, transcript.Main).Records(seg) {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// compacted is a transcript as a list of messages in at most so many estimated tokens.
func compacted(t testing.TB, agent string, data []byte, tokens int) ([]byte, Talk) {
	t.Helper()
	o := compactor.Defaults()
	o.MaxTokens = tokens
	c := compactor.New(o, transcript.Session{Key: transcript.Key{Agent: agent, ID: "s"}})
	for r := range recordsOf(agent, data) {
		c.Add(r)
	}
	made, err := c.Compaction(func(s transcript.Span) ([]byte, error) { return data[s.Off:s.End()], nil })
	if err != nil {
		t.Fatal(err)
	}
	talk := Talk{Agent: agent, Lead: sidecar.Lead("forge"), Sections: made.Sections, Verbatim: made.Verbatim, Budget: tokens * 3 / 4}
	out, err := Messages(recordsOf(agent, data), talk)
	if err != nil {
		t.Fatal(err)
	}
	return out, talk
}

type given struct {
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Calls   []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	Answers string `json:"tool_call_id"`
}

type givenBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Use     string          `json:"tool_use_id"`
	Input   json.RawMessage `json:"input"`
	Content json.RawMessage `json:"content"`
}

func read(t testing.TB, out []byte) (all []given) {
	t.Helper()
	if err := json.Unmarshal(out, &all); err != nil || !utf8.Valid(out) {
		t.Fatalf("no list of messages: %v\n%s", err, out)
	}
	return all
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

// faultsIn tells what an API would refuse: roles that do not take turns (but for the answer that we put in), calls whose
// results do not follow at once, results without a call, empty texts, thinking.
func faultsIn(t testing.TB, all []given) (found []string) {
	fault := func(i int, format string, args ...any) {
		found = append(found, fmt.Sprintf("message %d: %s", i, fmt.Sprintf(format, args...)))
	}
	open := map[string]bool{}
	for i, m := range all {
		if m.Role != "user" && m.Role != "assistant" {
			fault(i, "role %s", m.Role)
		}
		if i > 0 && m.Role == all[i-1].Role && string(all[i-1].Content) != quoted(understood) {
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

// What agents write becomes lists that an API takes, whatever the budget, and that can be compacted again.
func TestTranscriptsBecomeMessages(t *testing.T) {
	for _, agent := range []string{"claude-code", "codex"} {
		for seed := range uint64(3) {
			var b bytes.Buffer
			if err := gen.Write(&b, agent, seed, 400_000); err != nil {
				t.Fatal(err)
			}
			for _, budget := range []int{72000, 20000, 8000, 3000} {
				out, talk := compacted(t, agent, b.Bytes(), budget)
				all := read(t, out)
				for _, f := range faultsIn(t, all) {
					t.Errorf("%s, seed %d, %d tokens: %s", agent, seed, budget, f)
				}
				if n := charsOf(t, all) * 4 / 3; n > budget+leastCut*4/3 {
					t.Errorf("%s, seed %d: %d tokens of %d", agent, seed, n, budget)
				}
				if first := string(all[0].Content); len(talk.Sections) > 1 && !strings.HasPrefix(first, `"[Conversation compressed]\n`) || len(all) < 3 {
					t.Errorf("%s, seed %d: %d messages, the first is %.80s", agent, seed, len(all), first)
				}
				again, _ := compacted(t, transcript.Messages, out, budget/2)
				if found := faultsIn(t, read(t, again)); len(found) > 0 {
					t.Errorf("%s, seed %d, compacted again: %q", agent, seed, found)
				}
				if once, _ := compacted(t, agent, b.Bytes(), budget); !bytes.Equal(once, out) {
					t.Errorf("%s, seed %d: another list of the same", agent, seed)
				}
			}
		}
	}
}

const list = `[
  {"id": "m1", "role": "system", "content": "Be brief.", "cache": {"on": 1.50}},
  {"id": "m2", "role": "user", "content": "Count the cents."},
  {"id": "m3", "role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "x"}, {"type": "text", "text": "I look."}, {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": "till"}}]},
  {"id": "m4", "role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "48213"}]},
  {"id": "m5", "role": "assistant", "content": "48,213 cents."}
]`

// A list that needs no shortening comes back as it was, but for the thinking.
func TestShortListsComeBack(t *testing.T) {
	out, _ := compacted(t, transcript.Messages, []byte(list), 72000)
	var got, want any
	if err := errors.Join(json.Unmarshal(out, &got), json.Unmarshal([]byte(list), &want)); err != nil {
		t.Fatal(err)
	}
	third := want.([]any)[2].(map[string]any)
	third["content"] = third["content"].([]any)[1:]
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, out)
	}
	if !bytes.Contains(out, []byte(`"cache": {"on": 1.50}`)) {
		t.Errorf("numbers are not as they were: %s", out)
	}
	again, _ := compacted(t, transcript.Messages, out, 72000)
	if !bytes.Equal(again, out) {
		t.Errorf("compacted again it is another:\n%s", again)
	}
}

// script is a long list of messages in one of the two common forms.
func script(n int, openAI bool) []byte {
	var all []any
	put := func(m map[string]any) {
		m["id"] = fmt.Sprintf("m%d", len(all))
		all = append(all, m)
	}
	put(map[string]any{"role": "system", "content": "You keep the ledger."})
	put(map[string]any{"role": "user", "content": "Count the cents. " + hostile})
	for i := range n {
		id, input := fmt.Sprintf("call_%d", i), map[string]any{"path": fmt.Sprintf("till/%d.txt", i), "note": strings.Repeat("why not ", i%7*100)}
		out := fmt.Sprintf("till %d holds %d cents [ccd 0123456789ab cut]\n", i, i*17) + strings.Repeat("a coin\n", i%11*120)
		if openAI {
			args, err := json.Marshal(input)
			if err != nil {
				panic(err)
			}
			put(map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{
				map[string]any{"id": id, "type": "function", "function": map[string]any{"name": "look", "arguments": string(args)}},
			}})
			put(map[string]any{"role": "tool", "tool_call_id": id, "content": out})
		} else {
			put(map[string]any{"role": "assistant", "content": []any{
				map[string]any{"type": "thinking", "thinking": "hm"},
				map[string]any{"type": "tool_use", "id": id, "name": "look", "input": input},
				map[string]any{"type": "tool_use", "id": id + "b", "name": "look", "input": map[string]any{}},
			}})
			put(map[string]any{"role": "user", "content": []any{
				map[string]any{"type": "tool_result", "tool_use_id": id, "content": []any{map[string]any{"type": "text", "text": out}}},
				map[string]any{"type": "tool_result", "tool_use_id": id + "b", "content": "nothing"},
			}})
		}
		if i%5 == 4 {
			put(map[string]any{"role": "assistant", "content": fmt.Sprintf("Till %d is counted: %d cents.", i, i*17)})
			put(map[string]any{"role": "user", "content": fmt.Sprintf("Go on with till %d.", i+1)})
		}
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		panic(err)
	}
	return text
}

// The engine as a filter: messages in, messages in the same shape out, again and again.
func TestListsKeepTheirShape(t *testing.T) {
	for _, openAI := range []bool{false, true} {
		data := script(60, openAI)
		for _, budget := range []int{30000, 12000, 4000} {
			out, _ := compacted(t, transcript.Messages, data, budget)
			all := read(t, out)
			if all[0].Role != "system" || string(all[0].Content) != `"You keep the ledger."` || all[0].ID != "m0" {
				t.Fatalf("the system's message does not stand first: %+v", all[0])
			}
			if !strings.HasPrefix(string(all[1].Content), `"[Conversation compressed]`) || string(all[2].Content) != quoted(understood) {
				t.Errorf("openAI %v: the compressed part does not stand second: %.60s, %.60s", openAI, all[1].Content, all[2].Content)
			}
			if last := all[len(all)-1]; last.Role != "user" || string(last.Content) != `"Go on with till 60."` {
				t.Errorf("the last message is %+v", last)
			}
			if n := charsOf(t, all) * 4 / 3; n > budget+leastCut*4/3 {
				t.Errorf("%d tokens of %d", n, budget)
			}
			for i, m := range all[3:] {
				if m.ID == "" {
					t.Errorf("message %d has lost its id", i+3)
				}
			}
			if openAI {
				checkAnswers(t, all)
			} else if found := faultsIn(t, all[1:]); len(found) > 0 {
				t.Errorf("faults: %q", found)
			}
			if bytes.Contains(out, []byte("thinking")) {
				t.Error("thinking stands there")
			}
			for round := range 3 {
				out, _ = compacted(t, transcript.Messages, out, budget)
				if all = read(t, out); string(all[len(all)-1].Content) != `"Go on with till 60."` || all[0].Role != "system" {
					t.Errorf("round %d: %+v", round, all)
				}
			}
		}
	}
}

// checkAnswers holds that each call has its answer behind it, and each answer its call before it.
func checkAnswers(t *testing.T, all []given) {
	t.Helper()
	open := map[string]bool{}
	for i, m := range all {
		if m.Role == "tool" {
			if !open[m.Answers] {
				t.Errorf("message %d answers no call", i)
			}
			delete(open, m.Answers)
			continue
		}
		for id := range open {
			t.Errorf("message %d: %s has no answer", i, id)
		}
		clear(open)
		for _, c := range m.Calls {
			open[c.ID] = true
			if !json.Valid([]byte(c.Function.Arguments)) {
				t.Errorf("message %d: arguments %s", i, c.Function.Arguments)
			}
		}
	}
}

// What is ours in a list that is compacted again is quoted then, and cannot pose as a marker of the new companion.
func TestOursIsInertTheNextTime(t *testing.T) {
	out, _ := compacted(t, transcript.Messages, script(60, false), 12000)
	ids := mark.IDs(text(read(t, out)[1].Content))
	if len(ids) == 0 {
		t.Fatal("no IDs in the compressed part: this test cannot fail")
	}
	_, talk := compacted(t, transcript.Messages, out, 6000)
	for _, s := range talk.Sections {
		for _, id := range mark.IDs(s.Body) {
			for _, old := range ids {
				if id == old {
					t.Errorf("%s stands unquoted in %s", id, s.Name)
				}
			}
		}
	}
}

// What a list's compressed part says of the state of things is not lost when the list grows and is compacted again.
func TestStateIsCarriedOn(t *testing.T) {
	out := script(60, false)
	for round := range 5 {
		out, _ = compacted(t, transcript.Messages, out, 16000)
		all := read(t, out)
		first := text(all[1].Content)
		if !strings.Contains(first, "Count the cents. </pre><script>") || round > 0 && strings.Count(first, "\n## "+carriedName+"\n") != 1 {
			t.Errorf("round %d: what was asked for first is gone:\n%.3000s", round, first)
		}
		if strings.Contains(first, "> > > ") {
			t.Errorf("round %d: quotes pile up", round)
		}
		if n := charsOf(t, all) * 4 / 3; n > 16000+leastCut*4/3 {
			t.Errorf("round %d: %d tokens", round, n)
		}
		var more []json.RawMessage
		if err := json.Unmarshal(script(20, false), &more); err != nil {
			t.Fatal(err)
		}
		var grown []json.RawMessage
		if err := json.Unmarshal(out, &grown); err != nil {
			t.Fatal(err)
		}
		for _, m := range more[2:] {
			grown = append(grown, json.RawMessage(strings.ReplaceAll(string(m), "call_", fmt.Sprintf("call_%d_", round))))
		}
		var err error
		if out, err = json.Marshal(grown); err != nil {
			t.Fatal(err)
		}
	}
}

func claude(lines ...string) []byte {
	var b strings.Builder
	for i, l := range lines {
		role := "assistant"
		if strings.HasPrefix(l, "user ") {
			role = "user"
		}
		content := strings.TrimPrefix(strings.TrimPrefix(l, "user "), "assistant ")
		id, rest, ok := strings.Cut(content, "|")
		if !ok {
			id, rest = fmt.Sprint("m", i), content
		}
		fmt.Fprintf(&b, `{"type":%q,"uuid":"u%d","sessionId":"s","timestamp":"2026-03-04T09:%02d:00Z","message":{"id":%q,"role":%q,"content":%s}}`+"\n", role, i, i, id, role, rest)
	}
	return []byte(b.String())
}

const (
	use    = `[{"type":"tool_use","id":"%s","name":"Bash","input":{"command":"make"}}]`
	result = `[{"type":"tool_result","tool_use_id":"%s","content":"made"}]`
)

// The order in which an agent writes is not the order that an API takes: each case, and what becomes of it.
func TestTurns(t *testing.T) {
	u, r := func(id string) string { return fmt.Sprintf(use, id) }, func(id string) string { return fmt.Sprintf(result, id) }
	for _, c := range []struct {
		name  string
		lines []string
		want  string // roles and what their blocks are
	}{
		{"one after the other", []string{`user "go"`, "assistant " + u("a"), "user " + r("a"), `assistant [{"type":"text","text":"done"}]`}, "U=go A:a U:a A=done"},
		{"calls of one reply", []string{`user "go"`, "assistant x|" + u("a"), "assistant x|" + u("b"), "user " + r("b"), "user " + r("a")}, "U=go A:a:b U:a:b"},
		{"their results between them", []string{`user "go"`, "assistant x|" + u("a"), "user " + r("a"), "assistant x|" + u("b"), "user " + r("b")}, "U=go A:a:b U:a:b"},
		{"a word before the result", []string{`user "go"`, "assistant " + u("a"), `user "hurry"`, "user " + r("a")}, "U=go A:a U:a=hurry"},
		{"never answered", []string{`user "go"`, "assistant " + u("a"), `user "stop that"`, `assistant "stopped"`}, `U=go A=(Bash was called and gave no result) {"command":"make"} U=stop that A=stopped`},
		{"still waiting", []string{`user "go"`, "assistant " + u("a")}, "U=go A:a"},
		{"a result of nothing", []string{`user "go"`, "user " + r("z"), `assistant "so"`}, "U=go A=so"},
		{"thinking and what is empty", []string{`user "go"`, `assistant [{"type":"thinking","thinking":"hm"}]`, `assistant "so"`}, "U=go A=so"},
		{"two of one role", []string{`user "go"`, `user "on"`, `assistant "so"`}, "U=go=on A=so"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := compacted(t, "claude-code", claude(c.lines...), 72000)
			all := read(t, out)
			var got []string
			for _, m := range all {
				s := strings.ToUpper(m.Role[:1])
				if blocks := blocksOf(t, m); blocks == nil {
					s += "=" + text(m.Content)
				} else {
					for _, b := range blocks {
						if b.Type == "text" {
							s += "=" + b.Text
						} else {
							s += ":" + b.ID + b.Use
						}
					}
				}
				got = append(got, s)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%s\nwant %s", strings.Join(got, " "), c.want)
			}
			if c.name != "still waiting" {
				if found := faultsIn(t, all); len(found) > 0 {
					t.Errorf("faults: %q", found)
				}
			}
		})
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
		if len(faultsIn(t, read(t, []byte(bad)))) == 0 {
			t.Errorf("no fault in %s", bad)
		}
	}
}

// Images stand whole only where nothing was answered to them yet.
func TestImages(t *testing.T) {
	image := func(id string) string {
		return `[{"type":"text","text":"look ` + id + `"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + strings.Repeat("QUJD", 500) + id + `"}}]`
	}
	data := claude("user "+image("AAAA"), "assistant "+fmt.Sprintf(use, "a"),
		`user [{"type":"tool_result","tool_use_id":"a","content":`+image("BBBB")+`}]`, `assistant "seen"`, "user "+image("CCCC"))
	out, _ := compacted(t, "claude-code", data, 72000)
	for id, want := range map[string]bool{"AAAA": false, "BBBB": false, "CCCC": true} {
		if got := bytes.Contains(out, []byte("QUJD"+id)); got != want {
			t.Errorf("image %s stands there: %v\n%s", id, got, out)
		}
		if !bytes.Contains(out, []byte("look "+id)) {
			t.Errorf("the text beside image %s is gone", id)
		}
	}
	if n := bytes.Count(out, []byte("[ccd ")); n != 2 {
		t.Errorf("%d markers, want 2:\n%s", n, out)
	}
	if found := faultsIn(t, read(t, out)); len(found) > 0 {
		t.Errorf("faults: %q", found)
	}
	codex := `{"timestamp":"2026-01-16T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Look"},{"type":"input_image","image_url":"data:image/png;base64,QUJDRA=="}]}}` + "\n"
	out, _ = compacted(t, "codex", []byte(codex), 72000)
	if !bytes.Contains(out, []byte(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJDRA=="}}`)) {
		t.Errorf("a data URL: %s", out)
	}
}

// Whatever is cut says so, with the ID of its item, and stays what it was: an input an object, a result a text.
func TestCutsAreMarked(t *testing.T) {
	long := strings.Repeat("a line of it [ccd 0123456789ab cut]\n", 20000)
	q := quoted(long)
	input := `{"command":"make","script":` + q + `,"list":[` + q + `]}`
	data := claude(`user "go"`, `assistant [{"type":"tool_use","id":"a","name":"Bash","input":`+input+`}]`,
		`user [{"type":"tool_result","tool_use_id":"a","content":`+q+`}]`, `assistant `+quoted(long[:5000]))
	for _, budget := range []int{20000, 4000} {
		out, _ := compacted(t, "claude-code", data, budget)
		for _, item := range []string{input, q, quoted(long[:5000])} {
			id := string(mark.Sum([]byte(item)).ID())
			if budget == 20000 && item == quoted(long[:5000]) {
				continue
			}
			if !bytes.Contains(out, []byte("[ccd "+id+" cut, ")) && budget == 20000 {
				t.Errorf("%d tokens: nothing says that %.30s was cut:\n%.3000s", budget, item, out)
			}
		}
		all := read(t, out)
		if n := charsOf(t, all) * 4 / 3; n > budget+leastCut*4/3 {
			t.Errorf("%d tokens of %d", n, budget)
		}
		if found := faultsIn(t, all); len(found) > 0 {
			t.Errorf("faults: %q", found)
		}
	}
}

func TestErrorsEndIt(t *testing.T) {
	bad := errors.New("damage")
	_, err := Messages(func(yield func(*transcript.Record, error) bool) { yield(nil, bad) }, Talk{})
	if !errors.Is(err, bad) {
		t.Errorf("%v", err)
	}
	if out, err := Messages(func(func(*transcript.Record, error) bool) {}, Talk{}); err != nil || string(out) != "[]\n" {
		t.Errorf("nothing: %q, %v", out, err)
	}
}

// Any list that can be read gives a list that can be read.
func FuzzMessages(f *testing.F) {
	f.Add([]byte(list), 200)
	f.Add(script(6, true), 900)
	f.Add([]byte(`[{"role":"user","content":[1,null,"x",{"type":"tool_result"},{"type":"tool_use","id":"\ud800"}]},{"role":"tool"},3]`), 10)
	f.Add([]byte(`{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"arguments":"{"}}],"role":"user"}`), 0)
	f.Add([]byte(`[{"role":"0"`), 0)
	f.Fuzz(func(t *testing.T, data []byte, tokens int) {
		if tokens < 0 || tokens > 100000 || len(data) > 1<<16 {
			t.Skip("not a budget that can be asked for")
		}
		out, _ := compacted(t, transcript.Messages, data, tokens)
		var all []json.RawMessage
		if err := json.Unmarshal(out, &all); err != nil || !utf8.Valid(out) {
			t.Fatalf("%v: %q", err, out)
		}
		again, _ := compacted(t, transcript.Messages, out, tokens)
		if !json.Valid(again) {
			t.Fatalf("the second time: %q", again)
		}
	})
}
