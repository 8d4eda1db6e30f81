package setup

import (
	"fmt"
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// What a Part can be.
const (
	Installed = "installed" // as this binary would install it
	Other     = "other"     // it differs from what this binary would install
	Missing   = "missing"
	Unread    = "unreadable" // its file cannot be read or parsed; Detail says why
)

// Part is one thing that install puts into one file.
type Part struct {
	Name   string `json:"name"`   // "hooks", "allow", "statusline", "mcp", "skill", "mod", "instructions"
	File   string `json:"file"`   // absolute
	State  string `json:"state"`  // one of the above
	Option bool   `json:"option"` // only installed on request
	Detail string `json:"detail"` // what is there or what is wrong, "" for nothing
}

// Binary is a ccd binary in an agent's settings.
type Binary struct {
	Path   string `json:"path"`
	Exists bool   `json:"exists"` // and can be started
	This   bool   `json:"this"`   // it is the running one
}

// Status says which parts of ccd an agent has.
type Status struct {
	Agent     string   `json:"agent"`
	Directory string   `json:"directory"` // of the agent's settings, absolute
	Present   bool     `json:"present"`   // the directory is there
	Installed bool     `json:"installed"` // all parts that are not options are as this binary would install them
	Reach     string   `json:"reach"`     // the sessions that it can read: "project", "all", "" if the configuration cannot be read
	Parts     []Part   `json:"parts"`
	Binaries  []Binary `json:"binaries"`
	Notes     []string `json:"notes"` // what else the user should know, a sentence each
}

// Status returns which parts of ccd an agent has. A file that cannot be read is not an error but the state of its part.
func (s *Setup) Status(id string) Status {
	a := s.agent(id)
	st := Status{Agent: id, Directory: a.dir, Present: isDir(a.dir), Installed: true, Reach: s.o.Reach, Binaries: []Binary{}, Notes: []string{}}
	if a.Program != "" {
		st.Notes = append(st.Notes, untrusted)
	}
	st.Parts, st.Notes = s.parts(a, &st), append(st.Notes, s.notes(a)...)
	for _, p := range st.Parts {
		st.Installed = st.Installed && (p.State == Installed || p.Option && p.State == Missing)
	}
	return st
}

// name adds a binary that a part names.
func (st *Status) name(s *Setup, path string) {
	if path != "" && !slices.ContainsFunc(st.Binaries, func(b Binary) bool { return b.Path == path }) {
		st.Binaries = append(st.Binaries, Binary{path, alive(path), same(path, s.o.Executable)})
	}
}

// parts are what install puts into an agent's files.
func (s *Setup) parts(a agent, st *Status) (all []Part) {
	var options []Part
	if a.hooks != "" {
		hooks, rules := Part{Name: "hooks", File: a.hooks}, Part{Name: "allow", File: a.hooks, Option: true}
		f, err := read(a.hooks)
		var d, before *document
		if err == nil {
			d, before, err = f.document()
		}
		part := func(p *Part, of func()) Part {
			if p.unread(err); err == nil {
				of()
			}
			return *p
		}
		all = append(all, part(&hooks, func() { s.hookPart(st, &hooks, d, a, a.Events) }))
		if a.Connect.Rules {
			options = append(options, part(&rules, func() { s.allowPart(&rules, d, before) }))
		}
		if line := (Part{Name: "statusline", File: a.hooks, Option: true}); a.Connect.Line {
			options = append(options, part(&line, func() { s.linePart(st, &line, d) }))
		}
	}
	switch {
	case a.Program != "":
		all = append(all, s.tomlPart(a, st))
	case a.servers != "":
		all = append(all, s.serverPart(a, st))
	}
	switch {
	case a.skill != "":
		all = append(all, s.skillPart(a))
	case a.guide != "":
		all = append(all, s.guidePart(a))
	}
	if a.mod != "" {
		all = append(all, s.modPart(a, st))
	}
	return append(all, options...)
}

// document0 parses a file as JSON. A missing file is empty.
func document0(path string) (*document, error) {
	f, err := read(path)
	if err != nil {
		return nil, err
	}
	d, _, err := f.document()
	return d, err
}

func (p *Part) unread(err error) {
	if err != nil {
		p.State, p.Detail = Unread, err.Error()
	}
}

// set sets the state from what is there, of the number wanted; same says that it is as install would write it.
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

func (s *Setup) hookPart(st *Status, p *Part, d *document, a agent, want []transcript.Event) {
	var there []string
	as := true
	for _, e := range want {
		for i, line := range linesOf(d.calls(), e.Client) {
			if i == 0 {
				there = append(there, e.Client)
			}
			as = as && i == 0 && line == s.line(a, e)
			binary, _ := binaryOf(line, e.Client)
			st.name(s, binary)
		}
	}
	p.set(there, len(want), as)
}

func (s *Setup) allowPart(p *Part, d, before *document) {
	want := s.rules()
	var there, others []string
	all, _ := d.strings(d.root.get("permissions", allow))
	for _, rule := range all {
		switch {
		case slices.Contains(want, rule):
			there = append(there, rule)
		case !slices.Contains(own(before), rule) && isRule(rule, append(binariesOf(d.calls()), s.o.Executable)):
			others = append(others, rule)
		}
	}
	p.set(slices.Concat(there, others), len(want), len(others) == 0)
	if len(there) > 0 {
		p.Detail = fmt.Sprintf("%d of %d rules in permissions", len(there), len(want))
	}
	if len(others) > 0 {
		p.Detail = fmt.Sprintf("%d rules of another ccd", len(others))
	}
}

func (s *Setup) serverPart(a agent, st *Status) Part {
	p := Part{Name: "mcp", File: a.servers}
	d, err := document0(p.File)
	if err != nil {
		p.unread(err)
		return p
	}
	n := d.root.get(a.Member, "ccd")
	binary, ours := s.server(d, n)
	args, _ := d.strings(n.get("args"))
	s.servedPart(st, &p, n != nil, ours, binary, args)
	return p
}

func (s *Setup) servedPart(st *Status, p *Part, there, ours bool, binary string, args []string) {
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

func (s *Setup) skillPart(a agent) Part {
	p := Part{Name: "skill", File: a.skill, State: Missing}
	f, err := read(p.File)
	ours, whole := skillIs(f.text)
	switch {
	case err != nil:
		p.unread(err)
	case !f.exists():
	case !ours:
		p.State, p.Detail = Other, "a skill of that name that ccd did not write"
	case string(f.text) == skillText(s.o.Executable, notesOf(string(f.text)).made):
		p.State = Installed
	case !whole:
		p.State, p.Detail = Other, "changed since ccd wrote it"
	default:
		p.State, p.Detail = Other, "differs from what this ccd writes"
	}
	return p
}

func (s *Setup) guidePart(a agent) Part {
	p := Part{Name: "instructions", File: a.guide, State: Missing}
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
	case slices.EqualFunc(all[from+1:to], s.instructions(a), func(a, b string) bool { return bare(a) == b }):
		p.State = Installed
	default:
		p.State, p.Detail = Other, "differs from what this ccd writes"
	}
	return p
}
