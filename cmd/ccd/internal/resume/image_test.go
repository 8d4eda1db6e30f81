package resume

import (
	"bytes"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// TestWhatNoAPITakesIsAStub: an image or document that the API rejects becomes a stub with its ID, also in a failed
// result.
func TestWhatNoAPITakesIsAStub(t *testing.T) {
	const png = `{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}`
	for name, c := range map[string]struct {
		kind, source string
		claude       bool // Claude's API accepts it
		codex        bool
	}{
		"png":       {"image", png, true, true},
		"url":       {"image", `{"type":"url","url":"https://example.org/x.png"}`, true, true},
		"svg":       {"image", `{"type":"base64","media_type":"image/svg+xml","data":"AAAA"}`, false, false},
		"cut":       {"image", `{"type":"base64","media_type":"image/png","data":"AAAAA"}`, false, false},
		"file":      {"image", `{"type":"file","file_id":"file_1"}`, false, false},
		"pdf":       {"document", `{"type":"base64","media_type":"application/pdf","data":"AAAA"}`, true, false},
		"html":      {"document", `{"type":"base64","media_type":"text/html","data":"AAAA"}`, false, false},
		"plain":     {"document", `{"type":"text","media_type":"text/plain","data":"hello"}`, false, false},
		"no source": {"image", `{}`, false, false},
	} {
		var s script
		s.line("user", "", `{"role":"user","content":[{"type":"text","text":"Look"},{"type":"`+c.kind+`","source":`+c.source+`}]}`, "")
		s.says("Seen")
		for to, takes := range map[string]bool{claude: c.claude, codex: c.codex} {
			_, made := told(t, &s, to, 0)
			all := string(bytes.Join(made.Lines, nil))
			if stub := strings.Contains(all, "[ccd ") && strings.Contains(all, ": only here; "); stub == takes || len(made.Pointers[0]) == 0 == stub {
				t.Errorf("%s to %s: stub %v, want %v, in\n%s", name, to, stub, !takes, all)
			}
		}
	}
	var s script
	s.human("Look")
	s.calls("toolu_1", "shot")
	s.line("user", "", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","is_error":true,"content":[{"type":"text","text":"no"},{"type":"image","source":`+png+`}]}]}`, "")
	_, made := told(t, &s, claude, 0)
	if all := string(bytes.Join(made.Lines, nil)); len(made.Pointers[0]) == 0 ||
		!strings.Contains(all, "image left out; ccd agent restore "+string(made.Pointers[0][len(made.Pointers[0])-1].Hash.ID())) || strings.Contains(all, "image/png") {
		t.Errorf("got %s", all)
	}
}

// TestImagesOfARollout: a URL that not everyone can fetch becomes a stub.
func TestImagesOfARollout(t *testing.T) {
	for url, takes := range map[string]bool{
		"data:image/png;base64,iVBORw0KGgo=": true, "https://example.org/x.png": true, "http://example.org/x.png": false,
		"file:///etc/hosts": false, "data:image/svg+xml;base64,AAAA": false,
	} {
		data := `{"timestamp":"2026-01-15T09:00:00.000Z","type":"session_meta","payload":{"id":"x","cwd":"/home/me"}}
{"timestamp":"2026-01-15T09:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Look"},{"type":"input_image","image_url":"` + url + `"}]}}
`
		for _, to := range []string{claude, codex} {
			c, err := makeCopy(t, sourceOf(codex, []byte(data)), to, 0)
			testkit.Must(t, err)
			holds(t, url, to, c, 0)
			if all := string(bytes.Join(c.Lines, nil)); strings.Contains(all, ": only here; ") == takes {
				t.Errorf("%s to %s: want taken %v in\n%s", url, to, takes, all)
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
