package transcript

import (
	"iter"
	"path"
	"strings"
)

// The paths in a transcript are those of the machine that wrote it, which need not be this one. All that joins, cuts or
// compares them is in this file: package filepath knows the paths of this machine only.

// IsAbs reports whether a path is absolute, on any system.
func IsAbs(p string) bool { return strings.HasPrefix(p, "/") || isWindows(p) }

// isWindows reports whether a path begins with a drive or a share.
func isWindows(p string) bool { return isDrive(p) || strings.HasPrefix(p, `\\`) }

func isDrive(p string) bool {
	return len(p) > 2 && isLetter(p[0]) && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// slashed is a path with slashes only.
func slashed(p string) string { return strings.ReplaceAll(p, `\`, "/") }

// cleanWindows gives an absolute path of Windows its one form: backslashes, a capital drive letter, no needless elements,
// and not the \\?\ that some programs put in front.
func cleanWindows(p string) string {
	p = slashed(p)
	if verbatim, ok := strings.CutPrefix(p, "//?/"); ok {
		if share, ok := strings.CutPrefix(verbatim, "UNC/"); ok {
			p = "//" + share
		} else if isDrive(verbatim) {
			p = verbatim
		}
	}
	root, rest := "/", p[1:]
	if isDrive(p) {
		root, rest = strings.ToUpper(p[:2]), p[2:]
	}
	return strings.ReplaceAll(root+path.Clean(rest), "/", `\`)
}

// joinPath is p as seen from dir, which may be relative or "", without needless elements. A path below a directory of
// Windows is written as Windows does.
func joinPath(dir, p string) string {
	switch {
	case p == "" || strings.HasPrefix(p, "~"):
		return p
	case isWindows(p):
		return cleanWindows(p)
	case isWindows(dir):
		return joinWindows(dir, p)
	case strings.HasPrefix(p, "/"):
		return path.Clean(p)
	}
	return path.Join(dir, p)
}

// joinWindows is joinPath below a directory of Windows. Git Bash writes C:\x as /c/x.
func joinWindows(dir, p string) string {
	switch {
	case strings.HasPrefix(p, "//"):
		return cleanWindows(p)
	case len(p) > 1 && p[0] == '/' && isLetter(p[1]) && (len(p) == 2 || p[2] == '/'):
		return cleanWindows(p[1:2] + ":/" + p[2:])
	case p[0] == '/':
		return path.Clean(p)
	case p[0] == '\\' && isDrive(dir):
		return cleanWindows(dir[:2] + p)
	}
	return cleanWindows(dir + "/" + p)
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
// Action.Resolve names files, and the form that the functions below take.
func Join(dir, p string) string { return joinPath(dir, p) }

// separators are what divides the elements of a path: in an absolute path of Unix a backslash is part of a name.
func separators(p string) string {
	if strings.HasPrefix(p, "/") {
		return "/"
	}
	return `/\`
}

// Base is the last element of a path.
func Base(p string) string { return p[strings.LastIndexAny(p, separators(p))+1:] }

// PathKey is equal for two paths of one file: Windows does not tell capital letters from small ones.
func PathKey(p string) string {
	if isWindows(p) {
		return strings.ToLower(p)
	}
	return p
}

// SamePath reports whether two paths name one file.
func SamePath(a, b string) bool { return a == b || isWindows(a) && PathKey(a) == PathKey(b) }

// Below returns what of a path comes behind a directory and its separator. ok is false where it does not lie below it.
func Below(p, dir string) (rest string, ok bool) {
	n := len(dir)
	if n == 0 || len(p) <= n || !SamePath(p[:n], dir) {
		return "", false
	}
	rest = p[n:]
	if seps := separators(p); strings.IndexByte(seps, dir[n-1]) < 0 { // but for a root, which ends with one
		if strings.IndexByte(seps, rest[0]) < 0 {
			return "", false
		}
		rest = rest[1:]
	}
	return rest, rest != ""
}

// EndsWith reports whether the last elements of a path are those of tail.
func EndsWith(p, tail string) bool {
	if isWindows(p) {
		p, tail = strings.ToLower(p), strings.ToLower(tail)
	}
	if separators(p) != "/" {
		p, tail = slashed(p), slashed(tail)
	}
	return strings.HasSuffix(p, "/"+path.Clean(tail))
}

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
