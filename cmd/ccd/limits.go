package main

import (
	"io/fs"
	"path/filepath"
)

// checkWatchLimits compares what the kernel lets one user watch with the directories there are. Beyond the limit ccd
// polls, which is slower but loses nothing.
func checkWatchLimits(l *library) []finding {
	const check = "watches"
	limit, known := inotifyLimit("max_user_watches")
	if !known || l.watch.Poll {
		return nil
	}
	dirs := 0
	for _, r := range l.roots {
		dirs += directories(r.Path)
	}
	if dirs*2 > limit {
		return []finding{note(check, "sysctl fs.inotify.max_user_watches=524288",
			"%d directories to watch, %d watches for all programs together: some may be polled", dirs, limit)}
	}
	if instances, known := inotifyLimit("max_user_instances"); known && instances < 16 {
		return []finding{note(check, "sysctl fs.inotify.max_user_instances=128", "only %d inotify instances for all programs together", instances)}
	}
	return []finding{ok(check, "%d directories, limit %d", dirs, limit)}
}

func directories(root string) int {
	n := 0
	_ = filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error { // unreadable ones are the roots' check
		if err == nil && d.IsDir() {
			n++
		}
		return nil
	})
	return n
}
