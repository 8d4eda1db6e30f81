package doctor

import (
	"context"
	"runtime"
	"slices"
	"strings"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/hook"
	"ccd/cmd/ccd/internal/install"
	"ccd/internal/ownfile"
)

// byInstall adds the repair of writing the service's files again, if this user may do that.
func (l Facts) byInstall(found Finding) Finding {
	if !l.fixable() {
		return found
	}
	return found.by("rewrote the service's files and started it", l.Manager.Install)
}

// fixable reports whether this user may start the service and write its files again.
func (l Facts) fixable() bool {
	return l.Manager != nil && !l.Service.System && l.Service.Silent == nil && l.Wrong == nil && len(l.Service.Places) == 0
}

// service reports whether the service is installed and starts with the session, and what install would change.
func (l Facts) service() []Finding {
	const check = "service"
	st := l.Service
	where := map[bool]string{true: " as a system service"}[st.System]
	found := ok(check, "installed%s, %s", where, st.Detail)
	switch {
	case l.Unasked != nil:
		return []Finding{note(check, "", "%v", l.Unasked)}
	case !st.Installed && st.Silent != nil:
		return []Finding{note(check, "start `ccd run` at login", "not installed; %s", l.answer())}
	case !st.Installed:
		return []Finding{note(check, "ccd setup", "not installed: ccd runs only while you run `ccd run`")}
	case st.Silent != nil:
		found = note(check, "loginctl enable-linger, or log in: a user's service manager runs only during a login", "installed%s; %s", where, l.answer())
	case strings.HasPrefix(st.Detail, "failed"):
		found = wrong(check, l.journal()+" shows why; then "+l.command("restart"), "installed%s, %s", where, st.Detail)
	case !st.Enabled:
		found = l.byInstall(note(check, l.install(), "installed%s, %s, not enabled: it does not start at login", where, st.Detail))
	}
	return one(found)
}

// checkDrift compares the service's files with those that this ccd would write and with those that the manager has loaded, and
// reports how the service is sandboxed.
func checkDrift(_ context.Context, f *facts) (all []Finding) {
	st := f.Service
	if st.EndsAtLogout && st.Installed {
		all = append(all, note("linger", "loginctl enable-linger", "the service stops when you log out and starts at the next login"))
	}
	found := ok("drift", "the service's files are up to date")
	switch {
	case !st.Installed, f.Wrong != nil, len(st.Places) > 0: // service, config and place say it
		return all
	case len(st.Drift) > 0:
		found = f.byInstall(wrong("drift", f.install(), "differ from what this ccd writes with this configuration: %s", strings.Join(st.Drift, ", ")))
	case st.Stale:
		found = f.byInstall(wrong("drift", f.install(), "the service manager has not read the service's files since they changed"))
	}
	const check = "sandbox"
	switch {
	case runtime.GOOS != "linux":
		return append(all, found)
	case f.Config.RunsCommands():
		return append(all, found, ok(check, "off, because the configuration sets a command"))
	case !f.Service.Sandboxed:
		return append(all, found, note(check, "ccd service remove, then "+f.install(),
			"partial: this machine did not allow user namespaces when the service was installed"))
	}
	return append(all, found, ok(check, "on: the daemon can write only its own directories and companions"))
}

// checkProgram looks for ccd in $PATH, because agents run that one.
func checkProgram(_ context.Context, f *facts) []Finding {
	own, err := f.Env.Executable()
	if err != nil {
		return []Finding{note("program", "", "%v", err)}
	}
	return []Finding{programIn(f.Env, own, f.Version)}
}

func programIn(env account.Env, own, version string) Finding {
	const check = "program"
	found, err := env.LookPath("ccd")
	if err != nil {
		return note(check, "move it to a directory in $PATH", "%s is not in $PATH: agents cannot run `ccd agent restore`", own)
	}
	if !ownfile.Same(own, found) {
		return note(check, "remove one of them, or change $PATH", "this program is %s, but $PATH finds %s first", own, found)
	}
	return ok(check, "%s, %s", found, Named(version))
}

// checkAgents checks that the programs named in the agents' settings exist.
func checkAgents(_ context.Context, f *facts) (all []Finding) {
	if f.doctor.Agents == nil {
		return nil
	}
	var missing []string
	outcomes := hook.ReadLog(f.StateDir).Outcomes
	for _, agent := range f.doctor.Agents.Present() {
		st := f.doctor.Agents.Status(agent)
		check, fix := "agent "+agent, "ccd agents install "+install.Connection(agent).Name
		gone := slices.IndexFunc(st.Binaries, func(b install.Binary) bool { return !b.Exists })
		switch {
		case gone >= 0:
			all = append(all, wrong(check, fix, "its settings name %s, which does not exist", st.Binaries[gone].Path))
		case st.Installed:
			c := install.Connection(agent)
			asks := c.Mod != "" || slices.Contains(f.Config.Live.Clients, c.Name)
			all = append(all, connected(check, st, outcomes[agent], f.Config.Live.Compaction && asks))
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

// connected is the finding about an agent that is connected. compacts is whether ccd is to answer its compactions.
func connected(check string, st install.Status, last hook.Outcome, compacts bool) Finding {
	switch {
	case compacts && st.Compacts != "ccd" && len(st.Notes) > 0:
		return note(check, "", "ccd does not compact: %s", st.Notes[0])
	case last.By == "agent":
		return note(check, "", "%s", last)
	case len(st.Binaries) == 0:
		return ok(check, "its instructions call ccd")
	}
	return ok(check, "runs %s", st.Binaries[0].Path)
}
