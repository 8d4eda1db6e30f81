package packaging

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ccd/internal/atomicfile"
)

// Uninstall stops and disables the service, whatever state it is in, and removes its files, the links to them and what a
// killed Install left beside them. The archive stays. It succeeds where nothing is installed, and removes the files
// also where no manager answers.
func (s *Service) Uninstall(ctx context.Context) error {
	if err := s.uninstall(ctx); err != nil {
		return fmt.Errorf("uninstall service: %w", err)
	}
	return nil
}

func (s *Service) uninstall(ctx context.Context) error {
	if s.o.System && s.mgr.file() != "" && s.host.uid != 0 {
		return hinted("sudo ccd uninstall --system", errors.New("a system service needs root"))
	}
	st, err := s.Status(ctx)
	if err != nil {
		return err
	}
	probed := s.probe(ctx)
	if probed == nil {
		if err := s.steps(ctx, s.mgr.remove); err != nil {
			return err
		}
	} else if s.mgr.file() == "" {
		return probed
	}
	removed, err := s.unlink()
	if err != nil {
		return err
	}
	if probed == nil {
		if err := s.steps(ctx, s.mgr.removed); err != nil {
			return err
		}
	}
	if removed || st.Installed || st.Active {
		s.say("service %s is stopped and removed", name)
	} else {
		s.say("no service was installed (%s)", s.mgr.name)
	}
	if s.mgr.linger && removed && s.host.lingers(s.o.User) {
		s.say("your services still go on after logout, others may rely on it; undo with: loginctl disable-linger %s", s.o.User)
	}
	return nil
}

// unlink removes the service's files and the links to them, tells each, and clears up beside them.
func (s *Service) unlink() (removed bool, err error) {
	paths := append([]string{}, s.mgr.links...)
	dirs := append([]string{}, s.mgr.made...)
	for _, layer := range s.mgr.layers {
		for _, f := range layer {
			paths = append(paths, f.path)
		}
	}
	for _, p := range paths {
		switch err := os.Remove(p); {
		case err == nil:
			removed = true
			s.say("removed %s", p)
		case !errors.Is(err, fs.ErrNotExist):
			return removed, err
		}
		dirs = append(dirs, filepath.Dir(p))
	}
	for _, dir := range dirs {
		if err := atomicfile.CleanAll(dir); err != nil {
			return removed, err
		}
	}
	for _, dir := range s.mgr.made {
		_ = os.Remove(dir) // not empty, or not there: it stays
	}
	return removed, nil
}
