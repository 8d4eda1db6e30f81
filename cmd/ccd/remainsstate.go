package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ccd/archive"
	"ccd/internal/config"
	"ccd/watcher"
)

// findState finds the archive, the state directory and the configuration.
func (i installation) findState(r *remains) error {
	l := i.library
	if err := i.apart(); err != nil {
		return err
	}
	var err error
	if r.archive, err = archive.Files(l.archivePath); err != nil {
		return err
	}
	if usual := filepath.Join(l.stateDir, "archive.db"); usual != l.archivePath { // from before archive.path named another
		before, err := archive.Files(usual)
		if err != nil {
			return err
		}
		r.archive = append(r.archive, before...)
	}
	for _, p := range r.archive {
		if info, err := os.Lstat(p); err == nil {
			r.bytes += info.Size()
		}
	}
	switch info, err := os.Lstat(l.stateDir); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !info.IsDir():
		return hint(fmt.Errorf("purge: the state directory %s is a symlink, and none is followed", l.stateDir), "rm it with what it leads to, then run it again")
	default:
		r.state = l.stateDir
	}
	r.around = append(r.around, filepath.Dir(l.archivePath), filepath.Dir(l.stateDir))
	if r.logs, err = logsOf(l.config.Log.File); err != nil {
		return err
	}
	if err := i.findOwn(r); err != nil {
		return err
	}
	return i.findConfig(r)
}

// apart fails where transcripts stand in what purge empties, whatever way leads there.
func (i installation) apart() error {
	l := i.library
	dirs := map[string]string{l.stateDir: "the state directory"}
	for _, dir := range agentDirs(l.config.Companion.Dir) {
		dirs[dir] = "companion.dir,"
	}
	for _, root := range l.roots {
		for dir, what := range dirs {
			if within(realPath(root.Path), realPath(dir)) {
				return fmt.Errorf("purge: %s is watched, and stands in %s %s: move the transcripts out of it first", root.Path, what, dir)
			}
		}
	}
	return nil
}

// watched reports whether a directory is one that is watched, or holds one. One that is not there counts nowhere: else ~/.local,
// where Amp's would lie, would stay behind empty.
func (i installation) watched(dir string) bool {
	return slices.ContainsFunc(i.library.roots, func(r watcher.Root) bool {
		return exists(r.Path) && within(realPath(r.Path), realPath(dir))
	})
}

// realPath is the path with the symlinks in it followed, as far as it is there.
func realPath(path string) string {
	there := existing(path)
	real, err := filepath.EvalSymlinks(there)
	if err != nil {
		return path
	}
	return real + strings.TrimPrefix(path, there)
}

// findOwn tells what in the state directory is ccd's from what somebody has put there, which stays.
func (i installation) findOwn(r *remains) error {
	if r.state == "" {
		return nil
	}
	entries, err := os.ReadDir(r.state)
	if err != nil {
		return fmt.Errorf("find state: %w", err)
	}
	logs, err := logsOf(filepath.Join(r.state, "ccd.log"))
	if err != nil {
		return err
	}
	own := logs
	for _, name := range []string{"run.lock", "run.json", "restores.log", "restores.log.1", "hook.log", "hook.log.1", "hook.said"} {
		own = append(own, filepath.Join(r.state, name))
	}
	for _, e := range entries {
		p := filepath.Join(r.state, e.Name())
		switch {
		case slices.Contains(r.archive, p), slices.Contains(r.logs, p), strings.HasPrefix(e.Name(), ".ccd-"), e.IsDir() && i.holds(p):
		case e.Type().IsRegular() && slices.Contains(own, p):
			r.own = append(r.own, p)
		default:
			r.stays = append(r.stays, p+": not ccd's")
		}
	}
	return nil
}

// holds reports whether a directory in the state directory is ccd's own, or one that the configuration has something in.
// They go when they are empty, and are looked through on their own.
func (i installation) holds(dir string) bool {
	c := i.library.config
	if slices.ContainsFunc([]string{i.library.archivePath, c.Companion.Dir, c.Log.File}, func(p string) bool { return within(p, dir) }) {
		return true
	}
	inside, err := os.ReadDir(dir)
	return dir == i.kept() || dir == i.summarizer() && err == nil && len(inside) == 0
}

// summarizer is where a summarizer's command runs: what it has written there is not ccd's.
func (i installation) summarizer() string { return filepath.Join(i.library.stateDir, "summarizer") }

// kept is where companions of transcripts that are gone stand.
func (i installation) kept() string { return filepath.Join(i.library.stateDir, "companions") }

// logsOf finds a log file and the older ones that were moved aside beside it.
func logsOf(file string) (all []string, err error) {
	if file == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("find logs: %w", err)
	}
	ext := filepath.Ext(file)
	stem := strings.TrimSuffix(filepath.Base(file), ext)
	for _, e := range entries {
		date, older := strings.CutPrefix(strings.TrimSuffix(e.Name(), ext), stem+"-")
		_, err := time.Parse("2006-01-02T15-04-05.000", date)
		if e.Type().IsRegular() && (e.Name() == filepath.Base(file) || older && err == nil && strings.HasSuffix(e.Name(), ext)) {
			all = append(all, filepath.Join(filepath.Dir(file), e.Name()))
		}
	}
	return all, nil
}

// findConfig finds the configuration in its usual place. Another was named by the user, and is the user's.
func (i installation) findConfig(r *remains) error {
	home, err := i.app.home()
	if err != nil {
		return err
	}
	file, err := config.File(i.app.getenv, home)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(file); err == nil && !info.IsDir() {
		r.config = file
	}
	if used := i.library.configPath; used != "" && used != file {
		r.stays = append(r.stays, used+": a configuration in a place that you named")
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	for _, e := range entries {
		if p := filepath.Join(filepath.Dir(file), e.Name()); p != file && !strings.HasPrefix(e.Name(), ".ccd-") {
			r.stays = append(r.stays, p+": not ccd's")
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r.around = append(r.around, filepath.Dir(file))
	return nil
}
