package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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
	again     func(file) ([]byte, error) // put for the mode kept, if it differs
	binaries  func(file) []string        // that the piece starts
	left      func(file) []string        // directories to remove with it if they are empty, outer ones first
}

// pieces returns the rows of an agent. Rules come before the hooks by which they are known.
func (s *Setup) pieces(a agent) (all []piece) {
	if a.hooks != "" && a.Connect.Rules {
		p := s.inDocument("allow", a.hooks, kept, func(d, before *document) error {
			if err := s.renew(d, d.calls(), before); err != nil {
				return err
			}
			return d.grant(s.rules())
		}, func(d, before *document) error {
			had, theirs := d.calls(), own(before)
			if len(had) == 0 { // the rules may be the user's
				return nil
			}
			return d.revoke(func(rule string) bool { return isRule(rule, binariesOf(had)) && !slices.Contains(theirs, rule) }, before)
		}, nil)
		p.option, p.again = true, edit(func(d, before *document) error { return s.renew(d, d.calls(), before) })
		if s.o.Allow {
			p.mode = wanted
		}
		all = append(all, p)
	}
	if a.hooks != "" {
		all = append(all, s.inDocument("hooks", a.hooks, wanted, func(d, before *document) error { return s.hook(d, a, a.Events, before) },
			func(d, before *document) error { return d.unhook(func(call) bool { return false }, before) },
			func(d *document) []string { return binariesOf(d.calls()) }))
	}
	if a.hooks != "" && a.Connect.Line {
		p := s.inDocument("statusline", a.hooks, kept, s.putLine, (*document).takeLine, func(d *document) []string {
			command, _ := d.lineCommand()
			binary, _ := lineOf(d.string(command))
			return []string{binary}
		})
		p.option = true
		if s.o.Line != nil {
			p.mode = map[bool]mode{true: wanted, false: dropped}[*s.o.Line]
		}
		all = append(all, p)
	}
	if a.servers != "" && a.Program == "" {
		all = append(all, s.inDocument("mcp", a.servers, wanted, func(d, _ *document) error { return s.serve(d, a) },
			func(d, before *document) error { return s.unserve(d, before, a) }, func(d *document) []string {
				if binary, ours := s.server(d, d.root.get(a.Member, "ccd")); ours {
					return []string{binary}
				}
				return nil
			}))
	}
	switch {
	case a.skill != "":
		all = append(all, s.skillPiece(a))
	case a.guide != "":
		all = append(all, s.guidePiece(a))
	}
	if a.mod != "" {
		all = append(all, s.modPieces(a)...)
	}
	return all
}

// edit returns a function that edits the document in a file.
func edit(change func(d, before *document) error) func(file) ([]byte, error) {
	return func(f file) ([]byte, error) {
		d, before, err := f.document()
		if err == nil {
			err = change(d, before)
		}
		if err != nil {
			return nil, err
		}
		return d.text, nil
	}
}

// inDocument returns a piece of a JSON file.
func (s *Setup) inDocument(name, path string, m mode, put, take func(d, before *document) error, binaries func(*document) []string) piece {
	p := piece{name: name, path: path, mode: m, perm: 0o600, put: edit(put)}
	p.take = edit(func(d, before *document) error {
		ours := func(n *node) bool { _, served := s.server(d, n); return served || d.holdsCall(n) }
		if err := d.certain(ours); err != nil {
			return err
		}
		return take(d, before)
	})
	p.binaries = func(f file) []string {
		if d, _, err := f.document(); err == nil && binaries != nil {
			return binaries(d)
		}
		return nil
	}
	return p
}

// wholeFile completes a piece that is a file of ccd's own. is reports whether a text is ccd's, and as ccd wrote it.
func wholeFile(p piece, what string, is func([]byte) (ours, whole bool), text func(file) []byte) piece {
	p.perm, p.own = 0o644, true
	p.put = func(f file) ([]byte, error) {
		switch ours, whole := is(f.text); {
		case f.exists() && !ours:
			return nil, words.Hint(fmt.Errorf("write %s: a %s that ccd did not write has this name", f.path, what), "rename it")
		case ours && !whole:
			return nil, f.edited()
		}
		return text(f), nil
	}
	p.take = func(f file) ([]byte, error) {
		switch ours, whole := is(f.text); {
		case ours && !whole:
			return nil, f.edited()
		case ours:
			return nil, nil
		}
		return f.text, nil
	}
	return p
}

func (s *Setup) skillPiece(a agent) piece {
	p := piece{name: "skill", path: a.skill}
	p.left = func(f file) []string { return below(a.dir, append(notesOf(string(f.text)).made, a.leftovers()...)) }
	return wholeFile(p, "skill", skillIs, func(f file) []byte {
		dirs := notesOf(string(f.text)).made
		if !f.exists() {
			dirs = append(absent(a.dir, append(s.above(a.dir), "skills", "skills/ccd")...), a.leftovers()...)
		}
		return []byte(skillText(s.o.Executable, dirs))
	})
}

