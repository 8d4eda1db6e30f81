package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ccd/watcher"
)

var errNoDirectory = errors.New("not a directory")

// checkRoots looks at every watched directory: can it be read, and can a companion be written beside a transcript?
func checkRoots(_ context.Context, s *surroundings) []finding {
	var all []finding
	var roots []rootOutput
	present := 0
	for _, r := range s.scans {
		check := "root " + r.Agent
		roots = append(roots, rootOutput{Agent: r.Agent, Path: r.Path, Present: !errors.Is(r.err, fs.ErrNotExist)})
		switch {
		case errors.Is(r.err, fs.ErrNotExist):
		case errors.Is(r.err, errNoDirectory):
			all = append(all, wrong(check, "point [watch.roots] at a directory", "%s is not a directory", r.Path))
		case isSlow(r.err):
			all = append(all, wrong(check, "mount it again, or name it under [watch] ignore", "%s: %v: its file system hangs", r.Path, r.err))
		case r.err != nil:
			all = append(all, wrong(check, "chmod u+rx "+shellWord(filepath.Dir(r.Path)), "%v", r.err))
		default:
			present++
			all = append(all, s.checkRoot(r)...)
		}
	}
	if absent := notThere(roots); absent != "" {
		all = append(all, ok("roots", "not there yet, and waited for: %s", absent))
	}
	if present == 0 {
		all = append(all, note("roots", "use an agent, or add directories under [watch.roots]", "no agent has left a transcript yet"))
	}
	return all
}

func (s *surroundings) checkRoot(r rootScan) []finding {
	check := "root " + r.Agent
	var all []finding
	for _, err := range r.problems {
		if errors.Is(err, watcher.ErrIrregular) {
			all = append(all, note(check, "", "%s", irregular(err)))
		} else if errors.Is(err, watcher.ErrOwner) {
			all = append(all, wrong(check, "chown the file, remove it, or add it to watch.ignore", "%v; it is not archived", err))
		} else if errors.Is(err, watcher.ErrName) {
			all = append(all, wrong(check, "rename it, or add it to watch.ignore", "%v; it is not archived", err))
		} else {
			all = append(all, wrong(check, "chmod -R u+rX "+shellWord(r.Path)+", or name it under [watch] ignore", "%v", err))
		}
	}
	for _, f := range r.found {
		if err := readable(f.Path); err != nil {
			all = append(all, wrong(check, "chmod u+r "+shellWord(f.Path)+", or name it under [watch] ignore", "%s cannot be read: %v", f.Path, err))
		}
	}
	all = few(check, "in "+r.Path, all)
	if s.l.config.Companion.Dir == "" && !writable(r.Path) {
		all = append(all, wrong(check, "set companion.dir to a directory of yours", "%s cannot be written to: no companion can stand there", r.Path))
	}
	linked := 0
	for _, f := range r.found {
		if f.Links > 1 {
			linked++
		}
	}
	names := ""
	if linked > 0 {
		names = fmt.Sprintf(", %d with hard links", linked)
	}
	polled := ""
	if fs := watcher.ForeignFS(r.Path); fs != "" {
		polled = fmt.Sprintf(", on %s, which tells of no changes made elsewhere: it is polled", fs)
	}
	if len(all) == 0 {
		all = append(all, ok(check, "%s, %s%s%s", r.Path, count(len(r.found), "file"), names, polled))
	}
	return all
}

// irregular tells what has a transcript's name and is none. Nothing about it needs mending.
func irregular(err error) string {
	quoted, qerr := strconv.QuotedPrefix(strings.TrimPrefix(err.Error(), "skip "))
	path, uerr := strconv.Unquote(quoted)
	if qerr != nil || uerr != nil {
		return err.Error()
	}
	kind := "not a regular file"
	if info, err := os.Lstat(path); err == nil {
		switch mode := info.Mode(); {
		case mode&fs.ModeSymlink != 0:
			kind = "a symlink"
		case mode&fs.ModeNamedPipe != 0:
			kind = "a FIFO"
		case mode&fs.ModeSocket != 0:
			kind = "a socket"
		case mode&fs.ModeDevice != 0:
			kind = "a device"
		}
	}
	return fmt.Sprintf("%q is %s: it is skipped", path, kind)
}

// writable reports whether a file could be made in dir, by its permissions: nothing is written to find out.
func writable(dir string) bool { return access(dir) == nil }
