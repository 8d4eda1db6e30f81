package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/cli"
	"ccd/internal/testkit"
	"ccd/internal/words"
)

// TestMain makes this binary the program where it is started as ccd, and puts it under that name in PATH. It is no symlink,
// because ccd looks for itself by its own path.
func TestMain(m *testing.M) {
	cobra.EnableCommandSorting = false // as main does
	if name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"); name == "ccd" {
		os.Args[0] = name
		main()
	}
	testkit.InMemory()
	code, err := withProgram(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// programPath is where withProgram put the program.
var programPath string

// noManager stands for systemctl: what this machine's service manager runs is no matter of a test.
const noManager = "#!/bin/sh\necho 'Failed to connect to bus: No medium found' >&2\nexit 1\n"

func withProgram(run func() int) (code int, err error) {
	dir, err := os.MkdirTemp("", "ccd-program-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	exe, err := os.Executable()
	if err != nil {
		return 0, err
	}
	programPath = filepath.Join(dir, "ccd")
	if runtime.GOOS == "windows" {
		programPath += ".exe"
	}
	if os.Link(exe, programPath) != nil { // on another file system
		data, err := os.ReadFile(exe)
		if err == nil {
			err = os.WriteFile(programPath, data, 0o700)
		}
		if err != nil {
			return 0, err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "systemctl"), []byte(noManager), 0o700); err != nil {
		return 0, err
	}
	os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	debug.SetGCPercent(400) // many short commands, each with little that is alive
	return run(), nil
}

// TestScript runs the scripts, each with a home of its own. In them, `ccd` runs in this process, and `exec ccd` is the
// built program: where that has children of its own, looks for itself in PATH, or must be able to die.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", home)
			e.Setenv("USERPROFILE", home)
			e.Setenv("TERM", "dumb")
			for _, k := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "CCD_CONFIG", "NOTIFY_SOCKET"} {
				e.Setenv(k, "")
			}
			return os.MkdirAll(home, 0o700)
		},
		Condition: func(cond string) (bool, error) {
			if cond != "root" {
				return false, fmt.Errorf("unknown condition %s", cond)
			}
			return os.Geteuid() == 0, nil
		},
		Cmds: commands(),
	})
}

// cmdCCD runs ccd in this process. A last argument <FILE is its stdin: `ccd compact - <story.jsonl`.
func cmdCCD(ts *testscript.TestScript, neg bool, args []string) {
	if code := ccdCode(ts, args); (code != 0) != neg {
		ts.Fatalf("exit code %d", code)
	}
}

