package packaging

import (
	"bytes"
	"context"
	_ "embed"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
)

//go:embed ccd.service.tmpl
var unitText string

const unit = name + ".service"

// confines stands in a unit that keeps the daemon from running commands that are not ccd's own.
const confines = "\nRestrictAddressFamilies="

// scope is what differs between a user's manager and the machine's.
type scope struct {
	dir, target, hint, logs string
	ctl                     []string
	made                    []string // directories that systemd and we make, and that go when they are empty
}

func scopeOf(o Options, h host) scope {
	if o.System {
		dir := filepath.Join(h.etc, "systemd/system")
		return scope{
			dir: dir, target: "multi-user.target", ctl: []string{"systemctl"},
			hint: "ccd run, from what starts programs on this machine", logs: "journalctl -u ccd -n 20",
			made: []string{filepath.Join(dir, unit+".d")},
		}
	}
	// Not $XDG_CONFIG_HOME: the manager reads its own environment, and a shell's value is seldom in there.
	dir := filepath.Join(o.Home, ".config/systemd/user")
	return scope{
		dir: dir, target: "default.target", ctl: []string{"systemctl", "--user"},
		hint: "run `ccd run` from the session's autostart, or as root: ccd install --system --user NAME",
		logs: "journalctl --user -u ccd -n 20",
		made: []string{filepath.Join(dir, unit+".d"), filepath.Join(dir, "default.target.wants"), dir, filepath.Dir(dir)},
	}
}

// systemd is the user's manager, or for a system service the machine's. Its unit is ours: the library's stock unit for
// users names a target that user managers do not have, and never starts.
func systemd(o Options, h host) (manager, error) {
	sc := scopeOf(o, h)
	layers, err := layersOf(o, sc)
	if err != nil {
		return manager{}, err
	}
	do := func(args ...string) step { return step{argv: append(append([]string{}, sc.ctl...), args...)} }
	may := func(args ...string) step { st := do(args...); st.may = true; return st }
	return manager{
		name: strings.Join(sc.ctl, " "), layers: layers, sandbox: layers[0][1].path, linger: !o.System,
		links: []string{filepath.Join(sc.dir, sc.target+".wants", unit)}, dirs: []folder{{sc.dir, 0o755}}, made: sc.made,
		hint: sc.hint, logs: sc.logs,
		probe:  []step{do("show", "--property=Version")},
		enable: []step{do("daemon-reload"), do("enable", unit)},
		// A start limit reached earlier would refuse the restart: reset it first. For Type=notify restart returns when
		// the daemon has said that it watches.
		run:     []step{may("reset-failed", unit), do("restart", unit)},
		remove:  []step{may("stop", unit), may("disable", unit)},
		removed: []step{do("daemon-reload"), may("reset-failed", unit)},
		start:   []step{may("reset-failed", unit), do("start", unit)},
		stop:    []step{do("stop", unit)},
		restart: []step{may("reset-failed", unit), do("restart", unit)},
		make: func(dir string) []step {
			return []step{{argv: []string{"runuser", "-u", o.User, "--", "mkdir", "-p", "-m", "0700", "--", dir}}}
		},
		status: func(ctx context.Context, run runner, st *State) error {
			out, err := run(ctx, do("show", "--property=UnitFileState,ActiveState,SubState,MainPID,Result,NeedDaemonReload,FragmentPath", unit).argv)
			if err == nil {
				readUnitState(out, st)
			}
			return err
		},
		account: func(text string) string { return setting(text, "User") },
		places:  unitPlaces,
		cause: func(ctx context.Context, run runner) string {
			out, err := run(ctx, do("show", "--property=Result,ExecMainCode,ExecMainStatus", unit).argv)
			if err != nil {
				return ""
			}
			return causeOf(out)
		},
	}, nil
}

// layersOf are the files of the service: the unit with the sandbox, and the unit alone for a machine that does not have
// what the sandbox takes. A daemon that runs a command that is not ccd's own is never put into it: it would keep that
// command from its own files.
func layersOf(o Options, sc scope) ([][]file, error) {
	unitPath, sandboxPath := filepath.Join(sc.dir, unit), filepath.Join(sc.dir, unit+".d", sandboxFile)
	full, err := unitOf(o, sc, false)
	if err != nil || o.Child {
		return [][]file{{{unitPath, full}, {sandboxPath, nil}}}, err
	}
	bare, err := unitOf(o, sc, true)
	if err != nil {
		return nil, err
	}
	sandbox, err := sandboxOf(o)
	return [][]file{{{unitPath, full}, {sandboxPath, sandbox}}, {{unitPath, bare}, {sandboxPath, nil}}}, err
}

