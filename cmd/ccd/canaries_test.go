package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/cli/data"
	"ccd/internal/testkit"
	"ccd/internal/testkit/gen"
)

// canaryAgents are the agents whose sessions are planted, and where they are below HOME.
var canaryAgents = map[string]string{
	"claude": ".claude/projects", "codex": ".codex/sessions", "gemini": ".gemini/tmp", "qwen": ".qwen/projects", "pi": ".pi/agent/sessions",
}

// shownBy says how the canaries are looked for in each command: its arguments, SESSION and ID stand for one of each. A
// command without arguments here prints nothing of a session, for the reason given.
var shownBy = map[string]struct {
	args []string
	not  string
}{
	"status": {args: []string{"--json"}}, "ls": {args: []string{"--all", "--json"}}, "search": {args: []string{"the", "--limit", "0", "--json"}},
	"files": {args: []string{"--json", "-n", "1000"}}, "week": {args: []string{"--json", "--since", "2000-01-01"}}, "show --steps": {args: []string{"SESSION", "--json"}},
	"show": {args: []string{"SESSION"}}, "timeline": {args: []string{"SESSION", "--json"}}, "diff": {args: []string{"SESSION", "--all"}},
	"status --totals": {args: []string{"--json"}}, "resume": {args: []string{"--dry-run", "SESSION"}}, "compact": {args: []string{"--stdout", "--format", "json", "SESSION"}},
	"show --path": {args: []string{"SESSION"}}, "agent": {not: "help"}, "agent show": {args: []string{"SESSION"}}, "agent search": {not: "as search"}, "agent restore": {not: "tested on its own"}, "archive secrets": {args: []string{"--json"}},
	"doctor": {args: []string{}}, "archive verify": {args: []string{"--json"}}, "config": {args: []string{}}, "label": {args: []string{"SESSION", "--pin", "--tag", "t", "--name", "n"}},
	"archive forget": {args: []string{"--dry-run", "SESSION"}}, "archive gc": {args: []string{"--dry-run"}}, "statusline": {args: []string{}},
	"run": {args: []string{"--once"}}, "export": {args: []string{"SESSION"}}, "top": {not: "needs a terminal"}, "web": {not: "tested on its own"},
	"restore": {not: "a person's: it prints secrets"},
	"hook":    {not: "tested on its own"}, "mcp": {not: "tested on its own"},
	"agents": {not: "edits agents' settings"}, "setup": {not: "edits agents' settings"}, "demo": {not: "its session is built in"},
	"service": {not: "service"}, "service install": {not: "service"}, "service remove": {not: "service"}, "service start": {not: "service"}, "service stop": {not: "service"}, "service restart": {not: "service"},
	"archive": {not: "help"}, "archive backup": {not: "the archive's bytes"}, "archive import": {not: "the archive's bytes"}, "remote": {not: "encrypted; tested on its own"},
	"version": {not: "fixed"}, "man": {not: "fixed"},
}

// TestEveryCommandIsLookedThrough: no command is missing in shownBy.
func TestEveryCommandIsLookedThrough(t *testing.T) {
	cli.EachCommand(newApp(cli.Std{Out: &bytes.Buffer{}}, account.Env{}).Root(), func(c *cobra.Command) {
		name := strings.TrimPrefix(c.CommandPath(), "ccd ")
		if one, ok := shownBy[name]; c.HasParent() && (!ok || (one.args == nil) == (one.not == "")) {
			t.Errorf("%s: needs arguments or a reason", name)
		}
	})
}

// garden is a home whose transcripts have canaries in all places where a text can be.
type garden struct {
	env      []string
	home     string
	planted  map[string]bool // transcripts
	canaries []fakeSecret
	needles  *needles
}

