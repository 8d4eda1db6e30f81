package packaging

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ccd/internal/atomicfile"
	"ccd/internal/ownfile"
	"ccd/internal/words"
)

// Uninstall stops and disables the service, in any state, and removes its files, the links to them and leftovers of a
// killed Install. It keeps the archive. It succeeds if nothing is installed, and removes the files even if no manager
// answers. It fails if a file cannot be removed.
func (s *Service) Uninstall(ctx context.Context) error {
	if err := s.uninstall(ctx); err != nil {
		return fmt.Errorf("uninstall service: %w", err)
	}
	return nil
}

func (s *Service) uninstall(ctx context.Context) error {
	if s.o.System && s.mgr.file != "" && s.host.uid != 0 {
		return words.Hint(errors.New("a system service needs root"), "sudo ccd service remove --system")
	}
	st, err := s.Status(ctx)
	if err != nil {
		return err
	}
	if st.Silent != nil && s.mgr.file == "" {
		return words.Hint(st.Silent, "%s", s.mgr.hint)
	}
	ours := st.Silent == nil && st.OtherHome == "" // else the manager does not have it
	if ours {
		err = s.steps(ctx, s.mgr.remove)
	}
	removed := false
	if err == nil {
		removed, err = s.unlink(st.Files)
	}
	if err == nil && ours {
		err = s.steps(ctx, s.mgr.removed)
	}
	if err != nil {
		return err
	}
	if st.OtherHome != "" {
		s.say("kept: the service that %s loads from %s, of another home directory", s.mgr.name, st.OtherHome)
	}
	s.sayRemoved(removed, ours && (st.Installed || st.Active))
	return nil
}

// sayRemoved tells what was removed: files, or what the manager had.
func (s *Service) sayRemoved(files, managed bool) {
	if files && s.mgr.linger && s.host.lingers(s.o.User) {
		defer s.say("lingering stays enabled, because other services may need it; undo with: loginctl disable-linger %s", s.o.User)
	}
	if files || managed {
		s.say("service %s is stopped and removed", name)
	} else {
		s.say("no service was installed (%s)", s.mgr.name)
	}
}

// unlink removes the service's files and the links to them, prints each, and removes leftovers beside them.
func (s *Service) unlink(files []string) (removed bool, err error) {
	for _, p := range files {
		switch err := os.Remove(p); {
		case err == nil:
			removed = true
			s.say("removed %s", p)
		case !errors.Is(err, fs.ErrNotExist): // the manager has removed its links
			return removed, err
		}
	}
	dirs := slices.Clone(s.mgr.made)
	if s.mgr.file != "" {
		dirs = append(dirs, filepath.Dir(s.mgr.file))
	}
	for _, dir := range dirs {
		if err := atomicfile.CleanAll(dir); err != nil {
			return removed, err
		}
	}
	for _, dir := range s.mgr.made {
		_ = os.Remove(dir) // fails if the directory is not empty or missing
	}
	return removed, nil
}

// otherHome returns the file of the service if it belongs to another home: the manager serves one account, whatever
// $HOME says.
func (s *Service) otherHome(st State) string {
	own := s.mgr.file
	switch {
	case s.o.System || own == "" || st.File == "" || st.File == os.DevNull || samePath(st.File, own):
		return ""
	case strings.HasPrefix(st.File, "/usr/") || strings.HasPrefix(st.File, "/lib/") || strings.HasPrefix(st.File, s.host.etc+"/"):
		if s.host.home == "" || samePath(s.host.home, s.o.Home) { // from a package
			return ""
		}
	}
	return st.File
}

func samePath(a, b string) bool { return filepath.Clean(a) == filepath.Clean(b) || ownfile.Same(a, b) }
