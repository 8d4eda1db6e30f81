package setup

import (
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// allow is the list of permissions with what Claude Code may run unasked.
const allow = "allow"

// grants are what Claude Code may run unasked: commands that only read, in one project, and take no name of a file.
func grants() []string { return []string{"agent restore:*", "agent show:*", "agent search:*"} }

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

// isRule reports whether a rule is of ccd's, about "ccd" or one of binaries.
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

// binariesOf are the programs that hooks of ccd's start.
func binariesOf(all []call) (paths []string) {
	for _, c := range all {
		paths = append(paths, c.binary)
	}
	return paths
}

// own are the rules that were allowed before ccd: the user's, whatever they say.
func own(before *document) []string {
	all, _ := before.strings(before.at([]string{"permissions", allow}))
	return all
}

// renew puts this binary in the place of those that the hooks had named in the rules that are there. What the user had
// before ccd stays.
func (s *Setup) renew(d *document, had []call, before *document) error {
	old := false
	goes := func(rule string) bool {
		stale := isRule(rule, binariesOf(had)) && !slices.Contains(s.rules(), rule) && !slices.Contains(own(before), rule)
		old = old || stale
		return stale
	}
	if len(had) == 0 { // no rule is of ccd's yet
		return nil
	}
	if err := d.revoke(goes, before); err != nil || !old {
		return err
	}
	return d.grant(s.rules())
}
