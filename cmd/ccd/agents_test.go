package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// shape is how an agent writes a session: a message of the person, a reply, and an error of the API. In it, ID is the session, NOW the
// time, CWD the directory, THIS and LAST are the names of the record and of the one before it, TEXT is what is said, all as JSON.
type shape struct{ path, head, user, agent, failed string }

var shapes = map[string]shape{
	"claude-code": {
		".claude/projects/-shop/ID.jsonl", "",
		`{"type":"user","uuid":THIS,"parentUuid":LAST,"sessionId":ID,"timestamp":NOW,"cwd":CWD,"version":"2.1.220","message":{"role":"user","content":TEXT}}`,
		`{"type":"assistant","uuid":THIS,"parentUuid":LAST,"sessionId":ID,"timestamp":NOW,"cwd":CWD,"message":{"role":"assistant","content":[{"type":"text","text":TEXT}]}}`,
		`{"type":"assistant","uuid":THIS,"parentUuid":LAST,"sessionId":ID,"timestamp":NOW,"isApiErrorMessage":true,"message":{"role":"assistant","model":"<synthetic>","content":[{"type":"text","text":TEXT}]}}`,
	},
	"codex": {
		".codex/sessions/2026/09/14/rollout-2026-09-14T08-00-00-ID.jsonl",
		`{"timestamp":NOW,"type":"session_meta","payload":{"id":ID,"timestamp":NOW,"cwd":CWD,"cli_version":"0.169.0"}}`,
		`{"timestamp":NOW,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":TEXT}]}}`,
		`{"timestamp":NOW,"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":TEXT}]}}`,
		`{"timestamp":NOW,"type":"event_msg","payload":{"type":"error","message":TEXT}}`,
	},
	"gemini-cli": {
		".gemini/tmp/shop/chats/session-ID.jsonl",
		`{"sessionId":ID,"projectHash":"x","startTime":NOW,"kind":"main"}`,
		`{"id":THIS,"timestamp":NOW,"type":"user","content":[{"text":TEXT}]}`,
		`{"id":THIS,"timestamp":NOW,"type":"gemini","content":TEXT}`,
		`{"id":THIS,"timestamp":NOW,"type":"error","content":TEXT}`,
	},
	"qwen-code": {
		".qwen/projects/-shop/chats/ID.jsonl", "",
		`{"uuid":THIS,"parentUuid":LAST,"sessionId":ID,"timestamp":NOW,"type":"user","cwd":CWD,"version":"0.24.4","message":{"role":"user","parts":[{"text":TEXT}]}}`,
		`{"uuid":THIS,"parentUuid":LAST,"sessionId":ID,"timestamp":NOW,"type":"assistant","cwd":CWD,"message":{"role":"model","parts":[{"text":TEXT}]}}`,
		`{"uuid":THIS,"parentUuid":LAST,"sessionId":ID,"timestamp":NOW,"type":"system","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":"qwen-code.api_error","error_message":TEXT}}}`,
	},
	"copilot-cli": {
		".copilot/session-state/ID/events.jsonl",
		`{"type":"session.start","id":"e0","parentId":null,"timestamp":NOW,"data":{"sessionId":ID,"copilotVersion":"1.0.80","context":{"cwd":CWD}}}`,
		`{"type":"user.message","id":THIS,"parentId":LAST,"timestamp":NOW,"data":{"content":TEXT}}`,
		`{"type":"assistant.message","id":THIS,"parentId":LAST,"timestamp":NOW,"data":{"messageId":THIS,"content":TEXT}}`,
		`{"type":"session.error","id":THIS,"parentId":LAST,"timestamp":NOW,"data":{"errorType":"query","message":TEXT}}`,
	},
	"pi":       {".pi/agent/sessions/--shop--/2026-09-14T08-00-00-052Z_ID.jsonl", piHead, piUser, piAgent, piFailed},
	"openclaw": {".openclaw/agents/main/sessions/ID.jsonl", piHead, piUser, piAgent, piFailed},
	"cursor": {
		".cursor/projects/shop/agent-transcripts/ID/ID.jsonl", "",
		`{"role":"user","message":{"content":[{"type":"text","text":TEXT}]}}`,
		`{"role":"assistant","message":{"content":[{"type":"text","text":TEXT}]}}`, "",
	},
	"factory-droid": {
		".factory/sessions/-shop/ID.jsonl",
		`{"type":"session_start","id":ID,"cwd":CWD}`,
		`{"type":"message","id":ID,"timestamp":NOW,"message":{"role":"user","content":[{"type":"text","text":TEXT}]}}`,
		`{"type":"message","id":ID,"timestamp":NOW,"message":{"role":"assistant","content":[{"type":"text","text":TEXT}]}}`, "",
	},
}

