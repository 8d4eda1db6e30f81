package compactor

import (
	"cmp"
	"slices"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/session"
)

// block is a part of a text that is shown or left out as a whole: a paragraph, a list with its lead, a table, code.
type block struct {
	lines []string
	list  bool // each line may be shortened or dropped on its own
	code  bool
}

func (b *block) chars() int {
	n := 0
	for _, l := range b.lines {
		n += lexicon.Chars(l) + 3
	}
	return n
}

// blocksOf splits a text. A heading and a line that ends in a colon belong to the block after them.
func blocksOf(text string) (all []block) {
	var fences lexicon.Fences
	var b block
	leading := false // the block so far only introduces the next one
	flush := func() {
		if len(b.lines) > 0 {
			all = append(all, b)
		}
		b, leading = block{}, false
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		fence, code := fences.Line(line)
		t := strings.TrimSpace(line)
		switch {
		case fence || code:
			if !b.code && !leading {
				flush()
			}
			b.lines, b.code, leading = append(b.lines, line), true, false
			continue
		case b.code:
			flush()
		}
		if t == "" {
			if !leading {
				flush()
			}
			continue
		}
		item := lexicon.BulletLen(t) > 0 || strings.HasPrefix(t, "|")
		switch {
		case item && !b.list && len(b.lines) > 0 && !leading:
			flush()
		case !item && b.list && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t"):
			flush()
		}
		b.lines, b.list = append(b.lines, line), b.list || item
		leading = !item && leads(t)
	}
	flush()
	for i := len(all) - 2; i >= 0; i-- { // a line that is no sentence leads the list below it
		if head := &all[i]; all[i+1].list && !head.list && !head.code && len(head.lines) == 1 && !strings.ContainsAny(lexicon.TailAt(head.lines[0], 4), ".!?。！？") {
			all[i+1].lines = append(head.lines, all[i+1].lines...)
			all = slices.Delete(all, i, i+1)
		}
	}
	return all
}

// excerpt returns the beginning, the end and the blocks with the most values of a text, in about room chars, as quoted
// lines. What is left out is marked by a line "..." of its own. used reports whether a value is used later; it may be nil.
// whole is true if nothing is left out.
func excerpt(text string, room int, used func(string) bool) (quoted string, whole bool) {
	text = strings.TrimSpace(text)
	if lexicon.Chars(text)+2*strings.Count(text, "\n")+3 <= room {
		return mark.Quote("", text), true
	}
	all := blocksOf(text)
	if len(all) == 0 {
		return "", true
	}
	type scored struct {
		n     int
		worth float64
	}
	var order []scored
	for n := range all {
		w := values(&all[n], used)
		switch n {
		case len(all) - 1:
			w += 4
		case 0:
			if w > 0 || used == nil { // an opening of the agent without a value only introduces
				w += 5
			}
		}
		if all[n].list {
			w++
		}
		order = append(order, scored{n, w})
	}
	slices.SortStableFunc(order, func(a, b scored) int { return cmp.Compare(b.worth, a.worth) })
	kept := map[int][]string{}
	for _, o := range order {
		if room < 40 {
			break
		}
		if len(all) > 1 && !slices.ContainsFunc(all[o.n].lines, func(l string) bool {
			return session.HasWord(l) && !leads(l) && !strings.HasPrefix(strings.TrimSpace(l), "```")
		}) {
			continue // headings whose text is not there, or no more than the fences of code
		}
		lines := shorten(&all[o.n], room)
		if len(lines) == 0 {
			continue
		}
		kept[o.n] = lines
		for _, l := range lines {
			room -= lexicon.Chars(l) + 3
		}
		room -= 4
	}
	var b strings.Builder
	last := -1
	gap := func() { // never twice in a row
		if !strings.HasSuffix("\n"+b.String(), "\n...\n") {
			b.WriteString("...\n")
		}
	}
	for n := range all {
		lines, ok := kept[n]
		if !ok {
			continue
		}
		if n > last+1 {
			gap()
		} else if n > 0 && !strings.HasSuffix(b.String(), "...\n") {
			b.WriteString(">\n")
		}
		for _, l := range lines {
			if l == cutLine {
				gap()
			} else {
				b.WriteString(mark.Quote("", l))
			}
		}
		last = n
	}
	if last < len(all)-1 {
		gap()
	}
	return b.String(), false
}

// shortParent is below how many chars an entry says nothing without those nested in it.
const shortParent = 40

// cutLine stands for lines left out of a block.
const cutLine = "\x00"

