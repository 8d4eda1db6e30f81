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

	"ccd/compactor"
	"ccd/compactor/sidecar"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/testkit/gen"
	"ccd/internal/transcript"
)

func recordsOf(agent string, data []byte) iter.Seq2[*transcript.Record, error] {
	return func(yield func(*transcript.Record, error) bool) {
		seg := transcript.Segment{Start: transcript.Cursor{Generation: 1}, Data: data, Rest: true}
		for r := range (registry.Table{}).NewDecoder(agent, transcript.Main).Records(seg) {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// compacted returns a transcript as a list of messages within a budget of estimated tokens.
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
	talk := Talk{Lead: sidecar.Lead("forge", "s", 0), Sections: made.Sections, Budget: tokens * 3 / 4}
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

// Transcripts become lists that an API accepts, with any budget, and the lists can be compacted again.
func TestTranscriptsBecomeMessages(t *testing.T) {
	for _, agent := range []string{"claude-code", "codex"} {
		for seed := range uint64(testkit.Cases(t, 1, 3)) {
			var b bytes.Buffer
			if err := gen.Write(&b, agent, seed, 400_000); err != nil {
				t.Fatal(err)
			}
			for _, budget := range testkit.Sample(t, []int{72000, 20000, 8000, 3000}, 2) {
				out, _ := compacted(t, agent, b.Bytes(), budget)
				all := read(t, out)
				for _, f := range faultsIn(t, all) {
					t.Errorf("%s, seed %d, %d tokens: %s", agent, seed, budget, f)
				}
				if n := charsOf(t, all) * 4 / 3; n > budget+leastCut*4/3 {
					t.Errorf("%s, seed %d: %d tokens of %d", agent, seed, n, budget)
				}
				first := string(all[0].Content) // at 72,000 a session may fit
				if !strings.HasPrefix(first, `"[Conversation compressed]\n`) && budget < 72000 || len(all) < 3 {
					t.Errorf("%s, seed %d: %d messages, the first is %.80s", agent, seed, len(all), first)
				}
				list, err := ReadList(out, nil)
				if err != nil {
					t.Fatal(err)
				}
				if found := faultsIn(t, read(t, list.Filter(shipped).Text)); len(found) > 0 {
					t.Errorf("%s, seed %d, filtered: %q", agent, seed, found)
				}
				if once, _ := compacted(t, agent, b.Bytes(), budget); !bytes.Equal(once, out) {
					t.Errorf("%s, seed %d: another list of the same", agent, seed)
				}
			}
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

// Agents write records in another order than an API accepts.
func TestTurns(t *testing.T) {
	u, r := func(id string) string { return fmt.Sprintf(use, id) }, func(id string) string { return fmt.Sprintf(result, id) }
	for _, c := range []struct {
		name  string
		lines []string
		want  string // roles and kinds of blocks
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
					s += "=" + transcript.Node{Raw: m.Content}.Text()
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

// Images are kept only if nothing was answered to them yet.
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

// A cut text has a marker with its ID and keeps its type: an input is an object, a result a text.
func TestCutsAreMarked(t *testing.T) {
	long := strings.Repeat("a line of it [ccd 0123456789ab cut]\n", 20000)
	q := transcript.QuoteText(long)
	input := `{"command":"make","script":` + q + `,"list":[` + q + `]}`
	data := claude(`user "go"`, `assistant [{"type":"tool_use","id":"a","name":"Bash","input":`+input+`}]`,
		`user [{"type":"tool_result","tool_use_id":"a","content":`+q+`}]`, `assistant `+transcript.QuoteText(long[:5000]))
	for _, budget := range []int{20000, 4000} {
		out, _ := compacted(t, "claude-code", data, budget)
		for _, item := range []string{input, q, transcript.QuoteText(long[:5000])} {
			id := string(mark.Sum([]byte(item)).ID())
			if budget == 20000 && item == transcript.QuoteText(long[:5000]) {
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

// All sections except Recent are in the first message, in order; Recent follows as messages.
func TestPreamble(t *testing.T) {
	var sections []compactor.Section
	want := "[Conversation compressed]\n\nlead\n"
	for _, name := range []string{"Handover", "Working set", "Current item", "Decisions", "Earlier items", "Files and how-to"} {
		sections = append(sections, compactor.Section{Name: name, Body: "of " + name + "\n"})
		if name != current {
			want += "\n## " + name + "\nof " + name + "\n"
		}
	}
	if got := (Talk{Lead: "lead\n\n", Sections: sections}).preamble(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (Talk{Lead: "lead\n", Sections: sections[2:3]}).preamble(); got != "" {
		t.Errorf("nothing is left out, and there stands %q", got)
	}
}
