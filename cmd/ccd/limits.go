package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// checkWatchLimits compares what the kernel lets one user watch with the directories there are and with what other
// programs of this user watch. Beyond the limit ccd polls, which is slower but loses nothing.
func checkWatchLimits(ctx context.Context, s *surroundings) []finding {
	limit, known := inotifyLimit("max_user_watches")
	if !known || s.l.watch.Poll {
		return nil
	}
	instances, known := inotifyLimit("max_user_instances")
	if !known {
		instances = -1
	}
	return []finding{watchLimits(s.rootDirs(), limit, instances, inotifyUse(ctx, "/proc", s.run.Pid))}
}

// watchUse is what the programs of this user watch, but for the daemon itself; zero where it cannot be told.
type watchUse struct{ instances, watches int }

func watchLimits(dirs, limit, instances int, others watchUse) finding {
	const check = "watches"
	told := ""
	if others.instances > 0 {
		told = fmt.Sprintf("; other programs use %d of them", others.watches)
	}
	switch {
	case dirs+others.watches > limit || dirs*2 > limit:
		return note(check, "sysctl fs.inotify.max_user_watches=524288",
			"%d directories to watch, %d watches for all programs together%s: some may be polled", dirs, limit, told)
	case instances >= 0 && (instances < 16 || others.instances >= instances):
		return note(check, "sysctl fs.inotify.max_user_instances=128",
			"%d inotify instances for all programs together, others use %d", instances, others.instances)
	}
	return ok(check, "%d directories, limit %d%s", dirs, limit, told)
}

// rootDirs counts the directories below the watched roots.
func (s *surroundings) rootDirs() (n int) {
	roots := map[string]bool{}
	for _, r := range s.l.roots {
		roots[r.Path] = true
	}
	for _, t := range s.trees {
		if roots[t.dir] {
			n += t.dirs
		}
	}
	return n
}

// inotifyUse counts the watches of every process that proc lets this user look at, but for the daemon.
func inotifyUse(ctx context.Context, proc string, daemon int) (use watchUse) {
	fds, err := filepath.Glob(filepath.Join(proc, "[0-9]*", "fd", "*"))
	if err != nil {
		return use
	}
	own := filepath.Join(proc, fmt.Sprint(daemon)) + string(filepath.Separator)
	for _, fd := range fds {
		if ctx.Err() != nil {
			return watchUse{}
		}
		if to, err := os.Readlink(fd); err != nil || to != "anon_inode:inotify" || strings.HasPrefix(fd, own) {
			continue
		}
		use.instances++
		dir, n := filepath.Split(fd)
		f, err := os.Open(filepath.Join(dir, "..", "fdinfo", n))
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "inotify ") {
				use.watches++
			}
		}
		f.Close()
	}
	return use
}
