package packaging

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ccd/internal/atomicfile"
)

// readyWithin is how long Install waits for the daemon to report that it is ready.
const readyWithin = 90 * time.Second

// Install writes the service's files that differ, enables the service, (re)starts it if something changed or it is not
// running, waits until the daemon is ready, and prints what it did and how to undo it. If the daemon does not start in
// the sandbox, Install starts it without one and says so. It fails, with a hint, for root without --system and --user,
// for a system service without root, if no service manager answers, and if the daemon does not start.
func (s *Service) Install(ctx context.Context) error {
	if err := s.install(ctx); err != nil {
		return fmt.Errorf("install service: %w", err)
	}
	return nil
}

func (s *Service) install(ctx context.Context) error {
	if strings.Contains(s.o.Executable, string(filepath.Separator)+"go-build") {
		return hinted("go install ./cmd/ccd, then run install from there",
			fmt.Errorf("%s is a build that `go run` will remove", s.o.Executable))
	}
	if err := checkAccount(s.o, s.host); err != nil {
		return err
	}
	if s.o.Linger && s.endsAtLogout() { // this also starts the manager of a user who is not logged in
		if err := s.enableLinger(ctx); err != nil {
			return err
		}
	}
	st, err := s.CheckInstall(ctx)
	if err != nil {
		return err
	}
	if current, err := s.Current(st); err != nil {
		return err
	} else if current {
		s.say("service %s is up to date and running (%s)", name, s.mgr.name)
	} else if err := s.installLayers(ctx); err != nil {
		return err
	}
	if s.endsAtLogout() {
		s.say("the service stops when you log out; to keep it running: ccd service install --linger (%s)", s.lingerCommand())
	}
	s.say("undo with: ccd service remove%s", s.flag())
	return nil
}

// CheckInstall returns the service's state. It fails, with a hint, if Install cannot work: for root without --system and
// --user, for a system service without root, if no service manager answers, and if the manager has the service of another
// home. It writes nothing.
func (s *Service) CheckInstall(ctx context.Context) (State, error) {
	if err := checkAccount(s.o, s.host); err != nil {
		return State{}, err
	}
	if err := s.probe(ctx); err != nil {
		if s.mgr.linger && !s.o.Linger && !errors.Is(err, exec.ErrNotFound) {
			err = hinted("ccd service install --linger, which starts it without a login; or "+s.mgr.hint, errors.Unwrap(err))
		}
		return State{}, err
	}
	st, err := s.Status(ctx)
	if err == nil && st.OtherHome != "" {
		err = hinted("log in as that user, or set HOME to that directory", fmt.Errorf("%s has the service of another home directory, %s", s.mgr.name, st.OtherHome))
	}
	return st, err
}

func (s *Service) say(format string, args ...any) { fmt.Fprintf(s.o.Out, format+"\n", args...) }

// probe fails with a hint if no manager answers. A manager that lingering has just started needs some time.
func (s *Service) probe(ctx context.Context) error {
	steps := slices.Clone(s.mgr.probe)
	if s.o.Linger {
		for i := range steps {
			steps[i].tries = 50
		}
	}
	if err := s.steps(ctx, steps); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return hinted(s.mgr.hint, fmt.Errorf("%s: %w", strings.Fields(s.mgr.name)[0], exec.ErrNotFound))
		}
		return hinted(s.mgr.hint, fmt.Errorf("%s does not answer: %w", s.mgr.name, err))
	}
	return nil
}

// Current reports whether Install has nothing to do, given the service's state: the files are up to date, the manager has
// read them, and the daemon runs from the current executable.
func (s *Service) Current(st State) (bool, error) {
	if !st.Enabled || !st.Active || st.Stale || s.mgr.file() == "" {
		return false, nil
	}
	drift, err := s.Drift()
	return err == nil && len(drift) == 0 && s.host.runs(st.Pid, s.o.Executable), err
}