// shorten returns the lines of a block that fit into room chars: all of them, else a list's entries shortened, then its nested
// entries dropped, then its last ones; or the first sentences of a paragraph; or the first lines of code.
func shorten(b *block, room int) []string {
	if b.chars() <= room {
		return b.lines
	}
	if b.list {
		for _, most := range []int{160, 80} {
			for _, nested := range []bool{true, false} {
				var lines []string
				n := 0
				for i, l := range b.lines {
					if !nested && (i > 0 && strings.HasPrefix(l, " ") || (lexicon.Leads(l) || lexicon.Chars(l) < shortParent) && i+1 < len(b.lines) && strings.HasPrefix(b.lines[i+1], " ")) {
						continue // nor the entry that only introduces nested ones
					}
					l = headOf(l, most)
					if n += lexicon.Chars(l) + 3; n > room-8 {
						for len(lines) > 0 && leads(lines[len(lines)-1]) {
							lines = lines[:len(lines)-1]
						}
						if !nested && most == 80 && len(lines) > 1 {
							return append(lines, cutLine)
						}
						lines = nil
						break
					}
					lines = append(lines, l)
				}
				if lines != nil {
					return lines
				}
			}
		}
		return nil
	}
	if b.code {
		var lines []string
		n := 8
		for _, l := range b.lines {
			if n += lexicon.Chars(l) + 3; n > room {
				break
			}
			lines = append(lines, l)
		}
		if len(lines) < 2 || lexicon.Leads(lines[len(lines)-2]) { // no more than its opening
			return nil
		}
		return append(lines, cutLine)
	}
	if room < 60 {
		return nil
	}
	if len(b.lines) == 1 {
		return []string{headOf(b.lines[0], room-10), cutLine}
	}
	last := headOf(b.lines[len(b.lines)-1], min(room/3, 300))
	lines, n := []string{}, lexicon.Chars(last)+16
	for _, l := range b.lines[:len(b.lines)-1] {
		l = headOf(l, min(room-20, 300))
		if n += lexicon.Chars(l) + 3; n > room && len(lines) > 0 {
			break
		}
		lines = append(lines, l)
	}
	if n > room {
		return append(lines, cutLine)
	}
	return append(lines, cutLine, last)
}

// leads reports whether a line only introduces the next one: a heading, or one that ends in a colon.
func leads(line string) bool {
	t := strings.TrimSpace(line)
	return strings.HasPrefix(t, "#") || lexicon.Leads(t)
}

// headOf returns the beginning of a line up to a sentence or word.
func headOf(line string, most int) string {
	if lexicon.Chars(line) <= most {
		return line
	}
	head := strings.TrimRight(lexicon.SentenceHead(line, most-2), " ")
	if !strings.HasSuffix(head, "…") {
		head += " …"
	}
	return head
}

// values scores a block by the values in it: those that later texts use count three times.
func values(b *block, used func(string) bool) float64 {
	n, seen := 0.0, map[string]bool{}
	lexicon.Terms(strings.Join(b.lines, "\n"), func(term string) bool {
		if !seen[term] {
			seen[term] = true
			if n++; used != nil && used(term) {
				n += 2
			}
		}
		return len(seen) < 200
	})
	return n * 100 / float64(b.chars()+200)
}

// outputExcerpt returns the lines of an output that say most: errors with a place first, values that later texts use, the last
// line. It quotes them in about room chars.
func outputExcerpt(text string, room int, failed bool, used func(string) bool) (quoted string, whole bool) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if lexicon.Chars(text)+2*strings.Count(text, "\n")+3 <= room {
		return mark.Quote("", text), true
	}
	lines := strings.Split(text, "\n")
	if len(lines) < 3 && (text[0] == '{' || text[0] == '[') {
		return "", false // data on one line: its beginning says nothing
	}
	worth := make([]float64, len(lines))
	if failed {
		for n := range lexicon.NumberedErrors(text, false) {
			if n-1 < len(lines) {
				worth[n-1] += 3
			}
		}
	}
	told := map[string]bool{}
	for i, l := range lines {
		t := strings.TrimSpace(l)
		if t == "" || len(l) > 4000 {
			worth[i] = -1
			continue
		}
		if failed && lexicon.IsPlaced(t) {
			worth[i] += 2
		}
		if lexicon.IsSummaryLine(l) {
			worth[i] += 2
		}
		fresh := false
		lexicon.Terms(l, func(term string) bool {
			if used != nil && used(term) {
				worth[i] += 3
			}
			fresh = fresh || !told[term]
			told[term] = true
			return true
		})
		if !fresh && worth[i] < 3 {
			worth[i] -= 1
		}
		worth[i] += 0.2
	}
	if n := len(lines); n > 0 {
		worth[n-1] += 4
		worth[0] += 1
	}
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(worth[b], worth[a]) })
	kept := map[int]bool{}
	for _, i := range order {
		cost := min(lexicon.Chars(lines[i]), 300) + 7
		if worth[i] < 0 || cost > room {
			continue
		}
		room -= cost
		kept[i] = true
	}
	for i := 1; i+1 < len(lines); i++ { // a gap of one line is longer than most lines
		if cost := lexicon.Chars(lines[i]) + 3; !kept[i] && kept[i-1] && kept[i+1] && cost <= room+7 {
			kept[i] = true
			room -= cost - 4
		}
	}
	var b strings.Builder
	last := -1
	for i, l := range lines {
		if !kept[i] {
			continue
		}
		if i > last+1 {
			b.WriteString("...\n")
		}
		b.WriteString(mark.Quote("", lexicon.Head(l, 300)))
		last = i
	}
	return b.String(), false
}
