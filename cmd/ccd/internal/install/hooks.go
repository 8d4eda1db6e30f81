package install

import (
	"slices"

	"ccd/internal/transcript"
)

// call is one of ccd's hooks in a text.
type call struct {
	event  string
	group  int // of the event's
	at     int // of the group's hooks
	binary string
	line   string
}

// calls finds ccd's hooks, and skips what does not have the form of a hook. The document must be one that single accepts.
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

// hook makes each wanted event call ccd once. It repairs a call in place, and removes duplicates and calls at other events.
// before is as in unhook.
func (s *Setup) hook(d *document, a agent, want []transcript.Event, before *document) error {
	if err := d.check('{', "hooks"); err != nil {
		return err
	}
	for _, e := range want {
		if err := d.check('[', "hooks", e.Client); err != nil {
			return err
		}
	}
	if err := d.single(); err != nil {
		return err
	}
	var seen []string
	keep := func(c call) bool {
		wanted := slices.ContainsFunc(want, func(e transcript.Event) bool { return e.Client == c.event }) && !slices.Contains(seen, c.event)
		seen = append(seen, c.event)
		return wanted
	}
	if err := d.unhook(keep, before); err != nil {
		return err
	}
	for _, e := range want {
		if err := d.hookOne(e, s.line(a, e)); err != nil {
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

// unhook removes ccd's hooks, except those that keep accepts. before is the text before install, nil if unknown.
func (d *document) unhook(keep func(call) bool, before *document) error {
	var drop []call
	for _, c := range d.calls() {
		if !keep(c) {
			drop = append(drop, c)
		}
	}
	slices.Reverse(drop) // last first, so that the indexes of the others stay valid
	for _, c := range drop {
		groups := d.root.get("hooks", c.event)
		list := groups.values[c.group].get("hooks")
		var err error
		if len(list.values) > 1 {
			err = d.cut(list, c.at)
		} else {
			err = d.cut(groups, c.group)
		}
		if err == nil {
			err = d.prune(before, "hooks", c.event)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// grant adds the rules that are missing to the list of allowed commands.
func (d *document) grant(rules []string) error {
	if err := d.check('[', "permissions", allow); err != nil {
		return err
	}
	for _, r := range rules {
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

// revoke removes the rules that goes accepts from the list of allowed commands.
func (d *document) revoke(goes func(rule string) bool, before *document) error {
	n := d.root.get("permissions", allow)
	if n == nil || n.kind != '[' {
		return nil
	}
	cut := false
	for i := len(n.values) - 1; i >= 0; i-- {
		n = d.root.get("permissions", allow)
		if !goes(d.string(n.values[i])) {
			continue
		}
		cut = true
		if err := d.cut(n, i); err != nil {
			return err
		}
	}
	if !cut {
		return nil
	}
	return d.prune(before, "permissions", allow)
}
