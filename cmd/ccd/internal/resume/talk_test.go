package resume

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// script builds a Claude Code session; each line follows the previous one unless it says otherwise.
type script struct {
	b    strings.Builder
	n    int
	last string
}

func (s *script) line(kind, parent, message, extra string) string {
	s.n++
	uuid := fmt.Sprintf("u%d", s.n)
	if parent == "" {
		parent = s.last
	}
	s.last = uuid
	if parent = fmt.Sprintf("%q", parent); parent == `"null"` || parent == `""` {
		parent = "null"
	}
	fmt.Fprintf(&s.b, `{"type":%q,"uuid":%q,"parentUuid":%s,"timestamp":"2026-01-15T09:%02d:%02d.000Z","cwd":"/home/me/ledger","sessionId":"s","message":%s%s}`+"\n",
		kind, uuid, parent, s.n/60, s.n%60, message, extra)
	return uuid
}

func (s *script) human(text string) string {
	return s.line("user", "", `{"role":"user","content":`+string(transcript.Quote(text))+`}`, "")
}

func (s *script) says(text string) string {
	return s.line("assistant", "", fmt.Sprintf(`{"id":"m%d","role":"assistant","model":"claude-demo","content":[{"type":"text","text":%s}]}`, s.n, transcript.Quote(text)), "")
}

func (s *script) calls(id, command string) string {
	return s.line("assistant", "", fmt.Sprintf(`{"id":"m_%s","role":"assistant","model":"claude-demo","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":%s}}]}`,
		id, id, transcript.Quote(command)), "")
}

func (s *script) gets(id, text, parent string) string {
	return s.line("user", parent, fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%s}]}`, id, transcript.Quote(text)), "")
}

// told returns what a copy says after its first message, one line per block.
func told(t *testing.T, s *script, to string, tokens int) (lines []string, c Copy) {
	t.Helper()
	c, err := makeCopy(t, sourceOf(claude, []byte(s.b.String())), to, tokens)
	testkit.Must(t, err)
	holds(t, "copy", to, c, tokens)
	for r := range decoded(to, c.Lines) {
		for _, it := range r.Items {
			if it.Kind != transcript.Summary {
				lines = append(lines, it.Kind.String()+" "+string(transcript.Original(it.Kind, it.Raw)))
			}
		}
	}
	return lines, c
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestTurnsOfACopy: a session that fits is copied whole, with each result beside its call; what a person took back stays out, also what
// followed in the middle of a turn, and all of it where they began anew.
func TestTurnsOfACopy(t *testing.T) {
	wrong := func(s *script) { s.human("Do it the wrong way"); s.says("The wrong way it is") }
	right := func(s *script, parent string) {
		s.line("user", parent, `{"role":"user","content":"Do it the right way"}`, "")
		s.says("Right")
	}
	call := func(s *script, n string) string {
		return s.line("assistant", "", fmt.Sprintf(`{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"toolu_%s","name":"Bash","input":{"command":%q}}]}`, n, n), "")
	}
	for name, c := range map[string]struct {
		write func(s *script)
		want  []string
	}{
		"whole": {func(s *script) {
			s.human("Add the cents up")
			s.says("On it")
			call(s, "a")
			s.gets("toolu_a", "ok", "")
			s.says("Done")
		}, []string{"human Add the cents up", "text On it", `call {"command":"a"}`, "result ok", "text Done"}},
		"calls side by side": {func(s *script) {
			s.human("Look at both")
			one, two := call(s, "a"), call(s, "b")
			s.gets("toolu_b", "B", two)
			s.gets("toolu_a", "A", one)
			s.says("Both are fine")
		}, []string{"human Look at both", `call {"command":"a"}`, `call {"command":"b"}`, "result A", "result B", "text Both are fine"}},
		"taken back": {func(s *script) {
			s.human("Begin")
			at := s.says("Begun")
			wrong(s)
			right(s, at)
		}, []string{"human Begin", "text Begun", "human Do it the right way", "text Right"}},
		"into a turn": {func(s *script) {
			s.human("Begin")
			at := s.says("Begun")
			s.says("Went astray")
			wrong(s)
			right(s, at)
		}, []string{"human Begin", "text Begun", "human Do it the right way", "text Right"}},
		"anew": {func(s *script) {
			wrong(s)
			right(s, "null")
		}, []string{"human Do it the right way", "text Right"}},
	} {
		t.Run(name, func(t *testing.T) {
			var s script
			c.write(&s)
			got, made := told(t, &s, claude, 0)
			expect(t, got, c.want...)
			if name == "whole" && (len(made.Pointers) > 0 || made.Title != "ccd: Add the cents up") {
				t.Errorf("got %d pointers, title %q", len(made.Pointers), made.Title)
			}
			if first, _, _ := strings.Cut(string(made.Lines[0]), `\n## `); name == "taken back" && !strings.Contains(first, "Record of earlier work") {
				t.Error("what was taken back is under no ID: there is no first message that names it")
			}
		})
	}
}

