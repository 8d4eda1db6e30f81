// Package setup makes an agent call ccd: it merges hooks, the MCP server, a skill or a block of instructions, and, where
// the user said so, rules that let ccd's reading commands run unasked, into the agent's own settings, and takes them out
// again.
//
// It owns how ccd's part of a file is known again (by the exact form of its command line, or by marks that hold a
// checksum), and how a text is edited without touching the rest; which file of which agent holds what, their rows tell
// (transcript.Connect). Its invariant: what others wrote stays as it is, byte for byte, and uninstall leaves the bytes
// from before install where nothing else was changed since. Nothing is written before every file is read, understood and
// prepared. Codex's TOML alone is edited by Codex itself. It knows nothing of what hooks, tools and commands do.
package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

// agent is a row whose client can be told of ccd.
type agent struct {
	transcript.Connect
	id, title string
	dir       string // of the client's settings
	hooks     string // files, absolute; "" where there is none
	servers   string
	guide     string
	skill     string
}

// connectable are the rows that tell how their client is connected.
func connectable() []transcript.Format {
	return slices.DeleteFunc(registry.Table{}.All(), func(f transcript.Format) bool { return f.Connect == nil })
}

// Agents returns the names of the agents that can be set up.
func Agents() (names []string) {
	for _, f := range connectable() {
		names = append(names, f.Agent)
	}
	return names
}

// Find returns the agent of a name as --agent or as `ccd agents install` takes it.
func Find(name string) (id string, ok bool) {
	for _, f := range connectable() {
		if name == f.Agent || name == f.Connect.Name {
			return f.Agent, true
		}
	}
	return "", false
}

// Name returns an agent's name for `ccd agents install`, "" where that does not connect it.
func Name(id string) string {
	if f, ok := (registry.Table{}).Lookup(id); ok && f.Connect != nil {
		return f.Connect.Name
	}
	return ""
}

// Options says what is set up, and where.
type Options struct {
	Home       string                  // the user's home directory
	Getenv     func(key string) string // variables that move an agent's directory
	Executable string                  // the ccd binary that agents shall call, as Usable accepts it
	Config     string                  // passed on to it as --config, "" for its default
	// Live: nil leaves live demotion as it is, else it is switched on or off, for the agents that have it.
	Live *bool
	// Line: the same for the status line, for the agents that have one. A status line that is not ccd's is never replaced.
	Line *bool
	// Allow adds the rules that let ccd's commands for agents run without asking, for the agents that have such rules.
	Allow bool
	Reach string // what Status tells of the sessions that an agent sees
	// Program returns a function that runs a program of the user's, nil where there is none of that name.
	Program func(name string) func(args ...string) error
}

// Setup is what one binary would be to the agents of one user. It holds nothing open.
type Setup struct{ o Options }

// New prepares the set-up of o.
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
	for to, name := range map[*string]string{&a.hooks: a.Hooks, &a.servers: a.Servers, &a.guide: a.Guide, &a.skill: a.Skill} {
		if name != "" {
			*to = filepath.Join(a.dir, filepath.FromSlash(name))
		}
	}
	if a.ServersAt != nil {
		a.servers = a.ServersAt(s.o.Getenv, s.o.Home)
	}
	return a
}

// Reach returns the sessions that an agent can read, "" if the configuration cannot be read.
func (s *Setup) Reach() string { return s.o.Reach }

// Dir returns the directory that an agent keeps its settings in.
func (s *Setup) Dir(id string) string { return s.agent(id).dir }

// Present returns the agents whose directory is there.
func (s *Setup) Present() []string {
	return slices.DeleteFunc(Agents(), func(id string) bool { return !isDir(s.Dir(id)) })
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() && filepath.IsAbs(path)
}

// Has reports whether an agent has live demotion, and whether it has rules.
func (s *Setup) Has(id string) (live, rules bool) {
	a := s.agent(id)
	return a.Live != nil, a.Connect.Rules
}

// HasLine reports whether an agent's status line can be a command.
func (s *Setup) HasLine(id string) bool { return s.agent(id).Connect.Line }

// Usable fails where an agent could not start this binary later on.
func (s *Setup) Usable() error { return Usable(s.o.Executable, s.o.Home) }

// Install plans what makes the agents call ccd. It fails, with the file and the line, where a file is not what the agent
// itself would read, where something of ccd's name is not ccd's, or where a file is not to be written. Run again it
// plans nothing; with another binary it puts that in the place of the old one.
func (s *Setup) Install(agents ...string) (*Plan, error) {
	if err := s.Usable(); err != nil {
		return nil, err
	}
	return s.plan(agents, s.install)
}

// Uninstall plans what takes everything of ccd's out, of whatever binary. What others changed since install stays.
func (s *Setup) Uninstall(agents ...string) (*Plan, error) { return s.plan(agents, s.uninstall) }

func (s *Setup) plan(agents []string, of func(agent, *Plan) error) (*Plan, error) {
	if err := s.distinct(); err != nil {
		return nil, err
	}
	all := &Plan{}
	for _, id := range agents {
		a, p := s.agent(id), &Plan{}
		if !filepath.IsAbs(a.dir) {
			return nil, fmt.Errorf("set up %s: directory %q is not absolute", id, a.dir)
		}
		if err := of(a, p); err != nil {
			return nil, fmt.Errorf("set up %s: %w", id, err)
		}
		if p.Empty() && !p.open {
			p.Notes, p.Started = nil, nil
		}
		all.join(p)
	}
	return all, nil
}

// distinct fails where two of the agents' files are one, by a symlink: each agent would call ccd as the other.
func (s *Setup) distinct() error {
	at := map[string]string{}
	for _, id := range Agents() {
		a := s.agent(id)
		for _, path := range a.files() {
			target, err := filepath.EvalSymlinks(path)
			if err != nil {
				continue // read tells
			}
			if first, twice := at[target]; twice {
				return hinted(fmt.Errorf("set up agents: %s and %s are the same file, %s", first, path, target), "make it two: take the link away, and copy what both need")
			}
			at[target] = path
		}
	}
	return nil
}

// documents are an agent's files in JSON.
func (a agent) documents() (paths []string) {
	for _, path := range []string{a.hooks, a.servers} {
		if path != "" && (path != a.servers || a.Program == "") && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// files are all of an agent's files that ccd may look into.
func (a agent) files() []string {
	all := a.documents()
	for _, path := range []string{a.guide, a.skill, a.servers} {
		if path != "" && !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	return all
}

// Put plans that a file which is ccd's own holds text. An uninstall leaves it.
func (p *Plan) Put(path string, text []byte) error {
	f, err := read(path)
	if err != nil {
		return err
	}
	return p.put(f.installed(text, 0o600, true))
}

// put adds a change to the plan.
func (p *Plan) put(c change, err error) error {
	if err == nil {
		p.changes = append(p.changes, c)
	}
	return err
}

// line is the command line of a hook.
func (s *Setup) line(a agent, e transcript.Event) string {
	return s.command("hook " + e.Name + " --agent " + a.id)
}

// command is how an agent's shell calls ccd.
func (s *Setup) command(what string) string {
	line := transcript.ShellWord(s.o.Executable) + " " + what
	if s.o.Config != "" {
		line += " --config " + transcript.ShellWord(s.o.Config)
	}
	return line + harmless
}

// arguments are what the binary is started with to serve MCP.
func (s *Setup) arguments() []string {
	if s.o.Config != "" {
		return []string{"mcp", "--config", s.o.Config}
	}
	return []string{"mcp"}
}

var errNotOurs = errors.New("an MCP server ccd is defined that is not ccd's")
