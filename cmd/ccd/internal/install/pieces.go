package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ccd/internal/words"
)

// mode says what install does with a piece.
type mode int

const (
	wanted  mode = iota // write it as this binary does
	kept                // if it is there, the same; else nothing
	dropped             // remove it
)

// piece is a row of the table of what ccd has in agents' files. install brings each row to its mode, uninstall drops all,
// status compares.
type piece struct {
	name   string // as Part.Name
	path   string
	mode   mode
	perm   fs.FileMode // of a new file
	own    bool        // the whole file is ccd's, so it needs no backup
	option bool        // only installed on request
	// put returns the text with the piece as this binary writes it, take the text without the piece of any binary.
	put, take func(file) ([]byte, error)
	binaries  func(file) []string // that the piece starts
}

// pieces returns the rows of an agent.
func (s *Setup) pieces(a agent) (all []piece) {
	add := func(p piece) { all = append(all, p) }
	if a.hooks != "" {
		add(inDocument("hooks", a.hooks, (*document).calls, s.hooks(a)))
	}
	switch {
	case a.servers != "" && a.Member == "":
		add(s.tomlServer(a))
	case a.servers != "":
		add(inDocument("mcp", a.servers, s.ownServer(a.Member), s.server(a)))
	}
	if a.skill != "" {
		add(ownFile("skill", a.skill, skillText(s.o.Executable)))
	}
	if a.guide != "" {
		add(piece{
			name: "instructions", path: a.guide, perm: 0o644,
			put:  func(f file) ([]byte, error) { return put(f.path, f.text, s.instructions(a)) },
			take: func(f file) ([]byte, error) { return take(f.path, f.text) },
		})
	}
	return append(all, s.options(a)...)
}

// options returns the rows that the configuration or a flag can switch.
func (s *Setup) options(a agent) (all []piece) {
	add := func(p piece, m mode) {
		p.mode, p.option = m, true
		all = append(all, p)
	}
	if a.mod != "" {
		files := s.modFiles(a)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			p := ownFile("mod", filepath.Join(a.mod, filepath.FromSlash(name)), files[name])
			p.binaries = modBinaries
			if s.o.Mod.Compaction || s.o.Mod.Output > 0 {
				all = append(all, p)
				continue
			}
			add(p, dropped)
		}
	}
	if a.Model != nil {
		p := inDocument("model", a.hooks, ownModel(*a.Model), s.model(a))
		if s.summarizes(a) {
			all = append(all, p)
		} else {
			add(p, dropped)
		}
	}
	if a.hooks != "" && a.Line {
		m := kept
		if s.o.Line != nil {
			m = map[bool]mode{true: wanted, false: dropped}[*s.o.Line]
		}
		add(inDocument("statusline", a.hooks, (*document).ownLine, s.line()), m)
	}
	return all
}

// ownFile returns a piece that is a whole file with this text, in which CHECKSUM stands for that of the text.
func ownFile(name, path, text string) piece {
	p := piece{name: name, path: path, perm: 0o644, own: true}
	p.put = func(f file) ([]byte, error) {
		switch ours, whole := signedByUs(f.text); {
		case f.exists() && !ours:
			return nil, words.Hint(fmt.Errorf("write %s: a file that ccd did not write has this name", f.path), "rename it")
		case ours && !whole:
			return nil, f.edited()
		}
		return []byte(signed(text)), nil
	}
	p.take = func(f file) ([]byte, error) {
		switch ours, whole := signedByUs(f.text); {
		case ours && !whole:
			return nil, f.edited()
		case ours:
			return nil, nil
		}
		return f.text, nil
	}
	return p
}

// modBinaries returns the program that a mod's file starts.
func modBinaries(f file) (paths []string) {
	if _, line, ok := strings.Cut(string(f.text), "\nconst CCD = "); ok {
		line, _, _ = strings.Cut(line, "\n")
		if json.Unmarshal([]byte(line), &paths) == nil && len(paths) > 0 {
			return paths[:1]
		}
	}
	return nil
}

