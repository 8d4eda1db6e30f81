package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/atomicfile"
	"ccd/internal/config"
	"ccd/internal/remote/pulled"
	"ccd/internal/words"
	"ccd/packaging"
)

// Undo removes what ccd has for one account.
type Undo struct {
	*reader.Library
	Service *packaging.Service
	Agents  *Setup
	All     bool // also the archive, the state and the configuration
}

// Steps plans it. The service is first, because it would write the companions again, and each step searches again when it
// is done, because the service may have written until then. The archive, the state and the configuration are last, so that
// an interrupted undo can be run again.
func (u Undo) Steps(ctx context.Context) ([]*Step, error) {
	if u.All {
		if err := u.check(ctx); err != nil {
			return nil, fmt.Errorf("purge: %w", err)
		}
	} else if err := u.foreground(ctx); err != nil {
		return nil, fmt.Errorf("undo setup: %w", err)
	}
	companions := u.undoCompanions(ctx)
	steps := []*Step{u.undoService(ctx), companions}
	for _, id := range Agents() {
		if step := u.disconnect(id); step != nil {
			steps = append(steps, step)
		}
	}
	if u.All {
		steps = append(steps, u.removeData(companions))
	}
	return steps, ctx.Err()
}

// check fails if a daemon runs that is not the service, if the service uses other directories than this command would
// remove, or if a watched directory is, by any path, inside one of those.
func (u Undo) check(ctx context.Context) error {
	if other, err := u.Installed(nil); err == nil && other.System() {
		return words.Hint(errors.New("a system service runs as you"), "sudo ccd service remove --system, then run it again")
	}
	if err := u.foreground(ctx); err != nil {
		return err
	}
	differs, err := u.Service.PlaceChanges()
	if err != nil {
		return err
	}
	if len(differs) > 0 {
		return words.Hint(fmt.Errorf("the installed service's paths differ from this command's: %s", strings.Join(differs, ", ")),
			"use the environment and --config of the service, or run ccd service remove first")
	}
	if info, err := os.Lstat(u.StateDir); err == nil && !info.IsDir() {
		return words.Hint(fmt.Errorf("the state directory %s is a symbolic link", u.StateDir), "remove the link and its target, then run it again")
	}
	dirs := map[string]string{u.StateDir: "the state directory"}
	for _, dir := range u.agentDirs(u.Config.Companion.Dir) {
		dirs[dir] = "companion.dir,"
	}
	for _, root := range u.Roots {
		for dir, what := range dirs {
			if disk.Within(disk.Real(root.Path), disk.Real(dir)) {
				return fmt.Errorf("%s is watched, and is in %s %s: move the transcripts out of it first", root.Path, what, dir)
			}
		}
	}
	return nil
}

// foreground fails if a daemon runs that is not the service: it would write companions again.
func (u Undo) foreground(ctx context.Context) error {
	if pid := account.Foreground(ctx, u.Service, u.StateDir); pid != 0 {
		return runs(pid)
	}
	return nil
}

func runs(pid int) error {
	return words.Hint(fmt.Errorf("a daemon is running, pid %d", pid), "stop it first: kill %d", pid)
}

func (u Undo) undoService(ctx context.Context) *Step {
	step := newStep("service", "service")
	if other, err := u.Installed(nil); err == nil && other.System() {
		step.Hint = "sudo ccd service remove --system"
		return step.is(Unavailable, "it is a system service")
	}
	st, err := u.Service.Status(ctx)
	if err != nil {
		return step.fail(err)
	}
	files := u.Service.Files()
	if st.OtherHome != "" && len(files) == 0 {
		return step.is(Unchanged, "not installed; that of another home stays: "+st.OtherHome)
	}
	if !st.Installed && len(files) == 0 {
		return step.is(Unchanged, "not installed")
	}
	step.What = "stop and remove it"
	for _, path := range files {
		step.Does = append(step.Does, "remove "+path)
	}
	step.do = func(ctx context.Context) (string, error) { return "stopped and removed", u.Service.Uninstall(ctx) }
	return step
}

