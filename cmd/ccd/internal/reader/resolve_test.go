package reader

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/daemon"
	"ccd/internal/transcript"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func candidate(agent, id, path, cwd string, class transcript.Class, age time.Duration) *Entry {
	one := transcript.Session{Key: transcript.Key{Agent: agent, ID: id}, Class: class, Path: filepath.FromSlash(path), Root: "/h"}
	var kept daemon.State
	kept.Ask, kept.Cwd, kept.Last = "mill", cwd, noon.Add(-age)
	return &Entry{Session: archive.Session{Session: one}, Kept: kept}
}

func candidates() []*Entry {
	return []*Entry{
		candidate("claude-code", "aaaa1111", "/h/p/aaaa1111.jsonl", "/src/ledger", transcript.Main, time.Hour),
		candidate("claude-code", "aaaa2222", "/h/p/aaaa2222.jsonl", "/src/mill", transcript.Main, 2*time.Hour),
		candidate("claude-code", "agent-77", "/h/p/aaaa1111/subagents/agent-77.jsonl", "/src/ledger", transcript.SubAgent, time.Minute),
		candidate("claude-code", "aaaa1111/tool-results/x.txt", "/h/p/aaaa1111/tool-results/x.txt", "", transcript.Attachment, time.Minute),
		candidate("codex", "bbbb3333", "/h/s/rollout-1-bbbb3333.jsonl.zst", "/src/ledger-two", transcript.Main, 3*time.Hour),
		candidate("codex", "aaaa2222", "/h/s/rollout-1-aaaa2222.jsonl", "/src/other", transcript.Main, 30*time.Hour),
	}
}

func libraryOf(all []*Entry, callers ...string) *Library {
	slices.SortFunc(all, func(a, b *Entry) int { return b.Last().Compare(a.Last()) })
	return &Library{Place: &account.Place{Env: account.Env{Dir: filepath.FromSlash("/h")}, Archive: &archive.Archive{}}, Sessions: all, callers: callers}
}

// TestShort: a short name is as much of it as begins no other, which Find then finds; of two agents, with the agent.
func TestShort(t *testing.T) {
	want := map[string]string{
		"0199b261-401d-75c1-af9e-a44a18e60d0a":                                  "0199b261",
		"6f7de846-1612-418c-8235-386f4eba829e":                                  "6f7de846-1612-418c-8",
		"6f7de846-1612-418c-9235-386f4eba829e":                                  "6f7de846-1612-418c-9",
		"-work-app/entire-60-fd31fcf44f-0":                                      "entire-6",
		"-p/notes":                                                              "notes",
		"notes-of-a-long-name":                                                  "notes-of",
		"session-2026-02-03T04-05-5b4a3c2d":                                     "5b4a3c2d",
		"session-2026-02-03T17-00-00-gemini_s":                                  "gemini_s",
		"mill/chats/session-2026-02-03T04-05-f7633853.json":                     "f7633853",
		"session-2026-02-04T14-05-6b4a3c2d":                                     "session-2026-02-04",
		"session-2026-02-05T14-05-6b4a3c2d":                                     "session-2026-02-05",
		"mill/chats/session.json":                                               "mill/chats/session.",
		"loom/chats/session.json":                                               "loom/cha",
		"2025/08/21/x-2025-10-04T22-19-01-0299b261-401d-75c1-af9e-a44a18e60d0b": "0299b261",
	}
	var all []*Entry
	for id := range want {
		all = append(all, candidate("codex", id, "/h/p/"+id, "", transcript.Main, time.Hour))
	}
	all = append(all, candidate("claude-code", "0199b261-401d-75c1-af9e-a44a18e60d0a", "/h/q/0199b261.jsonl", "", transcript.Main, time.Hour))
	l := libraryOf(all)
	l.shorten()
	for _, e := range all {
		if got := e.Short(); got != want[e.ID] {
			t.Errorf("%s: %q, want %q", e.ID, got, want[e.ID])
		}
		if found, err := l.Find(e.Short(), e.Agent); found != e {
			t.Errorf("%s is not found: %v", e.Short(), err)
		}
	}
}

