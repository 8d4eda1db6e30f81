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
// records added behind change only the last.
const (
	block      = 64
	largest    = block << 12
	blockRatio = 8
)

// cut divides the records [0, to) into ranges of at least so many records (the last may have fewer) whose ends are
// fixed: as large as the place allows.
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

// rangeChars is about what a range takes with what is in it.
const rangeChars = 160

// ranges adds the ranges that cover all records: few, then more of them, with what is in each.
func (w *writer) ranges() {
	_, last := w.f.Records()
	if last == 0 {
		return
	}
	worth := []float64{worthRange, worthWork, worthLook}
	if w.Brief {
		worth = worth[:1]
	}
	w.add(&plan.Unit{Section: Rest, Must: true, Worth: worth, Form: func(level int) plan.Form {
		least, most := block<<3, 8
		if level > 0 {
			least, most = block, max(8, w.Room/rangeChars/[]int{1, 40, 16}[level])
		}
		var b strings.Builder
		for _, s := range stretches(last, least, most) {
			b.WriteString("- " + w.rangeMarker(s, level > 0) + "\n")
		}
		return plan.Form{Text: b.String()}
	}})
}

// rangeMarker names the records of a range, all that is in them; told adds a few words of what they are about.
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
	gistNames = 4  // files and commands that a gist names, each
	gistWords = 24 // chars of a command
)

// gist tells in a few words what was done in the rows [from, to): how many calls of which kind, the files last changed or
// read there, the commands last run there.
func (w *writer) gist(from, to int32, ask bool) string {
	var asks, reads, searches, edits, runs, failed, refused, agents, others int
	for i := from; i < to; i++ {
		row := w.row(i)
		if row.Has(fold.Side) || row.Gone() {
			continue
		}
		if row.Kind == transcript.Human {
			asks++
		}
		if row.Kind == transcript.Result && row.Op == transcript.Command && row.Has(fold.Failed) {
			failed++
		}
		if row.Kind == transcript.Call && row.Has(fold.Rejected) || row.Kind == transcript.Result && row.Has(fold.Rejected) {
			refused++
		}
		if row.Kind != transcript.Call {
			continue
		}
		switch row.Op {
		case transcript.Read:
			reads++
		case transcript.Search, transcript.Web:
			searches++
		case transcript.Write, transcript.Edit, transcript.Delete, transcript.Rename:
			if p := row.Pair; !row.Has(fold.Rejected) && (p < 0 || !w.row(p).Has(fold.Failed|fold.Rejected)) {
				edits++
			}
		case transcript.Command:
			runs++
		case transcript.Agent:
			agents++
		case transcript.Plan, transcript.Ask:
		default:
			others++
		}
	}
	in := func(i int32) bool { return i >= from && i < to }
	var changed, read, ran []string
	for _, f := range w.f.Files() {
		switch name := code(lastOf(w.short(f.Path)), 60); {
		case f.Changed >= 0 && in(f.Changed) && len(changed) < gistNames:
			changed = append(changed, name)
		case f.Edits == 0 && in(f.Touched) && len(read) < gistNames:
			read = append(read, name)
		}
	}
	for _, c := range w.f.Commands() {
		if in(c.Row) && len(ran) < gistNames && (runs == 1 || !fold.IsLookUp(c.Text)) {
			if name := code(words(fold.PlainCommand(c.Text)), gistWords); !slices.Contains(ran, name) {
				ran = append(ran, name)
			}
		}
	}
	var parts []string
	add := func(n int, one, many string, names []string) {
		if n == 0 {
			return
		}
		what := many
		if n == 1 {
			what = one
		}
		part := fmt.Sprintf("%d %s", n, what)
		if len(names) > 0 {
			part += " (" + strings.Join(names, " ") + ")"
		}
		parts = append(parts, part)
	}
	if ask {
		add(asks, "request", "requests", nil)
	}
	add(reads, "read", "reads", read)
	add(searches, "search", "searches", nil)
	add(edits, "edit", "edits", changed)
	add(runs, "command", "commands", ran)
	switch {
	case failed > 0 && runs > 0:
		parts[len(parts)-1] += fmt.Sprintf(", %d failed", failed)
	case failed > 0: // of commands run before
		parts = append(parts, fmt.Sprintf("%d failed", failed))
	}
	add(refused, "call refused", "calls refused", nil)
	add(agents, "sub-agent", "sub-agents", nil)
	add(others, "other call", "other calls", nil)
	return strings.Join(parts, ", ")
}

// lastOf is the last element of a path.
func lastOf(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// words are the first two words of a command: the program and its sub-command.
func words(cmd string) string {
	all := strings.Fields(cmd)
	return strings.Join(all[:min(len(all), 2)], " ")
}

// bytesText is a number of bytes for people: 1.2 MB.
func bytesText(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000*1000:
		return trimZero(fmt.Sprintf("%.1f", float64(n)/1000)) + " KB"
	case n < 1000*1000*1000:
		return trimZero(fmt.Sprintf("%.1f", float64(n)/1e6)) + " MB"
	}
	return trimZero(fmt.Sprintf("%.1f", float64(n)/1e9)) + " GB"
}

func trimZero(s string) string { return strings.TrimSuffix(s, ".0") }
