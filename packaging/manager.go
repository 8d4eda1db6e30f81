package packaging

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// manager describes one service manager: the file that it reads, and the steps of each verb.
type manager struct {
	name   string
	file   string   // the service's own; "": the manager stores its services itself
	texts  [][]byte // that the file may have: the preferred one first, then that for a machine that does not support it
	links  []string // created by enabling the service
	made   []string // directories removed after the files if they are empty, inner ones first
	linger bool     // a user's services end with the last session, unless lingering is enabled
	hint   string   // for the error if the manager does not answer
	logs   string   // command that shows the daemon's log

	enable, run, remove, removed []step

	verbs map[string][]step // start, stop and restart

	// make creates a directory as the account of a system service.
	make func(dir string) []step
	// status fills in what the manager knows. Installed is already set if the file exists. It fails if the manager does
	// not answer.
	status func(ctx context.Context, run runner, st *State) error
	// patterns find settings in the service's own file.
	patterns filePatterns
}

// filePatterns match settings in a file that this package wrote.
type filePatterns struct{ account, config, variable *regexp.Regexp }

// accountIn returns the account's name in a system service's file.
func (g filePatterns) accountIn(text string) string {
	if found := g.account.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}

// places returns the settings of a service's file that determine the daemon's files: configuration and environment.
func (g filePatterns) places(text string) (all []string) {
	if found := g.config.FindStringSubmatch(text); found != nil {
		all = append(all, "--config "+found[1])
	}
	for _, found := range g.variable.FindAllStringSubmatch(text, -1) {
		v := strings.Join(found[1:], "=")
		if key, _, _ := strings.Cut(strings.TrimPrefix(v, `"`), "="); key != "PATH" && key != "CCD_LOG_LEVEL" {
			all = append(all, v)
		}
	}
	return all
}

// changes returns the places in the text that wanted has not, and those that it has beside them.
func (g filePatterns) changes(text, wanted string) (all []string) {
	there, wants := g.places(text), g.places(wanted)
	for _, v := range there {
		if !slices.Contains(wants, v) {
			all = append(all, v)
		}
	}
	for _, v := range wants {
		if !slices.Contains(there, v) {
			all = append(all, "not "+v)
		}
	}
	return all
}

// runner runs a command and returns its output.
type runner func(ctx context.Context, argv []string) (string, error)

// step is one command or function call.
type step struct {
	argv     []string
	do       func() error
	optional bool // failing is no error: there may be nothing to undo
	again    bool // it may fail for some time: there are so many tries
}

// tries is the number of attempts at what takes some time to succeed.
const tries = 50

// pause waits between two attempts. It returns false if ctx ends.
func pause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(200 * time.Millisecond):
		return true
	}
}

func (s *Service) steps(ctx context.Context, steps []step) error {
	for _, st := range steps {
		err := s.step(ctx, st)
		for n := 1; err != nil && st.again && n < tries && pause(ctx); n++ {
			err = s.step(ctx, st)
		}
		if err != nil && (!st.optional || ctx.Err() != nil) {
			return err
		}
	}
	return nil
}

func (s *Service) step(ctx context.Context, st step) error {
	if st.do != nil {
		return st.do()
	}
	_, err := s.host.run(ctx, st.argv)
	return err
}

// command runs argv with additional environment variables. Its error contains stderr, which has the cause.
func command(ctx context.Context, more, argv []string) (string, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), more...)
	cmd.WaitDelay = 5 * time.Second
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err == nil {
		return string(out), nil
	}
	if cause := strings.TrimSpace(said.String()); cause != "" {
		return string(out), fmt.Errorf("run %s: %s", strings.Join(argv, " "), strings.ReplaceAll(cause, "\n", "; "))
	}
	return string(out), fmt.Errorf("run %s: %w", strings.Join(argv, " "), err)
}

func managerOf(o Options, h host) (manager, error) {
	switch h.goos {
	case "linux":
		return systemd(o, h)
	case "darwin":
		return launchd(o, h)
	}
	return native(o)
}

// isOurVariable reports whether an environment variable changes ccd's roots or archive. A service manager lacks the
// shell's variables, so the service would use other places than ccd in the foreground.
func isOurVariable(variable string) bool {
	key, _, _ := strings.Cut(variable, "=")
	known := []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"}
	return slices.Contains(known, key) || strings.HasPrefix(key, "CCD_") && key != "CCD_SUMMARIZER"
}

// accountOf returns the account for the file of a system service; a user's service needs none.
func accountOf(o Options) string {
	if o.System {
		return o.User
	}
	return ""
}

// environment returns the variables that the service needs, sorted. A system service gets none, because they are
// root's.
func environment(o Options) []string {
	if o.System {
		return nil
	}
	var env []string
	for _, v := range o.Environ {
		if (isOurVariable(v) || o.Child && strings.HasPrefix(v, "PATH=")) && !(o.Config != "" && strings.HasPrefix(v, "CCD_CONFIG=")) {
			env = append(env, v)
		}
	}
	slices.Sort(env)
	return env
}

// arguments returns the daemon's command line.
func arguments(o Options) []string {
	if o.Config == "" {
		return []string{o.Executable, "run"}
	}
	return []string{o.Executable, "run", "--config", o.Config}
}
