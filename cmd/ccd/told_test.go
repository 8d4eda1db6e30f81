package main

import (
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/words"
)

// TestToldByAPrompt: a client that has no event behind a compaction, or takes nothing from it, is told at the next prompt, once, also where
// its events do not name the transcript.
func TestToldByAPrompt(t *testing.T) {
	for agent, c := range map[string]struct{ boundary, in string }{
		"qwen-code": {
			`{"uuid":THIS,"parentUuid":LAST,"sessionId":ID,"timestamp":NOW,"type":"system","subtype":"chat_compression","systemPayload":{"info":{"originalTokenCount":9},"compressedHistory":[{"role":"user","parts":[{"text":TEXT}]}]}}`,
			`"hookSpecificOutput":{`,
		},
		"copilot-cli": {
			`{"type":"session.compaction_complete","id":THIS,"parentId":LAST,"timestamp":NOW,"data":{"success":true,"trigger":"threshold","summaryContent":TEXT}}`,
			`{"additionalContext":"`,
		},
	} {
		w := newWorld(t)
		s := w.chat(agent)
		s.asks("Never round cents.")
		s.says("I book them.")
		s.row(c.boundary, "It is about cents.")
		s.save()
		event := object{"session_id": s.id, "cwd": w.dir}
		if agent == "qwen-code" {
			event["transcript_path"] = filepath.Join(w.home, s.place())
		}
		tells := func(name string) string {
			code, out, _ := ccdIn(w.home, rowOf(event), "hook", name, "--agent", agent)
			if code != words.ExitDone {
				t.Errorf("%s: exit status %d", agent, code)
			}
			return out
		}
		first, second := tells("UserPromptSubmit"), tells("UserPromptSubmit")
		if !strings.Contains(first, c.in) || !strings.Contains(first, "ccd: record of") || !strings.Contains(first, "Never round cents.") || second != "" {
			t.Errorf("%s: first %q, then %q", agent, first, second)
		}
	}
}
