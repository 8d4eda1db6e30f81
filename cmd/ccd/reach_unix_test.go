//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/agent/claude"
	"ccd/internal/mark"
	"ccd/internal/words"
)

// projects is a home with sessions of two repositories: a, with worktrees and sub-agents, and b.
type projects struct {
	*testing.T
	home, src string
}

// The words in the sessions of a project. Each word is in one session only, and names where that session began.
var (
	ofA = []string{"alpha-main", "alpha-sub", "alpha-tree", "alpha-usual", "alpha-helper", "alpha-spilled"}
	ofB = []string{"bravo-main", "bravo-sub", "bravo-helper", "bravo-spilled"}
)

const (
	sessionA = "aaaaaaaa-0000-4000-8000-000000000001"
	sessionB = "bbbbbbbb-0000-4000-8000-000000000001"
	shared   = "the same words in both projects"
)

func newProjects(t *testing.T) projects {
	t.Helper()
	home := t.TempDir()
	p := projects{t, home, filepath.Join(home, "src")}
	p.write("a/.git/HEAD", "ref: refs/heads/main\n")
	p.write("b/.git/HEAD", "ref: refs/heads/main\n")
	for name, dir := range map[string]string{"tree": "a-feature", "gone": "elsewhere/removed"} { // as git worktree add writes them
		p.write("a/.git/worktrees/"+name+"/gitdir", p.at(dir)+"/.git\n")
		p.write("a/.git/worktrees/"+name+"/commondir", "../..\n")
	}
	p.write("a-feature/.git", "gitdir: "+p.at("a/.git/worktrees/tree")+"\n")
	for name, dir := range map[string]string{
		"aaaaaaaa-0000-4000-8000-000000000001 alpha-main": "a", "aaaaaaaa-0000-4000-8000-000000000002 alpha-sub": "a/sub/deep",
		"aaaaaaaa-0000-4000-8000-000000000003 alpha-tree": "a-feature", "aaaaaaaa-0000-4000-8000-000000000004 alpha-gone": "elsewhere/removed",
		"aaaaaaaa-0000-4000-8000-000000000005 alpha-usual": "a-worktrees/done",
		"bbbbbbbb-0000-4000-8000-000000000001 bravo-main":  "b", "bbbbbbbb-0000-4000-8000-000000000002 bravo-sub": "b/sub",
	} {
		id, word, _ := strings.Cut(name, " ")
		p.session(claude.Project(p.at(dir))+"/"+id+".jsonl", dir, word)
		if strings.HasSuffix(word, "-main") {
			word = strings.TrimSuffix(word, "-main")
			p.session(claude.Project(p.at(dir))+"/"+id+"/subagents/agent-"+word+".jsonl", map[string]string{"alpha": "other", "bravo": "a"}[word], word+"-helper") // where it works does not matter
			p.write("../.claude/projects/"+claude.Project(p.at(dir))+"/"+id+"/tool-results/x.txt", "it says "+word+"-spilled\n")
		}
	}
	p.mkdir("a/sub")
	p.mkdir("b/sub")
	if r := p.run("", "run", "--once", "-q"); r.code != 0 {
		t.Fatal(r)
	}
	return p
}

func (p projects) at(dir string) string { return filepath.Join(p.src, dir) }

func (p projects) mkdir(dir string) {
	p.Helper()
	must(p, os.MkdirAll(p.at(dir), 0o700))
}

func (p projects) write(name, text string) {
	p.Helper()
	p.mkdir(filepath.Dir(name))
	put(p, p.at(name), text)
}

// session writes a transcript that asks for a word and gets it in a result. One session then changes its directory.
func (p projects) session(name, dir, word string) {
	p.Helper()
	var text bytes.Buffer
	for i, message := range []string{
		`{"role":"user","content":"look for ` + word + `"}`,
		`{"id":"m","role":"assistant","model":"claude-demo","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"cat x"}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"result of ` + word + `"}]}`,
		`{"role":"user","content":"` + shared + `"}`,
	} {
		cwd := p.at(dir)
		if i == 3 && word == "bravo-sub" {
			cwd = p.at("a")
		}
		kind := map[bool]string{true: "assistant", false: "user"}[i == 1]
		fmt.Fprintf(&text, `{"type":%q,"uuid":"u%d","timestamp":"2026-01-15T10:00:0%d.000Z","cwd":%q,"message":%s}`+"\n", kind, i, i, cwd, message)
	}
	p.write("../.claude/projects/"+name, text.String())
}

