package install

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"ccd/internal/words"
)

// serverTable is the TOML table of ccd's MCP server, as Codex reads it.
const serverTable = "mcp_servers.ccd"

// tomlServer returns the piece of the MCP server in a TOML file. Its table is found by its lines, and whether they were the
// right ones by what the file says without them.
func (s *Setup) tomlServer(a agent) piece {
	return piece{name: "mcp", path: a.servers, perm: 0o600, put: s.putTOML, take: s.takeTOML, binaries: func(f file) []string {
		if _, server, err := values(f); err == nil && server != nil && s.serves(server.Command, server.Args) {
			return []string{server.Command}
		}
		return nil
	}}
}

func (s *Setup) takeTOML(f file) ([]byte, error) {
	others, server, err := values(f)
	if err != nil || server == nil || !s.serves(server.Command, server.Args) {
		return f.text, err
	}
	for _, text := range withoutTable(lines(f.text)) {
		if rest, left, err := values(file{path: f.path, text: text}); err == nil && left == nil && reflect.DeepEqual(rest, others) {
			return text, nil
		}
	}
	return nil, words.Hint(fmt.Errorf("read %s: the MCP server ccd is not a table of its own", f.path), "remove mcp_servers.ccd from it")
}

func (s *Setup) putTOML(f file) ([]byte, error) {
	_, server, err := values(f)
	wanted := &tomlEntry{Command: s.o.Executable, Args: s.arguments(), Env: s.elsewhere()}
	switch {
	case err != nil:
		return nil, err
	case server != nil && !s.serves(server.Command, server.Args):
		return nil, fmt.Errorf("read %s: %w", f.path, errNotOurs)
	case reflect.DeepEqual(server, wanted):
		return f.text, nil
	}
	without, err := s.takeTOML(f)
	if err != nil {
		return nil, err
	}
	text := attach(without, wanted.lines())
	if _, server, err := values(file{path: f.path, text: text}); err != nil || !reflect.DeepEqual(server, wanted) || inline.Match(text) {
		return nil, words.Hint(fmt.Errorf("write %s: mcp_servers is not a table of its own", f.path), "write it as [mcp_servers.NAME]")
	}
	return text, nil
}

// inline matches servers in one value, which no table may extend, although the parser here allows it.
var inline = regexp.MustCompile(`(?m)^[ \t]*mcp_servers[ \t]*=`)

// tomlEntry is an MCP server in TOML.
type tomlEntry struct {
	Command string            `toml:"command"`
	Args    []string          `toml:"args"`
	Env     map[string]string `toml:"env"`
}

func (e tomlEntry) lines() []string {
	var args, env []string
	for _, a := range e.Args {
		args = append(args, strconv.Quote(a))
	}
	for _, name := range moving {
		if v, ok := e.Env[name]; ok {
			env = append(env, name+" = "+strconv.Quote(v))
		}
	}
	all := []string{"[" + serverTable + "]", "command = " + strconv.Quote(e.Command), "args = [" + strings.Join(args, ", ") + "]"}
	if env != nil {
		all = append(all, "env = { "+strings.Join(env, ", ")+" }")
	}
	return all
}

// moving are the variables that say where ccd's files are. Codex does not pass them to a server.
var moving = []string{"CCD_CONFIG", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"}

func (s *Setup) elsewhere() map[string]string {
	var env map[string]string
	for _, name := range moving {
		if v := s.o.Getenv(name); v != "" {
			if env == nil {
				env = map[string]string{}
			}
			env[name] = v
		}
	}
	return env
}

// values reads a TOML file: ccd's MCP server in it, nil if there is none, and all else.
func values(f file) (others map[string]any, server *tomlEntry, err error) {
	text := string(bytes.TrimPrefix(f.text, byteOrderMark))
	if _, err = toml.Decode(text, &others); err != nil {
		var bad toml.ParseError
		if errors.As(err, &bad) {
			err = words.Hint(fmt.Errorf("read %s:%d: not valid TOML", f.path, bad.Position.Line), "fix the file, then run this again")
		}
		return nil, nil, err
	}
	servers, _ := others["mcp_servers"].(map[string]any)
	if _, there := servers["ccd"]; there {
		server = &tomlEntry{}
		var all struct {
			Servers map[string]toml.Primitive `toml:"mcp_servers"`
		}
		if meta, err := toml.Decode(text, &all); err == nil {
			_ = meta.PrimitiveDecode(all.Servers["ccd"], server) // another form is not ccd's
		}
	}
	if delete(servers, "ccd"); len(servers) == 0 {
		delete(others, "mcp_servers")
	}
	return others, server, nil
}

// withoutTable returns the texts without lines that may be the table of ccd's server, its tables and the empty line before it.
func withoutTable(all []string) (texts [][]byte) {
	for i, l := range all {
		if strings.TrimSpace(l) != "["+serverTable+"]" {
			continue
		}
		end := i + 1
		for end < len(all) && (!strings.HasPrefix(strings.TrimSpace(all[end]), "[") || strings.HasPrefix(strings.TrimSpace(all[end]), "["+serverTable+".")) {
			end++
		}
		for end > i+1 && (bare(all[end-1]) == "" || strings.HasPrefix(strings.TrimSpace(all[end-1]), "#")) { // a person's, or before the next table
			end--
		}
		if i > 0 && bare(all[i-1]) == "" {
			i--
		}
		texts = append(texts, []byte(strings.Join(slices.Concat(all[:i], all[end:]), "")))
	}
	return texts
}
