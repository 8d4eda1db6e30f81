package scorecard

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// paths has the files that were touched, in order of appearance.
type paths struct {
	by  map[string]*file
	all []*file
}

// file is a path and what happened to it last.
type file struct {
	name    string
	class   Class
	sources []source
}

var removal = lazy(`(?:^|&&|;)\s*(?:git )?rm((?:\s+[^\s;&|<>*?$'"` + "`" + `(){}]+)+)\s*(?:$|&&|;)`)

// removed returns the paths that a shell command certainly removes: plain words after a plain rm, in the directory that
// it starts in.
func removed(command string) (paths []string) {
	if strings.Contains(command, "cd ") || !strings.Contains(command, "rm ") {
		return nil
	}
	for _, m := range removal().FindAllStringSubmatch(command, -1) {
		for _, w := range strings.Fields(m[1]) {
			if !strings.HasPrefix(w, "-") {
				paths = append(paths, w)
			}
		}
	}
	return paths
}

// addFiles adds the files that a call touched.
func (f *Facts) addFiles(a *transcript.Action, out *transcript.Outcome) {
	for _, p := range removed(a.Command) {
		f.touchFile(a.Dir, p, Deleted)
	}
	for _, one := range a.Changes(out) {
		switch one.Op {
		case transcript.Write, transcript.Edit:
			f.touchFile(a.Dir, one.Path, Edited)
		case transcript.Delete:
			f.touchFile(a.Dir, one.Path, Deleted)
		case transcript.Rename:
			f.touchFile(a.Dir, one.Path, Deleted)
			f.touchFile(a.Dir, one.To, Edited)
		}
	}
}

// slash returns a text with slashes in its paths, for comparing them. Backslashes of Windows may be doubled, as in
// JSON.
func slash(text string) string { return slashes.Replace(text) }

var slashes = strings.NewReplacer(`\\`, "/", `\`, "/")

// touchFile records what happened to a file. A relative path is below dir, or below the working directory if dir is
// empty.
func (f *Facts) touchFile(dir, name string, class Class) {
	if name == "" {
		return
	}
	if !transcript.IsAbs(dir) && len(f.dirs) > 0 {
		dir = transcript.Join(f.dirs[len(f.dirs)-1], cmp.Or(dir, "."))
	}
	name = transcript.Join(dir, name)
	key := transcript.PathKey(name)
	p := f.paths.by[key]
	if p == nil {
		if len(f.paths.all) >= maxFacts {
			return
		}
		p = &file{name: strings.Clone(name)}
		f.paths.by[key] = p
		f.paths.all = append(f.paths.all, p)
	}
	p.class = class
	p.sources = seen(p.sources, f.at)
}

// forms returns the ways to write a path, with slashes: relative to a working directory, absolute, or, of a path
// elsewhere, its last directory and name. shown is the first of them as the agent's system writes it.
func (f *Facts) forms(name string) (shown string, all []string) {
	for _, d := range f.dirs {
		if rel, ok := transcript.Below(name, d); ok {
			if all = append(all, slash(rel)); shown == "" || len(rel) < len(shown) {
				shown = rel
			}
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	abs := slash(name)
	if len(all) == 0 && transcript.IsAbs(name) {
		all = append(all, path.Join(path.Base(path.Dir(abs)), path.Base(abs)))
	}
	all = append(all, strings.TrimPrefix(abs, "./"))
	return cmp.Or(shown, all[0]), all
}