func idOf(text string) string { return string(mark.Sum([]byte(`"` + text + `"`)).ID()) }

// TestForgedWorktrees: what a repository says of a directory that no longer exists gives an agent in it nothing.
func TestForgedWorktrees(t *testing.T) {
	t.Parallel()
	p := newProjects(t)
	p.mkdir("b/deep")
	for i, gone := range []string{p.at("elsewhere/removed/.git"), p.at("elsewhere/removed/x/../.git"), "../../../../elsewhere/removed/.git", p.at("elsewhere/.git"), p.at("a-worktrees/done/.git")} {
		dir := fmt.Sprintf("b/.git/worktrees/w%d", i)
		p.write(dir+"/gitdir", gone+"\n")
		p.write(dir+"/commondir", "../..\n")
		p.write(fmt.Sprintf("forged%d/.git", i), "gitdir: "+p.at(dir)+"\n") // a directory of its own for each
	}
	for _, dir := range []string{"b", "b/deep", "forged0", "forged2"} {
		for _, word := range []string{"alpha-gone", "alpha-usual"} {
			if r := p.run(dir, "agent", "search", "--all", word); r.code == 0 || strings.Contains(r.out, word) {
				t.Errorf("an agent in %s finds %s: %+v", dir, word, r)
			}
		}
		if text, _ := p.call(dir, "search", map[string]any{"words": "alpha-gone", "query": "alpha-gone"}); strings.Contains(text, "result of alpha-gone") {
			t.Errorf("the tool in %s finds alpha-gone: %s", dir, text)
		}
	}
}

// run runs ccd in a directory below src.
func (p projects) run(dir string, args ...string) ended {
	p.Helper()
	return p.feed(dir, "", args...)
}

func (p projects) feed(dir, stdin string, args ...string) ended {
	p.Helper()
	return ccdAt(p.T, p.home, p.at(dir), stdin, nil, args...)
}

// call calls a tool of `ccd mcp` started in dir, by a client that announces a root.
func (p projects) call(dir, tool string, args map[string]any) (text string, failed bool) {
	p.Helper()
	in, err := json.Marshal(args)
	must(p, err)
	r := p.feed(dir, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"x","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`+"\n"+
		fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, in)+"\n", "mcp")
	if r.code != 0 || !strings.Contains(r.out, `"id":2`) {
		p.Fatalf("ccd mcp: %+v", r)
	}
	return r.out, strings.Contains(r.out, `"isError":true`)
}

// leaks fails if text has anything of project b, except what was asked for.
func (p projects) leaks(what, text, asked string) {
	p.Helper()
	for _, secret := range []string{"bravo", "bbbbbbbb-0000", p.at("b"), claude.Project(p.at("b"))} {
		if strings.Contains(strings.ReplaceAll(text, asked, ""), secret) {
			p.Errorf("%s says %q:\n%s", what, secret, text)
		}
	}
}

// probes are all ways to ask for one session of b.
func (p projects) probes() [][]string {
	file := p.at("../.claude/projects/" + claude.Project(p.at("b")) + "/" + sessionB + ".jsonl")
	link := p.at("link.jsonl")
	must(p, os.Symlink(file, link))
	return [][]string{
		{"restore", idOf("result of bravo-main")},
		{"restore", idOf("result of bravo-main")[:8]},
		{"restore", idOf("result of bravo-helper")},
		{"restore", "[ccd " + idOf("result of bravo-main") + " result]"},
		{"restore", "--raw", idOf("look for bravo-sub")},
		{"restore", sessionB + "#1"},
		{"restore", "bbbbbbbb-0000-4000-8000-000000000002#3"},
		{"restore", file + "#1"},
		{"restore", string(mark.Sum([]byte("it says bravo-spilled\n")).ID())},
		{"show", sessionB},
		{"show", "bbbbbbbb-0000-4000-8000-000000000002"},
		{"show", file},
		{"show", "../../.claude/projects/" + claude.Project(p.at("b")) + "/" + sessionB + ".jsonl"},
		{"show", "latest:" + p.at("b")},
		{"show", "latest:../b"},
		{"show", "agent-bravo"},
		{"search", "bravo"},
		{"search", "--all", "bravo"},
		{"search", "--session", sessionB, "look"},
		{"search", "--session", file, "--all", "look"},
	}
}

