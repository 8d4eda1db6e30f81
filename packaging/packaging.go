// Package packaging installs ccd as a service of the machine, and runs the daemon under that service's manager.
//
// It contains the systemd unit, the launchd plist and the order of the manager's commands. Its invariant: install is
// idempotent, and uninstall removes what install wrote and never touches the archive. It does not know what the daemon
// does.
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
	"syscall"
	"unicode/utf8"

	"ccd/internal/words"
)

// name is the service's name for every manager: ccd.service, the launchd label, the Windows service.
const name = "ccd"

// Options describe the service. All paths are absolute.
type Options struct {
	Executable string   // the ccd binary; a symlink is not resolved, so that upgrades reach the service
	Config     string   // passed to the daemon as --config, "" for its default
	StateDir   string   // directory of the archive, shown to the user
	Home       string   // the home directory of the account that the daemon runs as
	Environ    []string // like os.Environ; the variables that change ccd's roots, state or options are passed to the service
	System     bool     // a service of the machine instead of the user; needs root
	User       string   // the name of that account; required for a System service
	Writes     []string // directories that the daemon writes: its state, the archive, companions
	Own        []string // those of Writes that belong to ccd: install creates only these
	Reads      []string // what it reads besides its configuration: the watched roots
	Log        string   // the daemon's log if the manager keeps none (launchd), "" if the configuration names one
	Child      bool     // the daemon runs a command that is not ccd's: it cannot be confined to what ccd needs
	Out        io.Writer
}

// State is what the service manager and the service's files say, beside what Install would make of them.
type State struct {
	System         bool     // it is a service of the machine, not of the user
	Installed      bool     // Install's file exists, or the service is enabled without it (by a package's file)
	Enabled        bool     // it starts with the session (or the machine)
	Active         bool     // it is running
	Pid            int      // of the running daemon, 0 if none is running or the manager does not know
	Current        bool     // Install has nothing to do: no drift, and the daemon runs from the current executable
	Drift          []string // its files that Install would write or remove; none that this machine does not support
	Files          []string // its files and links that are there: Uninstall removes them
	Places         []string // settings in its file that say where the daemon's files are, and that Install would change
	Sandboxed      bool     // the sandbox is installed: only listed directories are writable
	EndsAtLogout   bool     // it ends with the user's last session: lingering is not enabled
	Stale          bool     // the files have changed since the manager read them
	Silent         error    // why the manager does not answer, nil if it does
	Detail         string   // as the manager prints it ("active (running)"), or Silent
	File           string   // path that the manager loaded the service from, "" if none or unknown
	OtherHome      string   // File, if it belongs to another home: then this home's service is not installed
	BlocksCommands bool     // its file prevents the daemon from running other commands (see Options.Child)

	cause string // why the daemon did not start, "" if the manager does not know
}

// Service is a service that is or can be installed. It keeps nothing open.
type Service struct {
	o    Options
	host host
	mgr  manager
}

// host is the machine; tests replace it.
type host struct {
	goos    string
	uid     int
	etc     string // directory of the machine's configuration
	run     func(ctx context.Context, argv []string) (string, error)
	runs    func(pid int, executable string) bool // whether a process runs the current file
	lingers func(user string) bool
	home    string // of the account in the user database, "" if unknown
}

// New prepares the service of o. It fails if a value cannot be written to a service file: a relative path, a control
// character, or bytes that are not UTF-8. It runs and writes nothing.
func New(o Options) (*Service, error) {
	h := host{goos: runtime.GOOS, uid: os.Geteuid(), etc: "/etc", runs: runs, lingers: lingers, home: homeOf(os.Geteuid())}
	h.run = func(ctx context.Context, argv []string) (string, error) {
		var more []string
		if !o.System && h.goos == "linux" {
			more = session(filepath.Join("/run/user", strconv.Itoa(h.uid)))
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
			return fmt.Errorf("%q is not plain UTF-8 text; a service file cannot contain it", v)
		}
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// checkAccount fails if the service would run without a named user, or as root by accident.
func checkAccount(o Options, h host) error {
	switch {
	case h.goos == "windows":
		return nil
	case o.System && h.uid != 0:
		return words.Hint(errors.New("a system service needs root"), "sudo ccd service install --system --user NAME")
	case o.System && o.User == "":
		return words.Hint(errors.New("a system service needs the user it runs as"), "ccd service install --system --user NAME")
	case !o.System && h.uid == 0:
		return words.Hint(errors.New("root needs a system service, which archives the transcripts of one user"),
			"ccd service install --system --user NAME")
	}
	return nil
}

// Status asks the manager and reads the service's files. If no manager answers, it does not fail: Silent has the cause.
// It writes nothing.
func (s *Service) Status(ctx context.Context) (State, error) {
	st := State{System: s.o.System, EndsAtLogout: s.endsAtLogout()}
	s.compare(&st)
	if err := s.mgr.status(ctx, s.host.run, &st); err != nil {
		if ctx.Err() != nil {
			return st, fmt.Errorf("ask %s: %w", s.mgr.name, ctx.Err())
		}
		st.Silent = fmt.Errorf("%s does not answer: %w", s.mgr.name, err)
		st.Detail = st.Silent.Error()
	}
	st.OtherHome = s.otherHome(st)
	st.Installed = st.Installed || st.Enabled && st.OtherHome == ""
	st.Current = st.Enabled && st.Active && !st.Stale && s.mgr.file != "" && len(st.Drift) == 0 && s.host.runs(st.Pid, s.o.Executable)
	return st, nil
}

// compare reads the service's files.
func (s *Service) compare(st *State) {
	text, err := os.ReadFile(s.mgr.file)
	st.Installed = s.mgr.file != "" && (err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR))
	st.BlocksCommands = bytes.Contains(text, []byte(commandBlock))
	st.Sandboxed = bytes.Contains(text, []byte(sandboxBlock))
	for _, path := range append([]string{s.mgr.file}, s.mgr.links...) {
		if exists(path) {
			st.Files = append(st.Files, path)
		}
	}
	if s.mgr.file != "" && !slices.ContainsFunc(s.mgr.texts, func(wanted []byte) bool { return bytes.Equal(text, wanted) }) {
		st.Drift = []string{s.mgr.file}
	}
	if err == nil && len(s.mgr.texts) > 0 {
		st.Places = s.mgr.patterns.changes(string(text), string(s.mgr.texts[0]))
	}
}

// Manager returns the command of the service manager, such as "systemctl --user".
func (s *Service) Manager() string { return s.mgr.name }

// System reports whether it is a service of the machine, not of the user.
func (s *Service) System() bool { return s.o.System }

// Account returns the name of the account that the installed service runs as, "" if Install has not written one here.
func (s *Service) Account() string {
	text, err := os.ReadFile(s.mgr.file)
	switch {
	case err != nil:
		return ""
	case !s.o.System:
		return s.o.User
	}
	return s.mgr.patterns.accountIn(string(text))
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
