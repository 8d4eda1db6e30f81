package packaging

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// without answers like a machine on which nothing starts as long as the unit has the sandbox.
func without(path func() string) func(string) (string, error) {
	failed := false
	return func(command string) (string, error) {
		switch {
		case strings.Contains(command, " restart "):
			text, _ := os.ReadFile(path())
			if failed = bytes.Contains(text, []byte(sandboxBlock)); failed {
				return "", errors.New("Job for ccd.service failed")
			}
			return "", nil
		case strings.Contains(command, " show ") && failed:
			return "Result=exit-code\nExecMainCode=1\nExecMainStatus=226\n", nil
		}
		return running(command)
	}
}

// TestSandboxThatCannotBeHad is a machine without user namespaces: the daemon runs without the sandbox, which is
// said, is no drift, and is not tried again as long as nothing changes.
func TestSandboxThatCannotBeHad(t *testing.T) {
	f := &fake{runs: true}
	s, out := serviceOn(t, options(t.TempDir()), "linux", 1000, f)
	f.answer = without(func() string { return s.mgr.file })
	testkit.Must(t, s.Install(t.Context()))
	for _, want := range []string{"namespaces are not available (226/NAMESPACE)", "does not support the sandbox", "is enabled and running"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("install does not say %q: %s", want, out)
		}
	}
	if st, err := s.Status(t.Context()); err != nil || st.Sandboxed || !st.BlocksCommands || len(st.Drift) > 0 || !st.Current {
		t.Errorf("%+v, %v", st, err)
	}
	out.Reset()
	f.asked = nil
	if err := s.Install(t.Context()); err != nil || !strings.Contains(out.String(), "is up to date") {
		t.Errorf("%v: %s", err, out)
	}
	if slices.ContainsFunc(f.asked, func(c string) bool { return strings.Contains(c, "restart") }) {
		t.Errorf("it was restarted for nothing: %q", f.asked)
	}
}

