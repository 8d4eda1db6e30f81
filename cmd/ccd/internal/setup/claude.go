package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// skillName is the name of every skill's file.
const skillName = "SKILL.md"

func (s *Setup) settings() string { return filepath.Join(s.claude, "settings.json") }

func (s *Setup) skill() string { return filepath.Join(s.claude, "skills", "ccd", skillName) }

// state is the file that the client keeps its servers in: an old one in its directory, where there is one, else one in
// the home directory, unless its directory was moved.
func (s *Setup) state() string {
	if old := filepath.Join(s.claude, ".config.json"); alreadyThere(old) {
		return old
	}
	if s.o.Getenv("CLAUDE_CONFIG_DIR") != "" {
		return filepath.Join(s.claude, ".claude.json")
	}
	return filepath.Join(s.o.Home, ".claude.json")
}

func alreadyThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func (s *Setup) installClaude() (*Plan, error) {
	p := &Plan{}
	for _, step := range []func() (change, error){s.installSettings, s.installServer, s.installSkill} {
		if err := p.put(step()); err != nil {
			return nil, err
		}
	}
	p.Notes = append(append(p.Notes, "Sessions of Claude Code that start from now on use it."), s.claudeNotes()...)
	return p, nil
}

// claudeNotes tell what keeps Claude Code from using what is installed.
func (s *Setup) claudeNotes() []string {
	d, err := document0(s.settings())
	if err != nil || d.root.get("disableAllHooks") == nil || d.root.get("disableAllHooks").kind != 't' {
		return nil
	}
	return []string{s.settings() + " switches all hooks off (disableAllHooks): none of ccd's run."}
}

func (s *Setup) installSettings() (change, error) {
	f, err := read(s.settings())
	if err != nil {
		return change{}, err
	}
	text, ours, err := s.putSettings(f)
	if err != nil {
		return change{}, err
	}
	return f.installed(text, 0o600, ours)
}

// putSettings returns a text of settings with ccd's hooks and rules; ours tells whether hooks of ccd's were there.
func (s *Setup) putSettings(f file) (text []byte, ours bool, err error) {
	d, before, err := f.document()
	if err != nil {
		return nil, false, err
	}
	if before != nil && len(before.calls()) > 0 {
		before = nil // not from before ccd
	}
	had := d.calls()
	if err := d.hook(s.wanted(had), s.line(Claude), before); err != nil {
		return nil, false, err
	}
	if err := s.renew(d, had, before); err != nil {
		return nil, false, err
	}
	if s.o.Allow {
		if err := d.grant(s.rules()); err != nil {
			return nil, false, err
		}
	}
	return d.text, len(had) > 0, nil
}

// wanted are the events of Claude Code's that shall call ccd; had is what calls it now.
func (s *Setup) wanted(had []call) []event {
	want := events()
	on := len(linesOf(had, live().name)) > 0
	if s.o.Live != nil {
		on = *s.o.Live
	}
	if on {
		want = append(want, live())
	}
	return want
}

func (s *Setup) installServer() (change, error) {
	f, err := read(s.state())
	if err != nil {
		return change{}, err
	}
	f.state = true
	text, ours, err := s.putState(f)
	if err != nil {
		return change{}, err
	}
	return f.installed(text, 0o600, ours)
}

func (s *Setup) putState(f file) (text []byte, ours bool, err error) {
	d, _, err := f.document()
	if err != nil {
		return nil, false, err
	}
	ours, err = s.serve(d)
	return d.text, ours, err
}

// serve puts the MCP server into the client's state; ours tells whether one of ccd's was there.
func (s *Setup) serve(d *document) (ours bool, err error) {
	if err := d.check('{', "mcpServers", "ccd"); err != nil {
		return false, err
	}
	n := d.root.get("mcpServers", "ccd")
	if n == nil {
		return false, d.add(object{{"type", "stdio"}, {"command", s.o.Executable}, {"args", listOf(s.arguments()...)}, {"env", object{}}}, "mcpServers", "ccd")
	}
	if err := d.single(); err != nil {
		return false, err
	}
	if _, ok := s.server(d, n); !ok {
		return false, hinted(fmt.Errorf("read %s:%d: %w", d.path, d.line(n.at), errNotOurs), "claude mcp remove ccd")
	}
	if d.string(n.get("command")) != s.o.Executable {
		if err := d.set(n.get("command"), s.o.Executable); err != nil {
			return true, err
		}
	}
	n = d.root.get("mcpServers", "ccd", "args")
	if args, _ := d.strings(n); !slices.Equal(args, s.arguments()) {
		return true, d.set(n, listOf(s.arguments()...))
	}
	return true, nil
}

// server tells which binary an MCP server of ccd's starts; false where it is not one.
func (s *Setup) server(d *document, n *node) (binary string, ok bool) {
	args, ok := d.strings(n.get("args"))
	binary = d.string(n.get("command"))
	return binary, ok && s.serves(binary, args)
}

