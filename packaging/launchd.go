package packaging

import (
	"context"
	_ "embed"
	"encoding/xml"
	"path/filepath"
	"regexp"
	"slices"
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
	text, err := plistOf(name, withLog(o), arguments(o), accountOf(o))
	if err != nil {
		return manager{}, err
	}
	job := domain + "/" + name
	do := func(args ...string) step { return step{argv: append([]string{"launchctl"}, args...)} }
	may := func(args ...string) step { st := do(args...); st.optional = true; return st }
	// bootout returns before the job is gone, and a bootstrap that comes too early fails.
	load := step{argv: []string{"launchctl", "bootstrap", domain, path}, tries: 50}
	return manager{
		name: "launchctl", layers: [][]file{{{path, text}}}, dirs: []folder{{filepath.Dir(path), 0o755}},
		logs:   "ccd run",
		hint:   "log in on the machine's own screen once, or run `ccd run` from a login item",
		probe:  []step{do("print", domain)},
		enable: []step{may("bootout", job), do("enable", job), load},
		run:    []step{do("kickstart", job)},
		remove: []step{may("bootout", job), may("disable", job)},
		// bootstrap loads a job that is not loaded; it fails for a loaded one, which kickstart then starts.
		start:   []step{may("bootstrap", domain, path), do("kickstart", job)},
		stop:    []step{do("kill", "SIGTERM", job)},
		restart: []step{may("bootstrap", domain, path), do("kickstart", "-k", job)},
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
		make:  func(string) []step { return nil }, // the daemon can create them itself
		cause: func(context.Context, runner) string { return "" },
	}, nil
}

// plistOf returns the plist of a job that is kept alive.
func plistOf(label string, environ, args []string, user string) ([]byte, error) {
	type variable struct{ Key, Value string }
	var env []variable
	for _, v := range environ {
		key, val, _ := strings.Cut(v, "=")
		env = append(env, variable{escape(key), escape(val)})
	}
	for i, a := range args {
		args[i] = escape(a)
	}
	return fill(plistText, map[string]any{
		"Label": label, "Arguments": args, "Environment": env, "User": escape(user),
	})
}

// withLog adds the path of the daemon's log. launchd would append to a file without limit, so the service discards its
// output and the daemon writes a log of limited size.
func withLog(o Options) []string {
	env := environment(o)
	if o.Log != "" && !slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, logVariable) }) {
		env = append(env, logVariable+o.Log)
	}
	slices.Sort(env)
	return env
}

const logVariable = "CCD_LOG_FILE="

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
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
