package setup

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"ccd/internal/words"
)

// A mod is a plugin that runs in the client: it has ccd answer the compactions of a session and, where the client allows,
// replace long outputs. Each of its files has a checksum of its text.

//go:embed all:mod
var mods embed.FS

// Mod says what an agent's mod asks ccd for.
type Mod struct {
	Compaction bool // the new context of a compaction
	Output     int  // an excerpt of an output of so many chars, 0: never
	Idle       int  // old results to be shortened between turns, from that percentage of the window; 0: never
}

// none reports whether no mod is needed.
func (m Mod) none() bool { return !m.Compaction && m.Output == 0 }

// modFile is one of its files, below the mod's folder.
type modFile struct{ name, text string }

// modFiles returns the files of a mod that calls this binary.
func (s *Setup) modFiles(a agent) (all []modFile) {
	argv := []string{s.o.Executable, "hook", "--agent", a.id}
	if s.o.Config != "" {
		argv = append(argv, "--config", s.o.Config)
	}
	command, err := json.Marshal(argv)
	if err != nil {
		command = []byte("[]") // strings always have a JSON form
	}
	fill := strings.NewReplacer("COMMAND", string(command), "OUTPUT", strconv.Itoa(s.o.Mod.Output), "IDLE", strconv.Itoa(s.o.Mod.Idle))
	walkMod(a.id, func(name string, dir bool) {
		if text, err := mods.ReadFile(path.Join("mod", a.id, name)); !dir && err == nil {
			all = append(all, modFile{name, signed(fill.Replace(string(text)))})
		}
	})
	return all
}

// modDirs returns the directories of an agent's mod below its folder, outer ones first.
func modDirs(agent string) (dirs []string) {
	walkMod(agent, func(name string, dir bool) {
		if dir {
			dirs = append(dirs, name)
		}
	})
	return dirs
}

func walkMod(agent string, each func(name string, dir bool)) {
	root := path.Join("mod", agent)
	_ = fs.WalkDir(mods, root, func(name string, d fs.DirEntry, err error) error { // it cannot fail: the files are in the binary
		if err == nil && name != root {
			each(strings.TrimPrefix(name, root+"/"), d.IsDir())
		}
		return err
	})
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

// installMod plans to write the mod, or to remove it if the configuration wants none.
func (s *Setup) installMod(a agent, p *Plan) error {
	if s.o.Mod.none() {
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
	if a.skill == "" { // that folder is the skill's
		p.leave(a.mod, []string{"..", "."})
	}
	p.leave(a.mod, modDirs(a.id))
	return nil
}

// modPart returns the state of the mod: one file that differs makes all of it differ.
func (s *Setup) modPart(a agent, st *Status) Part {
	p := Part{Name: "mod", File: a.mod, State: Missing, Option: s.o.Mod.none()}
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
	if p.Option && len(there) > 0 {
		p.State, p.Detail = Other, "the configuration wants none"
	}
	return p
}