// TestAgentsReachOneProject: from any directory of project a, commands for agents and the MCP server show all of a and
// nothing of b. The controls: from b they show all of b, and a person's commands show both.
func TestAgentsReachOneProject(t *testing.T) {
	p := newProjects(t)
	must(t, os.Symlink(p.at("a"), p.at("link")))
	for dir, own := range map[string][]string{"a": ofA, "a/sub": ofA, "a-feature": ofA, "link": ofA, "b/../a": ofA, "b": ofB, "b/sub": ofB} {
		for _, word := range slices.Concat(ofA, ofB) {
			want := words.ExitNotFound
			if slices.Contains(own, word) {
				want = words.ExitDone
			}
			id := idOf("result of " + word)
			if strings.HasSuffix(word, "spilled") {
				id = string(mark.Sum([]byte("it says " + word + "\n")).ID())
			}
			if r := p.run(dir, "agent", "restore", id); r.code != want || want == words.ExitDone && !strings.Contains(r.out, word) {
				t.Errorf("from %s, agent restore of %s: %+v", dir, word, r)
			}
		}
		r := p.run(dir, "agent", "search", "--all", "--limit", "0", "-")
		if text, _ := p.call(dir, "search", map[string]any{"words": "-", "all": true}); r.code != 0 || strings.Count(r.out, "result of ") != len(own)-1 {
			t.Errorf("from %s, agent search finds: %+v", dir, r)
		} else if strings.Count(text, "result of ") != len(own)-1 {
			t.Errorf("from %s, the tool search finds: %s", dir, text)
		}
		if r := p.run(dir, "agent", "show"); r.code != 0 || !strings.Contains(r.out, own[0][:5]) {
			t.Errorf("from %s, agent show: %+v", dir, r)
		}
		if r := p.run(dir, "agent", "restore", idOf(shared)); r.code != 0 || r.out != shared {
			t.Errorf("from %s, what stands in both projects: %+v", dir, r)
		}
	}
	for _, word := range ofA[:5] { // control
		if r := p.run("a", "restore", idOf("result of "+word)); r.code != 0 || r.out != "result of "+word {
			t.Errorf("restore for a person: %+v", r)
		}
	}
}

// TestAgentsAreRefused: nothing of another project is shown, however it is named, until the user widens the reach.
func TestAgentsAreRefused(t *testing.T) {
	p := newProjects(t)
	probes := p.probes()
	for _, probe := range probes {
		asked, _, _ := strings.Cut(probe[len(probe)-1], "#")
		if probe[0] == "search" && len(probe) > 3 {
			asked = probe[2]
		}
		r := p.run("a", append([]string{"agent"}, probe...)...)
		want := "\nhint: " + reader.Widen + "\n"
		if probe[0] == "search" && asked == "bravo" { // a search for words names no project
			want = "\n"
		}
		if r.code != words.ExitNotFound || r.out != "" || !strings.Contains(r.err, " not found in this project's sessions") || !strings.Contains(r.err, want) {
			t.Errorf("%q: %+v", probe, r)
		}
		p.leaks(fmt.Sprint(probe), r.err, asked)
		if r := p.run("a", probe...); r.code != 0 { // control
			t.Errorf("a person's %q: %+v", probe, r)
		}
	}
	if there, absent := p.run("a", "agent", "restore", idOf("result of bravo-main")), p.run("a", "agent", "restore", "zzzzzzzzzzzz"); strings.ReplaceAll(there.err, idOf("result of bravo-main"), "zzzzzzzzzzzz") != absent.err {
		t.Errorf("that it is there is told: %q, %q", there.err, absent.err)
	}
	p.toolsRefuse(true)
	p.reach("all")
	for _, probe := range probes {
		if r := p.run("a", append([]string{"agent"}, probe...)...); r.code != 0 {
			t.Errorf("widened, %q: %+v", probe, r)
		}
	}
	p.toolsRefuse(false)
	if r := p.run("a", "agents", "status", "codex"); !strings.Contains(r.out, "the sessions of all projects") {
		t.Errorf("status: %+v", r)
	}
	p.reach("project")
	p.toolsRefuse(true)
}

