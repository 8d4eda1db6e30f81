package config

import (
	"slices"
	"strings"
	"testing"
)

func TestSummarizerCommand(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
		err  string
	}{
		{"", []string{}, ""},
		{`command = []`, []string{}, ""},
		{`command = ["claude", "-p"]`, []string{"claude", "-p"}, ""},
		{`command = ["~/bin/short", ""]`, []string{"/home/me/bin/short", ""}, ""},
		{`command = ["/usr/bin/../bin/x"]`, []string{"/usr/bin/x"}, ""},
		{`command = ["bin/short"]`, nil, "must be an absolute path"},
		{`command = ["", "-p"]`, nil, "must name a program"},
		{`command = [" "]`, nil, "must name a program"},
		{`command = ["x", "a\nb"]`, nil, "control characters"},
		{`command = "claude -p"`, nil, "expected list"},
		{`command = ["x", 1]`, nil, "expected string"},
		{`timeout = "10ms"`, nil, "must be 1s or more"},
		{`timeout = "0s"`, nil, "must be 1s or more"},
		{`comand = []`, nil, `did you mean "summarizer.command"?`},
	} {
		got, err := load(t, "[summarizer]\n"+c.text)
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), "line 2")):
			t.Errorf("%s: %v, want %q and the line", c.text, err, c.err)
		case c.err == "" && (err != nil || !slices.Equal(got.Summarizer.Command, c.want)):
			t.Errorf("%s: %q, %v", c.text, got.Summarizer.Command, err)
		}
	}
	got, err := load(t, "", "CCD_SUMMARIZER_COMMAND=ollama, run,small", "CCD_SUMMARIZER_TIMEOUT=5s", "CCD_SUMMARIZER=1")
	if err != nil || !slices.Equal(got.Summarizer.Command, []string{"ollama", "run", "small"}) || got.Summarizer.Timeout.Seconds() != 5 {
		t.Errorf("from the environment: %+v, %v", got.Summarizer, err)
	}
}