func TestRolledBackTurnsStayOut(t *testing.T) {
	item := func(n int, payload string) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-15T09:00:%02d.000Z","type":"response_item","payload":%s}`+"\n", n, payload)
	}
	says := func(n int, role, kind, text string) string {
		return item(n, fmt.Sprintf(`{"type":"message","role":%q,"content":[{"type":%q,"text":%q}]}`, role, kind, text))
	}
	for turns, begun := range map[string]bool{"1": true, "2": false, "4611686018427387904": false} {
		data := `{"timestamp":"2026-01-15T09:00:00.000Z","type":"session_meta","payload":{"id":"x","cwd":"/home/me"}}` + "\n" +
			says(1, "user", "input_text", "Begin") + says(2, "assistant", "output_text", "Begun") +
			says(3, "user", "input_text", "Wrong") + says(4, "assistant", "output_text", "It is") +
			`{"timestamp":"2026-01-15T09:00:05.000Z","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":` + turns + `}}` + "\n" +
			says(6, "user", "input_text", "Right")
		c, err := makeCopy(t, sourceOf(codex, []byte(data)), codex, 0)
		testkit.Must(t, err)
		rest := ""
		for r := range decoded(codex, c.Lines) {
			for _, it := range r.Items {
				if it.Kind != transcript.Summary {
					rest += string(it.Raw)
				}
			}
		}
		if strings.Contains(rest, "Wrong") || strings.Contains(rest, "It is") || strings.Contains(rest, "Begun") != begun || !strings.Contains(rest, "Right") {
			t.Errorf("%s turns: got %s", turns, rest)
		}
	}
}

// TestTheLastTurnsStand: the newest turns are verbatim, older results are stubs, and so is a giant one even if it is
// the last. Each stub's ID has a pointer.
func TestTheLastTurnsStand(t *testing.T) {
	var s script
	s.human("Read everything")
	for i := range 60 {
		id := fmt.Sprintf("toolu_%d", i)
		s.calls(id, fmt.Sprintf("cat part-%d", i))
		s.gets(id, fmt.Sprintf("part %d\n%s", i, strings.Repeat("a line of the ledger\n", 100)), "")
	}
	s.says("All read")
	s.human("And the giant")
	s.calls("toolu_g", "cat giant")
	s.gets("toolu_g", strings.Repeat("giant ", 200_000), "")
	got, c := told(t, &s, claude, 40_000)
	n := len(got)
	if !strings.HasPrefix(got[n-1], "result [ccd ") || !strings.Contains(got[n-1], " bytes: elided; read again before editing; ccd agent restore ") {
		t.Errorf("the giant stands as %.200q", got[n-1])
	}
	expect(t, got[n-4:n-1], "text All read", "human And the giant", `call {"command":"cat giant"}`)
	if want := "result part 59\n" + strings.Repeat("a line of the ledger\n", 100); got[n-5] != want {
		t.Errorf("the last result is cut: %.100q", got[n-5])
	}
	stubs := 0
	for _, line := range got {
		if strings.HasPrefix(line, "result [ccd ") {
			stubs++
			id := mark.ID(strings.Fields(line)[2])
			found := false
			for _, p := range c.Pointers {
				found = found || p.Hash.ID() == id
			}
			if !found {
				t.Errorf("stub %s has no pointer", id)
			}
		}
	}
	if stubs < 5 {
		t.Errorf("%d stubs, want some of the older results", stubs)
	}
}