// reach sets agents.reach in the configuration.
func (p projects) reach(to string) {
	p.Helper()
	put(p.T, filepath.Join(p.home, ".config", "ccd", "config.toml"), "[agents]\nreach = \""+to+"\"\n")
}

// toolsRefuse asks each tool of a server in a for a session of b.
func (p projects) toolsRefuse(want bool) {
	p.Helper()
	for tool, args := range map[string]map[string]any{
		"companion": {"session": sessionB}, "timeline": {"session": "bbbbbbbb-0000-4000-8000-000000000002"}, "search": {"words": "bravo", "all": true},
		"restore": {"id": idOf("result of bravo-main")}, "restore ": {"id": sessionB + "#1"},
		"sessions": {"project": p.at("b"), "all": true},
	} {
		text, failed := p.call("a", strings.TrimSpace(tool), args)
		if tool == "sessions" {
			failed = !strings.Contains(text, sessionB)
		}
		if failed != want {
			p.Errorf("the tool %s with %v: %s", tool, args, text)
		}
		if want {
			asked, _, _ := strings.Cut(fmt.Sprint(args["session"], args["id"]), "#")
			p.leaks(tool, text, strings.ReplaceAll(asked, "<nil>", ""))
		}
	}
	if text, _ := p.call("a", "diff", map[string]any{"session": sessionB}); strings.Contains(text, "find session") != want {
		p.Errorf("the tool diff: %s", text)
	}
	if text, _ := p.call("a", "companion", nil); !strings.Contains(text, "look for alpha") {
		p.Errorf("the tool companion does not take a session of its own project: %s", text)
	}
}

// TestNoProjectClaimsAnother: a file that points to another repository does not join it, and a directory with a similar
// name does not either.
func TestNoProjectClaimsAnother(t *testing.T) {
	p := newProjects(t)
	p.write("a/claim/.git", "gitdir: "+p.at("b/.git")+"\n")
	p.write("a/copy/.git", "gitdir: "+p.at("a/copy/g")+"\n")
	p.write("a/copy/g/commondir", p.at("b/.git")+"\n")
	p.write("a/copy/g/gitdir", p.at("a/copy/.git")+"\n")
	p.write("a/tree/.git", "gitdir: "+p.at("b/.git/worktrees/x")+"\n")
	p.write("b/.git/worktrees/x/gitdir", p.at("b-x/.git")+"\n")
	p.mkdir("a/dot")
	p.mkdir("bb")
	must(t, os.Symlink(p.at("b/.git"), p.at("a/dot/.git")))
	for _, dir := range []string{"a/claim", "a/copy", "a/tree", "a/dot", "bb", ""} {
		r := p.run(dir, "agent", "search", "--all", "bravo")
		if want := dir == ""; (r.code == 0) != want { // src is no repository, so its project includes b
			t.Errorf("from %q: %+v", dir, r)
		}
	}
	if r := p.run("..", "agent", "search", "--all", "bravo"); r.code != words.ExitNotFound {
		t.Errorf("from the home directory: %+v", r)
	}
	if r := ccdAt(t, p.home, p.at("a"), "", []string{"CLAUDE_CODE_SESSION_ID=" + sessionB}, "agent", "show", sessionB); r.code == 0 || strings.Contains(r.out, "bravo") {
		t.Errorf("a variable opens another project: %+v", r)
	}
	const moved = "bbbbbbbb-0000-4000-8000-000000000002" // its agent works in a now
	if r := ccdAt(t, p.home, p.at("a"), "", []string{"CLAUDE_CODE_SESSION_ID=" + moved}, "agent", "show", moved); r.code != 0 || !strings.Contains(r.out, "bravo") {
		t.Errorf("the session that runs the command: %+v", r)
	}
}

