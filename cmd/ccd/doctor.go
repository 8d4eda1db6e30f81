package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/daemon"
	"ccd/watcher"
)

// finding is what one check of doctor says. State is "ok", "note" (worth knowing) or "wrong".
type finding struct {
	Check  string `json:"check"`
	State  string `json:"state"`
	Detail string `json:"detail"`
	Mend   string `json:"mend"`
}

func ok(check, detail string, args ...any) finding {
	return finding{Check: check, State: "ok", Detail: fmt.Sprintf(detail, args...)}
}

func note(check, mend, detail string, args ...any) finding {
	return finding{Check: check, State: "note", Detail: fmt.Sprintf(detail, args...), Mend: mend}
}

func wrong(check, mend, detail string, args ...any) finding {
	return finding{Check: check, State: "wrong", Detail: fmt.Sprintf(detail, args...), Mend: mend}
}

func (a *app) doctorCommand() *cobra.Command {
	p := page{
		use: "doctor", group: care, short: "check the surroundings, and say how to mend what is wrong",
		long: `Checked are: configuration, watched roots and their permissions, watch limits, state directory, archive,
free space, service and daemon, the summarizer's command, its last errors, the agents' purge settings.
It changes nothing, and exits 1 if something is wrong.`,
		examples: []example{
			{"ccd doctor", "each check, and how to mend it"},
			{"ccd doctor --json | jq '.[] | select(.state == \"wrong\")'", "only what is wrong"},
		},
		json: `one array, an object a check: check, state ("ok", "note", "wrong"), detail, mend`,
	}
	return p.command(cobra.NoArgs, func(c *cobra.Command, _ []string) error { return a.doctor(c.Context()) })
}

func (a *app) doctor(ctx context.Context) error {
	all := a.examine(ctx)
	bad := 0
	rows := [][]string{}
	for _, f := range all {
		if f.State == "wrong" {
			bad++
		}
		rows = append(rows, []string{f.State, f.Check, f.Detail})
		if f.Mend != "" {
			rows = append(rows, []string{"", "", "mend: " + f.Mend})
		}
	}
	var err error
	if a.json {
		err = a.printJSON(all)
	} else {
		err = a.table(rows)
	}
	if err == nil && bad > 0 {
		return errSaid
	}
	return err
}

// examine runs the checks. Without a configuration the others have nothing to look at.
func (a *app) examine(ctx context.Context) []finding {
	l, err := a.locate(true)
	if err != nil {
		return []finding{wrong("config", "`ccd config --default` prints a valid one", "%v", err)}
	}
	all := []finding{checkConfig(l)}
	all = append(all, checkRoots(ctx, l)...)
	all = append(all, checkWatchLimits(l)...)
	all = append(all, checkStateDir(l), checkArchive(ctx, l), checkSpace(l))
	all = append(all, a.checkDaemon(ctx, l)...)
	all = append(all, a.checkAgents()...)
	return append(all, a.checkPurge())
}

func checkConfig(l *library) finding {
	if l.configPath == "" {
		return ok("config", "defaults; no file is needed")
	}
	return ok("config", "%s", l.configPath)
}

// checkRoots looks at every watched directory: can it be read, and can a companion be written beside a transcript?
func checkRoots(ctx context.Context, l *library) []finding {
	var all []finding
	present := 0
	for _, r := range l.roots {
		check := "root " + r.Agent
		info, err := os.Stat(r.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			all = append(all, ok(check, "%s is not there yet; it is waited for", r.Path))
			continue
		case err != nil:
			all = append(all, wrong(check, "chmod u+rx "+filepath.Dir(r.Path), "%v", err))
			continue
		case !info.IsDir():
			all = append(all, wrong(check, "point [watch.roots] at a directory", "%s is not a directory", r.Path))
			continue
		}
		present++
		all = append(all, checkRoot(ctx, l, r)...)
	}
	if present == 0 {
		all = append(all, note("roots", "use an agent, or add directories under [watch.roots]", "no agent has left a transcript yet"))
	}
	return all
}

