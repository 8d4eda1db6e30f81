package install

import (
	"errors"
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
	if err := d.single(); err != nil {
		return err
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
func (s *Setup) unserve(d, before *document, a agent) error {
	servers := d.root.get(a.Member)
	if _, ok := s.server(d, servers.get("ccd")); !ok {
		return nil
	}
	if err := d.cut(servers, servers.index("ccd")); err != nil {
		return err
	}
	return d.prune(before, a.Member)
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
	return words.Hint(fmt.Errorf("read %s: %w", f.path, errEdited), "save your changes elsewhere, then: rm %s", transcript.ShellWord(f.path))
}

var errEdited = errors.New("it was changed since ccd wrote it")
