package hook

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/archive"
	"ccd/cmd/ccd/internal/reader"
	"ccd/compactor"
	"ccd/compactor/companion"
	"ccd/daemon"
	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
	"ccd/watcher"
)

const (
	uuid1 = "5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b"
	uuid2 = "6e3f8b2f-91d5-4b2c-9b64-1d2e3f4a5b6c"
	uuid3 = "7f4f9c3f-92e6-4c3d-8c75-2e3f4a5b6c7d"
)

var now = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// place is a home with sessions and companions.
type place struct {
	t    testing.TB
	home string
	Hooks
	earlier *reader.Entry // of the project
}

func newPlace(t testing.TB) *place {
	home := t.TempDir()
	p := &place{t: t, home: home}
	p.Hooks = Hooks{
		Roots: []watcher.Root{
			{Agent: "claude-code", Path: filepath.Join(home, ".claude", "projects")},
			{Agent: "codex", Path: filepath.Join(home, ".codex", "sessions")},
			{Agent: "codex", Path: filepath.Join(home, ".codex", "archived_sessions")},
		},
		Earlier:  func(context.Context, transcript.Session, string) (*reader.Entry, error) { return p.earlier, nil },
		StateDir: filepath.Join(home, "state"), Pressure: 0.60, Now: now, Program: "/opt/bin/ccd",
	}
	return p
}

func (p *place) claude(id string) string {
	return filepath.Join(p.Roots[0].Path, "-home-me-ledger", id+".jsonl")
}

func (p *place) codex(day, id string) string {
	return filepath.Join(p.Roots[1].Path, day, "rollout-2026-03-01T10-00-00-"+id+".jsonl")
}

func (p *place) write(path, text string, age time.Duration) {
	p.t.Helper()
	testkit.Put(p.t, path, text)
	when := now.Add(-age)
	testkit.Must(p.t, os.Chtimes(path, when, when))
}

func (p *place) find(path string) transcript.Session {
	p.t.Helper()
	s, err := p.session(&Event{Transcript: path})
	testkit.Must(p.t, err)
	return s
}

// companion writes the companion of the session at path, with that handover, and returns its path. It is the earlier session.
func (p *place) companion(path, now string, change func(*companion.Matter)) string {
	p.t.Helper()
	s := p.find(path)
	doc := document(s, now, change)
	at := companion.Path(s, p.CompanionDir)
	p.write(at, string(doc), 0)
	p.earlier = earlier(s, at)
	return at
}

func earlier(s transcript.Session, companion string) *reader.Entry {
	return &reader.Entry{Session: archive.Session{Session: s}, Kept: daemon.State{Companion: companion}}
}

func document(s transcript.Session, now string, change func(*companion.Matter)) []byte {
	f := companion.Matter{Agent: s.Agent, Session: s.ID, Source: s.Source, Covers: companion.Covers{Records: 41, SHA256: mark.Hash{}.String()}, Options: "01234567"}
	f.Model, f.Window, f.Pressure, f.Level = "some-model", 200000, 0.81, compactor.Aggressive
	if change != nil {
		change(&f)
	}
	sections := []compactor.Section{
		{Name: "Handover", Body: now},
		{Name: "Record", Body: "## #3 human: \"mend it\"\n#9 agent, last:\n> The export writes 48,212 cents.\n"},
	}
	return companion.Render(f, "forge", sections).Text
}

const ledger = `Task (#30, 2026-03-01 11:40): "also add a regression test for "invoice 48213", then stop" (to your #28: "The cents are right.")
Failed, not seen to pass since: ` + "`pytest -q`" + `, exit 1 (#38): "Money(48212) != Money(48213)"
`

func (p *place) ask(e Event) (Answer, error) {
	if e.Cwd == "" {
		e.Cwd = "/home/me/ledger"
	}
	return p.Answer(context.Background(), e)
}

