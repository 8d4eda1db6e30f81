package compactor

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/session"
)

// print writes the record: the events of which something was taken, in the order in which they happened; and the files. What is left
// out of an event is marked: … within a line, [k lines] between lines.
func (d *draft) print() (record, files string) {
	var b, f strings.Builder
	begun, before := false, false
	var taken []*event
	for _, e := range d.events {
		if e.head != nil && e.head.taken {
			taken = append(taken, e)
		}
	}
	slices.SortStableFunc(taken, func(a, b *event) int { return a.n - b.n })
	for _, e := range taken {
		if !begun && e.turn == 0 && d.turns > 0 {
			b.WriteString("## before the first request\n")
		}
		if before && e.n > 0 {
			b.WriteString("## rewritten at #1: the records above are from before\n")
		}
		begun, before = true, e.n < 0
		b.WriteString(d.printEvent(e))
	}
	for _, e := range d.files {
		if e.head.taken {
			f.WriteString(printFiles(e))
		}
	}
	return b.String(), f.String()
}

// Records returns the numbers of the records that a text by ccd names, each with the first line that names it, from 1.
func Records(text string) map[int]int {
	told := map[int]int{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if strings.HasPrefix(line, ">") {
			continue
		}
		for i, outside := range strings.Split(line, `"`) {
			if i%2 == 1 { // quoted
				continue
			}
			for _, m := range recordNumber.FindAllStringSubmatch(outside, -1) {
				if record, err := strconv.Atoi(m[1]); err == nil && told[record] == 0 {
					told[record] = n
				}
			}
		}
	}
	return told
}

var recordNumber = regexp.MustCompile(`#(-?[0-9]+)`)

// printEvent prints what was taken of an event, and marks what was left out.
func (d *draft) printEvent(e *event) string {
	head := fmt.Sprintf("#%d %s", e.n, e.head.text)
	if e.heading() {
		head = "## " + head
	}
	effect := ""
	if p := e.effect; p != nil && p.taken {
		effect = p.text + "\n"
	}
	shown := e.taken()
	switch {
	case len(shown) == 0 && e.total == 0:
		return head + "\n" + effect
	case len(shown) == 0 && e.row().prose:
		return head + " …\n" + effect
	case len(shown) == 0:
		return head + left(e.total) + "\n" + effect
	case e.inline(shown):
		return head + quoted(e, shown) + "\n" + effect
	}
	return head + "\n" + d.block(e, shown) + effect
}

// heading reports whether an event begins a turn.
func (e *event) heading() bool { return e.kind == human && e.Kind == session.Asked }

// taken returns the parts that were taken.
func (e *event) taken() (all []*piece) {
	for _, p := range e.parts {
		if p.taken && p.from >= 0 {
			all = append(all, p)
		}
	}
	return all
}

// mostInline is how long words in one line may be, in chars; mostlyWhole is the part of a text from which on its lines are kept apart.
const (
	mostInline  = 1600
	mostExcerpt = 240 // of an output
	mostlyWhole = .9
)

// inline reports whether the parts are printed behind the head, in quotes: words of one line, or excerpts.
func (e *event) inline(shown []*piece) bool {
	n := 0
	for _, p := range shown {
		n += p.chars
	}
	one := shown[0].from == shown[len(shown)-1].to
	if !e.row().prose {
		return e.kind != failedEdit && len(shown) < 4 && n < mostExcerpt && !slices.ContainsFunc(shown, func(p *piece) bool { return p.to > p.from })
	}
	return n < mostInline && (one || float64(len(shown)) < mostlyWhole*float64(len(e.parts)))
}

// quoted prints parts in quotes, with … for what is left out between them.
func quoted(e *event, shown []*piece) string {
	var b strings.Builder
	last := 0
	for i, p := range shown {
		switch {
		case p.order > last+1 && last > 0:
			b.WriteString(" … ")
		case p.order > last+1:
			b.WriteString("… ")
		case last > 0 && (!e.row().prose || e.blank(shown[i-1]) != ""):
			b.WriteByte(' ')
		}
		b.WriteString(p.text)
		last = p.order
	}
	text := mark.Inline(b.String(), 0)
	if most := mark.MaxLine * 9 / 10; lexicon.Chars(text) > most { // escapes are longer than what they stand for
		text = lexicon.Head(text, most) + " …"
	} else if last < len(e.parts) && e.parts[last].from >= 0 {
		text += " …"
	}
	text = "\"" + text + "\""
	if e.row().prose {
		return " " + text
	}
	return ": " + text
}

// blank returns what is between a part and the next one of the same line.
func (e *event) blank(before *piece) string {
	if e.row().prose && !lexicon.EndsWide(before.text) {
		return " "
	}
	return ""
}

// begins reports whether something of a part's line comes before it.
func (e *event) begins(p *piece) bool {
	return p.order > 1 && e.parts[p.order-2].from == p.from
}

// block prints parts below the head, each line behind a quote sign.
func (d *draft) block(e *event, shown []*piece) string {
	var b, row strings.Builder
	at := 0 // the next line of the text
	flush := func() {
		if row.Len() > 0 {
			b.WriteString(mark.Quote("", row.String()))
			row.Reset()
		}
	}
	for i, p := range shown {
		same := i > 0 && p.from == shown[i-1].to // the same line goes on
		if same && p.order == shown[i-1].order+1 {
			row.WriteString(e.blank(shown[i-1]))
		} else {
			flush()
			if gap := p.from - at; !same && gap > p.blank {
				b.WriteString(e.gap(gap))
			} else if e.begins(p) {
				b.WriteString("…\n")
			}
		}
		row.WriteString(p.text)
		at = p.to + 1
	}
	flush()
	if end := shown[len(shown)-1]; end.order < len(e.parts) && e.parts[end.order].from == end.to {
		b.WriteString("…\n")
	}
	if gap := e.total - at; gap > 0 {
		b.WriteString(d.marker(e, gap) + "\n")
	}
	return b.String()
}

// gap marks lines that are left out between others.
func (e *event) gap(n int) string {
	if e.row().prose {
		return "…\n"
	}
	return strings.TrimSpace(left(n)) + "\n"
}

// left marks lines that are left out.
func left(n int) string {
	switch {
	case n <= 0:
		return ""
	case n == 1:
		return " [1 line]"
	}
	return fmt.Sprintf(" [%d lines]", n)
}

// marker marks the lines at the end of an event that are left out, with the ID of the original.
func (d *draft) marker(e *event, lines int) string {
	ref := e.Ref
	if e.Call != nil && e.n == e.Call.Result.N() {
		ref = e.Call.Result
	}
	if ref.Zero() {
		return fmt.Sprintf("[#%d: %s]", e.n, more(lines))
	}
	return mark.New(d.src.ID(ref), more(lines))
}

func more(lines int) string {
	if lines == 1 {
		return "1 more line"
	}
	return fmt.Sprintf("%d more lines", lines)
}

// printFiles prints the names that were taken of a directory, in lines that begin with it.
func printFiles(e *event) string {
	var b strings.Builder
	size, out := 0, 0
	for _, p := range e.parts {
		switch {
		case !p.taken:
			out++
			continue
		case size == 0 || size+p.chars > mark.MaxLine*9/10:
			if size > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(e.head.text + " ")
			size = e.head.chars
		default:
			b.WriteString(", ")
		}
		b.WriteString(p.text)
		size += p.chars
	}
	if out > 0 {
		fmt.Fprintf(&b, " [%d files]", out)
	}
	b.WriteByte('\n')
	return b.String()
}