func TestResolve(t *testing.T) {
	made := candidate("claude-code", "cccc4444", "/h/p/cccc4444.jsonl", "/src/ledger", transcript.Main, time.Second)
	made.Kept.UnknownFormat = true
	all := append(candidates(), made,
		candidate("claude-code", "-src/notes-one", "/h/p/-src/notes-one.jsonl", "/src/notes", transcript.Main, 50*time.Hour))
	tests := []struct {
		name, arg, agent string
		want             string // session ID, or "none" or "several"
	}{
		{"id", "aaaa1111", "", "aaaa1111"},
		{"prefix", "bb", "", "bbbb3333"},
		{"a part that is no prefix", "otes", "", "none"},
		{"prefix of two", "aaaa", "", "several"},
		{"the same id of two agents", "aaaa2222", "", "several"},
		{"told apart by agent", "aaaa2222", "codex", "aaaa2222"},
		{"prefix within an agent", "aaaa", "codex", "aaaa2222"},
		{"attachment by its whole id", "aaaa1111/tool-results/x.txt", "", "aaaa1111/tool-results/x.txt"},
		{"never an attachment by prefix", "aaaa1111/tool", "", "none"},
		{"sub-agent", "agent-", "", "agent-77"},
		{"path", "/h/p/aaaa2222.jsonl", "", "aaaa2222"},
		{"path, not clean", "/h/./p//aaaa2222.jsonl", "", "aaaa2222"},
		{"relative path", "p/aaaa2222.jsonl", "", "aaaa2222"},
		{"packed by its plain name", "/h/s/rollout-1-bbbb3333.jsonl", "", "bbbb3333"},
		{"latest: no sub-agent, none of ours", "latest", "", "aaaa1111"},
		{"latest of an agent", "latest", "codex", "bbbb3333"},
		{"latest of a project", "latest:/src/mill", "", "aaaa2222"},
		{"latest of a project, not of its namesake", "latest:/src/ledger", "codex", "none"},
		{"latest of a directory above", "latest:/src", "", "aaaa1111"},
		{"the name of a file whose id is its path", "notes", "", "-src/notes-one"},
		{"the end of an id", "otes-one", "", "none"},
		{"the end of another id", "aaa1111", "", "none"},
		{"empty", "", "", "none"},
		{"unknown", "zzzz", "", "none"},
		{"unknown path", "/nowhere/a.jsonl", "", "none"},
	}
	l := libraryOf(all)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := l.Find(tt.arg, tt.agent)
			var several *AmbiguousError
			got := ""
			switch {
			case errors.As(err, &several):
				got = "several"
			case errors.Is(err, archive.ErrNotFound):
				got = "none"
			case err != nil:
				t.Fatal(err)
			default:
				got = e.ID
			}
			if got != tt.want {
				t.Errorf("Find(%q) = %q, %v; want %q", tt.arg, got, err, tt.want)
			}
		})
	}
}

func TestResolveLatestIsThatOfWhoAsks(t *testing.T) {
	all := []*Entry{
		candidate("claude-code", "aaaa1111", "/h/p/aaaa1111.jsonl", "/src", transcript.Main, 0),
		candidate("claude-code", "aaaa2222", "/h/p/aaaa2222.jsonl", "/src", transcript.Main, time.Minute),
		candidate("claude-code", "aaaa3333", "/h/p/aaaa3333.jsonl", "/src", transcript.Main, time.Hour),
	}
	for caller, want := range map[string]string{"aaaa2222": "aaaa2222", "aaaa3333": "aaaa3333", "other": "aaaa1111"} {
		got, err := libraryOf(slices.Clone(all), "x", caller).Find("latest", "")
		if err != nil || got.ID != want {
			t.Errorf("%s asks: %v, %v", caller, got, err)
		}
	}
}

// TestLatestIsTheNewest: that several sessions are active is no reason to fail.
func TestLatestIsTheNewest(t *testing.T) {
	all := candidates()
	all[0].Kept.Last, all[1].Kept.Last = noon.Add(-9*time.Minute), noon.Add(-time.Minute)
	l := libraryOf(all)
	got, err := l.Find("latest", "")
	if err != nil || got.ID != "aaaa2222" {
		t.Errorf("got %v, %v", got, err)
	}
	found := slices.Collect(l.Latest("", ""))
	if len(found) != 4 || found[0].ID != "aaaa2222" || found[1].ID != "aaaa1111" {
		t.Errorf("not the main sessions, newest first: %v", found)
	}
}
