package install

import (
	"errors"
	"fmt"
	"slices"

	"ccd/internal/transcript"
	"ccd/internal/words"
)

// call is one of ccd's hooks in a text.
type call struct {
	event  string
	group  int // of the event's
	at     int // of the group's hooks
	binary string
	line   string
}

// calls finds ccd's hooks, and skips what does not have the form of a hook.
func (d *document) calls() (all []call) {
	hooks := d.root.get("hooks")
	if hooks == nil || hooks.kind != '{' {
		return nil
	}
	for e, groups := range hooks.values {
		for g, group := range groups.values {
			list := group.get("hooks")
			if groups.kind != '[' || list == nil || list.kind != '[' {
				continue
			}
			for h, hook := range list.values {
				line := d.string(hook.get("command"))
				if binary, ok := binaryOf(line, hooks.names[e].text); ok {
					all = append(all, call{hooks.names[e].text, g, h, binary, line})
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

// hook makes each of an agent's events call ccd once. It repairs a call in place, and removes duplicates and calls at other
// events.
func (s *Setup) hook(d *document, a agent) error {
	if err := d.check('{', "hooks"); err != nil {
		return err
	}
	for _, e := range a.Events {
		if err := d.check('[', "hooks", e.Client); err != nil {
			return err
		}
	}
	var seen []string
	keep := func(c call) bool {
		wanted := slices.ContainsFunc(a.Events, func(e transcript.Event) bool { return e.Client == c.event }) && !slices.Contains(seen, c.event)
		seen = append(seen, c.event)
		return wanted
	}
	if err := d.unhook(keep); err != nil {
		return err
	}
	for _, e := range a.Events {
		if err := d.hookOne(e, s.command("hook "+e.Name+" --agent "+a.id)); err != nil {
			return err
		}
	}
	return nil
}

func (d *document) hookOne(e transcript.Event, line string) error {
	for _, c := range d.calls() {
		if c.event == e.Client {
			if c.line == line {
				return nil
			}
			return d.set(d.root.get("hooks", c.event).values[c.group].get("hooks").values[c.at].get("command"), line)
		}
	}
	group := object{{"hooks", list{object{{"type", "command"}, {"command", line}, {"timeout", e.Timeout}}}}}
	if groups := d.root.get("hooks", e.Client); groups != nil {
		return d.insert(groups, group)
	}
	return d.add(list{group}, "hooks", e.Client)
}

// unhook removes ccd's hooks, except those that keep accepts.
func (d *document) unhook(keep func(call) bool) error {
	drop := slices.DeleteFunc(d.calls(), keep)
	for _, c := range slices.Backward(drop) { // so that the indexes of the others stay valid
		groups := d.root.get("hooks", c.event)
		list := groups.values[c.group].get("hooks")
		var err error
		if len(list.values) > 1 {
			err = d.cut(list, c.at)
		} else {
			err = d.cut(groups, c.group)
		}
		if err == nil {
			err = d.prune("hooks", c.event)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// allow is the list in permissions of what Claude Code may run without asking.
const allow = "allow"

// rules are those that allow ccd's commands for agents, which only read, in one project, and take no file name.
func rules() []string {
	return []string{"Bash(ccd agent restore:*)", "Bash(ccd agent show:*)", "Bash(ccd agent search:*)"}
}

// rules returns what is allowed.
func (d *document) rules() []string {
	all, _ := d.strings(d.root.get("permissions", allow))
	return all
}

// rulesBefore returns the rules that were allowed before install: they are the user's.
func (f file) rulesBefore() []string {
	d, err := parse(f.path, f.backup)
	if err != nil {
		return nil
	}
	return d.rules()
}

// grant adds the rules that are missing to the list of allowed commands.
func (d *document) grant() error {
	if err := d.check('[', "permissions", allow); err != nil {
		return err
	}
	for _, r := range rules() {
		n := d.root.get("permissions", allow)
		var err error
		switch {
		case n == nil:
			err = d.add(listOf(r), "permissions", allow)
		case !slices.ContainsFunc(n.values, func(v *node) bool { return d.string(v) == r }):
			err = d.insert(n, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// revoke removes ccd's rules, except the user's, from the list of allowed commands. Without hooks of ccd's all are the user's.
func (d *document) revoke(theirs []string) error {
	n := d.root.get("permissions", allow)
	if n == nil || n.kind != '[' || len(d.calls()) == 0 {
		return nil
	}
	for i := len(n.values) - 1; i >= 0; i-- {
		n = d.root.get("permissions", allow)
		if r := d.string(n.values[i]); !slices.Contains(rules(), r) || slices.Contains(theirs, r) {
			continue
		}
		if err := d.cut(n, i); err != nil {
			return err
		}
		if err := d.prune("permissions", allow); err != nil {
			return err
		}
	}
	return nil
}

// statusLine is the member of Claude Code's settings that holds the command of its status line.
const statusLine = "statusLine"

var errOtherLine = errors.New("another status line is configured")

// lineBinary returns the binary that the status line starts, and whether the line is ccd's.
func (d *document) lineBinary() (binary string, ours bool) {
	words, ok := called(d.string(d.root.get(statusLine, "command")), 2)
	if !ok || words[1] != "statusline" {
		return "", false
	}
	return words[0], true
}

// putLine adds the status line, or repairs it.
func (s *Setup) putLine(d *document) error {
	there, line := d.root.get(statusLine), s.command("statusline")
	_, ours := d.lineBinary()
	switch {
	case ours && d.string(there.get("command")) != line:
		return d.set(there.get("command"), line)
	case ours:
		return nil
	case there != nil:
		return words.Hint(fmt.Errorf("read %s:%d: %w", d.path, d.line(there.at), errOtherLine),
			"remove it and try again, or call `ccd statusline` from it with the same stdin")
	}
	return d.add(object{{"type", "command"}, {"command", line}}, statusLine)
}

// takeLine removes the status line if it is ccd's.
func (d *document) takeLine() error {
	if _, ours := d.lineBinary(); !ours {
		return nil
	}
	return d.cut(d.root, d.root.index(statusLine))
}
