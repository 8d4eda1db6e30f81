//go:build rig

package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ccd/cmd/ccd/internal/resume"
	"ccd/internal/testkit/gen"
)

// TestStory does what the cases do without any client: with invented sessions in the clients' formats, events for the
// hooks, and the MCP server over pipes. The requests that a client would send are built here and checked by the same
// strict rules.
func TestStory(t *testing.T) {
	for _, a := range []agent{claudeAgent, codexAgent} {
		t.Run(a.title, func(t *testing.T) {
			t.Parallel()
			p := newHome(t)
			if err := gen.Tree(p.home, 7, 6<<20); err != nil {
				t.Fatal(err)
			}
			s := &story{p, a, p.largest(a)}
			lately := time.Now().Add(-time.Hour) // a session that is about to be purged gets a newer copy
			if err := os.Chtimes(s.transcript, lately, lately); err != nil {
				t.Fatal(err)
			}
			before := treeOf(t, filepath.Dir(s.transcript))
			p.write(filepath.Join(p.home, ".config", "ccd", "config.toml"), "[agents]\nreach = \"all\"\n") // the session's project is on another machine
			p.ccd("run", "--once")
			p.ccd("compact", s.id())
			s.isResumed()
			s.isTold()
			s.isServed()
			if a.name == "claude-code" {
				s.isDemoted()
			}
			s.isUninstalled()
			unchanged(t, before, treeOf(t, filepath.Dir(s.transcript)))
		})
	}
}

type story struct {
	*place
	agent
	transcript string
}

func (s *story) id() string { return idOf(s.transcript) }

// largest returns the largest transcript of an agent.
func (p *place) largest(a agent) (path string) {
	p.t.Helper()
	size := int64(0)
	for _, f := range p.sessions(a.transcripts) {
		info, err := os.Stat(f)
		if err != nil {
			p.t.Fatal(err)
		}
		if info.Size() > size {
			path, size = f, info.Size()
		}
	}
	return path
}

// wouldSend builds the request that a client would send if it resumed this transcript, as far as the records say.
func (s *story) wouldSend(path string) *request {
	s.t.Helper()
	if s.name == "codex" {
		return readResponses(s.wouldSendCodex(path))
	}
	var messages []json.RawMessage
	for line := range bytes.Lines([]byte(s.read(path))) {
		var record struct {
			Type        string
			IsSidechain bool
			IsMeta      bool
			Message     json.RawMessage
		}
		if err := json.Unmarshal(line, &record); err != nil {
			s.t.Fatal(err)
		}
		if (record.Type == "user" || record.Type == "assistant") && !record.IsSidechain {
			messages = append(messages, record.Message)
		}
	}
	messages = append(messages, json.RawMessage(`{"role":"user","content":"Go on."}`))
	raw, err := json.Marshal(map[string]any{"model": "m", "max_tokens": 1, "messages": messages})
	if err != nil {
		s.t.Fatal(err)
	}
	return readMessages(raw)
}

func (s *story) wouldSendCodex(path string) []byte {
	s.t.Helper()
	var input []json.RawMessage
	for line := range bytes.Lines([]byte(s.read(path))) {
		var record struct {
			Type    string
			Payload json.RawMessage
		}
		if err := json.Unmarshal(line, &record); err != nil {
			s.t.Fatal(err)
		}
		if record.Type == "response_item" {
			input = append(input, record.Payload)
		}
	}
	input = append(input, json.RawMessage(`{"type":"message","role":"user","content":[{"type":"input_text","text":"Go on."}]}`))
	raw, err := json.Marshal(map[string]any{"model": "m", "input": input})
	if err != nil {
		s.t.Fatal(err)
	}
	return raw
}

