package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// serviceFacts asks what is known of the service that is installed for this user.
func (a *app) serviceFacts(ctx context.Context, l *library) (f serviceFacts) {
	f.service, f.err = a.installedService(l)
	if f.err == nil {
		f.state, f.err = f.service.Status(ctx)
	}
	if f.err != nil || !f.state.Installed {
		return f
	}
	own, err := a.service(l, false, "")
	f.machine = err == nil && own.Account() == "" && f.service.Account() != ""
	f.drift, f.drifted = f.service.Drift()
	f.differs, err = f.service.Differs()
	f.drifted = errors.Join(f.drifted, err)
	return f
}

// command is how the service is told to start or restart.
func (s *surroundings) command(verb string) string {
	if s.service.machine {
		return "sudo ccd " + verb + " --system"
	}
	return "ccd " + verb
}

// userFlag is what systemctl takes where the service is not the machine's.
func (s *surroundings) userFlag() string {
	if s.service.machine {
		return ""
	}
	return " --user"
}

// install is the command that writes the service's files anew.
func (s *surroundings) install() string {
	if s.service.machine {
		return "sudo ccd install --system --user " + shellWord(accountName())
	}
	return "ccd install"
}

// journal is the command that shows what the service last said.
func (s *surroundings) journal() string {
	switch {
	case runtime.GOOS != "linux":
		return "its log"
	case s.service.machine:
		return "journalctl -u ccd -n 50"
	}
	return "journalctl --user -u ccd -n 50"
}

// fixableService reports whether the service is this user's to start and to write anew.
func (s *surroundings) fixableService() bool {
	return s.service.service != nil && !s.service.machine && !s.silent() && !s.bare && len(s.service.differs) == 0
}

// silent reports whether the service manager does not answer.
func (s *surroundings) silent() bool {
	return strings.Contains(s.service.state.Detail, "does not answer")
}

func checkService(_ context.Context, s *surroundings) []finding {
	const check = "service"
	st := s.service.state
	where := ""
	if s.service.machine {
		where = " for the machine"
	}
	switch {
	case s.service.err != nil:
		return []finding{note(check, "", "%v", s.service.err)}
	case !st.Installed && s.silent():
		return []finding{note(check, "ccd run, from what starts programs at login", "not installed, and %s", st.Detail)}
	case !st.Installed:
		return []finding{note(check, "ccd install", "not installed: `ccd run` must be started by hand")}
	case s.silent():
		return []finding{note(check, "ccd install --linger, or log in: your own manager runs only while you are logged in", "installed%s, and %s", where, st.Detail)}
	case strings.HasPrefix(st.Detail, "failed"):
		return []finding{wrong(check, s.journal()+" tells why; then "+s.command("restart"), "installed%s, %s", where, st.Detail)}
	case !st.Enabled:
		f := note(check, s.install(), "installed%s, %s, and not enabled: it will not start with your session", where, st.Detail)
		return []finding{s.byInstall(f)}
	}
	return []finding{ok(check, "installed%s, %s", where, st.Detail)}
}

// byInstall gives a finding the repair of writing the service's files anew, where that is this user's to do.
func (s *surroundings) byInstall(f finding) finding {
	if !s.fixableService() {
		return f
	}
	return f.by("wrote the service's files as this ccd has them, and started it", s.service.service.Install)
}

// checkDrift compares the service's files with what this ccd would write, and with what its manager has read.
func checkDrift(_ context.Context, s *surroundings) []finding {
	const check = "drift"
	switch f := s.service; {
	case f.err != nil || !f.state.Installed:
		return nil
	case f.drifted != nil:
		return []finding{note(check, s.install(), "%v", f.drifted)}
	case len(f.differs) > 0:
		return []finding{wrong(check, "give ccd the same environment and --config; "+s.install()+" would have the service work as this shell does",
			"the service has other settings than this shell, and works elsewhere: %s", strings.Join(f.differs, ", "))}
	case len(f.drift) > 0:
		return []finding{s.byInstall(wrong(check, s.install(), "not as this ccd, with this configuration, would write it: %s", strings.Join(f.drift, ", ")))}
	case f.state.Stale:
		return []finding{s.byInstall(wrong(check, s.install(), "its manager has not read the service's files since they were changed"))}
	}
	return []finding{ok(check, "the service's files are as this ccd writes them")}
}

// checkSandbox tells which layers confine the daemon.
func checkSandbox(_ context.Context, s *surroundings) []finding {
	if s.service.err != nil || !s.service.state.Installed || runtime.GOOS != "linux" {
		return nil
	}
	return []finding{s.sandbox(procRoot)}
}

func (s *surroundings) sandbox(proc string) finding {
	const check = "sandbox"
	st := s.service.state
	switch {
	case len(s.l.config.Summarizer.Command) > 0:
		return ok(check, "left out, for the summarizer's command to run")
	case !st.Sandboxed:
		return note(check, "ccd uninstall, then "+s.install()+", tries it again", "only the first layer: this machine did not allow the second (user namespaces) when it was installed")
	case !s.running || !st.Active || st.Pid != s.run.Pid:
		return ok(check, "both layers are installed")
	}
	own, ownErr := os.Readlink(filepath.Join(proc, "self", "ns", "user"))
	its, err := os.Readlink(filepath.Join(proc, fmt.Sprint(s.run.Pid), "ns", "user"))
	switch {
	case ownErr != nil || err != nil || s.service.machine: // the machine's manager needs no namespace of users for it
		return ok(check, "both layers are installed")
	case own == its:
		return wrong(check, "ccd restart", "both layers are installed, and the daemon that runs is not in the second: it was started before, or ignores it")
	}
	return ok(check, "both layers are in force: it writes its own directories and companions, nothing else")
}

func checkLinger(_ context.Context, s *surroundings) []finding {
	st := s.service.state
	if s.service.err != nil || !st.Installed || !st.Ends {
		return nil
	}
	return []finding{note("linger", "ccd install --linger", "the service ends with your last session, and begins with the next")}
}

// checkProgram looks for the ccd that a shell finds: it is the one that agents are told to call.
func checkProgram(_ context.Context, s *surroundings) []finding {
	own, err := stableExecutable()
	if err != nil {
		return []finding{note("program", "", "%v", err)}
	}
	return []finding{programIn(s.a.getenv("PATH"), own)}
}

func programIn(path, own string) finding {
	const check = "program"
	found := ""
	for _, dir := range filepath.SplitList(path) {
		if p, err := exec.LookPath(filepath.Join(dir, "ccd")); err == nil && filepath.IsAbs(p) {
			found = p
			break
		}
	}
	if found == "" {
		return note(check, "put it into a directory of $PATH", "this is %s, and no ccd is in $PATH: agents cannot run `ccd agent restore`", own)
	}
	if !alike(found, own) {
		return note(check, "remove the one, or change $PATH", "this is %s, and $PATH has another one first: %s", own, found)
	}
	return ok(check, "%s, %s", found, named(version().Version))
}

// alike reports whether two paths lead to the same program, or to two of the same size and time of making.
func alike(p, q string) bool {
	x, err := os.Stat(p)
	if err != nil {
		return false
	}
	y, err := os.Stat(q)
	return err == nil && (os.SameFile(x, y) || x.Size() == y.Size() && x.ModTime().Equal(y.ModTime()))
}
