package compactor

import (
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// step is a change of a file: the row of its call, and its place among the files of that call. Where a read gave the
// content, it is the row of its result.
type step struct {
	row int32
	n   int32
}

// noStep is where nothing is known.
var noStep = step{row: -1}

// fileState is the net effect of a session on one file.
type fileState struct {
	key      uint64 // in the table
	path     string
	from     string // what it was called before this session renamed it
	to       string // it was renamed to
	created  bool   // by this session, as far as told
	deleted  bool
	wrote    bool // by a command that does not tell whether it was there
	again    bool // made anew after it was deleted
	reverted bool // put back, and not changed since
	doubt    bool // a command may have changed it since its content was last known
	lost     bool // base and replay no longer give the content
	tried    int  // changes asked for
	reads    int
	edits    uint32 // changes made: a version
	before   uint32 // of them those that no longer count: what was put back, deleted or overwritten
	first    int32  // row of the first call that touched it
	changed  int32  // row of the last change's call, -1
	touched  int32  // row of the last call that read or changed it
	read     int32  // row of the last read's result, -1
	base     step   // gives its whole content: a write, or a read
	replay   []step // the changes since base
}

// news is the changes that count: those since it was created, put back or last deleted.
func (f *fileState) news() uint32 { return f.edits - f.before }

// file returns the state of a path, as the newest.
func (t *tables) file(path string, row int32) *fileState {
	key := hashPath(path)
	f := t.files.touch(key)
	if f.path == "" {
		*f = fileState{key: key, path: clip(path, maxPath), changed: -1, read: -1, base: noStep, first: row}
	}
	f.touched = row
	return f
}

// touch makes a file that is known the newest.
func (t *tables) touch(f *fileState, row int32) *fileState {
	if t.files.get(f.key) == f {
		t.files.touch(f.key)
		f.touched = row
	}
	return f
}

// below gives the files that are known below a directory, the ones touched last first.
func (t *tables) below(dir string) []*fileState {
	var all []*fileState
	for e := t.files.newest; e != nil; e = e.older {
		if _, in := transcript.Below(e.value.path, dir); (in || dir == ".") && !e.value.deleted && e.value.to == "" {
			all = append(all, &e.value)
		}
	}
	return all
}

// change is one file change that a result tells of.
type change struct {
	transcript.FileChange
	at      step  // its call
	result  int32 // row of the result
	partial bool  // a read of some lines
	certain bool  // the tool makes sure that the file is as the agent last saw it
	shell   bool  // a plain command: a move changes nothing in the file
	amended bool  // what was written is not what the call says
	fresh   bool  // a write: the tool says that the file is new
	over    bool  // a write: the tool says that the file was there
}

// changed applies one change of a file.
func (t *tables) changed(ch *change) {
	if ch.Op == transcript.Other {
		t.doubted(ch)
		return
	}
	t.changes++
	switch ch.Op {
	case transcript.Read:
		t.file(ch.Path, ch.at.row).wasRead(ch)
	case transcript.Write:
		t.file(ch.Path, ch.at.row).written(ch)
	case transcript.Touch:
		if f := t.file(ch.Path, ch.at.row); (f.reads == 0 && f.edits == 0) || f.deleted {
			f.written(ch)
		}
	case transcript.Edit:
		t.file(ch.Path, ch.at.row).edited(ch)
	case transcript.Delete:
		t.removed(ch)
	case transcript.Revert:
		t.reverted(ch)
	case transcript.Rename:
		t.moved(ch)
	}
}

// doubted takes note that files may have changed. What is not known stays so.
func (t *tables) doubted(ch *change) {
	if f := t.files.get(hashPath(ch.Path)); f != nil {
		f.doubt = true
	}
	if ch.Tree && (ch.Path != t.doubtDir || t.changes != t.doubtAt) {
		for _, f := range t.below(ch.Path) {
			f.doubt = true
		}
		t.doubtGone(ch.Path)
		t.doubtDir, t.doubtAt = clip(ch.Path, maxPath), t.changes
	}
}

// doubtGone takes note that what was deleted below a directory may have been put back.
func (t *tables) doubtGone(dir string) {
	for e := t.files.newest; e != nil; e = e.older {
		if f := &e.value; f.deleted && (dir == "" || dir == "." || strings.HasPrefix(f.path, strings.TrimSuffix(dir, "/.")+"/") || strings.HasPrefix(f.path, dir)) {
			f.doubt = true
		}
	}
}

func (f *fileState) wasRead(ch *change) {
	f.reads++
	f.read, f.to = ch.result, ""
	if f.deleted {
		f.deleted, f.again = false, true
		f.base, f.replay = noStep, nil
	}
	if !ch.partial {
		f.base, f.replay, f.lost, f.doubt = step{ch.result, 0}, nil, false, false
	}
}

// count takes a change as made by the call.
func (f *fileState) count(ch *change) {
	f.edits++
	f.changed = ch.at.row
	f.to, f.reverted = "", false
}

func (f *fileState) written(ch *change) {
	switch {
	case f.deleted:
		f.again = true
	case ch.over:
	case ch.fresh:
		f.created = true
	default:
		// A tool that writes says so where the file was there; a command does not.
		unmet := f.reads == 0 && f.edits == 0
		f.created, f.wrote = f.created || unmet && !ch.shell, f.wrote || unmet && ch.shell
	}
	if f.to != "" { // another file, of the old name
		f.created, f.before = true, f.edits
	}
	f.deleted = false
	f.count(ch)
	f.base, f.replay, f.lost, f.doubt = ch.at, nil, ch.amended, false
}

func (f *fileState) edited(ch *change) {
	if f.deleted {
		f.deleted, f.again = false, true
		f.base, f.replay = noStep, nil
	}
	f.count(ch)
	f.lost = f.lost || ch.amended || (f.doubt && !ch.certain) || len(f.replay) >= maxEdits
	f.doubt = false
	if f.lost || f.base == noStep {
		f.replay = nil
		return
	}
	f.replay = append(f.replay, ch.at)
}

// forget gives up the content.
func (f *fileState) forget() { f.base, f.replay, f.lost, f.doubt = noStep, nil, false, false }

// removed takes files as deleted: the one named, and what is known below it.
func (t *tables) removed(ch *change) {
	if ch.Tree {
		for _, f := range slices.Backward(t.below(ch.Path)) {
			t.touch(f, ch.at.row).remove(ch)
		}
	}
	t.file(ch.Path, ch.at.row).remove(ch)
}

func (f *fileState) remove(ch *change) {
	f.count(ch)
	f.deleted, f.again = true, false
	f.forget()
	f.doubt = false
}

// reverted takes files as put back: the one named, or those below it that were changed.
func (t *tables) reverted(ch *change) {
	below := t.below(ch.Path)
	t.doubtGone(ch.Path)
	for _, f := range slices.Backward(below) {
		if f.news() > 0 && !f.created {
			t.touch(f, ch.at.row).putBack(ch)
		}
	}
	if len(below) == 0 && !strings.HasSuffix(ch.Path, "/.") {
		t.file(ch.Path, ch.at.row).putBack(ch)
	}
}

func (f *fileState) putBack(ch *change) {
	f.count(ch)
	f.before = f.edits
	f.deleted, f.again, f.reverted = false, false, true
	f.forget()
}

// maxMoved bounds the files that moves of directories are followed for, in all: a session that moves a large tree to
// and fro keeps the names that it had.
const maxMoved = 50000

// moved takes files as renamed: the one named, and what is known below it. What may be a directory is taken for one
// where files below it are known.
func (t *tables) moved(ch *change) {
	to := ch.To
	if to == "" || transcript.SamePath(to, ch.Path) {
		return
	}
	if t.files.get(hashPath(to)) == nil && ch.Tree && len(t.below(to)) > 0 {
		to = transcript.Join(to, transcript.Base(ch.Path))
	} else if ch.Loose && t.files.get(hashPath(to)) == nil && len(t.below(ch.Path)) == 0 {
		f := t.file(ch.Path, ch.at.row) // it is gone from where it was; what it is now called is not certain
		f.count(ch)
		f.to = clip(to, maxPath)
		f.forget()
		return
	}
	below := t.below(ch.Path)
	if t.files.get(hashPath(ch.Path)) != nil || len(below) == 0 {
		t.move(ch.Path, to, ch)
	}
	if t.followed += len(below); t.followed > maxMoved {
		for _, f := range below {
			f.doubt, f.lost = true, true
		}
		return
	}
	for _, f := range slices.Backward(below) {
		rest, _ := transcript.Below(f.path, ch.Path)
		t.move(f.path, transcript.Join(to, rest), ch)
	}
}

func (t *tables) move(path, to string, ch *change) {
	f := t.file(path, ch.at.row)
	was := *f
	f.count(ch)
	f.to, f.deleted = clip(to, maxPath), false
	f.forget()
	g := t.file(to, ch.at.row)
	g.count(ch)
	g.from, g.created, g.deleted, g.again = was.from, was.created, false, was.again
	if g.from == "" && !was.created {
		g.from = was.path
	}
	if g.from == g.path {
		g.from = ""
	}
	g.edits = max(g.edits, was.edits+1)
	g.before = g.edits - was.news()
	g.reads, g.read = max(g.reads, was.reads), -1
	g.first = min(g.first, was.first)
	g.base, g.replay, g.lost, g.doubt = was.base, was.replay, was.lost, was.doubt
	if !ch.shell {
		g.lost = g.lost || was.doubt || ch.amended || len(was.replay) >= maxEdits
		g.replay = append(g.replay[:len(g.replay):len(g.replay)], ch.at)
	}
}
