package setup

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"ccd/internal/words"
)

// A mod is a plugin of the client's that runs in it: it has ccd answer the compaction of a session. It has three files in the
// skill's folder, each with a checksum of its text.

//go:embed mod/plugin.json
var modPlugin string

//go:embed mod/hooks.json
var modHooks string

//go:embed mod/register.js
var modCode string

// modFile is one of its files, below the mod's folder.
type modFile struct{ name, text string }

// modDirs are the directories of its files.
var modDirs = []string{".claude-plugin", "hooks"}

// modFiles returns the files of a mod that calls this binary.
func (s *Setup) modFiles(a agent) []modFile {
	argv := []string{s.o.Executable, "hook", "SessionCompact", "--agent", a.id}
	if s.o.Config != "" {
		argv = append(argv, "--config", s.o.Config)
	}
	command, err := json.Marshal(argv)
	if err != nil {
		command = []byte("[]") // strings always have a JSON form
	}
	return []modFile{
		{".claude-plugin/plugin.json", signed(modPlugin)},
		{"hooks/hooks.json", signed(modHooks)},
		{"hooks/register.js", signed(strings.Replace(modCode, "COMMAND", string(command), 1))},
	}
}

// unsigned stands in a text where its checksum will be.
const unsigned = "CHECKSUM"

func signed(text string) string {
	return strings.Replace(text, unsigned, sum(lines([]byte(text))), 1)
}

var signature = regexp.MustCompile("written by ccd agents install, ([0-9a-f]{12})")

// modIs reports whether a text is a mod's of ccd, and whether it is as ccd wrote it.
func modIs(text []byte) (ours, whole bool) {
	m := signature.FindSubmatchIndex(text)
	if m == nil {
		return false, false
	}
	return true, sum(lines([]byte(string(text[:m[2]])+unsigned+string(text[m[3]:])))) == string(text[m[2]:m[3]])
}

// installMod plans to write the mod, or to remove it if live.compaction is false.
func (s *Setup) installMod(a agent, p *Plan) error {
	if !s.o.Compaction {
		return s.uninstallMod(a, p)
	}
	for _, m := range s.modFiles(a) {
		f, err := read(filepath.Join(a.mod, filepath.FromSlash(m.name)))
		if err != nil {
			return err
		}
		ours, whole := modIs(f.text)
		switch {
		case f.exists() && !ours:
			return words.Hint(fmt.Errorf("write %s: a plugin that ccd did not write has this name", f.path), "rename it")
		case ours && !whole:
			return f.edited()
		}
		if err := p.put(f.installed([]byte(m.text), 0o644, true)); err != nil {
			return err
		}
	}
	return nil
}

// uninstallMod plans to remove the mod, of any binary.
func (s *Setup) uninstallMod(a agent, p *Plan) error {
	for _, m := range s.modFiles(a) {
		f, err := read(filepath.Join(a.mod, filepath.FromSlash(m.name)))
		if err != nil {
			return err
		}
		ours, whole := modIs(f.text)
		switch {
		case ours && !whole:
			return f.edited()
		case !ours:
			err = p.put(change{file: f}, nil)
		default:
			err = p.put(f.uninstalled(nil))
		}
		if err != nil {
			return err
		}
	}
	p.leave(a.mod, modDirs)
	return nil
}

// modPart returns the state of the mod: one file that differs makes all of it differ.
func (s *Setup) modPart(a agent, st *Status) Part {
	p := Part{Name: "mod", File: filepath.Join(a.mod, "hooks", "register.js"), State: Missing, Option: !s.o.Compaction}
	var there []string
	same := true
	all := s.modFiles(a)
	for _, m := range all {
		f, err := read(filepath.Join(a.mod, filepath.FromSlash(m.name)))
		if err != nil {
			p.unread(err)
			return p
		}
		if !f.exists() {
			continue
		}
		there = append(there, m.name)
		same = same && string(f.text) == m.text
		if _, line, ok := strings.Cut(string(f.text), "\nconst CCD = "); ok {
			var argv []string
			line, _, _ = strings.Cut(line, "\n")
			if json.Unmarshal([]byte(line), &argv) == nil && len(argv) > 0 {
				st.name(s, argv[0])
			}
		}
	}
	p.set(there, len(all), same)
	if !s.o.Compaction && len(there) > 0 {
		p.State, p.Detail = Other, "live.compaction is false"
	}
	return p
}
