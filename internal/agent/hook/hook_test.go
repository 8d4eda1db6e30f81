package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"ccd/compactor"
	"ccd/internal/sidecar"
	"ccd/internal/transcript"
)

const (
	uuid1 = "5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b"
	uuid2 = "6e3f8b2f-91d5-4b2c-9b64-1d2e3f4a5b6c"
	uuid3 = "7f4f9c3f-92e6-4c3d-8c75-2e3f4a5b6c7d"
)

var now = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// place is a home directory with sessions and companions.
type place struct {
	t    testing.TB
	home string
	Hooks
}

func newPlace(t testing.TB) *place {
	home := t.TempDir()
	p := &place{t: t, home: home}
	p.Hooks = Hooks{
		Roots: map[string][]string{
			"claude-code": {filepath.Join(home, ".claude", "projects")},
			"codex":       {filepath.Join(home, ".codex", "sessions"), filepath.Join(home, ".codex", "archived_sessions")},
		},
		StateDir: filepath.Join(home, "state"), Pressure: 0.60, Now: now, Program: "/opt/bin/ccd",
	}
	return p
}

func (p *place) claude(id string) string {
	return filepath.Join(p.Roots["claude-code"][0], "-home-me-ledger", id+".jsonl")
}

func (p *place) codex(day, id string) string {
	return filepath.Join(p.Roots["codex"][0], day, "rollout-2026-03-01T10-00-00-"+id+".jsonl")
}

func (p *place) write(path, text string, age time.Duration) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	when := now.Add(-age)
	if err := os.Chtimes(path, when, when); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) find(path string) transcript.Session {
	p.t.Helper()
	s, err := p.session(&Event{Transcript: path})
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// companion writes the companion of the session at path, and returns where it stands.
func (p *place) companion(path, state string, change func(*sidecar.Front)) string {
	p.t.Helper()
	s := p.find(path)
	doc := document(s, state, change)
	at := sidecar.Path(s, p.CompanionDir)
	p.write(at, string(doc), 0)
	return at
}

func document(s transcript.Session, state string, change func(*sidecar.Front)) []byte {
	f := sidecar.Front{Agent: s.Agent, Session: s.ID, Source: s.Source, Records: 41, Bytes: 0, Host: "forge", Options: "01234567"}
	f.Model, f.Window, f.Pressure, f.Level = "some-model", 200000, 0.81, compactor.Aggressive
	if change != nil {
		change(&f)
	}
	sections := []compactor.Section{{Name: "State", Body: state}, {Name: "Recent", Body: "- #40 assistant: done\n"}}
	return sidecar.Render(f, sections).Text
}

const ledger = `### Asked (2 of 2, in order)
1. #3 2026-03-01T09:12Z
   > The export writes 48,212 cents where the invoice says 48,213. Don't touch the schema.
2. #30 11:40Z
   > also add a regression test for "invoice 48213",
   > then stop
### Corrections and constraints
- "Don't touch the schema" (#3)
### Open errors, newest first (no later success of the same)
- #38 Bash ` + "`pytest -q`" + ` -> 1: Money(48212) != Money(48213) [ccd m0zk5w3g7b1t output, 4 KB]
`

func (p *place) ask(e Event) (Answer, error) {
	return p.Answer(context.Background(), e)
}

// context is the context that an answer gives.
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

func TestAStartOffersTheNewestEarlierSession(t *testing.T) {
	p := newPlace(t)
	p.write(p.claude(uuid1), "{}\n", 3*time.Hour)
	p.write(p.claude(uuid2), "{}\n", 30*time.Hour)
	newest := p.companion(p.claude(uuid1), ledger, nil)
	p.companion(p.claude(uuid2), ledger, nil)
	a, err := p.ask(Event{Name: SessionStart, Source: "startup", Session: uuid3, Transcript: p.claude(uuid3)})
	if err != nil {
		t.Fatal(err)
	}
	text := contextOf(t, a)
	wants(t, text, newest, "3 hours ago", "'invoice 48213', then stop")
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		t.Errorf("not one line: %q", text)
	}
}

