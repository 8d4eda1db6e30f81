package packaging

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// TestUninstallClearsUp holds that nothing of ours is left, however the service came to be, and that others' files stay.
func TestUninstallClearsUp(t *testing.T) {
	o := options(t.TempDir())
	f := &fake{answer: running}
	s, out := serviceOn(t, o, "linux", 1000, f)
	testkit.Must(t, s.Install(t.Context()))
	link := s.mgr.links[0]
	testkit.Must(t, errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(s.mgr.file, link)))
	f.answer = func(string) (string, error) { return "", errors.New("no bus") } // also without a manager
	dir, archive := filepath.Dir(s.mgr.file), filepath.Join(o.StateDir, "archive.db")
	own := filepath.Join(dir, ".ccd-0123456789abcdef.tmp")
	others := []string{filepath.Join(dir, "other.service"), filepath.Join(dir, ".ccd-notes.tmp"), archive}
	for _, p := range append([]string{own}, others...) {
		testkit.Must(t, os.WriteFile(p, nil, 0o600))
	}
	out.Reset()
	testkit.Must(t, s.Uninstall(t.Context()))
	for _, p := range []string{own, link, s.mgr.file} {
		if exists(p) {
			t.Errorf("%s is left", p)
		}
	}
	for _, p := range others {
		if !exists(p) {
			t.Errorf("%s is not ours, and gone", p)
		}
		testkit.Must(t, os.Remove(p))
	}
	out.Reset()
	if err := s.Uninstall(t.Context()); err != nil || !strings.Contains(out.String(), "no service was installed") {
		t.Fatalf("a second uninstall: %v, %q", err, out)
	}
	if left := filepath.Join(o.Home, ".config/systemd"); exists(left) {
		t.Errorf("%s is empty, and left", left)
	}
}

// The manager serves an account, whatever $HOME says: a service of another home is left running, and told.
func TestUninstallLeavesAnotherHomes(t *testing.T) {
	for name, c := range map[string]struct {
		file, home string // that the manager has; that the account has
		foreign    bool
	}{
		"another home's":          {"/home/alice/.config/systemd/user/ccd.service", "", true},
		"a package's, of another": {"/usr/lib/systemd/user/ccd.service", "/home/alice", true},
		"a package's":             {"/usr/lib/systemd/user/ccd.service", "own", false},
		"a package's, who knows":  {"/usr/lib/systemd/user/ccd.service", "", false},
		"this home's":             {"own", "", false},
		"none that is told":       {"", "/home/alice", false},
		"masked":                  {"/dev/null", "/home/alice", false},
	} {
		o := options(t.TempDir())
		f := &fake{}
		s, out := serviceOn(t, o, "linux", 1000, f)
		if s.host.home = c.home; c.home == "own" {
			s.host.home = o.Home
		}
		if c.file == "own" {
			c.file = s.mgr.file
		}
		f.answer = func(command string) (string, error) {
			return "UnitFileState=enabled\nActiveState=active\nSubState=running\nMainPID=7\nFragmentPath=" + c.file + "\n", nil
		}
		testkit.Must(t, s.Uninstall(t.Context()))
		stopped := slices.Contains(f.asked, "systemctl --user stop ccd.service")
		told := strings.Contains(out.String(), "kept: the service that systemctl --user loads from "+c.file)
		st, err := s.Status(t.Context())
		if stopped == c.foreign || told != c.foreign || err != nil || st.Installed == c.foreign {
			t.Errorf("%s: stopped %v, installed %v, %v, says %q", name, stopped, st.Installed, err, out)
		}
	}
}

// TestDiffers holds which services are told apart by where they work, for each manager that has files.
func TestDiffers(t *testing.T) {
	for _, goos := range []string{"linux", "darwin"} {
		o := options(t.TempDir())
		o.Config = "/etc/my ccd.toml"
		s, _ := serviceOn(t, o, goos, 1000, &fake{})
		if st, err := s.Status(t.Context()); err != nil || len(st.Places) > 0 {
			t.Errorf("%s: nothing is installed: %q, %v", goos, st.Places, err)
		}
		testkit.Must(t, os.MkdirAll(filepath.Dir(s.mgr.file), 0o700))
		testkit.Must(t, os.WriteFile(s.mgr.file, s.mgr.texts[0], 0o600))
		for name, c := range map[string]struct {
			config  string
			environ []string
			want    []string // what each begins with
		}{
			"the same":    {o.Config, append([]string{"CCD_LOG_LEVEL=warn"}, o.Environ...), nil},
			"nothing":     {"", nil, []string{"--config", "CODEX_HOME="}},
			"other state": {o.Config, append([]string{"XDG_STATE_HOME=/s"}, o.Environ...), []string{"not XDG_STATE_HOME=/s"}},
		} {
			other := o
			other.Config, other.Environ = c.config, c.environ
			s, _ := serviceOn(t, other, goos, 1000, &fake{})
			st, err := s.Status(t.Context())
			got := st.Places
			same := len(got) == len(c.want)
			for n := range min(len(got), len(c.want)) {
				same = same && strings.HasPrefix(strings.TrimPrefix(got[n], `"`), c.want[n])
			}
			if err != nil || !same {
				t.Errorf("%s, %s: %q, %v, want %q", goos, name, got, err, c.want)
			}
		}
	}
}
