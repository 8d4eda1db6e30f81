package transcript

import "strings"

// PatchBegin and PatchEnd enclose a patch as Codex writes it, with a header line for each file.
const (
	PatchBegin = "*** Begin Patch"
	PatchEnd   = "*** End Patch"
)

// section is the part of a patch for one file.
type section struct {
	op       Op
	path, to string   // to: new path, "" if unchanged
	lines    []string // as in the patch, with signs
}

// sections returns the parts of a patch.
func sections(patch string) (all []section) {
	for line := range strings.Lines(strings.TrimSuffix(patch, PatchEnd)) {
		line = strings.TrimRight(line, "\r\n")
		if path, ok := strings.CutPrefix(line, "*** Add File: "); ok {
			all = append(all, section{op: Write, path: path})
		} else if path, ok := strings.CutPrefix(line, "*** Update File: "); ok {
			all = append(all, section{op: Edit, path: path})
		} else if path, ok := strings.CutPrefix(line, "*** Delete File: "); ok {
			all = append(all, section{op: Delete, path: path})
		} else if n := len(all); n > 0 {
			if to, ok := strings.CutPrefix(line, "*** Move to: "); ok {
				all[n-1].to = to
			} else {
				all[n-1].lines = append(all[n-1].lines, line)
			}
		}
	}
	return all
}

// patched reads the files that a patch changes. The action's Op is theirs if all are equal, otherwise Edit.
func patched(a *Action, patch string) {
	a.Op = Edit
	for i, s := range sections(patch) {
		f := FileChange{Op: s.op, Path: s.path, To: s.to}
		if s.to != "" {
			f.Op = Rename
		}
		if a.Files = append(a.Files, f); i == 0 {
			a.Op = f.Op
		} else if a.Op != f.Op {
			a.Op = Edit
		}
	}
}

// patchInShell reads a patch that a shell command passes to apply_patch. The command is unchanged. If it changes the
// directory first, paths are relative to where it began.
func patchInShell(a *Action) bool {
	before, rest, _ := strings.Cut(a.Command, PatchBegin)
	patch, _, ended := strings.Cut(rest, PatchEnd)
	if !ended || (!strings.Contains(before, "apply_patch") && !strings.Contains(before, "applypatch")) {
		return false
	}
	patched(a, patch)
	dir := patchDir(a.Command)
	for i := range a.Files {
		f := &a.Files[i]
		f.Path = Join(dir, f.Path)
		if f.To != "" {
			f.To = Join(dir, f.To)
		}
	}
	return true
}

// patchDir returns the directory in which a command line calls apply_patch, relative to where it began; "" if
// unchanged.
func patchDir(cmd string) string {
	list, ok := parseShell(cmd)
	if !ok {
		return ""
	}
	s := &shell{made: map[string]bool{}}
	for _, c := range list {
		if name, args := c.name(); name == "cd" {
			s.cd(args)
		} else if strings.HasPrefix(name, "apply") && !s.unknownDir {
			return s.dir
		}
	}
	return ""
}
