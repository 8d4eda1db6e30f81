// Package install brings a machine to the state that ccd wants: the agents' settings, the service, companions and state.
//
// pieces.go has the table of what ccd writes into agents' files: setup brings each row to its mode, undo drops all, status
// and doctor print the difference. steps.go orders the steps of `ccd setup`, purge.go removes everything that ccd wrote.
//
// ccd's parts are recognized by the exact form of a command line or by marks with a checksum, and a text is edited without
// changing the rest. Its invariant: what others wrote stays as it is, byte for byte, and undo restores the bytes from before
// unless something else has changed since. Nothing is written before every file is read, understood and prepared, and the
// archive, the state and the configuration are removed last, so that an interrupted purge can be run again. The package
// knows nothing of flags and asks no questions.
package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ccd/internal/agent/registry"
	"ccd/internal/config"
	"ccd/internal/transcript"
	"ccd/internal/words"
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
	// Allow adds the rules that let ccd's commands for agents run without asking, for the agents that have such rules.
	Allow bool
	Reach string // the sessions that agents can read, "" if the configuration cannot be read
	// ReachFile returns the path of the configuration that commands for agents read, whatever Config is.
	ReachFile func() (string, error)
	// Program returns a function that runs a program on PATH, nil if there is none of that name.
	Program func(name string) func(args ...string) error
}

// Setup connects the agents of one user to one binary. It keeps nothing open.
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
	for to, name := range map[*string]string{&a.hooks: a.Hooks, &a.servers: a.Servers, &a.guide: a.Guide, &a.skill: a.Skill, &a.mod: a.Mod} {
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

// Present returns the agents whose directory exists.
func (s *Setup) Present() []string {
	return slices.DeleteFunc(Agents(), func(id string) bool { return !isDir(s.Dir(id)) })
}

// Found reports whether an agent is on this machine: its directory or its program.
func (s *Setup) Found(f transcript.Format) bool {
	return f.Connect != nil && (isDir(s.Dir(f.Agent)) || len(f.Resume) > 0 && s.o.Program(f.Resume[0]) != nil)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() && filepath.IsAbs(path)
}

// Usable fails if an agent could not start this binary later; see the function Usable.
func (s *Setup) Usable() error { return Usable(s.o.Executable, s.o.Home) }

// Install plans to connect the agents; with another binary, to replace the old one. It fails, with the file and the line, if
// a file is not valid or not writable, or if something of ccd's name is not ccd's.
func (s *Setup) Install(agents ...string) (*Plan, error) {
	if err := s.Usable(); err != nil {
		return nil, err
	}
	return s.plan(agents, s.install)
}

// ByHand returns why only the user can complete an agent's connection, and how; "" if Install can.
func (s *Setup) ByHand(agent string) (why, how string) {
	p, err := s.Install(agent)
	if err != nil || !p.Empty() || len(p.Notes) == 0 {
		return "", ""
	}
	why, how, _ = strings.Cut(strings.TrimSuffix(p.Notes[len(p.Notes)-1], "."), ": ")
	return why, how
}

// Uninstall plans to remove ccd's parts, of any binary. What others changed since install stays.
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
		if p.Empty() {
			p.Started = nil
			if !p.open {
				p.Notes = nil
			}
		}
		all.join(p)
	}
	return all, nil
}

// distinct fails if a symlink makes two agents share a file: each agent would call ccd as the other.
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
				return words.Hint(fmt.Errorf("set up agents: %s and %s are the same file, %s", first, path, target), "replace the link with a copy")
			}
			at[target] = path
		}
	}
	return nil
}

// documents returns an agent's JSON files that ccd edits.
func (a agent) documents() (paths []string) {
	for _, path := range []string{a.hooks, a.servers} {
		if path != "" && (path != a.servers || a.Program == "") && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// files returns all of an agent's files that ccd reads.
func (a agent) files() []string {
	all := a.documents()
	for _, path := range []string{a.guide, a.skill, a.servers} {
		if path != "" && !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	return all
}

// Put plans to write text to a file of ccd's own. It makes no backup.
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

// line returns the command line of a hook.
func (s *Setup) line(a agent, e transcript.Event) string {
	return s.command("hook " + e.Name + " --agent " + a.id)
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

// PutReach plans the change of agents.reach in the configuration; "" changes nothing.
func (s *Setup) PutReach(p *Plan, reach string) error {
	if reach == "" {
		return nil
	}
	file, err := s.o.ReachFile()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil && !missing(err) {
		return fmt.Errorf("read config: %w", err)
	}
	now, err := config.Put(string(text), reach)
	if err != nil {
		return words.Hint(fmt.Errorf("read config %s: %w", file, err), "set it in that file: [agents] reach = \"%s\"", reach)
	}
	if now == string(text) {
		return nil
	}
	return p.Put(file, []byte(now))
}

// ResetReach plans the default for agents.reach, unless agents other than leaving are still connected: otherwise the next
// install would have it too. It returns what agents.reach is then.
func (s *Setup) ResetReach(p *Plan, leaving []string) (string, error) {
	other := func(agent string) bool { return !slices.Contains(leaving, agent) && len(s.Status(agent).Binaries) > 0 }
	if s.Reach() != config.ReachAll || s.o.Config != "" || slices.ContainsFunc(Agents(), other) {
		return s.Reach(), nil
	}
	if err := s.PutReach(p, config.ReachProject); err != nil {
		return s.Reach(), err
	}
	return config.ReachProject, nil
}

var errNotOurs = errors.New("there is an MCP server named ccd that ccd did not write")