// plant copies the transcripts of a home with a canary in each string that has a blank: texts, commands, inputs, outputs,
// titles, instructions. Kinds and encodings take turns.
func plant(t *testing.T, from string, r *rand.Rand) *garden {
	t.Helper()
	g := &garden{home: t.TempDir(), planted: map[string]bool{}, needles: newNeedles()}
	g.env = []string{"HOME=" + g.home, "USERPROFILE=" + g.home}
	kinds := secretKinds()
	for _, dir := range canaryAgents {
		err := filepath.WalkDir(filepath.Join(from, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".jsonl") {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			var out bytes.Buffer
			for line := range bytes.Lines(data) {
				var v any
				d := json.NewDecoder(bytes.NewReader(line))
				d.UseNumber()
				if err := d.Decode(&v); err != nil {
					return err
				}
				if err := json.NewEncoder(&out).Encode(g.leaves(v, kinds, r)); err != nil {
					return err
				}
			}
			rel, _ := filepath.Rel(from, path)
			to := filepath.Join(g.home, rel)
			g.planted[to] = true
			put(t, to, out.String())
			return nil
		})
		must(t, err)
	}
	return g
}

func (g *garden) leaves(v any, kinds []canaryKind, r *rand.Rand) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = g.leaves(v[key], kinds, r)
		}
	case []any:
		for i := range v {
			v[i] = g.leaves(v[i], kinds, r)
		}
	case string:
		if len(v) < 8 || !strings.Contains(v, " ") {
			return v
		}
		n := len(g.canaries)
		c := kinds[n%len(kinds)].make(r)
		g.canaries = append(g.canaries, c)
		if len(c.secret) >= piece+4 {
			g.needles.add(n, c)
		}
		e := encodings[(n+n/len(kinds))%len(encodings)]
		raw := e.encode(c.text)
		if e.raw == nil {
			raw = data.PlainJSON(raw)
		} else {
			raw = e.raw(raw)
		}
		at := r.IntN(len(v) + 1) // at the beginning, the end or within, so that forms cut it at any byte
		at -= len(v[:at]) - len(strings.ToValidUTF8(v[:at], ""))
		return json.RawMessage(`"` + data.PlainJSON(v[:at]) + " " + raw + " " + data.PlainJSON(v[at:]) + `"`)
	}
	return v
}

// found returns the canaries in an output, as their kinds and numbers.
func (g *garden) found(out []byte) (all []string) {
	for n := range g.needles.find(out) {
		all = append(all, fmt.Sprintf("%s (canary %d, %s)", g.canaries[n].kind, n, encodings[(n+n/len(secretKinds()))%len(encodings)].name))
	}
	slices.Sort(all)
	return all
}

// TestCanaries: no output and no file but the archive and resumed copies has a part of a canary; with redaction off, they do.
func TestCanaries(t *testing.T) {
	source := t.TempDir()
	env := []string{"HOME=" + source, "USERPROFILE=" + source}
	for agent, name := range map[string]string{
		gen.Claude: ".claude/projects/-src-ledger/beefcafe-0000-4000-8000-000000000000.jsonl",
		gen.Codex:  ".codex/sessions/2026/01/15/rollout-2026-01-15T10-00-00-c0de0000-0000-7000-8000-000000000000.jsonl",
	} {
		var b bytes.Buffer
		must(t, gen.Write(&b, agent, 7, int64(testkit.Cases(t, 10_000, 150_000))))
		path := filepath.Join(source, filepath.FromSlash(name))
		put(t, path, b.String())
	}
	put(t, filepath.Join(source, ".claude", "projects", "-src-ledger", "c0ffee00-0000-4000-8000-000000000000.jsonl"), string(read(t, filepath.Join("story", "compaction.jsonl"))))
	doneIn(t, env, "run", "--once", "-q")
	for agent, dir := range canaryAgents {
		must(t, os.MkdirAll(filepath.Join(source, filepath.FromSlash(dir)), 0o700))
		if agent != "claude" && agent != "codex" {
			doneIn(t, env, "resume", "--as", agent, "beefcafe")
		}
	}
	seeds := testkit.Cases(t, 1, 10)
	for seed := range seeds + 1 {
		off := seed == seeds
		g := plant(t, source, rand.New(rand.NewPCG(3, uint64(seed))))
		config := "[agents]\nreach = \"all\"\n"
		if off {
			config += "[redact]\nsecrets = false\n"
		}
		put(t, filepath.Join(g.home, "config.toml"), config)
		g.env = append(g.env, "CCD_CONFIG="+filepath.Join(g.home, "config.toml"))
		t.Logf("%d canaries in %d transcripts", len(g.canaries), len(g.planted))
		shown := 0
		for name, out := range g.outputs(t) {
			found := g.found(out)
			if len(found) > 0 {
				shown++
			}
			copied := strings.HasPrefix(name, "file ") && !g.planted[strings.TrimPrefix(name, "file ")] && strings.HasSuffix(name, ".jsonl")
			if len(found) > 0 && !off && !copied { // a resumed copy is the session itself
				t.Errorf("%s: %d canaries: %s", name, len(found), strings.Join(found[:min(len(found), 8)], ", "))
			}
		}
		if off && shown < 40 {
			t.Errorf("with redaction off, only %d outputs have a canary", shown)
		}
	}
}

