// Package packaging makes ccd a service of the machine it runs on and runs the daemon under that service's manager.
//
// It owns the text of the systemd unit and of the launchd plist, and the order of the manager's commands. Its
// invariant: install is idempotent, and uninstall removes what install wrote and never touches the archive. It knows
// nothing of what the daemon does.
package packaging

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"ccd/internal/atomicfile"
)

// name is the service's name to every manager: ccd.service, the launchd label, the Windows service.
const name = "ccd"

// ErrNotInstalled is what Start, Stop and Restart fail with where no service is installed.
var ErrNotInstalled = errors.New("the service is not installed")

// Options says which service is meant. All paths are absolute.
type Options struct {
	Executable string   // the ccd binary; a symlink to it is kept as it is, so that upgrades reach the service
	Config     string   // passed to the daemon as --config, "" for its default
	StateDir   string   // where the archive lives: told to people, and where launchd's log stands
	Home       string   // the user's home directory
	Environ    []string // as os.Environ: what of it moves ccd's roots, state or options goes into the service
	System     bool     // a service of the machine instead of the user's own; needs root
	User       string   // of a System service: the account that it runs as
	Child      bool     // the daemon runs a command that is not ccd's own: it is not confined to what ccd itself needs
	Out        io.Writer
}

// State is what the service manager says of the service.
type State struct {
	Installed bool   // the manager's file is there
	Enabled   bool   // it starts with the session (or the machine)
	Active    bool   // it runs now
	Pid       int    // of the running daemon, 0 where none runs or the manager does not tell
	Detail    string // in the manager's words: "active (running)", or why it cannot be asked
	Confined  bool   // its file keeps it from running commands that are not ccd's own (Options.Child)
}

// Service is one installed, or installable, service. It holds nothing open.
type Service struct {
	o    Options
	host host
	mgr  manager
}

// host is the machine as this package sees it; tests put their own in its place.
type host struct {
	goos string
	uid  int
	run  func(ctx context.Context, argv []string) (string, error)
}

// New prepares the service of o. It fails where o cannot be written into a service's file: a relative path, a control
// character, bytes that are not UTF-8. Nothing is run and nothing is written yet.
func New(o Options) (*Service, error) {
	return newService(o, host{goos: runtime.GOOS, uid: os.Geteuid(), run: command})
}

func newService(o Options, h host) (*Service, error) {
	if o.Out == nil {
		o.Out = io.Discard
	}
	if err := check(o); err != nil {
		return nil, fmt.Errorf("describe service: %w", err)
	}
	mgr, err := managerOf(o, h)
	if err != nil {
		return nil, fmt.Errorf("describe service: %w", err)
	}
	return &Service{o: o, host: h, mgr: mgr}, nil
}

