package packaging

import (
	"context"
	_ "embed"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

//go:embed ccd.plist.tmpl
var plistText string

// launchd uses bootstrap, bootout and kickstart, because load and unload fail on recent systems.
func launchd(o Options, h host) (manager, error) {
	domain, path := "gui/"+strconv.Itoa(h.uid), filepath.Join(o.Home, "Library/LaunchAgents", name+".plist")
	if o.System {
		domain, path = "system", filepath.Join("/Library/LaunchDaemons", name+".plist")
	}
	text, err := fill(plistText, map[string]any{"Label": name, "Arguments": arguments(o), "Environment": withLog(o), "User": accountOf(o)})
	if err != nil {
		return manager{}, err
	}
	job := domain + "/" + name
	do := func(args ...string) step { return step{argv: append([]string{"launchctl"}, args...)} }
	may := func(args ...string) step { st := do(args...); st.optional = true; return st }
	// bootout returns before the job is gone, and a bootstrap that comes too early fails.
	load := step{argv: []string{"launchctl", "bootstrap", domain, path}, again: true}
	return manager{
		name: "launchctl", file: path, texts: [][]byte{text}, logs: "ccd run",
		hint:   "log in on the machine's own screen once, or run `ccd run` from a login item",
		enable: []step{may("bootout", job), do("enable", job), load},
		run:    []step{do("kickstart", job)},
		remove: []step{may("bootout", job), may("disable", job)},
		// bootstrap loads a job that is not loaded; it fails for a loaded one, which kickstart then starts.
		verbs: map[string][]step{
			"start":   {may("bootstrap", domain, path), do("kickstart", job)},
			"stop":    {do("kill", "SIGTERM", job)},
			"restart": {may("bootstrap", domain, path), do("kickstart", "-k", job)},
		},
		status: func(ctx context.Context, run runner, st *State) error {
			out, err := run(ctx, do("print", job).argv)
			if err == nil {
				readJob(out, st)
				return nil
			}
			st.Detail = "not loaded"
			_, err = run(ctx, do("print", domain).argv)
			return err
		},
		patterns: filePatterns{
			account:  regexp.MustCompile(`<key>UserName</key>\s*<string>(.*)</string>`),
			config:   regexp.MustCompile(`<string>--config</string>\s*<string>(.*)</string>`),
			variable: regexp.MustCompile(`<key>([A-Z][A-Z0-9_]*)</key>\s*<string>(.*)</string>`),
		},
		make: func(string) []step { return nil }, // the daemon can create them itself
	}, nil
}

// withLog returns the service's variables with the path of the daemon's log. launchd would append to a file without limit,
// so the service discards its output and the daemon writes a log of limited size.
func withLog(o Options) map[string]string {
	env := map[string]string{}
	if o.Log != "" {
		env["CCD_LOG_FILE"] = o.Log
	}
	for _, v := range environment(o) {
		key, value, _ := strings.Cut(v, "=")
		env[key] = value
	}
	return env
}

// readJob reads the output of `launchctl print` for a loaded job.
func readJob(out string, st *State) {
	st.Enabled = true
	for line := range strings.Lines(out) {
		key, val, ok := strings.Cut(strings.TrimSpace(line), " = ")
		switch {
		case !ok:
		case key == "path" && st.File == "":
			st.File = val
		case key == "pid":
			st.Pid, _ = strconv.Atoi(val)
		case key == "state" && st.Detail == "":
			st.Detail, st.Active = val, val == "running"
		}
	}
}
