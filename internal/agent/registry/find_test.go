package registry_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/agent/claude"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

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

func TestClaudeProject(t *testing.T) {
	for in, want := range map[string]string{
		"/home/me/a.b_c": "-home-me-a-b-c", `C:\src`: "C--src", "/p😀é": "-p---",
		"/home/me/" + strings.Repeat("deep/", 60): "-home-me-" + strings.Repeat("deep-", 38) + "d-30p046",
	} {
		if got := claude.Project(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
