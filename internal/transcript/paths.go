package transcript

import (
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// The paths in a transcript belong to the machine that wrote it, which may be another one. Everything that joins,
// splits or compares them is in this file: package filepath only knows the paths of this machine.

// IsAbs reports whether a path is absolute on any system.
func IsAbs(p string) bool { return strings.HasPrefix(p, "/") || isWindows(p) }

// isWindows reports whether a path begins with a drive or a share.
func isWindows(p string) bool { return isDrive(p) || strings.HasPrefix(p, `\\`) }

func isDrive(p string) bool {
	return len(p) > 2 && isLetter(p[0]) && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// slashed returns a path with slashes only.
func slashed(p string) string { return strings.ReplaceAll(p, `\`, "/") }

// cleanWindows normalizes an absolute Windows path: backslashes, a capital drive letter, no redundant elements, and no
// \\?\ prefix.
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

// Join returns p relative to dir, which may be relative or "", without redundant elements. Paths below a Windows
// directory are in Windows form. Action.Resolve uses it for file names, and the functions below expect this form.
func Join(dir, p string) string {
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

// joinWindows is Join for a Windows directory. Git Bash writes C:\x as /c/x.
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

// joinDir is Join for a working directory: "" means unknown.
func joinDir(dir, p string) string {
	switch joined := Join(dir, p); joined {
	case "":
		return dir
	case ".":
		return ""
	default:
		return joined
	}
}

// separators returns the path separators of p: in an absolute Unix path a backslash is part of a name.
func separators(p string) string {
	if strings.HasPrefix(p, "/") {
		return "/"
	}
	return `/\`
}

// Base returns the last element of a path.
func Base(p string) string { return p[strings.LastIndexAny(p, separators(p))+1:] }

// PathKey returns the same key for all spellings of a path: Windows ignores case.
func PathKey(p string) string {
	if isWindows(p) {
		return strings.ToLower(p)
	}
	return p
}

// SamePath reports whether two paths name the same file.
func SamePath(a, b string) bool { return a == b || isWindows(a) && PathKey(a) == PathKey(b) }

// Inside reports whether a path is a directory or below it.
func Inside(p, dir string) bool {
	_, below := Below(p, dir)
	return below || SamePath(p, dir)
}

// Below returns the part of a path after a directory and its separator. ok is false if the path is not below it.
func Below(p, dir string) (rest string, ok bool) {
	n := len(dir)
	if n == 0 || len(p) <= n || !SamePath(p[:n], dir) {
		return "", false
	}
	rest = p[n:]
	if seps := separators(p); strings.IndexByte(seps, dir[n-1]) < 0 { // except a root, which ends with a separator
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
	tail = path.Clean(tail)
	return p == tail || strings.HasSuffix(p, "/"+tail)
}

// Resolve makes the action's paths absolute, relative to the call's directory: Dir relative to cwd, the session's
// working directory at that time. Then they can be compared with those of other calls. It sets Dir to the call's
// directory. Unknown paths stay relative. On Windows, where shells may return 0 after a failure, only an output without
// complaints proves a change.
func (a *Action) Resolve(cwd string) {
	a.Dir = joinDir(cwd, a.Dir)
	for i := range a.Files {
		f := &a.Files[i]
		f.Path = Join(a.Dir, f.Path)
		if f.To != "" {
			f.To = Join(a.Dir, f.To)
		}
		if a.Op == Command && isWindows(a.Dir) && f.Proof == Success {
			f.Proof = Silence
		}
	}
}

// Changes yields the action's files that the outcome proves to be changed or read, with their indexes in Files. A file
// that a command may have changed is yielded as Other; a call that was refused, or that failed as a whole, changed
// nothing.
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

// proves reports whether a command's change was made.
func (o *Outcome) proves(p Proof, silent bool) bool {
	if p == Ran {
		return o.Ran
	}
	return p != Always && o.HasExit && o.Exit == 0 && !o.Running && !o.Failed && (p == Success || silent)
}

// silent reports whether an output is whole and contains no complaint.
func (o *Outcome) silent() bool {
	text := strings.ToLower(o.Text)
	return o.Spilled == "" && !slices.ContainsFunc(complaints, func(word string) bool { return strings.Contains(text, word) })
}

// complaints are texts of tools that could not change a file, and of clients that truncated an output.
var complaints = []string{
	"cannot ", "can't ", "no such ", "not found", "denied", "not permitted", "not a directory", "is a directory", "fatal", "error", "failed",
	"read-only", "no space", "not overwr", "did not match", "invalid option", "illegal option", "usage:", "missing operand",
	"truncated", "omitted",
}

// IsUUID reports whether s has the form 8-4-4-4-12 in hexadecimal.
func IsUUID(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }
