package unit

import (
	"fmt"
	"slices"
	"strings"

	"ccd/compactor/fold"
	"ccd/compactor/lexicon"
	"ccd/compactor/plan"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// block is the number of records of the smallest range. Larger ranges are eight times the next smaller one, so that
// appended records change only the last range.
const (
	block      = 64
	largest    = block << 12
	blockRatio = 8
)

// cut divides the records [0, to) into ranges of at least so many records (the last may have fewer) whose ends are
// fixed, each as large as its position allows.
func cut(to, least int) []Range {
	var all []Range
	for from := 0; from < to; {
		size := largest
		for size > least && (from%size != 0 || from+size > to) {
			size /= blockRatio
		}
		next := min(from+size, to)
		all = append(all, Range{from, next})
		from = next
	}
	return all
}

// stretches divides the records [0, to) into at most so many ranges (and those of cut, if these are more), the newest
// into the smallest.
func stretches(to, least, most int) []Range {
	all := cut(to, least)
	for n := len(all) - 1; n >= 0 && len(all)+blockRatio-1 <= most; {
		s := all[n]
		size := s.To - s.From
		if size <= least {
			n--
			continue
		}
		var parts []Range
		for from := s.From; from < s.To; from += size / blockRatio {
			parts = append(parts, Range{from, min(from+size/blockRatio, s.To)})
		}
		all = append(all[:n:n], append(parts, all[n+1:]...)...)
		n += len(parts) - 1
	}
	return all
}

// rangeChars is about how long the line of a range is.
const rangeChars = 160

// ranges adds the ranges that cover all records: a few, then more of them, each with a gist.
func (w *writer) ranges() {
	_, last := w.f.Records()
	if last == 0 {
		return
	}
	worth := []float64{worthRange, worthWork}
	if w.Brief {
		worth = worth[:1]
	}
	w.add(&plan.Unit{Section: Rest, Must: true, Worth: worth, Form: func(level int) plan.Form {
		least, most := block<<3, 8
		if level > 0 {
			least, most = block, max(8, w.Room/rangeChars/16)
		}
		var b strings.Builder
		for _, s := range stretches(last, least, most) {
			b.WriteString("- " + w.rangeMarker(s, level > 0) + "\n")
		}
		return plan.Form{Text: b.String()}
	}})
}

// rangeMarker returns the marker of a range of records; told adds a gist of them.
func (w *writer) rangeMarker(s Range, told bool) string {
	n := s.To - s.From
	size := w.f.Line(s.To-1).End() - w.f.Line(s.From).Off
	name := fmt.Sprintf("range #%d-#%d, %d records, %s", s.From+1, s.To, n, bytesText(size))
	if n == 1 {
		name = fmt.Sprintf("range #%d, 1 record, %s", s.To, bytesText(size))
	}
	if told {
		from, _ := w.f.Items(s.From)
		_, to := w.f.Items(s.To - 1)
		if g := w.gist(from, to, true); g != "" {
			name += ": " + g
		}
	}
	m := mark.New(w.lines(s), name)
	if int64(lexicon.Chars(m)) > size { // a marker is never longer than what it replaces
		return mark.New(w.lines(s), "range")
	}
	return m
}

const (
	gistNames = 4  // number of files, and of commands, in a gist
	gistWords = 24 // chars of a command
)

// deeds are the nouns for what a gist counts, singular and plural, in the order in which they are printed.
var deeds = [...][2]string{
	{"request", "requests"},
	{"read", "reads"},
	{"search", "searches"},
	{"edit", "edits"},
	{"command", "commands"},
	{"call refused", "calls refused"},
	{"sub-agent", "sub-agents"},
	{"other call", "other calls"},
}

var deedOf = map[transcript.Op]string{
	transcript.Read: "read", transcript.Search: "search", transcript.Web: "search", transcript.Write: "edit", transcript.Edit: "edit",
	transcript.Delete: "edit", transcript.Rename: "edit", transcript.Command: "command", transcript.Agent: "sub-agent",
	transcript.Plan: "", transcript.Ask: "",
}

// gist summarizes the rows [from, to) in a few words: number and kinds of calls, the files last changed or read, the commands
// last run.
func (w *writer) gist(from, to int32, ask bool) string {
	counts, failed := map[string]int{}, 0
	for i := from; i < to; i++ {
		row := w.row(i)
		if row.Has(fold.Side) || row.Gone() {
			continue
		}
		if row.Kind == transcript.Human {
			counts["request"]++
		}
		if deed, ok := deedOf[row.Op]; row.Kind == transcript.Call {
			if !ok {
				deed = "other call"
			}
			if deed != "edit" || !row.Has(fold.Rejected) && (row.Pair < 0 || !w.row(row.Pair).Has(fold.Failed|fold.Rejected)) {
				counts[deed]++
			}
		}
		if row.Kind == transcript.Result && row.Op == transcript.Command && row.Has(fold.Failed) {
			failed++
		}
		if (row.Kind == transcript.Call || row.Kind == transcript.Result) && row.Has(fold.Rejected) {
			counts["call refused"]++
		}
	}
	names := map[string][]string{}
	name := func(deed, text string, most int) {
		if all := names[deed]; len(all) < gistNames {
			names[deed] = append(all, code(text, most))
		}
	}
	in := func(i int32) bool { return i >= from && i < to }
	for _, f := range w.f.Files() {
		switch {
		case f.Changed >= 0 && in(f.Changed) && len(names["edit"]) < gistNames:
			name("edit", lastOf(w.short(f.Path)), 60)
		case f.Edits == 0 && in(f.Touched):
			name("read", lastOf(w.short(f.Path)), 60)
		}
	}
	for _, c := range w.f.Commands() {
		if in(c.Row) && (counts["command"] == 1 || !c.LookUp) {
			if text := words(transcript.NormalizeRun("", c.Text).Command); !slices.Contains(names["command"], code(text, gistWords)) {
				name("command", text, gistWords)
			}
		}
	}
	if !ask {
		delete(counts, "request")
	}
	var parts []string
	for _, called := range deeds {
		deed := called[0]
		if n := counts[deed]; n > 0 {
			part := fmt.Sprintf("%d %s", n, called[min(n, 2)-1])
			if all := names[deed]; len(all) > 0 {
				part += " (" + strings.Join(all, " ") + ")"
			}
			parts = append(parts, part)
		}
		if deed != "command" || failed == 0 {
			continue
		}
		if said := fmt.Sprintf("%d failed", failed); counts[deed] > 0 {
			parts[len(parts)-1] += ", " + said
		} else { // of commands run before
			parts = append(parts, said)
		}
	}
	return strings.Join(parts, ", ")
}

// lastOf returns the last element of a path.
func lastOf(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// words returns the first two words of a command: the program and its sub-command.
func words(cmd string) string {
	all := strings.Fields(cmd)
	return strings.Join(all[:min(len(all), 2)], " ")
}

// bytesText formats a number of bytes for people: 1.2 MB.
func bytesText(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	x, unit := float64(n)/1000, 0
	for ; x >= 1000 && unit < 2; unit++ {
		x /= 1000
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0") + [...]string{" KB", " MB", " GB"}[unit]
}
