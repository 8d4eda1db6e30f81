package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ccd/internal/mark"
	"ccd/internal/testkit"
	"ccd/internal/words"
)

// terminalPair returns both ends of a pseudo-terminal.
func terminalPair(t *testing.T, columns, lines uint16) (screen, program *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("NOTICE: no pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: lines})
	}
	if err == nil {
		program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skipf("NOTICE: no pseudo-terminal: %v", err)
	}
	return screen, program
}

// screenText collects what a program writes to a terminal.
type screenText struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
	end  chan struct{} // closed when no process has the terminal open
}

// watchScreen reads the terminal until it is closed.
func watchScreen(screen *os.File) *screenText {
	s := &screenText{more: make(chan struct{}, 1), end: make(chan struct{})}
	go func() {
		defer close(s.end)
		buf := make([]byte, 4096)
		for {
			n, err := screen.Read(buf)
			s.mu.Lock()
			s.text.Write(buf[:n])
			s.mu.Unlock()
			select {
			case s.more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	return s
}

func (s *screenText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// shows waits for text and discards everything up to now.
func (s *screenText) shows(t *testing.T, text string) {
	t.Helper()
	s.has(t, text)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Reset()
}

// has waits for text.
func (s *screenText) has(t *testing.T, text string) {
	t.Helper()
	late := time.After(20 * time.Second)
	for !strings.Contains(s.String(), text) {
		select {
		case <-s.more:
		case <-late:
			t.Fatalf("%q is not shown: %.2000q", text, s.String())
		}
	}
}

// startOnTerminal starts ccd on a terminal. If out is not nil, stdout goes there.
func startOnTerminal(t *testing.T, home string, columns, lines uint16, env []string, out *bytes.Buffer, args ...string) (*exec.Cmd, *os.File, *screenText) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, programPath, args...)
	c.Dir = home
	c.Env = append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "PAGER=cat", "TERM=xterm"}, env...)
	master, slave := terminalPair(t, columns, lines)
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	if out != nil {
		c.Stdout = out
	}
	// When the leader of a terminal's session ends, Linux drops what it wrote last and nobody has read. A picker needs no
	// controlling terminal, because it reads Ctrl-C as a key.
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: out == nil}
	must(t, c.Start())
	t.Cleanup(func() { c.Process.Kill() })
	slave.Close()
	return c, master, watchScreen(master)
}

