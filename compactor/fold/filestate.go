package fold

import (
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// Step is a change of a file: the row of its call and the index among the files of that call. If a read gave the content, it
// is the row of the read's result.
type Step struct {
	Row int32
	N   int32
}

// NoStep means that no step is known.
var NoStep = Step{Row: -1}

// File is the net effect of a session on one file.
type File struct {
	Key      uint64 // in the table
	Path     string
	From     string // its name before this session renamed it
	To       string // its new name if it was renamed away, else ""
	Created  bool   // created by this session, as far as known
	Deleted  bool
	Wrote    bool // written by a command that does not show whether the file existed
	Again    bool // created again after it was deleted
	Reverted bool // reverted, and not changed since
	Doubt    bool // a command may have changed it since its content was last known
	Lost     bool // base and replay no longer yield the content
	Tried    int  // attempted changes
	Reads    int
	Edits    uint32 // changes made, used as a version
	Before   uint32 // those of them that no longer count, because the file was reverted, renamed away, or replaced by a renamed one
	First    int32  // row of the first call that touched it
	Changed  int32  // row of the last change's call, -1
	Touched  int32  // row of the last call that read or changed it
	Read     int32  // row of the last read's result, -1
	Base     Step   // a write or read with the whole content
	Replay   []Step // the changes since base
}

// News returns the number of changes that still count.
func (f *File) News() uint32 { return f.Edits - f.Before }

// file returns the state of a path and makes it the newest.
func (t *tables) file(path string, row int32) *File {
	key := hashPath(path)
	f := t.files.touch(key)
	if f.Path == "" {
		*f = File{Key: key, Path: clip(path, maxPath), Changed: -1, Read: -1, Base: NoStep, First: row}
	}
	f.Touched = row
	return f
}

// touch makes a known file the newest.
func (t *tables) touch(f *File, row int32) *File {
	if t.files.get(f.Key) == f {
		t.files.touch(f.Key)
		f.Touched = row
	}
	return f
}

// below returns the known files below a directory, most recently touched first.
func (t *tables) below(dir string) []*File {
	var all []*File
	for e := t.files.newest; e != nil; e = e.older {
		if _, in := transcript.Below(e.value.Path, dir); (in || dir == ".") && !e.value.Deleted && e.value.To == "" {
			all = append(all, &e.value)
		}
	}
	return all
}

// change is one file change that a result reports.
type change struct {
	transcript.FileChange
	at      Step  // its call
	result  int32 // row of the result
	partial bool  // a read of some lines
	certain bool  // the tool checks that the file is as the agent last saw it
	shell   bool  // a shell command, whose move leaves the content unchanged
	amended bool  // the written content differs from the call
	fresh   bool  // a write: the tool reports a new file
	over    bool  // a write: the tool reports that the file existed
}

// applyChange applies one change of a file.
func (t *tables) applyChange(ch *change) {
	if ch.Op == transcript.Other {
		t.doubt(ch)
		return
	}
	t.changes++
	switch ch.Op {
	case transcript.Read:
		t.file(ch.Path, ch.at.Row).markRead(ch)
	case transcript.Write:
		t.file(ch.Path, ch.at.Row).markWritten(ch)
	case transcript.Touch:
		if f := t.file(ch.Path, ch.at.Row); (f.Reads == 0 && f.Edits == 0) || f.Deleted {
			f.markWritten(ch)
		}
	case transcript.Edit:
		t.file(ch.Path, ch.at.Row).markEdited(ch)
	case transcript.Delete:
		t.removeFiles(ch)
	case transcript.Revert:
		t.revertFiles(ch)
	case transcript.Rename:
		t.moveFiles(ch)
	}
}

// doubt records that files may have changed. Unknown files are not added.
func (t *tables) doubt(ch *change) {
	if f := t.files.get(hashPath(ch.Path)); f != nil {
		f.Doubt = true
	}
	if ch.Tree && (ch.Path != t.doubtDir || t.changes != t.doubtAt) {
		for _, f := range t.below(ch.Path) {
			f.Doubt = true
		}
		t.doubtDeleted(ch.Path)
		t.doubtDir, t.doubtAt = clip(ch.Path, maxPath), t.changes
	}
}

// doubtDeleted records that files deleted below a directory may have been restored.
func (t *tables) doubtDeleted(dir string) {
	for e := t.files.newest; e != nil; e = e.older {
		if f := &e.value; f.Deleted && (dir == "" || dir == "." || strings.HasPrefix(f.Path, strings.TrimSuffix(dir, "/.")+"/") || strings.HasPrefix(f.Path, dir)) {
			f.Doubt = true
		}
	}
}

func (f *File) markRead(ch *change) {
	f.Reads++
	f.Read, f.To = ch.result, ""
	if f.Deleted {
		f.Deleted, f.Again = false, true
		f.Base, f.Replay = NoStep, nil
	}
	if !ch.partial {
		f.Base, f.Replay, f.Lost, f.Doubt = Step{ch.result, 0}, nil, false, false
	}
}

// count takes a change as made by the call.
func (f *File) count(ch *change) {
	f.Edits++
	f.Changed = ch.at.Row
	f.To, f.Reverted = "", false
}

func (f *File) markWritten(ch *change) {
	switch {
	case f.Deleted:
		f.Again = true
	case ch.over:
	case ch.fresh:
		f.Created = true
	default:
		// A tool that writes says so where the file was there; a command does not.
		unmet := f.Reads == 0 && f.Edits == 0
		f.Created, f.Wrote = f.Created || unmet && !ch.shell, f.Wrote || unmet && ch.shell
	}
	if f.To != "" { // another file, of the old name
		f.Created, f.Before = true, f.Edits
	}
	f.Deleted = false
	f.count(ch)
	f.Base, f.Replay, f.Lost, f.Doubt = ch.at, nil, ch.amended, false
}

func (f *File) markEdited(ch *change) {
	if f.Deleted {
		f.Deleted, f.Again = false, true
		f.Base, f.Replay = NoStep, nil
	}
	f.count(ch)
	f.Lost = f.Lost || ch.amended || (f.Doubt && !ch.certain) || len(f.Replay) >= maxEdits
	f.Doubt = false
	if f.Lost || f.Base == NoStep {
		f.Replay = nil
		return
	}
	f.Replay = append(f.Replay, ch.at)
}

// forget gives up the content.
func (f *File) forget() { f.Base, f.Replay, f.Lost, f.Doubt = NoStep, nil, false, false }

// removeFiles takes files as deleted: the one named, and what is known below it.
func (t *tables) removeFiles(ch *change) {
	if ch.Tree {
		for _, f := range slices.Backward(t.below(ch.Path)) {
			t.touch(f, ch.at.Row).remove(ch)
		}
	}
	t.file(ch.Path, ch.at.Row).remove(ch)
}

func (f *File) remove(ch *change) {
	f.count(ch)
	f.Deleted, f.Again = true, false
	f.forget()
	f.Doubt = false
}

// revertFiles takes files as put back: the one named, or those below it that were changed.
func (t *tables) revertFiles(ch *change) {
	below := t.below(ch.Path)
	t.doubtDeleted(ch.Path)
	for _, f := range slices.Backward(below) {
		if f.News() > 0 && !f.Created {
			t.touch(f, ch.at.Row).putBack(ch)
		}
	}
	if len(below) == 0 && !strings.HasSuffix(ch.Path, "/.") {
		t.file(ch.Path, ch.at.Row).putBack(ch)
	}
}

func (f *File) putBack(ch *change) {
	f.count(ch)
	f.Before = f.Edits
	f.Deleted, f.Again, f.Reverted = false, false, true
	f.forget()
}

// maxMoved is for how many files moves of directories are followed in all, so that a session that moves a large tree back and
// forth stays cheap. After that, files keep their old names and their content counts as unknown.
const maxMoved = 50000

// moveFiles renames the named file and the known files below it. A path that may be a directory counts as one if files below
// it are known.
func (t *tables) moveFiles(ch *change) {
	to := ch.To
	if to == "" || transcript.SamePath(to, ch.Path) {
		return
	}
	if t.files.get(hashPath(to)) == nil && ch.Tree && len(t.below(to)) > 0 {
		to = transcript.Join(to, transcript.Base(ch.Path))
	} else if ch.Loose && t.files.get(hashPath(to)) == nil && len(t.below(ch.Path)) == 0 {
		f := t.file(ch.Path, ch.at.Row) // it is no longer at its old path, and its new name is uncertain
		f.count(ch)
		f.To = clip(to, maxPath)
		f.forget()
		return
	}
	below := t.below(ch.Path)
	if t.files.get(hashPath(ch.Path)) != nil || len(below) == 0 {
		t.move(ch.Path, to, ch)
	}
	if t.followed += len(below); t.followed > maxMoved {
		for _, f := range below {
			f.Doubt, f.Lost = true, true
		}
		return
	}
	for _, f := range slices.Backward(below) {
		rest, _ := transcript.Below(f.Path, ch.Path)
		t.move(f.Path, transcript.Join(to, rest), ch)
	}
}

func (t *tables) move(path, to string, ch *change) {
	f := t.file(path, ch.at.Row)
	was := *f
	f.count(ch)
	f.To, f.Deleted = clip(to, maxPath), false
	f.forget()
	g := t.file(to, ch.at.Row)
	g.count(ch)
	g.From, g.Created, g.Deleted, g.Again = was.From, was.Created, false, was.Again
	if g.From == "" && !was.Created {
		g.From = was.Path
	}
	if g.From == g.Path {
		g.From = ""
	}
	g.Edits = max(g.Edits, was.Edits+1)
	g.Before = g.Edits - was.News()
	g.Reads, g.Read = max(g.Reads, was.Reads), -1
	g.First = min(g.First, was.First)
	g.Base, g.Replay, g.Lost, g.Doubt = was.Base, was.Replay, was.Lost, was.Doubt
	if !ch.shell {
		g.Lost = g.Lost || was.Doubt || ch.amended || len(was.Replay) >= maxEdits
		g.Replay = append(g.Replay[:len(g.Replay):len(g.Replay)], ch.at)
	}
}
