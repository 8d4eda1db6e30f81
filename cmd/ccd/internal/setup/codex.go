package setup

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

func (s *Setup) hooksFile() string { return filepath.Join(s.codex, "hooks.json") }

func (s *Setup) instructionsFile() string { return filepath.Join(s.codex, "AGENTS.md") }

func (s *Setup) configuration() string { return filepath.Join(s.codex, "config.toml") }

// What a user of Codex must know.
const (
	shifted = "Codex notes which hooks you trust by their place, and hooks of yours that stood behind ccd's have moved up: type /hooks in codex and" +
		" look at them again. Until then it skips them without a word."
	untrusted = "Codex runs new or changed hooks only once you trust them: type /hooks in codex. Until then it skips them without a word, in" +
		" `codex exec` too (`codex exec --dangerously-bypass-hook-trust` runs them all the same)."
	trusted = "Codex has noted that you trust these hooks; where one was changed since, it skips it until you look at /hooks again."
)

func (s *Setup) installCodex() (*Plan, error) {
	p := &Plan{}
	for _, step := range []func() (change, error){s.installHooks, s.installInstructions, s.installConfiguration} {
		if err := p.put(step()); err != nil {
			return nil, err
		}
	}
	if p.changes[0].write { // the hooks
		p.Notes = append(p.Notes, untrusted)
	}
	p.Notes = append(p.Notes, s.codexNotes()...)
	return p, nil
}

// codexNotes tell what keeps Codex from seeing what is installed.
func (s *Setup) codexNotes() (notes []string) {
	if override := filepath.Join(s.codex, "AGENTS.override.md"); alreadyThere(override) {
		notes = append(notes, "Codex reads "+override+" instead of AGENTS.md: what ccd wrote there is not seen.")
	}
	f, err := read(s.configuration())
	if err != nil {
		return notes
	}
	all, err := values(f.path, f.text)
	if err != nil {
		return notes
	}
	if features, _ := all["features"].(map[string]any); features["hooks"] == false {
		notes = append(notes, f.path+" switches hooks off (features.hooks): none of ccd's run.")
	}
	return notes
}

// noted are the names under which Codex notes that its user trusts ccd's hooks: the file, the event, the places.
func (s *Setup) noted() (all []string) {
	d, err := document0(s.hooksFile())
	if err != nil {
		return nil
	}
	for _, c := range d.calls() {
		all = append(all, s.notedAs(c)...)
	}
	return all
}

// notedAs are the names that Codex may note a hook at that place under.
func (s *Setup) notedAs(c call) (all []string) {
	files := []string{s.hooksFile()}
	if real, err := filepath.EvalSymlinks(s.hooksFile()); err == nil && real != files[0] {
		files = append(files, real)
	}
	for _, file := range files {
		all = append(all, fmt.Sprintf("%s:%s:%d:%d", file, snake(c.event), c.group, c.at))
	}
	return all
}

// shifts reports whether a hook that the user trusts, as Codex's notes tell, comes to another place where ccd's go: one
// that stands behind one of them.
func (s *Setup) shifts(d *document, notes map[string]any) bool {
	ours := s.noted()
	for _, c := range d.calls() {
		groups := d.root.get("hooks", c.event).values
		for g := c.group; g < len(groups); g++ {
			for h := range groups[g].get("hooks").all() {
				for _, name := range s.notedAs(call{event: c.event, group: g, at: h}) {
					if _, known := notes[name]; known && !slices.Contains(ours, name) && (g > c.group || h > c.at) {
						return true
					}
				}
			}
		}
	}
	return false
}

// snake writes an event as Codex's notes do: session_start.
func snake(event string) string {
	var b strings.Builder
	for i, r := range event {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func (s *Setup) installHooks() (change, error) {
	f, err := read(s.hooksFile())
	if err != nil {
		return change{}, err
	}
	d, before, err := f.document()
	if err != nil {
		return change{}, err
	}
	ours := len(d.calls()) > 0
	if err := d.hook(events(), s.line(Codex), before); err != nil {
		return change{}, err
	}
	return f.installed(d.text, 0o600, ours)
}

func (s *Setup) installInstructions() (change, error) {
	f, err := read(s.instructionsFile())
	if err != nil {
		return change{}, err
	}
	from, _, err := find(f.path, lines(f.text))
	if err != nil {
		return change{}, err
	}
	text, err := put(f.path, f.text, instructionLines(s.o.Executable), absent(s.codex, "."))
	if err != nil {
		return change{}, err
	}
	return f.installed(text, 0o644, from >= 0)
}

func (s *Setup) installConfiguration() (change, error) {
	f, err := read(s.configuration())
	if err != nil {
		return change{}, err
	}
	text, ours, err := s.putServer(f.path, f.text)
	if err != nil {
		return change{}, err
	}
	return f.installed(text, 0o600, ours)
}

func (s *Setup) uninstallCodex() (*Plan, error) {
	p := &Plan{}
	for _, step := range []func(*Plan) (change, error){s.uninstallHooks, s.uninstallInstructions, s.uninstallConfiguration} {
		if err := p.put(step(p)); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (s *Setup) uninstallHooks(p *Plan) (change, error) {
	f, err := read(s.hooksFile())
	if err != nil || !f.exists() {
		return change{file: f}, err
	}
	d, before, err := f.document()
	if err != nil {
		return change{}, err
	}
	if before != nil && len(before.calls()) > 0 {
		before = nil
	}
	if err := d.certain(d.holdsHook); err != nil {
		return change{}, err
	}
	if config, err := read(s.configuration()); err == nil {
		if all, err := values(config.path, config.text); err == nil && s.shifts(d, state(all)) {
			p.Notes = append(p.Notes, shifted)
		}
	}
	if err := d.unhook(func(call) bool { return false }, before); err != nil {
		return change{}, err
	}
	return f.uninstalled(d.text)
}

func (s *Setup) uninstallInstructions(p *Plan) (change, error) {
	f, err := read(s.instructionsFile())
	if err != nil || !f.exists() {
		return change{file: f}, err
	}
	text, n, _, err := take(f.path, f.text)
	if err != nil {
		return change{}, err
	}
	for _, dir := range n.made {
		p.rooms = append(p.rooms, filepath.Join(s.codex, dir))
	}
	return f.uninstalled(text)
}

func (s *Setup) uninstallConfiguration(*Plan) (change, error) {
	f, err := read(s.configuration())
	if err != nil || !f.exists() {
		return change{file: f}, err
	}
	text, err := s.takeTables(f.path, f.text, s.noted())
	if err != nil {
		return change{}, err
	}
	return f.uninstalled(text)
}
