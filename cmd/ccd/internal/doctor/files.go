package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"ccd/cmd/ccd/internal/disk"
	"ccd/internal/words"
	"ccd/watcher"
)

// modes reports whether files have Unix permissions.
const modes = os.PathSeparator == '/'

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
		return []Finding{found.by("set mode 0700 on "+dir, func(context.Context) error { return os.Chmod(dir, 0o700) })}
	}
	if kind := watcher.EventlessFS(dir); kind != "" {
		return []Finding{note(check, "set XDG_STATE_HOME (and archive.path) to a local disk",
			"%s is on %s: file locks and memory mapping are unreliable there, especially from two machines", dir, kind)}
	}
	return []Finding{ok(check, "%s", dir)}
}

var errNoDirectory = errors.New("not a directory")

// checkRoots checks that every watched directory can be read and that companions can be written there.
func checkRoots(_ context.Context, f *facts) []Finding {
	var all []Finding
	var absent []scan
	present := map[string]int{} // by agent
	for _, r := range f.scans {
		check := "root " + r.Agent
		switch none := errors.Is(r.err, fs.ErrNotExist); {
		case none && slices.Contains(f.Config.Watch.Roots[r.Agent], r.Path):
			all = append(all, note(check, "correct [watch.roots], or mount it", "%s does not exist; ccd watches it when it appears", r.Path))
		case none:
			absent = append(absent, r)
		case errors.Is(r.err, errNoDirectory):
			all = append(all, wrong(check, "point [watch.roots] at a directory", "%s is not a directory", r.Path))
		case disk.Slow(r.err):
			all = append(all, wrong(check, "mount it again, or add it to watch.ignore", "%s: %v: its file system does not respond", r.Path, r.err))
		case r.err != nil: // closed says why
		default:
			present[r.Agent]++
			all = append(all, f.checkRoot(r)...)
		}
	}
	var names []string
	for _, r := range absent {
		name := f.Agents.Title(r.Agent)
		if present[r.Agent] > 0 {
			name = r.Path
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		all = append(all, ok("roots", "not found yet, watched when they appear: %s", strings.Join(names, ", ")))
	}
	if len(present) == 0 {
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
	for _, t := range r.found {
		if err := disk.Readable(t.Path); err != nil {
			all = append(all, wrong(check, "chmod u+r "+words.Shell(t.Path)+", or add it to watch.ignore", "%s cannot be read: %v", t.Path, err))
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
	if kind := watcher.EventlessFS(r.Path); kind != "" {
		detail += fmt.Sprintf(", on %s, which reports no changes from other machines: polled", kind)
	}
	return []Finding{ok(check, "%s", detail)}
}