func (s *Setup) guidePiece(a agent) piece {
	return piece{
		name: "instructions", path: a.guide, perm: 0o644,
		put: func(f file) ([]byte, error) {
			return put(f.path, f.text, s.instructions(a), absent(a.dir, s.above(a.dir)...))
		},
		take: func(f file) ([]byte, error) { text, _, _, err := take(f.path, f.text); return text, err },
		left: func(f file) []string { _, n, _, _ := take(f.path, f.text); return below(a.dir, n.made) },
	}
}

func (s *Setup) modPieces(a agent) (all []piece) {
	for _, m := range s.modFiles(a) {
		p := piece{name: "mod", path: filepath.Join(a.mod, filepath.FromSlash(m.name))}
		if s.o.Mod.none() {
			p.mode, p.option = dropped, true
		}
		p.binaries = func(f file) (paths []string) {
			if _, line, ok := strings.Cut(string(f.text), "\nconst CCD = "); ok {
				line, _, _ = strings.Cut(line, "\n")
				if json.Unmarshal([]byte(line), &paths) == nil && len(paths) > 0 {
					return paths[:1]
				}
			}
			return nil
		}
		p.left = func(file) (dirs []string) {
			if a.skill == "" { // else that folder is the skill's
				dirs = below(a.mod, []string{"..", "."})
			}
			return append(dirs, below(a.mod, modDirs(a.id))...)
		}
		all = append(all, wholeFile(p, "plugin", modIs, func(file) []byte { return []byte(m.text) }))
	}
	return all
}

func below(root string, dirs []string) (all []string) {
	for _, dir := range dirs {
		all = append(all, filepath.Join(root, filepath.FromSlash(dir)))
	}
	return all
}

// byFile calls each for the pieces of each of an agent's files.
func (s *Setup) byFile(a agent, each func(file, []piece) error) error {
	all := s.pieces(a)
	for len(all) > 0 {
		here := slices.DeleteFunc(slices.Clone(all), func(p piece) bool { return p.path != all[0].path })
		f, err := read(all[0].path)
		if err != nil {
			return err
		}
		f.state = a.State && f.path == a.servers
		if err := each(f, here); err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(p piece) bool { return p.path == here[0].path })
	}
	return nil
}

// with returns the text with a piece in its mode, and whether it was there.
func (f file) with(p piece) (text []byte, there bool, err error) {
	without, err := p.take(f)
	if err != nil {
		return nil, false, err
	}
	there = !bytes.Equal(without, f.text)
	switch {
	case p.mode == dropped:
		return without, there, nil
	case p.mode == kept && p.again != nil:
		text, err = p.again(f)
	case p.mode == kept && !there:
		text = f.text
	default:
		text, err = p.put(f)
	}
	return text, there, err
}

// install plans to bring each of an agent's pieces to its mode.
func (s *Setup) install(a agent, p *Plan) error {
	err := s.byFile(a, func(f file, pieces []piece) error {
		now, ours := f, false
		for _, row := range pieces {
			text, there, err := now.with(row)
			if err != nil {
				return err
			}
			now.text, ours = text, ours || there || row.own
		}
		if pieces[0].own && pieces[0].mode == dropped {
			return p.without(f, now.text, pieces)
		}
		return p.put(f.installed(now.text, pieces[0].perm, ours))
	})
	p.Started = append(p.Started, a.title)
	if err == nil && a.Program != "" {
		err = s.addServer(a, p)
	}
	p.Notes = append(p.Notes, s.notes(a)...)
	return err
}

// uninstall plans to remove all of an agent's pieces.
func (s *Setup) uninstall(a agent, p *Plan) error {
	err := s.byFile(a, func(f file, pieces []piece) error {
		now := f
		for _, row := range pieces {
			text, err := row.take(now)
			if err != nil && !bytes.Contains(f.text, []byte("ccd")) { // it cannot be read, but it has nothing of ccd's
				text, err = now.text, nil
			}
			if err != nil {
				return err
			}
			now.text = text
		}
		if err := p.without(f, now.text, pieces); err != nil {
			return err
		}
		if last := p.changes[len(p.changes)-1]; last.remove && a.guide == "" && a.skill == "" { // nothing records who made the directory
			p.rooms = append(p.rooms, a.dir)
		}
		return nil
	})
	if err == nil && a.Program != "" {
		err = s.removeServer(a, p)
	}
	return err
}

// without plans the text without pieces, and to remove the directories that install made for them.
func (p *Plan) without(f file, text []byte, pieces []piece) error {
	for _, row := range pieces {
		if row.left != nil {
			p.rooms = append(p.rooms, row.left(f)...)
		}
	}
	if !f.exists() {
		return p.put(change{file: f}, nil)
	}
	return p.put(f.uninstalled(text))
}

// compared returns the state of a piece in a file.
func (f file) compared(row piece) (state, detail string) {
	without, err := row.take(f)
	switch {
	case errors.Is(err, errEdited):
		return Other, errEdited.Error()
	case err != nil:
		return Unread, err.Error()
	}
	there := !bytes.Equal(without, f.text)
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