func check(o Options) error {
	for _, p := range []string{o.Executable, o.Home, o.StateDir} {
		if !filepath.IsAbs(p) {
			return fmt.Errorf("path %q is not absolute", p)
		}
	}
	if o.Config != "" && !filepath.IsAbs(o.Config) {
		return fmt.Errorf("path %q is not absolute", o.Config)
	}
	for _, v := range slices.Concat([]string{o.Executable, o.Home, o.StateDir, o.Config, o.User}, environment(o)) {
		if strings.ContainsFunc(v, isControl) || !utf8.ValidString(v) {
			return fmt.Errorf("%q is not plain UTF-8 text, and no service file can carry it", v)
		}
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// account fails where the service would run as nobody named, or as root by accident.
func account(o Options, h host) error {
	switch {
	case h.goos == "windows":
		return nil
	case o.System && h.uid != 0:
		return hinted("sudo ccd install --system --user NAME", errors.New("a system service needs root"))
	case o.System && o.User == "":
		return hinted("ccd install --system --user NAME", errors.New("a system service needs the user it runs as"))
	case !o.System && h.uid == 0:
		return hinted("ccd install --system --user NAME, or run it as the user",
			errors.New("root has no service of its own: ccd serves one user's transcripts"))
	}
	return nil
}

// Install writes the service's file where it differs, enables the service and (re)starts it, and says what it did and
// how to undo it. Run again it repairs what is amiss and restarts the daemon. It fails, with a hint, for root without a
// system service and its user, for a system service without root, and where no manager answers.
func (s *Service) Install(ctx context.Context) error {
	if err := s.install(ctx); err != nil {
		return fmt.Errorf("install service: %w", err)
	}
	fmt.Fprintf(s.o.Out, "service %s is enabled and running (%s)\nundo with: ccd uninstall%s\n", name, s.mgr.name, s.flag())
	return nil
}

func (s *Service) install(ctx context.Context) error {
	if strings.Contains(s.o.Executable, string(filepath.Separator)+"go-build") {
		return hinted("go install ./cmd/ccd, then run install from there",
			fmt.Errorf("%s is a build that `go run` will remove", s.o.Executable))
	}
	if err := account(s.o, s.host); err != nil {
		return err
	}
	if err := s.probe(ctx); err != nil {
		return err
	}
	if err := s.write(); err != nil {
		return err
	}
	return s.steps(ctx, s.mgr.install)
}

// probe fails with a hint where no manager answers, before anything is written.
func (s *Service) probe(ctx context.Context) error {
	if err := s.steps(ctx, s.mgr.probe); err != nil {
		return hinted(s.mgr.hint, fmt.Errorf("%s does not answer: %w", s.mgr.name, err))
	}
	return nil
}

func (s *Service) write() error {
	if s.mgr.file == "" {
		return nil
	}
	for _, dir := range s.mgr.dirs {
		if err := os.MkdirAll(dir.path, dir.perm); err != nil {
			return fmt.Errorf("create directory: %w", err)
		}
	}
	old, err := os.ReadFile(s.mgr.file)
	if err == nil && bytes.Equal(old, s.mgr.text) {
		fmt.Fprintf(s.o.Out, "%s is up to date\n", s.mgr.file)
		return nil
	}
	if err := atomicfile.Write(s.mgr.file, 0o644, s.mgr.text); err != nil {
		return err
	}
	fmt.Fprintf(s.o.Out, "wrote %s\n", s.mgr.file)
	return nil
}

// Uninstall stops and disables the service and removes its file and the links to it. The archive stays, and where it
// stands is told. It succeeds where nothing is installed, and removes the files also where no manager answers.
func (s *Service) Uninstall(ctx context.Context) error {
	probed := s.probe(ctx)
	if probed == nil {
		if err := s.steps(ctx, s.mgr.remove); err != nil {
			return fmt.Errorf("uninstall service: %w", err)
		}
	}
	removed, err := s.unlink()
	if err != nil {
		return fmt.Errorf("uninstall service: %w", err)
	}
	if probed == nil {
		if err := s.steps(ctx, s.mgr.removed); err != nil {
			return fmt.Errorf("uninstall service: %w", err)
		}
	} else if s.mgr.file == "" {
		return fmt.Errorf("uninstall service: %w", probed)
	}
	if !removed && s.mgr.file != "" {
		fmt.Fprintf(s.o.Out, "no service was installed (%s)\n", s.mgr.name)
	} else {
		fmt.Fprintf(s.o.Out, "service %s is stopped and removed\n", name)
	}
	fmt.Fprintf(s.o.Out, "the archive stays in %s\n", s.archive())
	return nil
}

// archive tells where the archive stands. Of a system service only its user's environment knows that.
func (s *Service) archive() string {
	if s.o.System {
		return "the state directory of the user that the service ran as"
	}
	return s.o.StateDir
}

// unlink removes the service's file and the links to it, and tells each.
func (s *Service) unlink() (removed bool, err error) {
	for _, p := range append([]string{s.mgr.file}, s.mgr.links...) {
		if p == "" {
			continue
		}
		switch err := os.Remove(p); {
		case err == nil:
			removed = true
			fmt.Fprintf(s.o.Out, "removed %s\n", p)
		case !errors.Is(err, fs.ErrNotExist):
			return removed, err
		}
	}
	return removed, nil
}

// Start starts the installed service and returns when the manager says that it runs. It fails with ErrNotInstalled
// where there is none.
func (s *Service) Start(ctx context.Context) error { return s.verb(ctx, "start", s.mgr.start) }

// Stop stops the service until it is started again or the session begins anew. ErrNotInstalled as for Start.
func (s *Service) Stop(ctx context.Context) error { return s.verb(ctx, "stop", s.mgr.stop) }

// Restart stops the service, where it runs, and starts it. ErrNotInstalled as for Start.
func (s *Service) Restart(ctx context.Context) error { return s.verb(ctx, "restart", s.mgr.restart) }

func (s *Service) verb(ctx context.Context, verb string, steps []step) error {
	st, err := s.Status(ctx)
	if err == nil && !st.Installed {
		install := "ccd install"
		if s.o.System {
			install += " --system --user NAME"
		}
		err = hinted(install, ErrNotInstalled)
	}
	if err == nil && verb == "stop" && !st.Active {
		fmt.Fprintf(s.o.Out, "service %s does not run\n", name)
		return nil
	}
	if err == nil {
		err = s.probe(ctx)
	}
	if err == nil {
		err = s.steps(ctx, steps)
	}
	if err != nil {
		return fmt.Errorf("%s service: %w", verb, err)
	}
	return nil
}

// Status asks the manager. Where none answers it is no error: Detail says so, and Installed tells whether the file is
// there. It writes nothing.
func (s *Service) Status(ctx context.Context) (State, error) {
	var st State
	if s.mgr.file != "" {
		text, err := os.ReadFile(s.mgr.file)
		st.Installed = err == nil || !errors.Is(err, fs.ErrNotExist)
		st.Confined = bytes.Contains(text, []byte(confines))
	}
	if err := s.mgr.status(ctx, s.host.run, &st); err != nil {
		if ctx.Err() != nil {
			return st, fmt.Errorf("ask %s: %w", s.mgr.name, ctx.Err())
		}
		st.Detail = fmt.Sprintf("%s does not answer: %v", s.mgr.name, err)
	}
	return st, nil
}

func (s *Service) flag() string {
	if s.o.System {
		return " --system"
	}
	return ""
}
