package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/tally"
	"ccd/daemon"
	"ccd/internal/remote/pulled"
	"ccd/internal/summarizer"
	"ccd/internal/words"
	"ccd/packaging"
)

// Facts is what the configuration, the daemon, the service manager, the archive and the disk say now. Its findings are among those
// of doctor; status lists those that are wrong as degraded.
type Facts struct {
	*account.Place
	Version string // of this ccd
	Now     time.Time
	Wrong   error          // why the configuration cannot be read: Place has the defaults then
	Run     daemon.RunInfo // of the running daemon, or of the last one
	Running bool
	RunErr  error // why Run cannot be read
	Service packaging.State
	Unasked error              // why the service manager could not be asked
	Manager *packaging.Service // nil where nothing is repaired
	Size    archive.Size
	Unread  error    // why the archive cannot be read
	Damage  []error  // damaged sessions
	Free    int64    // bytes on the archive's file system, -1 if unknown
	Strange []string // see Scan
}

// config compares the configuration with the daemon's.
func (l Facts) config() []Finding {
	const check = "config"
	if l.Wrong != nil {
		return one(wrong(check, "`ccd config --default` prints a valid one", "%v", l.Wrong))
	}
	path := l.Config.Path()
	if l.Running && l.Run.Config != "" && disk.Absolute(path) != l.Run.Config {
		return one(wrong(check, l.again(), "the daemon runs with a different configuration: %s", l.Run.Config))
	}
	if path == "" {
		return one(ok(check, "no configuration file, defaults in use"))
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
	case l.Running && !l.Run.Stale && info.ModTime().After(l.Run.Start):
		return one(wrong(check, l.again(), "%s changed since the daemon started, which does not read it again", path))
	case modes && info.Mode().Perm()&0o022 != 0:
		return one(note(check, "chmod go-w "+words.Shell(path), "%s can be written by others (mode %04o)", path, info.Mode().Perm()))
	}
	return one(ok(check, "%s", path))
}

// closed returns the watched directories that cannot be read.
func (l Facts) closed() (all []Finding) {
	for _, r := range l.Roots {
		dir, err := os.Open(r.Path)
		if err == nil {
			dir.Close()
		} else if !errors.Is(err, fs.ErrNotExist) {
			all = append(all, wrong("root "+r.Agent, "chmod u+rx "+words.Shell(filepath.Dir(r.Path)), "%v", err))
		}
	}
	return all
}

// daemon reports whether a daemon is running, and how.
func (l Facts) daemon() []Finding {
	const check = "daemon"
	switch {
	case l.RunErr != nil:
		return []Finding{wrong(check, l.again()+"; if none is running, remove "+words.Shell(filepath.Join(l.StateDir, "run.json")), "%v", l.RunErr)}
	case l.down():
		found := wrong(check, l.journal()+" shows why; then "+l.command("start"), "not running, although the service is installed")
		if l.fixable() {
			found = found.by("started the service", func(ctx context.Context) error { return l.Manager.Do(ctx, "start") })
		}
		return one(found)
	case !l.Running && l.Service.Installed:
		return nil // it uses another state directory, which place reports
	case !l.Running && l.Run.Killed > 0:
		return []Finding{wrong(check, "ccd run", "not running: process %d was killed", l.Run.Killed)}
	case !l.Running:
		return []Finding{note(check, "ccd run", "not running")}
	}
	return l.progress(check)
}

// progress reports whether the daemon that runs makes progress, and has this version.
func (l Facts) progress(check string) (all []Finding) {
	again := l.again()
	if l.Run.Stale {
		all = append(all, wrong(check, "free disk space, or make it writable", "process %d cannot write %s: what it does is unknown", l.Run.Pid, filepath.Join(l.StateDir, "run.json")))
	}
	if l.Run.Locked != "" {
		all = append(all, wrong(check, "end the process that has it", "the daemon is waiting for the archive: %s", l.Run.Locked))
	}
	if interval := l.Config.Watch.ScanInterval.Duration; !l.Run.LastPass.IsZero() && l.Now.Sub(l.Run.LastPass) > Late(interval) {
		all = append(all, wrong(check, again, "process %d has finished no scan for %s (one is due every %s): it hangs or is reading a very large file",
			l.Run.Pid, words.Short(l.Now.Sub(l.Run.LastPass)), interval))
	}
	exe, _ := os.Readlink(filepath.Join("/proc", strconv.Itoa(l.Run.Pid), "exe")) // "" if unknown
	if exe, replaced := strings.CutSuffix(exe, " (deleted)"); l.Run.Version != l.Version && !(l.Run.Stale && l.Run.Version == "") {
		all = append(all, wrong(check, again, "the daemon is %s, this is %s", Named(l.Run.Version), Named(l.Version)))
	} else if replaced {
		all = append(all, wrong(check, again, "%s was replaced after the daemon started", exe))
	}
	return append(all, ok(check, "running, pid %d, %s%s", l.Run.Pid, Named(l.Run.Version), l.pace()))
}

