package registry_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

func TestFind(t *testing.T) {
	const (
		u    = "11111111-2222-4333-8444-555555555555"
		slug = "-home-ada-shop/"
		roll = "rollout-2025-10-04T22-19-01-" + u
	)
	claude, sessions, archived := "/h/.claude/projects", "/h/.codex/sessions", "/h/.codex/archived_sessions"
	for _, c := range []struct {
		agent, root, rel string
		want             transcript.Session // without Agent, Path and Root; ID "" if no session
	}{
		{"claude-code", claude, slug + u + ".jsonl", transcript.Session{Key: transcript.Key{ID: u}, Source: "projects/" + slug + u + ".jsonl"}},
		{"claude-code", claude, slug + u + ".jsonl.zst", transcript.Session{Key: transcript.Key{ID: u}, Source: "projects/" + slug + u + ".jsonl", Packed: true}},
		{"claude-code", claude, slug + "notes.jsonl", transcript.Session{Key: transcript.Key{ID: slug + "notes"}, Source: "projects/" + slug + "notes.jsonl"}},
		{"claude-code", claude, slug + "agent-0a1b.jsonl", transcript.Session{Key: transcript.Key{ID: "agent-0a1b"}, Class: transcript.SubAgent, Source: "projects/" + slug + "agent-0a1b.jsonl"}},
		{"claude-code", claude, slug + u + "/subagents/agent-0a1b.jsonl", transcript.Session{Key: transcript.Key{ID: "agent-0a1b"}, Class: transcript.SubAgent, Parent: u, Source: "projects/" + slug + u + "/subagents/agent-0a1b.jsonl"}},
		{"claude-code", claude, slug + u + "/subagents/workflows/wf_1/agent-acompact-0a.jsonl", transcript.Session{Key: transcript.Key{ID: "agent-acompact-0a"}, Class: transcript.SubAgent, Parent: u, Source: "projects/" + slug + u + "/subagents/workflows/wf_1/agent-acompact-0a.jsonl"}},
		{"claude-code", claude, slug + u + "/subagents/workflows/wf_1/journal.jsonl", transcript.Session{Key: transcript.Key{ID: u + "/subagents/workflows/wf_1/journal.jsonl"}, Class: transcript.Attachment, Parent: u, Source: "projects/" + slug + u + "/subagents/workflows/wf_1/journal.jsonl"}},
		{"claude-code", claude, slug + u + "/subagents/agent-0a1b.meta.json", transcript.Session{Key: transcript.Key{ID: u + "/subagents/agent-0a1b.meta.json"}, Class: transcript.Attachment, Parent: u, Source: "projects/" + slug + u + "/subagents/agent-0a1b.meta.json"}},
		{"claude-code", claude, slug + u + "/tool-results/b1.txt", transcript.Session{Key: transcript.Key{ID: u + "/tool-results/b1.txt"}, Class: transcript.Attachment, Parent: u, Source: "projects/" + slug + u + "/tool-results/b1.txt"}},
		{"claude-code", claude, slug + u + ".ccd.md", transcript.Session{}},
		{"claude-code", claude, slug + ".ccd-" + u, transcript.Session{}},
		{"claude-code", claude, slug + "memory/notes.md", transcript.Session{}},
		{"claude-code", claude, slug + "sessions-index.json", transcript.Session{}},
		{"claude-code", claude, slug + ".jsonl", transcript.Session{}},
		{"claude-code", claude, slug + u + "/tool-results/.ccd-x.tmp", transcript.Session{}},
		{"claude-code", claude, slug + "drafts/a.txt", transcript.Session{}},
		{"claude-code", claude, u + ".jsonl", transcript.Session{}},
		{"codex", sessions, "2025/10/04/" + roll + ".jsonl", transcript.Session{Key: transcript.Key{ID: u}, Source: "sessions/2025/10/04/" + roll + ".jsonl"}},
		{"codex", sessions, "2025/10/04/" + roll + ".jsonl.zst", transcript.Session{Key: transcript.Key{ID: u}, Source: "sessions/2025/10/04/" + roll + ".jsonl", Packed: true}},
		{"codex", archived, roll + ".jsonl", transcript.Session{Key: transcript.Key{ID: u}, Source: "archived_sessions/" + roll + ".jsonl"}},
		{"codex", sessions, "2025/10/04/odd.jsonl", transcript.Session{Key: transcript.Key{ID: "2025/10/04/odd"}, Source: "sessions/2025/10/04/odd.jsonl"}},
		{"codex", sessions, "2025/10/04/" + roll + ".ccd.md", transcript.Session{}},
		{"codex", sessions, "state_5.sqlite", transcript.Session{}},
		{"codex", sessions, "../history.jsonl", transcript.Session{}},
		{"nobody", sessions, "a.jsonl", transcript.Session{}},
	} {
		t.Run(c.agent+" "+c.rel, func(t *testing.T) {
			root := filepath.FromSlash(c.root)
			path := filepath.Join(root, filepath.FromSlash(c.rel))
			if c.want.ID != "" {
				c.want.Agent, c.want.Path, c.want.Root = c.agent, path, root
			}
			got, ok := registry.Table{}.Find(c.agent, root, path)
			if diff := cmp.Diff(c.want, got); diff != "" || ok != (c.want.ID != "") {
				t.Errorf("Find: ok %v (-want +got):\n%s", ok, diff)
			}
		})
	}
}

