package form

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"ccd/compactor/filter"
	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// shipped are the default options of the filter.
var shipped = FilterOptions{Options: filter.Options{
	Dedup: true, SummaryChars: 600, LongCap: "off", KeepRoles: []string{"system"}, Recent: 4, Percent: 30,
}}

// everything switches every option of the filter on.
func everything() FilterOptions {
	o := shipped
	o.NearDedup, o.Contradictions, o.KeepImportance, o.Recent = true, true, 0.4, 2
	return o
}

// walk is prose about something.
func walk(what string, n int) string {
	return strings.Repeat(fmt.Sprintf("We walked by the %s in the evening and sat down for a while. Nobody was there, and so the %s was quiet. ", what, what), n)
}

func filtered(data []byte, o FilterOptions) (Filtered, error) {
	l, err := ReadList(data, nil)
	if err != nil {
		return Filtered{}, err
	}
	return l.Filter(o), nil
}

// lawFaults returns the laws of the filter that a result breaks. again filters the list a second time; where the budget could not be
// met (over), the result is never printed, and a second time may be another.
func lawFaults(data []byte, f Filtered, over bool, again func([]byte) (Filtered, error)) (found []string) {
	fault := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	var before, after []json.RawMessage
	if json.Unmarshal(data, &before) != nil || json.Unmarshal(f.Text, &after) != nil || !utf8.Valid(f.Text) {
		return []string{fmt.Sprintf("no list: %.200q", f.Text)}
	}
	if len(f.Text) > len(data) {
		fault("%d bytes have become %d", len(data), len(f.Text))
	}
	if len(f.Report.Decisions) != len(before) {
		fault("%d decisions on %d messages", len(f.Report.Decisions), len(before))
		return found
	}
	first := map[int]int{} // the message that each printed message came from
	for i, d := range f.Report.Decisions {
		if d.In < 0 || d.In >= len(after) {
			fault("message %d is in %d of %d", i, d.In, len(after))
			return found
		}
		if _, ok := first[d.In]; !ok {
			first[d.In] = i
		}
	}
	if len(first) != len(after) {
		fault("%d messages come back, %d of them are accounted for", len(after), len(first))
	}
	for in, i := range first {
		if f.Report.Decisions[i].Action == "dropped" { // a marker of the run stands there
			continue
		}
		a, b := transcript.Node{Raw: before[i]}.Object(), transcript.Node{Raw: after[in]}.Object()
		for _, key := range []string{"id", "uuid", "role", "tool_calls", "tool_call_id", "metadata"} {
			if was, is := a.Field(key).Raw, b.Field(key).Raw; !bytes.Equal(was, is) && !sameCalls(was, is) {
				fault("message %d: %s was %s and is %s", i, key, was, is)
			}
		}
		merged := bytes.Contains(after[in], []byte(" messages merged)"))
		if !merged && (len(after[in]) > len(before[i]) || transcript.Chars(b.Field("content").Raw) > transcript.Chars(a.Field("content").Raw)) {
			fault("message %d has grown: %.200s", i, after[in])
		}
		if d := f.Report.Decisions[i]; string(d.InID) != string(d.ID) {
			fault("message %d stands under another id: %s, %s", i, d.ID, d.InID)
		}
	}
	found = append(found, pointerFaults(data, f)...)
	twice, err := again(f.Text)
	if err != nil || !bytes.Equal(twice.Text, f.Text) && !over {
		fault("a second time it is another list (%v):\n%.3000s\n%.3000s", err, f.Text, twice.Text)
	}
	if twice.Report.Original != f.Report.Tokens {
		fault("%d tokens are told, the list has %d", f.Report.Tokens, twice.Report.Original)
	}
	return found
}

// sameCalls reports whether two lists of calls are the same but for arguments of which a short form is left, as JSON.
func sameCalls(was, is []byte) bool {
	type call struct {
		ID       any
		Function struct{ Name, Arguments string }
	}
	var x, y []call
	if json.Unmarshal(was, &x) != nil || json.Unmarshal(is, &y) != nil || len(x) != len(y) {
		return false
	}
	for i := range x {
		if at := y[i].Function.Arguments; strings.HasPrefix(at, `{"shortened":"[ccd `) && json.Valid([]byte(at)) && len(at) < len(x[i].Function.Arguments) {
			x[i].Function.Arguments = at
		}
		if x[i] != y[i] {
			return false
		}
	}
	return true
}