// pace says since when the daemon runs and how it keeps up, as far as that is known.
func (l Facts) pace() (line string) {
	if l.Run.Stale {
		return ", its state is unknown"
	}
	if !l.Run.Start.IsZero() {
		line = ", since " + words.Local(l.Run.Start)
	}
	if !l.Run.LastPass.IsZero() {
		line += fmt.Sprintf(", last scan %s ago, %s to read", words.Age(l.Run.LastPass), words.Count(l.Run.Watch.Waiting, "file"))
	}
	if n := l.Run.Watch.Overflows; n > 0 {
		line += fmt.Sprintf(", %s repaired by a scan", words.Count(n, "overflow"))
	}
	return line
}

// again says how to restart the daemon.
func (l Facts) again() string {
	if l.Service.Active {
		return l.command("restart")
	}
	return "restart it"
}

// Late returns how long a daemon may take for a scan before it counts as hanging.
func Late(interval time.Duration) time.Duration { return max(3*interval, 3*time.Minute) }

// Named returns a version as shown to people.
func Named(version string) string { return cmp.Or(version, "of an unknown version") }

// unplaced counts the sessions that are archived, and whose companion cannot be written.
func (l Facts) unplaced() (n int) {
	for _, f := range l.Run.Errors {
		if strings.HasPrefix(f.Error, daemon.ErrNotPlaced.Error()) {
			n++
		}
	}
	return n
}

// polled counts the roots that the daemon polls though it should watch them.
func (l Facts) polled() (n int, why string) {
	for _, r := range l.Run.Watch.Roots {
		if l.Running && r.Present && r.Limited() {
			n, why = n+1, r.Why
		}
	}
	return n, why
}

// failing counts what the daemon cannot archive or read.
func (l Facts) failing() (all []Finding) {
	const check = "errors"
	n := max(l.Run.Failing, len(l.Run.Errors))
	if unplaced := l.unplaced(); unplaced > 0 {
		n -= unplaced
		all = append(all, wrong(check, "`ccd status` says what is in the way: move it, make the directory writable, or set companion.dir", "%s not written; the sessions are archived",
			words.Are(unplaced, "companion", "companions")))
	}
	if n > 0 {
		all = append(all, wrong(check, "`ccd status` lists them; ccd tries again by itself", "%s could not be archived", words.Count(n, "file")))
	}
	if n, why := l.polled(); n > 0 {
		all = append(all, wrong("watches", "close other programs that watch files, or raise fs.inotify.max_user_watches and max_user_instances; until then changes are found within seconds",
			"%s polled, not watched: %s", words.Are(n, "directory", "directories"), why))
	}
	if n := len(l.Run.Watch.Unreadable); n > 0 && l.Running {
		all = append(all, wrong(check, "`ccd doctor` lists them", "the daemon cannot read %s", words.Count(n, "path")))
	}
	return all
}