func typeKeys(t *testing.T, screen *os.File, keys string) {
	t.Helper()
	if _, err := screen.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// exitOf waits for the end of a command and of its output.
func exitOf(t *testing.T, c *exec.Cmd, seen *screenText) int {
	t.Helper()
	err := c.Wait()
	select {
	case <-seen.end:
	case <-time.After(20 * time.Second):
		t.Error("something has the terminal open")
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return words.ExitDone
}

// TestPickByNumber: a terminal gets a list and a question for a number.
func TestPickByNumber(t *testing.T) {
	home := chooseHome(t, 3*time.Hour, 2*time.Hour, time.Hour)
	for keys, want := range map[string]string{"2\n": chosenB, "9\nx\n3\n": chosenA, "\n": "", "\x04": ""} {
		var out bytes.Buffer
		cmd, screen, seen := startOnTerminal(t, home, 80, 10, nil, &out, "restore", "--session", ".", "--info", "--json")
		seen.shows(t, "Number of a session (1-3), empty to cancel: ")
		typeKeys(t, screen, keys)
		code := exitOf(t, cmd, seen)
		if want == "" && code != words.ExitInterrupted || want != "" && (code != words.ExitDone || !strings.Contains(out.String(), want)) {
			t.Errorf("%q: exit %d: %s", keys, code, out.String())
		}
		if strings.Contains(seen.String(), "\x1b") {
			t.Errorf("the terminal is steered: %q", seen.String())
		}
	}
}

// TestInterruptedInput: Ctrl-C ends a command that reads what a person types.
func TestInterruptedInput(t *testing.T) {
	home := t.TempDir()
	for _, args := range [][]string{{"compact", "--no-archive", "-"}, {"archive", "forget", "--match", "-", "--dry-run"}} {
		cmd, screen, seen := startOnTerminal(t, home, 80, 10, nil, nil, args...)
		seen.has(t, "reading stdin until Ctrl-D")
		typeKeys(t, screen, "\x03")
		if code := exitOf(t, cmd, seen); code != words.ExitInterrupted {
			t.Errorf("%v: exit %d: %s", args, code, seen.String())
		}
	}
}

// onTerminal runs a command on a terminal, and returns everything that the terminal got.
func onTerminal(t *testing.T, home string, args ...string) (string, int) {
	t.Helper()
	c, _, seen := startOnTerminal(t, home, 200, 50, nil, nil, args...)
	code := exitOf(t, c, seen)
	return seen.String(), code
}

// hostile would control a terminal: it clears the screen, sets the clipboard, a link and the title, reverses text, and
// overwrites earlier output.
const hostile = "one\ttwo\n\x1b[2J\x1b]52;c;cm0gLXJm\x07\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\u009b31m\u009d0;t\u009c rm -rf\rls   \b\b \u202egpj.\u2066\u2069 end"

// steering matches what must not reach a terminal: control characters except newline, tab and CR LF, also as single
// bytes, and bidi overrides.
var steering = regexp.MustCompile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u0080-\u009f\u202a-\u202e\u2066-\u2069]|\r[^\r\n]|\r$")

// Transcript text never controls a terminal. Pipes and --raw get the exact bytes.
func TestHostileTranscriptOnATerminal(t *testing.T) {
	home := t.TempDir()
	text, err := json.Marshal(hostile)
	must(t, err)
	line := `{"type":"user","message":{"role":"user","content":` + string(text) + `},"cwd":"/you/` + "\\u001b[2J\u202e" + `","uuid":"u1","timestamp":"2026-03-01T09:00:00.000Z","sessionId":"s"}`
	put(t, transcriptPath(home, 1), line+"\n"+strings.ReplaceAll(line, "u1", "u2")+"\n\x1b[35mno JSON \x9b2J\xff\n")
	configure(t, home, "[trigger]\nthreshold = 1\nmin_savings = 0\n")
	once(t, home)
	const id = "00000000-0000-4000-8000-000000000001"
	if !steering.MatchString(hostile) || !steering.MatchString("a\rb") || steering.MatchString("a\tb\r\n\u4e16") {
		t.Fatal("the test sees nothing")
	}
	for _, line := range testkit.Sample(t, []string{
		"restore " + id + "#1", "restore " + id + "#3", "restore --session " + id, "restore --info " + id + "#1", "show " + id,
		"show --format json " + id, "show --format messages " + id, "show --format html " + id, "search rm", "search --json rm", "timeline " + id, "timeline --json " + id,
		"ls", "ls --json", "status", "status --json", "status --totals", "archive verify", "diff " + id, "resume --dry-run " + id,
		"show --path nowhere\x1b[2J", "doctor",
	}, 5) {
		got, _ := onTerminal(t, home, strings.Split(line, " ")...)
		if at := steering.FindStringIndex(strings.ToValidUTF8(colours.ReplaceAllString(got, ""), "\u0080")); at != nil || got == "" {
			t.Errorf("%s: %q", line, got)
		}
	}
	seen, code := onTerminal(t, home, "restore", id+"#1")
	if want := mark.Visible(hostile); code != words.ExitDone || !strings.Contains(strings.ReplaceAll(seen, "\r\n", "\n"), want) || !strings.Contains(want, "one\ttwo\n\\x1b[2J") {
		t.Errorf("exit %d: %q, want %q", code, seen, want)
	}
	if out, _, _ := outputs(t, home, "restore", id+"#1"); string(out) != hostile {
		t.Errorf("a pipe got %q", out)
	}
	if found, _ := onTerminal(t, home, "search", "RM"); !strings.Contains(found, " \x1b[1;31mrm\x1b[0m -rf") {
		t.Errorf("search marks no match: %q", found)
	}
	if out, _, _ := outputs(t, home, "search", "RM"); bytes.ContainsRune(out, '\x1b') || !bytes.Contains(out, []byte(" rm -rf")) {
		t.Errorf("search in a pipe: %q", out)
	}
	if raw, _ := onTerminal(t, home, "restore", "--raw", id+"#3"); !strings.HasPrefix(raw, "\x1b[35mno JSON \x9b2J\xff") {
		t.Errorf("--raw on a terminal got %q", raw)
	}
}

// colours matches ccd's own colors in search and doctor, and the clearing of its progress bar.
var colours = regexp.MustCompile("\x1b\\[(1;31|3[1239]|0)m|\r[a-z: ]*(\\[[# ]*\\] )?[0-9]*%?\x1b\\[K|\r\x1b\\[K")

// TestRunPrintsEachEvent: on a terminal, run says what it has archived and what to do next, then prints a line for each
// companion that it writes; with --once it only says what it has archived.
func TestRunPrintsEachEvent(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".claude", "projects", "-src-mill", chosenA+".jsonl")
	session := claudeSession(150000)
	put(t, path, session)
	long := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(path, long, long))
	cmd, screen, seen := startOnTerminal(t, home, 120, 50, []string{"CCD_WATCH_SETTLE=50ms", "CCD_COMPANION_REFRESH_IDLE=100ms"}, nil, "run")
	seen.has(t, "Watching until Ctrl-C.")
	if !regexp.MustCompile(`1 session archived, 1 companion\. See them in another terminal: .* ls\r\n(?:Your longest session: [^\r]*\r\n)?Watching`).MatchString(seen.String()) {
		t.Errorf("what was archived: %q", seen.String())
	}
	testkit.Append(t, path, session)
	seen.has(t, `"Mill the rye.", mill: companion updated: ccd show `+chosenA)
	typeKeys(t, screen, "\x03")
	exitOf(t, cmd, seen)
	if code, out, said := ccdIn(home, "", "run", "--once"); code != words.ExitDone || strings.Contains(out+said, "companion updated") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
}

