package packaging

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// TestPackagedUnit holds the unit that packages ship to the one that install writes.
func TestPackagedUnit(t *testing.T) {
	text, err := unitOf(byPackage, Options{Executable: "/usr/bin/ccd"}, scopeOf(Options{}, host{}), false)
	testkit.Must(t, err)
	golden(t, filepath.Join("..", "ccd.service"), string(text))
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

// placed writes a layer's files as systemd finds them, under a root directory, and returns the unit's path.
func placed(t *testing.T, layer []file) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, unit)
	testkit.Must(t, os.WriteFile(path, layer[0].text, 0o644))
	if layer[1].text != nil {
		testkit.Must(t, os.Mkdir(path+".d", 0o755))
		testkit.Must(t, os.WriteFile(filepath.Join(path+".d", sandboxFile), layer[1].text, 0o644))
	}
	return path
}

// TestSystemdAcceptsUnit asks the real systemd, where there is one, for both layers and both scopes.
func TestSystemdAcceptsUnit(t *testing.T) {
	judge := analyze(t)
	verify := func(layer []file) string {
		out, _ := exec.Command(judge, "verify", "--man=no", placed(t, layer)).CombinedOutput()
		var about []string // what other units of the machine lack is not ours to mend
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, unit) || strings.Contains(line, sandboxFile) {
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
		for i, layer := range s.mgr.layers {
			for n, key := range []string{"Restart=", "ProtectHome="} { // a word of each file spelt wrong is found
				bad := slices.Clone(layer)
				if bad[n].text == nil {
					continue
				}
				bad[n].text = bytes.ReplaceAll(bad[n].text, []byte("\n"+key), []byte("\nX"+key[1:]))
				if out := verify(bad); !strings.Contains(out, "X"+key[1:len(key)-1]) {
					t.Skipf("systemd-analyze cannot judge units here: %q", out)
				}
			}
			if out := verify(layer); out != "" {
				t.Errorf("%s, layer %d: %s", name, i, out)
			}
		}
	}
}

// TestExposure has systemd score both layers: 10 is a service that may do anything, 0 one that may do nothing.
func TestExposure(t *testing.T) {
	judge := analyze(t)
	score := func(layer []file) float64 {
		out, err := exec.Command(judge, "security", "--offline=yes", "--no-pager", placed(t, layer)).CombinedOutput()
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
		both, base := score(s.mgr.layers[0]), score(s.mgr.layers[1])
		t.Logf("%s: %.1f with the sandbox, %.1f without", name, both, base)
		if both > limit {
			t.Errorf("%s: exposure %.1f, want at most %.1f", name, both, limit)
		}
		if base <= limit {
			t.Errorf("%s: the first layer alone scores %.1f: the score tells nothing of the second", name, base)
		}
	}
}
