package doctor

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/install"
	"ccd/internal/mark"
	"ccd/internal/words"
)

// command returns the command that starts or restarts the service.
func (s service) command(verb string) string {
	if s.System() {
		return "sudo ccd service " + verb + " --system"
	}
	return "ccd service " + verb
}

// install returns the command that writes the service's files again.
func (s service) install() string {
	if s.Service != nil && s.System() {
		return "sudo ccd service install --system --user " + words.Shell(account.Name())
	}
	return "ccd service install"
}

// journal returns the command that shows the service's log.
func (s service) journal() string {
	switch {
	case runtime.GOOS != "linux":
		return "its log"
	case s.System():
		return "journalctl -u ccd -n 50"
	}
	return "journalctl --user -u ccd -n 50"
}

// answer is the state without the manager's whole error, which is too long for a line.
func (s service) answer() string {
	what, _, _ := strings.Cut(s.state.Detail, ":")
	return what
}

// silent reports whether the service manager does not answer.
func (s service) silent() bool { return strings.Contains(s.state.Detail, "does not answer") }

// fixable reports whether this user may start the service and write its files again.
func (f *facts) fixable() bool {
	s := f.service
	return s.Service != nil && !s.System() && !s.silent() && !f.unconfigured && len(s.differs) == 0
}

// byInstall adds the repair of writing the service's files again, if this user may do that.
func (f *facts) byInstall(found Finding) Finding {
	if !f.fixable() {
		return found
	}
	return found.by("rewrote the service's files and started it", f.service.Install)
}

func checkService(_ context.Context, f *facts) []Finding {
	const check = "service"
	s, st := f.service, f.service.state
	where := ""
	if s.Service != nil && s.System() {
		where = " as a system service"
	}
	switch {
	case s.err != nil:
		return []Finding{note(check, "", "%v", s.err)}
	case !st.Installed && s.silent():
		return []Finding{note(check, "start `ccd run` at login", "not installed; %s", s.answer())}
	case !st.Installed:
		return []Finding{note(check, "ccd setup", "not installed: ccd runs only while you run `ccd run`")}
	case s.silent():
		return []Finding{note(check, "ccd service install --linger, or log in: a user's service manager runs only during a login", "installed%s; %s", where, s.answer())}
	case strings.HasPrefix(st.Detail, "failed"):
		return []Finding{wrong(check, s.journal()+" shows why; then "+s.command("restart"), "installed%s, %s", where, st.Detail)}
	case !st.Enabled:
		found := note(check, s.install(), "installed%s, %s, not enabled: it does not start at login", where, st.Detail)
		return []Finding{f.byInstall(found)}
	}
	return []Finding{ok(check, "installed%s, %s", where, st.Detail)}
}

// checkDrift compares the service's files with those that this ccd would write and with those that the manager has loaded.
func checkDrift(_ context.Context, f *facts) []Finding {
	const check = "drift"
	s := f.service
	switch {
	case s.err != nil || !s.state.Installed:
		return nil
	case s.drifted != nil:
		return []Finding{note(check, s.install(), "%v", s.drifted)}
	case len(s.differs) > 0:
		return []Finding{wrong(check, "run ccd with the service's environment and --config, or "+s.install()+" to use this shell's",
			"the service's settings differ from this shell's, so its paths differ too: %s", strings.Join(s.differs, ", "))}
	case len(s.drift) > 0:
		return []Finding{f.byInstall(wrong(check, s.install(), "differ from what this ccd writes with this configuration: %s", strings.Join(s.drift, ", ")))}
	case s.state.Stale:
		return []Finding{f.byInstall(wrong(check, s.install(), "the service manager has not read the service's files since they changed"))}
	}
	return []Finding{ok(check, "the service's files are up to date")}
}

// checkSandbox reports how the service is sandboxed.
func checkSandbox(_ context.Context, f *facts) []Finding {
	const check = "sandbox"
	s := f.service
	switch {
	case s.err != nil || !s.state.Installed || runtime.GOOS != "linux":
		return nil
	case f.Config.RunsCommands():
		return []Finding{ok(check, "off, because the configuration sets a command")}
	case !s.state.Sandboxed:
		return []Finding{note(check, "ccd service remove, then "+s.install(),
			"partial: this machine did not allow user namespaces when the service was installed")}
	}
	return []Finding{ok(check, "on: the daemon can write only its own directories and companions")}
}

