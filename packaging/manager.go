package packaging

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// manager is one service manager: which files it reads, and each verb as a row of steps.
type manager struct {
	name string
	// layers are the files of the service, the first layer as it should be, the others for machines that cannot have
	// that. The first file of each is the service's own. None: the manager keeps its services itself.
	layers  [][]file
	sandbox string   // the file that stands in the first layer alone, "" where there is none
	links   []string // what enabling leaves behind
	dirs    []folder // made before files are written
	made    []string // directories that go with the files where they are empty, an inner one first
	linger  bool     // services of a user end with the last session, unless told otherwise
	hint    string   // where it does not answer
	logs    string   // the command that shows what the daemon said
	probe   []step   // fail where it does not

	enable, run, remove, removed, start, stop, restart []step

	// make makes a directory as the account of a system service.
	make func(dir string) []step
	// status fills in what the manager knows; Installed is set where its file is there.
	status func(ctx context.Context, run runner, st *State) error
	// account reads the account's name from a system service's file.
	account func(text string) string
	// places reads what a service's file says of where the daemon works, one setting each.
	places func(text string) []string
	// cause tells why the daemon did not start, as far as the manager knows; "" where it does not.
	cause func(ctx context.Context, run runner) string
}

// file is what is to stand at a path; nil text: nothing.
type file struct {
	path string
	text []byte
}

// file is the path of the service's own file, "" where there is none.
func (m manager) file() string {
	if len(m.layers) == 0 {
		return ""
	}
	return m.layers[0][0].path
}

type folder struct {
	path string
	perm fs.FileMode
}

// runner runs a command and returns what it printed.
type runner func(ctx context.Context, argv []string) (string, error)

// step is one command, or one call.
type step struct {
	argv  []string
	do    func() error
	may   bool // it may fail: what it undoes is perhaps not there
	tries int  // how often it is tried, 200 ms apart; 0 is once
}

// patience is how long a manager gets between two tries of one step.
const patience = 200 * time.Millisecond

func (s *Service) steps(ctx context.Context, steps []step) error {
	for _, st := range steps {
		err := s.step(ctx, st)
		for n := 1; err != nil && n < st.tries && ctx.Err() == nil; n++ {
			select {
			case <-ctx.Done():
			case <-time.After(patience):
				err = s.step(ctx, st)
			}
		}
		if err != nil && (!st.may || ctx.Err() != nil) {
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

// command runs argv, with more in its environment; its error carries what the command said on stderr, for that is the
// cause.
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

// moves tells the variables that a shell may have and a service manager does not: without them the service would watch
// other roots, or use another archive, than the same ccd in the foreground.
func moves(variable string) bool {
	key, _, _ := strings.Cut(variable, "=")
	known := []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"}
	return slices.Contains(known, key) || strings.HasPrefix(key, "CCD_") && key != "CCD_SUMMARIZER"
}

// accountOf is what the file of a system service says of its account; a user's own has no need to.
func accountOf(o Options) string {
	if o.System {
		return o.User
	}
	return ""
}

// environment returns the variables that the service needs, sorted; a system service gets none of root's.
func environment(o Options) []string {
	if o.System {
		return nil
	}
	var env []string
	for _, v := range o.Environ {
		if (moves(v) || o.Child && strings.HasPrefix(v, "PATH=")) && !(o.Config != "" && strings.HasPrefix(v, "CCD_CONFIG=")) {
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

// hintError is an error with the command to try.
type hintError struct {
	error
	hint string
}

func hinted(hint string, err error) error { return &hintError{err, hint} }

// Hint returns the command to try; whoever prints the error finds it with errors.As and an interface of this method.
func (e *hintError) Hint() string { return e.hint }

// Unwrap returns the cause.
func (e *hintError) Unwrap() error { return e.error }