// isResumed is case (a), and the part of (c) that files show: older than the newest session, with a title and its own
// name.
func (s *story) isResumed() {
	t := s.t
	t.Helper()
	before := s.wouldSend(s.transcript)
	made := s.resume(s.id())
	after := s.wouldSend(made.Path)
	for _, why := range after.problems {
		if !strings.Contains(why, "thinking that this model") && !strings.Contains(why, "cannot be verified") { // thinking of another model
			t.Errorf("the copy would be refused: %s", why)
		}
	}
	s.isValid(made.Path)
	if after.talk*2 > before.talk {
		t.Errorf("the copy has %d bytes of conversation, the original %d: more than half", after.talk, before.talk)
	}
	whole := s.verbatim(conversation(before), conversation(after))
	stubs := s.comeBack(before, after)
	theirs, err := os.Stat(s.transcript)
	if err != nil {
		t.Fatal(err)
	}
	if ours, err := os.Stat(made.Path); err != nil || ours.Mode().Perm() != 0o600 || !ours.ModTime().Before(theirs.ModTime()) {
		t.Errorf("the copy has mode %s and time %s (%v), want 0600 and older than the original's %s", ours.Mode(), ours.ModTime(), err, theirs.ModTime())
	}
	s.ccd("run", "--once")
	if newest := s.resume("--dry-run", "--agent", s.name, "latest"); newest.Source == made.Session || newest.Source == "" {
		t.Errorf("latest means session %q, want none that is a copy", newest.Source)
	}
	t.Logf("%d bytes of conversation became %d; the last %d parts verbatim, %d stubs come back", before.talk, after.talk, whole, stubs)
}

// isValid checks a copy with the validator, which must reject it if a result is missing.
func (s *story) isValid(path string) {
	s.t.Helper()
	lines := bytes.Split(bytes.TrimSpace([]byte(s.read(path))), []byte("\n"))
	if err := resume.Check(s.name, lines); err != nil {
		s.t.Errorf("the validator: %v", err)
	}
	results := 0
	for i, line := range lines {
		if !bytes.Contains(line, []byte(`"tool_result"`)) && !bytes.Contains(line, []byte(`"function_call_output"`)) {
			continue
		}
		results++
		var refused *resume.RefusedError
		if err := resume.Check(s.name, slices.Delete(slices.Clone(lines), i, i+1)); !errors.As(err, &refused) {
			s.t.Errorf("without the result in record %d the validator says %v", i+1, err)
		}
	}
	if results == 0 {
		s.t.Error("the copy holds no result that could be missing")
	}
}

// hook runs a hook with a client's event.
func (s *story) hook(event string, fields map[string]any) string {
	s.t.Helper()
	given := map[string]any{
		"session_id": s.id(), "transcript_path": s.transcript, "cwd": s.project, "hook_event_name": event,
	}
	for k, v := range fields {
		given[k] = v
	}
	in, err := json.Marshal(given)
	if err != nil {
		s.t.Fatal(err)
	}
	r := s.given(string(in), s.ccdPath(), "hook", event, "--agent", s.name)
	if r.code != 0 || r.err != "" {
		s.t.Errorf("hook %s: exit status %d, %q", event, r.code, r.err)
	}
	return r.out
}

