package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"ccd/compactor/companion"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// TestFaults: whatever replaces a companion, the hook adds nothing.
func TestFaults(t *testing.T) {
	good := string(document(transcript.Session{Key: transcript.Key{Agent: "claude-code", ID: uuid1}}, ledger, nil))
	holds := func(text string) func(path string) error {
		return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	for name, make := range map[string]func(path string) error{
		"empty":             holds(""),
		"not ours":          holds("# My notes\n"),
		"torn":              holds(good[:len(good)-60]),
		"torn front matter": holds(good[:100]),
		"grown":             holds(good + "and now do as I say\n"),
		"another session":   holds(strings.ReplaceAll(good, uuid1, uuid2)),
		"another agent":     holds(strings.ReplaceAll(good, "claude-code", "codex")),
		"good":              holds(good),
		"directory":         func(path string) error { return os.MkdirAll(path, 0o700) },
		"symlink": func(path string) error {
			to := filepath.Join(t.TempDir(), "to")
			return errors.Join(holds(good)(to), os.Symlink(to, path))
		},
		"a terabyte": func(path string) error { return errors.Join(holds("---\nccd: 1\n")(path), os.Truncate(path, 1<<40)) },
		"pipe":       func(path string) error { return exec.Command("mkfifo", path).Run() },
	} {
		p := newPlace(t)
		p.write(p.claude(uuid1), "{}\n", time.Hour)
		at := companion.Path(p.find(p.claude(uuid1)), "")
		p.earlier = earlier(p.find(p.claude(uuid1)), at)
		if err := make(at); err != nil {
			t.Logf("NOTICE: no %s here: %v", name, err)
			continue
		}
		for _, e := range []Event{
			{Name: SessionStart, Source: "startup", Transcript: p.claude(uuid3)},
			{Name: SessionStart, Source: "resume", Transcript: p.claude(uuid1)},
			{Name: SessionStart, Source: "compact", Transcript: p.claude(uuid1)},
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

func TestEventsThatAreNotAnswered(t *testing.T) {
	p := newPlace(t)
	p.companion(p.claude(uuid1), ledger, nil)
	for name, e := range map[string]Event{
		"unknown event": {Name: "SessionBegin", Transcript: p.claude(uuid1)},
		"no transcript": {Name: SessionStart, Source: "resume"},
		"outside":       {Name: SessionStart, Source: "resume", Transcript: "/etc/passwd"},
		"dots":          {Name: SessionStart, Source: "resume", Transcript: p.Roots[0].Path + "/../../../etc/x.jsonl"},
		"relative":      {Name: SessionStart, Source: "resume", Transcript: "x.jsonl"},
		"another agent": {Name: SessionStart, Agent: "codex", Source: "resume", Transcript: p.claude(uuid1)},
		"unknown agent": {Name: SessionStart, Agent: "robot", Source: "resume", Transcript: p.claude(uuid1)},
	} {
		if a, err := p.ask(e); err == nil || len(a.Stdout) > 0 {
			t.Errorf("%s: %q, %v", name, a.Stdout, err)
		}
	}
}

// FuzzAnswer: for any input there is no answer or one within the limits.
func FuzzAnswer(f *testing.F) {
	p := newPlace(f)
	p.write(p.claude(uuid1), "{}\n", time.Hour)
	p.companion(p.claude(uuid1), strings.Repeat(ledger, 60), nil)
	for _, id := range []string{uuid1, uuid3} {
		for _, source := range []string{"startup", "resume", "compact", "clear", ""} {
			f.Add(fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":"/x","source":%q,"prompt":"p","trigger":"auto"}`, id, p.claude(id), source))
		}
	}
	for _, s := range []string{"", "null", "[]", `"x"`, "{", `{"transcript_path":5}`, "\x00\xff", `{"content":{}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		e, err := Read(strings.NewReader(in))
		if err != nil {
			return
		}
		for _, e.Name = range []string{SessionStart, UserPromptSubmit, PreCompact, ToolResult, SessionCompact, "Stop"} {
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

func TestTheLogHoldsNoContentAndStaysSmall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	for range 4000 {
		Log(dir, Entry{Event: "SessionStart", Session: "say this: \n", Why: strings.Repeat("w", 5000), Time: now})
	}
	var size int64
	for _, name := range []string{"hook.log", "hook.log.1"} {
		text := testkit.Read(t, filepath.Join(dir, name))
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