func checkRoot(ctx context.Context, l *library, r watcher.Root) []finding {
	check := "root " + r.Agent
	o := l.watch
	o.Roots = []watcher.Root{r}
	found, problems := watcher.Scan(ctx, o)
	var all []finding
	const show = 5
	for _, err := range problems {
		if errors.Is(err, watcher.ErrIrregular) {
			all = append(all, note(check, "", "%s", irregular(err)))
		} else {
			all = append(all, wrong(check, "chmod -R u+rX "+shellWord(r.Path)+", or name it under [watch] ignore", "%v", err))
		}
	}
	for _, f := range found {
		if err := readable(f.Path); err != nil {
			all = append(all, wrong(check, "chmod u+r "+shellWord(f.Path)+", or name it under [watch] ignore", "%s cannot be read: %v", f.Path, err))
		}
	}
	if more := len(all) - show; more > 0 {
		all = append(all[:show], finding{check, worst(all[show:]), count(more, "more problem") + " in " + r.Path, ""})
	}
	if l.config.Companion.Dir == "" && !writable(r.Path) {
		all = append(all, wrong(check, "set companion.dir to a directory of yours", "%s cannot be written to: no companion can stand there", r.Path))
	}
	if len(all) == 0 {
		all = append(all, ok(check, "%s, %s", r.Path, count(len(found), "file")))
	}
	return all
}

func worst(all []finding) string {
	if slices.ContainsFunc(all, func(f finding) bool { return f.State == "wrong" }) {
		return "wrong"
	}
	return "note"
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
		case mode.IsRegular():
			kind = "a file with control characters in its name"
		}
	}
	return fmt.Sprintf("%q is %s: it is skipped", path, kind)
}

func checkStateDir(l *library) finding {
	const check = "state"
	info, err := os.Stat(l.stateDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ok(check, "%s is not there yet; `ccd run` makes it", l.stateDir)
	case err != nil:
		return wrong(check, "chmod 700 "+l.stateDir, "%v", err)
	case errors.Is(access(l.stateDir), syscall.EROFS):
		return note(check, "", "%s is on a read-only file system: what only reads works here, ccd run belongs where it can be written to", l.stateDir)
	case !writable(l.stateDir):
		return wrong(check, "chown and chmod 700 "+l.stateDir, "%s cannot be written to", l.stateDir)
	case info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/':
		return wrong(check, "chmod 700 "+l.stateDir, "%s can be read by others (mode %04o)", l.stateDir, info.Mode().Perm())
	}
	return ok(check, "%s", l.stateDir)
}

func checkArchive(ctx context.Context, l *library) finding {
	const check = "archive"
	size, err := l.archive.Size(ctx)
	if err != nil {
		return wrong(check, "ccd verify", "%v", err)
	}
	if size.File == 0 {
		return ok(check, "%s is not there yet; `ccd run` makes it", l.archivePath)
	}
	if full(size, l.config.Archive.MaxSize) {
		return wrong(check, "raise archive.max_size", "%s is %s and has no room to grow below archive.max_size of %s: nothing more is archived",
			l.archivePath, humanize.IBytes(uint64(size.File)), l.written("archive.max_size"))
	}
	return ok(check, "%s, %s for %s of transcripts", l.archivePath, humanize.IBytes(uint64(size.File)), humanize.IBytes(uint64(size.Raw)))
}

// full reports whether the archive's file has nothing free, and its next step would pass the limit of so many bytes.
// It doubles while it is small, then grows in steps of 16 MiB.
func full(size archive.Size, limit int64) bool {
	step := min(size.File, 16<<20)
	return limit > 0 && size.File+step > limit && size.Free < step
}

