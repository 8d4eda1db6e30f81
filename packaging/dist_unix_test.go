//go:build unix

package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ccd/internal/testkit"
)

// machineOf has service managers of the machine, of alice (1000), whose unit runs the package's program and is her own,
// of bob (1001), who enabled the package's, and of carol (1002), who runs a copy that she built.
const machineOf = `
who=system
[ -z "${XDG_RUNTIME_DIR:-}" ] || who=${XDG_RUNTIME_DIR##*/}
args=$*
case $args in
*list-units*) printf 'user@1000.service loaded active running x\nuser@1001.service loaded active running x\nuser@1002.service loaded active running x\n' ;;
*ExecStart*)
	case $who in
	100[01]) echo 'ExecStart={ path=/usr/bin/ccd ; argv[]=/usr/bin/ccd run ; }' ;;
	1002) echo 'ExecStart={ path=/home/carol/ccd ; argv[]=/usr/bin/ccd run ; }' ;;
	esac ;;
*FragmentPath*)
	case $who in
	1000) echo /home/alice/.config/systemd/user/ccd.service ;;
	1001) echo /usr/lib/systemd/user/ccd.service ;;
	esac ;;
*is-enabled*) echo enabled ;;
*) echo "$who: ${args#--user }" >>"$CALLS" ;;
esac
`

// script runs a maintainer script, as packaging/dist puts it together, on that machine, and returns what it had the managers
// do and what it printed. Its end is always good.
func script(t *testing.T, systemd bool, name string, args ...string) (calls []string, said string) {
	t.Helper()
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	program := func(name, text string) {
		testkit.Must(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	}
	testkit.Must(t, os.Mkdir(bin, 0o755))
	program("systemctl", machineOf)
	program("timeout", `shift; exec "$@"`)
	program("runuser", `shift 3; exec "$@"`)
	program("id", `case $2 in 1000) echo alice ;; 1001) echo bob ;; *) echo carol ;; esac`)
	var text []byte
	for _, file := range []string{"common", name} {
		b, err := os.ReadFile(filepath.Join("scripts", file))
		testkit.Must(t, err)
		text = append(text, b...)
	}
	booted := filepath.Join(dir, "absent")
	if systemd {
		booted = dir
	}
	c := exec.Command("sh", append([]string{"-euc", strings.ReplaceAll(string(text), "/run/systemd/system", booted), name}, args...)...)
	c.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "CALLS=" + filepath.Join(dir, "calls")}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%s %v: %v\n%s", name, args, err, out)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "calls")); err == nil {
		calls = strings.Split(strings.TrimSpace(string(b)), "\n")
	}
	return calls, string(out)
}

// TestMaintainerScripts: an upgrade restarts what runs the package's program, a removal stops it, and nothing else is touched.
func TestMaintainerScripts(t *testing.T) {
	testkit.Long(t, "a package's scripts restart and stop what runs its program")
	reload := []string{"system: daemon-reload", "1000: daemon-reload", "1001: daemon-reload", "1002: daemon-reload"}
	upgrade := []string{
		"system: daemon-reload", "1000: daemon-reload", "1000: --no-block try-restart ccd.service",
		"1001: daemon-reload", "1001: --no-block try-restart ccd.service", "1002: daemon-reload",
	}
	stop := []string{"1000: stop ccd-remote.timer", "1000: stop ccd.service", "1001: stop ccd-remote.timer", "1001: stop ccd.service"}
	for _, c := range []struct {
		script string
		args   []string
		want   []string
	}{
		{"postinst", []string{"configure", "1.0.0-1"}, upgrade},
		{"postinst", []string{"configure", ""}, nil}, // installed for the first time
		{"postinst", []string{"configure"}, nil},
		{"postinst", []string{"abort-upgrade", "1.0.0-1"}, nil},
		{"postinst", []string{"1"}, nil}, // rpm: installed
		{"postinst", []string{"2"}, upgrade},
		{"prerm", []string{"remove"}, stop},
		{"prerm", []string{"upgrade", "1.1.0-1"}, nil},
		{"prerm", []string{"0"}, stop},
		{"prerm", []string{"1"}, nil},
		{"postrm", []string{"remove"}, reload},
		{"postrm", []string{"purge"}, nil},
		{"postrm", []string{"upgrade", "1.1.0-1"}, nil},
		{"postrm", []string{"0"}, reload},
		{"postrm", []string{"1"}, nil},
	} {
		got, said := script(t, true, c.script, c.args...)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s %q (-want +got):\n%s", c.script, c.args, diff)
		}
		if told := strings.Contains(said, "ccd service remove") && strings.Contains(said, "/home/alice/") &&
			strings.Contains(said, "enabled for bob"); told != (c.script == "prerm" && c.want != nil) {
			t.Errorf("%s %q says %q", c.script, c.args, said)
		}
		if got, said := script(t, false, c.script, c.args...); got != nil || said != "" {
			t.Errorf("%s %q without systemd: %q, %q", c.script, c.args, got, said)
		}
	}
}

// TestFormula renders the formula of four tarballs, with and without a home page.
func TestFormula(t *testing.T) {
	testkit.Long(t, "the formula of four tarballs")
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("NOTICE: no bash")
	}
	dir := t.TempDir()
	for _, p := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"} {
		testkit.Must(t, os.WriteFile(filepath.Join(dir, "ccd_1.2.3_"+p+".tar.gz"), []byte(p), 0o600))
	}
	render := func(env ...string) string {
		c := exec.Command("bash", "dist", "--formula", dir)
		c.Env = append(os.Environ(), append(env, "VERSION=1.2.3", "SOURCE_DATE_EPOCH=0", "URL_BASE=https://example.org/ccd")...)
		out, err := c.Output()
		testkit.Must(t, err)
		return string(out)
	}
	got := render("HOMEPAGE=https://example.org")
	golden(t, "ccd.rb", got)
	without := strings.Replace(got, "  homepage \"https://example.org\"\n", "", 1)
	if without == got || render("HOMEPAGE=") != without {
		t.Error("without a home page more than its line differs")
	}
	if strings.Contains(got, "@") {
		t.Error("something is not filled in")
	}
	ruby, err := exec.LookPath("ruby")
	if err != nil {
		t.Skip("NOTICE: no ruby: the formula's syntax is not checked")
	}
	for text, good := range map[string]bool{got: true, got + "end\n": false} {
		c := exec.Command(ruby, "-c")
		c.Stdin = strings.NewReader(text)
		if out, err := c.CombinedOutput(); (err == nil) != good {
			t.Errorf("ruby -c: %v\n%s", err, out)
		}
	}
}

// TestVersionsOfReleases: what is no version is refused before anything is made.
func TestVersionsOfReleases(t *testing.T) {
	testkit.Long(t, "what is no version is refused")
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("NOTICE: no bash")
	}
	for version, want := range map[string]int{
		"1.2": 2, "latest": 2, "1.2.3/../x": 2, "1.2.3 4": 2, "1.2.3": 1, "v1.2.3": 1, "1.2.3-rc.1": 1, "1.2.3+4.gabcdef": 1,
	} { // 1: the version is good, and then there are no tarballs to make a formula of
		c := exec.Command("bash", "dist", "--formula", filepath.Join(t.TempDir(), "absent"))
		c.Env = append(os.Environ(), "VERSION="+version, "SOURCE_DATE_EPOCH=0")
		out, _ := c.CombinedOutput()
		if got := c.ProcessState.ExitCode(); got != want {
			t.Errorf("%s: exit status %d, want %d\n%s", version, got, want, out)
		}
	}
}