// pointerFaults: each new marker names bytes of the original list that hash to its ID.
func pointerFaults(data []byte, f Filtered) (found []string) {
	known := map[mark.ID]bool{}
	for _, p := range f.Pointers {
		var ids []mark.ID
		for _, part := range p.Parts {
			ids = append(ids, mark.Sum(data[part.Span.Off:part.Span.End()]).ID())
		}
		if id := p.Hash.ID(); p.Shape == transcript.List && mark.Combine(ids).ID() != id || p.Shape == transcript.Single && (len(ids) != 1 || ids[0] != id) {
			found = append(found, fmt.Sprintf("%s names other bytes: %v", id, ids))
		}
		known[p.Hash.ID()] = true
	}
	for i, d := range f.Report.Decisions {
		if d.Action != "preserved" && !known[d.Marker] || d.Action == "preserved" && d.Marker != "" {
			found = append(found, fmt.Sprintf("message %d: %s under marker %q", i, d.Action, d.Marker))
		}
	}
	return found
}

// TestFilterLaws: for any list, nothing grows, no message is lost, ids and roles stay, every ID names what it replaced,
// and filtering again changes nothing.
func TestFilterLaws(t *testing.T) {
	shortened := map[string]int{}
	for seed := range uint64(testkit.Cases(t, 30, 150)) {
		data := anyList(seed, int(seed)%40)
		for name, o := range map[string]FilterOptions{"shipped": shipped, "everything": everything(), "budget": budgeted(3000), "small": budgeted(1000)} {
			f, err := filtered(data, o)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for _, fault := range lawFaults(data, f, o.MaxTokens > 0 && f.Report.Tokens > o.MaxTokens, func(list []byte) (Filtered, error) { return filtered(list, o) }) {
				t.Errorf("seed %d, %s: %s", seed, name, fault)
			}
			for _, d := range f.Report.Decisions {
				shortened[d.Action]++
			}
		}
		if t.Failed() {
			return
		}
	}
	for _, action := range []string{"preserved", "compressed", "deduped", "near-duped", "split", "contradicted", "cut", "dropped"} {
		if shortened[action] == 0 {
			t.Errorf("no message was %s: %v", action, shortened)
		}
	}
}

func budgeted(tokens int) FilterOptions {
	o := shipped
	o.MaxTokens = tokens
	return o
}

// TestFilterLawsCanFail breaks each law and expects the check to notice.
func TestFilterLawsCanFail(t *testing.T) {
	data, err := json.Marshal([]any{
		map[string]any{"id": "a", "role": "user", "content": walk("mill", 5)},
		map[string]any{"id": "b", "role": "user", "content": walk("gate", 5)},
		map[string]any{"id": "c", "role": "assistant", "content": walk("pond", 5)},
		map[string]any{"id": "d", "role": "user", "content": "ok"},
	})
	testkit.Must(t, err)
	o := shipped
	o.Recent = 1
	again := func(list []byte) (Filtered, error) { return filtered(list, o) }
	sound := func() Filtered {
		f, err := filtered(data, o)
		testkit.Must(t, err)
		return f
	}
	if found := lawFaults(data, sound(), false, again); len(found) > 0 {
		t.Fatalf("a sound list has faults: %q", found)
	}
	for name, breakIt := range map[string]func(f *Filtered){
		"grows":           func(f *Filtered) { f.Text = bytes.Replace(f.Text, []byte(`"ok"`), []byte(`"ok `+walk("x", 20)+`"`), 1) },
		"loses a message": func(f *Filtered) { f.Text = append(f.Text[:bytes.LastIndexByte(f.Text, ',')], ']') },
		"another role":    func(f *Filtered) { f.Text = bytes.Replace(f.Text, []byte(`"role":"user"`), []byte(`"role":"tool"`), 1) },
		"another id":      func(f *Filtered) { f.Text = bytes.Replace(f.Text, []byte(`"id":"a"`), []byte(`"id":"z"`), 1) },
		"loses an id":     func(f *Filtered) { f.Report.Decisions = f.Report.Decisions[1:] },
		"a wrong place":   func(f *Filtered) { f.Report.Decisions[2].In = 0 },
		"a wrong pointer": func(f *Filtered) { f.Pointers[0].Parts[0].Span.Off++ },
		"a lost pointer":  func(f *Filtered) { f.Pointers = f.Pointers[1:] },
		"not the figures": func(f *Filtered) { f.Report.Tokens-- },
		"not idempotent":  func(f *Filtered) { f.Text = data },
	} {
		f := sound()
		breakIt(&f)
		if len(lawFaults(data, f, false, again)) == 0 {
			t.Errorf("nothing is seen of what %s", name)
		}
	}
}

