package setup

import (
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// Claude Code's lists of permissions. What a rule of ask fits is asked about, also where one of allow fits.
const (
	allow = "allow"
	ask   = "ask"
)

// grants are what Claude Code may run unasked: commands that only read, in one project, and take no name of a file.
func grants() []string { return []string{"agent restore:*", "agent show:*", "agent search:*"} }

// former are those that an older ccd wrote, into allow and into ask.
func former() []string {
	return []string{"restore:*", "show:*", "search:*", "restore *-*o*", "show *--config*"}
}

// rules are those of allow: of the bare name, and of the binary's path where a rule can hold it.
func (s *Setup) rules() (all []string) {
	names := []string{"ccd"}
	if path := transcript.ShellWord(s.o.Executable); !strings.ContainsAny(path, `*()\`) { // these mean something in a rule
		names = append(names, path)
	}
	for _, name := range names {
		for _, what := range grants() {
			all = append(all, rule(name, what))
		}
	}
	return all
}

func rule(name, what string) string { return "Bash(" + name + " " + what + ")" }

// Rules returns the rules that would let Claude Code run ccd's commands for agents unasked, without those that are in its
// settings already.
func (s *Setup) Rules() ([]string, error) {
	d, err := document0(s.settings())
	if err != nil {
		return nil, err
	}
	there, _ := d.strings(d.root.get("permissions", allow))
	return slices.DeleteFunc(s.rules(), func(r string) bool { return slices.Contains(there, r) }), nil
}

// ruleOf takes a rule of ccd's apart into the program that it is about, "ccd" or one of binaries, and what of it.
func ruleOf(rule string, binaries []string) (program, what string, ok bool) {
	inner, begun := strings.CutPrefix(rule, "Bash(")
	inner, ended := strings.CutSuffix(inner, ")")
	for _, what := range slices.Concat(grants(), former()) {
		name, fits := strings.CutSuffix(inner, " "+what)
		words, simple := shellWords(name)
		if begun && ended && fits && simple && len(words) == 1 && (words[0] == "ccd" || slices.Contains(binaries, words[0])) {
			return words[0], what, true
		}
	}
	return "", "", false
}

func isRule(rule string, binaries []string) bool {
	_, _, ok := ruleOf(rule, binaries)
	return ok
}

// binariesOf are the programs that hooks of ccd's start.
func binariesOf(all []call) (paths []string) {
	for _, c := range all {
		paths = append(paths, c.binary)
	}
	return paths
}

// own are the rules that stood in a list before ccd: the user's, whatever they say.
func own(before *document, list string) []string {
	all, _ := before.strings(before.at([]string{"permissions", list}))
	return all
}

// renew puts this binary in the place of those that the hooks had named in the rules that are there, and takes out what
// then stands twice. Where rules of an older ccd are allowed, today's take their place. What the user had before ccd stays.
func (s *Setup) renew(d *document, had []call, before *document) error {
	if len(had) == 0 {
		return nil // no rule is of ccd's yet
	}
	older := false
	for _, list := range []string{ask, allow} {
		goes := func(rule string) bool {
			_, what, ok := ruleOf(rule, binariesOf(had))
			ok = ok && slices.Contains(former(), what) && !slices.Contains(own(before, list), rule)
			older = older || ok && list == allow
			return ok
		}
		if err := d.revoke(list, goes, before); err != nil {
			return err
		}
	}
	n := d.root.get("permissions", allow)
	if n != nil && n.kind == '[' {
		for i := len(n.values) - 1; i >= 0; i-- {
			if slices.Contains(own(before, allow), d.string(d.root.get("permissions", allow).values[i])) {
				continue
			}
			if err := s.renewRule(d, i, binariesOf(had)); err != nil {
				return err
			}
		}
	}
	if older {
		return d.grant(s.rules())
	}
	return nil
}

func (s *Setup) renewRule(d *document, i int, binaries []string) error {
	n, want := d.root.get("permissions", allow), s.rules()
	old := d.string(n.values[i])
	program, what, ok := ruleOf(old, binaries)
	if !ok || program == "ccd" || slices.Contains(want, old) {
		return nil
	}
	now := rule(transcript.ShellWord(s.o.Executable), what)
	twice := slices.ContainsFunc(n.values, func(v *node) bool { return d.string(v) == now })
	if twice || !slices.Contains(want, now) {
		return d.cut(n, i)
	}
	return d.set(n.values[i], now)
}
