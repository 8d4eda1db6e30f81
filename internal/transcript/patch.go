package transcript

import "strings"

// Codex edits files by patches: "*** Begin Patch", a header line for each file, "*** End Patch".
const (
	patchBegin = "*** Begin Patch"
	patchEnd   = "*** End Patch"
)

// patched reads the files that a patch touches. The action's Op is theirs where all are alike, else Edit.
func patched(a *Action, patch string) {
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		if path, ok := strings.CutPrefix(line, "*** Add File: "); ok {
			a.Files = append(a.Files, FileChange{Op: Write, Path: path})
		} else if path, ok := strings.CutPrefix(line, "*** Update File: "); ok {
			a.Files = append(a.Files, FileChange{Op: Edit, Path: path})
		} else if path, ok := strings.CutPrefix(line, "*** Delete File: "); ok {
			a.Files = append(a.Files, FileChange{Op: Delete, Path: path})
		} else if to, ok := strings.CutPrefix(line, "*** Move to: "); ok && len(a.Files) > 0 {
			last := &a.Files[len(a.Files)-1]
			last.Op, last.To = Rename, to
		}
	}
	a.Op = Edit
	for i, f := range a.Files {
		if i == 0 {
			a.Op = f.Op
		} else if a.Op != f.Op {
			a.Op = Edit
		}
	}
}

// patchInShell reads a patch that a shell command feeds to apply_patch; the command stays as it is. Where a plain command
// changes the directory first, the paths are as seen from where the command began.
func patchInShell(a *Action) bool {
	before, rest, _ := strings.Cut(a.Command, patchBegin)
	patch, _, ended := strings.Cut(rest, patchEnd)
	if !ended || (!strings.Contains(before, "apply_patch") && !strings.Contains(before, "applypatch")) {
		return false
	}
	patched(a, patch)
	dir := patchDir(a.Command)
	for i := range a.Files {
		f := &a.Files[i]
		f.Path = joinPath(dir, f.Path)
		if f.To != "" {
			f.To = joinPath(dir, f.To)
		}
	}
	return true
}

// patchDir is where a command line calls apply_patch, seen from where it began; "" where it stays there.
func patchDir(cmd string) string {
	list, ok := parseShell(cmd)
	if !ok {
		return ""
	}
	s := &shell{made: map[string]bool{}}
	for _, e := range list {
		for _, c := range e.pipe {
			if name, args := c.name(); name == "cd" {
				s.cd(args)
			} else if strings.HasPrefix(name, "apply") && !s.nowhere {
				return s.dir
			}
		}
	}
	return ""
}
