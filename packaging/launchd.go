package packaging

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/xml"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

//go:embed ccd.plist.tmpl
var plistText string

// launchd is driven by bootstrap, bootout and kickstart: load and unload fail on recent systems.
func launchd(o Options, h host) (manager, error) {
	domain, path := "gui/"+strconv.Itoa(h.uid), filepath.Join(o.Home, "Library/LaunchAgents", name+".plist")
	if o.System {
		domain, path = "system", filepath.Join("/Library/LaunchDaemons", name+".plist")
	}
	text, err := plistOf(o)
	if err != nil {
		return manager{}, err
	}
	job := domain + "/" + name
	do := func(args ...string) step { return step{argv: append([]string{"launchctl"}, args...)} }
	may := func(args ...string) step { st := do(args...); st.may = true; return st }
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
		// A job that was stopped by bootout elsewhere is loaded again; one that is loaded refuses, and is kicked.
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
		account: func(text string) string {
			_, after, _ := strings.Cut(text, "<key>UserName</key>\n\t<string>")
			user, _, _ := strings.Cut(after, "</string>")
			return user
		},
		places: jobPlaces,
		make:   func(string) []step { return nil }, // nothing keeps the daemon from making them
		cause:  func(context.Context, runner) string { return "" },
	}, nil
}

func plistOf(o Options) ([]byte, error) {
	type variable struct{ Key, Value string }
	var env []variable
	for _, v := range withLog(o) {
		key, val, _ := strings.Cut(v, "=")
		env = append(env, variable{escape(key), escape(val)})
	}
	args := arguments(o)
	for i, a := range args {
		args[i] = escape(a)
	}
	t, err := template.New(name).Parse(plistText)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{
		"Label": name, "Arguments": args, "Environment": env, "User": escape(accountOf(o)),
	})
	return b.Bytes(), err
}

// withLog adds where the daemon keeps its log. launchd would append to a file for ever, and nobody would cut it: its own
// streams lead nowhere, and the daemon writes a log of its own that is bounded in size.
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
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}

// jobPlaces are the settings of a plist that this package wrote which say where the daemon works.
func jobPlaces(text string) (all []string) {
	_, args, _ := strings.Cut(text, "<string>--config</string>")
	if config := tagged(args, "string"); config != "" {
		all = append(all, "--config "+config)
	}
	_, env, _ := strings.Cut(text, "<key>EnvironmentVariables</key>")
	env, _, _ = strings.Cut(env, "</dict>")
	for variable := range strings.SplitSeq(env, "<key>") {
		if key, val, ok := strings.Cut(variable, "</key>"); ok {
			all = append(all, key+"="+tagged(val, "string"))
		}
	}
	return all
}

// tagged is what stands in the first element of a name.
func tagged(text, name string) string {
	_, text, _ = strings.Cut(text, "<"+name+">")
	text, _, ok := strings.Cut(text, "</"+name+">")
	if !ok {
		return ""
	}
	return text
}

// readJob reads what `launchctl print` says of a loaded job.
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
