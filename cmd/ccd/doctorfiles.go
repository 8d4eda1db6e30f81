package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"ccd/archive"
	"ccd/compactor/sidecar"
	"ccd/internal/atomicfile"
	"ccd/watcher"
)

func checkStateDir(_ context.Context, s *surroundings) []finding {
	const check = "state"
	dir := s.l.stateDir
	word := shellWord(dir)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if to, err := os.Readlink(dir); err == nil {
			return []finding{wrong(check, "mount what it leads to, or rm "+word, "%s is a link to %s, which is not there", dir, to)}
		}
		return []finding{ok(check, "%s is not there yet; `ccd run` makes it", dir)}
	case err != nil:
		return []finding{wrong(check, "chmod 700 "+word, "%v", err)}
	case !info.IsDir():
		return []finding{wrong(check, "move it away", "%s is not a directory", dir)}
	case errors.Is(access(dir), syscall.EROFS):
		return []finding{note(check, "", "%s is on a read-only file system: what only reads works here, ccd run belongs where it can be written to", dir)}
	case !writable(dir):
		return []finding{wrong(check, "chown and chmod 700 "+word, "%s cannot be written to", dir)}
	case modes && info.Mode().Perm()&0o077 != 0:
		f := wrong(check, "chmod 700 "+word, "%s can be read by others (mode %04o)", dir, info.Mode().Perm())
		return []finding{f.by("mode 0700 for "+dir, func(context.Context) error { return tighten([]string{dir}) })}
	}
	if fs := watcher.ForeignFS(existing(dir)); fs != "" {
		return []finding{note(check, "set XDG_STATE_HOME (and archive.path) to a disk of this machine",
			"%s is on %s: locks and mapped files are not to be trusted there, least of all from two machines", dir, fs)}
	}
	return []finding{ok(check, "%s", dir)}
}

// checkFiles looks at modes and owners of what is ccd's own: the files of the state directory, archive, locks, backups.
func checkFiles(_ context.Context, s *surroundings) []finding {
	var paths []string
	for _, t := range s.trees {
		if t.own {
			paths = append(append(paths, t.others...), t.companions...)
		}
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return p == s.l.stateDir }) // the check before this one
	return checkModes("files", "file of ccd's own", "files of ccd's own", append(paths, s.l.archiveFiles()...))
}

// archiveFiles are the archive, its locks and backups, where they stand outside of the state directory too.
func (l *library) archiveFiles() []string {
	all, _ := archive.Files(l.archivePath) // a directory that cannot be read is told by the archive's own check
	return slices.DeleteFunc(all, func(p string) bool { return !exists(p) || strings.HasPrefix(p, l.stateDir+string(filepath.Separator)) })
}

// checkCompanions looks at modes and owners of companions that stand among transcripts. A file of such a name that is not
// ours is nobody's business.
func checkCompanions(ctx context.Context, s *surroundings) []finding {
	var ours []string
	foreign := 0
	for _, t := range s.trees {
		for _, p := range t.companions {
			if t.own || ctx.Err() != nil {
				continue
			}
			if is, err := sidecar.Ours(p); err == nil && !is {
				foreign++
			} else if err == nil || errors.Is(err, fs.ErrPermission) {
				ours = append(ours, p)
			}
		}
	}
	all := checkModes("companions", "companion", "companions", ours)
	if foreign > 0 {
		all = append(all, note("companions", "", "%s of a companion's name that ccd did not write: left alone, and those sessions have none",
			count(foreign, "file")))
	}
	return all
}

// checkModes finds what others may read, or another user owns.
func checkModes(check, one, many string, paths []string) []finding {
	of := func(n int) string {
		if n == 1 {
			return "1 " + one
		}
		return fmt.Sprintf("%d %s", n, many)
	}
	var open, strange []string
	first, owner := fs.FileMode(0), ""
	for _, p := range paths {
		info, err := os.Lstat(p)
		if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
			continue
		}
		if name, mine := ownerOf(info); !mine {
			strange, owner = append(strange, p), name
		} else if modes && info.Mode().Perm()&0o077 != 0 {
			if open = append(open, p); len(open) == 1 {
				first = info.Mode().Perm()
			}
		}
	}
	var all []finding
	if len(open) > 0 {
		detail := fmt.Sprintf("%s can be read by others, such as %s (mode %04o)", of(len(open)), open[0], first)
		if fs := watcher.ForeignFS(filepath.Dir(open[0])); fs != "" {
			all = append(all, note(check, "mount it with a umask of 077", "%s; %s may keep no modes", detail, fs))
		} else {
			f := wrong(check, "chmod go-rwx "+shellWord(open[0])+others(len(open)), "%s", detail)
			all = append(all, f.by(fmt.Sprintf("mode 0600 (directories 0700) for %s", count(len(open), "file")),
				func(context.Context) error { return tighten(open) }))
		}
	}
	if len(strange) > 0 {
		all = append(all, wrong(check, "as root: chown "+accountName()+" "+shellWord(strange[0])+others(len(strange)),
			"%s of another user, such as %s (%s)", of(len(strange)), strange[0], owner))
	}
	if len(all) == 0 && len(paths) > 0 {
		all = append(all, ok(check, "%s, for you alone to read", of(len(paths))))
	}
	return all
}

func others(n int) string {
	if n == 1 {
		return ""
	}
	return " and the others"
}

// checkLeftovers finds the temporary files that a crash left behind.
func checkLeftovers(_ context.Context, s *surroundings) []finding {
	const check = "leftovers"
	var all []string
	var dirs []string
	for _, dir := range append(s.tempDirs(), filepath.Dir(s.l.archivePath)) {
		if slices.Contains(dirs, dir) {
			continue
		}
		names, _ := atomicfile.Stale(dir) // what cannot be read, the roots' check tells
		for _, name := range names {
			all = append(all, filepath.Join(dir, name))
		}
		if len(names) > 0 {
			dirs = append(dirs, dir)
		}
	}
	if len(all) == 0 {
		return []finding{ok(check, "no temporary files of a crash")}
	}
	f := note(check, "rm "+shellWord(all[0])+others(len(all)), "%s that a crash left behind, such as %s", count(len(all), "temporary file"), all[0])
	return []finding{f.by("removed "+count(len(all), "temporary file"), func(context.Context) error {
		var failed error
		for _, dir := range dirs {
			failed = errors.Join(failed, atomicfile.Clean(dir))
		}
		return failed
	})}
}

// tempDirs are the directories that hold a file with the name of a temporary one.
func (s *surroundings) tempDirs() (all []string) {
	for _, t := range s.trees {
		all = append(all, t.temps...)
	}
	return all
}
