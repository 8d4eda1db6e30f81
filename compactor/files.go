package compactor

import (
	"fmt"
	"slices"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

const (
	minFile   = 400 // chars of room below which no file is restored
	fileShare = 3   // files that there is room for, where there is enough: one that comes in front pushes out one
)

// filed is how much of a row's file content Files shows.
type filed struct{ whole bool }

// filesSection brings back the files that were touched last, newest first, from what the transcript itself tells of
// their content. Those whose content stands whole in the verbatim part, in the rows given, are left out.
func (d *draft) filesSection(budget int, recent []int32) string {
	o := d.c.o
	budget = min(budget, o.RestoreTotal*3/4)
	most := min(max(minFile, budget/fileShare), o.RestoreTokens*3/4, d.most)
	d.notes.filed = map[int32]filed{}
	var b strings.Builder
	n := 0
	for _, f := range editedFirst(d.c.tables.files.newestFirst()) {
		if n >= o.RestoreFiles || budget < minFile || d.err != nil {
			break
		}
		if f.deleted || f.to != "" {
			continue
		}
		text, from, whole := d.restored(f, min(budget, most), recent)
		if text == "" || lexicon.Chars(text) > budget {
			continue
		}
		budget -= lexicon.Chars(text)
		b.WriteString(text)
		if d.row(from).op != transcript.Command { // whose text is more than the content that it writes or prints
			d.notes.filed[from] = filed{whole: whole}
		}
		n++
	}
	return b.String()
}

// nearFiles are the files touched last among which edited ones come before those only read.
const nearFiles = 10

// editedFirst puts the edited ones of the files touched last before those that were only read.
func editedFirst(all []*fileState) []*fileState {
	slices.SortStableFunc(all[:min(len(all), nearFiles)], func(a, b *fileState) int {
		switch {
		case a.edits > 0 && b.edits == 0:
			return -1
		case a.edits == 0 && b.edits > 0:
			return 1
		}
		return 0
	})
	return all
}

// restored renders one file within most chars, and tells the row that its content comes from; "" where the content is
// not known or stands in one of the rows of Recent.
func (d *draft) restored(f *fileState, most int, recent []int32) (text string, from int32, whole bool) {
	content, from, title := d.content(f)
	if f.news() > 0 && (title == "" || strings.HasPrefix(title, "lines ")) { // of an edited file the edit says more than a part
		if text, call := d.lastEdit(f); text != "" && !slices.Contains(recent, call) {
			content, from, title = text, call, fmt.Sprintf("last edit at #%d (its whole content is not known)", d.row(call).record())
		}
	}
	if title == "" || content == "" || (slices.Contains(recent, from) && len(f.replay) == 0) {
		return "", 0, false
	}
	title = fmt.Sprintf("### %s %s\n", code(d.short(f.path), 300), title)
	if q, ok := quotedWhole(strings.TrimSuffix(content, "\n"), most-lexicon.Chars(title)); ok && lexicon.Chars(title)+lexicon.Chars(q) <= most {
		return title + q, from, true
	}
	room := most - lexicon.Chars(title) - 80
	if room < minFile/2 {
		return "", 0, false
	}
	room = room * 9 / 10
	skip := d.windowStart(f, content, room)
	for {
		kept := lexicon.BulkHead(content[skip:], room)
		if q := mark.Quote("", kept); lexicon.Chars(q) <= most-lexicon.Chars(title)-60 || room < 50 {
			before := ""
			if skip > 0 {
				before = fmt.Sprintf("From line %d on:\n", 1+strings.Count(content[:skip], "\n"))
			}
			return title + before + q + d.restMarker(f, from, lexicon.Chars(content)-lexicon.Chars(kept)) + "\n", from, false
		}
		room = room * 4 / 5
	}
}

// restMarker names what the part of a file that is shown was taken from: its content as read or written, with the edits
// since.
func (d *draft) restMarker(f *fileState, from int32, left int) string {
	if len(f.replay) == 0 {
		return mark.New(d.id(from), fmt.Sprintf("cut, %d more chars", left))
	}
	rows := []int32{from}
	for _, s := range f.replay {
		rows = append(rows, s.row)
	}
	return mark.New(d.list(slices.Compact(rows), "file and edits"),
		fmt.Sprintf("cut, %d more chars: the content of #%d and the %d edits since", left, d.row(from).record(), len(f.replay)))
}

// windowStart is where the shown part of a file begins that does not fit: a little before its last change.
func (d *draft) windowStart(f *fileState, content string, room int) int {
	if len(f.replay) == 0 {
		return 0
	}
	longest := ""
	for l := range strings.Lines(d.changeText(f.replay[len(f.replay)-1].row)) {
		if l, ok := strings.CutPrefix(l, "+"); ok {
			if l = strings.TrimSpace(l); len(l) > len(longest) {
				longest = l
			}
		}
	}
	at := strings.Index(content, longest)
	if longest == "" || at < room*2/3 {
		return 0
	}
	at -= room / 3
	return max(0, strings.LastIndexByte(content[:at], '\n')+1)
}