// undoCompanions removes the companions, also those of sessions whose transcript is gone.
func (u Undo) undoCompanions(ctx context.Context) *Step {
	step := newStep("companions", "companions")
	if _, err := u.Env.Place(true); err != nil { // a configuration that cannot be read does not say where they are
		return step.fail(err)
	}
	found := u.findCompanions(ctx)
	for i := 0; i < len(found.paths); {
		dir, n := filepath.Dir(found.paths[i]), i
		for i < len(found.paths) && filepath.Dir(found.paths[i]) == dir {
			i++
		}
		step.Does = append(step.Does, fmt.Sprintf("remove %d below %s", i-n, dir))
	}
	step.Does = append(step.Does, found.keeps...)
	if len(found.paths)+len(found.problems) == 0 && !u.All {
		return step.is(Unchanged, "none")
	}
	step.What = "remove " + words.Count(len(found.paths), "companion")
	step.do = func(ctx context.Context) (string, error) {
		if run, running, _ := daemon.ReadRun(u.StateDir); running {
			return "", fmt.Errorf("remove companions: %w", runs(run.Pid))
		}
		found := u.findCompanions(ctx)
		return words.Count(len(found.paths), "companion") + " removed", u.removeCompanions(ctx, found)
	}
	return step
}

// disconnect removes ccd from an agent's settings; nil if it is not in them. If all goes, so do old backups of them.
func (u Undo) disconnect(id string) *Step {
	f, _ := u.Place.Agents.Lookup(id)
	step := newStep(id, f.Title)
	p, err := u.Agents.Uninstall(id)
	if step.What = "disconnect"; err != nil {
		return step.fail(err)
	}
	step.Does, step.Notes = append(step.Does, p.Steps()...), append(step.Notes, p.Notes...)
	var backups []string
	for _, c := range p.changes {
		if u.All && c.backup != nil && !c.drop {
			backups = append(backups, c.path+backupSuffix)
			step.Does, step.Notes = append(step.Does, "remove "+c.path+backupSuffix), []string{}
		}
	}
	step.do = func(context.Context) (string, error) {
		err := p.Apply()
		for _, path := range backups {
			err = errors.Join(err, unlink(path))
		}
		return "disconnected", err
	}
	if len(step.Does) == 0 {
		_ = p.Apply() // removes what a killed one left
		return nil
	}
	return step
}

// data is what ccd has of an account beside companions and settings.
type data struct {
	archive, files []string // files: state, logs, configuration
	dirs           []string // to remove if they are empty then, with those above them up to the home directory
	keeps          []string // files that look like ccd's but are not, or that the user named
	bytes          int64    // of the archive
}

// removeData removes the archive, the state and the configuration. They stay if companions are left: they say where.
func (u Undo) removeData(companions *Step) *Step {
	step := newStep("data", "data")
	d, err := u.data()
	if err != nil {
		return step.fail(err)
	}
	for _, path := range slices.Concat(d.archive, d.files) {
		step.Does = append(step.Does, "remove "+path)
	}
	step.Does = append(step.Does, d.keeps...)
	step.What = "permanently remove the archive, the state and the configuration"
	if d.bytes > 0 {
		step.What += fmt.Sprintf(": %s, the originals of %s", humanize.IBytes(uint64(d.bytes)), words.Count(len(u.Sessions), "session"))
	}
	step.do = func(context.Context) (string, error) {
		if companions.State == Failed {
			return "", words.Hint(errors.New("kept the archive, the state and the configuration, which are needed to find the companions that are left"), again)
		}
		d, err := u.data()
		if err != nil {
			return "", err
		}
		return "removed; transcripts are unchanged", u.remove(d)
	}
	return step
}

func (u Undo) data() (d data, err error) {
	for _, path := range slices.Compact([]string{u.ArchivePath, filepath.Join(u.StateDir, "archive.db")}) { // there may be one from before archive.path was set
		files, err := archive.Files(path)
		if err != nil {
			return d, err
		}
		for _, path := range files {
			if info, err := os.Lstat(path); err == nil {
				d.bytes += info.Size()
			}
		}
		d.archive = append(d.archive, files...)
	}
	d.dirs = []string{u.StateDir, filepath.Dir(u.ArchivePath)}
	if dir := u.Config.Companion.Dir; dir != "" {
		d.dirs = append(d.dirs, dir)
	}
	if err := u.findState(&d); err != nil {
		return d, err
	}
	return d, u.findConfig(&d)
}