func checkSpace(l *library) finding {
	const check = "space"
	free, err := freeSpace(existing(filepath.Dir(l.archivePath)))
	switch least := l.minFree(); {
	case err != nil:
		return note(check, "", "cannot be told: %v", err)
	case free < least:
		return wrong(check, "make room, or lower archive.min_free", "%s free, below archive.min_free of %s: nothing is archived",
			humanize.IBytes(uint64(free)), l.written("archive.min_free"))
	}
	return ok(check, "%s free for the archive", humanize.IBytes(uint64(free)))
}

// existing returns the nearest directory above dir that is there.
func existing(dir string) string {
	for dir != filepath.Dir(dir) && !exists(dir) {
		dir = filepath.Dir(dir)
	}
	return dir
}

func (a *app) checkDaemon(ctx context.Context, l *library) []finding {
	info, running, err := daemon.ReadRun(l.stateDir)
	if err != nil {
		return []finding{wrong("daemon", "ccd restart", "%v", err)}
	}
	var all []finding
	installed, confined := false, false
	if s, err := a.installedService(l); err != nil {
		all = append(all, note("service", "", "%v", err))
	} else if state, err := s.Status(ctx); err != nil {
		all = append(all, note("service", "", "%v", err))
	} else if installed, confined = state.Installed, state.Confined; installed {
		all = append(all, ok("service", "installed, %s", state.Detail))
	} else {
		all = append(all, note("service", "ccd install", "not installed: `ccd run` must be started by hand"))
	}
	switch {
	case running:
		all = append(all, ok("daemon", "running, pid %d", info.Pid))
	case installed:
		all = append(all, wrong("daemon", "ccd start", "not running, although its service is installed"))
	default:
		all = append(all, note("daemon", "ccd run, or ccd install", "not running"))
	}
	all = append(all, checkSummarizer(l, confined)...)
	return append(all, lastErrors(info)...)
}

// lastErrors are those of the daemon that runs, or of the last one that ran.
func lastErrors(info daemon.RunInfo) []finding {
	const show = 5
	var all []finding
	for _, f := range info.Errors[max(0, len(info.Errors)-show):] {
		all = append(all, wrong("errors", "ccd run --once tells whether it still fails", "%s (%s ago)", failureLine(f), age(f.Time)))
	}
	if more := len(info.Errors) - show; more > 0 {
		all = append(all, wrong("errors", "ccd status tells all", "%d more", more))
	}
	return all
}

// claudeKeeps is how many days Claude Code keeps a transcript where nothing is set.
const claudeKeeps = 30

// checkPurge tells when agents remove their transcripts: what is not archived by then is gone.
func (a *app) checkPurge() finding {
	const check = "purge"
	days, file, err := a.claudePurge()
	switch {
	case err != nil:
		return note(check, "", "claude-code's settings cannot be read: %v", err)
	case days == nil:
		return ok(check, "claude-code removes transcripts after %d days (its default); the archive keeps them", claudeKeeps)
	case *days < 1:
		return wrong(check, `set "cleanupPeriodDays" in `+file+" to 1 or more",
			"claude-code keeps no transcripts (cleanupPeriodDays %v): there is nothing to archive", *days)
	}
	return ok(check, "claude-code removes transcripts after %v days; the archive keeps them", *days)
}

// claudePurge is after how many days Claude Code removes transcripts, nil where its settings, in file, say nothing.
func (a *app) claudePurge() (days *float64, file string, err error) {
	dir := a.getenv("CLAUDE_CONFIG_DIR")
	if dir == "" {
		home, err := a.home()
		if err != nil {
			return nil, "", err
		}
		dir = filepath.Join(home, ".claude")
	}
	file = filepath.Join(dir, "settings.json")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, file, nil
	}
	var settings struct {
		Days *float64 `json:"cleanupPeriodDays"`
	}
	if err == nil {
		err = json.Unmarshal(text, &settings)
	}
	return settings.Days, file, err
}

// writable reports whether a file could be made in dir, by its permissions: nothing is written to find out.
func writable(dir string) bool { return access(dir) == nil }