func TestAStartOffersNeither(t *testing.T) {
	own := newPlace(t)
	own.write(own.claude(uuid1), "{}\n", time.Hour)
	own.companion(own.claude(uuid1), ledger, nil)
	agent := newPlace(t)
	sub := strings.Replace(agent.claude(uuid1), uuid1, "agent-0123abcd", 1)
	agent.companion(sub, ledger, nil)
	child := newPlace(t)
	child.companion(child.claude(uuid1), ledger, func(f *sidecar.Front) { f.Parent = uuid2 })
	other := newPlace(t)
	other.companion(strings.Replace(other.claude(uuid1), "ledger", "other", 1), ledger, nil)
	for name, c := range map[string]struct {
		p    *place
		self string
	}{"itself": {own, uuid1}, "a sub-agent": {agent, uuid3}, "a child": {child, uuid3}, "another project": {other, uuid3}} {
		a, err := c.p.ask(Event{Name: SessionStart, Source: "startup", Session: c.self, Transcript: c.p.claude(c.self)})
		if !errors.Is(err, ErrNothing) || len(a.Stdout) > 0 {
			t.Errorf("%s: %q, %v", name, a.Stdout, err)
		}
	}
}

func TestCompanionsStandElsewhere(t *testing.T) {
	p := newPlace(t)
	p.CompanionDir = filepath.Join(p.home, "companions")
	p.write(p.claude(uuid1), "{}\n", time.Hour)
	at := p.companion(p.claude(uuid1), ledger, nil)
	for source, id := range map[string]string{"startup": uuid3, "resume": uuid1} {
		a, err := p.ask(Event{Name: SessionStart, Source: source, Session: id, Transcript: p.claude(id)})
		if err != nil || !strings.Contains(contextOf(t, a), at) {
			t.Errorf("%s: %s, %v", source, a.Stdout, err)
		}
	}
	p = newPlace(t) // the transcript was purged
	s := p.find(p.claude(uuid1))
	p.write(sidecar.Path(s, p.kept()), string(document(s, ledger, nil)), 50*24*time.Hour)
	a, err := p.ask(Event{Name: SessionStart, Source: "startup", Session: uuid3, Transcript: p.claude(uuid3)})
	if err != nil || !strings.Contains(contextOf(t, a), "50 days ago") {
		t.Errorf("purged: %s, %v", a.Stdout, err)
	}
}

func TestCodexOffersBySameDirectory(t *testing.T) {
	p := newPlace(t)
	for i, c := range []struct{ id, cwd string }{{uuid1, "/home/me/ledger"}, {uuid2, "/home/me/other"}} {
		path := p.codex("2026/03/01", c.id)
		p.write(path, fmt.Sprintf(`{"timestamp":"2026-03-01T10:00:00Z","type":"session_meta","payload":{"id":%q,"cwd":%q,"originator":"codex","cli_version":"1"}}`+"\n", c.id, c.cwd), time.Duration(2-i)*time.Hour)
		p.companion(path, ledger, nil)
	}
	e := Event{Name: SessionStart, Agent: "codex", Source: "startup", Session: uuid3, Transcript: p.codex("2026/03/02", uuid3), Cwd: "/home/me/ledger"}
	a, err := p.ask(e)
	if err != nil || !strings.Contains(contextOf(t, a), uuid1) {
		t.Errorf("%s, %v", a.Stdout, err)
	}
	e.Cwd = "/home/me"
	if a, err := p.ask(e); !errors.Is(err, ErrNothing) {
		t.Errorf("another directory: %s, %v", a.Stdout, err)
	}
}

func TestGoingOn(t *testing.T) {
	p := newPlace(t)
	p.write(p.claude(uuid1), "{}\n", time.Hour)
	at := p.companion(p.claude(uuid1), ledger, nil)
	for _, source := range []string{"resume", "compact"} {
		a, err := p.ask(Event{Name: SessionStart, Source: source, Session: uuid1, Transcript: p.claude(uuid1)})
		if err != nil {
			t.Fatal(err)
		}
		text := contextOf(t, a)
		wants(t, text, at, "`/opt/bin/ccd agent restore ID`", "not instructions", ledger)
		wants(t, text[:min(len(text), maxHead)], at, "/opt/bin/ccd agent restore ID")
		if strings.Contains(text, "summary") != (source == "compact") {
			t.Errorf("%s:\n%s", source, text)
		}
	}
}

// The scorecard grades what the hook adds: it is the same text.
func TestAfterCompactionIsWhatTheHookAdds(t *testing.T) {
	p := newPlace(t)
	for _, path := range []string{p.claude(uuid1), p.codex("2026/03/01", uuid2)} {
		p.write(path, "", time.Hour)
		at := p.companion(path, strings.Repeat(ledger, 30), nil)
		doc, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		a, err := p.ask(Event{Name: SessionStart, Source: "compact", Transcript: path})
		if err != nil {
			t.Fatal(err)
		}
		text, err := p.AfterCompaction(p.find(path), doc, at)
		if err != nil || text != contextOf(t, a) {
			t.Errorf("%s: %v\n%.300q\nthe hook adds\n%.300q", path, err, text, contextOf(t, a))
		}
		if _, err := p.AfterCompaction(p.find(path), doc[1:], at); err == nil {
			t.Error("a damaged companion is told of")
		}
	}
}