// twins are directories whose transcripts Claude Code keeps in one directory, as their encoded names are the same.
var twins = [][2]string{{"my_project", "my-project"}, {"a.b", "a-b"}, {"\u043a\u043e\u0442", "\u043a\u0438\u0442"}, {"par/ent", "par-ent"}}

// Of two projects with one encoded name, no door opens the other's sessions: the hook at a start, the commands and tools of an agent,
// latest, nor a variable with the session's ID. The control: each door opens the own ones.
func TestTwinsStayApart(t *testing.T) {
	t.Parallel()
	for i, pair := range twins {
		home := t.TempDir()
		p := projects{t, home, filepath.Join(home, "src")}
		configure(t, home, "[trigger]\nthreshold = 1\nmin_savings = 0\n")
		id := func(n int) string { return fmt.Sprintf("%d%07d-0000-4000-8000-00000000000%d", i, 0, n) }
		if claude.Project(p.at(pair[0])) != claude.Project(p.at(pair[1])) {
			t.Fatalf("%v are no twins", pair)
		}
		for n, dir := range pair {
			p.mkdir(dir)
			p.session(claude.Project(p.at(dir))+"/"+id(n)+".jsonl", dir, fmt.Sprintf("twin-%d", n))
		}
		if r := p.run("", "run", "--once", "-q"); r.code != 0 {
			t.Fatal(r)
		}
		for n, dir := range pair {
			own, other := fmt.Sprintf("twin-%d", n), fmt.Sprintf("twin-%d", 1-n)
			start, err := json.Marshal(map[string]string{
				"session_id": id(7), "cwd": p.at(dir), "source": "startup", "hook_event_name": "SessionStart",
				"transcript_path": p.at("../.claude/projects/" + claude.Project(p.at(dir)) + "/" + id(7) + ".jsonl"),
			})
			must(t, err)
			doors := map[string]func(of int) string{
				"hook": func(int) string {
					return p.feed(dir, string(start), "hook", "SessionStart", "--agent", "claude-code", "--within", "1m").out
				},
				"search":      func(int) string { return p.run(dir, "agent", "search", "--all", "result").out },
				"show":        func(of int) string { return p.run(dir, "agent", "show", id(of)).out },
				"show latest": func(int) string { return p.run(dir, "agent", "show", "latest").out },
				"show, with its ID in the variable": func(of int) string {
					return ccdAt(t, home, p.at(dir), "", []string{"CLAUDE_CODE_SESSION_ID=" + id(of)}, "agent", "show", id(of)).out
				},
				"restore":   func(of int) string { return p.run(dir, "agent", "restore", id(of)+"#1").out },
				"here":      func(int) string { return p.run(dir, "show").out },
				"latest:":   func(int) string { return p.run(dir, "show", "latest:"+p.at(dir)).out },
				"resume":    func(int) string { return p.run(dir, "resume", "--dry-run", "--json").out },
				"companion": func(int) string { text, _ := p.call(dir, "companion", nil); return text },
				"tool": func(of int) string {
					text, _ := p.call(dir, "companion", map[string]any{"session": id(of)})
					return text
				},
			}
			for what, open := range doors {
				names := func(text string, m int) bool {
					return strings.Contains(text, fmt.Sprintf("twin-%d", m)) || strings.Contains(text, id(m))
				}
				if text := open(n); !names(text, n) {
					t.Errorf("%s in %s does not open %s: %s", what, dir, own, text)
				}
				if text := strings.ReplaceAll(open(1-n), "find session "+id(1-n), ""); names(text, 1-n) {
					t.Errorf("%s in %s opens %s: %s", what, dir, other, text)
				}
			}
		}
	}
}

