package transcript

import (
	"iter"
	"path"
	"strings"
)

// isAbs reports whether a path is absolute, on any system.
func isAbs(p string) bool { return strings.HasPrefix(p, "/") || isWindows(p) }

// isWindows reports whether a path begins with a drive or a share.
func isWindows(p string) bool {
	if len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') {
		return p[0] >= 'a' && p[0] <= 'z' || p[0] >= 'A' && p[0] <= 'Z'
	}
	return strings.HasPrefix(p, `\\`)
}

// joinPath is p as seen from dir, which may be relative or "", without needless elements. A path below a directory of
// Windows is written as Windows does.
func joinPath(dir, p string) string {
	switch {
	case p == "" || strings.HasPrefix(p, "~"):
		return p
	case isWindows(p):
		return p
	case strings.HasPrefix(p, "/"):
		return path.Clean(p)
	case isWindows(dir):
		joined := path.Join(strings.ReplaceAll(dir, `\`, "/"), strings.ReplaceAll(p, `\`, "/"))
		if strings.HasPrefix(dir, `\\`) {
			joined = "/" + joined
		}
		return strings.ReplaceAll(joined, "/", `\`)
	}
	return path.Join(dir, p)
}

// joinDir is joinPath for where something runs: "" is where that cannot be told from the beginning.
func joinDir(dir, p string) string {
	switch joined := joinPath(dir, p); joined {
	case "":
		return dir
	case ".":
		return ""
	default:
		return joined
	}
}

// Join is a path as seen from a directory, without needless elements: the path itself where it is absolute. It is how
// Action.Resolve names files.
func Join(dir, p string) string { return joinPath(dir, p) }

// Resolve makes the paths of the action absolute, seen from where the call runs: Dir below cwd, the working directory of
// the session at that time. Then they name the same files as the absolute paths of other calls. Dir becomes where the
// call runs. What cannot be told stays relative. On Windows, whose shells end with 0 whatever became of a command,
// only silence proves a change.
func (a *Action) Resolve(cwd string) {
	a.Dir = joinDir(cwd, a.Dir)
	for i := range a.Files {
		f := &a.Files[i]
		f.Path = joinPath(a.Dir, f.Path)
		if f.To != "" {
			f.To = joinPath(a.Dir, f.To)
		}
		if a.Op == Command && isWindows(a.Dir) && f.Proof == Success {
			f.Proof = Silence
		}
	}
}

// Changes gives those of the action's files that the outcome proves to be changed or read, with their places in Files.
// What a command may have changed is given as Other; of a call that was refused, or that failed as a whole, nothing.
func (a *Action) Changes(o *Outcome) iter.Seq2[int, FileChange] {
	return func(yield func(int, FileChange) bool) {
		if o.Rejected || (a.Op != Command && o.Failed) {
			return
		}
		silent := a.Op == Command && len(a.Files) > 0 && o.silent()
		for i, f := range a.Files {
			if a.Op == Command && !o.proves(f.Proof, silent) {
				if f.Op == Read {
					continue
				}
				f = FileChange{Op: Other, Path: f.Path, Tree: f.Tree, Proof: Always}
			}
			if !yield(i, f) {
				return
			}
		}
	}
}

// proves reports whether a change of a command has been made.
func (o *Outcome) proves(p Proof, silent bool) bool {
	return p != Always && o.HasExit && o.Exit == 0 && !o.Running && !o.Failed && (p == Success || silent)
}

// silent reports whether an output is whole and nothing in it complains.
func (o *Outcome) silent() bool {
	if o.Spilled != "" {
		return false
	}
	text := strings.ToLower(o.Text)
	for _, word := range complaints {
		if strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// complaints are what tools say of files that they could not change, and what clients say of an output that they cut.
var complaints = []string{
	"cannot ", "can't ", "no such ", "not found", "denied", "not permitted", "not a directory", "is a directory", "fatal", "error", "failed",
	"read-only", "no space", "not overwr", "did not match", "invalid option", "illegal option", "usage:", "missing operand",
	"truncated", "omitted",
}