func TestThinkingStandsOnlyInALoopThatGoesOn(t *testing.T) {
	think := `{"type":"thinking","thinking":"hm","signature":"c2ln"}`
	var s script
	s.human("Begin")
	s.line("assistant", "", `{"id":"m1","role":"assistant","content":[`+think+`]}`, "")
	s.line("assistant", "", `{"id":"m1","role":"assistant","content":[{"type":"text","text":"Begun"}]}`, "")
	s.human("Go on")
	s.line("assistant", "", `{"id":"m2","role":"assistant","content":[`+think+`]}`, "")
	s.line("assistant", "", `{"id":"m2","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"a"}}]}`, "")
	s.gets("toolu_1", "A", "")
	_, c := told(t, &s, claude, 0)
	all := ""
	for _, l := range c.Lines {
		all += string(l)
	}
	if strings.Count(all, think) != 1 || strings.Index(all, think) < strings.Index(all, "Go on") {
		t.Errorf("thinking stands %d times", strings.Count(all, think))
	}
	s.says("Done")
	_, c = told(t, &s, claude, 0)
	for _, l := range c.Lines {
		if strings.Contains(string(l), "signature") {
			t.Errorf("thinking stands in a loop that has ended: %s", l)
		}
	}
}

// TestAReplyThinksAsItDidOrNotAtAll: a reply in an unfinished loop keeps all of its thinking or none.
func TestAReplyThinksAsItDidOrNotAtAll(t *testing.T) {
	thought := func(text string) string {
		return `{"type":"thinking","thinking":"` + text + `","signature":"c2ln"}`
	}
	said := `{"type":"text","text":"I look"}`
	call := `{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"a"}}`
	long := strings.Repeat("hm ", 30_000)
	for name, c := range map[string]struct {
		blocks []string
		want   int
	}{
		"interleaved":    {[]string{thought("one"), said, thought("two"), call}, 2},
		"one too long":   {[]string{thought(long), said, thought("two"), call}, 0},
		"not at first":   {[]string{said, thought("two"), call}, 0},
		"without a call": {[]string{thought("one"), said, call, thought("two")}, 0},
	} {
		var s script
		s.human("Go on")
		for _, b := range c.blocks {
			s.line("assistant", "", `{"id":"m2","role":"assistant","content":[`+b+`]}`, "")
		}
		s.gets("toolu_1", "A", "")
		_, made := told(t, &s, claude, 20_000)
		if got := strings.Count(string(bytes.Join(made.Lines, nil)), `"signature"`); got != c.want {
			t.Errorf("%s: %d blocks think, want %d", name, got, c.want)
		}
	}
	// a reply whose first blocks do not fit
	var s script
	s.human("Go on")
	s.line("assistant", "", `{"id":"m2","role":"assistant","content":[`+thought("one")+`]}`, "")
	for i := range 60 {
		s.line("assistant", "", fmt.Sprintf(`{"id":"m2","role":"assistant","content":[{"type":"text","text":"part %d %s"}]}`, i, strings.Repeat("words ", 100)), "")
	}
	s.line("assistant", "", `{"id":"m2","role":"assistant","content":[`+thought("two")+`]}`, "")
	s.line("assistant", "", `{"id":"m2","role":"assistant","content":[`+call+`]}`, "")
	s.gets("toolu_1", "A", "")
	_, made := told(t, &s, claude, 9_000)
	if all := string(bytes.Join(made.Lines, nil)); strings.Contains(all, `"signature"`) || !strings.Contains(all, "toolu_1") {
		t.Errorf("got %s", all)
	}
}

func TestConversionKeepsWhatIsDone(t *testing.T) {
	var s script
	s.human("Mend it")
	s.calls("toolu_1", "make test")
	s.gets("toolu_1", "FAIL", "")
	s.line("assistant", "", `{"id":"m2","role":"assistant","content":[{"type":"tool_use","id":"toolu_2","name":"Read","input":{"file_path":"/src/a b.go","offset":3,"limit":2}}]}`, "")
	s.gets("toolu_2", "3\tpackage a\n4\t", "")
	s.line("assistant", "", `{"id":"m3","role":"assistant","content":[{"type":"tool_use","id":"toolu_3","name":"Edit","input":{"file_path":"/src/a.go","old_string":"a","new_string":"b"}}]}`, "")
	s.gets("toolu_3", "The file /src/a.go has been updated.", "")
	s.says("Mended")
	got, _ := told(t, &s, codex, 0)
	if len(got) != 8 {
		t.Fatalf("got %q", got)
	}
	expect(t, got[:5], "human Mend it", `call {"cmd":"make test"}`, "result FAIL", `call {"cmd":"cat -n '/src/a b.go' | sed -n '3,4p'"}`, "result 3\tpackage a\n4\t")
	for i, want := range []string{"call of Edit", "> The file /src/a.go has been updated."} {
		if !strings.HasPrefix(got[5+i], "text [ccd ") || !strings.Contains(got[5+i], want) {
			t.Errorf("got %q, want %q told", got[5+i], want)
		}
	}
}

