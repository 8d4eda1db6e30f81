package packaging

import (
	"bytes"
	"context"
	_ "embed"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/template"
)

//go:embed ccd.service.tmpl
var unitText string

const unit = name + ".service"

// commandBlock is a line of units that prevent the daemon from running other commands.
const commandBlock = "\nRestrictAddressFamilies="

// sandboxBlock is a line of units with the sandbox.
const sandboxBlock = "\nPrivateUsers=yes\n"

// scope is the difference between a user's manager and the machine's.
type scope struct {
	dir, target, hint, logs string
	ctl                     []string
	made                    []string // directories that systemd and ccd create; removed if empty
}

func scopeOf(o Options, h host) scope {
	if o.System {
		dir := filepath.Join(h.etc, "systemd/system")
		return scope{
			dir: dir, target: "multi-user.target", ctl: []string{"systemctl"},
			hint: "start `ccd run` from the machine's init system", logs: "journalctl -u ccd -n 20",
		}
	}
	// Not $XDG_CONFIG_HOME: the manager reads its own environment, which seldom has a shell's value.
	dir := filepath.Join(o.Home, ".config/systemd/user")
	return scope{
		dir: dir, target: "default.target", ctl: []string{"systemctl", "--user"},
		hint: "start `ccd run` at login, or as root: ccd service install --system --user NAME",
		logs: "journalctl --user -u ccd -n 20",
		made: []string{filepath.Join(dir, "default.target.wants"), dir, filepath.Dir(dir)},
	}
}

// systemd is the user's manager or, for a system service, the machine's. The unit is our own, because the library's
// unit for users names a target that user managers do not have, and never starts.
func systemd(o Options, h host) (manager, error) {
	sc := scopeOf(o, h)
	texts, err := textsOf(o, sc)
	if err != nil {
		return manager{}, err
	}
	do := func(args ...string) step { return step{argv: append(append([]string{}, sc.ctl...), args...)} }
	may := func(args ...string) step { st := do(args...); st.optional = true; return st }
	return manager{
		name: strings.Join(sc.ctl, " "), file: filepath.Join(sc.dir, unit), texts: texts, linger: !o.System,
		links: []string{filepath.Join(sc.dir, sc.target+".wants", unit)}, made: sc.made, hint: sc.hint, logs: sc.logs,
		enable: []step{do("daemon-reload"), do("enable", unit)},
		// Reset the start limit, which would refuse the restart. With Type=notify restart returns when the daemon is
		// ready.
		run:     []step{may("reset-failed", unit), do("restart", unit)},
		remove:  []step{may("stop", unit), may("disable", unit)},
		removed: []step{do("daemon-reload"), may("reset-failed", unit)},
		verbs: map[string][]step{
			"start": {may("reset-failed", unit), do("start", unit)}, "stop": {do("stop", unit)}, "restart": {may("reset-failed", unit), do("restart", unit)},
		},
		make: func(dir string) []step {
			return []step{{argv: []string{"runuser", "-u", o.User, "--", "mkdir", "-p", "-m", "0700", "--", dir}}}
		},
		status: func(ctx context.Context, run runner, st *State) error {
			out, err := run(ctx, do("show", unit).argv)
			if err == nil {
				readUnitState(out, st)
			}
			return err
		},
		patterns: filePatterns{
			account: regexp.MustCompile(`(?m)^User=(.+)$`), variable: regexp.MustCompile(`(?m)^Environment=(.+)$`),
			config: regexp.MustCompile(`(?m)^ExecStart=.* run --config (.+)$`),
		},
	}, nil
}

// textsOf returns what the unit may be: with the sandbox, or without it for a machine without the necessary features. A daemon that runs
// another command is never sandboxed, because the command could not use its own files.
func textsOf(o Options, sc scope) ([][]byte, error) {
	if o.Child {
		text, err := unitOf(o, sc, "", false)
		return [][]byte{text}, err
	}
	sandbox, err := sandboxOf(o)
	if err != nil {
		return nil, err
	}
	full, err := unitOf(o, sc, string(sandbox), false)
	if err != nil {
		return nil, err
	}
	bare, err := unitOf(o, sc, "", true)
	return [][]byte{full, bare}, err
}

// origin begins a unit: who wrote it.
const origin = "Written by `ccd service install`, which replaces it"

func unitOf(o Options, sc scope, sandbox string, bare bool) ([]byte, error) {
	return fill(unitText, map[string]any{
		"Origin": origin, "Bare": bare, "Sandbox": sandbox, "Flag": strings.TrimPrefix(strings.Join(sc.ctl, " "), "systemctl"),
		"Exec": arguments(o), "Environment": environment(o), "User": accountOf(o), "Target": sc.target, "Child": o.Child,
	})
}

// fill returns the text of a template with its data.
func fill(text string, data map[string]any) ([]byte, error) {
	t, err := template.New("").Funcs(template.FuncMap{
		"word": func(s string) string { return unitWord(s, false) }, "argument": func(s string) string { return unitWord(s, true) },
	}).Parse(text)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, data)
	return b.Bytes(), err
}

// unitWord quotes one word for a unit file. Percent signs are specifiers everywhere; a dollar sign is a variable only
// in arguments.
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
	v := map[string]string{}
	for line := range strings.Lines(out) {
		key, val, _ := strings.Cut(strings.TrimSpace(line), "=")
		v[key] = val
	}
	st.Stale = v["NeedDaemonReload"] == "yes"
	st.Enabled = strings.HasPrefix(v["UnitFileState"], "enabled")
	st.Active = v["ActiveState"] == "active" || v["ActiveState"] == "reloading"
	st.Pid, _ = strconv.Atoi(v["MainPID"])
	st.File = v["FragmentPath"]
	st.cause = causeOf(v)
	st.Detail = v["ActiveState"] + " (" + v["SubState"] + ")"
	if r := v["Result"]; r != "" && r != "success" {
		st.Detail += ", " + r
	}
}

// causeOf returns why a start under systemd failed.
func causeOf(v map[string]string) string {
	status := v["ExecMainStatus"]
	// Failures of systemd itself, before the daemon starts.
	own := map[string]string{
		"217": "user namespaces are not available (217/USER)",
		"203": "the executable cannot be run", "218": "capabilities cannot be dropped (218/CAPABILITIES)",
		"226": "user namespaces are not available (226/NAMESPACE)", "228": "system calls cannot be filtered (228/SECCOMP)",
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