// TestAgentReachesNoOtherMachine: an agent gets nothing of a pulled machine, also not of sessions that began at its project's
// path there. After `ccd resume --machine` it gets what that copy names, in the copy's project.
func TestAgentReachesNoOtherMachine(t *testing.T) {
	const given, kept, machine = "dddddddd-0000-4000-8000-000000000001", "eeeeeeee-0000-4000-8000-000000000001", "7910cdc8eef213e7cce88714a108d0b5"
	here, desk := newProjects(t), newProjects(t)
	inA, err := filepath.Rel(desk.src, here.at("a"))
	must(t, err)
	words := map[string]string{given: "delta " + strings.Repeat("d e l t a ", 9000), kept: "echo " + strings.Repeat("e c h o ", 9000)}
	for id, word := range words {
		desk.session(claude.Project(here.at("a"))+"/"+id+".jsonl", inA, word)
	}
	if r := desk.run("", "run", "--once", "-q"); r.code != 0 {
		t.Fatal(r)
	}
	b := read(t, filepath.Join(desk.home, ".local/state/ccd/archive.db"))
	here.write("../.local/state/ccd/remote/machines/"+machine+".db", string(b))
	here.write("../.local/state/ccd/remote/machines/"+machine+".json", `{"label":"desk","pulled":"2026-01-02T03:04:05Z"}`)
	result := func(id string) string { return "result of " + words[id] }
	nothing := func(dir, id string) {
		t.Helper()
		for _, args := range [][]string{
			{"restore", idOf(result(id))}, {"restore", id + "#3"}, {"show", id}, {"search", "--all", words[id][:5]},
		} {
			if r := here.run(dir, append([]string{"agent"}, args...)...); r.code != 3 || strings.Contains(r.err, "desk") {
				t.Errorf("%s: ccd agent %.80s: %d %.300s%s", dir, args, r.code, r.out, r.err)
			}
		}
		for tool, args := range map[string]map[string]any{"restore": {"id": idOf(result(id))}, "companion": {"session": id}, "timeline": {"session": id}} {
			if text, failed := here.call(dir, tool, args); !failed || strings.Contains(text, "desk") {
				t.Errorf("%s: tool %s: %.300s", dir, tool, text)
			}
		}
		if text, _ := here.call(dir, "sessions", map[string]any{}); strings.Contains(text, id) {
			t.Errorf("%s: tool sessions: %s", dir, text)
		}
	}
	nothing("a", given)
	nothing("a", kept)
	if r := here.run("a", "restore", idOf(result(kept))); r.code != 0 || r.out != result(kept) {
		t.Errorf("the control: a person: %d %s", r.code, r.err)
	}

	if r := here.run("a", "resume", "--machine", "desk", "--max-tokens", "4000", given); r.code != 0 {
		t.Fatal(r)
	}
	if r := here.run("", "run", "--once", "-q"); r.code != 0 {
		t.Fatal(r)
	}
	if r := here.run("a", "agent", "restore", idOf(result(given))); r.code != 0 || r.out != result(given) {
		t.Errorf("an ID of the copy: %d %.300s%s", r.code, r.out, r.err)
	}
	if text, failed := here.call("a", "restore", map[string]any{"id": idOf(result(given))}); failed || !strings.Contains(text, result(given)[:1000]) {
		t.Errorf("an ID of the copy, by a tool: %.300s", text)
	}
	nothing("a", kept)
	nothing("b", given)
	nothing("b", kept)
}

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

// TestAgentsNameNoFile: each command line that a person may have an agent run without asking rejects flags that name a file,
// before reading any.
func TestAgentsNameNoFile(t *testing.T) {
	t.Parallel()
	p := newProjects(t)
	secret := p.at("secret.toml")
	p.write("secret.toml", "key = "+canary+"\n")
	for name, asked := range map[string]string{"restore": idOf("result of alpha-main"), "search": "alpha", "show": sessionA} {
		args := []string{"agent", name}
		if r := p.run("a", append(args, asked)...); r.code != 0 { // control
			t.Errorf("%s: %+v", name, r)
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
			for _, given := range [][]string{slices.Concat(args, []string{asked}, flags), slices.Concat(args, flags, []string{asked}), slices.Concat(flags, args, []string{asked})} {
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