// installLayers writes the files of the first layer and starts the daemon. If it does not start, it tries the next
// layer.
func (s *Service) installLayers(ctx context.Context) error {
	if err := s.directories(ctx); err != nil {
		return err
	}
	if len(s.mgr.layers) == 0 {
		return s.startAndWait(ctx)
	}
	var first error
	for i, layer := range s.mgr.layers {
		if err := s.write(layer); err != nil {
			return err
		}
		err := s.startAndWait(ctx)
		if err == nil {
			if i > 0 {
				s.say("this machine does not support the sandbox (%v); the service runs without it", first)
			}
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
		if first == nil {
			first = err
		}
		if i+1 < len(s.mgr.layers) {
			s.say("the daemon did not start: %v; trying without the sandbox", err)
		}
	}
	if len(s.mgr.layers) > 1 { // the sandbox was not the cause: restore the first layer
		if err := s.write(s.mgr.layers[0]); err != nil {
			return errors.Join(first, err)
		}
		if err := s.steps(ctx, s.mgr.enable); err != nil {
			return errors.Join(first, err)
		}
	}
	return hinted(s.mgr.logs, first)
}

// startAndWait enables and starts the service, and waits until the daemon is ready.
func (s *Service) startAndWait(ctx context.Context) error {
	if err := s.steps(ctx, s.mgr.enable); err != nil {
		return err
	}
	start := time.Now()
	limited, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	if err := s.steps(limited, s.mgr.run); err != nil {
		if limited.Err() != nil && ctx.Err() == nil {
			return fmt.Errorf("the daemon was not ready after %s", readyWithin)
		}
		if cause := s.mgr.cause(ctx, s.host.run); cause != "" {
			return fmt.Errorf("start daemon: %s", cause)
		}
		return err
	}
	s.say("service %s is enabled and running (%s), ready after %.2f s", name, s.mgr.name, time.Since(start).Seconds())
	return nil
}

// directories creates the manager's directories, and ccd's own as the account that the service runs as.
func (s *Service) directories(ctx context.Context) error {
	for _, dir := range s.mgr.dirs {
		if err := os.MkdirAll(dir.path, dir.perm); err != nil {
			return fmt.Errorf("create directory: %w", err)
		}
	}
	for _, dir := range s.o.Own {
		if s.o.System {
			// Never as root: the user could replace a parent by a symlink to any place.
			if err := s.steps(ctx, s.mgr.make(dir)); err != nil {
				return fmt.Errorf("create directory as %s: %w", s.o.User, err)
			}
		} else if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("create directory: %w", err)
		}
	}
	return nil
}

func (s *Service) write(layer []file) error {
	for _, f := range layer {
		if f.current() {
			continue
		}
		if f.text == nil {
			if err := os.Remove(f.path); err != nil {
				return fmt.Errorf("remove file: %w", err)
			}
			s.say("removed %s", f.path)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
			return fmt.Errorf("create directory: %w", err)
		}
		if err := atomicfile.Write(f.path, 0o644, f.text); err != nil {
			return err
		}
		s.say("wrote %s", f.path)
	}
	return nil
}

// current reports whether the file has the wanted text. An unreadable file has not.
func (f file) current() bool {
	text, err := os.ReadFile(f.path)
	if f.text == nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return err == nil && bytes.Equal(text, f.text)
}

// Manager returns the command of the service manager, such as "systemctl --user".
func (s *Service) Manager() string { return s.mgr.name }

// Files returns the existing files and links of the service.
func (s *Service) Files() (all []string) {
	for _, layer := range s.mgr.layers {
		for _, f := range layer {
			if !slices.Contains(all, f.path) {
				all = append(all, f.path)
			}
		}
	}
	return slices.DeleteFunc(append(all, s.mgr.links...), func(path string) bool { return !exists(path) })
}

// Drift returns the service's files that Install would change: files with another text, missing files, and files to be
// removed. Files of a layer that this machine does not support do not count as missing. Drift does not call the
// manager, and does not check whether the service is installed.
func (s *Service) Drift() ([]string, error) {
	if len(s.mgr.layers) == 0 {
		return nil, nil
	}
	layer := s.mgr.layers[0]
	for _, l := range s.mgr.layers {
		if l[0].current() {
			layer = l
		}
	}
	var all []string
	for _, f := range layer {
		if _, err := os.ReadFile(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read service: %w", err)
		}
		if !f.current() {
			all = append(all, f.path)
		}
	}
	return all, nil
}

// endsAtLogout reports whether the service ends with the user's last session.
func (s *Service) endsAtLogout() bool { return s.mgr.linger && !s.host.lingers(s.o.User) }

func (s *Service) lingerCommand() string { return "loginctl enable-linger " + s.o.User }

// enableLinger makes the user's services continue after the last logout, and prints it.
func (s *Service) enableLinger(ctx context.Context) error {
	if _, err := s.host.run(ctx, strings.Fields(s.lingerCommand())); err != nil {
		return hinted("sudo "+s.lingerCommand(), fmt.Errorf("enable lingering: %w", err))
	}
	s.say("the service continues after logout; undo with: loginctl disable-linger %s", s.o.User)
	return nil
}
