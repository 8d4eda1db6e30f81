package registry_test

import (
	"strings"
	"testing"

	"ccd/internal/agent/claude"
)

func TestClaudeProject(t *testing.T) {
	for in, want := range map[string]string{
		"/home/me/a.b_c": "-home-me-a-b-c", `C:\src`: "C--src", "/p😀é": "-p---",
		"/home/me/" + strings.Repeat("deep/", 60): "-home-me-" + strings.Repeat("deep-", 38) + "d-30p046",
	} {
		if got := claude.Project(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
