package unit

import (
	"fmt"
	"slices"
	"strings"

	"ccd/compactor/fold"
	"ccd/compactor/lexicon"
	"ccd/compactor/plan"
	"ccd/internal/mark"
)

const (
	minFile   = 400 // chars; with less room no file is restored
	fileShare = 5   // the share of a text that the content of files may take, as a divisor
	nearFiles = 10  // last touched files, among which edited ones come before those only read
)

// contents adds the content of the files touched last, newest first, as far as the transcript has it: edited files before
// those only read. It leaves out what is under Recent.
func (w *writer) contents() {
	if w.Brief {
		return
	}
	o := w.o
	pool := &plan.Pool{Most: func(room int) int { return min(room/fileShare, o.RestoreTotal*3/4) }}
	files := slices.Clone(w.f.Files())
	slices.SortStableFunc(files[:min(len(files), nearFiles)], func(a, b *fold.File) int {
		switch {
		case a.Edits > 0 && b.Edits == 0:
			return -1
		case a.Edits == 0 && b.Edits > 0:
			return 1
		}
		return 0
	})
	n := 0
	for _, f := range files {
		if n >= o.RestoreFiles {
			return
		}
		if f.Deleted || f.To != "" || w.holds(int(w.row(f.Touched).Rec)) {
			continue
		}
		place := n
		n++
		u := &plan.Unit{Section: Files, Order: 10 + n, Pool: pool, Worth: []float64{worthFile * fresh(place), worthFile / 2 * fresh(place)}}
		var known *content
		u.Form = func(level int) plan.Form {
			if known == nil || w.dropped {
				known = w.content(f)
			}
			most := min(max(minFile, w.Room/fileShare/[]int{8, 2}[level]), o.RestoreTokens*3/4)
			text, rows := w.restored(f, *known, most)
			return plan.Form{Text: text, Rows: rows}
		}
		w.add(u)
	}
}

// restored returns one file in at most most chars, and the row whose content it shows in full; "" if the content is unknown or
// under Recent.
func (w *writer) restored(f *fold.File, known content, most int) (text string, whole []int32) {
	content, from, title := known.text, known.from, known.title
	if f.News() > 0 && (title == "" || strings.HasPrefix(title, "lines ")) { // for an edited file the edit is more useful than a part of the file
		if text, call := w.lastEdit(f); text != "" && !w.inRecent(call) {
			content, from, title = text, call, fmt.Sprintf("last edit at #%d (its whole content is not known)", w.row(call).Record())
		}
	}
	if title == "" || content == "" || (w.inRecent(from) && len(f.Replay) == 0) {
		return "", nil
	}
	title = fmt.Sprintf("### %s %s\n", code(w.short(f.Path), 300), title)
	if q, ok := quotedWhole(strings.TrimSuffix(content, "\n"), most-lexicon.Chars(title)); ok && lexicon.Chars(title)+lexicon.Chars(q) <= most {
		return title + q, []int32{from}
	}
	room := most - lexicon.Chars(title) - 80
	if room < minFile/2 {
		return "", nil
	}
	room = room * 9 / 10
	skip := w.windowStart(f, content, room)
	for {
		kept := lexicon.BulkHead(content[skip:], room)
		if q := mark.Quote("", kept); lexicon.Chars(q) <= most-lexicon.Chars(title)-60 || room < 50 {
			before := ""
			if skip > 0 {
				before = fmt.Sprintf("From line %d on:\n", 1+strings.Count(content[:skip], "\n"))
			}
			return title + before + q + w.restMarker(f, from, lexicon.Chars(content)-lexicon.Chars(kept)) + "\n", nil
		}
		room = room * 4 / 5
	}
}

// restMarker returns the marker for the rest of a file that is shown in part: its content as read or written, with later
// edits.
func (w *writer) restMarker(f *fold.File, from int32, left int) string {
	if len(f.Replay) == 0 {
		return mark.New(w.id(from), fmt.Sprintf("cut, %d more chars", left))
	}
	rows := []int32{from}
	for _, s := range f.Replay {
		rows = append(rows, s.Row)
	}
	return mark.New(w.list(slices.Compact(rows), "file and edits"),
		fmt.Sprintf("cut, %d more chars: the content of #%d and the %d edits since", left, w.row(from).Record(), len(f.Replay)))
}

// windowStart returns where the shown part of a long file begins: a little before its last change.
func (w *writer) windowStart(f *fold.File, content string, room int) int {
	if len(f.Replay) == 0 {
		return 0
	}
	longest := ""
	for l := range strings.Lines(w.changeText(f.Replay[len(f.Replay)-1].Row)) {
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

// inRecent reports whether Recent shows a row verbatim.
func (w *writer) inRecent(i int32) bool { return int(w.row(i).Rec) >= w.until }
