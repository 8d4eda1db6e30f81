package install

import (
	"cmp"
	"slices"

	"ccd/internal/ownfile"
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
	Name   string `json:"name"`   // "hooks", "statusline", "mcp", "skill", "mod", "model", "instructions"
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
	Directory string   `json:"directory"`  // of the agent's settings, absolute
	Present   bool     `json:"present"`    // the directory is there
	Installed bool     `json:"installed"`  // all parts that are not options are as this binary would install them
	Compacts  string   `json:"compaction"` // who writes the context after a compaction: "ccd" or "agent"
	Delivers  []string `json:"delivers"`   // the parts by which the agent gets what ccd has
	Reach     string   `json:"reach"`      // the sessions that it can read: "project", "all", "" if the configuration cannot be read
	Parts     []Part   `json:"parts"`
	Binaries  []Binary `json:"binaries"`
	Notes     []string `json:"notes"` // what else the user should know, a sentence each
}

// NoStatus is the status of an agent that ccd cannot connect.
func NoStatus(id string) Status {
	return Status{Agent: id, Compacts: "agent", Delivers: []string{}, Parts: []Part{}, Binaries: []Binary{}, Notes: []string{}}
}

// Status returns which parts of ccd an agent has. A file that cannot be read is not an error but the state of its part.
func (s *Setup) Status(id string) Status {
	a := s.agent(id)
	st := NoStatus(id)
	st.Directory, st.Present, st.Installed, st.Reach = a.dir, isDir(a.dir), true, s.o.Reach
	if a.Note != "" {
		st.Notes = append(st.Notes, a.Note)
	}
	st.Parts, st.Notes = s.parts(a, &st), append(st.Notes, s.notes(a)...)
	off := s.hooksOff(a) != ""
	for _, p := range st.Parts {
		switch {
		case p.State != Installed || off && slices.Contains([]string{"hooks", "mod", "model"}, p.Name):
		case p.Name == "mod" && s.o.Mod.Compaction, p.Name == "model":
			st.Compacts = "ccd"
		case p.Name == "hooks", p.Name == "mcp", p.Name == "skill", p.Name == "instructions":
			st.Delivers = append(st.Delivers, p.Name)
		}
		st.Installed = st.Installed && (p.State == Installed || p.Option && p.State == Missing)
	}
	return st
}

// name adds a binary that a part names.
func (st *Status) name(s *Setup, path string) {
	if path != "" && !slices.ContainsFunc(st.Binaries, func(b Binary) bool { return b.Path == path }) {
		st.Binaries = append(st.Binaries, Binary{path, alive(path), ownfile.Same(path, s.o.Executable)})
	}
}

// parts compares an agent's pieces with what is there. The mod's files are one part.
func (s *Setup) parts(a agent, st *Status) (all []Part) {
	for _, row := range s.pieces(a) {
		p := Part{Name: row.name, File: row.path, Option: row.option}
		f, err := read(row.path)
		f.comments = a.Comments
		if err != nil {
			p.State, p.Detail = Unread, err.Error()
		} else {
			p.State, p.Detail = f.compared(row)
		}
		if row.binaries != nil && err == nil {
			for _, binary := range row.binaries(f) {
				st.name(s, binary)
			}
		}
		if last := len(all) - 1; last >= 0 && all[last].Name == p.Name {
			if all[last].State != p.State {
				all[last].State, all[last].Detail = Other, cmp.Or(p.Detail, all[last].Detail, "differs from what this ccd writes")
			}
			continue
		}
		all = append(all, p)
	}
	return all
}
