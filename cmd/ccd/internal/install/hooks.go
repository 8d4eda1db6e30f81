package install

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"ccd/internal/transcript"
	"ccd/internal/words"
)

// call is one of ccd's hooks in a text.
type call struct {
	event   string
	groups  *hujson.Value // of the event
	group   int           // of groups
	hooks   *hujson.Value // of the group
	at      int           // of hooks
	command *hujson.Value
	binary  string
}

// calls finds ccd's hooks, and skips what does not have the form of a hook.
func (d *document) calls() (all []call) {
	hooks := d.get("hooks")
	if hooks == nil {
		return nil
	}
	events, _ := hooks.Value.(*hujson.Object)
	for e := range count(hooks) {
		if events == nil {
			return nil
		}
		event, groups := stringOf(&events.Members[e].Name), &events.Members[e].Value
		for g := range elements(groups) {
			list := get(&elements(groups)[g], "hooks")
			for h := range elements(list) {
				command := get(&elements(list)[h], "command")
				if binary, ok := binaryOf(stringOf(command), event); ok {
					all = append(all, call{event, groups, g, list, h, command, binary})
				}
			}
		}
	}
	return all
}

// binaries returns the programs that ccd's hooks start.
func (d *document) binaries() (paths []string) {
	for _, c := range d.calls() {
		paths = append(paths, c.binary)
	}
	return paths
}

// hook makes each of an agent's events call ccd once.
func (s *Setup) hook(d *document, a agent) error {
	if err := d.check('{', "hooks"); err != nil {
		return err
	}
	for _, e := range a.Events {
		if err := d.check('[', "hooks", e.Client); err != nil {
			return err
		}
	}
	d.revoke(rules(s.o.Executable)) // what other binaries were allowed
	have, want := map[string]string{}, map[string]string{}
	for _, c := range d.calls() {
		have[c.event] += stringOf(c.command) // two are not the one that is wanted
	}
	for _, e := range a.Events {
		want[e.Client] = s.command("hook " + e.Name + " --agent " + a.id)
	}
	if maps.Equal(have, want) {
		return nil
	}
	d.unhook()
	for _, e := range a.Events {
		if err := d.push(map[string]any{"hooks": []any{command{"command", want[e.Client], e.Timeout}}}, "hooks", e.Client); err != nil {
			return err
		}
	}
	return nil
}

// command is a hook or a status line in a client's settings.
type command struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitzero"`
}

// unhook removes ccd's hooks.
func (d *document) unhook() {
	for _, c := range slices.Backward(d.calls()) { // so that the indexes of the others stay valid
		if count(c.hooks) > 1 {
			cut(c.hooks, c.at)
		} else {
			cut(c.groups, c.group)
		}
		d.prune("hooks", c.event)
	}
}

// allow is the list in permissions of what Claude Code may run without asking.
const allow = "allow"

// rules allow ccd's commands for agents, which only read, in one project, and take no file name: by the name that companions
// give, and by the path of each binary, which hooks give. Claude Code compares them with a command as it is typed.
func rules(binaries ...string) (all []string) {
	for _, program := range append([]string{"ccd"}, binaries...) {
		for _, name := range []string{"restore", "show", "search"} {
			all = append(all, "Bash("+transcript.ShellWord(program)+" agent "+name+":*)")
		}
	}
	return all
}

// rules returns what is allowed.
func (d *document) rules() []string {
	all, _ := stringsOf(d.get("permissions", allow))
	return all
}

// rulesBefore returns the rules that were allowed before install: they are the user's.
func (f file) rulesBefore() []string {
	d, err := parse(f.path, f.backup, f.comments)
	if err != nil {
		return nil
	}
	return d.rules()
}

// grant adds the rules that are missing to the list of allowed commands.
func (s *Setup) grant(d *document) error {
	if err := d.check('[', "permissions", allow); err != nil {
		return err
	}
	for _, r := range rules(s.o.Executable) {
		if slices.ContainsFunc(elements(d.get("permissions", allow)), func(v hujson.Value) bool { return stringOf(&v) == r }) {
			continue
		}
		if err := d.push(r, "permissions", allow); err != nil {
			return err
		}
	}
	return nil
}

// revoke removes the rules of the binaries that ccd's hooks call, except those to keep, from the list of allowed commands. Without
// hooks of ccd's all are the user's.
func (d *document) revoke(keep []string) {
	list, binaries := d.get("permissions", allow), d.binaries()
	if len(binaries) == 0 {
		return
	}
	for i, v := range slices.Backward(elements(list)) {
		if r := stringOf(&v); slices.Contains(rules(binaries...), r) && !slices.Contains(keep, r) {
			cut(list, i)
			d.prune("permissions", allow)
		}
	}
}

// statusLine is the member of Claude Code's settings that holds the command of its status line.
const statusLine = "statusLine"

var errOtherLine = errors.New("another status line is configured")

// lineBinary returns the binary that the status line starts, and whether the line is ccd's.
func (d *document) lineBinary() (binary string, ours bool) {
	return called(shellWords(strings.TrimSuffix(stringOf(d.get(statusLine, "command")), harmless)), "statusline")
}

// putLine adds the status line, or repairs it.
func (s *Setup) putLine(d *document) error {
	line := command{Type: "command", Command: s.command("statusline")}
	there := d.get(statusLine)
	switch _, ours := d.lineBinary(); {
	case ours && stringOf(get(there, "command")) == line.Command:
		return nil
	case ours:
		d.takeLine()
	case there != nil:
		return words.Hint(fmt.Errorf("read %s:%d: %w", d.path, d.line(there.StartOffset), errOtherLine),
			"remove it and try again, or call `ccd statusline` from it with the same stdin")
	}
	return d.put(line, statusLine)
}

// takeLine removes the status line if it is ccd's.
func (d *document) takeLine() {
	if _, ours := d.lineBinary(); ours {
		cut(d.root, index(d.root, statusLine))
	}
}
