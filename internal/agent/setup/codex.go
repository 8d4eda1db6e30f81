package setup

import (
	"path/filepath"
)

func (s *Setup) hooksFile() string { return filepath.Join(s.codex, "hooks.json") }

func (s *Setup) instructionsFile() string { return filepath.Join(s.codex, "AGENTS.md") }

func (s *Setup) configuration() string { return filepath.Join(s.codex, "config.toml") }

// trust is what a user of Codex must know.
const trust = "Codex runs new or changed hooks only once you trust them: open /hooks in codex. Until then, and in `codex exec`, it skips them" +
	" without a word (`codex exec --dangerously-bypass-hook-trust` runs them all)."

func (s *Setup) installCodex() (*Plan, error) {
	p := &Plan{}
	for _, step := range []func() (change, error){s.installHooks, s.installInstructions, s.installConfiguration} {
		if err := p.put(step()); err != nil {
			return nil, err
		}
	}
	p.Notes = append(p.Notes, trust)
	if override := filepath.Join(s.codex, "AGENTS.override.md"); alreadyThere(override) {
		p.Notes = append(p.Notes, "Codex reads "+override+" instead of AGENTS.md: what ccd wrote there is not seen.")
	}
	return p, nil
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
	all := lines(f.text)
	from, _, err := instructions().find(f.path, all)
	if err != nil {
		return change{}, err
	}
	dirs := absent(s.codex, ".")
	if from >= 0 {
		dirs = made([]byte(all[from]))
	}
	text, err := instructions().put(f.path, f.text, instructionLines(s.o.Executable, dirs))
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

func (s *Setup) uninstallHooks(*Plan) (change, error) {
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
	text, found, err := instructions().take(f.path, f.text)
	if err != nil {
		return change{}, err
	}
	if all := lines(f.text); found {
		from, _, _ := instructions().find(f.path, all)
		for _, dir := range made([]byte(all[from])) {
			p.rooms = append(p.rooms, filepath.Join(s.codex, dir))
		}
	}
	return f.uninstalled(text)
}

func (s *Setup) uninstallConfiguration(*Plan) (change, error) {
	f, err := read(s.configuration())
	if err != nil || !f.exists() {
		return change{file: f}, err
	}
	text, err := takeServer(f.path, f.text)
	if err != nil {
		return change{}, err
	}
	return f.uninstalled(text)
}
