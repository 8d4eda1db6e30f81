package packaging

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ccd/internal/atomicfile"
)

// readyWithin is how long Install waits for the daemon to say that it watches.
const readyWithin = 90 * time.Second

// Install writes the service's files where they differ, enables the service, (re)starts it where anything changed or it
// does not run, waits until the daemon says that it watches, and says what it did and how to undo it. Where the daemon
// cannot start with the second layer of confinement, it is started without, and that is said. It fails, with a hint, for
// root without a system service and its user, for a system service without root, where no manager answers, and where
// the daemon does not start.
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
	if err := account(s.o, s.host); err != nil {
		return err
	}
	if err := s.rouse(ctx); err != nil {
		return err
	}
	if current, err := s.current(ctx); err != nil {
		return err
	} else if current {
		s.say("service %s is up to date and running (%s)", name, s.mgr.name)
	} else if err := s.bringUp(ctx); err != nil {
		return err
	}
	err := s.keepOn(ctx)
	s.say("undo with: ccd uninstall%s", s.flag())
	return err
}

func (s *Service) say(format string, args ...any) { fmt.Fprintf(s.o.Out, format+"\n", args...) }

// managerWithin is how long the manager of a user who is not logged in may take to come up.
const managerWithin = 10 * time.Second

// rouse fails where no manager answers. One that goes with the user's last session is not there for who has none: where
// it is to go on without (Options.Linger), it is told so first, which starts it.
func (s *Service) rouse(ctx context.Context) error {
	err := s.probe(ctx)
	if err == nil || !s.mgr.linger || ctx.Err() != nil {
		return err
	}
	if !s.o.Linger {
		return hinted("ccd install --linger, which starts it without a login; or "+s.mgr.hint, errors.Unwrap(err))
	}
	if !s.host.lingers(s.o.User) {
		if err := s.enableLinger(ctx); err != nil {
			return err
		}
	}
	limited, cancel := context.WithTimeout(ctx, managerWithin)
	defer cancel()
	for {
		if err = s.probe(limited); err == nil {
			return nil
		}
		select {
		case <-limited.Done():
			return err
		case <-time.After(patience):
		}
	}
}

// probe fails with a hint where no manager answers, before anything is written.
func (s *Service) probe(ctx context.Context) error {
	if err := s.steps(ctx, s.mgr.probe); err != nil {
		return hinted(s.mgr.hint, fmt.Errorf("%s does not answer: %w", s.mgr.name, err))
	}
	return nil
}

// current reports whether there is nothing to do: the files are as they should be, the manager has read them, and the
// daemon runs from the executable that stands there now.
func (s *Service) current(ctx context.Context) (bool, error) {
	st, err := s.Status(ctx)
	if err != nil || !st.Enabled || !st.Active || st.Stale || s.mgr.file() == "" {
		return false, err
	}
	drift, err := s.Drift()
	return err == nil && len(drift) == 0 && s.host.runs(st.Pid, s.o.Executable), err
}

// bringUp writes the files and starts the daemon: with the first layer, and where it does not start so, with the next.
func (s *Service) bringUp(ctx context.Context) error {
	if err := s.directories(ctx); err != nil {
		return err
	}
	if len(s.mgr.layers) == 0 {
		return s.begin(ctx)
	}
	var first error
	for i, layer := range s.mgr.layers {
		if err := s.write(layer); err != nil {
			return err
		}
		err := s.begin(ctx)
		if err == nil {
			if i > 0 {
				s.say("the sandbox cannot be had here (%v): what the daemon may write is not confined, all else is", first)
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
			s.say("it does not start: %v; trying without the sandbox", err)
		}
	}
	if len(s.mgr.layers) > 1 { // it was not for the sandbox: leave things as they should be
		if err := s.write(s.mgr.layers[0]); err != nil {
			return errors.Join(first, err)
		}
		if err := s.steps(ctx, s.mgr.enable); err != nil {
			return errors.Join(first, err)
		}
	}
	return hinted(s.mgr.logs, first)
}

// begin enables the service, starts it and waits until the daemon watches.
func (s *Service) begin(ctx context.Context) error {
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

// directories makes what the service needs: the manager's as this process, ccd's own as the account that it runs as.
func (s *Service) directories(ctx context.Context) error {
	for _, dir := range s.mgr.dirs {
		if err := os.MkdirAll(dir.path, dir.perm); err != nil {
			return fmt.Errorf("create directory: %w", err)
		}
	}
	for _, dir := range s.o.Own {
		if s.o.System {
			// Never as root: what the user may replace by a link at any time leads anywhere.
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
		if f.asWanted() {
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

// asWanted reports whether the file is as it should be; one that cannot be read is not.
func (f file) asWanted() bool {
	text, err := os.ReadFile(f.path)
	if f.text == nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return err == nil && bytes.Equal(text, f.text)
}

// Drift returns the paths of the service's files that are not what Install would leave there now: with another text,
// missing, or there where none should be. What Install left out because the machine cannot have it is not missing. It
// asks no manager, and says nothing of whether the service is installed at all.
func (s *Service) Drift() ([]string, error) {
	if len(s.mgr.layers) == 0 {
		return nil, nil
	}
	layer := s.mgr.layers[0]
	for _, l := range s.mgr.layers {
		if l[0].asWanted() {
			layer = l
		}
	}
	var all []string
	for _, f := range layer {
		if _, err := os.ReadFile(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read service: %w", err)
		}
		if !f.asWanted() {
			all = append(all, f.path)
		}
	}
	return all, nil
}

// keepOn makes the user's services outlive the last logout where that was asked for, and else says that they do not.
func (s *Service) keepOn(ctx context.Context) error {
	if !s.mgr.linger || s.host.lingers(s.o.User) {
		return nil
	}
	if !s.o.Linger {
		s.say("it ends with your last session, and begins with the next; `ccd install --linger` keeps it running (%s)", strings.Join(s.lingerCommand(), " "))
		return nil
	}
	return s.enableLinger(ctx)
}

func (s *Service) lingerCommand() []string { return []string{"loginctl", "enable-linger", s.o.User} }

// enableLinger makes the user's services outlive the last logout, and says so.
func (s *Service) enableLinger(ctx context.Context) error {
	if _, err := s.host.run(ctx, s.lingerCommand()); err != nil {
		return hinted("sudo "+strings.Join(s.lingerCommand(), " "), fmt.Errorf("let it go on after logout: %w", err))
	}
	s.say("it goes on after logout; undo with: loginctl disable-linger %s", s.o.User)
	return nil
}