// outputs returns what ccd prints and writes, by command or file.
func (g *garden) outputs(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	ask := func(in string, args ...string) []byte {
		r := asked(t.Context(), g.env, in, args...)
		all[fmt.Sprintf("ccd %s (exit %d)", strings.Join(args, " "), r.code)] = []byte(r.out + r.err)
		return []byte(r.out)
	}
	ask("", "run", "--once")
	var list []struct {
		ID string `json:"session"`
	}
	var rows struct {
		Sessions json.RawMessage `json:"sessions"`
	}
	data := ask("", "ls", "--all", "--json")
	if json.Unmarshal(data, &list) != nil && (json.Unmarshal(data, &rows) != nil || json.Unmarshal(rows.Sessions, &list) != nil) || len(list) < len(canaryAgents) || list[0].ID == "" {
		t.Fatalf("ls: %.500s", data)
	}
	for _, s := range list {
		ask("", "compact", s.ID)
		for name, one := range shownBy {
			if one.args == nil || !slices.Contains(one.args, "SESSION") && s != list[0] {
				continue
			}
			args := strings.Fields(name)
			for _, a := range one.args {
				args = append(args, strings.ReplaceAll(a, "SESSION", s.ID))
			}
			ask("", args...)
		}
		for n := 1; n < 40; n += 39 / testkit.Cases(t, 1, 13) {
			ask("", "agent", "restore", fmt.Sprintf("%s#%d", s.ID, n))
			ask("", "agent", "restore", "--raw", fmt.Sprintf("%s#%d", s.ID, n))
		}
		for _, to := range testkit.Sample(t, slices.Sorted(maps.Keys(canaryAgents)), 1) {
			ask("", "resume", "--as", to, "--max-tokens", "12000", s.ID)
		}
	}
	for path := range g.planted {
		agent := "claude-code"
		if strings.Contains(path, ".codex") {
			agent = "codex"
		}
		for _, source := range testkit.Sample(t, []string{"compact", "resume", "startup", "clear"}, 1) {
			id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
			event, _ := json.Marshal(map[string]any{"session_id": id[max(0, len(id)-36):], "transcript_path": path, "cwd": g.home, "source": source, "prompt": "go on with the export"})
			for _, name := range []string{"SessionStart", "PreCompact", "UserPromptSubmit", "SessionEnd"} {
				key := ask(string(event), "hook", name, "--agent", agent, "--within", "1m")
				all[fmt.Sprintf("hook %s %s %s", name, source, path)] = key
			}
		}
	}
	client := agentSession(t, g.env)
	for _, c := range []struct {
		tool string
		args map[string]any
	}{
		{"sessions", map[string]any{"all": true}},
		{"companion", map[string]any{"session": "beefcafe"}},
		{"timeline", map[string]any{"session": "beefcafe"}},
		{"search", map[string]any{"words": "the", "all": true}},
		{"diff", map[string]any{"session": "c0ffee00", "all": true}},
		{"restore", map[string]any{"id": "beefcafe#2"}},
		{"restore", map[string]any{"id": "beefcafe#3", "raw": true}},
	} {
		r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: c.args})
		must(t, err)
		data, _ := json.Marshal(r)
		all[fmt.Sprintf("mcp %s %v", c.tool, c.args)] = data
	}
	err := filepath.WalkDir(g.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || g.planted[path] || strings.HasPrefix(d.Name(), "archive.db") {
			return err
		}
		data, err := os.ReadFile(path)
		all["file "+path] = data
		return err
	})
	must(t, err)
	return all
}
