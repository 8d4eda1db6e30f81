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

// edited is a file with the record of its newest change.
type edited struct {
	*session.File
	n      int
	undone bool // the human took back the message before it: who knows whether the file went back too
}

// edits lists the files that changed since git last reported or committed them.
type edits struct {
	h       *handover
	base    *event   // what ended all edits
	open    []edited // since then, the oldest first
	stashed []edited
}

// editedSince lists the files that were edited after a status of git, a commit, or what else ended all edits, the newest first.
func (h *handover) editedSince(status *event) {
	t, commits := edits{h: h}, map[*event]bool{}
	for _, c := range h.s.Commits {
		commits[h.eventAt(c.Event)] = true
	}
	for _, e := range h.events {
		switch {
		case e == status, commits[e] && (e.Call == nil || !h.elsewhere(e.Call)): // whatever became of the rest of its line
			t.end(e)
		case e.Call != nil && e.Call.State == session.Done:
			t.git(e)
			t.edit(e)
		}
	}
	t.drop(func(f edited) bool { return f.Deleted || t.base != nil && h.outside(f.Path) })
	if len(t.open) == 0 {
		return
	}
	slices.Reverse(t.open)
	since := ""
	if t.base != nil {
		since = fmt.Sprintf(" since #%d", t.base.n)
	}
	var names []string
	for _, f := range t.open[:min(len(t.open), h.most.files)] {
		how := ""
		if f.undone {
			how = ", then taken back: look at the file"
		}
		names = append(names, fmt.Sprintf("%s (#%d%s)", mark.Inline(h.path(f.Path), 200), f.n, how))
	}
	text := strings.Join(names, ", ")
	if n := len(t.open) - len(names); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	h.line("Edited%s: %s", since, lexicon.Head(text, mark.MaxLine/2))
}

// edit takes what a call did to files.
func (t *edits) edit(e *event) {
	for _, f := range e.Call.Files {
		if e.Kind != session.Did || !f.Sure || f.Op == transcript.Read || f.Op == transcript.Revert {
			continue
		}
		file := f.File
		if f.To != nil {
			file = f.To
		}
		t.drop(func(o edited) bool { return o.File == file || o.File == f.File })
		t.open = append(t.open, edited{File: file, n: e.n, undone: e.undone})
	}
}

// git takes what git did with the files of the session.
func (t *edits) git(e *event) {
	if t.h.elsewhere(e.Call) {
		return
	}
	for _, args := range e.git {
		switch args[0] {
		case "commit":
			t.end(e)
		case "reset":
			if slices.Contains(args, "--hard") {
				t.end(e)
			}
		case "checkout", "restore":
			if i := slices.Index(args, "--"); i > 0 || args[0] == "restore" && !slices.Contains(args, "--staged") {
				t.drop(func(f edited) bool { return t.h.named(e, f, args[max(i, 0)+1:]) })
			}
		case "stash":
			t.stash(args)
		}
	}
}

// stash takes the edits away, or brings them back.
func (t *edits) stash(args []string) {
	switch {
	case len(args) == 1 || strings.HasPrefix(args[1], "-") || args[1] == "push" || args[1] == "save":
		t.open, t.stashed = nil, t.open
	case args[1] == "pop" || args[1] == "apply":
		t.open, t.stashed = append(t.stashed, t.open...), nil
	}
}

func (t *edits) end(e *event) { t.open, t.base = nil, e }

func (t *edits) drop(which func(edited) bool) { t.open = slices.DeleteFunc(t.open, which) }

// named reports whether arguments of git name a file.
func (h *handover) named(e *event, f edited, args []string) bool {
	dir := h.dirOf(e.Call)
	return slices.ContainsFunc(args, func(w string) bool {
		return strings.Contains(w, "*") || transcript.Inside(f.Path, transcript.Join(dir, w))
	})
}
