package compactor

import (
	"fmt"
	"slices"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// edited is a file with the event of its newest change.
type edited struct {
	*session.File
	at *event
}

// editedSince lists the files that were edited after a status of git, a commit, or what else ended all edits, the newest first.
func (h *handover) editedSince(status *event) {
	var base, before *event // what ended all edits; the same before a stash
	var open, stashed []edited
	commits := map[*event]bool{}
	for _, c := range h.s.Commits {
		commits[h.eventAt(c.Event)] = true
	}
	for _, e := range h.events {
		switch {
		case e == status, commits[e] && (e.Call == nil || !h.elsewhere(e.Call)): // whatever became of the rest of its line
			open, base = nil, e
		case e.Call == nil || e.Call.State != session.Done:
		case slices.ContainsFunc(e.git, endsEdits) && !h.elsewhere(e.Call):
			stashed, before = open, base
			open, base = nil, e
		case slices.ContainsFunc(e.git, bringsBack) && !h.elsewhere(e.Call):
			open, base, stashed = append(stashed, open...), before, nil
		default:
			open = withEdits(open, e)
		}
	}
	open = slices.DeleteFunc(open, func(f edited) bool { return f.Deleted || base != nil && h.outside(f.Path) })
	if len(open) > 0 {
		h.tellEdited(open, base)
	}
}

// tellEdited prints the line of the edited files.
func (h *handover) tellEdited(open []edited, base *event) {
	slices.Reverse(open)
	since := ""
	if base != nil {
		since = fmt.Sprintf(" since #%d", base.n)
	}
	var names []string
	for _, f := range open[:min(len(open), h.most.files)] {
		how := ""
		if f.at.undone { // who knows whether the file went back too
			how = ", then taken back: look at the file"
		}
		names = append(names, fmt.Sprintf("%s (#%d%s)", mark.Inline(h.path(f.Path), 200), f.at.n, how))
	}
	text := strings.Join(names, ", ")
	if n := len(open) - len(names); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	h.line("Edited%s: %s", since, lexicon.Head(text, mark.MaxLine/2))
}

// endsEdits reports whether a git command takes all edits out of the work tree.
func endsEdits(args []string) bool {
	switch args[0] {
	case "commit":
		return true
	case "reset":
		return slices.Contains(args, "--hard")
	case "stash":
		return len(args) == 1 || strings.HasPrefix(args[1], "-") || args[1] == "push" || args[1] == "save"
	}
	return false
}

// bringsBack reports whether a git command puts stashed edits back.
func bringsBack(args []string) bool {
	return args[0] == "stash" && len(args) > 1 && (args[1] == "pop" || args[1] == "apply")
}

// withEdits adds what a call did to files.
func withEdits(open []edited, e *event) []edited {
	for _, f := range e.Call.Files {
		if e.Kind != session.Did || !f.Sure || f.Op == transcript.Read {
			continue
		}
		file := f.File
		if f.To != nil {
			file = f.To
		}
		open = slices.DeleteFunc(open, func(o edited) bool { return o.File == file || o.File == f.File })
		if f.Op != transcript.Revert { // git put it back
			open = append(open, edited{file, e})
		}
	}
	return open
}
