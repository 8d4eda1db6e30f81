package clients

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func geminiAgent(t *testing.T) agent {
	return agent{
		client: findScript(t, "Gemini CLI", "@google/gemini-cli/bundle/gemini.js"), transcripts: geminiTranscripts,
		ask: func(how []string, say string) []string {
			return append(append([]string{"--yolo", "--model", "gemini-2.5-pro"}, how...), "--prompt", say)
		},
		shell: func(command string) call {
			return call{name: "run_shell_command", input: map[string]any{"command": command}}
		},
		reads: func(path string) call { return call{name: "read_file", input: map[string]any{"file_path": path}} },
		edits: func(path, old, new string) call {
			return call{name: "replace", input: map[string]any{"file_path": path, "instruction": "Say it so.", "old_string": old, "new_string": new}}
		},
	}
}

func piAgent(t *testing.T) agent {
	return agent{
		client: findScript(t, "Pi", "@mariozechner/pi-coding-agent/dist/cli.js"), transcripts: piTranscripts,
		ask: func(how []string, say string) []string {
			return append(slices.Clone(how), "--print", say)
		},
		shell: func(command string) call { return call{name: "bash", input: map[string]any{"command": command}} },
		reads: func(path string) call { return call{name: "read", input: map[string]any{"path": path}} },
		edits: func(path, old, new string) call {
			return call{name: "edit", input: map[string]any{"path": path, "edits": []any{map[string]any{"oldText": old, "newText": new}}}}
		},
	}
}

// TestGeminiCLIIsFollowed is case (g): ccd tails what the agent writes while it works, and nothing of it is lost.
func TestGeminiCLIIsFollowed(t *testing.T) {
	t.Parallel()
	a, p := geminiAgent(t), newPlace(t)
	p.write(filepath.Join(p.home, ".gemini", "settings.json"),
		`{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false}}`)
	p.model.summary = says("<state_snapshot>SUMMARY OF THE MODEL</state_snapshot>")
	followed(p, a, "gemini-cli")
}

// TestPiIsFollowed is the same with Pi.
func TestPiIsFollowed(t *testing.T) {
	t.Parallel()
	a, p := piAgent(t), newPlace(t)
	p.write(filepath.Join(p.home, ".pi", "agent", "models.json"), fmt.Sprintf(`{"providers":{"scripted":{"baseUrl":%q,"api":"anthropic-messages",`+
		`"apiKey":"dummy","models":[{"id":"claude-opus-5-5","reasoning":true,"contextWindow":1000000,"maxTokens":32000}]}}}`, p.model.url))
	p.write(filepath.Join(p.home, ".pi", "agent", "settings.json"),
		`{"defaultProvider":"scripted","defaultModel":"claude-opus-5-5","compaction":{"keepRecentTokens":10}}`)
	followed(p, a, "pi")
}

// live is a turn that is answered only once the daemon has archived the words of the session. The agent waits for it.
func (p *place) live(a agent, words string, then turn) turn {
	return func(r *request) reply {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for range 400 {
			for _, path := range p.sessions(a.transcripts) {
				if strings.Contains(p.run(p.ccdPath(), "restore", "--session", path).out, words) {
					return then(r)
				}
			}
			<-tick.C
		}
		p.t.Errorf("%s waits for the model, and the daemon has not archived %q", a.name, words)
		return then(r)
	}
}

// followed plays three prompts, each in a process of its own, while `ccd run` follows them.
func followed(p *place, a agent, agentName string) {
	t := p.t
	p.write(filepath.Join(p.home, ".config", "ccd", "config.toml"), "[watch]\nsettle = \"100ms\"\nmax_wait = \"1s\"\n")
	readme := filepath.Join(p.project, "README.md")
	const (
		first, second, third = "Say in the README what a cent is. Never round cents.", "Now count the files.", "Go on with the invoices."
		count, fails, files  = "wc -l pkg/*.go", "echo 'FAIL: TestBooked7: sum is 259 cents' >&2; exit 3", `echo "there are $(ls pkg | wc -l) files"`
		said, counted        = "A cent is a whole number now.", "Four files it is."
	)
	stop := p.daemon()
	p.asks(a.client, a.ask(nil, first),
		func(*request) reply {
			return reply{thinking: "The README comes first.", text: "I read it.", calls: []call{a.reads("README.md")}}
		},
		p.live(a, "cents are integers", uses("", a.shell(count), a.shell(fails))),
		p.live(a, "4008 total", uses("", a.edits("README.md", "integers", "whole numbers"))), says(said))
	if !strings.Contains(p.read(readme), "cents are whole numbers") {
		t.Error("the agent has not edited the file")
	}
	found := p.sessions(a.transcripts)
	if len(found) != 1 {
		t.Fatalf("%s left %d transcripts, want one: %q", a.name, len(found), found)
	}
	path := found[0]
	begun := p.read(path)
	var head struct{ ID, SessionID string }
	if line, _, _ := strings.Cut(begun, "\n"); json.Unmarshal([]byte(line), &head) != nil {
		t.Fatalf("the first line is %s", line)
	}
	how := a.resumed(cmp.Or(head.SessionID, head.ID))
	goneOn := p.asks(a.client, a.ask(how, second), p.live(a, second, uses("", a.shell(files))), says(counted).reporting(995_000))
	if !goneOn[0].holds(first) || !goneOn[0].holds(said) {
		t.Error("the session is not gone on with")
	}
	compacted := p.asks(a.client, a.ask(how, third), says("Done."))
	if n := len(of(compacted, "compaction")); n == 0 || !last(compacted).holds("SUMMARY OF THE MODEL") {
		t.Errorf("of %d requests %d are for a compaction, and the last does not hold its summary", len(compacted), n)
	}
	whole := p.read(path)
	if !strings.HasPrefix(whole, begun) || len(whole) == len(begun) {
		t.Error("going on does not append to the transcript")
	}
	stop()

	var ls []struct{ Agent, Session, Project, Source string }
	if err := json.Unmarshal([]byte(p.ccd("ls", "--json")), &ls); err != nil {
		t.Fatal(err)
	}
	session := ""
	for _, s := range ls {
		if s.Source == path {
			session = s.Session
			if s.Agent != agentName || s.Project != p.project {
				t.Errorf("the session is of %s in %q, want %s in %s", s.Agent, s.Project, agentName, p.project)
			}
		}
	}
	p.ccd("compact", session)
	shown := p.ccd("show", session)
	for _, words := range []string{first, second, third, count, fails, files, "README.md", "+ whole numbers", said, counted, "sum is 259 cents"} {
		if !strings.Contains(shown, words) {
			t.Errorf("the companion does not hold %q", words)
		}
	}
	t.Log(shown)
	t.Log(p.ccd("timeline", session))
	t.Log(whole)
	for n, q := range p.model.all {
		t.Logf("%d %s %s", n, q.lane, q.parts)
	}
	if got := p.must(p.ccdPath(), "restore", "--session", session); got != whole {
		t.Errorf("the session restores to %d bytes that are not its %d", len(got), len(whole))
	}
	_ = time.Now
}
