package install

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"ccd/internal/words"
)

// mine is a value of ccd's in a JSON file, written by any binary.
type mine struct {
	at     jsontext.Pointer
	says   string // what is compared with that of an entry, "" for what may be there or not
	binary string // that it starts, "" for none
}

// entry is a value that this binary writes.
type entry struct {
	says  string
	value any
	path  []string // - at its end is a new element of a list
	other error    // if something else has the path
}

// inDocument returns a piece that is some entries of a JSON file. find returns what ccd has there, in the order of the file.
func inDocument(name, path string, find func(*document) []mine, wanted []entry) piece {
	p := piece{name: name, path: path, perm: 0o600}
	take := func(d *document) {
		for _, m := range slices.Backward(find(d)) { // so that the indexes of the others stay valid
			d.remove(m.at)
		}
	}
	p.take = edit(func(d *document) error {
		take(d)
		return nil
	})
	p.put = edit(func(d *document) error {
		var have, want []string
		for _, m := range find(d) {
			if m.says != "" {
				have = append(have, m.says)
			}
		}
		for _, e := range wanted {
			want = append(want, e.says)
		}
		if slices.Sort(have); slices.Equal(have, slices.Sorted(slices.Values(want))) {
			return nil
		}
		take(d)
		for _, e := range wanted {
			if there := d.get(e.path...); there != nil {
				return fmt.Errorf("read %s:%d: %w", d.path, d.line(there.StartOffset), e.other)
			}
			if err := d.put(e.value, e.path...); err != nil {
				return err
			}
		}
		return nil
	})
	p.binaries = func(f file) (paths []string) {
		if d, err := parse(f.path, f.text, f.comments); err == nil {
			for _, m := range find(d) {
				paths = append(paths, m.binary)
			}
		}
		return paths
	}
	return p
}

// edit returns a function that edits the JSON document in a file. If a file without a backup loses its last member, its
// text is empty, because install made it.
func edit(change func(d *document) error) func(file) ([]byte, error) {
	return func(f file) ([]byte, error) {
		d, err := parse(f.path, f.text, f.comments)
		if err != nil {
			return nil, err
		}
		before := d.bytes()
		if err = change(d); err != nil {
			return nil, err
		}
		if bytes.Equal(d.bytes(), before) {
			return f.text, nil
		}
		if v, _ := last(&d.root); v == nil && f.backup == nil {
			return nil, nil
		}
		if bytes.HasPrefix(f.text, byteOrderMark) {
			return slices.Concat(byteOrderMark, d.bytes()), nil
		}
		return d.bytes(), nil
	}
}

// command is a hook or a status line in a client's settings.
type command struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitzero"`
}

// hooks are the calls of ccd at an agent's events.
func (s *Setup) hooks(a agent) (all []entry) {
	for _, e := range a.Events {
		line := s.command("hook " + e.Name + " --agent " + a.id)
		all = append(all, entry{
			says: e.Client + " " + line, path: []string{"hooks", e.Client, "-"},
			value: map[string]any{"hooks": []any{command{"command", line, e.Timeout}}},
		})
	}
	return all
}

// calls finds ccd's hooks, and skips what does not have the form of a hook.
func (d *document) calls() (all []mine) {
	for event, groups := range members(d.get("hooks")) {
		for g := range elements(groups) {
			for h, v := range elements(get(&elements(groups)[g], "hooks")) {
				line := stringOf(get(&v, "command"))
				if binary, ok := binaryOf(line); ok {
					all = append(all, mine{pointer("hooks", event, strconv.Itoa(g), "hooks", strconv.Itoa(h)), event + " " + line, binary})
				}
			}
		}
	}
	return all
}

// statusLine is the member of Claude Code's settings that holds the command of its status line.
const statusLine = "statusLine"

// line is ccd's status line.
func (s *Setup) line() []entry {
	line := s.command("statusline")
	other := words.Hint(errors.New("another status line is configured"), "remove it and try again, or call `ccd statusline` from it with the same stdin")
	return []entry{{line, command{Type: "command", Command: line}, []string{statusLine}, other}}
}

// ownLine finds the status line if it is ccd's.
func (d *document) ownLine() []mine {
	line := stringOf(d.get(statusLine, "command"))
	if binary, ours := called(shellWords(strings.TrimSuffix(line, harmless)), "statusline"); ours {
		return []mine{{pointer(statusLine), line, binary}}
	}
	return nil
}

// server is an MCP server in a client's settings.
type server struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Tools   []string `json:"tools,omitempty"`
}

var errNotOurs = words.Hint(errors.New("there is an MCP server named ccd that ccd did not write"), "rename that server")

// server is ccd's MCP server in an agent's settings.
func (s *Setup) server(a agent) []entry {
	v := server{a.Type, s.o.Executable, s.arguments(), a.Tools}
	return []entry{{fmt.Sprintf("%q %q", v.Command, v.Args), v, []string{a.Member, "ccd"}, errNotOurs}}
}

// ownServer returns a function that finds the MCP server in a member if it is ccd's.
func (s *Setup) ownServer(member string) func(*document) []mine {
	return func(d *document) []mine {
		v := d.get(member, "ccd")
		args, ok := stringsOf(get(v, "args"))
		binary := stringOf(get(v, "command"))
		if !ok || !s.serves(binary, args) {
			return nil
		}
		return []mine{{pointer(member, "ccd"), fmt.Sprintf("%q %q", binary, args), binary}}
	}
}
