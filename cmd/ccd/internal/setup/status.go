package setup

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// What a Part can be.
const (
	Installed = "installed" // as this binary would install it
	Other     = "other"     // it names another binary, or is otherwise not as this one would install it
	Missing   = "missing"
	Unread    = "unreadable" // its file cannot be read or is not what the agent itself would read: Detail tells
)

// Part is one thing that install puts into one file.
type Part struct {
	Name   string `json:"name"`   // "hooks", "live", "allow", "mcp", "skill", "instructions"
	File   string `json:"file"`   // absolute
	State  string `json:"state"`  // one of the above
	Option bool   `json:"option"` // install leaves it out unless it is asked for
	Detail string `json:"detail"` // "" or what is there, or what is amiss
}

// Binary is a ccd that an agent's settings name.
type Binary struct {
	Path   string `json:"path"`
	Exists bool   `json:"exists"` // and can be started
	This   bool   `json:"this"`   // it is the one that asks
}

// Status is how far an agent is set up.
type Status struct {
	Agent     string   `json:"agent"`
	Directory string   `json:"directory"` // of the agent's settings, absolute
	Present   bool     `json:"present"`   // the directory is there
	Installed bool     `json:"installed"` // every part that is no option is as this binary would install it
	Reach     string   `json:"reach"`     // the sessions that it sees: "project", "all", "" if the configuration cannot be read
	Parts     []Part   `json:"parts"`
	Binaries  []Binary `json:"binaries"`
	Notes     []string `json:"notes"` // what the user should know beside it, a sentence each
}

// Status tells how far an agent is set up. It writes nothing and fails at nothing: what cannot be read is told of.
func (s *Setup) Status(agent string) Status {
	info, err := os.Stat(s.Dir(agent))
	st := Status{Agent: agent, Directory: s.Dir(agent), Present: err == nil && info.IsDir(), Installed: true, Reach: s.o.Reach, Binaries: []Binary{}, Notes: []string{}}
	if agent == Codex {
		st.Parts = s.codexParts(&st)
		st.Notes = append(append(st.Notes, s.trustNote()), s.codexNotes()...)
	} else {
		st.Parts = s.claudeParts(&st)
		st.Notes = append(st.Notes, s.claudeNotes()...)
	}
	for _, p := range st.Parts {
		st.Installed = st.Installed && (p.State == Installed || p.Option && p.State == Missing)
	}
	return st
}

// trustNote tells what Codex has noted of ccd's hooks.
func (s *Setup) trustNote() string {
	f, err := read(s.configuration())
	if err != nil {
		return untrusted
	}
	all, err := values(f.path, f.text)
	if err != nil {
		return untrusted
	}
	known := 0
	for _, name := range s.noted() {
		if note, _ := state(all)[name].(map[string]any); note["trusted_hash"] != nil {
			known++
		}
	}
	if known < len(events()) {
		return untrusted
	}
	return trusted
}

// name notes a binary that is named somewhere.
func (st *Status) name(s *Setup, path string) {
	if path != "" && !slices.ContainsFunc(st.Binaries, func(b Binary) bool { return b.Path == path }) {
		st.Binaries = append(st.Binaries, Binary{path, alive(path), same(path, s.o.Executable)})
	}
}

func (s *Setup) claudeParts(st *Status) []Part {
	file := s.settings()
	hooks, demotion, rules := Part{Name: "hooks", File: file}, Part{Name: "live", File: file, Option: true}, Part{Name: "allow", File: file, Option: true}
	f, err := read(file)
	var d, before *document
	if err == nil {
		d, before, err = f.document()
	}
	if err != nil {
		for _, p := range []*Part{&hooks, &demotion, &rules} {
			p.unread(err)
		}
	} else {
		s.hookPart(st, &hooks, d, events(), Claude)
		s.hookPart(st, &demotion, d, []event{live()}, Claude)
		s.allowPart(&rules, d, before)
	}
	return []Part{hooks, s.serverPart(st), s.skillPart(), rules, demotion}
}

func (s *Setup) codexParts(st *Status) []Part {
	hooks := Part{Name: "hooks", File: s.hooksFile()}
	if d, err := document0(hooks.File); err != nil {
		hooks.unread(err)
	} else {
		s.hookPart(st, &hooks, d, events(), Codex)
	}
	return []Part{hooks, s.configurationPart(st), s.instructionsPart()}
}