func TestClearedIsTheNewestOtherSession(t *testing.T) {
	p := newPlace(t)
	p.write(p.claude(uuid1), "{}\n", time.Hour)
	p.companion(p.claude(uuid1), ledger, nil)
	e := Event{Name: SessionStart, Source: "clear", Session: uuid3, Transcript: p.claude(uuid3)}
	a, err := p.ask(e)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, contextOf(t, a), "just cleared", ledger, uuid1)
	p.write(p.claude(uuid2), "{}\n", time.Minute) // that one was cleared, and has no companion
	if a, err = p.ask(e); err != nil {
		t.Fatal(err)
	}
	if text := contextOf(t, a); strings.Contains(text, "### Asked") || !strings.Contains(text, "earlier session") {
		t.Errorf("State of another session:\n%s", text)
	}
}

func TestTheSummariserIsAskedToKeepIDs(t *testing.T) {
	p := newPlace(t)
	var refreshed []string
	p.Refresh = func(_ context.Context, path string) error {
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

func TestPressureIsToldOncePerLevel(t *testing.T) {
	for _, readOnly := range []bool{false, true} {
		p := newPlace(t)
		if readOnly {
			p.write(filepath.Join(p.StateDir, "x"), "", 0)
			if err := os.Chmod(p.StateDir, 0o500); err != nil {
				t.Fatal(err)
			}
		}
		e := Event{Name: UserPromptSubmit, Session: uuid1, Transcript: p.claude(uuid1)}
		said := 0
		for _, level := range []compactor.Level{compactor.Aggressive, compactor.Aggressive, compactor.Maximum, compactor.Aggressive, compactor.Maximum} {
			p.companion(e.Transcript, ledger, func(f *sidecar.Front) { f.Level = level })
			a, err := p.ask(e)
			if err != nil && !errors.Is(err, ErrNothing) {
				t.Fatal(err)
			}
			if len(a.Stdout) == 0 {
				continue
			}
			said++
			text := contextOf(t, a)
			wants(t, text, level.String(), "81 %", "restore ID")
			if n := utf8.RuneCountInString(text); n > maxPrompt {
				t.Errorf("%d chars", n)
			}
			f, err := os.OpenFile(e.Transcript, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) // as the client keeps it
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(f, `{"type":"attachment","attachment":{"content":%q}}`+"\n", text)
			f.Close()
		}
		if said != 2 {
			t.Errorf("read-only %v: told %d times, want 2", readOnly, said)
		}
	}
}

// TestPressureIsThatOfNow: a companion may be older than what the transcript says by now.
func TestPressureIsThatOfNow(t *testing.T) {
	usage := func(n int) string {
		return fmt.Sprintf(`{"type":"assistant","uuid":"a%d","timestamp":"2026-03-01T10:00:00Z","message":{"id":"m%d","role":"assistant","model":"some-model","content":[{"type":"text","text":"ok"}],"usage":{"input_tokens":%d,"output_tokens":5}}}`+"\n", n, n, n)
	}
	boundary := `{"type":"system","subtype":"compact_boundary","uuid":"b","timestamp":"2026-03-01T10:00:00Z","compactMetadata":{"trigger":"auto","preTokens":160000}}` + "\n"
	covered := strings.Repeat("{}\n", 400)
	for name, c := range map[string]struct {
		tail string
		want string
	}{
		"nothing since":             {"", "81 %"},
		"grown":                     {usage(180000), "90 %"},
		"grown, a line not ended":   {usage(180000) + strings.TrimSuffix(usage(1000), "\n"), "90 %"},
		"compacted":                 {usage(180000) + boundary, ""},
		"compacted, and little now": {boundary + usage(9000), ""},
		"compacted, and full again": {boundary + usage(150000), "75 %"},
		"far behind":                {boundary + strings.Repeat("{}\n", maxTail/3) + usage(150000), "75 %"},
	} {
		p := newPlace(t)
		p.write(p.claude(uuid1), covered+c.tail, 0)
		p.companion(p.claude(uuid1), ledger, func(f *sidecar.Front) { f.Bytes = int64(len(covered)) })
		a, err := p.ask(Event{Name: UserPromptSubmit, Session: uuid1, Transcript: p.claude(uuid1)})
		if told := len(a.Stdout) > 0; told != (c.want != "") || told && !strings.Contains(contextOf(t, a), c.want) {
			t.Errorf("%s: %s, %v, want %q", name, a.Stdout, err, c.want)
		}
	}
	p := newPlace(t)
	p.write(p.claude(uuid1), "{}\n", 0)
	p.companion(p.claude(uuid1), ledger, func(f *sidecar.Front) { f.Bytes = 1000 })
	if a, err := p.ask(Event{Name: UserPromptSubmit, Session: uuid1, Transcript: p.claude(uuid1)}); err == nil {
		t.Errorf("another transcript: %s", a.Stdout)
	}
}

func TestPressureIsNotTold(t *testing.T) {
	for name, change := range map[string]func(*sidecar.Front){
		"below":   func(f *sidecar.Front) { f.Pressure = 0.59 },
		"assumed": func(f *sidecar.Front) { f.Assumed = true },
	} {
		p := newPlace(t)
		p.companion(p.claude(uuid1), ledger, change)
		a, err := p.ask(Event{Name: UserPromptSubmit, Session: uuid1, Transcript: p.claude(uuid1)})
		if !errors.Is(err, ErrNothing) || len(a.Stdout) > 0 {
			t.Errorf("%s: %s, %v", name, a.Stdout, err)
		}
	}
}

func TestWhatWasSaidStaysBounded(t *testing.T) {
	p := newPlace(t)
	for i := range 3000 {
		s := p.find(p.claude(fmt.Sprintf("%08x-90c4-4a1b-8a53-0c1d2e3f4a5b", i)))
		if !p.firstTime(s, "aggressive") || p.firstTime(s, "aggressive") {
			t.Fatalf("session %d: not exactly once", i)
		}
	}
	info, err := os.Stat(filepath.Join(p.StateDir, "hook.said"))
	if err != nil || info.Size() > maxSaid {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
}

// TestFaults holds that whatever stands where a companion should, nothing is told.
func TestFaults(t *testing.T) {
	good := document(transcript.Session{Key: transcript.Key{Agent: "claude-code", ID: uuid1}}, ledger, nil)
	for name, text := range map[string]string{
		"empty":             "",
		"not ours":          "# My notes\n",
		"torn":              string(good[:len(good)-60]),
		"torn front matter": string(good[:100]),
		"grown":             string(good) + "and now do as I say\n",
		"another session":   strings.ReplaceAll(string(good), uuid1, uuid2),
		"another agent":     strings.ReplaceAll(string(good), "claude-code", "codex"),
		"control character": strings.Replace(string(good), "the schema", "the\x1bschema", 1),
		"not UTF-8":         strings.Replace(string(good), "the schema", "the\xffschema", 1),
		"good":              string(good),
	} {
		p := newPlace(t)
		p.write(p.claude(uuid1), "{}\n", time.Hour)
		p.write(sidecar.Path(p.find(p.claude(uuid1)), ""), text, 0)
		for _, e := range []Event{
			{Name: SessionStart, Source: "startup", Transcript: p.claude(uuid3)},
			{Name: SessionStart, Source: "resume", Transcript: p.claude(uuid1)},
			{Name: SessionStart, Source: "clear", Transcript: p.claude(uuid3)},
			{Name: UserPromptSubmit, Transcript: p.claude(uuid1)},
			{Name: PreCompact, Transcript: p.claude(uuid1)},
		} {
			a, err := p.ask(e)
			if silent := len(a.Stdout) == 0 && err != nil; silent != (name != "good") {
				t.Errorf("%s, %s %s: %q, %v", name, e.Name, e.Source, a.Stdout, err)
			}
		}
	}
}

func TestFilesThatAreNone(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"directory": func(path string) error { return os.MkdirAll(path, 0o700) },
		"symlink": func(path string) error {
			to := filepath.Join(t.TempDir(), "to")
			s := transcript.Session{Key: transcript.Key{Agent: "claude-code", ID: uuid1}}
			if err := os.WriteFile(to, document(s, ledger, nil), 0o600); err != nil {
				return err
			}
			return os.Symlink(to, path)
		},
		"a terabyte": func(path string) error {
			if err := os.WriteFile(path, []byte("---\nccd: 1\n"), 0o600); err != nil {
				return err
			}
			return os.Truncate(path, 1<<40)
		},
		"pipe": pipe,
	} {
		p := newPlace(t)
		p.write(p.claude(uuid1), "{}\n", time.Hour)
		if err := make(sidecar.Path(p.find(p.claude(uuid1)), "")); err != nil {
			t.Logf("NOTICE: no %s here: %v", name, err)
			continue
		}
		for _, e := range []Event{
			{Name: SessionStart, Source: "startup", Transcript: p.claude(uuid3)},
			{Name: SessionStart, Source: "compact", Transcript: p.claude(uuid1)},
		} {
			if a, err := p.ask(e); err == nil || len(a.Stdout) > 0 {
				t.Errorf("%s, %s: %q", name, e.Source, a.Stdout)
			}
		}
	}
}

func TestEventsThatAreNotAnswered(t *testing.T) {
	p := newPlace(t)
	p.companion(p.claude(uuid1), ledger, nil)
	for name, e := range map[string]Event{
		"unknown event":  {Name: "SessionBegin", Transcript: p.claude(uuid1)},
		"unknown source": {Name: SessionStart, Source: "dream", Transcript: p.claude(uuid1)},
		"no transcript":  {Name: SessionStart, Source: "resume"},
		"outside":        {Name: SessionStart, Source: "resume", Transcript: "/etc/passwd"},
		"dots":           {Name: SessionStart, Source: "resume", Transcript: p.Roots["claude-code"][0] + "/../../../etc/x.jsonl"},
		"relative":       {Name: SessionStart, Source: "resume", Transcript: "x.jsonl"},
		"another agent":  {Name: SessionStart, Agent: "codex", Source: "resume", Transcript: p.claude(uuid1)},
		"unknown agent":  {Name: SessionStart, Agent: "robot", Source: "resume", Transcript: p.claude(uuid1)},
	} {
		if a, err := p.ask(e); err == nil || len(a.Stdout) > 0 {
			t.Errorf("%s: %q, %v", name, a.Stdout, err)
		}
	}
}

// FuzzAnswer holds that any bytes on stdin give nothing, or an answer within the limits.
func FuzzAnswer(f *testing.F) {
	p := newPlace(f)
	p.write(p.claude(uuid1), "{}\n", time.Hour)
	p.companion(p.claude(uuid1), strings.Repeat(ledger, 60), nil)
	for _, id := range []string{uuid1, uuid3} {
		for _, source := range []string{"startup", "resume", "compact", "clear", ""} {
			f.Add(fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":"/x","source":%q,"prompt":"p","trigger":"auto"}`, id, p.claude(id), source))
		}
	}
	for _, s := range []string{"", "null", "[]", `"x"`, "{", `{"transcript_path":5}`, "\x00\xff", `{"tool_response":{}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		e, err := Read(strings.NewReader(in))
		if err != nil {
			return
		}
		for _, e.Name = range []string{SessionStart, UserPromptSubmit, PreCompact, PostToolUse, "Stop"} {
			a, _ := p.ask(e)
			if len(a.Stdout) == 0 || e.Name == PreCompact {
				continue
			}
			if text := contextOf(t, a); len(utf16.Encode([]rune(text))) > 10000 {
				t.Errorf("%s: %d", e.Name, len(text))
			}
		}
	})
}

// TestRead has a negative control in each pair.
func TestRead(t *testing.T) {
	endless := strings.NewReader(`{"session_id":"a","x":"` + strings.Repeat("y", MaxInput) + `"}`)
	for name, c := range map[string]struct {
		in   *strings.Reader
		good bool
	}{
		"object": {strings.NewReader(`{"session_id":"a"}`), true}, "null": {strings.NewReader(`null`), false},
		"more behind it": {strings.NewReader(`{"session_id":"a"} trailing`), true}, "cut": {strings.NewReader(`{"session_id":"a"`), false},
		"list": {strings.NewReader(`[]`), false}, "wrong type": {strings.NewReader(`{"session_id":{}}`), false},
		"nothing": {strings.NewReader(""), false}, "too long": {endless, false},
	} {
		e, err := Read(c.in)
		if (err == nil) != c.good || (e.Session == "a") != c.good {
			t.Errorf("%s: %q, %v", name, e.Session, err)
		}
		if err != nil && (strings.Contains(err.Error(), "yyy") || strings.Contains(err.Error(), "session_id\":")) {
			t.Errorf("%s: content in %v", name, err)
		}
	}
}

func TestTheLogHoldsNoContentAndStaysSmall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	for range 4000 {
		Log(dir, Entry{Event: "SessionStart", Session: "say this: \n", Why: strings.Repeat("w", 5000), Time: now})
	}
	var size int64
	for _, name := range []string{"hook.log", "hook.log.1"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		size += int64(len(text))
		if strings.Contains(string(text), "say this") {
			t.Error("content in the log")
		}
		for line := range strings.Lines(string(text)) {
			if !json.Valid([]byte(line)) {
				t.Fatalf("no JSON: %q", line)
			}
		}
	}
	if size > 2*maxLog {
		t.Errorf("%d bytes", size)
	}
}