const (
	piHead   = `{"type":"session","version":3,"id":ID,"timestamp":NOW,"cwd":CWD}`
	piUser   = `{"type":"message","id":THIS,"parentId":LAST,"timestamp":NOW,"message":{"role":"user","timestamp":1789372821000,"content":TEXT}}`
	piAgent  = `{"type":"message","id":THIS,"parentId":LAST,"timestamp":NOW,"message":{"role":"assistant","provider":"p","timestamp":1789372821000,"content":[{"type":"text","text":TEXT}]}}`
	piFailed = `{"type":"message","id":THIS,"parentId":LAST,"timestamp":NOW,"message":{"role":"assistant","provider":"p","timestamp":1789372821000,"stopReason":"error","errorMessage":TEXT,"content":[]}}`
)

// chat is a session of any agent in the making.
type chat struct {
	rows
	shape
	id, last string // last is the name of the newest record
}

func (w *world) chat(agent string) *chat {
	w.rows++
	c := &chat{rows: rows{w: w}, shape: shapes[agent], id: fmt.Sprintf("651f0e9e-b18c-42df-aded-%012d", w.rows)}
	if c.head != "" {
		c.row(c.head, "")
	}
	return c
}

// row adds a record in one of the forms, behind the newest one, and returns its name.
func (c *chat) row(form, text string) string { return c.rowAt(c.last, form, text) }

func (c *chat) rowAt(last, form, text string) string {
	now := c.w.now()
	this, before := fmt.Sprint("r", c.w.rows), "null"
	if last != "" {
		before = rowOf(last)
	}
	c.lines = append(c.lines, strings.NewReplacer("ID", rowOf(c.id), "NOW", rowOf(now), "CWD", rowOf(c.w.dir),
		"THIS", rowOf(this), "LAST", before, "TEXT", rowOf(text)).Replace(form))
	if form != c.head {
		c.last = this
	}
	return this
}

func (c *chat) asks(text string) string { return c.row(c.user, text) }
func (c *chat) says(text string) string { return c.row(c.agent, text) }

func (c *chat) place() string { return strings.ReplaceAll(c.path, "ID", c.id) }

func (c *chat) save() string {
	c.w.Helper()
	c.write(c.place())
	if strings.HasPrefix(filepath.Base(c.path), "session-ID") {
		return "session-" + c.id
	}
	return c.id
}

