package packaging

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// TestPackagedUnit holds the unit that packages ship to the one that install writes.
func TestPackagedUnit(t *testing.T) {
	text, err := unitOf(Options{Executable: "/usr/bin/ccd"}, scopeOf(Options{}, host{}), "", false)
	testkit.Must(t, err)
	const byPackage = "Part of ccd's package; `ccd service install` replaces it with a unit for your directories"
	golden(t, filepath.Join("..", "ccd.service"), strings.Replace(string(text), origin, byPackage, 1))
	if !strings.Contains(string(text), "\nExecStart=/usr/bin/ccd run\n") || strings.Contains(string(text), "Environment=") {
		t.Errorf("it is somebody's own:\n%s", text)
	}
}

// analyze finds systemd's own judge of units.
func analyze(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed: units are held by golden files only")
	}
	return path
}

// placed writes a unit under a root directory, and returns its path.
func placed(t *testing.T, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), unit)
	testkit.Must(t, os.WriteFile(path, text, 0o644))
	return path
}

// TestSystemdAcceptsUnit asks the real systemd, where there is one, with and without the sandbox, for both scopes.
func TestSystemdAcceptsUnit(t *testing.T) {
	judge := analyze(t)
	verify := func(text []byte) string {
		out, _ := exec.Command(judge, "verify", "--man=no", placed(t, text)).CombinedOutput()
		var about []string // what other units of the machine lack is not ours to mend
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, unit) {
				about = append(about, line)
			}
		}
		return strings.Join(about, "")
	}
	o := options("/home/sam")
	o.Executable = "/bin/true"
	machine := o
	machine.System, machine.User = true, "root"
	for name, o := range map[string]Options{"user": o, "system": machine} {
		s, _ := serviceOn(t, o, "linux", 0, &fake{})
		for i, text := range s.mgr.texts {
			for _, key := range []string{"Restart=", "ProtectHome="} { // a word that is spelt wrong is found
				bad := bytes.ReplaceAll(text, []byte("\n"+key), []byte("\nX"+key[1:]))
				if out := verify(bad); !bytes.Equal(bad, text) && !strings.Contains(out, "X"+key[1:len(key)-1]) {
					t.Skipf("systemd-analyze cannot judge units here: %q", out)
				}
			}
			if out := verify(text); out != "" {
				t.Errorf("%s, text %d: %s", name, i, out)
			}
		}
	}
}

// TestExposure has systemd score the unit with and without the sandbox: 10 is a service that may do anything, 0 one that may do nothing.
func TestExposure(t *testing.T) {
	judge := analyze(t)
	score := func(text []byte) float64 {
		out, err := exec.Command(judge, "security", "--offline=yes", "--no-pager", placed(t, text)).CombinedOutput()
		m := regexp.MustCompile(`Overall exposure level for \S+: ([0-9.]+)`).FindSubmatch(out)
		if m == nil {
			t.Skipf("systemd-analyze cannot score units here: %v, %q", err, out)
		}
		n, err := strconv.ParseFloat(string(m[1]), 64)
		testkit.Must(t, err)
		return n
	}
	const limit = 2.0
	machine := options("/home/sam")
	machine.System = true
	for name, o := range map[string]Options{"user": options("/home/sam"), "system": machine} {
		s, _ := serviceOn(t, o, "linux", 0, &fake{})
		both, base := score(s.mgr.texts[0]), score(s.mgr.texts[1])
		t.Logf("%s: %.1f with the sandbox, %.1f without", name, both, base)
		if both > limit {
			t.Errorf("%s: exposure %.1f, want at most %.1f", name, both, limit)
		}
		if base <= limit {
			t.Errorf("%s: without the sandbox it scores %.1f: the score tells nothing of it", name, base)
		}
	}
}
