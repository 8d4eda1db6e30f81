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

// systemd is the user's manager, or for a system service the machine's. Its unit is ours: the library's stock unit for
// users names a target that user managers do not have, and never starts.
func systemd(o Options, _ host) (manager, error) {
	dir, target, ctl := "/etc/systemd/system", "multi-user.target", []string{"systemctl"}
	hint := "ccd run, from what starts programs on this machine"
	if !o.System {
		// Not $XDG_CONFIG_HOME: the manager reads its own environment, and a shell's value is seldom in there.
		dir, target, ctl = filepath.Join(o.Home, ".config/systemd/user"), "default.target", []string{"systemctl", "--user"}
		hint = "run `ccd run` from the session's autostart, or as root: ccd install --system --user NAME"
	}
	text, err := unitOf(o, target, strings.TrimPrefix(strings.Join(ctl, " "), "systemctl"))
	if err != nil {
		return manager{}, err
	}
	do := func(args ...string) step { return step{argv: append(append([]string{}, ctl...), args...)} }
	may := func(args ...string) step { st := do(args...); st.may = true; return st }
	return manager{
		name: strings.Join(ctl, " "), file: filepath.Join(dir, unit), text: text,
		links: []string{filepath.Join(dir, target+".wants", unit)}, dirs: []folder{{dir, 0o755}},
		hint:  hint,
		probe: []step{do("show", "--property=Version")},
		// A start limit reached earlier would refuse the restart: reset it first.
		install: []step{do("daemon-reload"), do("enable", unit), may("reset-failed", unit), do("restart", unit)},
		remove:  []step{may("disable", "--now", unit)},
		removed: []step{do("daemon-reload"), may("reset-failed", unit)},
		start:   []step{may("reset-failed", unit), do("start", unit)},
		stop:    []step{do("stop", unit)},
		restart: []step{may("reset-failed", unit), do("restart", unit)},
		status: func(ctx context.Context, run runner, st *State) error {
			out, err := run(ctx, do("show", "--property=LoadState,UnitFileState,ActiveState,SubState,MainPID,Result", unit).argv)
			if err == nil {
				readUnitState(out, st)
			}
			return err
		},
	}, nil
}

func unitOf(o Options, target, flag string) ([]byte, error) {
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
		"Exec": strings.Join(args, " "), "Environment": env, "User": o.User, "Target": target, "Flag": flag, "Child": o.Child,
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
	v := map[string]string{}
	for line := range strings.Lines(out) {
		key, val, _ := strings.Cut(strings.TrimSpace(line), "=")
		v[key] = val
	}
	st.Installed = v["LoadState"] == "loaded"
	st.Enabled = strings.HasPrefix(v["UnitFileState"], "enabled")
	st.Active = v["ActiveState"] == "active" || v["ActiveState"] == "reloading"
	st.Pid, _ = strconv.Atoi(v["MainPID"])
	st.Detail = v["ActiveState"] + " (" + v["SubState"] + ")"
	if r := v["Result"]; r != "" && r != "success" {
		st.Detail += ", " + r
	}
}
