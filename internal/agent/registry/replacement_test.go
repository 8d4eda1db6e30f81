package registry_test

import (
	"strings"
	"testing"

	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

func TestReplacement(t *testing.T) {
	const message = `{"type":"message","role":"user","content":[{"type":"input_text","text":"Mill the rye."}]}`
	const call = `{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"},{"type":"function_call_output","call_id":"c","output":"done"}`
	const sealed = `{"type":"compaction","encrypted_content":"Zm9v"}`
	for line, want := range map[string]string{
		`{"type":"compacted","payload":{"message":"","replacement_history":[` + message + `,` + call + `,` + sealed + `]}}`: "human call result thinking",
		`{"type":"compacted","payload":{"message":"The rye is milled."}}`:                                                   "",
		`{"type":"compacted","payload":{"message":"","replacement_history":[]}}`:                                            "",
		`{"type":"compacted","payload":{"message":"","replacement_history":[1,"a",null]}}`:                                  "",
		`{"type":"response_item","payload":` + message + `}`:                                                                "",
	} {
		data := []byte("{}\n" + line + "\n")
		for r := range (registry.Table{}).NewDecoder("codex", transcript.Main).Records(transcript.Segment{Data: data, Rest: true}) {
			var kinds []string
			for _, it := range transcript.Replacement(r) {
				kinds = append(kinds, it.Kind.String())
				if string(data[it.Span.Off:it.Span.End()]) != string(it.Raw) {
					t.Errorf("%s is not at its span", it.Raw)
				}
			}
			if got := strings.Join(kinds, " "); r.N == 2 && got != want {
				t.Errorf("%s: %s, want %s", line, got, want)
			}
		}
	}
}
