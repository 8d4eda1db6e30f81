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
	"strconv"
	"strings"
	"unicode/utf8"
)

// name is the service's name to every manager: ccd.service, the launchd label, the Windows service.
const name = "ccd"

// ErrNotInstalled is what Start, Stop and Restart fail with where no service is installed.
var ErrNotInstalled = errors.New("the service is not installed")

// Options says which service is meant. All paths are absolute.
type Options struct {
	Executable string   // the ccd binary; a symlink to it is kept as it is, so that upgrades reach the service
	Config     string   // passed to the daemon as --config, "" for its default
	StateDir   string   // where the archive lives: told to people
	Home       string   // the home directory of the account that the daemon runs as
	Environ    []string // as os.Environ: what of it moves ccd's roots, state or options goes into the service
	System     bool     // a service of the machine instead of the user's own; needs root
	User       string   // the name of that account; a System service cannot be installed without
	Writes     []string // directories that the daemon writes: its state, the archive's, and where companions go
	Own        []string // those of Writes that are ccd's own: install makes them, and no others
	Reads      []string // what it reads beside its configuration: the watched roots
	Log        string   // the daemon's log where the manager keeps none (launchd), "" where the configuration names one
	Linger     bool     // install has the user's services go on after the last logout
	Child      bool     // the daemon runs a command that is not ccd's own: it is not confined to what ccd itself needs
	Out        io.Writer
}

// State is what the service manager says of the service.
type State struct {
	Installed bool   // the file that Install writes is there, or the service is enabled without (by a package's own file)
	Enabled   bool   // it starts with the session (or the machine)
	Active    bool   // it runs now
	Pid       int    // of the running daemon, 0 where none runs or the manager does not tell
	Sandboxed bool   // the second layer is there too: what the daemon may write is named directory by directory
	Ends      bool   // it ends with the user's last session: Options.Linger changes that
	Stale     bool   // the manager has not read the files as they are now: they were changed since
	Detail    string // in the manager's words: "active (running)", or why it cannot be asked
	File      string // that the manager has the service from, "" where there is none or it does not tell
	Foreign   string // the same, where that is another home's: this one's is not installed then
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
	goos    string
	uid     int
	etc     string // where the machine's configuration stands
	run     func(ctx context.Context, argv []string) (string, error)
	runs    func(pid int, executable string) bool // whether a process runs the file that stands there now
	lingers func(user string) bool
	home    string // of the account in the machine's list of accounts, "" where it is not known
}

// New prepares the service of o. It fails where o cannot be written into a service's file: a relative path, a control
// character, bytes that are not UTF-8. Nothing is run and nothing is written yet.
func New(o Options) (*Service, error) {
	h := host{goos: runtime.GOOS, uid: os.Geteuid(), etc: "/etc", runs: runs, lingers: lingers, home: homeOf(os.Geteuid())}
	h.run = func(ctx context.Context, argv []string) (string, error) {
		var more []string
		if !o.System && h.goos == "linux" {
			more = session(os.Getenv("XDG_RUNTIME_DIR"), filepath.Join("/run/user", strconv.Itoa(h.uid)), h.uid)
		}
		return command(ctx, more, argv)
	}
	return newService(o, h)
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
	paths := slices.Concat([]string{o.Executable, o.Home, o.StateDir}, o.Writes, o.Own, o.Reads)
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			return fmt.Errorf("path %q is not absolute", p)
		}
	}
	if o.Config != "" && !filepath.IsAbs(o.Config) {
		return fmt.Errorf("path %q is not absolute", o.Config)
	}
	for _, v := range slices.Concat(paths, []string{o.Config, o.User, o.Log}, environment(o)) {
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

// Status asks the manager. Where none answers it is no error: Detail says so, and Installed tells whether the file is
// there. It writes nothing.
func (s *Service) Status(ctx context.Context) (State, error) {
	st := State{Ends: s.mgr.linger && !s.host.lingers(s.o.User)}
	if s.mgr.file() != "" {
		text, err := os.ReadFile(s.mgr.file())
		st.Installed = err == nil || !errors.Is(err, fs.ErrNotExist)
		st.Confined = bytes.Contains(text, []byte(confines))
		st.Sandboxed = st.Installed && s.mgr.sandbox != "" && exists(s.mgr.sandbox)
	}
	if err := s.mgr.status(ctx, s.host.run, &st); err != nil {
		if ctx.Err() != nil {
			return st, fmt.Errorf("ask %s: %w", s.mgr.name, ctx.Err())
		}
		st.Detail = fmt.Sprintf("%s does not answer: %v", s.mgr.name, err)
	}
	st.Foreign = s.foreign(st)
	st.Installed = st.Installed || st.Enabled && st.Foreign == ""
	return st, nil
}

// System reports whether it is a service of the machine, not the user's own.
func (s *Service) System() bool { return s.o.System }

// Account returns the name of the account that the installed service runs as, "" where Install has not written one here.
func (s *Service) Account() string {
	text, err := os.ReadFile(s.mgr.file())
	switch {
	case err != nil:
		return ""
	case !s.o.System:
		return s.o.User
	}
	return s.mgr.account(string(text))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func (s *Service) flag() string {
	if s.o.System {
		return " --system"
	}
	return ""
}
