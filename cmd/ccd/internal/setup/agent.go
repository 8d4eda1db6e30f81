package setup

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ccd/cmd/ccd/internal/disk"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// skillName is the name of every skill's file.
const skillName = "SKILL.md"

// install plans the change of each of an agent's files.
func (s *Setup) install(a agent, p *Plan) error {
	for _, path := range a.documents() {
		f, err := read(path)
		if err != nil {
			return err
		}
		f.state = a.State && path == a.servers
		text, ours, err := s.putParts(a, f)
		if err == nil {
			err = p.put(f.installed(text, 0o600, ours))
		}
		if err != nil {
			return err
		}
	}
	var err error
	switch {
	case a.skill != "":
		err = p.put(s.installSkill(a))
	case a.guide != "":
		err = p.put(s.installGuide(a))
	}
	if err == nil && a.mod != "" {
		err = s.installMod(a, p)
	}
	p.Started = append(p.Started, a.title)
	if err == nil && a.Program != "" {
		err = s.addServer(a, p)
	}
	p.Notes = append(p.Notes, s.notes(a)...)
	return err
}

// uninstall plans to remove ccd's parts from each of an agent's files.
func (s *Setup) uninstall(a agent, p *Plan) error {
	for _, path := range a.documents() {
		f, err := read(path)
		if err != nil {
			return err
		}
		if !f.exists() {
			p.changes = append(p.changes, change{file: f})
			continue
		}
		f.state = a.State && path == a.servers
		text, err := s.takeParts(a, f)
		if err != nil && !bytes.Contains(f.text, []byte("ccd")) { // it cannot be read, but it has nothing of ccd's
			text, err = f.text, nil
		}
		if err != nil {
			return err
		}
		c, err := f.uninstalled(text)
		if err := p.put(c, err); err != nil {
			return err
		}
		if c.remove && a.guide == "" && a.skill == "" { // nothing records who made the directory, so remove it if it is empty now
			p.rooms = append(p.rooms, a.dir)
		}
	}
	var err error
	switch {
	case a.skill != "":
		err = s.uninstallSkill(a, p)
	case a.guide != "":
		err = s.uninstallGuide(a, p)
	}
	if err == nil && a.mod != "" {
		err = s.uninstallMod(a, p)
	}
	if err == nil && a.Program != "" {
		err = s.removeServer(a, p)
	}
	return err
}

// notes returns what keeps an agent from using what is installed.
func (s *Setup) notes(a agent) (notes []string) {
	if a.hooks != "" {
		if d, err := document0(a.hooks); err == nil {
			if off := d.root.get("disableAllHooks"); off != nil && off.kind == 't' {
				notes = append(notes, a.hooks+" disables all hooks (disableAllHooks), also ccd's.")
			}
		}
	}
	if a.Shadow != "" && disk.Exists(filepath.Join(a.dir, a.Shadow)) {
		notes = append(notes, a.title+" reads "+filepath.Join(a.dir, a.Shadow)+" instead of "+a.Guide+", so it does not see ccd's instructions.")
	}
	if a.Program != "" {
		all, err := values(a.servers)
		if features, _ := all["features"].(map[string]any); err == nil && features["hooks"] == false {
			notes = append(notes, a.servers+" disables all hooks (features.hooks), also ccd's.")
		}
	}
	return notes
}

// putParts returns the text of a settings file with those of ccd's parts that belong in it. ours reports whether any of
// them was there before.
func (s *Setup) putParts(a agent, f file) (text []byte, ours bool, err error) {
	d, before, err := f.document()
	if err != nil {
		return nil, false, err
	}
	if f.path == a.hooks {
		had := d.calls()
		ours = len(had) > 0
		if err := s.hook(d, a, a.Events, before); err != nil {
			return nil, false, err
		}
		if a.Connect.Rules {
			err = s.renew(d, had, before)
		}
		if err == nil && a.Connect.Rules && s.o.Allow {
			err = d.grant(s.rules())
		}
		if err == nil && a.Connect.Line {
			var drawn bool
			drawn, err = s.putLine(d, before)
			ours = ours || drawn
		}
		if err != nil {
			return nil, false, err
		}
	}
	if f.path == a.servers {
		served, err := s.serve(d, a)
		if err != nil {
			return nil, false, err
		}
		ours = ours || served
	}
	return d.text, ours, nil
}

// takeParts returns the text of a settings file without ccd's parts.
func (s *Setup) takeParts(a agent, f file) ([]byte, error) {
	d, before, err := f.document()
	if err != nil {
		return nil, err
	}
	if f.path == a.hooks {
		if err := d.certain(d.holdsCall); err != nil {
			return nil, err
		}
		had := d.calls()
		if err := d.unhook(func(call) bool { return false }, before); err != nil {
			return nil, err
		}
		if len(had) > 0 && a.Connect.Rules { // without a hook of ccd's, the rules may be the user's
			theirs := own(before)
			goes := func(rule string) bool { return isRule(rule, binariesOf(had)) && !slices.Contains(theirs, rule) }
			if err := d.revoke(goes, before); err != nil {
				return nil, err
			}
		}
		if err := d.takeLine(before); err != nil {
			return nil, err
		}
	}
	if f.path != a.servers {
		return d.text, nil
	}
	if err := d.certain(func(n *node) bool { _, ok := s.server(d, n); return ok }); err != nil {
		return nil, err
	}
	servers := d.root.get(a.Member)
	if _, ok := s.server(d, servers.get("ccd")); !ok {
		return d.text, nil
	}
	if err := d.cut(servers, servers.index("ccd")); err != nil {
		return nil, err
	}
	return d.text, d.prune(before, a.Member)
}

