package summarizer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ccd/internal/testkit"
)

// part is the variable that makes the test binary act as a command.
const part = "CCD_TEST_PART"

func TestMain(m *testing.M) {
	if play, ok := parts[os.Getenv(part)]; ok {
		os.Exit(play())
	}
	os.Exit(m.Run())
}

// parts are the commands that the test binary can be.
var parts = map[string]func() int{
	"upper": func() int {
		in, _ := io.ReadAll(os.Stdin)
		os.Stdout.Write(bytes.ToUpper(in))
		return 0
	},
	"tell": func() int {
		dir, _ := os.Getwd()
		fmt.Printf("%s %s %q %s", os.Getenv(Variable), os.Getenv("KEEP"), os.Getenv("NOTIFY_SOCKET"), filepath.Base(dir))
		return 0
	},
	"fail":  func() int { fmt.Println("a secret"); fmt.Fprintln(os.Stderr, "a secret"); return 3 },
	"mute":  func() int { return 0 },
	"deaf":  func() int { fmt.Print("done"); return 0 }, // reads nothing
	"hang":  hang,
	"flood": func() int { return flood() },
	// A child that keeps the pipe open, outlives its parent and writes its process ID.
	"leave": func() int { return leave(0) },
	"stay":  func() int { return leave(1) },
}

func hang() int {
	<-time.After(time.Hour) // it is ended before
	return 0
}

func flood() int {
	for {
		if _, err := os.Stdout.WriteString(strings.Repeat("x", 4096)); err != nil {
			return 1
		}
	}
}

func leave(stay int) int {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), part+"=hang")
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	if err := child.Start(); err != nil {
		return 9
	}
	if err := os.WriteFile(os.Getenv("TOLD"), []byte(fmt.Sprintln(child.Process.Pid)), 0o600); err != nil {
		return 9
	}
	fmt.Print("said")
	if stay == 1 {
		return hang()
	}
	return 0
}

// playing returns a command that runs the test binary as one of its parts.
func playing(t *testing.T, name string, timeout time.Duration) Command {
	t.Helper()
	self, err := os.Executable()
	testkit.Must(t, err)
	if parts[name] == nil {
		t.Fatalf("no part %s", name)
	}
	return Command{Args: []string{self}, Dir: filepath.Join(t.TempDir(), "new"), Env: append(os.Environ(), part+"="+name), Timeout: timeout}
}

// long is a time limit that no test should reach.
const long = 2 * time.Minute

func TestRunGivesInputAndTakesOutput(t *testing.T) {
	in := strings.Repeat("a line of text\n", 4000)
	got, err := playing(t, "upper", long).Run(context.Background(), in)
	if err != nil || string(got) != strings.ToUpper(in) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	for name, want := range map[string]string{"mute": "", "deaf": "done"} {
		if got, err := playing(t, name, long).Run(context.Background(), strings.Repeat("x", 1<<20)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestRunMarksTheEnvironment(t *testing.T) {
	c := playing(t, "tell", long)
	c.Env = append(c.Env, "KEEP=kept", "NOTIFY_SOCKET=/run/x", Variable+"=0")
	got, err := c.Run(context.Background(), "")
	if want := `1 kept "" new`; err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestRunFails(t *testing.T) {
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if _, err := playing(t, "hang", long).Run(stopped, "text"); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	for _, c := range []struct {
		name    string
		timeout time.Duration
		want    string
	}{
		{"fail", long, "exit status 3"},
		{"hang", 50 * time.Millisecond, "not done in time: over 50ms"},
		{"flood", long, "over 65536 bytes of output"},
	} {
		out, err := playing(t, c.name, c.timeout).Run(context.Background(), "text")
		if err == nil || err.Error() != c.want || out != nil || errors.Is(err, ErrNotStarted) {
			t.Errorf("%s: %q, %v; want %s", c.name, out, err, c.want)
		}
	}
}

func TestRunWithoutACommand(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	testkit.Must(t, os.WriteFile(plain, nil, 0o600))
	for _, c := range []Command{
		{Args: []string{"ccd-no-such-command"}, Dir: dir},
		{Args: []string{filepath.Join(dir, "none")}, Dir: dir},
		{Args: []string{plain}, Dir: dir},
		{Args: []string{os.Args[0]}, Dir: filepath.Join(plain, "below")},
	} {
		c.Timeout = long
		if _, err := c.Run(context.Background(), ""); !errors.Is(err, ErrNotStarted) {
			t.Errorf("%q in %s: %v", c.Args, c.Dir, err)
		}
	}
}

func TestNameStandsForTheArguments(t *testing.T) {
	a := Command{Args: []string{"ollama", "run", "small"}}
	b := a
	b.Timeout, b.Dir = time.Second, "elsewhere"
	if a.Name() != b.Name() || len(a.Name()) != 16 {
		t.Errorf("%s, %s", a.Name(), b.Name())
	}
	for _, other := range [][]string{{"ollama", "run", "large"}, {"ollama", "run small"}, {"ollama"}} {
		if b.Args = other; a.Name() == b.Name() {
			t.Errorf("%q has the same name", other)
		}
	}
}
