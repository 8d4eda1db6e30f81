package packaging

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ccd/internal/testkit"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// fake is a machine whose service manager answers from a table and writes down what it was asked.
type fake struct {
	asked         []string
	answer        func(command string) (string, error)
	runs, lingers bool
}

func (f *fake) run(_ context.Context, argv []string) (string, error) {
	command := strings.Join(argv, " ")
	f.asked = append(f.asked, command)
	if f.answer == nil {
		return "", nil
	}
	return f.answer(command)
}

func options(home string) Options {
	return Options{
		Executable: "/opt/my tools/ccd", StateDir: home + "/state/ccd", Home: home, User: "sam", Log: home + "/state/ccd/ccd.log",
		Writes: []string{home + "/state/ccd", home + "/50% \"off\"/projects"}, Own: []string{home + "/state/ccd"},
		Reads:   []string{home + "/50% \"off\"/projects"},
		Environ: []string{"PATH=/bin", "CODEX_HOME=/data/50% off/codex", "CCD_LOG_LEVEL=debug", "CCDX=1"},
	}
}

func serviceOn(t *testing.T, o Options, goos string, uid int, f *fake) (*Service, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	o.Out = &out
	s, err := newService(o, host{
		goos: goos, uid: uid, etc: filepath.Join(o.Home, "etc"), run: f.run,
		runs: func(int, string) bool { return f.runs }, lingers: func(string) bool { return f.lingers },
	})
	testkit.Must(t, err)
	return s, &out
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		testkit.Must(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	testkit.Must(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// TestText holds the files that the managers read.
func TestText(t *testing.T) {
	o := options("/home/sam")
	system := Options{
		Executable: "/usr/bin/ccd", Config: "/etc/ccd & <co>/c.toml", StateDir: "/home/sam/state", Home: "/home/sam",
		System: true, User: "sam", Environ: []string{"CODEX_HOME=/srv/o's"},
	}
	child := options("/home/sam")
	child.Child, child.Environ = true, []string{"PATH=/home/sam/bin:/usr/bin", "CCD_SUMMARIZER=1", "HOME=/home/sam"}
	for name, c := range map[string]struct {
		o    Options
		goos string
	}{
		"user.service": {o, "linux"}, "system.service": {system, "linux"},
		"user.plist": {o, "darwin"}, "system.plist": {system, "darwin"}, "child.service": {child, "linux"},
	} {
		s, _ := serviceOn(t, c.o, c.goos, 0, &fake{})
		golden(t, name, string(s.mgr.texts[0]))
		if c.goos == "darwin" {
			testkit.Must(t, xml.Unmarshal(s.mgr.texts[0], new(struct{})))
		}
	}
}

// TestVerbs holds the commands of each verb, in order.
func TestVerbs(t *testing.T) {
	ctx := t.Context()
	var got strings.Builder
	for _, c := range []struct {
		goos   string
		uid    int
		system bool
	}{{"linux", 1000, false}, {"linux", 0, true}, {"darwin", 501, false}} {
		o := options(t.TempDir())
		o.System, o.User = c.system, "sam"
		f := &fake{answer: running}
		s, _ := serviceOn(t, o, c.goos, c.uid, f)
		for _, v := range []struct {
			name string
			do   func(context.Context) error
		}{{"install", s.Install}, {"stop", nil}, {"start", nil}, {"restart", nil}, {"uninstall", s.Uninstall}} {
			f.asked = nil
			if v.do == nil {
				v.do = func(ctx context.Context) error { return s.Do(ctx, v.name) }
			}
			if err := v.do(ctx); err != nil {
				t.Fatalf("%s %s: %v", c.goos, v.name, err)
			}
			fmt.Fprintf(&got, "%s, system %v: %s\n\t%s\n", c.goos, c.system, v.name,
				strings.ReplaceAll(strings.Join(f.asked, "\n\t"), o.Home, "HOME"))
		}
	}
	golden(t, "verbs.txt", got.String())
}

func running(command string) (string, error) {
	if strings.HasPrefix(command, "systemctl") {
		return "UnitFileState=enabled\nActiveState=active\nSubState=running\nMainPID=42\nResult=success\n", nil
	}
	return "gui/501/ccd = {\n\tstate = running\n\tpid = 42\n}\n", nil
}

// TestRefused holds what Install does not do, and that nothing is left behind then.
func TestRefused(t *testing.T) {
	silent := func(string) (string, error) { return "", errors.New("Failed to connect to bus") }
	home := t.TempDir()
	for name, c := range map[string]struct {
		change func(*Options)
		uid    int
		answer func(string) (string, error)
		want   string
	}{
		"root":           {func(*Options) {}, 0, running, "root needs a system service"},
		"system, user":   {func(o *Options) { o.System = true }, 1000, running, "needs root"},
		"system, nobody": {func(o *Options) { o.System, o.User = true, "" }, 0, running, "needs the user"},
		"no manager":     {func(*Options) {}, 1000, silent, "does not answer: Failed to connect to bus"},
		"go run":         {func(o *Options) { o.Executable = "/tmp/go-build1/b001/exe/ccd" }, 1000, running, "will remove"},
	} {
		o := options(home)
		c.change(&o)
		s, _ := serviceOn(t, o, "linux", c.uid, &fake{answer: c.answer})
		err := s.Install(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
			continue
		}
		var h interface{ Hint() string }
		if !errors.As(err, &h) || h.Hint() == "" {
			t.Errorf("%s: no hint", name)
		}
	}
	if left, _ := os.ReadDir(home); len(left) > 0 {
		t.Errorf("refused, and yet wrote %v", left)
	}
}

func TestNewRefuses(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"relative":  func(o *Options) { o.Executable = "ccd" },
		"no home":   func(o *Options) { o.Home = "" },
		"line end":  func(o *Options) { o.Config = "/a\nExecStart=/bin/evil" },
		"line end2": func(o *Options) { o.Environ = []string{"CODEX_HOME=/a\nUser=root"} },
	} {
		o := options("/home/sam")
		change(&o)
		if _, err := New(o); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	o := options("/home/sam")
	o.Environ = append(o.Environ, "PS1=a\nb") // not ours: no matter
	if _, err := New(o); err != nil {
		t.Error(err)
	}
}

func TestStatus(t *testing.T) {
	for _, c := range []struct {
		name, goos string
		answer     func(string) (string, error)
		want       State
	}{
		{"systemd", "linux", running, State{Installed: true, Enabled: true, Active: true, EndsAtLogout: true, Pid: 42, Detail: "active (running)"}},
		{"launchd", "darwin", running, State{Installed: true, Enabled: true, Active: true, Pid: 42, Detail: "running"}},
		{"failed", "linux", func(string) (string, error) {
			return "UnitFileState=disabled\nActiveState=failed\nSubState=failed\nMainPID=0\nResult=exit-code\n", nil
		}, State{EndsAtLogout: true, Detail: "failed (failed), exit-code"}},
		{
			"silent", "linux", func(string) (string, error) { return "", errors.New("no bus") },
			State{EndsAtLogout: true, Detail: "systemctl --user does not answer: no bus"},
		},
		{"not loaded", "darwin", func(c string) (string, error) {
			if strings.HasSuffix(c, "/ccd") {
				return "", errors.New("Could not find service")
			}
			return "", nil
		}, State{Detail: "not loaded"}},
	} {
		s, _ := serviceOn(t, options(t.TempDir()), c.goos, 501, &fake{answer: c.answer})
		got, err := s.Status(t.Context())
		if err != nil || (got.Silent != nil) != (c.name == "silent") || len(got.Drift) == 0 {
			t.Fatalf("%s: %+v, %v", c.name, got, err)
		}
		got.Silent, got.Drift, got.cause = nil, nil, ""
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(State{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
