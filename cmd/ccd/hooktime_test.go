package main

import (
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ccd/cmd/ccd/internal/cli/agents"
	"ccd/cmd/ccd/internal/hook"
	"ccd/internal/testkit"
	"ccd/internal/words"
)

// panicky is a stdin that panics.
type panicky struct{}

func (panicky) Read([]byte) (int, error) { panic("read") }

type endless struct{ text string }

func (e endless) Read(b []byte) (int, error) { return copy(b, e.text), nil }

// TestHooksNeverFail: whatever the input and command line, the exit status is 0, nothing is printed, and the log gets a
// line.
func TestHooksNeverFail(t *testing.T) {
	silent, w := io.Pipe()
	defer w.Close()
	cases := map[string]struct {
		in   io.Reader
		args string
	}{
		"a panic":            {panicky{}, "SessionStart"},
		"nobody writes":      {silent, "SessionStart --within 1ms"},
		"one endless value":  {io.MultiReader(strings.NewReader(`{"x":"`), endless{"y"}), "UserPromptSubmit"},
		"endless blanks":     {endless{"  "}, "PreCompact --within 50ms"},
		"endless objects":    {endless{"{}"}, "ToolResult --agent claude-code --within 100ms"},
		"no event":           {strings.NewReader("{}"), ""},
		"a flag of nobody":   {strings.NewReader("{}"), "SessionStart --fast"},
		"a flag of no value": {strings.NewReader("{}"), "SessionStart --within"},
		"a bad value":        {strings.NewReader("{}"), "SessionStart --within soon"},
		"nobody to serve":    {strings.NewReader("{}"), "Serve --agent nosuch"},
		"bytes":              {strings.NewReader("\xff\x00"), "SessionStart"},
		"deep":               {strings.NewReader(strings.Repeat("[", 1<<20)), "SessionStart"},
	}
	for _, name := range testkit.Sample(t, slices.Sorted(maps.Keys(cases)), 5) {
		c := cases[name]
		home := t.TempDir()
		var out, talk bytes.Buffer
		code := run(context.Background(), append([]string{"hook"}, strings.Fields(c.args)...), std(c.in, &out, &talk), []string{"HOME=" + home, "USERPROFILE=" + home})
		if code != words.ExitDone || out.Len() > 0 || talk.Len() > 0 {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", name, code, out.String(), talk.String())
		}
		log, err := filepath.Glob(filepath.Join(home, "*", "*", "*", "hook.log"))
		if more, _ := filepath.Glob(filepath.Join(home, "*", "*", "hook.log")); err != nil || len(log)+len(more) != 1 {
			t.Errorf("%s: no line in the log", name)
		}
	}
}

// TestHookWithoutHome: there is no place for the log either.
func TestHookWithoutHome(t *testing.T) {
	var out, talk bytes.Buffer
	if code := run(context.Background(), []string{"hook", "SessionStart"}, std(strings.NewReader("{}"), &out, &talk), nil); code != words.ExitDone || out.Len()+talk.Len() > 0 {
		t.Errorf("exit %d, %q, %q", code, out.String(), talk.String())
	}
	if _, err := os.Stat("hook.log"); err == nil {
		t.Error("a log in the working directory")
	}
}

// TestLimitsOfLargeEventsIncludeReading: the limits of other events start after reading.
func TestLimitsOfLargeEventsIncludeReading(t *testing.T) {
	for _, name := range []string{hook.ToolResult, hook.SessionCompact} {
		whole, _ := agents.HookCall{}.Limits(hook.Event{Name: name}, 0)
		if answer, _ := (agents.HookCall{}).Limits(hook.Event{Name: name}, agents.InputTime); answer != whole-agents.InputTime || answer <= 0 {
			t.Errorf("%s: %v behind %v of reading", name, answer, agents.InputTime)
		}
		if answer, _ := (agents.HookCall{Within: time.Minute}).Limits(hook.Event{Name: name}, time.Second); answer != 59*time.Second {
			t.Errorf("%s: %v of a minute", name, answer)
		}
	}
	if answer, _ := (agents.HookCall{}).Limits(hook.Event{Name: hook.SessionStart}, agents.InputTime); answer != agents.ReadingTime {
		t.Errorf("control: %v", answer)
	}
}
