//go:build rig && linux

package clients

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ccd/internal/testkit"
)

// The environment variables that enable the tests.
const (
	askFor = "CCD_CLIENTS"     // the directory into which npm installed the clients
	binary = "CCD_CLIENTS_CCD" // the ccd binary; built if not set
)

// limit is the time limit of one run of a client, which takes seconds on an idle machine.
const limit = 2 * time.Minute

// TestMain runs the tests in a network namespace if they are enabled.
func TestMain(m *testing.M) {
	os.Exit(start(m))
}

func start(m *testing.M) int {
	if os.Getenv(binary) == "" {
		dir, err := os.MkdirTemp("", "ccd-clients-")
		if err == nil {
			defer os.RemoveAll(dir)
			err = build(dir)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	switch {
	case os.Getenv(askFor) == "":
		return m.Run()
	case os.Getenv(alone) != "":
		if err := onlyLoopback(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}
	status, why := isolate()
	if why != "" {
		fmt.Println("--- SKIP: the cases with the real clients:", why)
	}
	return status
}

// build builds ccd, and ccd-remote beside it.
func build(dir string) error {
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", dir, "ccd/cmd/ccd", "ccd/cmd/ccd-remote").CombinedOutput(); err != nil {
		return fmt.Errorf("build ccd: %w\n%s", err, out)
	}
	return os.Setenv(binary, filepath.Join(dir, "ccd"))
}

// TestNoWayOut is the control of the isolation: only loopback can be reached.
func TestNoWayOut(t *testing.T) {
	if os.Getenv(alone) == "" {
		t.Skip("runs with the real clients only: make clients")
	}
	for _, address := range []string{"192.0.2.1:443", "[2001:db8::1]:443"} {
		if c, err := net.DialTimeout("tcp", address, 5*time.Second); err == nil {
			c.Close()
			t.Errorf("%s was reached", address)
		} else if !errors.Is(err, syscall.ENETUNREACH) && !errors.Is(err, syscall.EADDRNOTAVAIL) {
			t.Errorf("%s: %v, want no route at all", address, err)
		}
	}
}

// place is the surroundings of a test: a home, a project and a model.
type place struct {
	t             *testing.T
	home, project string
	model         *model
}

// newHome makes a home with ccd in it, and a project directory.
func newHome(t *testing.T) *place {
	t.Helper()
	dir := fleeting(t)
	p := &place{t, filepath.Join(dir, "home"), filepath.Join(dir, "project"), newModel(t)}
	for _, d := range []string{p.bin(), filepath.Join(p.home, ".codex"), filepath.Join(p.home, "tmp"), filepath.Join(p.project, "pkg")} {
		testkit.Must(t, os.MkdirAll(d, 0o700))
	}
	p.must("/bin/sh", "-c", `ln "$0" "$1" 2>/dev/null || cp "$0" "$1"`, os.Getenv(binary), p.ccdPath())
	return p
}

// fleeting returns a directory that is removed after the test. A killed client may still write for a moment.
func fleeting(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ccd-place-")
	testkit.Must(t, err)
	t.Cleanup(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		err := os.RemoveAll(dir)
		for range 100 {
			if err == nil {
				return
			}
			<-tick.C
			err = os.RemoveAll(dir)
		}
		t.Error(err)
	})
	return dir
}

// newPlace makes a home in which no client asks anything, and a small project.
func newPlace(t *testing.T) *place {
	t.Helper()
	p := newHome(t)
	p.settle()
	p.write(filepath.Join(p.home, ".gitconfig"), "[user]\n\tname = Someone\n\temail = someone@example.org\n")
	p.write(filepath.Join(p.project, "README.md"), "# Ledger\n\nBooks invoices; cents are integers.\n")
	for i := range 4 {
		p.write(filepath.Join(p.project, "pkg", fmt.Sprintf("ledger%d.go", i)), ledger(i))
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "First"}} {
		p.must("git", args...)
	}
	return p
}

