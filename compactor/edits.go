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
	added  bool // the next commit has it
}

// edits are the changes of files that no record says git has.
type edits struct {
	h       *handover
	open    []edited // the oldest first
	stashed []edited
	adds    int             // commands that added files since the newest commit
	base    *event          // what ended all edits
	part    bool            // a commit since has only some files
	commits map[*event]bool // the commands after which git printed a commit, whatever became of the rest of them
}

// editedSince lists the files that were edited after a status of git, or what else ended all edits, the newest first.
func (h *handover) editedSince(status *event) {
	t := edits{h: h, commits: h.committing()}
	for _, e := range h.events {
		switch {
		case e == status:
			t.end(e)
		case e.Call != nil && (e.Call.State == session.Done || t.commits[e]):
			t.git(e)
			t.edit(e)
		}
	}
	t.drop(func(f edited) bool { return f.Deleted || (t.base != nil || t.part) && h.outside(f.Path) })
	if len(t.open) == 0 {
		return
	}
	slices.Reverse(t.open)
	since := ""
	if t.base != nil {
		since = fmt.Sprintf(" since #%d", t.base.n)
	}
	if t.part {
		since += ", in no commit seen"
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

// committing returns the events after which git printed a commit.
func (h *handover) committing() map[*event]bool {
	all := map[*event]bool{}
	for _, c := range h.s.Commits {
		all[h.eventAt(c.Event)] = true
	}
	return all
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

// git takes what git did with the files.
func (t *edits) git(e *event) {
	if t.h.elsewhere(e.Call) {
		dir := t.h.dirOf(e.Call) // not of git -C
		if slices.ContainsFunc(e.git, func(args []string) bool { return args[0] == "commit" }) && !slices.Contains(t.h.roots, dir) {
			t.drop(func(f edited) bool { return transcript.Inside(f.Path, dir) })
		}
		return
	}
	for _, args := range e.git {
		t.verb(e, args)
	}
	if len(e.git) == 0 && e.kind == run && t.commits[e] { // a script commits
		t.end(e)
	}
}

// verb takes what one git command of a line did.
func (t *edits) verb(e *event, args []string) {
	switch args[0] {
	case "add", "rm", "mv":
		t.adds++
		for i := range t.open {
			t.open[i].added = t.open[i].added || t.named(e, t.open[i], args[1:])
		}
	case "commit":
		t.commit(e, args[1:])
	case "checkout", "restore":
		if i := slices.Index(args, "--"); i > 0 || args[0] == "restore" && !slices.Contains(args, "--staged") {
			t.drop(func(f edited) bool { return t.named(e, f, args[max(i, 0)+1:]) })
		}
	case "reset":
		if slices.Contains(args, "--hard") {
			t.end(e)
		}
	case "stash":
		t.stash(args)
	}
}

// commit ends the edits that a commit has: all, if nobody knows which were added.
func (t *edits) commit(e *event, args []string) {
	if t.adds == 0 || slices.ContainsFunc(args, takesAll) {
		t.end(e)
		return
	}
	if t.drop(func(f edited) bool { return f.added }); len(t.open) == 0 {
		t.end(e)
	}
	t.adds, t.part = 0, len(t.open) > 0
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

func (t *edits) end(e *event) { t.open, t.adds, t.base, t.part = nil, 0, e, false }

func (t *edits) drop(which func(edited) bool) { t.open = slices.DeleteFunc(t.open, which) }

// named reports whether arguments of git name a file.
func (t *edits) named(e *event, f edited, args []string) bool {
	dir := t.h.dirOf(e.Call)
	return slices.ContainsFunc(args, func(w string) bool {
		return takesAll(w) || strings.Contains(w, "*") || transcript.Inside(f.Path, transcript.Join(dir, w))
	})
}

// takesAll reports whether an argument of git add or commit means all files.
func takesAll(w string) bool {
	short := strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--")
	return w == "." || w == ":/" || w == "--all" || w == "--update" || short && strings.ContainsAny(w, "aAu")
}