func TestRoots(t *testing.T) {
	home := filepath.FromSlash("/h")
	none := func(string) string { return "" }
	moved := func(name string) string { return filepath.FromSlash("/moved/" + name) }
	var got []string
	for _, f := range (registry.Table{}).All() {
		got = append(append(got, f.Roots(none, home)...), f.Roots(moved, home)...)
	}
	want := []string{
		"/h/.claude/projects", "/moved/CLAUDE_CONFIG_DIR/projects",
		"/h/.codex/sessions", "/h/.codex/archived_sessions",
		"/moved/CODEX_HOME/sessions", "/moved/CODEX_HOME/archived_sessions",
		"/h/.gemini/tmp", "/moved/GEMINI_CLI_HOME/.gemini/tmp",
		"/h/.qwen/projects", "/h/.qwen/tmp", "/moved/QWEN_RUNTIME_DIR/projects", "/moved/QWEN_RUNTIME_DIR/tmp",
		"/h/.factory/sessions", "/moved/FACTORY_HOME_OVERRIDE/.factory/sessions",
		"/h/.cursor/projects", "/moved/CURSOR_DATA_DIR/projects", "/h/.cursor/projects",
		"/h/.copilot/session-state", "/moved/COPILOT_HOME/session-state",
		"/h/.pi/agent/sessions", "/moved/PI_CODING_AGENT_SESSION_DIR",
		"/h/.openclaw/agents", "/moved/OPENCLAW_STATE_DIR/agents",
		"/h/.local/share/amp/threads", "/moved/XDG_DATA_HOME/amp/threads",
	}
	for i := range want {
		want[i] = filepath.FromSlash(want[i])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSniff(t *testing.T) {
	for _, x := range fixtures {
		data := read(t, filepath.Join("testdata", x.file))
		for _, n := range []int{len(data), 4096, 700, 200} {
			if agent, _, ok := (registry.Table{}).Sniff(data[:min(n, len(data))]); !ok || agent != x.agent {
				t.Errorf("registry.Table{}.Sniff(%d bytes of %s) = %q, %v", n, x.file, agent, ok)
			}
		}
	}
	for _, s := range []string{"", "\n", "hello", "{}", "{\"a\":1}\n"} {
		if agent, _, ok := (registry.Table{}).Sniff([]byte(s)); ok {
			t.Errorf("registry.Table{}.Sniff(%q) = %q", s, agent)
		}
	}
}

// TestSniffTellsSubAgents checks that a file outside of every root is recognized as a sub-agent's by its lines;
// otherwise nothing in it would count.
func TestSniffTellsSubAgents(t *testing.T) {
	line := `{"parentUuid":null,"isSidechain":%t,"agentId":"a1","type":"user","message":{"role":"user","content":"look around"},"uuid":"u1","sessionId":"s"}` + "\n"
	for side, want := range map[bool]transcript.Class{true: transcript.SubAgent, false: transcript.Main} {
		agent, class, ok := registry.Table{}.Sniff([]byte(`{"type":"summary","summary":"x"}` + "\n" + fmt.Sprintf(line, side)))
		if agent != "claude-code" || class != want || !ok {
			t.Errorf("isSidechain %t: %s, class %d, %t; want class %d", side, agent, class, ok, want)
		}
	}
}