// ledger is an invented source file of about 30 KB with no two equal lines.
func ledger(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package pkg\n\n")
	for i := range 500 {
		fmt.Fprintf(&b, "// Booked%d_%d books invoice %d.\nfunc Booked%d_%d() int { return %d }\n", n, i, i*7919%10007, n, i, i*104729%99991)
	}
	return b.String()
}

func (p *place) bin() string     { return filepath.Join(p.home, ".local", "bin") }
func (p *place) ccdPath() string { return filepath.Join(p.bin(), "ccd") }

func (p *place) write(path, text string) {
	p.t.Helper()
	testkit.Put(p.t, path, text)
}

func (p *place) read(path string) string {
	p.t.Helper()
	return string(testkit.Read(p.t, path))
}

// env is the clients' environment.
func (p *place) env() []string {
	return []string{
		"PATH=" + p.bin() + ":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "TERM=xterm-256color", "LANG=C.UTF-8", "TZ=UTC",
		"HOME=" + p.home, "CODEX_HOME=" + filepath.Join(p.home, ".codex"), "TMPDIR=" + filepath.Join(p.home, "tmp"),
		"ANTHROPIC_API_KEY=dummy", "ANTHROPIC_BASE_URL=" + p.model.url, "OPENAI_API_KEY=dummy", "SCRIPTED_API_KEY=dummy",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
		"IS_SANDBOX=1",
		"GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL=" + p.model.url, "GEMINI_CLI_TRUST_WORKSPACE=true", "PI_OFFLINE=1", "PI_TELEMETRY=0",
		"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_PROVIDER_BASE_URL=" + p.model.url + "/v1", "COPILOT_PROVIDER_API_KEY=dummy",
		"COPILOT_MODEL=gpt-4.1", "COPILOT_PROVIDER_MAX_PROMPT_TOKENS=40000",
	}
}

// ran is the result of a program.
type ran struct {
	out, err string
	code     int
}

// run runs a program in the project and kills it and its children after the time limit.
func (p *place) run(program string, args ...string) ran {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), limit)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = p.project, p.env(), &out, &errs, 5*time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its children are killed with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	if ctx.Err() != nil {
		p.t.Fatalf("%s %q took more than %s\n%s%s", filepath.Base(program), args, limit, &out, &errs)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatalf("%s: %v", program, err)
	}
	return ran{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// must runs a program that must succeed and returns its stdout.
func (p *place) must(program string, args ...string) string {
	p.t.Helper()
	r := p.run(program, args...)
	if r.code != 0 {
		p.t.Fatalf("%s %q: exit status %d\n%s%s", filepath.Base(program), args, r.code, r.out, r.err)
	}
	return r.out
}

// ccd runs ccd and returns its stdout without the last newline.
func (p *place) ccd(args ...string) string {
	p.t.Helper()
	return strings.TrimSuffix(p.must(p.ccdPath(), args...), "\n")
}

// daemon runs `ccd run` and stops it with SIGINT.
func (p *place) daemon() (stop func()) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), p.ccdPath(), "run", "--quiet")
	cmd.Dir, cmd.Env = p.project, p.env()
	testkit.Must(p.t, cmd.Start())
	return func() {
		p.t.Helper()
		testkit.Must(p.t, cmd.Process.Signal(os.Interrupt))
		if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 130 {
			p.t.Errorf("ccd run ends with %v", err)
		}
	}
}

// asks runs a client that must succeed, with the model's turns, and returns its requests.
func (p *place) asks(a agent, args []string, turns ...turn) []*request {
	p.t.Helper()
	p.model.plays(turns...)
	out := p.must(a.path, args...)
	all := p.model.requests(p.t)
	if len(all) == 0 {
		p.t.Fatalf("%s %q sent no request\n%s", a.title, args, out)
	}
	return all
}

// sessions returns the transcripts of an agent, by the pattern of their names.
func (p *place) sessions(pattern string) []string {
	p.t.Helper()
	found, err := filepath.Glob(filepath.Join(p.home, pattern))
	testkit.Must(p.t, err)
	return found
}