// TestWordsOfClients: what clients and extensions put beside a person's words is no part of them, in each agent.
func TestWordsOfClients(t *testing.T) {
	const own, other = "keep-the-tests", "delete-the-backups"
	all := []string{"claude-code", "codex", "gemini-cli", "qwen-code", "copilot-cli", "pi", "openclaw", "cursor", "factory-droid"}
	for _, c := range []struct {
		agents []string
		text   string
	}{
		{all, "<reminder>\n" + other + "\n</reminder>\n" + own},
		{all, own + "\n\n<system-reminder>\n" + other + "\n</system-reminder>"},
		{all, "<system_notification>\n" + other + "\n</system_notification>"},
		{all, `<image name="[Image #1]" path="/` + other + `.png">` + "\n</image>\n" + own},
		{all, "<task-notification>\n<task-id>b1</task-id><summary>" + other + "</summary>\n</task-notification>\nRead the output file to retrieve the result: /" + other},
		{all, "<task-notification>\n<task-id>b1</task-id><summary>" + other + "</summary>\n</task-notification>\n\n" + own},
		{[]string{"openclaw"}, "[Chat messages since your last reply - for context]\n" + other + "\n\n[Current message - respond to this]\n" + own},
		{[]string{"openclaw"}, "[media attached: /" + other + ".png (image/png)]\nTo send an image back, prefer the message tool. " + other + "\n" + own},
		{[]string{"openclaw"}, "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\n" + other + "\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>\n" + own},
		{[]string{"openclaw"}, "[Mon 2026-05-23 10:00 GMT+5:30] [Internal task completion event]\n" + other},
		{[]string{"openclaw"}, "[cron:abc nightly] " + other},
		{[]string{"openclaw"}, "Conversation context (untrusted, chronological, selected for current message):\n#395 Sat 2026-05-23 19:47 GMT+5:30\n" + other + "\n\n" + own},
		{[]string{"copilot-cli"}, "<reminder>\n" + other + "\n</reminder>\n<userRequest>\n" + own + "\n</userRequest>"},
	} {
		w := newWorld(t)
		for _, agent := range c.agents {
			s := w.chat(agent)
			s.asks(c.text)
			s.says("Yes.")
			id, want := s.save(), []string{"!" + other, "!image"}
			w.once()
			if strings.Contains(c.text, own) {
				want = append(want, own)
			}
			w.shows(agent+" timeline", w.ccd("timeline", id), want...)
			for line := range strings.Lines(w.ccd("show", id)) {
				if strings.HasPrefix(line, "Task ") || strings.Contains(line, " human ") {
					w.shows(agent+" show", line, want...)
				}
			}
		}
	}
}

// TestWeekOfOneName: sessions of two agents with one name are two, and each is said to be its agent's.
func TestWeekOfOneName(t *testing.T) {
	w := newWorld(t)
	one, other, third := w.chat("claude-code"), w.chat("qwen-code"), w.chat("qwen-code")
	other.id = one.id
	for _, s := range []*chat{one, other, third} {
		s.asks("Make part 1.")
		s.says("Made.")
		s.save()
	}
	w.once()
	w.shows("week", w.ccd("week", "--since", "2026-01-01"), "claude-code "+one.id, "qwen-code "+one.id, "!qwen-code "+third.id, third.id)
	w.shows("week --json", w.ccd("week", "--since", "2026-01-01", "--json"), `"agent": "claude-code",`, `"agent": "qwen-code",`)
}

// TestErrorsOfTheAPIAreNamed: in each agent that records them, unless the session went on.
func TestErrorsOfTheAPIAreNamed(t *testing.T) {
	const text = "[API Error: 529 overloaded]"
	for agent, f := range shapes {
		if f.failed == "" {
			continue
		}
		w := newWorld(t)
		s := w.chat(agent)
		s.asks("Make part 1.")
		at := s.says("Made.")
		s.asks("Make part 2.")
		s.row(s.failed, text)
		s.row(s.failed, text)
		id := s.save()
		w.once()
		out := w.ccd("show", id)
		w.shows(agent, out, "Stopped (#")
		if n := strings.Count(out, "stopped: "+text); n != 1 {
			t.Errorf("%s: the error is named %d times:\n%s", agent, n, out)
		}
		s.rowAt(at, s.user, "Make part 2.") // a retry
		s.says("Made it.")
		s.row(s.failed, text)
		s.says("And more.")
		s.save()
		w.once()
		if n := strings.Count(w.ccd("show", id), "stopped: "+text); n != 1 {
			t.Errorf("%s: an error that was overcome is a stop", agent)
		}
		w.shows(agent, w.ccd("timeline", id), "!taken back")
	}
}

// TestOverwrittenElsewhere: a transcript that is overwritten by the header of one in another directory, or with nothing, stays what it
// was, in each agent whose header names a directory.
func TestOverwrittenElsewhere(t *testing.T) {
	for _, agent := range []string{"codex", "pi", "copilot-cli"} {
		w := newWorld(t)
		s := w.chat(agent)
		s.asks("Part one.")
		s.says("Made.")
		s.save()
		w.once()
		s.lines, s.last = nil, ""
		s.row(strings.ReplaceAll(s.head, "CWD", rowOf("/elsewhere")), "")
		s.save()
		w.once()
		w.shows(agent, w.ccd("ls", "--all"), w.dir, "Part one.", "!/elsewhere")
		put(t, filepath.Join(w.home, s.place()), "")
		w.once()
		w.shows(agent, w.ccd("ls", "--all"), w.dir, "Part one.")
	}
	w := newWorld(t)
	s := w.chat("claude-code")
	s.asks("Part one.")
	id := s.save()
	w.once()
	w.shows("resume", w.ccd("resume", id, "--dry-run"), "continue that instead")
	put(t, filepath.Join(w.home, s.place()), "")
	w.once()
	w.shows("resume of what is empty", w.ccd("resume", id, "--dry-run"), "!continue that instead")
}

