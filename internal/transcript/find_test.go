package transcript

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		want             Session // without Agent, Path and Root; ID "" : nobody's
	}{
		{"claude-code", claude, slug + u + ".jsonl", Session{Key: Key{ID: u}, Source: "projects/" + slug + u + ".jsonl"}},
		{"claude-code", claude, slug + u + ".jsonl.zst", Session{Key: Key{ID: u}, Source: "projects/" + slug + u + ".jsonl", Packed: true}},
		{"claude-code", claude, slug + "notes.jsonl", Session{Key: Key{ID: slug + "notes"}, Source: "projects/" + slug + "notes.jsonl"}},
		{"claude-code", claude, slug + "agent-0a1b.jsonl", Session{Key: Key{ID: "agent-0a1b"}, Class: SubAgent, Source: "projects/" + slug + "agent-0a1b.jsonl"}},
		{"claude-code", claude, slug + u + "/subagents/agent-0a1b.jsonl", Session{Key: Key{ID: "agent-0a1b"}, Class: SubAgent, Parent: u, Source: "projects/" + slug + u + "/subagents/agent-0a1b.jsonl"}},
		{"claude-code", claude, slug + u + "/subagents/workflows/wf_1/agent-acompact-0a.jsonl", Session{Key: Key{ID: "agent-acompact-0a"}, Class: SubAgent, Parent: u, Source: "projects/" + slug + u + "/subagents/workflows/wf_1/agent-acompact-0a.jsonl"}},
		{"claude-code", claude, slug + u + "/subagents/workflows/wf_1/journal.jsonl", Session{Key: Key{ID: u + "/subagents/workflows/wf_1/journal.jsonl"}, Class: Attachment, Parent: u, Source: "projects/" + slug + u + "/subagents/workflows/wf_1/journal.jsonl"}},
		{"claude-code", claude, slug + u + "/subagents/agent-0a1b.meta.json", Session{Key: Key{ID: u + "/subagents/agent-0a1b.meta.json"}, Class: Attachment, Parent: u, Source: "projects/" + slug + u + "/subagents/agent-0a1b.meta.json"}},
		{"claude-code", claude, slug + u + "/tool-results/b1.txt", Session{Key: Key{ID: u + "/tool-results/b1.txt"}, Class: Attachment, Parent: u, Source: "projects/" + slug + u + "/tool-results/b1.txt"}},
		{"claude-code", claude, slug + u + ".ccd.md", Session{}},
		{"claude-code", claude, slug + ".ccd-" + u, Session{}},
		{"claude-code", claude, slug + "memory/notes.md", Session{}},
		{"claude-code", claude, slug + "sessions-index.json", Session{}},
		{"claude-code", claude, slug + ".jsonl", Session{}},
		{"claude-code", claude, slug + u + "/tool-results/.ccd-x.tmp", Session{}},
		{"claude-code", claude, slug + "drafts/a.txt", Session{}},
		{"claude-code", claude, u + ".jsonl", Session{}},
		{"codex", sessions, "2025/10/04/" + roll + ".jsonl", Session{Key: Key{ID: u}, Source: "sessions/2025/10/04/" + roll + ".jsonl"}},
		{"codex", sessions, "2025/10/04/" + roll + ".jsonl.zst", Session{Key: Key{ID: u}, Source: "sessions/2025/10/04/" + roll + ".jsonl", Packed: true}},
		{"codex", archived, roll + ".jsonl", Session{Key: Key{ID: u}, Source: "archived_sessions/" + roll + ".jsonl"}},
		{"codex", sessions, "2025/10/04/odd.jsonl", Session{Key: Key{ID: "2025/10/04/odd"}, Source: "sessions/2025/10/04/odd.jsonl"}},
		{"codex", sessions, "2025/10/04/" + roll + ".ccd.md", Session{}},
		{"codex", sessions, "state_5.sqlite", Session{}},
		{"codex", sessions, "../history.jsonl", Session{}},
		{"nobody", sessions, "a.jsonl", Session{}},
	} {
		t.Run(c.agent+" "+c.rel, func(t *testing.T) {
			root := filepath.FromSlash(c.root)
			path := filepath.Join(root, filepath.FromSlash(c.rel))
			if c.want.ID != "" {
				c.want.Agent, c.want.Path, c.want.Root = c.agent, path, root
			}
			got, ok := Find(c.agent, root, path)
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
	for _, f := range Formats() {
		got = append(append(got, f.Roots(none, home)...), f.Roots(moved, home)...)
	}
	want := []string{
		"/h/.claude/projects", "/moved/CLAUDE_CONFIG_DIR/projects",
		"/h/.codex/sessions", "/h/.codex/archived_sessions",
		"/moved/CODEX_HOME/sessions", "/moved/CODEX_HOME/archived_sessions",
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
			if agent, _, ok := Sniff(data[:min(n, len(data))]); !ok || agent != x.agent {
				t.Errorf("Sniff(%d bytes of %s) = %q, %v", n, x.file, agent, ok)
			}
		}
	}
	for _, s := range []string{"", "\n", "hello", "{}", "{\"a\":1}\n"} {
		if agent, _, ok := Sniff([]byte(s)); ok {
			t.Errorf("Sniff(%q) = %q", s, agent)
		}
	}
}

// A file below no root tells by its lines that it is a sub-agent's: else nothing in it would count.
func TestSniffTellsSubAgents(t *testing.T) {
	line := `{"parentUuid":null,"isSidechain":%t,"agentId":"a1","type":"user","message":{"role":"user","content":"look around"},"uuid":"u1","sessionId":"s"}` + "\n"
	for side, want := range map[bool]Class{true: SubAgent, false: Main} {
		agent, class, ok := Sniff([]byte(`{"type":"summary","summary":"x"}` + "\n" + fmt.Sprintf(line, side)))
		if agent != "claude-code" || class != want || !ok {
			t.Errorf("isSidechain %t: %s, class %d, %t; want class %d", side, agent, class, ok, want)
		}
	}
}