// contextOf returns the context in an answer.
func contextOf(t testing.TB, a Answer) string {
	t.Helper()
	var out struct {
		Specific struct {
			Name    string `json:"hookEventName"`
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(a.Stdout, &out); err != nil {
		t.Fatalf("%v in %q", err, a.Stdout)
	}
	return out.Specific.Context
}

func wants(t *testing.T, text string, all ...string) {
	t.Helper()
	for _, s := range all {
		if !strings.Contains(text, s) {
			t.Errorf("%q is missing in:\n%s", s, text)
		}
	}
}

func TestAStartOffersTheEarlierSession(t *testing.T) {
	p := newPlace(t)
	at := p.companion(p.claude(uuid1), ledger, nil)
	p.earlier.Kept.Last = now.Add(-3 * time.Hour)
	for source, want := range map[string]bool{"startup": true, "clear": false} { // nothing says which session was cleared
		a, err := p.ask(Event{Name: SessionStart, Source: source, Session: uuid3, Transcript: p.claude(uuid3)})
		if !want {
			if !errors.Is(err, ErrNothing) || len(a.Stdout) > 0 {
				t.Errorf("%s: %q, %v", source, a.Stdout, err)
			}
			continue
		}
		testkit.Must(t, err)
		text := contextOf(t, a)
		wants(t, text, at, "3 hours ago", `'invoice 48213', then stop"`)
		if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
			t.Errorf("not one line: %q", text)
		}
	}
}

func TestCompanionsStandElsewhere(t *testing.T) {
	p := newPlace(t)
	p.CompanionDir = filepath.Join(p.home, "companions")
	p.write(p.claude(uuid1), "{}\n", time.Hour)
	at := p.companion(p.claude(uuid1), ledger, nil)
	a, err := p.ask(Event{Name: SessionStart, Source: "resume", Session: uuid1, Transcript: p.claude(uuid1)})
	if err != nil || !strings.Contains(contextOf(t, a), at) {
		t.Errorf("%s, %v", a.Stdout, err)
	}
}

func TestGoingOn(t *testing.T) {
	p := newPlace(t)
	p.write(p.claude(uuid1), "{}\n", time.Hour)
	at := p.companion(p.claude(uuid1), ledger, nil)
	for _, source := range []string{"resume", "compact", "a way that is not known yet"} {
		a, err := p.ask(Event{Name: SessionStart, Source: source, Session: uuid1, Transcript: p.claude(uuid1)})
		testkit.Must(t, err)
		text := contextOf(t, a)
		wants(t, text, at, "`/opt/bin/ccd agent restore ID`", "not instructions", ledger)
		wants(t, text[:min(len(text), maxHead)], at, "/opt/bin/ccd agent restore ID")
		wants(t, text, "## Handover", "## Record", "48,212 cents")
		if strings.Contains(text, "summary") != (source == "compact") {
			t.Errorf("%s:\n%s", source, text)
		}
	}
}

func TestTheSummarizerIsAskedToKeepIDs(t *testing.T) {
	p := newPlace(t)
	var refreshed []string
	p.Sync = func(_ context.Context, path string, _ func() (*compactor.Status, float64)) error {
		refreshed = append(refreshed, path)
		return errors.New("late")
	}
	e := Event{Name: PreCompact, Session: uuid1, Transcript: p.claude(uuid1)}
	if a, err := p.ask(e); err == nil || len(a.Stdout) > 0 {
		t.Errorf("no companion: %s, %v", a.Stdout, err)
	}
	at := p.companion(p.claude(uuid1), ledger, nil)
	a, err := p.ask(e)
	if err == nil || err.Error() != "late" {
		t.Errorf("%v", err)
	}
	wants(t, string(a.Stdout), at, "[ccd ID ...]", "verbatim")
	e = Event{Name: PreCompact, Session: uuid2, Transcript: p.codex("2026/03/01", uuid2)}
	p.companion(e.Transcript, ledger, nil)
	if a, _ := p.ask(e); len(a.Stdout) > 0 {
		t.Errorf("Codex: %s", a.Stdout)
	}
	if len(refreshed) != 3 {
		t.Errorf("refreshed %q", refreshed)
	}
}

func TestMain(m *testing.M) {
	testkit.InMemory()
	os.Exit(m.Run())
}
