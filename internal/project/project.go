// Package project decides which directories belong to one project: a git repository with all its worktrees or, without
// git, a directory and those below it.
// It reads `.git` files and directories itself and starts no process. A directory joins a repository only if each names the
// other, so that a file written into one project cannot make that project part of another, or another part of it. A directory
// that no longer exists names none: what a repository says of it is no proof.
package project

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Project is the project of a directory.
type Project struct {
	dir   string // real path
	tree  string // the working tree that dir is in, "" without git
	alone bool   // directories below dir do not belong to the project
	repo  string // the repository of dir, "" for none
	known map[string]bool
}

// Of returns the project of dir. The home directory and those above it contain all projects of a user, so without git
// their project does not include directories below them.
func Of(dir, home string) *Project {
	p := &Project{dir: real(dir), known: map[string]bool{}}
	p.repo, p.tree = repository(p.dir)
	p.alone = within(real(home), p.dir)
	return p
}

// Named reports of directories whether they are in the named project: that of an absolute path, or of a relative one that begins with . or ..,
// else each whose path has the elements of the name, in any case and perhaps without those that begin with a dot. "" names all.
func Named(name, here, home string) func(dir string) bool {
	slashed := func(path string) string { return strings.ToLower(strings.ReplaceAll(path, `\`, "/")) }
	first, _, _ := strings.Cut(slashed(name), "/")
	switch {
	case name == "":
		return func(string) bool { return true }
	case first == "." || first == ".." || filepath.IsAbs(name):
		if !filepath.IsAbs(name) {
			name = filepath.Join(here, name)
		}
		return Of(name, home).Has
	}
	has := func(elements []string) bool {
		return strings.Contains("/"+strings.Join(elements, "/")+"/", "/"+path.Clean(slashed(name))+"/")
	}
	return func(dir string) bool {
		elements := strings.Split(slashed(dir), "/")
		return has(elements) || has(slices.DeleteFunc(elements, func(e string) bool { return strings.HasPrefix(e, ".") })) // as lists name a worktree
	}
}

// Has reports whether dir belongs to the project. A directory that was removed belongs to it if it was below one of its
// working trees, or in one of the usual places for them. A path that is not absolute belongs to no project.
func (p *Project) Has(dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	has, ok := p.known[dir]
	if !ok {
		has = p.has(real(dir))
		p.known[dir] = has
	}
	return has
}

// InTree reports whether dir belongs to the project and, with git, to the same worktree as the project's directory.
func (p *Project) InTree(dir string) bool {
	if !p.Has(dir) {
		return false
	}
	_, tree := repository(real(dir))
	return tree == p.tree
}

func (p *Project) has(dir string) bool {
	switch {
	case p.repo == "" && p.alone:
		return dir == p.dir
	case p.repo == "":
		return within(dir, p.dir)
	}
	repo, _ := repository(dir)
	return repo == p.repo || repo == "" && p.usual(dir)
}

// usual reports whether a missing dir is in one of the usual places for worktrees. Git forgets the path of a worktree
// that it removes.
func (p *Project) usual(dir string) bool {
	root := filepath.Dir(p.repo)
	return filepath.Base(p.repo) == ".git" && !exists(dir) && (within(dir, root+".worktrees") || within(dir, root+"-worktrees"))
}

// Instead returns the main directory of the repository that a directory belonged to which is gone: it was a worktree below it, or
// in REPOSITORY.worktrees or REPOSITORY-worktrees. It returns "" for a directory that exists, and if there is none.
func Instead(dir string) string {
	for up := dir; !exists(dir) && up != filepath.Dir(up); up = filepath.Dir(up) {
		for _, suffix := range []string{".worktrees", "-worktrees"} {
			if root, ok := strings.CutSuffix(up, suffix); ok && at(root) != "" {
				return root
			}
		}
		if exists(up) {
			repo, tree := repository(up)
			if filepath.Base(repo) == ".git" {
				tree = filepath.Dir(repo)
			}
			return tree
		}
	}
	return ""
}

// repository returns the repository of a directory, as the path that all its worktrees share, and the root of the
// directory's worktree; "" for none.
func repository(dir string) (repo, tree string) {
	for {
		if repo := at(dir); repo != "" {
			return repo, dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", ""
		}
		dir = above
	}
}

// at returns the repository of the working tree at dir, or "" if dir is none. It does not follow a `.git` that is a
// symbolic link. If `.git` leads to a repository that does not list this working tree, `.git` itself counts as the
// repository.
func at(dir string) string {
	dot := filepath.Join(dir, ".git")
	info, err := os.Lstat(dot)
	if err != nil {
		return ""
	}
	if !info.Mode().IsRegular() {
		return dot
	}
	to, ok := strings.CutPrefix(line(dot), "gitdir:")
	if !ok {
		return dot
	}
	to = real(from(dir, strings.TrimSpace(to)))
	trees := filepath.Dir(to)
	switch {
	case filepath.Base(trees) == "worktrees" && tree(to) == dir:
		return filepath.Dir(trees)
	case within(to, dir): // a bare repository inside dir
		return to
	}
	return dot
}

// tree returns the path recorded for one of a repository's worktrees, "" if none.
func tree(worktree string) string {
	dot := line(filepath.Join(worktree, "gitdir"))
	if dot == "" {
		return ""
	}
	return real(filepath.Dir(from(worktree, dot)))
}

// line returns the text of a small file without its newline, "" if it cannot be read.
func line(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() { // opening a pipe could wait forever
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 8192))
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(text), "\r\n")
}

// from resolves a path relative to dir.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// real resolves symbolic links. For a missing path it resolves the existing part.
func real(path string) string {
	path = filepath.Clean(path)
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	above := filepath.Dir(path)
	if above == path {
		return path
	}
	return filepath.Join(real(above), filepath.Base(path))
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// Find returns what a directory of another machine is in the working tree of dir: from is the root of the other machine's tree, as
// a path of that machine, to that of dir's, and here the directory in it. The tree's name is an element of the directory's path.
// here is "" if there is no such tree, or it lacks the directory.
func Find(dir, other string) (from, to, here string) {
	_, tree := repository(real(dir))
	parts := func(r rune) bool { return r == '/' || r == '\\' && !strings.HasPrefix(other, "/") }
	for end := 0; tree != "" && end <= len(other); end++ {
		if end < len(other) && !parts(rune(other[end])) || other[strings.LastIndexFunc(other[:end], parts)+1:end] != filepath.Base(tree) {
			continue
		}
		if here = below(tree, strings.FieldsFunc(other[end:], parts)); here != "" {
			return other[:end], tree, here
		}
	}
	return "", "", ""
}

// below returns a directory of a tree, "" if the tree lacks it.
func below(tree string, elements []string) string {
	dir := filepath.Join(append([]string{tree}, elements...)...)
	info, err := os.Stat(dir)
	if slices.Contains(elements, "..") || err != nil || !info.IsDir() || !within(real(dir), tree) {
		return ""
	}
	return dir
}
