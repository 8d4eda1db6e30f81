package unit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ccd/compactor/fold"
	"ccd/compactor/lexicon"
	"ccd/compactor/plan"
	"ccd/internal/mark"
)

// files adds the changed files in longer and longer lists, the files that were only read, and the content of those touched
// last.
func (w *writer) files() {
	if w.o.On("files") {
		w.fileLists()
	}
	w.contents()
}

func (w *writer) fileLists() {
	var changed, read []*fold.File
	for _, f := range w.f.Files() {
		switch {
		case w.beside(int(w.row(f.First).Rec)): // the reader has all of it already
		case f.To != "" && (f.From != "" || w.follows(f)): // listed under its current name
		case f.Tried > 0 || f.Edits > 0:
			changed = append(changed, f)
		case f.Reads > 0:
			read = append(read, f)
		}
	}
	if len(changed) > 0 {
		worth := []float64{worthFiles, worthFileLine}
		if len(changed)*fileLine > w.Room/fileLines { // decided by their number alone, so that the list does not keep changing its form
			worth = worth[:1]
		}
		w.add(&plan.Unit{
			Section: Files, Kind: "edited", Must: true, Worth: worth,
			Form: func(level int) plan.Form { return w.changedFiles(changed, level > 0) },
		})
	}
	w.add(&plan.Unit{Section: Files, Order: 2, Worth: []float64{worthReport}, Form: func(int) plan.Form { return plan.Form{Text: w.elsewhere()} }})
	if len(read) > 0 {
		counts := []int{8, 32, len(read)}
		w.add(&plan.Unit{
			Section: Files, Order: 1, Worth: []float64{worthReport, worthFile, worthLook},
			Form: func(level int) plan.Form { return plan.Form{Text: w.readFiles(read, counts[level])} },
		})
	}
}

