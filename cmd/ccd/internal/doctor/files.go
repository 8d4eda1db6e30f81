package doctor

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
	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/disk"
	"ccd/compactor/sidecar"
	"ccd/internal/atomicfile"
	"ccd/internal/words"
	"ccd/watcher"
)

// modes reports whether files have Unix permissions.
const modes = os.PathSeparator == '/'

func checkConfig(_ context.Context, f *facts) []Finding {
	const check = "config"
	path := f.Config.Path()
	if path == "" {
		return []Finding{ok(check, "no configuration file, defaults in use")}
	}
	if info, err := os.Stat(path); err == nil && modes && info.Mode().Perm()&0o022 != 0 {
		return []Finding{note(check, "chmod go-w "+words.Shell(path), "%s can be written by others (mode %04o)", path, info.Mode().Perm())}
	}
	return []Finding{ok(check, "%s", path)}
}

func checkState(_ context.Context, f *facts) []Finding {
	const check = "state"
	dir := f.StateDir
	word := words.Shell(dir)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if to, err := os.Readlink(dir); err == nil {
			return []Finding{wrong(check, "mount the link's target, or rm "+word, "%s is a symbolic link to %s, which does not exist", dir, to)}
		}
		return []Finding{ok(check, "%s: not created yet; `ccd run` creates it", dir)}
	case err != nil:
		return []Finding{wrong(check, "chmod 700 "+word, "%v", err)}
	case !info.IsDir():
		return []Finding{wrong(check, "move it away", "%s is not a directory", dir)}
	case errors.Is(disk.Writable(dir), syscall.EROFS):
		return []Finding{note(check, "", "%s is on a read-only file system: ccd run cannot write there; reading commands work", dir)}
	case disk.Writable(dir) != nil:
		return []Finding{wrong(check, "chown and chmod 700 "+word, "%s is not writable", dir)}
	case modes && info.Mode().Perm()&0o077 != 0:
		found := wrong(check, "chmod 700 "+word, "%s can be read by others (mode %04o)", dir, info.Mode().Perm())
		return []Finding{found.by("set mode 0700 on "+dir, func(context.Context) error { return tighten([]string{dir}) })}
	}
	if kind := watcher.EventlessFS(dir); kind != "" {
		return []Finding{note(check, "set XDG_STATE_HOME (and archive.path) to a local disk",
			"%s is on %s: file locks and memory mapping are unreliable there, especially from two machines", dir, kind)}
	}
	return []Finding{ok(check, "%s", dir)}
}

// checkFiles checks modes and owners of ccd's own files: the state directory, the archive, its locks and backups.
func checkFiles(_ context.Context, f *facts) []Finding {
	var paths []string
	for _, t := range f.trees {
		if t.own {
			paths = append(append(paths, t.others...), t.companions...)
		}
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return p == f.StateDir }) // checkState checks it
	beside, _ := archive.Files(f.ArchivePath)                                        // checkArchive reports an unreadable directory
	for _, p := range beside {
		if disk.Exists(p) && !disk.Within(p, f.StateDir) {
			paths = append(paths, p)
		}
	}
	return checkModes("files", "file of ccd", "files of ccd", paths)
}

// checkCompanions checks modes and owners of the companions among the transcripts, and counts files with a companion's name
// that ccd did not write.
func checkCompanions(ctx context.Context, f *facts) []Finding {
	const check = "companions"
	var ours []string
	foreign := 0
	for _, t := range f.trees {
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
	all := checkModes(check, "companion", "companions", ours)
	if foreign > 0 {
		all = append(all, note(check, "", "%s named like a companion but not written by ccd: ccd leaves them alone and writes no companion there", words.Count(foreign, "file")))
	}
	return all
}

// checkModes finds files that other users can read or own.
func checkModes(check, one, many string, paths []string) []Finding {
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
		if name, own := disk.Owner(info); !own {
			strange, owner = append(strange, p), name
		} else if modes && info.Mode().Perm()&0o077 != 0 {
			if open = append(open, p); len(open) == 1 {
				first = info.Mode().Perm()
			}
		}
	}
	var all []Finding
	if len(open) > 0 {
		detail := fmt.Sprintf("%s can be read by others, such as %s (mode %04o)", of(len(open)), open[0], first)
		if kind := watcher.EventlessFS(filepath.Dir(open[0])); kind != "" {
			all = append(all, note(check, "mount it with a umask of 077", "%s; %s may not store modes", detail, kind))
		} else {
			f := wrong(check, "chmod go-rwx "+words.Shell(open[0])+others(len(open)), "%s", detail)
			all = append(all, f.by("set mode 0600 (directories 0700) on "+of(len(open)), // the count keeps this text unique: Fix makes equal repairs once
				func(context.Context) error { return tighten(open) }))
		}
	}
	if len(strange) > 0 {
		all = append(all, wrong(check, "as root: chown "+account.Name()+" "+words.Shell(strange[0])+others(len(strange)),
			"%s owned by another user, such as %s (%s)", of(len(strange)), strange[0], owner))
	}
	if len(all) == 0 && len(paths) > 0 {
		all = append(all, ok(check, "%s, readable only by you", of(len(paths))))
	}
	return all
}

