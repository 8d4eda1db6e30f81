//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/agent/claude"
)

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