// context returns the additionalContext in a hook's output.
func (s *story) context(out string) string {
	s.t.Helper()
	var said struct {
		HookSpecificOutput struct{ HookEventName, AdditionalContext string }
	}
	if out == "" {
		return ""
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil {
		s.t.Errorf("a hook prints what is not JSON: %v: %.300q", err, out)
	}
	return said.HookSpecificOutput.AdditionalContext
}

// isTold is case (b): the output of each hook, and its limits.
func (s *story) isTold() {
	t := s.t
	t.Helper()
	for _, source := range []string{"resume", "compact"} {
		text := s.context(s.hook("SessionStart", map[string]any{"source": source}))
		if len(text) == 0 || len(text) > 10_000 || !strings.Contains(text[:min(len(text), 2048)], ".ccd.md") || !strings.Contains(text[:min(len(text), 2048)], "ccd agent restore") {
			t.Errorf("SessionStart(%s) tells %d bytes: %.300q", source, len(text), text)
		}
	}
	fresh := map[string]any{
		"source": "startup", "session_id": "00000000-0000-4000-8000-000000000001",
		"transcript_path": filepath.Join(filepath.Dir(s.transcript), "00000000-0000-4000-8000-000000000001.jsonl"),
	}
	if s.name == "claude-code" {
		if text := s.context(s.hook("SessionStart", fresh)); !strings.Contains(text, ".ccd.md") || len(text) > 1000 {
			t.Errorf("SessionStart(startup) offers %d bytes: %.300q", len(text), text)
		}
		if out := s.hook("PreCompact", map[string]any{"trigger": "manual", "custom_instructions": nil}); !strings.Contains(out, "[ccd ") {
			t.Errorf("PreCompact does not ask to keep the IDs: %.300q", out)
		}
	}
	warned := 0
	for range 3 {
		if text := s.context(s.hook("UserPromptSubmit", map[string]any{"prompt": "Go on."})); text != "" {
			warned++
			if len(text) > 300 {
				t.Errorf("a warning of %d bytes: %q", len(text), text)
			}
		}
	}
	if warned > 1 {
		t.Errorf("of three prompts %d are told of the same pressure", warned)
	}
	for _, broken := range []string{"", "{", "null", `{"session_id":7}`} {
		if r := s.given(broken, s.ccdPath(), "hook", "SessionStart", "--agent", "claude-code"); r.code != 0 || r.out != "" {
			t.Errorf("a hook given %q: exit status %d, %q", broken, r.code, r.out)
		}
	}
}

// isServed restores an original with the MCP server and with the shell.
func (s *story) isServed() {
	t := s.t
	t.Helper()
	id := markerID.FindStringSubmatch(s.ccd("show", s.id()))
	if id == nil {
		t.Fatal("the companion names no ID")
	}
	server := s.serve()
	defer server.close()
	server.ask("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "story", "version": "1"}})
	server.tell("notifications/initialized")
	for _, name := range []string{"sessions", "companion", "restore", "search", "diff", "timeline"} {
		if tools := server.ask("tools/list", map[string]any{}); !bytes.Contains(tools, []byte(`"name":"`+name+`"`)) {
			t.Errorf("the server has no tool %s", name)
		}
	}
	got := server.ask("tools/call", map[string]any{"name": "restore", "arguments": map[string]any{"id": id[1]}})
	var answer struct {
		Content []struct{ Text string }
		IsError bool
	}
	if err := json.Unmarshal(got, &answer); err != nil || answer.IsError || len(answer.Content) < 2 {
		t.Fatalf("restore by MCP: %v: %.400s", err, got)
	}
	want := s.must(s.ccdPath(), "restore", id[1])
	for _, c := range answer.Content {
		if c.Text == want || len(c.Text) > 2000 && strings.HasPrefix(want, c.Text) { // one page of it
			return
		}
	}
	t.Errorf("no block of the answer is the original of %d bytes: %.400s", len(want), got)
}

// isDemoted is case (e), with an output that the client spilled.
func (s *story) isDemoted() {
	t := s.t
	t.Helper()
	var b strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&b, "line %06d of the ledger, all is well in it now\n", i)
	}
	b.WriteString("ERROR: invoice 4321 does not balance\n")
	spilled := filepath.Join(strings.TrimSuffix(s.transcript, ".jsonl"), "tool-results", "b0000001.txt")
	if err := os.MkdirAll(filepath.Dir(spilled), 0o700); err != nil {
		t.Fatal(err)
	}
	s.write(spilled, b.String())
	cut := "<persisted-output>\nOutput too large (287KB). Full output saved to: " + spilled + "\n\nPreview (first 2KB):\n" + b.String()[:2000] + "\n...\n</persisted-output>"
	out := s.hook("ToolResult", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "check"}, "content": cut})
	var said struct{ Content string }
	if err := json.Unmarshal([]byte(out), &said); err != nil {
		t.Fatalf("%v: %.300q", err, out)
	}
	text := said.Content
	id := markerID.FindStringSubmatch(text)
	if id == nil || !strings.HasPrefix(text, b.String()[:1900]) || !strings.Contains(text, "invoice 4321 does not balance") || len(text) > 12_000 {
		t.Fatalf("the model would get %d chars: %.300q", len(text), text)
	}
	if err := os.Remove(spilled); err != nil {
		t.Fatal(err)
	}
	if got := s.must(s.ccdPath(), "restore", id[1]); got != b.String() {
		t.Errorf("%s restores to %d bytes, want %d", id[1], len(got), b.Len())
	}
	if out := s.hook("ToolResult", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "check"}, "content": "short"}); out != "" {
		t.Errorf("a short output is replaced: %.300q", out)
	}
}

// isUninstalled is case (f).
func (s *story) isUninstalled() {
	t := s.t
	t.Helper()
	s.ccd("agents", "install", s.name, "--reach", "project") // what uninstall leaves
	s.ccd("agents", "uninstall", s.name)
	before := s.contents()
	s.ccd("agents", "install", s.name)
	if len(s.changed(before)) == 0 {
		t.Error("install changes nothing")
	}
	s.ccd("agents", "uninstall", s.name)
	if changed := s.changed(before); len(changed) != 0 {
		t.Errorf("install and uninstall leave other files than there were: %q", changed)
	}
}
