//go:build rig

package bench

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// smallSessions makes a home with n transcripts of about 2 KB, of 97 projects, of which the home is one.
func smallSessions(b *testing.B, n int) (home string) {
	b.Helper()
	home = b.TempDir()
	for i := range n {
		cwd := home
		if i == 0 || i%97 > 0 {
			cwd = fmt.Sprintf("/home/me/ledger-%d", i%97)
		}
		w := lines{n: 100 * i, cwd: cwd}
		for step := range 3 {
			w.human(fmt.Sprintf("Please fix the build of module %d, step %d: it fails since yesterday.", i, step))
			w.assistant(fmt.Sprintf("Module %d builds again: the import path was wrong.", i))
		}
		path := filepath.Join(home, ".claude", "projects", fmt.Sprint("-home-me-ledger-", i%97), fmt.Sprintf("%08x-90c4-4a1b-8a53-%012x.jsonl", uint32(i*2654435761), i))
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte(w.b.String()), 0o600)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	return home
}

// ccd runs a command in its home directory and returns its processor time.
func ccd(b *testing.B, bin, home string, args ...string) time.Duration {
	b.Helper()
	cmd := exec.Command(bin, args...)
	cmd.Env, cmd.Dir, cmd.Stdout = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, home, io.Discard
	_ = cmd.Run() // path fails where there is no companion yet
	if cmd.ProcessState == nil {
		b.Fatal("ccd was not started")
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
