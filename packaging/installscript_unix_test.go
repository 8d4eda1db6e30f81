//go:build unix

package packaging

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ccd/internal/testkit"
)

// TestInstallScript: from a directory or a URL of a release it installs the programs of this machine, with nothing but the tools of a
// POSIX system; what is damaged, or is for another machine, it refuses and leaves what was there.
func TestInstallScript(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("nothing is released for " + runtime.GOOS)
	}
	dir := t.TempDir()
	release, home := filepath.Join(dir, "release"), filepath.Join(dir, "home")
	put := func(path, text string) {
		t.Helper()
		testkit.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		testkit.Must(t, os.WriteFile(path, []byte(text), 0o700))
	}
	name := fmt.Sprintf("ccd_1.2.3_%s_%s", runtime.GOOS, runtime.GOARCH)
	for _, program := range []string{"ccd", "ccd-remote"} {
		put(filepath.Join(dir, name, program), "#!/bin/sh\necho "+program+" 1.2.3\n")
	}
	put(filepath.Join(release, "other"), "")
	if out, err := exec.Command("tar", "-czf", filepath.Join(release, name+".tar.gz"), "-C", dir, name).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	sum, err := exec.Command("sh", "-c", `f=$1; if command -v sha256sum >/dev/null; then sha256sum "$f"; else shasum -a 256 "$f"; fi`, "sh", filepath.Join(release, name+".tar.gz")).Output()
	testkit.Must(t, err)
	sums := func(text string) { put(filepath.Join(release, "SHA256SUMS"), text) }
	good := strings.Fields(string(sum))[0] + "  " + name + ".tar.gz\n"
	script, err := filepath.Abs("install.sh")
	testkit.Must(t, err)
	install := func(base string) (string, error) {
		cmd := exec.Command("sh", script, base)
		cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "TMPDIR=" + dir}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	installed := filepath.Join(home, ".local", "bin", "ccd")

	for _, bad := range []string{"", strings.Replace(good, runtime.GOARCH, "mips", 1), strings.Repeat("0", 64) + good[64:], good + good} {
		sums(bad)
		if out, err := install(release); err == nil || !strings.Contains(out, "install.sh: ") {
			t.Errorf("%q: %v %s", bad, err, out)
		}
		if _, err := os.Stat(installed); err == nil {
			t.Fatalf("%q: something was installed", bad)
		}
	}
	sums("0000  ccd_1.2.3_plan9_mips.tar.gz\n" + good)
	server := httptest.NewServer(http.FileServer(http.Dir(release)))
	defer server.Close()
	bases := []string{release}
	if _, err := exec.LookPath("/usr/bin/curl"); err == nil {
		bases = append(bases, server.URL, server.URL+"/")
	}
	for _, base := range bases {
		put(installed, "an older one")
		out, err := install(base)
		if err != nil || !strings.Contains(out, ".local/bin: ccd 1.2.3\n") || !strings.Contains(out, "next: "+installed+" setup") {
			t.Errorf("%s: %v %s", base, err, out)
		}
		if again, err := exec.Command(installed + "-remote").Output(); err != nil || string(again) != "ccd-remote 1.2.3\n" {
			t.Errorf("%s: %v %s", base, err, again)
		}
	}
	if out, err := install(server.URL + "/nowhere"); err == nil {
		t.Errorf("%s", out)
	}
}