// document0 reads a file as JSON; one that is missing is empty.
func document0(path string) (*document, error) {
	f, err := read(path)
	if err != nil {
		return nil, err
	}
	d, _, err := f.document()
	return d, err
}

func (p *Part) unread(err error) { p.State, p.Detail = Unread, err.Error() }

// set says which of what is wanted is there, and whether all of it is as it would be installed.
func (p *Part) set(there []string, wanted int, same bool) {
	p.Detail = strings.Join(there, ", ")
	switch {
	case len(there) == 0:
		p.State = Missing
	case len(there) == wanted && same:
		p.State = Installed
	default:
		p.State = Other
	}
}

func (s *Setup) hookPart(st *Status, p *Part, d *document, want []event, agent string) {
	var there []string
	as := true
	for _, e := range want {
		for i, line := range linesOf(d.calls(), e.name) {
			if i == 0 {
				there = append(there, e.name)
			}
			as = as && i == 0 && line == s.line(agent)(e.name)
			binary, _ := binaryOf(line, e.name)
			st.name(s, binary)
		}
	}
	p.set(there, len(want), as)
}

func (s *Setup) allowPart(p *Part, d, before *document) {
	want := s.rules()
	var there, others []string
	for _, list := range []string{allow, ask} {
		all, _ := d.strings(d.root.get("permissions", list))
		for _, rule := range all {
			switch {
			case list == allow && slices.Contains(want, rule):
				there = append(there, rule)
			case !slices.Contains(own(before, list), rule) && isRule(rule, append(binariesOf(d.calls()), s.o.Executable)):
				others = append(others, rule)
			}
		}
	}
	p.set(slices.Concat(there, others), len(want), len(others) == 0)
	if len(there) > 0 {
		p.Detail = fmt.Sprintf("%d of %d rules in permissions", len(there), len(want))
	}
	if len(others) > 0 {
		p.Detail = fmt.Sprintf("%d rules of another or older ccd", len(others))
	}
}

func (s *Setup) serverPart(st *Status) Part {
	p := Part{Name: "mcp", File: s.state()}
	d, err := document0(p.File)
	if err != nil {
		p.unread(err)
		return p
	}
	n := d.root.get("mcpServers", "ccd")
	binary, ours := s.server(d, n)
	args, _ := d.strings(n.get("args"))
	s.served(st, &p, n != nil, ours, binary, args)
	return p
}

func (s *Setup) configurationPart(st *Status) Part {
	p := Part{Name: "mcp", File: s.configuration()}
	f, err := read(p.File)
	if err != nil {
		p.unread(err)
		return p
	}
	all, err := values(f.path, f.text)
	if err != nil {
		p.unread(err)
		return p
	}
	binary, args, there, ours := s.serverOf(all)
	s.served(st, &p, there, ours, binary, args)
	return p
}

func (s *Setup) served(st *Status, p *Part, there, ours bool, binary string, args []string) {
	switch {
	case !there:
		p.State = Missing
	case !ours:
		p.State, p.Detail = Other, errNotOurs.Error()
	default:
		st.name(s, binary)
		p.set([]string{binary + " " + strings.Join(args, " ")}, 1, binary == s.o.Executable && slices.Equal(args, s.arguments()))
	}
}

func (s *Setup) skillPart() Part {
	p := Part{Name: "skill", File: s.skill(), State: Missing}
	f, err := read(p.File)
	ours, whole := skillIs(f.text)
	switch {
	case err != nil:
		p.unread(err)
	case !f.exists():
	case !ours:
		p.State, p.Detail = Other, "a skill of that name that is not ccd's"
	case string(f.text) == skillText(s.o.Executable, notesOf(string(f.text)).made):
		p.State = Installed
	case !whole:
		p.State, p.Detail = Other, "changed by somebody since ccd wrote it"
	default:
		p.State, p.Detail = Other, "not as this ccd would write it"
	}
	return p
}

func (s *Setup) instructionsPart() Part {
	p := Part{Name: "instructions", File: s.instructionsFile(), State: Missing}
	f, err := read(p.File)
	if err != nil {
		p.unread(err)
		return p
	}
	all := lines(f.text)
	from, to, err := find(f.path, all)
	switch {
	case err != nil:
		p.unread(err)
	case from < 0:
	case slices.EqualFunc(all[from+1:to], instructionLines(s.o.Executable), func(a, b string) bool { return bare(a) == b }):
		p.State = Installed
	default:
		p.State, p.Detail = Other, "not as this ccd would write it"
	}
	return p
}
