// Package setup makes an agent call ccd: it merges hooks, the MCP server, a skill or a block of instructions, and, where
// the user said so, rules that let ccd's reading commands run unasked, into the agent's own settings, and takes them out
// again.
//
// It owns which file of which agent holds what, how ccd's part of it is known again (by the exact form
// of its command line, or by marks that hold a checksum), and how a text is edited without touching the rest. Its invariant: what others
// wrote stays as it is, byte for byte, and uninstall leaves the bytes from before install where nothing else was changed
// since. Nothing is written before every file is read, understood and prepared. It knows nothing of what hooks, tools and
// commands do.
package setup

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"ccd/internal/transcript"
)

// The agents, by the names that hooks give in --agent.
const (
	Claude = "claude-code"
	Codex  = "codex"
)

// Agents returns the names of the agents that can be set up.
func Agents() []string { return []string{Claude, Codex} }

// Options says what is set up, and where.
type Options struct {
	Home       string                  // the user's home directory
	Getenv     func(key string) string // CLAUDE_CONFIG_DIR and CODEX_HOME move an agent's directory
	Executable string                  // the ccd binary that agents shall call, as Usable accepts it
	Config     string                  // passed on to it as --config, "" for its default
	// Live: nil leaves live demotion as it is, else it is switched on or off. Claude Code alone has it.
	Live *bool
	// Allow adds the rules that let Claude Code run ccd's commands for agents without asking.
	Allow bool
	Reach string // what Status tells of the sessions that an agent sees
}

// Setup is what one binary would be to the agents of one user. It holds nothing open.
type Setup struct {
	o      Options
	claude string // directories
	codex  string
}

// New prepares the set-up of o. It fails where an agent's directory cannot be told: a relative path.
func New(o Options) (*Setup, error) {
	s := &Setup{
		o: o, claude: cmp.Or(o.Getenv("CLAUDE_CONFIG_DIR"), filepath.Join(o.Home, ".claude")),
		codex: cmp.Or(o.Getenv("CODEX_HOME"), filepath.Join(o.Home, ".codex")),
	}
	for _, dir := range []string{o.Home, s.claude, s.codex} {
		if !filepath.IsAbs(dir) {
			return nil, fmt.Errorf("find agents: directory %q is not absolute", dir)
		}
	}
	return s, nil
}

// Reach returns the sessions that an agent can read, "" if the configuration cannot be read.
func (s *Setup) Reach() string { return s.o.Reach }

// Dir returns the directory that an agent keeps its settings in.
func (s *Setup) Dir(agent string) string {
	if agent == Codex {
		return s.codex
	}
	return s.claude
}

// Present returns the agents whose directory is there.
func (s *Setup) Present() []string {
	return slices.DeleteFunc(Agents(), func(agent string) bool {
		info, err := os.Stat(s.Dir(agent))
		return err != nil || !info.IsDir()
	})
}

// Install plans what makes the agents call ccd. It fails, with the file and the line, where a file is not what the agent
// itself would read, where something of ccd's name is not ccd's, or where a file is not to be written. Run again it
// plans nothing; with another binary it puts that in the place of the old one.
func (s *Setup) Install(agents ...string) (*Plan, error) {
	if err := Usable(s.o.Executable, s.o.Home); err != nil {
		return nil, err
	}
	return s.plan(agents, s.installClaude, s.installCodex)
}

// Uninstall plans what takes everything of ccd's out, of whatever binary. What others changed since install stays.
func (s *Setup) Uninstall(agents ...string) (*Plan, error) {
	return s.plan(agents, s.uninstallClaude, s.uninstallCodex)
}

func (s *Setup) plan(agents []string, claude, codex func() (*Plan, error)) (*Plan, error) {
	if err := s.distinct(); err != nil {
		return nil, err
	}
	all := &Plan{}
	for _, agent := range agents {
		make := claude
		if agent == Codex {
			make = codex
		}
		p, err := make()
		if err != nil {
			return nil, fmt.Errorf("set up %s: %w", agent, err)
		}
		if p.Empty() {
			p.Notes = nil
		}
		all.join(p)
	}
	return all, nil
}

// distinct fails where two of the agents' files are one, by a symlink: each agent would call ccd as the other.
func (s *Setup) distinct() error {
	at := map[string]string{}
	for _, path := range []string{s.settings(), s.state(), s.skill(), s.hooksFile(), s.instructionsFile(), s.configuration()} {
		target, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue // read tells
		}
		if first, twice := at[target]; twice {
			return hinted(fmt.Errorf("set up agents: %s and %s are the same file, %s", first, path, target), "make it two: take the link away, and copy what both need")
		}
		at[target] = path
	}
	return nil
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
func (s *Setup) line(agent string) func(event string) string {
	return func(event string) string {
		line := transcript.ShellWord(s.o.Executable) + " hook " + event + " --agent " + agent
		if s.o.Config != "" {
			line += " --config " + transcript.ShellWord(s.o.Config)
		}
		return line + harmless
	}
}

// arguments are what the binary is started with to serve MCP.
func (s *Setup) arguments() []string {
	if s.o.Config != "" {
		return []string{"mcp", "--config", s.o.Config}
	}
	return []string{"mcp"}
}

var errNotOurs = errors.New("an MCP server ccd is defined that is not ccd's")
