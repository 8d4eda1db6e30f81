package install

import (
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// allow is the list in permissions of what Claude Code may run without asking.
const allow = "allow"

// grants are the commands to allow: they only read, in one project, and take no file name.
func grants() []string { return []string{"agent restore:*", "agent show:*", "agent search:*"} }

// rules returns the rules that allow them, by the name ccd and, if a rule can contain it, by the binary's path.
func (s *Setup) rules() (all []string) {
	names := []string{"ccd"}
	if path := transcript.ShellWord(s.o.Executable); !strings.ContainsAny(path, `*()\`) { // these have a meaning in a rule
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

// Rules returns the rules that are missing for Claude Code to run ccd's commands for agents without asking.
func (s *Setup) Rules() ([]string, error) {
	missing := s.rules()
	for _, id := range Agents() {
		if a := s.agent(id); a.Connect.Rules {
			d, err := document0(a.hooks)
			if err != nil {
				return nil, err
			}
			there, _ := d.strings(d.root.get("permissions", allow))
			missing = slices.DeleteFunc(missing, func(r string) bool { return slices.Contains(there, r) })
		}
	}
	return missing, nil
}

// isRule reports whether a rule is one of ccd's, for "ccd" or one of binaries.
func isRule(rule string, binaries []string) bool {
	inner, begun := strings.CutPrefix(rule, "Bash(")
	inner, ended := strings.CutSuffix(inner, ")")
	for _, what := range grants() {
		name, fits := strings.CutSuffix(inner, " "+what)
		words, simple := shellWords(name)
		if begun && ended && fits && simple && len(words) == 1 && (words[0] == "ccd" || slices.Contains(binaries, words[0])) {
			return true
		}
	}
	return false
}

// binariesOf returns the binaries that ccd's hooks start.
func binariesOf(all []call) (paths []string) {
	for _, c := range all {
		paths = append(paths, c.binary)
	}
	return paths
}

// own returns the rules that were allowed before install: they are the user's, whatever they allow.
func own(before *document) []string {
	all, _ := before.strings(before.at([]string{"permissions", allow}))
	return all
}

// renew replaces the binaries that the hooks had by this one in ccd's rules. The user's own rules stay.
func (s *Setup) renew(d *document, had []call, before *document) error {
	old := false
	goes := func(rule string) bool {
		stale := isRule(rule, binariesOf(had)) && !slices.Contains(s.rules(), rule) && !slices.Contains(own(before), rule)
		old = old || stale
		return stale
	}
	if len(had) == 0 { // no rule is ccd's yet
		return nil
	}
	if err := d.revoke(goes, before); err != nil || !old {
		return err
	}
	return d.grant(s.rules())
}