// A list keeps its form. One that needs no shortening is printed unchanged.
func TestListsComeBack(t *testing.T) {
	for name, data := range map[string]string{
		"empty":   "[]",
		"blank":   " [ ]\n",
		"pretty":  "[\n  {\"role\": \"user\", \"content\": \"hi\", \"cache\": {\"on\": 1.50}},\n  {\"role\": \"assistant\", \"content\": [{\"type\": \"thinking\", \"thinking\": \"hm\"}]}\n]\n",
		"twice":   `[{"role":"user","content":"a","content":"b"}, {"role":"user","role":"tool"}]`,
		"no list": `[1, null, "x", [], {}]`,
	} {
		f, err := filtered([]byte(data), shipped)
		if err != nil || string(f.Text) != data {
			t.Errorf("%s: %q, %v", name, f.Text, err)
		}
	}
	f, err := filtered([]byte("{\"id\":1,\"role\":\"user\",\"content\":\"a\"}\n\n{\"id\":2,\"role\":\"user\",\"content\":\"b\"}\n"), shipped)
	if err != nil || string(f.Text) != "[{\"id\":1,\"role\":\"user\",\"content\":\"a\"},\n{\"id\":2,\"role\":\"user\",\"content\":\"b\"}]\n" {
		t.Errorf("lines: %q, %v", f.Text, err)
	}
	for _, bad := range []string{`[{"role":"user"`, `[{"role":"user"}`, `[] []`, "{\"role\":\"user\"}\n{\"role\"\n", `[{"role":"user"},]`} {
		if f, err := filtered([]byte(bad), shipped); err == nil {
			t.Errorf("%q gives %q", bad, f.Text)
		}
	}
}

// A text of over 16 MB is kept, because restore would print it as JSON.
func TestHugeTextsStay(t *testing.T) {
	o := shipped
	o.Recent = 0
	for size, stays := range map[int]bool{transcript.MaxLine - 2: false, transcript.MaxLine - 1: true} {
		if !stays && !testkit.Full() { // takes 6 s of CPU
			continue
		}
		data := []byte(`[{"role":"user","content":"` + strings.Repeat("mill ", size/5) + strings.Repeat("x", size%5) + `"}]`)
		f, err := filtered(data, o)
		if err != nil || bytes.Equal(f.Text, data) != stays || (len(f.Pointers) == 0) != stays {
			t.Errorf("%d bytes: %.100s, %v", size, f.Text, err)
		}
	}
}

// In a list with one message per line, each message knows its line.
func TestRecordsOfLines(t *testing.T) {
	line := func(role string) string { return fmt.Sprintf(`{"role":%q,"content":%q}`, role, walk(role, 5)) + "\n" }
	o := shipped
	o.Recent = 0
	f, err := filtered([]byte(line("a")+"\n"+line("b")+line("c")), o)
	if err != nil || len(f.Pointers) != 3 {
		t.Fatalf("%v, %v", f.Pointers, err)
	}
	for i, want := range []int{1, 3, 4} {
		if f.Pointers[i].Record != want {
			t.Errorf("message %d is record %d, want %d", i, f.Pointers[i].Record, want)
		}
	}
}

// Any list that can be read follows the laws.
func FuzzList(f *testing.F) {
	f.Add([]byte(`[{"role":"user","content":[1,null,"x",{"type":"tool_result"},{"type":"tool_use","id":"\ud800"}]},{"role":"tool"},3]`))
	f.Add([]byte(`[{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"arguments":"{"}}],"role":"user"}]`))
	f.Add([]byte(`[{"role":"user","content":"` + walk("mill", 4) + `\ud800"},{"role":"user","content":"` + walk("gate", 4) + `"}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 || !json.Valid(data) || !utf8.Valid(data) || bytes.TrimLeft(data, " \t\r\n")[0] != '[' {
			t.Skip("not a list")
		}
		o := everything()
		o.Recent = 0
		got, err := filtered(data, o)
		testkit.Must(t, err)
		for _, fault := range lawFaults(data, got, false, func(list []byte) (Filtered, error) { return filtered(list, o) }) {
			t.Error(fault)
		}
	})
}
