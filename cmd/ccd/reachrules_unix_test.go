//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/cli"
	"ccd/internal/agent/claude"
	"ccd/internal/mark"
	"ccd/internal/words"
)

// canary must not appear in any output when a file with it is given as the configuration.
const canary = "xkcd4canary7value"

// secretFiles are files that somebody may give as the configuration, with the place that an error may name.
var secretFiles = map[string]struct{ text, place string }{
	"credentials": {"[default]\naws_secret_access_key = " + canary + "/+==\n", "line 2"},
	"json":        {`{"token": "` + canary + `"}`, "line 1"},
	"words":       {canary + "\n", "line 1"},
	"section":     {"[" + canary + "]\nx = 1\n", "line 1"},
	"key":         {"[watch]\n" + canary + " = 1\n", "line 2"},
	"near key":    {"[watch]\nsettle" + canary + " = \"2s\"\n", "line 2"},
	"value":       {"[watch]\nsettle = \"" + canary + "\"\n", "line 2: watch.settle"},
	"entry":       {"[watch]\nignore = [\"[" + canary + "\"]\n", "line 2: watch.ignore"},
	"path":        {"[companion]\ndir = \"" + canary + "\"\n", "line 2: companion.dir"},
	"model":       {"[models.windows]\nm = \"" + canary + "\"\n", "line 2: models.windows.m"},
	"agent":       {"[watch.roots]\ncodex = [\"" + canary + "\"]\n", "line 2: watch.roots.codex"},
	"twice":       {"[watch]\npoll = true\npoll = \"" + canary + "\"\n", "line 3: watch.poll"},
	"word":        {"[watch]\npoll = " + canary + "\n", "line 2"},
}

// TestNoErrorRepeatsAConfiguration: whatever file is given as the configuration, by flag or environment, no command
// prints its content. The control: the error names a line, so the file was read.
func TestNoErrorRepeatsAConfiguration(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	named := map[string][]string{
		"agent": {"agent", "search", "x"}, "agents": {"agents", "status"}, "completion": {"completion", "bash"}, "hook": {"hook", "SessionStart"},
		"show": {"show", "latest"}, "timeline": {"timeline", "latest"}, "diff": {"diff", "latest"}, "restore": {"restore", "zzzzzzzzzzzz"}, "search": {"search", "x"},
		"compact": {"compact", "-"}, "resume": {"resume", "latest"}, "label": {"label", "--pin", "latest"},
		"archive": {"archive", "backup", filepath.Join(home, "backup")}, "service": {"service", "restart"}, "man": {"man", home},
	}
	for kind, file := range secretFiles {
		path := filepath.Join(home, kind+".toml")
		put(t, path, file.text)
		for _, c := range newApp(cli.Std{}, account.Env{}).Root().Commands() {
			name := c.Name()
			if name == "demo" || kind != "key" && name != "search" && name != "config" {
				continue // demo has its own configuration; one function reads the file for all commands
			}
			args := named[name]
			if args == nil {
				args = []string{name}
			}
			for _, line := range [][]string{append(slices.Clone(args), "--config", path), args} {
				env := []string{"PATH=" + home} // hides the service manager
				if len(line) == len(args) {
					env = append(env, "CCD_CONFIG="+path)
				}
				r := ccdAt(t, home, home, "", env, line...)
				out := r.out + r.err
				if strings.Contains(out, canary) {
					t.Errorf("%s file, %q, exit %d: %s", kind, line, r.code, out)
				}
				if (name == "search" || name == "config") && (!strings.Contains(out, path) || !strings.Contains(out, file.place)) {
					t.Errorf("%s file, %q does not tell %q: %s", kind, line, file.place, out)
				}
			}
		}
	}
}

// TestRulesAllowNoFile: each command line that an agent may run without asking rejects flags that name a file, before
// reading any.
func TestRulesAllowNoFile(t *testing.T) {
	t.Parallel()
	p := newProjects(t)
	if r := p.run("a", "agents", "install", "claude", "--allow", "-q"); r.code != 0 {
		t.Fatal(r)
	}
	var settings struct {
		Permissions struct{ Allow, Ask []string }
	}
	text, err := os.ReadFile(p.at("../.claude/settings.json"))
	if err != nil || json.Unmarshal(text, &settings) != nil || len(settings.Permissions.Allow) == 0 || settings.Permissions.Ask != nil {
		t.Fatalf("%v: %s", err, text)
	}
	secret := p.at("secret.toml")
	p.write("secret.toml", "key = "+canary+"\n")
	for _, rule := range settings.Permissions.Allow {
		line, begun := strings.CutPrefix(rule, "Bash(")
		line, ended := strings.CutSuffix(line, ":*)")
		args := strings.Fields(line)
		if !begun || !ended || len(args) != 3 || filepath.Base(args[0]) != "ccd" && !strings.HasSuffix(args[0], ".test") || args[1] != "agent" {
			t.Errorf("rule %s", rule)
			continue
		}
		asked := map[string]string{"restore": idOf("result of alpha-main"), "search": "alpha", "show": sessionA}[args[2]]
		if r := p.run("a", append(args[1:], asked)...); r.code != 0 { // control
			t.Errorf("%s: %+v", rule, r)
		}
		for _, flags := range [][]string{
			{"--config", secret},
			{"--config=" + secret},
			{"-o", p.at("out")},
			{"--output", p.at("out")},
			{"-o" + p.at("out")},
			{"--force"},
			{"--file", secret},
			{"--format", "html"},
			{"--fresh"},
			{"--source", secret},
			{"--reach", "all"},
			{"--generation", "1"},
			{"--info"},
		} {
			for _, given := range [][]string{slices.Concat(args[1:], []string{asked}, flags), slices.Concat(args[1:], flags, []string{asked}), slices.Concat(flags, args[1:], []string{asked})} {
				if r := p.run("a", given...); r.code != words.ExitUsage || strings.Contains(r.out+r.err, canary) || r.out != "" {
					t.Errorf("%q: %+v", given, r)
				}
			}
		}
	}
	if _, err := os.Stat(p.at("out")); err == nil {
		t.Error("a file was written")
	}
}

// TestDemotedOutputOfANewSession: an output that a hook archived before the rest of its session belongs to the project
// that the transcript names. The control is the other project.
func TestDemotedOutputOfANewSession(t *testing.T) {
	t.Parallel()
	p := newProjects(t)
	name := claude.Project(p.at("a")) + "/aaaaaaaa-0000-4000-8000-000000000009.jsonl"
	p.session(name, "a", "alpha-new")
	output := strings.Repeat("a long line of the build\n", 4000)
	event, err := json.Marshal(map[string]any{
		"session_id": "aaaaaaaa-0000-4000-8000-000000000009", "transcript_path": p.at("../.claude/projects/" + name), "cwd": p.at("a"),
		"tool_name": "Bash", "tool_input": map[string]any{"command": "make"}, "content": output,
	})
	must(t, err)
	if r := p.feed("a", string(event), "hook", "ToolResult", "--agent", "claude-code", "--within", "20s"); !strings.Contains(r.out, " agent restore ") {
		t.Fatalf("%+v", r)
	}
	id := string(mark.Sum([]byte(output)).ID())
	if r := p.run("a-feature", "agent", "restore", id); r.code != 0 || r.out != output {
		t.Errorf("from its project: exit %d, %d bytes: %s", r.code, len(r.out), r.err)
	}
	if r := p.run("b", "agent", "restore", id); r.code != words.ExitNotFound {
		t.Errorf("from another project: exit %d, %d bytes", r.code, len(r.out))
	}
}