// Who has written a unit, in its first line.
const (
	byInstall = "Written by `ccd install`, which replaces it"
	byPackage = "Part of ccd's package; `ccd install` writes one in its place that knows your directories"
)

func unitOf(o Options, sc scope, bare bool) ([]byte, error) { return unitBy(byInstall, o, sc, bare) }

// packaged is the unit that a package has in its own directory of units: the first layer alone, for nobody in particular.
func packaged() ([]byte, error) {
	o := Options{Executable: "/usr/bin/ccd"}
	return unitBy(byPackage, o, scopeOf(o, host{}), false)
}

func unitBy(origin string, o Options, sc scope, bare bool) ([]byte, error) {
	args := arguments(o)
	for i, a := range args {
		args[i] = unitWord(a, i > 0)
	}
	env := environment(o)
	for i, v := range env {
		env[i] = unitWord(v, false)
	}
	t, err := template.New(unit).Parse(unitText)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{
		"Origin": origin, "Bare": bare, "Flag": strings.TrimPrefix(strings.Join(sc.ctl, " "), "systemctl"),
		"Exec": strings.Join(args, " "), "Environment": env, "User": accountOf(o), "Target": sc.target, "Child": o.Child,
	})
	return b.Bytes(), err
}

// unitWord quotes one word for a unit file. Percent signs are specifiers everywhere; a dollar sign is a variable in
// arguments only.
func unitWord(s string, argument bool) string {
	s = strings.ReplaceAll(s, "%", "%%")
	if argument {
		s = strings.ReplaceAll(s, "$", "$$")
	}
	if !strings.ContainsAny(s, " \"'\\;") {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// readUnitState reads the KEY=VALUE lines of `systemctl show`.
func readUnitState(out string, st *State) {
	v := properties(out)
	st.Stale = v["NeedDaemonReload"] == "yes"
	st.Enabled = strings.HasPrefix(v["UnitFileState"], "enabled")
	st.Active = v["ActiveState"] == "active" || v["ActiveState"] == "reloading"
	st.Pid, _ = strconv.Atoi(v["MainPID"])
	st.File = v["FragmentPath"]
	st.Detail = v["ActiveState"] + " (" + v["SubState"] + ")"
	if r := v["Result"]; r != "" && r != "success" {
		st.Detail += ", " + r
	}
}

func properties(out string) map[string]string {
	v := map[string]string{}
	for line := range strings.Lines(out) {
		key, val, _ := strings.Cut(strings.TrimSpace(line), "=")
		v[key] = val
	}
	return v
}

// setting reads a key of a unit that this package wrote.
func setting(text, key string) string {
	for line := range strings.Lines(text) {
		if val, ok := strings.CutPrefix(strings.TrimSpace(line), key+"="); ok {
			return val
		}
	}
	return ""
}

// unitPlaces are the settings of a unit that this package wrote which say where the daemon works.
func unitPlaces(text string) (all []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if exec, ok := strings.CutPrefix(line, "ExecStart="); ok {
			if _, config, named := strings.Cut(exec, " run --config "); named {
				all = append(all, "--config "+config)
			}
		}
		if env, ok := strings.CutPrefix(line, "Environment="); ok {
			all = append(all, env)
		}
	}
	return all
}

// causeOf says in words why systemd gave up on a start.
func causeOf(out string) string {
	v := properties(out)
	status := v["ExecMainStatus"]
	// What systemd itself fails at before the daemon has begun.
	own := map[string]string{
		"217": "this machine gives users no namespaces (217/USER)",
		"203": "the executable cannot be run", "218": "capabilities cannot be dropped (218/CAPABILITIES)",
		"226": "this machine gives users no namespaces (226/NAMESPACE)", "228": "system calls cannot be filtered (228/SECCOMP)",
	}
	switch {
	case v["Result"] == "" || v["Result"] == "success":
		return ""
	case v["Result"] == "exit-code" && own[status] != "":
		return own[status]
	case v["Result"] == "exit-code":
		return "exit status " + status
	}
	return v["Result"]
}