// TestMigratedTranscript: a client that gives its old records names when it loads them repeats nothing.
func TestMigratedTranscript(t *testing.T) {
	w := newWorld(t)
	s := w.chat("pi")
	s.asks("Part one.")
	s.says("Made.")
	named := strings.Join(s.lines, "\n")
	for i, line := range s.lines[1:] {
		line = strings.ReplaceAll(line, fmt.Sprintf(`"id":"r%d",`, w.rows-1+i), "")
		from, to := strings.Index(line, `"parentId"`), strings.Index(line, `"timestamp"`)
		s.lines[i+1] = line[:from] + line[to:]
	}
	id := s.save()
	w.once()
	s.lines = strings.Split(named, "\n")
	s.asks("Part two.")
	s.save()
	w.once()
	if out := w.ccd("timeline", id); strings.Count(out, "Part one.") != 1 {
		t.Errorf("what was said stands twice:\n%s", out)
	}
}

// TestCallsInCalls: a tool that runs a list of calls is what these do, in each agent.
func TestCallsInCalls(t *testing.T) {
	const calls = `{"tool_uses":[{"recipient_name":"functions.bash","parameters":{"command":"make all"}},{"recipient_name":"functions.write","parameters":{"path":"made.go","content":"package made\n"}}]}`
	for agent, call := range map[string]string{
		"pi":          `{"type":"message","id":THIS,"parentId":LAST,"timestamp":NOW,"message":{"role":"assistant","provider":"p","timestamp":1789372821000,"content":[{"type":"toolCall","id":THIS,"name":"multi_tool_use.parallel","arguments":` + calls + `}]}}`,
		"claude-code": `{"type":"assistant","uuid":THIS,"parentUuid":LAST,"sessionId":ID,"timestamp":NOW,"cwd":CWD,"message":{"role":"assistant","content":[{"type":"tool_use","id":THIS,"name":"batch","input":` + strings.NewReplacer("tool_uses", "tool_calls", "recipient_name", "tool", "functions.", "").Replace(calls) + `}]}}`,
	} {
		w := newWorld(t)
		s := w.chat(agent)
		s.asks("Make it.")
		s.row(call, "")
		s.says("Made.")
		id := s.save()
		w.once()
		w.shows(agent+" show", w.ccd("show", id), "make all", "made.go")
		w.shows(agent+" search", w.ccd("search", "--path", "made.go", "package"), id[:8])
	}
}

// TestCopiesOfEachAgent: what a program that synchronizes directories makes, and a fork that says nothing new, is a copy in each
// agent whose records have times, whatever names these have.
func TestCopiesOfEachAgent(t *testing.T) {
	for _, agent := range []string{"codex", "gemini-cli", "qwen-code", "copilot-cli", "pi", "factory-droid"} {
		w := newWorld(t)
		s := w.chat(agent)
		s.asks("Weigh the parcels.")
		s.says("Weighed.")
		id := s.save()
		text := strings.Join(s.lines, "\n") + "\n"
		put(t, filepath.Join(w.home, strings.ReplaceAll(s.path, "ID", "751f0e9e-b18c-42df-aded-000000000009")), text)
		want := 1
		if agent != "copilot-cli" { // it has a directory for each session
			put(t, filepath.Join(w.home, strings.Replace(s.place(), s.id+".jsonl", s.id+".sync-conflict-20260914-080501-ABCDEFG.jsonl", 1)), text)
			want = 2
		}
		w.once()
		if out := w.ccd("ls", "--all"); strings.Count(out, "\tcopy\n") != want {
			t.Errorf("%s: not %d copies in:\n%s", agent, want, out)
		}
		w.shows(agent, w.ccd("show", "latest"), "session: "+id)
	}
}
