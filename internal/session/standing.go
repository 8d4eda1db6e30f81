package session

import (
	"slices"
	"strings"
	"unicode"

	"ccd/internal/transcript"
)

// standing is a line of a file that a call wrote and that nothing is known to have removed since.
type standing struct {
	text string // without white space at its ends
	call *Call
	edge bool // it may be a part of a line
}

// Loss is what a reading of a file lacks of the lines that calls wrote, although no call is known to have removed them.
type Loss struct {
	At    int32    // the reading
	Since int32    // the newest call that wrote one of them
	Lines []string // the first ones
	N     int      // how many
}

// Limits of what is kept of lines.
const (
	maxStanding = 5000 // of a file
	maxLost     = 12   // lines of a Loss
	nearParts   = 1000 // newest lines in which parts of lines are looked for
	maxSought   = 100  // lines that are looked for in a whole text
	nearEdges   = 100  // newest lines that may be parts themselves
	leastPart   = 3    // bytes of a part of a line that is looked for in whole lines
)

// swap is a replacement in one file; whole: the text is all of it.
type swap struct {
	old, new   string
	whole, all bool
}

// swapsOf returns what a call writes, by the index of the file in its Action.Files, as far as its input shows it.
func swapsOf(client *transcript.Client, tool string, raw []byte, a *transcript.Action) [][]swap {
	changed := slices.ContainsFunc(a.Files, func(f transcript.FileChange) bool {
		return f.Op == transcript.Write || f.Op == transcript.Edit || f.Op == transcript.Rename
	})
	if !changed {
		return nil
	}
	all := make([][]swap, len(a.Files))
	if patch := client.Patch(tool, raw); patch != "" {
		n := -1
		for line := range strings.Lines(patch) {
			kind, _, header := strings.Cut(line, " File: ")
			if header = header && strings.HasPrefix(kind, "*** "); header {
				n++
			}
			switch {
			case n < 0 || n >= len(all):
			case header:
				all[n] = []swap{{whole: kind == "*** Add"}}
			case line[0] == '-':
				all[n][0].old += line[1:]
			case line[0] == '+':
				all[n][0].new += line[1:]
			}
		}
		return all
	}
	if a.Op == transcript.Command {
		for n, f := range a.Files {
			if f.Op != transcript.Write {
				continue
			}
			if text, ok := client.After(tool, raw, n, transcript.Content{}).Text(); ok {
				all[n] = []swap{{new: text, whole: true}}
			}
		}
		return all
	}
	content, steps, ok := transcript.Edits(raw)
	switch {
	case !ok:
	case steps == nil:
		all[0] = []swap{{new: content, whole: true}}
	default:
		for _, e := range steps {
			all[0] = append(all[0], swap{old: e.Old, new: e.New, all: e.All})
		}
	}
	return all
}

// lost notes that a line of a call is gone since event at.
func (f *File) lost(l *standing, at int32) {
	l.call.left--
	l.call.Replaced = at
	if f.taken == nil {
		f.taken = map[string]*Call{}
	}
	if len(f.taken) < maxStanding {
		f.taken[l.text] = l.call
	}
}

// drop removes the lines that gone chooses.
func (f *File) drop(at int32, gone func(*standing) bool) {
	f.lines = slices.DeleteFunc(f.lines, func(l standing) bool {
		if !gone(&l) {
			return false
		}
		f.index[l.text]--
		f.lost(&l, at)
		return true
	})
}

// clear removes every line, as a deletion does.
func (f *File) clear(at int32) { f.drop(at, func(*standing) bool { return true }) }

// put adds lines that a call wrote. If they are most of what an older call lost, they are that call's again.
func (f *File) put(c *Call, lines []string, parts bool) {
	back := map[*Call]int32{}
	for _, text := range lines {
		if first := f.taken[text]; first != nil {
			back[first]++
		}
	}
	for first, n := range back {
		if 2*n <= first.wrote-first.left {
			delete(back, first)
		}
	}
	for i, text := range lines {
		text = strings.Clone(text)
		c := c
		if first := f.taken[text]; back[first] > 0 {
			c = first
			delete(f.taken, text)
		} else {
			c.wrote++
		}
		c.left++
		if len(f.lines) < maxStanding {
			if f.index == nil {
				f.index = map[string]int{}
			}
			f.index[text]++
			f.lines = append(f.lines, standing{text, c, parts && (i == 0 || i == len(lines)-1)})
		}
	}
}