func TestCodexBecomesClaude(t *testing.T) {
	data := `{"timestamp":"2026-01-15T09:00:00.000Z","type":"session_meta","payload":{"id":"x","cwd":"/home/me"}}
{"timestamp":"2026-01-15T09:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Look"},{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="}]}}
{"timestamp":"2026-01-15T09:00:02.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\",\"workdir\":\"/home/me/sub\"}","call_id":"call_1"}}
{"timestamp":"2026-01-15T09:00:03.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_1","output":"a b"}}
{"timestamp":"2026-01-15T09:00:04.000Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch","call_id":"call_2"}}
{"timestamp":"2026-01-15T09:00:05.000Z","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"call_2","output":"Success"}}
{"timestamp":"2026-01-15T09:00:06.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done"}]}}
`
	c, err := makeCopy(t, sourceOf(codex, []byte(data)), claude, 0)
	testkit.Must(t, err)
	holds(t, "copy", claude, c, 0)
	all := ""
	for _, l := range c.Lines {
		all += string(l) + "\n"
	}
	for _, want := range []string{
		`"name":"Bash","input":{"command":"cd /home/me/sub && ls"}`, `image/png, 8 bytes: only here`, `call of apply_patch`, `> Success`, `"text":"Done"`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in\n%s", want, all)
		}
	}
	// for Codex itself nothing changes
	same, err := makeCopy(t, sourceOf(codex, []byte(data)), codex, 0)
	testkit.Must(t, err)
	for i, line := range strings.Split(strings.TrimSpace(data), "\n")[1:] {
		_, payload, _ := strings.Cut(line, `"payload":`)
		for _, part := range []string{`"output":"a b"`, `"input":"*** Begin Patch"`, `"arguments":"{\"cmd\":\"ls\",\"workdir\":\"/home/me/sub\"}"`} {
			if strings.Contains(payload, part) && !strings.Contains(string(same.Lines[i+1]), part) {
				t.Errorf("record %d: no %s in %s", i+2, part, same.Lines[i+1])
			}
		}
	}
}

// What a person typed while the agent worked often stands only in the record that it waits: the copy has it where the agent got
// it, once.
func TestAMessageSentWhileTheAgentWorked(t *testing.T) {
	queue := func(s *script, operation, content string) {
		fmt.Fprintf(&s.b, `{"type":"queue-operation","operation":%q,"timestamp":"2026-01-15T09:30:00.000Z"%s}`+"\n", operation, content)
	}
	const words = `,"content":"Never migrate bills"`
	for name, c := range map[string]struct {
		say  func(s *script)
		want []string
	}{
		"removed":              {func(s *script) { queue(s, "remove", "") }, []string{"human Never migrate bills"}},
		"removed by its words": {func(s *script) { queue(s, "remove", words) }, []string{"human Never migrate bills"}},
		"repeated":             {func(s *script) { queue(s, "dequeue", ""); s.human("Never migrate bills") }, []string{"human Never migrate bills"}},
		"taken back":           {func(s *script) { queue(s, "popAll", words) }, nil},
		"still waiting":        {func(s *script) {}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var s script
			s.human("Migrate the carts")
			s.calls("t1", "migrate")
			if name == "removed by its words" {
				queue(&s, "enqueue", `,"content":"Another"`)
			}
			queue(&s, "enqueue", words)
			s.gets("t1", "carts ok", "")
			c.say(&s)
			s.says("Done")
			got, _ := told(t, &s, claude, 0)
			want := append([]string{"human Migrate the carts", `call {"command":"migrate"}`, "result carts ok"}, c.want...)
			expect(t, got, append(want, "text Done")...)
		})
	}
}