func checkLinger(_ context.Context, f *facts) []Finding {
	if st := f.service.state; f.service.err != nil || !st.Installed || !st.EndsAtLogout {
		return nil
	}
	return []Finding{note("linger", "ccd service install --linger", "the service stops when you log out and starts at the next login")}
}

// checkDaemon reports whether a daemon is running, has this version and makes progress.
func checkDaemon(_ context.Context, f *facts) []Finding {
	const check = "daemon"
	s, again := f.service, "restart it"
	if s.state.Active {
		again = s.command("restart")
	}
	switch {
	case f.runErr != nil:
		return []Finding{wrong(check, again+"; if none is running, remove "+words.Shell(filepath.Join(f.StateDir, "run.json")), "%v", f.runErr)}
	case !f.run.running && s.state.Active && len(s.differs) > 0:
		return nil // it uses another state directory, which checkDrift reports
	case !f.run.running && s.state.Installed:
		found := wrong(check, s.journal()+" shows why; then "+s.command("start"), "not running, although the service is installed")
		if f.fixable() {
			found = found.by("started the service", s.Start)
		}
		return []Finding{found}
	case !f.run.running:
		return []Finding{note(check, "ccd run, or ccd service install", "not running")}
	}
	var all []Finding
	if f.run.Stale {
		all = append(all, wrong(check, "free disk space, or make it writable", "process %d cannot write %s", f.run.Pid, filepath.Join(f.StateDir, "run.json")))
	}
	if interval := f.Config.Watch.ScanInterval; !f.run.LastPass.IsZero() && f.now.Sub(f.run.LastPass) > Late(interval) {
		all = append(all, wrong(check, again, "process %d has finished no scan for %s (one is due every %s): it hangs or is reading a very large file",
			f.run.Pid, words.Short(f.now.Sub(f.run.LastPass)), interval))
	}
	if r := f.run.Reload; r != nil && r.Error != "" {
		user := " --user"
		if s.Service != nil && s.System() {
			user = ""
		}
		all = append(all, wrong(check, "fix it (ccd config checks it), then systemctl"+user+" reload ccd, or kill -HUP "+strconv.Itoa(f.run.Pid),
			"the configuration was rejected %s ago, the previous one is in use: %s", words.Age(r.Time), r.Error))
	} else if r != nil && r.Note != "" {
		all = append(all, note(check, s.install(), "%s", r.Note))
	}
	exe, _ := os.Readlink(filepath.Join("/proc", strconv.Itoa(f.run.Pid), "exe")) // "" if unknown
	if exe, replaced := strings.CutSuffix(exe, " (deleted)"); f.run.Version != f.doctor.Version {
		all = append(all, note(check, again, "the daemon is %s, this is %s", Named(f.run.Version), Named(f.doctor.Version)))
	} else if replaced {
		all = append(all, note(check, again, "%s was replaced after the daemon started", exe))
	}
	if len(all) == 0 {
		all = append(all, ok(check, "running, process %d, %s", f.run.Pid, Named(f.run.Version)))
	}
	return all
}

// Late returns how long a daemon may take for a scan before it counts as hanging.
func Late(interval time.Duration) time.Duration { return max(3*interval, 3*time.Minute) }

// Named returns a version as shown to people.
func Named(version string) string {
	if version == "" {
		return "of an unknown version"
	}
	return version
}

// checkErrors lists the errors of the running daemon, or of the last one.
func checkErrors(_ context.Context, f *facts) []Finding {
	const check = "errors"
	fix := "ccd run --once shows whether it still fails"
	if f.run.running {
		fix = "fix the cause; ccd retries by itself, and ccd status shows whether it still fails"
	}
	var all []Finding
	last := f.run.Errors
	for _, e := range last[max(0, len(last)-shown):] {
		all = append(all, wrong(check, fix, "%s (%s ago)", mark.Inline(e.String(), 0), words.Age(e.Time)))
	}
	if more := max(f.run.Failing, len(last)) - shown; more > 0 {
		all = append(all, wrong(check, "ccd status lists them", "%d more", more))
	}
	if n := len(f.run.Watch.Unreadable); n > 0 && f.run.running {
		all = append(all, note(check, "", "the daemon cannot read %s (see the roots above)", words.Count(n, "path")))
	}
	return all
}

