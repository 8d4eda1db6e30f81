//go:build rig

package bench

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// built returns a ccd that was built now.
func built(b *testing.B) (bin string) {
	b.Helper()
	bin = filepath.Join(b.TempDir(), "ccd")
	if out, err := exec.Command("go", "build", "-o", bin, "ccd/cmd/ccd").CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	return bin
}

// goals is a table of figures, each with what it should be.
type goals struct {
	lines []string
	hash  time.Duration // of 64 MB with SHA-256, in the same run
}

// goalHash is the same on the machine where the times that are goals were set.
const goalHash = 36 * time.Millisecond

// newGoals returns a table whose times are multiples of the time of hashing 64 MB on this machine.
func newGoals() *goals {
	data, t := make([]byte, 64e6), &goals{hash: time.Hour}
	for range 9 { // the quickest: another program on the machine disturbs the others
		begin := time.Now()
		sha256.Sum256(data)
		t.hash = min(t.hash, time.Since(begin))
	}
	return t
}

func (t *goals) row(what, goal, figure string, met bool) {
	missed := ""
	if !met {
		missed = " **missed**"
	}
	t.lines = append(t.lines, fmt.Sprintf("| %s | %s | %s%s |", what, goal, figure, missed))
}

func number(x float64, unit string) string { return strings.TrimSpace(fmt.Sprintf("%.3g %s", x, unit)) }

// most adds a figure that should be at most goal.
func (t *goals) most(what string, goal, figure float64, unit string) {
	t.row(what, "≤ "+number(goal, unit), number(figure, unit), figure <= goal)
}

// least adds a figure that should be at least goal.
func (t *goals) least(what string, goal, figure float64, unit string) {
	t.row(what, "≥ "+number(goal, unit), number(figure, unit), figure >= goal)
}

// time adds a time, which should be at most the goal where goalHash was measured, as multiples of the time of hashing.
func (t *goals) time(what string, goal, took time.Duration) {
	in := func(d, hash time.Duration) (float64, string) {
		x := d.Seconds() / hash.Seconds()
		return x, fmt.Sprintf("%.2g H (%.4g ms)", x, ms(d))
	}
	most, text := in(goal, goalHash)
	x, figure := in(took, t.hash)
	t.row(what, "≤ "+text, figure, x <= most)
}

// skip says why a figure is missing.
func (t *goals) skip(what, goal, why string) {
	t.lines = append(t.lines, fmt.Sprintf("| %s | %s | skipped: %s |", what, goal, why))
}

func (t *goals) text() string {
	head := "\n| what | goal | measured |\n|---|---|---|\n"
	if t.hash > 0 {
		head = fmt.Sprintf("\nH = SHA-256 of 64 MB: %.1f ms\n", ms(t.hash)) + head
	}
	return head + strings.Join(t.lines, "\n")
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// middle returns the median of some times.
func middle(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
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