// tighten removes all permissions of other users from ccd's files and directories. It follows no symlink and goes on after an error.
func tighten(paths []string) (failed error) {
	for _, p := range paths {
		if err := tightenOne(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

func tightenOne(path string) error {
	was, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !was.Mode().IsRegular() && !was.IsDir() {
		return fmt.Errorf("%s is neither a file nor a directory", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	is, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(was, is) { // replaced by a link since Lstat
		return fmt.Errorf("%s was replaced just now", path)
	}
	if err := f.Chmod(is.Mode().Perm() &^ 0o077); err != nil {
		return err
	}
	if is, err = f.Stat(); err == nil && is.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s: its file system does not store modes", path)
	}
	return err
}

// checkLeftovers finds temporary files left by a crash.
func checkLeftovers(_ context.Context, f *facts) []Finding {
	const check = "leftovers"
	var all, dirs []string
	for _, t := range append(f.trees, tree{temps: []string{filepath.Dir(f.ArchivePath)}}) {
		for _, dir := range t.temps {
			if slices.Contains(dirs, dir) {
				continue
			}
			names, _ := atomicfile.Stale(dir) // checkRoots reports unreadable directories
			for _, name := range names {
				all = append(all, filepath.Join(dir, name))
			}
			if len(names) > 0 {
				dirs = append(dirs, dir)
			}
		}
	}
	if len(all) == 0 {
		return []Finding{ok(check, "no temporary files left by a crash")}
	}
	found := note(check, "rm "+words.Shell(all[0])+others(len(all)), "%s left by a crash, such as %s", words.Count(len(all), "temporary file"), all[0])
	return []Finding{found.by("removed "+words.Count(len(all), "temporary file"), func(context.Context) (failed error) {
		for _, dir := range dirs {
			failed = errors.Join(failed, atomicfile.Clean(dir))
		}
		return failed
	})}
}

var errNoDirectory = errors.New("not a directory")

// checkRoots checks that every watched directory can be read and that companions can be written there.
func checkRoots(_ context.Context, f *facts) []Finding {
	var all []Finding
	var roots []watcher.RootHealth
	present := 0
	for _, r := range f.scans {
		check := "root " + r.Agent
		roots = append(roots, watcher.RootHealth{Root: r.Root, Present: !errors.Is(r.err, fs.ErrNotExist)})
		switch {
		case errors.Is(r.err, fs.ErrNotExist):
		case errors.Is(r.err, errNoDirectory):
			all = append(all, wrong(check, "point [watch.roots] at a directory", "%s is not a directory", r.Path))
		case disk.Slow(r.err):
			all = append(all, wrong(check, "mount it again, or add it to watch.ignore", "%s: %v: its file system does not respond", r.Path, r.err))
		case r.err != nil:
			all = append(all, wrong(check, "chmod u+rx "+words.Shell(filepath.Dir(r.Path)), "%v", r.err))
		default:
			present++
			all = append(all, f.checkRoot(r)...)
		}
	}
	if absent := account.Absent(f.Agents, roots); absent != "" {
		all = append(all, ok("roots", "not found yet, watched when they appear: %s", absent))
	}
	if present == 0 {
		all = append(all, note("roots", "use an agent, or add directories under [watch.roots]", "no transcripts found yet"))
	}
	return all
}

func (f *facts) checkRoot(r scan) []Finding {
	check := "root " + r.Agent
	var all []Finding
	for _, err := range r.problems {
		switch {
		case errors.Is(err, watcher.ErrIrregular):
			all = append(all, note(check, "", "%s: skipped", strings.TrimPrefix(err.Error(), "skip ")))
		case errors.Is(err, watcher.ErrOwner):
			all = append(all, wrong(check, "chown or remove the file, or add it to watch.ignore", "%v; not archived", err))
		case errors.Is(err, watcher.ErrLink):
			all = append(all, wrong(check, "add the directory above its target to [watch.roots], or the link to watch.ignore", "%v; not archived", err))
		case errors.Is(err, watcher.ErrName):
			all = append(all, wrong(check, "rename it, or add it to watch.ignore", "%v; not archived", err))
		default:
			all = append(all, wrong(check, "chmod -R u+rX "+words.Shell(r.Path)+", or add it to watch.ignore", "%v", err))
		}
	}
	linked := 0
	for _, t := range r.found {
		if err := disk.Readable(t.Path); err != nil {
			all = append(all, wrong(check, "chmod u+r "+words.Shell(t.Path)+", or add it to watch.ignore", "%s cannot be read: %v", t.Path, err))
		}
		if t.Links > 1 {
			linked++
		}
	}
	all = few(check, "in "+r.Path, all)
	if f.Config.Companion.Dir == "" && disk.Writable(r.Path) != nil {
		all = append(all, wrong(check, "set companion.dir to a writable directory", "%s is not writable: ccd writes no companions there", r.Path))
	}
	if len(all) > 0 {
		return all
	}
	detail := fmt.Sprintf("%s: %s", r.Path, words.Count(len(r.found), "file"))
	if linked > 0 {
		detail += fmt.Sprintf(", %d with hard links", linked)
	}
	if kind := watcher.EventlessFS(r.Path); kind != "" {
		detail += fmt.Sprintf(", on %s, which reports no changes from other machines: polled", kind)
	}
	return []Finding{ok(check, "%s", detail)}
}
