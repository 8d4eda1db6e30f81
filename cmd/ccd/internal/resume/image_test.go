package resume

import (
	"bytes"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// TestImagesAreStubs: an image or document becomes a stub with its ID, in a result too.
func TestImagesAreStubs(t *testing.T) {
	const png = `{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}`
	for _, block := range []string{`{"type":"image","source":` + png + `}`, `{"type":"document","source":{"type":"text","data":"hello"}}`, `{"type":"image","source":{}}`} {
		var s script
		s.line("user", "", `{"role":"user","content":[{"type":"text","text":"Look"},`+block+`]}`, "")
		s.calls("toolu_1", "shot")
		s.line("user", "", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"no"},`+block+`]}]}`, "")
		for _, to := range []string{claude, codex} {
			_, made := told(t, &s, to, 0)
			all := string(bytes.Join(made.Lines, nil))
			for _, p := range made.Pointers {
				if !strings.Contains(all, "ccd agent restore "+string(p.Hash.ID())) {
					t.Errorf("%s to %s: no %s in\n%s", block, to, p.Hash.ID(), all)
				}
			}
			if len(made.Pointers) != 2 || strings.Contains(all, `"media_type"`) || strings.Contains(all, "iVBORw0KGgo=") {
				t.Errorf("%s to %s: got %s", block, to, all)
			}
		}
	}
}

// TestACallWithoutInput: an empty input stays empty.
func TestACallWithoutInput(t *testing.T) {
	data := `{"timestamp":"2026-01-15T09:00:00.000Z","type":"session_meta","payload":{"id":"x","cwd":"/home/me"}}
{"timestamp":"2026-01-15T09:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Go"}]}}
{"timestamp":"2026-01-15T09:00:02.000Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"","call_id":"call_1"}}
{"timestamp":"2026-01-15T09:00:03.000Z","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"call_1","output":"none"}}
{"timestamp":"2026-01-15T09:00:04.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"","call_id":"call_2"}}
{"timestamp":"2026-01-15T09:00:05.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_2","output":"none"}}
`
	c, err := makeCopy(t, sourceOf(codex, []byte(data)), codex, 0)
	testkit.Must(t, err)
	holds(t, "copy", codex, c, 0)
	all := string(bytes.Join(c.Lines, []byte("\n")))
	for _, want := range []string{`"input":"","call_id":"call_1"`, `"arguments":"{}","call_id":"call_2"`} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in\n%s", want, all)
		}
	}
	var s script
	s.human("Go")
	s.line("assistant", "", `{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Tasks"}]}`, "")
	s.gets("toolu_1", "none", "")
	_, made := told(t, &s, claude, 0)
	if all := string(bytes.Join(made.Lines, nil)); !strings.Contains(all, `"name":"Tasks","input":{}`) {
		t.Errorf("got %s", all)
	}
}