// cmdCode runs a command that must exit with the given code: `code 3 ccd restore zzzz`.
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if args[1] == "ccd" {
		got = ccdCode(ts, args[2:])
	} else if args[1] == "exec" {
		var exit *exec.ExitError
		switch err := ts.Exec(args[2], args[3:]...); {
		case errors.As(err, &exit):
			got = exit.ExitCode()
		case err != nil:
			ts.Fatalf("%v", err)
		}
	} else {
		ts.Fatalf("code is for ccd and exec")
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// ccdCode runs ccd in this process, in the script's directory and environment, and returns its exit code.
func ccdCode(ts *testscript.TestScript, args []string) (code int) {
	defer func() {
		if r := recover(); r != nil {
			ts.Fatalf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	in := ""
	if n := len(args) - 1; n >= 0 && strings.HasPrefix(args[n], "<") {
		in, args = ts.ReadFile(args[n][1:]), args[:n]
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	return newApp(std(strings.NewReader(in), ts.Stdout(), ts.Stderr()), account.Env{Vars: environment(ts), Dir: ts.MkAbs("."), Program: programPath}).Execute(ctx, args)
}

// environment returns a script's variables. The package shows them only by name, and keeps older values in its list.
func environment(ts *testscript.TestScript) []string {
	list := reflect.ValueOf(ts).Elem().FieldByName("env")
	var vars []string
	for i := range list.Len() {
		key, _, _ := strings.Cut(list.Index(i).String(), "=")
		vars = append(vars, key+"="+ts.Getenv(key))
	}
	slices.Sort(vars)
	return slices.Compact(vars)
}

// run runs a command in this process.
func run(ctx context.Context, args []string, s cli.Std, env []string) int {
	return newApp(s, account.Env{Vars: env}).Execute(ctx, args)
}

func std(in io.Reader, out, talk io.Writer) cli.Std { return cli.Std{In: in, Out: out, Err: talk} }

// ended is what a command did.
type ended struct {
	code     int
	out, err string
}

// asked runs a command in this process.
func asked(ctx context.Context, env []string, in string, args ...string) ended {
	var out, talk bytes.Buffer
	code := run(ctx, append([]string{}, args...), std(strings.NewReader(in), &out, &talk), env) // cobra takes those of the process for nil
	return ended{code, out.String(), talk.String()}
}

func homeEnv(home string) []string { return []string{"HOME=" + home, "USERPROFILE=" + home} }

func withPath(env []string) []string { return append(env, "PATH="+os.Getenv("PATH")) }

// ccdAt is asked as in a directory, with some variables beside those of a usual environment. The first value of a variable counts.
func ccdAt(t *testing.T, home, dir, stdin string, vars []string, args ...string) ended {
	t.Helper()
	var out, errs bytes.Buffer
	a := newApp(std(strings.NewReader(stdin), &out, &errs), account.Env{Vars: append(vars, withPath(homeEnv(home))...), Dir: dir, Program: programPath})
	code := a.Execute(t.Context(), append([]string{}, args...))
	return ended{code, out.String(), errs.String()}
}

// doneIn runs a command that must succeed, and returns its stdout.
func doneIn(t testing.TB, env []string, args ...string) string {
	t.Helper()
	r := asked(t.Context(), env, "", args...)
	if r.code != words.ExitDone {
		t.Fatalf("ccd %q: exit %d: %s%s", args, r.code, r.out, r.err)
	}
	return r.out
}

func done(t testing.TB, home string, args ...string) string {
	t.Helper()
	return doneIn(t, homeEnv(home), args...)
}

// once brings all of a home up to date.
func once(t testing.TB, home string) { t.Helper(); done(t, home, "run", "--once", "-q") }

// command runs ccd with triggers that fire at once.
func command(t *testing.T, home string, args ...string) []byte {
	t.Helper()
	return []byte(doneIn(t, append(withPath(homeEnv(home)), "CCD_TRIGGER_THRESHOLD=1", "CCD_TRIGGER_MIN_SAVINGS=0"), args...))
}

func ccdIn(home, in string, args ...string) (code int, out, said string) {
	r := asked(context.Background(), homeEnv(home), in, args...)
	return r.code, r.out, r.err
}

func outputs(t *testing.T, home string, args ...string) (stdout []byte, stderr string, code int) {
	r := asked(t.Context(), homeEnv(home), "", args...)
	return []byte(r.out), r.err, r.code
}

func inProcess(t *testing.T, env []string, args ...string) (stdout []byte, code int) {
	t.Helper()
	r := asked(t.Context(), env, "", args...)
	if r.code != words.ExitDone {
		t.Logf("%q: %s", args, r.err)
	}
	return []byte(r.out), r.code
}

func piped(home string, input []byte, args ...string) (out []byte, code int, talk string) {
	r := asked(context.Background(), withPath(homeEnv(home)), string(input), args...)
	return []byte(r.out), r.code, r.err
}

// ran runs a command with input in a new home and returns its output.
func ran(t *testing.T, input []byte, args ...string) []byte {
	t.Helper()
	out, code, talk := piped(t.TempDir(), input, args...)
	if code != 0 {
		t.Fatalf("ccd %q exits %d: %s", args, code, talk)
	}
	return out
}
