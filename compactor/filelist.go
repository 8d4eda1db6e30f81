package compactor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ccd/compactor/lexicon"
)

// listed is how files are told: one a line, in groups of what became of them, or by their names alone.
type listed uint8

const (
	apart     listed = iota // `- edited 2x PATH (last #10)`
	grouped                 // `- edited: PATH 2x #10 · PATH #4`
	namesOnly               // `- edited: PATH · PATH`
)

// fewFiles are told one a line also where there is little room.
const fewFiles = 6

// filesPart is the net effect on files: changed ones, then those only read.
func (d *draft) filesPart(budget int) string {
	var changed, read []*fileState
	for _, f := range d.c.tables.files.newestFirst() {
		switch {
		case f.to != "" && (f.from != "" || d.follows(f)): // told with the name that it now has
		case f.tried > 0 || f.edits > 0:
			changed = append(changed, f)
		case f.reads > 0:
			read = append(read, f)
		}
	}
	if len(changed)+len(read) == 0 {
		return ""
	}
	title := "### Files" + d.place() + "\n"
	room := budget - lexicon.Chars(title)
	text := d.changedFiles(changed, room)
	return title + text + d.readFiles(read, room-lexicon.Chars(text)) + forgotten(d.c.tables.files.evicted, "files")
}

// follows reports whether the file that this one was renamed to is told.
func (d *draft) follows(f *fileState) bool {
	g := d.c.tables.files.get(hashPath(f.to))
	return g != nil && (g.from != "" || g.created || g.to != "")
}

// changedFiles tells what became of files, in the longest way in which all of them fit; at worst the newest.
func (d *draft) changedFiles(files []*fileState, room int) string {
	if len(files) == 0 {
		return ""
	}
	for _, how := range []listed{apart, grouped, namesOnly} {
		if how == apart && d.narrow && len(files) > fewFiles {
			continue
		}
		if text := d.listFiles(files, how); lexicon.Chars(text) <= room {
			for _, f := range files {
				d.fact("file", d.filePath(f), f.touched, true)
			}
			return text
		}
	}
	n := len(files)
	for lo := 0; lo < n; { // the most of the newest that fit
		mid := (lo + n + 1) / 2
		if text := d.listFiles(files[:mid], namesOnly); lexicon.Chars(text) <= room-70 {
			lo = mid
		} else {
			n = mid - 1
		}
	}
	var left []int32
	for i, f := range files {
		d.fact("file", d.filePath(f), f.touched, true)
		if i >= n {
			left = append(left, f.touched)
		}
	}
	return d.listFiles(files[:n], namesOnly) + "- changed, or tried to: " + d.rest(left, "files") + "\n"
}

// listFiles lists files: apart the newest first; in groups in the order in which they came up, so that what comes later
// stands behind.
func (d *draft) listFiles(files []*fileState, how listed) string {
	if how == apart {
		pieces := make([]string, 0, len(files))
		for _, f := range files {
			pieces = append(pieces, d.changedText(f))
		}
		return bullets(pieces)
	}
	groups := map[string][]*fileState{}
	for _, f := range files {
		e := d.effect(f)
		groups[e] = append(groups[e], f)
	}
	var b strings.Builder
	for _, e := range effects {
		group := groups[e]
		slices.SortStableFunc(group, func(a, b *fileState) int { return cmp.Compare(a.first, b.first) })
		pieces := make([]string, 0, len(group))
		for _, f := range group {
			p := d.filePath(f)
			if how == grouped {
				if n := f.news(); n > 1 {
					p += fmt.Sprintf(" %dx", n)
				}
				p += fmt.Sprintf(" #%d", d.row(f.last()).record())
			}
			pieces = append(pieces, p)
		}
		if len(pieces) > 0 {
			pieces[0] = e + ": " + pieces[0]
		}
		b.WriteString(flow(pieces))
	}
	return b.String()
}

// filePath is how a file is named: with what it was called before, where it was renamed.
func (d *draft) filePath(f *fileState) string {
	path := code(d.short(f.path), 300)
	switch {
	case f.to != "":
		return path + " -> " + code(d.short(f.to), 300)
	case f.from != "":
		return code(d.short(f.from), 300) + " -> " + path
	}
	return path
}

// last is the row of the last change, or of the last call where none was made.
func (f *fileState) last() int32 {
	if f.changed >= 0 {
		return f.changed
	}
	return f.touched
}

// effects are what can become of a file, in the order in which groups of them are told.
var effects = []string{
	"edited", "written", "created", "created, then edited", "renamed", "renamed and edited", "deleted", "created, then deleted",
	"renamed, then deleted", "deleted, perhaps put back since", "deleted, then made anew", "put back", "not changed",
}

// effect is what became of a file, in words of effects.
func (d *draft) effect(f *fileState) string {
	switch {
	case f.deleted && f.doubt:
		return "deleted, perhaps put back since"
	case f.deleted && f.from != "":
		return "renamed, then deleted"
	case f.deleted && f.created:
		return "created, then deleted"
	case f.deleted:
		return "deleted"
	case f.to != "":
		return "renamed"
	case f.reverted:
		return "put back"
	case f.edits == 0:
		return "not changed"
	case f.from != "" && f.news() > 0:
		return "renamed and edited"
	case f.from != "":
		return "renamed"
	case f.again:
		return "deleted, then made anew"
	case f.created && f.news() < 2:
		return "created"
	case f.created:
		return "created, then edited"
	case f.wrote:
		return "written"
	}
	return "edited"
}

// changedText is what became of one file.
func (d *draft) changedText(f *fileState) string {
	path, effect := d.filePath(f), d.effect(f)
	at := fmt.Sprintf("#%d", d.row(f.last()).record())
	n := f.news()
	switch {
	case effect == "not changed":
		return fmt.Sprintf("not changed, %s: %s (%s)", d.why(f.last()), path, at)
	case effect == "created, then edited":
		return fmt.Sprintf("created, then edited %dx %s (last %s)", n-1, path, at)
	case effect == "renamed and edited":
		return fmt.Sprintf("renamed %s, edited %dx (last %s)", path, n, at)
	case n > 1 && (effect == "edited" || effect == "written"):
		return fmt.Sprintf("%s %dx %s (last %s)", effect, n, path, at)
	}
	return effect + " " + path + " (" + at + ")"
}

// why tells what became of a change that was not made.
func (d *draft) why(call int32) string {
	switch pair := d.row(call).pair; {
	case pair < 0:
		return "no result yet"
	case d.row(call).has(rejected), d.row(pair).has(rejected):
		return "refused by the human"
	}
	return "the edit failed"
}

// readFiles names the files that were only read, in the order in which they came up; where not all fit, those read last.
func (d *draft) readFiles(files []*fileState, room int) string {
	var pieces []string
	rows := make([]int32, 0, len(files))
	for _, f := range files {
		pieces = append(pieces, code(d.short(f.path), 200))
		rows = append(rows, f.touched)
	}
	room -= len("read: ")
	n := fitting(pieces, room)
	if n < len(pieces) {
		n = fitting(pieces, room-60)
	}
	shown := slices.Clone(files[:n])
	slices.SortStableFunc(shown, func(a, b *fileState) int { return cmp.Compare(a.first, b.first) })
	rest := d.rest(rows[n:], "files")
	pieces = pieces[:0]
	for _, f := range shown {
		pieces = append(pieces, code(d.short(f.path), 200))
	}
	if rest != "" {
		pieces = append(pieces, rest)
	}
	if len(pieces) > 0 {
		pieces[0] = "read: " + pieces[0]
	}
	return flow(pieces)
}
