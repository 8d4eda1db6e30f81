package packaging

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

//go:embed ccd-remote.service.tmpl
var pushText string

//go:embed ccd-remote.timer
var timerText []byte

const (
	timerName = "ccd-remote"
	timerUnit = timerName + ".timer"
	pushUnit  = timerName + ".service"

	// TimerInterval is the time between two pushes, in seconds.
	TimerInterval = 300
)

// Timer pushes to object storage every TimerInterval, under the user's service manager.
type Timer struct{ s *Service }

// NewTimer prepares the timer of o, of which it uses Executable, Config, StateDir, Home, Environ and Out. It fails as New
// does, and, with a hint, on a system without such a manager. It runs and writes nothing.
func NewTimer(o Options) (*Timer, error) {
	s, err := New(o)
	if err != nil {
		return nil, err
	}
	return newTimer(s.o, s.host)
}

func newTimer(o Options, h host) (*Timer, error) {
	var mgr manager
	err := errors.New("there is no timer for this system")
	switch h.goos {
	case "linux":
		mgr, err = systemdTimer(o, h)
	case "darwin":
		mgr, err = launchdTimer(o, h)
	}
	if err != nil {
		return nil, hinted("let the system's scheduler run: ccd remote push -q", fmt.Errorf("describe timer: %w", err))
	}
	return &Timer{&Service{o: o, host: h, mgr: mgr}}, nil
}

const noManager = "let cron run: ccd remote push -q"

func pushArguments(o Options) []string {
	args := []string{o.Executable, "remote", "push", "--quiet"}
	if o.Config != "" {
		args = append(args, "--config", o.Config)
	}
	return args
}

func systemdTimer(o Options, h host) (manager, error) {
	o.System = false
	sc := scopeOf(o, h)
	text, err := pushUnitOf(byTimer, o, strings.ReplaceAll(filepath.Join(o.StateDir, "remote", "remote.json"), "%", "%%"))
	if err != nil {
		return manager{}, err
	}
	do := func(args ...string) step { return step{argv: append(append([]string{}, sc.ctl...), args...)} }
	may := func(args ...string) step { st := do(args...); st.optional = true; return st }
	wants := filepath.Join(sc.dir, "timers.target.wants")
	return manager{
		name: strings.Join(sc.ctl, " "), hint: noManager,
		layers: [][]file{{{filepath.Join(sc.dir, timerUnit), timerText}, {filepath.Join(sc.dir, pushUnit), text}}},
		links:  []string{filepath.Join(wants, timerUnit)}, dirs: []folder{{sc.dir, 0o755}}, made: []string{wants, sc.dir, filepath.Dir(sc.dir)},
		probe:   []step{do("show", "--property=Version")},
		enable:  []step{do("daemon-reload"), do("enable", timerUnit), do("restart", timerUnit)},
		remove:  []step{may("stop", timerUnit, pushUnit), may("disable", timerUnit)},
		removed: []step{do("daemon-reload"), may("reset-failed", pushUnit)},
	}, nil
}

// byTimer is the first line of the unit that Install writes.
const byTimer = "Written by `ccd remote timer`, which replaces it"

// pushUnitOf returns the unit that the timer starts. condition is the path without which it does nothing.
func pushUnitOf(origin string, o Options, condition string) ([]byte, error) {
	return fill(pushText, map[string]any{
		"Origin": origin, "Exec": execOf(pushArguments(o)), "Environment": variablesOf(o), "Condition": condition,
	})
}

func launchdTimer(o Options, h host) (manager, error) {
	domain, path := "gui/"+strconv.Itoa(h.uid), filepath.Join(o.Home, "Library/LaunchAgents", timerName+".plist")
	text, err := plistOf(timerName, environment(o), pushArguments(o), "", TimerInterval)
	if err != nil {
		return manager{}, err
	}
	job := domain + "/" + timerName
	do := func(args ...string) step { return step{argv: append([]string{"launchctl"}, args...)} }
	may := func(args ...string) step { st := do(args...); st.optional = true; return st }
	return manager{
		name: "launchctl", hint: noManager, layers: [][]file{{{path, text}}}, dirs: []folder{{filepath.Dir(path), 0o755}},
		probe:  []step{do("print", domain)},
		enable: []step{may("bootout", job), do("enable", job), {argv: []string{"launchctl", "bootstrap", domain, path}, tries: 50}},
		remove: []step{may("bootout", job), may("disable", job)},
	}, nil
}

// Install writes the timer's files that differ, and (re)starts it. It fails, with a hint, if no service manager answers.
func (t *Timer) Install(ctx context.Context) error {
	err := t.s.probe(ctx)
	if err == nil {
		err = t.s.directories(ctx)
	}
	if err == nil {
		err = t.s.write(t.s.mgr.layers[0])
	}
	if err == nil {
		err = t.s.steps(ctx, t.s.mgr.enable)
	}
	if err != nil {
		return fmt.Errorf("install timer: %w", err)
	}
	t.s.say("pushes every %d minutes (%s); undo with: ccd remote timer --off", TimerInterval/60, t.s.mgr.name)
	return nil
}

// Installed reports whether the timer is enabled or one of its files exists.
func (t *Timer) Installed() bool { return len(t.s.Files()) > 0 }

// Remove stops the timer and removes its files. It succeeds if there is none, and removes the files even if no manager answers.
func (t *Timer) Remove(ctx context.Context) error {
	if !t.Installed() {
		return nil
	}
	probed := t.s.probe(ctx)
	var err error
	if probed == nil {
		err = t.s.steps(ctx, t.s.mgr.remove)
	}
	if err == nil {
		_, err = t.s.unlink()
	}
	if err == nil && probed == nil {
		err = t.s.steps(ctx, t.s.mgr.removed)
	}
	if err != nil {
		return fmt.Errorf("remove timer: %w", err)
	}
	return nil
}

// Drift returns the timer's files that Install would change.
func (t *Timer) Drift() ([]string, error) { return t.s.Drift() }
