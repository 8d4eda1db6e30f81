package packaging

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"ccd/internal/atomicfile"
	"ccd/internal/words"
)

// readyWithin is how long Install waits for the daemon to report that it is ready.
const readyWithin = 90 * time.Second

// Install writes the service's file if it differs, enables the service, (re)starts it if something changed or it is not
// running, waits until the daemon is ready, and prints what it did and how to undo it. If the daemon does not start in
// the sandbox, Install starts it without one and says so. It fails, with a hint, as CanInstall does, and if the daemon
// does not start.
func (s *Service) Install(ctx context.Context) error {
	if err := s.install(ctx); err != nil {
		return fmt.Errorf("install service: %w", err)
	}
	return nil
}

func (s *Service) install(ctx context.Context) error {
	if strings.Contains(s.o.Executable, string(filepath.Separator)+"go-build") {
		return words.Hint(fmt.Errorf("%s is a build that `go run` will remove", s.o.Executable), "make install, then run that one")
	}
	st, err := s.Status(ctx)
	if err == nil {
		err = s.CanInstall(st)
	}
	switch {
	case err != nil:
	case st.Current:
		s.say("service %s is up to date and running (%s)", name, s.mgr.name)
	default:
		err = s.installFile(ctx)
	}
	if err != nil {
		return err
	}
	if s.endsAtLogout() {
		s.say("the service stops when you log out; to keep it running: %s", s.lingerCommand())
	}
	s.say("undo with: ccd service remove%s", s.flag())
	return nil
}

// CanInstall fails, with a hint, if Install cannot work in this state: for root without --system and --user, for a system
// service without root, if no service manager answers, and if the manager has the service of another home.
func (s *Service) CanInstall(st State) error {
	err := checkAccount(s.o, s.host)
	switch {
	case err != nil:
	case errors.Is(st.Silent, exec.ErrNotFound):
		return words.Hint(fmt.Errorf("%s: %w", strings.Fields(s.mgr.name)[0], exec.ErrNotFound), "%s", s.mgr.hint)
	case st.Silent != nil && s.mgr.linger:
		return words.Hint(st.Silent, "%s, which starts it without a login; or %s", s.lingerCommand(), s.mgr.hint)
	case st.Silent != nil:
		return words.Hint(st.Silent, "%s", s.mgr.hint)
	case st.OtherHome != "":
		return words.Hint(fmt.Errorf("%s has the service of another home directory, %s", s.mgr.name, st.OtherHome),
			"log in as that user, or set HOME to that directory")
	}
	return err
}

func (s *Service) say(format string, args ...any) { fmt.Fprintf(s.o.Out, format+"\n", args...) }

// installFile writes the service's file and starts the daemon. If it does not start, it tries the next text.
func (s *Service) installFile(ctx context.Context) error {
	if err := s.directories(ctx); err != nil {
		return err
	}
	if len(s.mgr.texts) == 0 {
		return s.startAndWait(ctx)
	}
	var first error
	for i, text := range s.mgr.texts {
		if err := s.write(text); err != nil {
			return err
		}
		err := s.startAndWait(ctx)
		switch {
		case err == nil && i > 0:
			s.say("this machine does not support the sandbox (%v); the service runs without it", first)
			fallthrough
		case err == nil, ctx.Err() != nil:
			return err
		case first == nil:
			first = err
		}
		if i+1 < len(s.mgr.texts) {
			s.say("the daemon did not start: %v; trying without the sandbox", err)
		}
	}
	if len(s.mgr.texts) > 1 { // the sandbox was not the cause
		err := s.write(s.mgr.texts[0])
		if err == nil {
			err = s.steps(ctx, s.mgr.enable)
		}
		if err != nil {
			return errors.Join(first, err)
		}
	}
	return words.Hint(first, "%s", s.mgr.logs)
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
		if st, bad := s.Status(ctx); bad == nil && st.cause != "" {
			return fmt.Errorf("start daemon: %s", st.cause)
		}
		return err
	}
	s.say("service %s is enabled and running (%s), ready after %.2f s", name, s.mgr.name, time.Since(start).Seconds())
	return nil
}

// directories creates ccd's own directories, as the account that the service runs as.
func (s *Service) directories(ctx context.Context) error {
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

func (s *Service) write(text []byte) error {
	if had, err := os.ReadFile(s.mgr.file); err == nil && bytes.Equal(had, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(s.mgr.file), 0o755); err != nil {
		return fmt.Errorf("create directory: %w", err)
	}
	if err := atomicfile.Write(s.mgr.file, 0o644, text); err != nil {
		return err
	}
	s.say("wrote %s", s.mgr.file)
	return nil
}

// endsAtLogout reports whether the service ends with the user's last session.
func (s *Service) endsAtLogout() bool { return s.mgr.linger && !s.host.lingers(s.o.User) }

func (s *Service) lingerCommand() string { return "loginctl enable-linger " + s.o.User }
