package install

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/BurntSushi/toml"

	"ccd/internal/transcript"
	"ccd/internal/words"
)

// Codex keeps its MCP servers in TOML. ccd reads it, and the client's own command writes it.

// untrusted is a note, because Codex does not say that it skips hooks.
const untrusted = "Codex skips new, changed and moved hooks, also in `codex exec`, until you trust them: type /hooks in codex."

// values reads a TOML file. A missing file is empty.
func values(path string) (all map[string]any, err error) {
	f, err := read(path)
	if err != nil {
		return nil, err
	}
	_, err = toml.Decode(string(bytes.TrimPrefix(f.text, byteOrderMark)), &all)
	var bad toml.ParseError
	if errors.As(err, &bad) {
		return nil, words.Hint(fmt.Errorf("read %s:%d: not valid TOML", path, bad.Position.Line), "fix the file, then run this again")
	}
	return all, err
}

// served returns the binary and the arguments of the MCP server named ccd, whether there is one, and whether it is ccd's.
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
		return words.Hint(fmt.Errorf("read %s: %w", a.servers, errNotOurs), "%s mcp remove ccd", a.Program)
	case ours && binary == s.o.Executable && slices.Equal(args, s.arguments()):
		return nil
	}
	add := []string{"mcp", "add", "ccd"}
	for _, name := range []string{"CCD_CONFIG", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"} {
		if v := s.o.Getenv(name); v != "" { // Codex does not pass these to a server, which would then look for the archive elsewhere
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

// run plans a command of the client. If the client is not on PATH, it notes that the user must run it.
func (s *Setup) run(a agent, p *Plan, args []string) {
	line := a.Program
	for _, arg := range args {
		line += " " + transcript.ShellWord(arg)
	}
	run := s.o.Program(a.Program)
	if run == nil {
		p.Notes = append(p.Notes, a.Program+" is not on PATH: run `"+line+"` yourself.")
		p.open = true
		return
	}
	p.commands = append(p.commands, command{line, func() error { return run(args...) }})
}

func (s *Setup) tomlPart(a agent, st *Status) Part {
	p := Part{Name: "mcp", File: a.servers}
	binary, args, there, ours, err := s.served(a)
	if err != nil {
		p.State, p.Detail = Unread, err.Error()
		return p
	}
	s.servedPart(st, &p, there, ours, binary, args)
	return p
}