// serve adds or repairs the MCP server. ours reports whether it was there before.
func (s *Setup) serve(d *document, a agent) (ours bool, err error) {
	if err := d.check('{', a.Member, "ccd"); err != nil {
		return false, err
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
		return false, d.add(server, a.Member, "ccd")
	}
	if err := d.single(); err != nil {
		return false, err
	}
	if _, ok := s.server(d, n); !ok {
		return false, words.Hint(fmt.Errorf("read %s:%d: %w", d.path, d.line(n.at), errNotOurs), "rename that server")
	}
	if d.string(n.get("command")) != s.o.Executable {
		if err := d.set(n.get("command"), s.o.Executable); err != nil {
			return true, err
		}
	}
	n = d.root.get(a.Member, "ccd", "args")
	if args, _ := d.strings(n); !slices.Equal(args, s.arguments()) {
		return true, d.set(n, listOf(s.arguments()...))
	}
	return true, nil
}

// server returns the binary that an MCP server starts, and whether the server is ccd's.
func (s *Setup) server(d *document, n *node) (binary string, ok bool) {
	args, ok := d.strings(n.get("args"))
	binary = d.string(n.get("command"))
	return binary, ok && s.serves(binary, args)
}

// absent returns those of the directories, relative to root, that do not exist.
func absent(root string, dirs ...string) (all []string) {
	for _, dir := range dirs {
		if !disk.Exists(filepath.Join(root, filepath.FromSlash(dir))) {
			all = append(all, dir)
		}
	}
	return all
}

// above returns the paths, relative to dir, of dir and its parents below the home directory, outermost first.
func (s *Setup) above(dir string) (all []string) {
	rel := "."
	for at := dir; at != s.o.Home && at != filepath.Dir(at); at = filepath.Dir(at) {
		all = append([]string{rel}, all...)
		if rel += "/.."; rel == "./.." {
			rel = ".."
		}
	}
	return all
}

func (p *Plan) leave(root string, dirs []string) {
	for _, dir := range dirs {
		p.rooms = append(p.rooms, filepath.Join(root, filepath.FromSlash(dir)))
	}
}

func (s *Setup) installGuide(a agent) (change, error) {
	f, err := read(a.guide)
	if err != nil {
		return change{}, err
	}
	from, _, err := find(f.path, lines(f.text))
	if err != nil {
		return change{}, err
	}
	text, err := put(f.path, f.text, s.instructions(a), absent(a.dir, s.above(a.dir)...))
	if err != nil {
		return change{}, err
	}
	return f.installed(text, 0o644, from >= 0)
}

func (s *Setup) uninstallGuide(a agent, p *Plan) error {
	f, err := read(a.guide)
	if err != nil || !f.exists() {
		return p.put(change{file: f}, err)
	}
	text, n, _, err := take(f.path, f.text)
	if err != nil {
		return err
	}
	p.leave(a.dir, n.made)
	return p.put(f.uninstalled(text))
}

func (s *Setup) installSkill(a agent) (change, error) {
	f, err := read(a.skill)
	if err != nil {
		return change{}, err
	}
	ours, whole := skillIs(f.text)
	switch {
	case f.exists() && !ours:
		return change{}, words.Hint(fmt.Errorf("write %s: a skill that ccd did not write has this name", f.path), "rename it")
	case ours && !whole:
		return change{}, f.edited()
	}
	dirs := notesOf(string(f.text)).made
	if !f.exists() {
		dirs = append(absent(a.dir, append(s.above(a.dir), "skills", "skills/ccd")...), a.leftovers()...)
	}
	return f.installed([]byte(skillText(s.o.Executable, dirs)), 0o644, true)
}

func (s *Setup) uninstallSkill(a agent, p *Plan) error {
	f, err := read(a.skill)
	if err != nil {
		return err
	}
	ours, whole := skillIs(f.text)
	if ours && !whole {
		return f.edited()
	}
	p.leave(a.dir, append(notesOf(string(f.text)).made, a.leftovers()...))
	if !ours {
		return p.put(change{file: f}, nil)
	}
	return p.put(f.uninstalled(nil))
}

// leftovers returns the empty directories of a skill that was never written because install was killed: nothing else
// records that ccd made them.
func (a agent) leftovers() []string {
	dir := filepath.Dir(a.skill)
	kept := func(e os.DirEntry) bool {
		return !strings.HasPrefix(e.Name(), ".ccd-") || !strings.HasSuffix(e.Name(), ".tmp")
	}
	inner, err := os.ReadDir(dir)
	if err != nil || slices.ContainsFunc(inner, func(e os.DirEntry) bool {
		if !e.IsDir() || a.mod == "" || !slices.Contains(modDirs(a.id), e.Name()) {
			return kept(e)
		}
		deep, err := os.ReadDir(filepath.Join(dir, e.Name()))
		return err != nil || slices.ContainsFunc(deep, kept)
	}) {
		return nil
	}
	if outer, err := os.ReadDir(filepath.Join(a.dir, "skills")); err != nil || len(outer) > 1 {
		return []string{"skills/ccd"}
	}
	return []string{"skills", "skills/ccd"}
}

// edited returns the error for a skill of ccd's that the user changed.
func (f file) edited() error {
	return words.Hint(fmt.Errorf("read %s: it was changed since ccd wrote it", f.path), "save your changes elsewhere, then: rm %s", transcript.ShellWord(f.path))
}
