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

// patchInShell reads a patch that a shell command feeds to apply_patch; the command stays as it is.
func patchInShell(a *Action) {
	before, rest, _ := strings.Cut(a.Command, patchBegin)
	patch, _, ended := strings.Cut(rest, patchEnd)
	if ended && (strings.Contains(before, "apply_patch") || strings.Contains(before, "applypatch")) {
		patched(a, patch)
	}
}
