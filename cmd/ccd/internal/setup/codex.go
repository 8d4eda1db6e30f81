package setup

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/BurntSushi/toml"

	"ccd/internal/transcript"
)

// Codex keeps its MCP servers in TOML. ccd reads it, and the client's own command writes it.

// untrusted is what a user of Codex must know.
const untrusted = "Codex runs new or changed hooks, and those that moved to another place, only once you trust them: type /hooks in codex. Until then it" +
	" skips them without a word, in `codex exec` too (`codex exec --dangerously-bypass-hook-trust` runs them anyway)."

// values reads a TOML file; one that is missing is empty.
func values(path string) (all map[string]any, err error) {
	f, err := read(path)
	if err != nil {
		return nil, err
	}
	_, err = toml.Decode(string(bytes.TrimPrefix(f.text, byteOrderMark)), &all)
	var bad toml.ParseError
	if errors.As(err, &bad) {
		return nil, hinted(fmt.Errorf("read %s:%d: not valid TOML", path, bad.Position.Line), "fix the file, then run this again")
	}
	return all, err
}

// served returns what the configuration says of an MCP server ccd: its binary, its arguments, whether it is there and
// ccd's.
func (s *Setup) served(a agent) (binary string, args []string, there, ours bool, err error) {
	all, err := values(a.servers)
	if err != nil {
		return "", nil, false, false, err
	}
	servers, _ := all["mcp_servers"].(map[string]any)
	entry, there := servers["ccd"]
	server, _ := entry.(map[string]any)
	binary, _ = server["command"].(string)
	list, _ := server["args"].([]any)
	for _, a := range list {
		text, _ := a.(string)
		args = append(args, text)
	}
	return binary, args, there, s.serves(binary, args), nil
}

func (s *Setup) addServer(a agent, p *Plan) error {
	if len(p.changes) > 0 && p.changes[0].write { // the hooks
		p.Notes = append(p.Notes, untrusted)
	}
	binary, args, there, ours, err := s.served(a)
	switch {
	case err != nil:
		return err
	case there && !ours:
		return hinted(fmt.Errorf("read %s: %w", a.servers, errNotOurs), "%s mcp remove ccd", a.Program)
	case ours && binary == s.o.Executable && slices.Equal(args, s.arguments()):
		return nil
	}
	add := []string{"mcp", "add", "ccd"}
	for _, name := range []string{"CCD_CONFIG", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"} {
		if v := s.o.Getenv(name); v != "" { // Codex starts a server without these: it would look for the archive elsewhere
			add = append(add, "--env", name+"="+v)
		}
	}
	s.run(a, p, slices.Concat(add, []string{"--", s.o.Executable}, s.arguments()))
	return nil
}

func (s *Setup) removeServer(a agent, p *Plan) error {
	_, _, _, ours, err := s.served(a)
	if err == nil && ours {
		s.run(a, p, []string{"mcp", "remove", "ccd"})
	}
	return err
}

// run plans a command of the client's, or says that the user must run it.
func (s *Setup) run(a agent, p *Plan, args []string) {
	line := a.Program
	for _, arg := range args {
		line += " " + transcript.ShellWord(arg)
	}
	run := s.o.Program(a.Program)
	if run == nil {
		p.Notes = append(p.Notes, a.Program+" is not on PATH: run `"+line+"` yourself, for its MCP servers.")
		p.open = true
		return
	}
	p.commands = append(p.commands, command{line, func() error { return run(args...) }})
}

// tomlNotes tell what keeps the client from seeing what is installed.
func (s *Setup) tomlNotes(a agent) []string {
	all, err := values(a.servers)
	if features, _ := all["features"].(map[string]any); err == nil && features["hooks"] == false {
		return []string{a.servers + " switches hooks off (features.hooks): none of ccd's run."}
	}
	return nil
}

func (s *Setup) tomlPart(a agent, st *Status) Part {
	p := Part{Name: "mcp", File: a.servers}
	binary, args, there, ours, err := s.served(a)
	if err != nil {
		p.unread(err)
		return p
	}
	s.servedPart(st, &p, there, ours, binary, args)
	return p
}