// TestDaemonThatDoesNotStart is a daemon that fails with and without the sandbox: it is not the sandbox, which stays.
func TestDaemonThatDoesNotStart(t *testing.T) {
	f := &fake{}
	s, _ := serviceOn(t, options(t.TempDir()), "linux", 1000, f)
	started := false
	f.answer = func(command string) (string, error) {
		switch {
		case strings.Contains(command, " restart "):
			started = true
			return "", errors.New("Job for ccd.service failed")
		case strings.Contains(command, " show ") && started:
			return "Result=exit-code\nExecMainCode=1\nExecMainStatus=1\n", nil
		}
		return running(command)
	}
	err := s.Install(t.Context())
	var h interface{ Hint() string }
	if err == nil || !strings.Contains(err.Error(), "exit status 1") || !errors.As(err, &h) || !strings.HasPrefix(h.Hint(), "journalctl --user") {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(s.mgr.file); err != nil || !bytes.Equal(text, s.mgr.texts[0]) {
		t.Errorf("the unit is not as it should be: %v", err)
	}
}

// TestInstallRestartsForAChange holds what makes install restart a running daemon, and that nothing else does.
func TestInstallRestartsForAChange(t *testing.T) {
	home := t.TempDir()
	f := &fake{answer: running, runs: true}
	s, _ := serviceOn(t, options(home), "linux", 1000, f)
	testkit.Must(t, s.Install(t.Context()))
	for name, c := range map[string]struct {
		change func(*Options, *fake)
		want   bool
	}{
		"nothing":         {func(*Options, *fake) {}, false},
		"a root":          {func(o *Options, _ *fake) { o.Writes = append(o.Writes, "/srv/transcripts") }, true},
		"companion.dir":   {func(o *Options, _ *fake) { o.Writes = []string{o.StateDir, "/srv/companions"} }, true},
		"another program": {func(_ *Options, f *fake) { f.runs = false }, true},
		"a variable":      {func(o *Options, _ *fake) { o.Environ = nil }, true},
		"files not read": {func(_ *Options, f *fake) {
			f.answer = func(c string) (string, error) { out, err := running(c); return out + "NeedDaemonReload=yes\n", err }
		}, true},
		"a summarizer": {func(o *Options, _ *fake) { o.Child = true }, true},
	} {
		again, _ := serviceOn(t, options(home), "linux", 1000, &fake{answer: running}) // as it was
		testkit.Must(t, again.Install(t.Context()))
		o, f := options(home), &fake{answer: running, runs: true}
		c.change(&o, f)
		s, _ := serviceOn(t, o, "linux", 1000, f)
		testkit.Must(t, s.Install(t.Context()))
		if got := slices.Contains(f.asked, "systemctl --user restart ccd.service"); got != c.want {
			t.Errorf("%s: restarted %v, want %v", name, got, c.want)
		}
		if drift := drift(t, s); len(drift) > 0 {
			t.Errorf("%s: drift %q", name, drift)
		}
	}
}

func drift(t *testing.T, s *Service) []string {
	t.Helper()
	st, err := s.Status(t.Context())
	testkit.Must(t, err)
	return st.Drift
}

func TestDrift(t *testing.T) {
	o := options(t.TempDir())
	s, _ := serviceOn(t, o, "linux", 1000, &fake{answer: running})
	own := []string{s.mgr.file}
	if got := drift(t, s); !slices.Equal(got, own) {
		t.Errorf("nothing installed: %q", got)
	}
	testkit.Must(t, s.Install(t.Context()))
	o.Writes = append(o.Writes, "/srv/transcripts")
	other, _ := serviceOn(t, o, "linux", 1000, &fake{answer: running})
	if got := drift(t, other); !slices.Equal(got, own) {
		t.Errorf("another root: %q", got)
	}
	testkit.Must(t, os.WriteFile(s.mgr.file, nil, 0o644))
	if got := drift(t, s); !slices.Equal(got, own) {
		t.Errorf("the unit was emptied: %q", got)
	}
}

// TestLinger holds that whether it ends at logout is never silent.
func TestLinger(t *testing.T) {
	for on, want := range map[bool]string{false: "the service stops when you log out; to keep it running: loginctl enable-linger sam", true: "undo with: ccd service remove"} {
		s, out := serviceOn(t, options(t.TempDir()), "linux", 1000, &fake{lingers: on, answer: running})
		testkit.Must(t, s.Install(t.Context()))
		if !strings.Contains(out.String(), want) || on && strings.Contains(out.String(), "log out") {
			t.Errorf("%v: says %q, want %q", on, out, want)
		}
		if st, err := s.Status(t.Context()); err != nil || st.EndsAtLogout == on {
			t.Errorf("%v: %+v, %v", on, st, err)
		}
	}
}

// The sandbox hides nothing that the daemon must read, and names only what it may write.
func TestSandboxNames(t *testing.T) {
	o := options("/home/sam")
	o.Reads = append(o.Reads, "/tmp/transcripts", "/home/sam/.docker/x")
	text, err := sandboxOf(o)
	testkit.Must(t, err)
	for want, there := range map[string]bool{
		"PrivateTmp=": false, "-/home/sam/.docker\n": false, "-/home/sam/.ssh\n": true, "ReadWritePaths=-/tmp": false,
		`ReadWritePaths="-/home/sam/50%% \"off\"/projects"`: true,
	} {
		if bytes.Contains(text, []byte(want)) != there {
			t.Errorf("%s: want %v in\n%s", want, there, text)
		}
	}
}

// No socket of /run is reachable in the sandbox, but the one that the daemon tells its manager by. Where it has to read
// below /run, be it by way of a link, the sockets that are known are hidden one by one.
func TestSandboxHidesSockets(t *testing.T) {
	const whole, one, told = "TemporaryFileSystem=/run:ro", "InaccessiblePaths=-%t/bus", "BindPaths=%t/systemd/notify"
	link := filepath.Join(t.TempDir(), "disk")
	if err := os.Symlink("/run", link); err != nil {
		t.Skip(err)
	}
	if _, err := os.Stat(link); err != nil {
		t.Skip("this machine has no /run")
	}
	for reads, run := range map[string]bool{"/srv/transcripts": true, "/run/media/sam/disk": false, link: false, "/runs": true} {
		o := options("/home/sam")
		o.Reads = append(o.Reads, reads)
		text, err := sandboxOf(o)
		testkit.Must(t, err)
		for want, there := range map[string]bool{whole: run, told: run, one: !run} {
			if bytes.Contains(text, []byte("\n"+want)) != there {
				t.Errorf("%s: %s: want %v in\n%s", reads, want, there, text)
			}
		}
	}
}