// TestFirstPassTellsWhatWasDropped: on a terminal, a first pass ends with the newest compaction that dropped words of the person's, also
// where a newer one dropped other things, which is told where no words were dropped.
func TestFirstPassTellsWhatWasDropped(t *testing.T) {
	kept := strings.NewReplacer("2026-11-20T13", "2026-11-20T14", "5d2f7a1e", "70d782f7").Replace(ledger(t))
	less := strings.Replace(ledger(t), `\n   - \"no, keep it integer cents everywhere — no floats, also not in tests\"`, "", 1)
	first := func(sessions map[string]string, want string) {
		t.Helper()
		home := t.TempDir()
		for id, text := range sessions {
			put(t, filepath.Join(home, ".claude/projects/-home-me-ledger", id+"-90c4-4a1b-8a53-0c1d2e3f4a5b.jsonl"), text)
		}
		if said, code := onTerminal(t, home, "run", "--once"); code != words.ExitDone || !regexp.MustCompile(want).MatchString(said) {
			t.Errorf("exit %d: %q, want %s", code, said, want)
		}
	}
	first(map[string]string{"70d782f7": kept}, `The last compaction of 70d782f7 dropped 5 of 13 facts: \S+ diff 70d782f7\r\n  > pytest -q tests/test_money\.py \(exit 1\)`)
	first(map[string]string{"70d782f7": kept, "5d2f7a1e": less}, `The last compaction of 5d2f7a1e dropped 6 of 13 facts, 1 of them your words: \S+ diff 5d2f7a1e\r\n  > no, keep it`)
}

