package fold

import (
	"strings"
	"testing"

	"ccd/compactor/limits"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

// TestCarriedOver has the fold know the human messages that a Codex boundary carries into the new context, and no other.
func TestCarriedOver(t *testing.T) {
	said := func(text string) string {
		return `{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}`
	}
	line := func(kind, payload string) string {
		return `{"timestamp":"2026-03-04T05:06:01.000Z","type":"` + kind + `","payload":` + payload + "}\n"
	}
	data := line("session_meta", `{"id":"0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee","cwd":"/home/ada/shop"}`) +
		line("response_item", said("Make the tests pass.")) + line("response_item", said("Keep the API.")) +
		line("compacted", `{"message":"Summary: half is done.","replacement_history":[`+said("Keep the API.")+`]}`)
	f := New(limits.Defaults(), transcript.Session{Key: transcript.Key{Agent: "codex", ID: "s"}})
	for r := range (registry.Table{}).NewDecoder("codex", transcript.Main).Records(transcript.Segment{Data: []byte(data)}) {
		f.Add(r)
	}
	var carried []string
	_, n := f.Humans()
	for i := range n {
		row := f.Row(f.Human(i))
		span := f.Span(row)
		if f.Carried(row) {
			carried = append(carried, data[span.Off:span.End()])
		}
	}
	if got := strings.Join(carried, " "); n != 2 || got != `"Keep the API."` {
		t.Errorf("of %d messages carried over: %s", n, got)
	}
}