// absent returns which of an agent's directories are not there.
func absent(root string, dirs ...string) (all []string) {
	for _, dir := range dirs {
		if !alreadyThere(filepath.Join(root, dir)) {
			all = append(all, dir)
		}
	}
	return all
}

// leftovers are the directories of a skill that was never written, because install was killed before: the skill's own,
// with nothing in it, and that around it, with nothing else in it.
func (s *Setup) leftovers() []string {
	inner, err := os.ReadDir(filepath.Dir(s.skill()))
	if err != nil || slices.ContainsFunc(inner, func(e os.DirEntry) bool {
		return !strings.HasPrefix(e.Name(), ".ccd-") || !strings.HasSuffix(e.Name(), ".tmp")
	}) {
		return nil
	}
	if outer, err := os.ReadDir(filepath.Join(s.claude, "skills")); err != nil || len(outer) > 1 {
		return []string{"skills/ccd"}
	}
	return []string{"skills", "skills/ccd"}
}

func (s *Setup) installSkill() (change, error) {
	f, err := read(s.skill())
	if err != nil {
		return change{}, err
	}
	ours, whole := skillIs(f.text)
	switch {
	case f.exists() && !ours:
		return change{}, hinted(fmt.Errorf("write %s: a skill of that name is there that is not ccd's", f.path), "give it another name")
	case ours && !whole:
		return change{}, f.edited()
	}
	dirs := notesOf(string(f.text)).made
	if !f.exists() {
		dirs = append(absent(s.claude, ".", "skills", "skills/ccd"), s.leftovers()...)
	}
	return f.installed([]byte(skillText(s.o.Executable, dirs)), 0o644, true)
}

// edited is the error for a skill of ccd's that a user has changed.
func (f file) edited() error {
	return hinted(fmt.Errorf("read %s: it is not as ccd wrote it: somebody changed it", f.path), "keep what is yours elsewhere, then: rm %s", transcript.ShellWord(f.path))
}

func (s *Setup) uninstallClaude() (*Plan, error) {
	p := &Plan{}
	for _, step := range []func() (change, error){s.uninstallSettings, s.uninstallServer} {
		if err := p.put(step()); err != nil {
			return nil, err
		}
	}
	f, err := read(s.skill())
	if err != nil {
		return p, err
	}
	ours, whole := skillIs(f.text)
	if ours && !whole {
		return nil, f.edited()
	}
	for _, dir := range append(notesOf(string(f.text)).made, s.leftovers()...) {
		p.rooms = append(p.rooms, filepath.Join(s.claude, dir))
	}
	if !ours {
		return p, p.put(change{file: f}, nil)
	}
	return p, p.put(f.uninstalled(nil))
}

func (s *Setup) uninstallSettings() (change, error) {
	f, err := read(s.settings())
	if err != nil || !f.exists() {
		return change{file: f}, err
	}
	text, err := takeSettings(f)
	if err != nil {
		return change{}, err
	}
	return f.uninstalled(text)
}

// takeSettings returns a text of settings without ccd's hooks and rules.
func takeSettings(f file) ([]byte, error) {
	d, before, err := f.document()
	if err != nil {
		return nil, err
	}
	if before != nil && len(before.calls()) > 0 {
		before = nil // not from before ccd
	}
	if err := d.certain(d.holdsHook); err != nil {
		return nil, err
	}
	had := d.calls()
	if len(had) == 0 {
		return d.text, nil // rules alone may be anyone's
	}
	if err := d.unhook(func(call) bool { return false }, before); err != nil {
		return nil, err
	}
	for _, list := range []string{allow, ask} {
		theirs := own(before, list)
		goes := func(rule string) bool { return isRule(rule, binariesOf(had)) && !slices.Contains(theirs, rule) }
		if err := d.revoke(list, goes, before); err != nil {
			return nil, err
		}
	}
	return d.text, nil
}

func (s *Setup) uninstallServer() (change, error) {
	f, err := read(s.state())
	if err != nil || !f.exists() {
		return change{file: f}, err
	}
	f.state = true
	text, err := s.takeState(f)
	if err != nil {
		return change{}, err
	}
	return f.uninstalled(text)
}

// takeState returns a text of the client's state without ccd's server.
func (s *Setup) takeState(f file) ([]byte, error) {
	d, before, err := f.document()
	if err != nil {
		return nil, err
	}
	if err := d.certain(func(n *node) bool { _, ok := s.server(d, n); return ok }); err != nil {
		return nil, err
	}
	servers := d.root.get("mcpServers")
	if _, ok := s.server(d, servers.get("ccd")); !ok {
		return d.text, nil
	}
	if err := d.cut(servers, servers.index("ccd")); err != nil {
		return nil, err
	}
	return d.text, d.prune(before, "mcpServers")
}