func checkSummarizer(_ context.Context, f *facts) []Finding {
	return checkCommand("summarizer", f.Config.Summarizer.Command, f)
}

func checkNotice(_ context.Context, f *facts) []Finding {
	return checkCommand("notice", f.Config.Notice.Command, f)
}

// checkCommand checks that the command of a section exists and that the service may run it.
func checkCommand(check string, command []string, f *facts) []Finding {
	if len(command) == 0 {
		return nil
	}
	path, err := f.Env.LookPath(command[0])
	switch {
	case err != nil:
		return []Finding{wrong(check, "give the program's full path in "+check+".command", "%v", err)}
	case f.service.state.BlocksCommands:
		return []Finding{f.byInstall(wrong(check, f.service.install(), "the service is not allowed to run %s: it was installed before the command was configured", path))}
	}
	return []Finding{ok(check, "%s", path)}
}

// checkProgram looks for ccd in $PATH, because agents run that one.
func checkProgram(_ context.Context, f *facts) []Finding {
	own, err := f.Env.Executable()
	if err != nil {
		return []Finding{note("program", "", "%v", err)}
	}
	return []Finding{programIn(f.Env.Getenv("PATH"), own, f.doctor.Version)}
}

func programIn(path, own, version string) Finding {
	const check = "program"
	this, err := os.Stat(own)
	for _, dir := range filepath.SplitList(path) {
		found, lerr := exec.LookPath(filepath.Join(dir, "ccd"))
		if lerr != nil || !filepath.IsAbs(found) {
			continue
		}
		if there, serr := os.Stat(found); err != nil || serr != nil || !os.SameFile(this, there) {
			return note(check, "remove one of them, or change $PATH", "this program is %s, but $PATH finds %s first", own, found)
		}
		return ok(check, "%s, %s", found, Named(version))
	}
	return note(check, "move it to a directory in $PATH", "%s is not in $PATH: agents cannot run `ccd agent restore`", own)
}

// checkAgents checks that the programs named in the agents' settings exist.
func checkAgents(_ context.Context, f *facts) (all []Finding) {
	if f.doctor.Agents == nil {
		return nil
	}
	var missing []string
	for _, agent := range f.doctor.Agents.Present() {
		st := f.doctor.Agents.Status(agent)
		check, fix := "agent "+agent, "ccd agents install "+install.Connection(agent).Name
		gone := slices.IndexFunc(st.Binaries, func(b install.Binary) bool { return !b.Exists })
		switch {
		case gone >= 0:
			all = append(all, wrong(check, fix, "its settings name %s, which does not exist", st.Binaries[gone].Path))
		case st.Installed && len(st.Binaries) == 0:
			all = append(all, ok(check, "its instructions call ccd"))
		case st.Installed:
			all = append(all, ok(check, "runs %s", st.Binaries[0].Path))
		case len(st.Binaries) > 0:
			all = append(all, note(check, fix, "partly connected, or connected to another ccd (ccd agents status shows details)"))
		default:
			row, _ := f.Env.Agents().Lookup(agent)
			missing = append(missing, row.Title)
		}
	}
	if len(missing) > 0 {
		all = append(all, note("agents", "ccd setup", "not connected: %s", strings.Join(missing, ", ")))
	}
	return all
}

// checkWatches compares the number of directories with the kernel's limit on watches. Beyond the limit ccd polls, which is
// slower but loses nothing.
func checkWatches(_ context.Context, f *facts) []Finding {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	limit, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || bad != nil || f.Watch.Poll {
		return nil
	}
	dirs := 0
	for _, t := range f.trees {
		if slices.ContainsFunc(f.scans, func(s scan) bool { return s.Path == t.dir }) {
			dirs += t.dirs
		}
	}
	return []Finding{watches(dirs, limit)}
}

func watches(dirs, limit int) Finding {
	const check = "watches"
	if dirs*2 > limit {
		return note(check, "sysctl fs.inotify.max_user_watches=524288",
			"%d directories to watch, %d watches for all programs: some directories may be polled", dirs, limit)
	}
	return ok(check, "%d directories, limit %d", dirs, limit)
}