// findState finds ccd's files in the state directory. Files of others are kept.
func (u Undo) findState(d *data) error {
	dir := u.StateDir
	logs, err := logsOf(u.Config.Log.File)
	own, bad := logsOf(filepath.Join(dir, "ccd.log"))
	entries, unread := os.ReadDir(dir)
	if errors.Is(unread, fs.ErrNotExist) {
		unread = nil
	}
	if err := errors.Join(err, bad, unread); err != nil {
		return fmt.Errorf("find state: %w", err)
	}
	d.files = append(d.files, logs...)
	for _, name := range []string{"run.lock", "run.json", "restores.log", "restores.log.1", "hook.log", "hook.log.1", "hook.said", "web.json", "web.html"} {
		own = append(own, filepath.Join(dir, name))
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case slices.Contains(d.archive, path), slices.Contains(logs, path), strings.HasPrefix(e.Name(), ".ccd-"), e.IsDir() && u.holds(path):
		case path == u.backups():
			d.keeps = append(d.keeps, "keep "+path+": backups of the archive")
		case path == filepath.Join(dir, pulled.Dir): // without the keys, nothing reads the copies
			d.keeps = append(d.keeps, "keep "+path+": keys and pulled machines of ccd remote")
		case e.Type().IsRegular() && slices.Contains(own, path):
			d.files = append(d.files, path)
		default:
			d.keeps = append(d.keeps, "keep "+path+": not written by ccd")
		}
	}
	return nil
}

// holds reports whether a directory in the state directory is ccd's own, or has something that the configuration names.
// Such directories are searched separately, and removed once they are empty.
func (u Undo) holds(dir string) bool {
	c := u.Config
	for _, path := range []string{u.ArchivePath, c.Companion.Dir, c.Log.File} {
		if disk.Within(path, dir) {
			return true
		}
	}
	inside, err := os.ReadDir(dir)
	return dir == u.kept() || slices.Contains(u.emptied(), dir) && err == nil && len(inside) == 0
}

// backups returns the directory in which the daemon makes backups if the configuration names none.
func (u Undo) backups() string { return filepath.Join(u.StateDir, "backups") }

// emptied returns the directories in the state directory that go if they are empty. What the summarizer's command writes into
// its directory is not ccd's.
func (u Undo) emptied() []string {
	return []string{filepath.Join(u.StateDir, "summarizer"), u.backups()}
}

// kept returns the directory of companions whose transcripts are gone.
func (u Undo) kept() string { return filepath.Join(u.StateDir, "companions") }

// logsOf finds a log file and the older ones rotated beside it.
func logsOf(file string) (all []string, err error) {
	if file == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
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

// findConfig finds the configuration in its usual place. A configuration elsewhere was named by the user and is kept.
func (u Undo) findConfig(d *data) error {
	file, err := config.File(u.Env.Getenv, u.Home)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(file); err == nil && !info.IsDir() {
		d.files = append(d.files, file)
	}
	if used := u.Config.Path(); used != "" && used != file {
		d.keeps = append(d.keeps, "keep "+used+": a configuration at a path that you chose")
	}
	d.dirs = append(d.dirs, filepath.Dir(file))
	return nil
}

// remove removes what data found, the configuration last.
func (u Undo) remove(d data) error {
	for _, path := range slices.Concat(d.archive, d.files) {
		if err := unlink(path); err != nil {
			return err
		}
	}
	for _, dir := range u.emptied() {
		_ = removeDir(dir) // fails if other files are in it
	}
	for _, dir := range d.dirs {
		_ = atomicfile.CleanAll(dir)
		u.removeEmpty(dir)
	}
	return nil
}

// unlink removes a file. A missing file is no error.
func unlink(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// removeDir removes an empty directory, but no symbolic link to one: ccd makes none.
func removeDir(dir string) error {
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("remove %s: not a directory", dir)
	}
	return os.Remove(dir)
}

// removeEmpty removes dir if it is empty, and then the empty directories above it, up to the home directory. Outside of
// the home directory it removes only dir.
func (u Undo) removeEmpty(dir string) {
	for dir != u.Home && !u.watched(dir) {
		if err := removeDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) || !disk.Within(dir, u.Home) {
			return
		}
		dir = filepath.Dir(dir)
	}
}

// watched reports whether dir is a watched directory, or has one in it. A root that does not exist does not count;
// otherwise ~/.local, where Amp's would be, would be kept although it is empty.
func (u Undo) watched(dir string) bool {
	for _, r := range u.Roots {
		if disk.Exists(r.Path) && disk.Within(disk.Real(r.Path), disk.Real(dir)) {
			return true
		}
	}
	return false
}
