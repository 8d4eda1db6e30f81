package account

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"ccd/daemon"
	"ccd/internal/ownfile"
	"ccd/internal/words"
	"ccd/packaging"
)

// Service describes the service of this binary with this configuration, installed or not. o says whose service it is (System
// and User) and where its output goes (Out). Service fills in the other options. It fails as packaging.New does.
func (p *Place) Service(o packaging.Options) (*packaging.Service, error) {
	var err error
	if o.Executable, err = p.Env.Executable(); err != nil {
		return nil, err
	}
	if o.User == "" && !o.System {
		o.User = Name()
	}
	o.Home, o.StateDir, o.Environ, o.Child = p.Home, p.StateDir, p.Env.Vars, p.Config.RunsCommands()
	o.Own = []string{p.StateDir, filepath.Dir(p.ArchivePath)}
	if p.Config.Companion.Dir != "" {
		o.Own = append(o.Own, p.Config.Companion.Dir)
	}
	for _, r := range p.Roots {
		o.Reads = append(o.Reads, r.Path)
	}
	if o.Writes = slices.Clone(o.Own); p.Config.Companion.Dir == "" {
		o.Writes = append(o.Writes, o.Reads...)
	}
	if file := p.Config.Log.File; file != "" {
		o.Writes = append(o.Writes, filepath.Dir(file))
	} else {
		o.Log = filepath.Join(p.StateDir, "ccd.log")
	}
	if p.Env.ConfigFile != "" {
		o.Config = p.Env.Absolute(p.Env.ConfigFile)
	}
	return packaging.New(o)
}

// Installed returns the service that is installed for this user: the user's own, else the system service that runs as this
// user. If there is neither, it returns the user's own, whose Status says that it is not installed. It fails as Service does.
func (p *Place) Installed(out io.Writer) (*packaging.Service, error) {
	own, err := p.Service(packaging.Options{Out: out})
	if err != nil || own.Account() != "" {
		return own, err
	}
	machine, err := p.Env.MachineService(Name(), out)
	if err == nil && machine.Account() == Name() {
		return machine, nil
	}
	return own, nil
}

// ServiceState returns the service that Installed finds, with its state. It fails as Service does, and if ctx ends.
func (p *Place) ServiceState(ctx context.Context, out io.Writer) (s *packaging.Service, st packaging.State, err error) {
	if s, err = p.Installed(out); err == nil {
		st, err = s.Status(ctx)
	}
	return s, st, err
}

// MachineService describes the system service that runs as the named account, with that account's home directory and
// without this environment. It fails as As and Place do.
func (e Env) MachineService(name string, out io.Writer) (*packaging.Service, error) {
	as, err := e.As(name)
	if err != nil {
		return nil, err
	}
	p, err := as.Place(true)
	if err != nil {
		return nil, err
	}
	return p.Service(packaging.Options{System: true, User: name, Out: out})
}

// Foreground returns the pid of a running daemon that is not the service, 0 if there is none.
func Foreground(ctx context.Context, s *packaging.Service, stateDir string) int {
	info, running, _ := daemon.ReadRun(stateDir) // the daemon reports what cannot be read
	if !running {
		return 0
	}
	if st, err := s.Status(ctx); err == nil && st.OtherHome == "" && (st.Pid == info.Pid || st.Active && st.Pid == 0) {
		return 0
	}
	return info.Pid
}

// Executable returns the absolute path by which ccd was called. It does not resolve symlinks, because a package
// manager's link outlives the version that it points to. If that path cannot be found, it returns the file itself.
func (e Env) Executable() (string, error) {
	if e.Program != "" {
		return e.Program, nil
	}
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	called, err := exec.LookPath(os.Args[0])
	if err != nil {
		return exe, nil
	}
	if called, err = filepath.Abs(called); err != nil || !ownfile.Same(called, exe) {
		return exe, nil
	}
	return called, nil
}

// FindRemote returns the path of ccd-remote: beside this program, else in PATH. It has the network client, so that ccd needs none. It fails
// with a hint.
func (e Env) FindRemote() (string, error) {
	name := "ccd-remote"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if own, err := os.Executable(); err == nil {
		if own, err = filepath.EvalSymlinks(own); err == nil {
			if beside, err := exec.LookPath(filepath.Join(filepath.Dir(own), name)); err == nil {
				return beside, nil
			}
		}
	}
	if path, err := e.LookPath(name); err == nil {
		return path, nil
	}
	return "", words.Hint(errors.New("run ccd-remote: not found beside ccd nor in PATH"), "install it from the same release as ccd; in a clone: make install")
}