// planned plans to bring each of an agent's files to the modes of its pieces. If ccd is not wanted, all pieces are to be dropped.
func (s *Setup) planned(a agent, wanted bool) (p *Plan, err error) {
	p = &Plan{}
	for all := s.pieces(a); len(all) > 0 && err == nil; {
		path := all[0].path
		here := slices.DeleteFunc(slices.Clone(all), func(p piece) bool { return p.path != path })
		for i := range here {
			if !wanted {
				here[i].mode = dropped
			}
		}
		f, unread := read(path)
		f.state, f.comments = a.State && path == a.servers, a.Comments
		err = p.bring(f, unread, a.dir, here)
		all = slices.DeleteFunc(all, func(p piece) bool { return p.path == path })
	}
	return p, err
}

// has reports whether a piece, of any binary, is in a file.
func (f file) has(p piece) (bool, error) {
	without, err := p.take(f)
	return err == nil && !bytes.Equal(without, f.text), err
}

// bring plans to bring the pieces of a file to their modes.
func (p *Plan) bring(f file, unread error, dir string, pieces []piece) error {
	empty := !slices.ContainsFunc(pieces, func(row piece) bool { return row.mode != dropped })
	switch {
	case empty && missing(unread): // a symbolic link that leads nowhere
		return nil
	case unread != nil:
		return unread
	case empty:
		return p.clear(f, dir, pieces)
	}
	now, ours := f, pieces[0].own
	for _, row := range pieces {
		there, err := f.has(row)
		before := now.text
		switch {
		case err != nil:
		case row.mode == dropped:
			now.text, err = row.take(now)
		case row.mode == wanted || there:
			now.text, err = row.put(now)
		}
		if err != nil {
			return err
		}
		if ours = ours || there; !row.option && !bytes.Equal(before, now.text) && !slices.Contains(p.parts, row.label()) {
			p.parts = append(p.parts, row.label())
		}
	}
	return p.install(f, now.text, pieces[0].perm, ours)
}

// label is the piece's name for people.
func (p piece) label() string {
	if p.name == "mcp" {
		return "MCP server"
	}
	return p.name
}

// clear plans to remove all pieces of a file.
func (p *Plan) clear(f file, dir string, pieces []piece) error {
	text, err := f.without(pieces)
	if err != nil && !bytes.Contains(f.text, []byte("ccd")) { // it cannot be read, but it has nothing of ccd's
		text, err = f.text, nil
	}
	if err != nil {
		return err
	}
	return p.uninstall(f, text, dir)
}

// without returns the text without pieces: the backup, byte for byte, if only ccd has changed the file since. That is so if what
// is left of the file is what would be left of the backup, had the same pieces been put into it.
func (f file) without(pieces []piece) ([]byte, error) {
	left, err := f.taken(pieces)
	if err != nil || f.backup == nil {
		return left, err
	}
	before := f
	before.text = f.backup
	if none, err := before.taken(pieces); err != nil || !bytes.Equal(none, f.backup) { // it had some
		return left, nil
	}
	for _, p := range pieces {
		if there, _ := f.has(p); there {
			if before.text, err = p.put(before); err != nil {
				return left, nil
			}
		}
	}
	if again, err := before.taken(pieces); err == nil && bytes.Equal(again, left) {
		return f.backup, nil
	}
	return left, nil
}

// taken returns the text without pieces, the last first.
func (f file) taken(pieces []piece) (text []byte, err error) {
	for _, p := range slices.Backward(pieces) {
		if f.text, err = p.take(f); err != nil {
			return nil, err
		}
	}
	return f.text, nil
}

// compared returns the state of a piece in a file.
func (f file) compared(row piece) (state, detail string) {
	there, err := f.has(row)
	switch {
	case errors.Is(err, errEdited):
		return Other, errEdited.Error()
	case err != nil:
		return Unread, err.Error()
	}
	text, err := row.put(f)
	switch {
	case there && row.mode == dropped:
		return Other, "the configuration wants none"
	case err != nil && !there && row.mode != wanted: // such as another status line
		return Missing, err.Error()
	case err != nil:
		return Other, err.Error()
	case bytes.Equal(text, f.text):
		return Installed, ""
	case there:
		return Other, "differs from what this ccd writes"
	}
	return Missing, ""
}
