package clients

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// screen is a terminal of its own, kept by tmux.
type screen struct {
	p      *place
	socket string
}

// newScreen starts a client in a terminal; it ends with the test.
func newScreen(p *place, command ...string) *screen {
	p.t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		p.t.Skip("the picker needs tmux, which is not here")
	}
	s := &screen{p, filepath.Join(p.t.TempDir(), "tmux")}
	s.tmux(append([]string{"-f", "/dev/null", "new-session", "-d", "-x", "180", "-y", "50"}, command...)...)
	p.t.Cleanup(func() { exec.Command("tmux", "-S", s.socket, "kill-server").Run() })
	return s
}

func (s *screen) tmux(args ...string) string {
	s.p.t.Helper()
	return s.p.must("tmux", append([]string{"-S", s.socket}, args...)...)
}

func (s *screen) text() string { return s.tmux("capture-pane", "-p") }

// keys types into the terminal, by tmux's names of keys.
func (s *screen) keys(names ...string) { s.tmux(append([]string{"send-keys"}, names...)...) }

// shows waits until the screen holds all words, and returns it.
func (s *screen) shows(words ...string) string {
	s.p.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	late := time.After(limit / 2)
	for {
		text := s.text()
		missing := ""
		for _, w := range words {
			if !strings.Contains(text, w) {
				missing = w
			}
		}
		if missing == "" {
			return text
		}
		select {
		case <-tick.C:
		case <-late:
			s.p.t.Fatalf("the screen never shows %q:\n%s", missing, text)
		}
	}
}

// entry is a session in the picker: the line before the one with its age and branch.
var entry = regexp.MustCompile(`(?m)^[ ❯]*(\S.*?) *\n +(?:now|\d+ \w+ ago) · `)

// entries returns the names in the picker, sorted.
func entries(screen string) (names []string) {
	for _, m := range entry.FindAllStringSubmatch(screen, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return names
}

// TestClaudeCodePicker is the rest of case (c): the picker lists the sessions that it lists without ccd, and a resumed copy
// under its title.
func TestClaudeCodePicker(t *testing.T) {
	t.Parallel()
	a, p := claudeAgent(t), newPlace(t)
	asked := []string{"Look at the ledger of autumn.", "Look at the ledger of spring."}
	for _, say := range asked { // the picker shows what was begun in a terminal
		_, id := p.begin(a, say, a.working(0, 2)...)
		path := p.transcript(a, id)
		p.write(path, strings.ReplaceAll(p.read(path), `"entrypoint":"sdk-cli"`, `"entrypoint":"cli"`))
	}
	before := entries(newScreen(p, a.program, "--resume").shows("spring", "autumn"))
	if !slices.Equal(before, asked) {
		t.Fatalf("without ccd the picker lists %q, want %q", before, asked)
	}
	p.ccd("run", "--once")
	for _, path := range p.sessions(a.transcripts) {
		p.ccd("compact", idOf(path))
	}
	p.resume(idOf(p.sessions(a.transcripts)[0]))
	after := entries(newScreen(p, a.program, "--resume").shows("spring", "autumn"))
	ours := slices.DeleteFunc(slices.Clone(after), func(name string) bool { return !strings.HasPrefix(name, "ccd: ") })
	theirs := slices.DeleteFunc(slices.Clone(after), func(name string) bool { return strings.HasPrefix(name, "ccd: ") })
	if !slices.Equal(theirs, asked) || len(ours) != 1 {
		t.Errorf("with companions and a copy the picker lists %q, want %q and one more under ccd:", after, asked)
	}
	t.Logf("case c: the picker lists the same %d sessions, and the copy as %q", len(theirs), strings.Join(ours, " "))
}
