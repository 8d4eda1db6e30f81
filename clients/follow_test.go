package clients

import (
	"fmt"
	"path/filepath"
	"testing"
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
	}
}

func piAgent(t *testing.T) agent {
	return agent{
		client: findScript(t, "Pi", "@mariozechner/pi-coding-agent/dist/cli.js"), transcripts: piTranscripts,
		ask: func(how []string, say string) []string {
			return append(append([]string{}, how...), "--print", say)
		},
		shell: func(command string) call { return call{name: "bash", input: map[string]any{"command": command}} },
	}
}

func TestScratch(t *testing.T) {
	for _, name := range []string{"gemini", "pi"} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			var a agent
			var turns []turn
			if name == "pi" {
				a = piAgent(t)
				p.write(filepath.Join(p.home, ".pi/agent/models.json"), fmt.Sprintf(`{"providers":{"scripted":{"baseUrl":%q,"api":"anthropic-messages","apiKey":"dummy",`+
					`"models":[{"id":"claude-opus-5-5","reasoning":true,"contextWindow":1000000,"maxTokens":32000}]}}}`, p.model.url))
				p.write(filepath.Join(p.home, ".pi/agent/settings.json"), `{"defaultProvider":"scripted","defaultModel":"claude-opus-5-5"}`)
				turns = []turn{uses("I read.", call{name: "read", input: map[string]any{"path": "README.md"}}),
					uses("", a.shell("wc -l pkg/*.go"), a.shell("echo 'FAIL: bad' >&2; exit 3")),
					uses("", call{name: "edit", input: map[string]any{"path": "README.md", "edits": []any{map[string]any{"oldText": "integers", "newText": "whole numbers"}}}}),
					says("All of it is 4000 lines.")}
			} else {
				a = geminiAgent(t)
				p.write(filepath.Join(p.home, ".gemini/settings.json"), `{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false}}`)
				turns = []turn{uses("I read.", call{name: "read_file", input: map[string]any{"file_path": "README.md"}}),
					uses("", a.shell("wc -l pkg/*.go"), a.shell("echo 'FAIL: bad' >&2; exit 3")),
					uses("", call{name: "replace", input: map[string]any{"file_path": "README.md", "instruction": "say it", "old_string": "integers", "new_string": "whole numbers"}}),
					says("All of it is 4000 lines.")}
			}
			turns = append(turns, uses("Again.", a.shell("echo \"$(ls pkg | wc -l) files\"")), says("There are 4 files."))
			p.model.plays(turns...)
			run := func(args []string) {
				r := p.run(a.program, append(a.first, args...)...)
				t.Logf("%d\n%s\n%s", r.code, r.out, r.err)
				for _, q := range p.model.requests(t) {
					t.Logf("%s %s %d", q.api, q.lane, len(q.raw))
				}
			}
			run(a.ask(nil, "Count the ledger. Never round cents."))
			if name == "pi" {
				run(a.ask([]string{"--continue"}, "And count the files."))
			} else {
				run(a.ask([]string{"--resume", "latest"}, "And count the files."))
			}
			t.Log(p.read(filepath.Join(p.project, "README.md")))
			p.run("/bin/sh", "-c", "mkdir -p /tmp/cl/"+name+"; cp -a $HOME /tmp/cl/"+name+"/")
			r := p.run("/bin/sh", "-c", "for c in 'run --once' 'ls' 'ls --json' 'compact latest' 'show latest' 'timeline latest' 'timeline --json latest' 'restore --file README.md' 'restore --file "+p.project+"/README.md'; do echo \"=== $c\"; ccd $c; done; cat "+filepath.Join(p.home, a.transcripts))
			t.Logf("%s\n%s", r.out, r.err)
		})
	}
}
