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

// grants are what Claude Code may run unasked: the commands that read.
func grants() []string { return []string{"restore:*", "show:*", "search:*"} }

// guards are what it asks about all the same: a flag of restore that holds an o, for -o and --force write files (IDs hold
// none), and a configuration of the caller's making.
func guards() []string { return []string{"restore *-*o*", "show *--config*"} }

// rules are those of one list: of the bare name, and of the binary's path where a rule can hold it.
func (s *Setup) rules(list string) (all []string) {
	what := grants()
	if list == ask {
		what = guards()
	}
	names := []string{"ccd"}
	if path := transcript.ShellWord(s.o.Executable); !strings.ContainsAny(path, `*()\`) { // these mean something in a rule
		names = append(names, path)
	}
	for _, name := range names {
		for _, w := range what {
			all = append(all, "Bash("+name+" "+w+")")
		}
	}
	return all
}

// Rules returns the rules that would let Claude Code run ccd's reading commands unasked, and those that keep it asking
// where one of them would write a file or read another configuration; both without what is in its settings already.
func (s *Setup) Rules() (allowed, asked []string, err error) {
	d, err := document0(s.settings())
	if err != nil {
		return nil, nil, err
	}
	absent := func(list string) []string {
		there, _ := d.strings(d.root.get("permissions", list))
		return slices.DeleteFunc(s.rules(list), func(r string) bool { return slices.Contains(there, r) })
	}
	return absent(allow), absent(ask), nil
}

// ruleOf takes a rule of ccd's apart into the program that it is about, "ccd" or one of binaries, and what of it.
func ruleOf(rule string, binaries []string) (program, what string, ok bool) {
	inner, begun := strings.CutPrefix(rule, "Bash(")
	inner, ended := strings.CutSuffix(inner, ")")
	for _, what := range slices.Concat(grants(), guards()) {
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
// then stands twice. What the user had before ccd stays.
func (s *Setup) renew(d *document, had []call, before *document) error {
	for _, list := range []string{allow, ask} {
		n := d.root.get("permissions", list)
		if n == nil || n.kind != '[' {
			continue
		}
		for i := len(n.values) - 1; i >= 0; i-- {
			if slices.Contains(own(before, list), d.string(d.root.get("permissions", list).values[i])) {
				continue
			}
			if err := s.renewRule(d, list, i, binariesOf(had)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Setup) renewRule(d *document, list string, i int, binaries []string) error {
	n, want := d.root.get("permissions", list), s.rules(list)
	rule := d.string(n.values[i])
	program, what, ok := ruleOf(rule, binaries)
	if !ok || program == "ccd" || slices.Contains(want, rule) {
		return nil
	}
	now := "Bash(" + transcript.ShellWord(s.o.Executable) + " " + what + ")"
	twice := slices.ContainsFunc(n.values, func(v *node) bool { return d.string(v) == now })
	if twice || !slices.Contains(want, now) {
		return d.cut(n, i)
	}
	return d.set(n.values[i], now)
}