// Summarizer checks the summarizer's command: it exists, the service may run it, and its newest calls did not fail.
func (l Facts) Summarizer() []Finding {
	const check = "summarizer"
	command := l.Config.Summarizer.Command
	if len(command) == 0 {
		return nil
	}
	path, err := l.Env.LookPath(command[0])
	if err != nil {
		return []Finding{wrong(check, "give the program's full path in summarizer.command", "the summarizer cannot start: %v", err)}
	}
	if l.Service.BlocksCommands {
		return one(l.byInstall(wrong(check, l.install(), "the service is not allowed to run %s: it was installed before the command was configured", path)))
	}
	last, n := tally.Failing(tally.Read(l.StateDir), summarizer.Command{Args: command}.Name())
	if n == 0 {
		return one(ok(check, "%s", path))
	}
	fix := "run the command of summarizer.command by hand, with a text on its standard input"
	if last.Late {
		fix = "take a faster command, or raise summarizer.timeout"
	}
	return []Finding{wrong(check, fix+"; until then companions have ccd's own summaries", "the summarizer fails: %s (%s in a row, the last %s ago)",
		last.Why, words.Count(n, "call"), words.Age(last.Time))}
}

// place compares the service's settings with those of this command.
func (l Facts) place() []Finding {
	if len(l.Service.Places) == 0 {
		return nil
	}
	return []Finding{wrong("drift", "run ccd with the service's environment and --config, or "+l.install()+" to use this shell's",
		"the service's settings differ from this shell's, so its paths differ too: %s", strings.Join(l.Service.Places, ", "))}
}

// limit compares the archive's size with archive.max_size.
func (l Facts) limit() Finding {
	const check, fix = "archive", "raise archive.max_size"
	limit, size, file := int64(l.Config.Archive.MaxSize), l.Size, humanize.IBytes(uint64(l.Size.File))
	step := min(size.File, 16<<20) // bbolt doubles a small file, then grows it by 16 MiB
	switch {
	case limit <= 0:
	case size.File > 0 && size.File+step > limit && size.Free < step:
		return wrong(check, fix, "%s is %s and cannot grow further (archive.max_size is %s): ccd has stopped archiving",
			l.ArchivePath, file, l.Config.Archive.MaxSize)
	case size.File-size.Free > limit/10*8:
		return note(check, fix, "%s is %s, over 80%% of archive.max_size of %s", l.ArchivePath, file, l.Config.Archive.MaxSize)
	}
	return ok(check, "%s is %s", l.ArchivePath, file)
}

// space compares the bytes that are free for the archive with archive.min_free.
func (l Facts) space() []Finding {
	const check, fix = "space", "free disk space, or lower archive.min_free"
	has := humanize.IBytes(uint64(max(0, l.Free)))
	switch {
	case l.Free < 0:
		return one(note(check, "", "cannot read free space of %s", filepath.Dir(l.ArchivePath)))
	case l.Free < int64(l.Config.Archive.MinFree):
		return one(wrong(check, fix, "%s free, below archive.min_free of %s: ccd has stopped archiving", has, l.Config.Archive.MinFree))
	case l.Free == 0:
		return one(wrong(check, "free disk space", "no space left on the disk of %s: ccd has stopped archiving", l.ArchivePath))
	}
	return one(ok(check, "%s free for the archive", has))
}

// stale reports whether the copy in object storage fell behind for so long that this is no loss of the network.
func stale(p pulled.Push, at time.Time) bool {
	return p.Exit == words.ExitDamage || at.Sub(p.Pushed) > staleCopy
}

// staleCopy is the age of the last push above which failed pushes are a problem.
const staleCopy = 24 * time.Hour

// command returns the command that starts or restarts the service.
func (l Facts) command(verb string) string {
	if l.Service.System {
		return "sudo ccd service " + verb + " --system"
	}
	return "ccd service " + verb
}

// install returns the command that writes the service's files again.
func (l Facts) install() string {
	if l.Service.System {
		return "sudo ccd service install --system --user " + words.Shell(account.Name())
	}
	return "ccd service install"
}

// journal returns the command that shows the service's log.
func (l Facts) journal() string {
	switch {
	case runtime.GOOS != "linux":
		return "its log"
	case l.Service.System:
		return "journalctl -u ccd -n 50"
	}
	return "journalctl --user -u ccd -n 50"
}

// answer is why the service manager does not answer, without the whole cause, which is too long for a line.
func (l Facts) answer() string {
	what, _, _ := strings.Cut(l.Service.Silent.Error(), ":")
	return what
}

// down reports whether the service is installed, for this account's places, and no daemon runs.
func (l Facts) down() bool {
	return l.RunErr == nil && !l.Running && l.Service.Installed && !(l.Service.Active && len(l.Service.Places) > 0)
}
