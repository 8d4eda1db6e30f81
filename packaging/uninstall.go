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
	ours := probed == nil && st.Foreign == ""
	if ours {
		if err := s.steps(ctx, s.mgr.remove); err != nil {
			return err
		}
	} else if probed != nil && s.mgr.file() == "" {
		return probed
	}
	removed, err := s.unlink()
	if err != nil {
		return err
	}
	if ours {
		if err := s.steps(ctx, s.mgr.removed); err != nil {
			return err
		}
	}
	s.sayForeign(st)
	if removed || ours && (st.Installed || st.Active) {
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
	s.sayDropIns()
	return removed, nil
}

// sayDropIns tells what the user has written beside the service's own files: it stays.
func (s *Service) sayDropIns() {
	if s.mgr.sandbox == "" {
		return
	}
	dir := filepath.Dir(s.mgr.sandbox)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // there is none
	}
	for _, e := range entries {
		s.say("stays: %s: not ccd's, and a later `ccd install` would use it", filepath.Join(dir, e.Name()))
	}
}

// sayForeign tells that the account's service is one that is not this one's to stop.
func (s *Service) sayForeign(st State) {
	if st.Foreign != "" {
		s.say("stays: the service that %s has from %s, of another home directory", s.mgr.name, st.Foreign)
	}
}

// foreign returns the file of a service that is another home's: the manager serves one account, whatever $HOME says.
func (s *Service) foreign(st State) string {
	own := s.mgr.file()
	switch {
	case s.o.System || own == "" || st.File == "" || st.File == os.DevNull || samePath(st.File, own):
		return ""
	case strings.HasPrefix(st.File, "/usr/") || strings.HasPrefix(st.File, "/lib/") || strings.HasPrefix(st.File, s.host.etc+"/"):
		if s.host.home == "" || samePath(s.host.home, s.o.Home) { // a package's
			return ""
		}
	}
	return st.File
}

func samePath(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return filepath.Clean(a) == filepath.Clean(b)
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// Differs returns the settings of the installed service's file that name other places for the daemon than Install would
// write now, and those that it lacks: configuration, state, roots. None where no file of Install's is there.
func (s *Service) Differs() ([]string, error) {
	if s.mgr.file() == "" {
		return nil, nil
	}
	text, err := os.ReadFile(s.mgr.file())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read service: %w", err)
	}
	there, wanted := s.mgr.places(string(text)), s.mgr.places(string(s.mgr.layers[0][0].text))
	var all []string
	for _, v := range there {
		if !slices.Contains(wanted, v) && placing(v) {
			all = append(all, v)
		}
	}
	for _, v := range wanted {
		if !slices.Contains(there, v) && placing(v) {
			all = append(all, "not "+v)
		}
	}
	return all, nil
}

// placing tells which settings have to do with where the daemon's files are.
func placing(v string) bool {
	key, _, _ := strings.Cut(strings.TrimPrefix(v, `"`), "=")
	return key != "PATH" && key != "CCD_LOG_LEVEL"
}