// TestRestoredFileIsToldLocally: on a terminal, what is said of a file has local times and short names.
func TestRestoredFileIsToldLocally(t *testing.T) {
	home := t.TempDir()
	put(t, filepath.Join(home, ".claude/projects/-home-me-ledger/5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b.jsonl"), ledger(t))
	once(t, home)
	for at, want := range map[string]string{
		"2026-11-20T09:13Z": `^/home/me/ledger/ledger/money\.py as read in 5d2f7a1e#\d+, 2026-11-20 04:13:07\r\n`,
		"2026-11-20T08:00Z": ` touched it by 2026-11-20 03:00\r\n$`,
	} {
		c, _, seen := startOnTerminal(t, home, 400, 60, []string{"TZ=America/New_York"}, nil, "restore", "--file", "/home/me/ledger/ledger/money.py", "--at", at)
		exitOf(t, c, seen)
		if said := cleared.ReplaceAllString(seen.String(), ""); !regexp.MustCompile(want).MatchString(said) {
			t.Errorf("at %s: %q", at, said)
		}
	}
}

// TestWhoCompacts: setup asks a newcomer until there is an answer, and k leaves agents their own compactions and whole outputs. Who
// has a configuration is not asked.
func TestWhoCompacts(t *testing.T) {
	setup := func(home, question, answer string, code int, env ...string) {
		t.Helper()
		c, screen, got := startOnTerminal(t, home, 200, 50, env, nil, "setup")
		got.has(t, question)
		typeKeys(t, screen, answer+"\n")
		if got := exitOf(t, c, got); got != code {
			t.Errorf("an answer of %q ended with %d", answer, got)
		}
	}
	home := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(home, ".pi", "agent", "sessions"), 0o700))
	file, mod := filepath.Join(home, ".config", "ccd", "config.toml"), filepath.Join(home, ".pi", "agent", "extensions", "ccd", "index.ts")
	setup(home, "[k/y/n] ", "\nn", words.ExitFailed)
	setup(home, "Continue? [Y/n] ", "n", words.ExitFailed, "CCD_LIVE_COMPACTION=true")
	if _, err := os.Stat(file); err == nil {
		t.Error("not confirmed, and there is a configuration")
	}
	setup(home, "[k/y/n] ", "k", words.ExitDone)
	if kept := string(read(t, file)); kept != "live.compaction = false\ncompaction.large_output_tokens = 0\n" {
		t.Errorf("the configuration is %q", kept)
	}
	if _, err := os.Stat(mod); err == nil {
		t.Error("Pi has the mod that compacts")
	}
	must(t, os.WriteFile(file, []byte("live.compaction = true\n"), 0o600))
	setup(home, "Continue? [Y/n] ", "y", words.ExitDone)
	read(t, mod)
}

// TestNothingSteersATerminal: questions and messages contain directory names, which others choose.
func TestNothingSteersATerminal(t *testing.T) {
	home := t.TempDir()
	configure(t, home, "[trigger]\nthreshold = 1\nmin_savings = 0\n")
	dir := filepath.Join(home, ".claude", "projects", "-p\u009b31mq\u202ex")
	put(t, filepath.Join(dir, "00000000-0000-4000-8000-000000000001.jsonl"), string(muchTalk()))
	once(t, home)
	c, screen, got := startOnTerminal(t, home, 200, 50, nil, nil, "setup", "--undo", "-v")
	got.has(t, "Continue? [Y/n] ")
	typeKeys(t, screen, "no\n")
	if code := exitOf(t, c, got); code == words.ExitDone {
		t.Errorf("an answer of no ended with %d", code)
	}
	seen := got.String()
	if strings.ContainsAny(seen, "\u009b\u202e") || !strings.Contains(seen, `-p\xc2\x9b31mq\xe2\x80\xaex`) {
		t.Errorf("the terminal was given %q", seen)
	}
}
