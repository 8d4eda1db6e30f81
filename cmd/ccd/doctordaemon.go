package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ccd/internal/mark"
)

// checkDaemon tells whether a daemon runs, whether it is one that is here, of this version, and whether it gets on.
func checkDaemon(_ context.Context, s *surroundings) []finding {
	const check = "daemon"
	installed := s.service.state.Installed
	switch {
	case s.runErr != nil:
		return []finding{wrong(check, s.again()+"; where none runs, remove "+shellWord(filepath.Join(s.l.stateDir, "run.json")), "%v", s.runErr)}
	case !s.running && s.service.state.Active && len(s.service.differs) > 0:
		return nil // it runs elsewhere: the service's check tells
	case !s.running && installed:
		f := wrong(check, s.journal()+" tells why; "+s.command("start"), "not running, although its service is installed")
		if s.fixableService() {
			f = f.by("started the service", s.service.service.Start)
		}
		return []finding{f}
	case !s.running:
		return []finding{note(check, "ccd run, or ccd install", "not running")}
	}
	var all []finding
	if s.run.Stale {
		all = append(all, wrong(check, "free disk space, or make it writable", "pid %d cannot write %s",
			s.run.Pid, filepath.Join(s.l.stateDir, "run.json")))
	}
	if late := stalled(s.l.config.Watch.ScanInterval); !s.run.LastPass.IsZero() && s.now.Sub(s.run.LastPass) > late {
		all = append(all, wrong(check, s.again(), "pid %d runs, and no scan has ended for %s: it hangs, or works on something huge (scans are due every %s)",
			s.run.Pid, short(s.now.Sub(s.run.LastPass)), s.l.config.Watch.ScanInterval))
	}
	if r := s.run.Reload; r != nil && r.Error != "" {
		all = append(all, wrong(check, "mend it, look with ccd config, then systemctl"+s.userFlag()+" reload ccd, or kill -HUP "+fmt.Sprint(s.run.Pid),
			"the configuration was refused %s ago, the previous one is in use: %s", age(r.Time), r.Error))
	} else if r != nil && r.Note != "" {
		all = append(all, note(check, s.install(), "%s", r.Note))
	}
	if why := s.stranger(procRoot); why != "" {
		all = append(all, note(check, "", "%s", why))
	}
	if why := s.skewed(procRoot); why != "" {
		all = append(all, note(check, s.again(), "%s", why))
	}
	if len(all) == 0 {
		all = append(all, ok(check, "running, pid %d, %s", s.run.Pid, named(s.run.Version)))
	}
	return all
}

// procRoot is where Linux tells of processes; elsewhere there is nothing.
const procRoot = "/proc"

// again is the command that starts the daemon anew.
func (s *surroundings) again() string {
	if s.service.state.Active {
		return s.command("restart")
	}
	return "end it, and start it again"
}

// program is the file that the daemon runs, "" where that cannot be told.
func (s *surroundings) program(proc string) string {
	exe, err := os.Readlink(filepath.Join(proc, fmt.Sprint(s.run.Pid), "exe"))
	if err != nil {
		return ""
	}
	return exe
}

// stranger tells why who holds run.lock is not the daemon that run.json names, "" where nothing speaks against it.
func (s *surroundings) stranger(proc string) string {
	if !exists(filepath.Join(proc, "self")) {
		return ""
	}
	if !exists(filepath.Join(proc, fmt.Sprint(s.run.Pid))) {
		return fmt.Sprintf("run.lock is held, and pid %d is not to be seen here: a daemon in a container, or on another machine", s.run.Pid)
	}
	name, err := os.ReadFile(filepath.Join(proc, fmt.Sprint(s.run.Pid), "comm"))
	if exe := s.program(proc); err == nil && exe != "" && !strings.Contains(filepath.Base(exe), "ccd") && !strings.Contains(string(name), "ccd") {
		return fmt.Sprintf("run.lock is held, and pid %d is %s: another process than run.json tells of", s.run.Pid, exe)
	}
	return ""
}

// skewed tells how the daemon differs from this program, "" where it does not.
func (s *surroundings) skewed(proc string) string {
	if own := version().Version; s.run.Version != own {
		return fmt.Sprintf("the daemon is %s, this is %s", named(s.run.Version), named(own))
	}
	if exe, gone := strings.CutSuffix(s.program(proc), " (deleted)"); gone {
		return fmt.Sprintf("its program, %s, has been replaced since it started", exe)
	}
	return ""
}

// checkErrors are those of the daemon that runs, or of the last one that ran.
func checkErrors(_ context.Context, s *surroundings) []finding {
	const check = "errors"
	var all []finding
	last := s.run.Errors
	for _, f := range last[max(0, len(last)-shown):] {
		all = append(all, wrong(check, s.retry(), "%s (%s ago)", mark.Inline(failureLine(f), maxName), age(f.Time)))
	}
	if more := max(s.run.Failing, len(last)) - shown; more > 0 {
		all = append(all, wrong(check, "ccd status tells all", "%d more", more))
	}
	if n := len(s.run.Watch.Unreadable); n > 0 && s.running {
		all = append(all, note(check, "", "the daemon cannot read %d directories or files (see the roots)", n))
	}
	return all
}

// retry is how to see whether what failed still does: a daemon that runs tries it again by itself.
func (s *surroundings) retry() string {
	if s.running {
		return "once its cause is gone it is tried again by itself; ccd status tells whether it still fails"
	}
	return "ccd run --once tells whether it still fails"
}