// elsewhere names the sub-agents whose edits are in transcripts of their own, "" if there are none.
func (w *writer) elsewhere() string {
	var parts []string
	for _, g := range w.f.Agents() {
		if g.ID != "" && g.Call >= 0 && !w.row(g.Call).Gone() && len(parts) < mostElsewhere {
			parts = append(parts, fmt.Sprintf("#%d session %s", w.row(g.Call).Record(), mark.Inline(g.ID, 60)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "- what sub-agents edited stands in their own sessions: " + strings.Join(parts, ", ") + "\n"
}

// mostElsewhere is how many such sub-agents are named.
const mostElsewhere = 12

// Changed files get one line each if that takes at most this share of a text, as a divisor.
const (
	fileLine  = 45 // chars, about
	fileLines = 8
)

// namesMost is the share of a text that the names of changed files may take, as a divisor.
const namesMost = 2

// mostFiles is how many changed files are named in one list.
const mostFiles = 400

// changedFiles lists what happened to files. Files beyond the limit are under an ID.
func (w *writer) changedFiles(files []*fold.File, apart bool) plan.Form {
	room := w.Room / namesMost
	named := files[:0:0]
	for _, f := range files[:min(len(files), mostFiles)] { // measured by names alone, so that both levels name the same files
		if room -= lexicon.Chars(w.filePath(f)) + len(" · "); room < 0 && len(named) > 0 {
			break
		}
		named = append(named, f)
	}
	text := w.listFiles(named, apart)
	var left []int32
	for _, f := range files[len(named):] {
		left = append(left, f.Touched)
	}
	if len(left) > 0 {
		text += "- changed, or tried to: " + w.rest(left, "files") + "\n"
	}
	var names []string
	for _, f := range named {
		names = append(names, w.filePath(f))
	}
	return plan.Form{Text: text + forgotten(w.f.FilesForgotten(), "files"), Shows: strings.Join(names, "\x00")}
}

// follows reports whether the file that this one was renamed to is listed.
func (w *writer) follows(f *fold.File) bool {
	g := w.f.File(f.To)
	return g != nil && (g.From != "" || g.Created || g.To != "")
}

// listFiles lists files: one per line with the newest first (apart), or in groups in the order of their first use, so that
// later ones are added at the end.
func (w *writer) listFiles(files []*fold.File, apart bool) string {
	var b strings.Builder
	if apart {
		for _, f := range files {
			b.WriteString("- " + w.changedText(f) + "\n")
		}
		return b.String()
	}
	groups := map[string][]*fold.File{}
	for _, f := range files {
		e := w.effect(f)
		groups[e] = append(groups[e], f)
	}
	for _, e := range effects {
		group := groups[e]
		slices.SortStableFunc(group, func(a, b *fold.File) int { return cmp.Compare(a.First, b.First) })
		pieces := make([]string, 0, len(group))
		for _, f := range group {
			pieces = append(pieces, w.filePath(f))
		}
		b.WriteString(flow(e+": ", pieces))
	}
	return b.String()
}

// filePath returns a file's name, with its former name if it was renamed.
func (w *writer) filePath(f *fold.File) string {
	path := code(w.short(f.Path), 300)
	switch {
	case f.To != "":
		return path + " -> " + code(w.short(f.To), 300)
	case f.From != "":
		return code(w.short(f.From), 300) + " -> " + path
	}
	return path
}

// lastRow returns the row of the last change, or of the last call if there was no change.
func lastRow(f *fold.File) int32 {
	if f.Changed >= 0 {
		return f.Changed
	}
	return f.Touched
}

// effects lists what can happen to a file, in the order in which groups are printed.
var effects = []string{
	"edited", "written", "created", "created, then edited", "renamed", "renamed and edited", "deleted", "created, then deleted",
	"renamed, then deleted", "deleted, perhaps put back since", "deleted, then made anew", "put back", "not changed",
}

// effect returns what happened to a file, one of effects.
func (w *writer) effect(f *fold.File) string {
	switch {
	case f.Deleted && f.Doubt:
		return "deleted, perhaps put back since"
	case f.Deleted && f.From != "":
		return "renamed, then deleted"
	case f.Deleted && f.Created:
		return "created, then deleted"
	case f.Deleted:
		return "deleted"
	case f.To != "":
		return "renamed"
	case f.Reverted:
		return "put back"
	case f.Edits == 0:
		return "not changed"
	case f.From != "" && f.News() > 0:
		return "renamed and edited"
	case f.From != "":
		return "renamed"
	case f.Again:
		return "deleted, then made anew"
	case f.Created && f.News() < 2:
		return "created"
	case f.Created:
		return "created, then edited"
	case f.Wrote:
		return "written"
	}
	return "edited"
}

// changedText returns what happened to one file.
func (w *writer) changedText(f *fold.File) string {
	path, effect := w.filePath(f), w.effect(f)
	at := fmt.Sprintf("#%d", w.row(lastRow(f)).Record())
	n := f.News()
	switch {
	case effect == "not changed":
		return fmt.Sprintf("not changed, %s: %s (%s)", w.why(lastRow(f)), path, at)
	case effect == "created, then edited":
		return fmt.Sprintf("created, then edited %dx %s (last %s)", n-1, path, at)
	case effect == "renamed and edited":
		return fmt.Sprintf("renamed %s, edited %dx (last %s)", path, n, at)
	case n > 1 && (effect == "edited" || effect == "written"):
		return fmt.Sprintf("%s %dx %s (last %s)", effect, n, path, at)
	}
	return effect + " " + path + " (" + at + ")"
}

// why says why a change was not made.
func (w *writer) why(call int32) string {
	switch pair := w.row(call).Pair; {
	case pair < 0:
		return "no result yet"
	case w.row(call).Has(fold.Rejected), w.row(pair).Has(fold.Rejected):
		return "refused by the human"
	}
	return "the edit failed"
}

// readFiles names the files that were only read: at most so many of the last read, in the order of their first use.
func (w *writer) readFiles(files []*fold.File, most int) string {
	shown := slices.Clone(files[:min(len(files), most)])
	var left []int32
	for _, f := range files[len(shown):] {
		left = append(left, f.Touched)
	}
	slices.SortStableFunc(shown, func(a, b *fold.File) int { return cmp.Compare(a.First, b.First) })
	pieces := make([]string, 0, len(shown)+1)
	for _, f := range shown {
		pieces = append(pieces, code(w.short(f.Path), 200))
	}
	if len(left) > 0 {
		pieces = append(pieces, w.rest(left, "files"))
	}
	return flow("read: ", pieces)
}

// flow joins pieces by " · " into list lines of about 1000 chars, each with the label what.
func flow(what string, pieces []string) string {
	var b strings.Builder
	n := 0
	for _, p := range pieces {
		switch {
		case n == 0:
			b.WriteString("- " + what)
		case n+lexicon.Chars(p) > 1000:
			b.WriteString("\n- " + what)
			n = 0
		default:
			b.WriteString(" · ")
			n += 3
		}
		b.WriteString(p)
		n += lexicon.Chars(p)
	}
	if n > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}

// rest names the items that do not fit into a list: at most maxList of them by a list's ID, and their ranges cover all of
// them. An injection gets no list ID, because its text is not stored and the ID could not be resolved later.
func (w *writer) rest(items []int32, what string) string {
	if w.Brief {
		return fmt.Sprintf("%d more, in the ranges at the end", len(items))
	}
	return mark.New(w.list(items[:min(len(items), maxList)], what), fmt.Sprintf("range of %d more", len(items)))
}
