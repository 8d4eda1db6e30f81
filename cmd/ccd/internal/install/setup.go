// Package install brings a machine to the state that ccd wants: the agents' settings and the service, or nothing of them.
//
// pieces.go has the table of what ccd writes into agents' files, and service.go the row of the service: what is wanted, or
// nothing, is compared with what is there. setup and undo apply the difference; --dry-run, status and doctor print it.
// steps.go orders the steps; companions.go finds what undo removes besides.
//
// ccd's parts are recognized by the exact form of a command line or by marks with a checksum, and a text is edited without
// changing the rest. Its invariant: what others wrote stays as it is, byte for byte, and undo restores the bytes from before
// unless something else has changed since. Nothing is written before every file is read and understood. The archive,
// the state and the configuration are never removed. The package knows nothing of flags and asks no questions.
package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

// agent is a row of the table whose client can be connected.
type agent struct {
	transcript.Connect
	id, title string
	dir       string // of the client's settings
	hooks     string // files, absolute; "" for none
	servers   string
	guide     string
	skill     string
	mod       string
}

// connectable returns the agents that can be connected.
func connectable() []transcript.Format {
	return slices.DeleteFunc(registry.Table{}.All(), func(f transcript.Format) bool { return f.Connect == nil })
}

// Agents returns the IDs of the agents that can be connected.
func Agents() (names []string) {
	for _, f := range connectable() {
		names = append(names, f.Agent)
	}
	return names
}

// Find returns the ID of the agent with this name, as --agent or `ccd agents install` takes it.
func Find(name string) (id string, ok bool) {
	for _, f := range connectable() {
		if name == f.Agent || name == f.Connect.Name {
			return f.Agent, true
		}
	}
	return "", false
}

// Connection returns how an agent is connected, the zero value if it cannot be.
func Connection(id string) (c transcript.Connect) {
	if f, _ := (registry.Table{}).Lookup(id); f.Connect != nil {
		c = *f.Connect
	}
	return c
}

// Options says what is set up, and where.
type Options struct {
	Home       string                  // the user's home directory
	Getenv     func(key string) string // variables that move an agent's directory
	Executable string                  // the ccd binary that agents shall call, as Usable accepts it
	Config     string                  // passed on to it as --config, "" for its default
	// Line turns the status line on or off for the agents that have it; nil leaves it as it is. A status line that is not
	// ccd's is never replaced.
	Line *bool
	Mod  Mod
	// Clients are the agents, by their names on the command line, whose summaries ccd writes in place of a model.
	Clients []string
	Reach   string // the sessions that agents can read, "" if the configuration cannot be read
	// OnPath reports whether PATH has a program of this name.
	OnPath func(name string) bool
}

// Setup connects the agents of one user to one binary. It keeps nothing open.
type Setup struct{ o Options }

// New prepares the set-up of o. It fails if the home directory is not an absolute path.
func New(o Options) (*Setup, error) {
	if !filepath.IsAbs(o.Home) {
		return nil, fmt.Errorf("find agents: directory %q is not absolute", o.Home)
	}
	return &Setup{o}, nil
}

// agent returns an agent that Agents names.
func (s *Setup) agent(id string) agent {
	f, _ := registry.Table{}.Lookup(id)
	a := agent{Connect: *f.Connect, id: f.Agent, title: f.Title, dir: f.Connect.Dir(s.o.Getenv, s.o.Home)}
	for to, name := range map[*string]string{&a.hooks: a.Hooks, &a.servers: a.Servers, &a.guide: a.Guide, &a.skill: a.Skill, &a.mod: a.Mod} {
		if name != "" {
			*to = filepath.Join(a.dir, filepath.FromSlash(name))
		}
	}
	if a.ServersAt != nil {
		a.servers = a.ServersAt(s.o.Getenv, s.o.Home)
	}
	if s.summarizes(a) {
		same := func(e transcript.Event) bool { return e.Client == a.Model.Event.Client }
		a.Events = append(slices.DeleteFunc(slices.Clone(a.Events), same), a.Model.Event)
	}
	return a
}

// Provider returns the provider of models that an agent is configured for, "" if its settings do not say.
func (s *Setup) Provider(id string) string {
	if c := Connection(id); c.Servers == "" || c.Member != "" { // the settings are not TOML
		return ""
	}
	f, err := read(s.agent(id).servers)
	if err != nil {
		return ""
	}
	all, _, _ := values(f)
	name, _ := all["model_provider"].(string)
	return name
}

// Dir returns the directory that an agent keeps its settings in.
func (s *Setup) Dir(id string) string { return s.agent(id).dir }

// Present returns the agents whose directory exists.
func (s *Setup) Present() []string {
	return slices.DeleteFunc(Agents(), func(id string) bool { return !isDir(s.Dir(id)) })
}

// Found reports whether an agent is on this machine: its directory or its program.
func (s *Setup) Found(f transcript.Format) bool {
	return f.Connect != nil && (isDir(s.Dir(f.Agent)) || len(f.Resume) > 0 && s.o.OnPath(f.Resume[0]))
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() && filepath.IsAbs(path)
}

// Usable fails if an agent could not start this binary later; see the function Usable.
func (s *Setup) Usable() error { return Usable(s.o.Executable, s.o.Home) }

// Plan compares the agents' files with what is wanted in them: ccd's parts, with this binary in place of any other, or none
// of any binary. What others changed stays. An agent of which a file is not valid, or has something of ccd's name that is not ccd's, is
// left out; the error names the file and the line.
func (s *Setup) Plan(wanted bool, agents ...string) (*Plan, error) {
	err := CheckHome(s.o.Home)
	if wanted && err == nil {
		err = s.Usable()
	}
	if err != nil {
		return nil, err
	}
	all := &Plan{}
	var failed error
	for _, id := range agents {
		a := s.agent(id)
		if !filepath.IsAbs(a.dir) {
			return nil, fmt.Errorf("set up %s: directory %q is not absolute", id, a.dir)
		}
		p, err := s.planned(a, wanted)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("edit the settings of %s: %w", id, err))
			continue
		}
		if !p.Empty() {
			all.Agents = append(all.Agents, a.title)
		}
		if wanted && !p.Empty() {
			if p.changes[0].differs() && a.Note != "" {
				p.Notes = append(p.Notes, a.Note)
			}
			p.Notes = append(p.Notes, s.notes(a)...)
		}
		all.Notes = append(all.Notes, p.Notes...)
		all.parts = append(all.parts, p.parts...)
		all.changes = append(all.changes, p.changes...)
	}
	return all, failed
}

// command returns the command line with which an agent's shell calls ccd.
func (s *Setup) command(what string) string {
	line := transcript.ShellWord(s.o.Executable) + " " + what
	if s.o.Config != "" {
		line += " --config " + transcript.ShellWord(s.o.Config)
	}
	return line + harmless
}

// arguments returns the arguments that start the MCP server.
func (s *Setup) arguments() []string {
	if s.o.Config != "" {
		return []string{"mcp", "--config", s.o.Config}
	}
	return []string{"mcp"}
}