// swap applies a replacement by a call. Lines that stand on both sides stay as they are.
func (f *File) swap(c *Call, at int32, w *swap) {
	added := wordLines(w.new)
	if w.whole {
		if len(f.lines) > 0 { // what was written twice belongs to the newer call
			f.clear(at)
			f.taken = nil
		}
		f.put(c, added, false)
		return
	}
	old := wordLines(w.old)
	removed, kept := map[string]int{}, map[string]int{}
	for _, l := range old {
		removed[l]++
	}
	for _, l := range added {
		if removed[l] > 0 {
			removed[l]--
			kept[l]++
		}
	}
	var parts []string // of old, which may begin and end within a line
	for _, i := range []int{0, len(old) - 1} {
		if i >= 0 && i < len(old) && removed[old[i]] > 0 && len(old[i]) >= leastPart && !slices.Contains(parts, old[i]) {
			parts = append(parts, old[i])
		}
	}
	whole := "" // the one new line, with what stands around it
	known := 0  // lines that are removed whole
	for text, n := range removed {
		if n = min(n, f.index[text]); w.all {
			n = f.index[text]
		}
		known += n
	}
	taken := false
	for i, near := len(f.lines)-1, 0; i >= 0 && (known > 0 || near < nearParts); i, near = i-1, near+1 { // the newest of equal lines
		l := &f.lines[i]
		gone := known > 0 && removed[l.text] > 0
		switch {
		case gone:
			known--
			if !w.all {
				removed[l.text]--
			}
		case near >= nearParts:
		case slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(l.text, p) }):
			gone = true
			if len(old) == 1 && len(added) == 1 {
				whole = strings.Replace(l.text, old[0], added[0], 1)
			}
		case near < nearEdges && l.edge && len(l.text) >= leastPart:
			for text, n := range removed {
				gone = gone || n > 0 && strings.Contains(text, l.text)
			}
		}
		if gone {
			f.index[l.text]--
			f.lost(l, at)
			l.call, taken = nil, true
		}
	}
	if taken {
		f.lines = slices.DeleteFunc(f.lines, func(l standing) bool { return l.call == nil })
	}
	if whole != "" {
		added = []string{whole}
	}
	f.put(c, slices.DeleteFunc(added, func(l string) bool {
		kept[l]--
		return kept[l] >= 0
	}), whole == "")
}

// apply applies what a call does to its file number n.
func (f *File) apply(p *pending, n int, at int32, out *transcript.Outcome) {
	if n >= len(p.swaps) || out.Amended { // what the human made of it is not known
		return
	}
	for i := range p.swaps[n] {
		f.swap(p.call, at, &p.swaps[n][i])
	}
}

// seen compares a file with a reading of all of it. What a formatter does to white space is no difference.
func (f *File) seen(text string, at int32) {
	if len(f.lines) == 0 {
		return
	}
	lines := map[string]bool{}
	for line := range strings.Lines(text) {
		lines[squeezed(line)] = true
	}
	all := ""
	loss := Loss{At: at}
	f.drop(at, func(l *standing) bool {
		one := squeezed(l.text)
		if lines[one] {
			return false
		}
		if all == "" {
			all = squeezed(text)
		}
		if loss.N >= maxSought || strings.Contains(all, one) {
			return false
		}
		if loss.N++; len(loss.Lines) < maxLost {
			loss.Lines = append(loss.Lines, l.text)
		}
		loss.Since = max(loss.Since, l.call.Index)
		return true
	})
	if loss.N > 0 {
		f.Losses = append(f.Losses, loss)
	}
}

// Standing returns the lines that calls wrote and that still stand, without white space at their ends.
func (s *Session) Standing() map[*Call]map[string]bool {
	all := map[*Call]map[string]bool{}
	for _, f := range s.Files {
		for i := range f.lines {
			l := &f.lines[i]
			if all[l.call] == nil {
				all[l.call] = map[string]bool{}
			}
			all[l.call][l.text] = true
		}
	}
	return all
}

// Over reports whether nothing is left of the lines that a call wrote.
func (c *Call) Over() bool { return c.Replaced >= 0 && c.left == 0 }

// wordLines returns the lines of a text that have a letter or a digit, without white space at their ends.
func wordLines(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); HasWord(line) {
			all = append(all, line)
		}
	}
	return all
}

// HasWord reports whether a line has a letter or a digit, so that it is known again.
func HasWord(line string) bool {
	return strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// squeezed returns a text without white space.
func squeezed(text string) string { return strings.Join(strings.Fields(text), "") }
