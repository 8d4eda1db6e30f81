package install

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"ccd/cmd/ccd/internal/disk"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// advice returns what the user should know of an agent that a plan connects.
func (s *Setup) advice(a agent, p *Plan) (notes []string) {
	if len(p.changes) > 0 && p.changes[0].write && a.Note != "" {
		notes = append(notes, a.Note)
	}
	notes = append(notes, s.notes(a)...)
	if a.Rules && !s.o.Allow {
		notes = append(notes, a.title+" asks before each `ccd agent` command; to allow them: ccd agents install "+a.Name+" --allow")
	}
	return notes
}

// notes returns what keeps an agent from using what is installed.
func (s *Setup) notes(a agent) (notes []string) {
	if a.hooks != "" {
		if d, err := documentAt(a.hooks); err == nil {
			if off := d.root.get("disableAllHooks"); off != nil && off.kind == 't' {
				notes = append(notes, a.hooks+" disables all hooks (disableAllHooks), also ccd's.")
			}
		}
	}
	if a.Shadow != "" && disk.Exists(filepath.Join(a.dir, a.Shadow)) {
		notes = append(notes, a.title+" reads "+filepath.Join(a.dir, a.Shadow)+" instead of "+a.Guide+", so it does not see ccd's instructions.")
	}
	if a.servers != "" && a.Member == "" {
		if f, err := read(a.servers); err == nil {
			all, _, _ := values(f)
			if features, _ := all["features"].(map[string]any); features["hooks"] == false {
				notes = append(notes, a.servers+" disables all hooks (features.hooks), also ccd's.")
			}
		}
	}
	return notes
}

// documentAt parses a file as JSON. A missing file is empty.
func documentAt(path string) (*document, error) {
	f, err := read(path)
	if err != nil {
		return nil, err
	}
	return parse(path, f.text)
}

// serve adds or repairs the MCP server.
func (s *Setup) serve(d *document, a agent) error {
	if err := d.check('{', a.Member, "ccd"); err != nil {
		return err
	}
	n := d.root.get(a.Member, "ccd")
	if n == nil {
		server := object{{"command", s.o.Executable}, {"args", listOf(s.arguments()...)}}
		if a.Type != "" {
			server = append(object{{"type", a.Type}}, server...)
		}
		if len(a.Tools) > 0 {
			server = append(server, member{"tools", listOf(a.Tools...)})
		}
		return d.add(server, a.Member, "ccd")
	}
	if _, ok := s.server(d, n); !ok {
		return words.Hint(fmt.Errorf("read %s:%d: %w", d.path, d.line(n.at), errNotOurs), "rename that server")
	}
	if d.string(n.get("command")) != s.o.Executable {
		if err := d.set(n.get("command"), s.o.Executable); err != nil {
			return err
		}
	}
	n = d.root.get(a.Member, "ccd", "args")
	if args, _ := d.strings(n); !slices.Equal(args, s.arguments()) {
		return d.set(n, listOf(s.arguments()...))
	}
	return nil
}

// unserve removes the MCP server if it is ccd's.
func (s *Setup) unserve(d *document, a agent) error {
	servers := d.root.get(a.Member)
	if _, ok := s.server(d, servers.get("ccd")); !ok {
		return nil
	}
	if err := d.cut(servers, servers.index("ccd")); err != nil {
		return err
	}
	return d.prune(a.Member)
}

// server returns the binary that an MCP server starts, and whether the server is ccd's.
func (s *Setup) server(d *document, n *node) (binary string, ok bool) {
	args, ok := d.strings(n.get("args"))
	binary = d.string(n.get("command"))
	return binary, ok && s.serves(binary, args)
}

// edited returns the error for a file of ccd's that the user changed.
func (f file) edited() error {
	return words.Hint(fmt.Errorf("read %s: %w", f.path, errEdited), "save your changes elsewhere, then: rm %s", transcript.ShellWord(f.path))
}

var errEdited = errors.New("it was changed since ccd wrote it")

var errNotOurs = errors.New("there is an MCP server named ccd that ccd did not write")
