package session

import (
	"slices"
	"strings"
	"unicode"

	"ccd/internal/transcript"
)

// standing is a line of a file that a call wrote and that nothing is known to have removed since.
type standing struct {
	call *Call
	n    int // its number among the lines written to the file
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
	maxSought   = 100  // lines that are looked for in a whole text
	maxRecent   = 1000 // newest lines that are compared with a part of a line
	maxEdges    = 16   // newest lines that may be parts themselves
	leastPart   = 3    // bytes of a part of a line
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

// stands reports whether a line of a call stands.
func (f *File) stands(text string) bool { return len(f.lines[text]) > 0 }

// lose removes the newest line with a text.
func (f *File) lose(text string, at int32) {
	all := f.lines[text]
	c := all[len(all)-1].call
	if f.lines[text] = all[:len(all)-1]; len(all) == 1 {
		delete(f.lines, text)
	}
	c.left--
	c.Replaced = at
	if f.taken == nil {
		f.taken = map[string]*Call{}
	}
	if len(f.taken) < maxStanding {
		f.taken[text] = c
	}
}

// drop removes the lines that gone chooses.
func (f *File) drop(at int32, gone func(text string, c *Call) bool) {
	for text, all := range f.lines {
		for range all {
			if gone(text, f.lines[text][len(f.lines[text])-1].call) {
				f.lose(text, at)
			}
		}
	}
}

// clear removes every line, as a deletion does.
func (f *File) clear(at int32) { f.drop(at, func(string, *Call) bool { return true }) }

// put adds lines that a call wrote. If they are most of what an older call lost, they are that call's again. What a call that undoes
// another one writes else stood there before the session.
func (f *File) put(c *Call, lines []string, undoes bool) {
	back := map[*Call]int32{}
	for _, text := range lines {
		if first := f.taken[text]; first != nil {
			back[first]++
		}
	}
	if f.lines == nil {
		f.lines = map[string][]standing{}
	}
	for _, text := range lines {
		owner := c
		if first := f.taken[text]; back[first] > 0 && (undoes || 2*back[first] > first.wrote-first.left) {
			owner = first
			delete(f.taken, text)
		} else if undoes {
			continue
		} else {
			c.wrote++
		}
		owner.left++
		if f.written++; len(f.lines) < maxStanding {
			text = strings.Clone(text)
			f.lines[text] = append(f.lines[text], standing{owner, f.written})
			f.recent = newest(f.recent, text, maxRecent)
		}
	}
}

// newest appends a text to those that are kept, of which there are up to twice as many as most.
func newest(all []string, text string, most int) []string {
	if len(all) >= 2*most {
		all = append(all[:0], all[len(all)-most:]...)
	}
	return append(all, text)
}

// swap applies a replacement by a call. Lines that stand on both sides stay as they are.
func (f *File) swap(c *Call, at int32, w *swap, undoes bool) {
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
	removed := map[string]int{}
	for _, l := range old {
		removed[l]++
	}
	added = slices.DeleteFunc(added, func(l string) bool {
		removed[l]--
		return removed[l] >= 0
	})
	parts := true // the first and the last line of old and new may be parts of lines
	for i, l := range old {
		if removed[l]--; removed[l] < 0 {
			continue
		}
		if f.stands(l) {
			for f.lose(l, at); w.all && f.stands(l); {
				f.lose(l, at)
			}
			continue
		}
		if i == 0 || i == len(old)-1 {
			for _, line := range f.longer(l, i == 0, i == len(old)-1, w.all) {
				f.lose(line, at)
				if len(old) == 1 && len(added) == 1 && parts {
					added[0], parts = strings.Replace(line, l, added[0], 1), false
				}
			}
		}
		for _, part := range f.edges {
			if f.stands(part) && strings.Contains(l, part) {
				f.lose(part, at)
			}
		}
	}
	f.put(c, added, undoes)
	for i, l := range added {
		if (i == 0 || i == len(added)-1) && parts && len(l) >= leastPart {
			f.edges = newest(f.edges, strings.Clone(l), maxEdges)
		}
	}
}

// longer returns the newest standing line of which a text is a part, or all of them: its end if more lines follow, its beginning if some
// stand before it.
func (f *File) longer(part string, first, last, all bool) (lines []string) {
	if len(part) < leastPart {
		return nil
	}
	for n, line := range slices.Backward(f.recent) {
		if len(f.recent)-n > maxRecent || len(lines) > 0 && !all {
			break
		}
		is := first && last && strings.Contains(line, part) || first && !last && strings.HasSuffix(line, part) || last && !first && strings.HasPrefix(line, part)
		if is && f.stands(line) && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// apply applies what a call does to its file number n.
func (f *File) apply(p *pending, n int, at int32, out *transcript.Outcome, undoes bool) {
	if n >= len(p.swaps) || out.Amended { // what the human made of it is not known
		return
	}
	for i := range p.swaps[n] {
		f.swap(p.call, at, &p.swaps[n][i], undoes)
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
	type line struct {
		text string
		standing
	}
	var missing []line
	for text, all := range f.lines {
		if !lines[squeezed(text)] {
			for _, l := range all {
				missing = append(missing, line{text, l})
			}
		}
	}
	if len(missing) == 0 {
		return
	}
	slices.SortFunc(missing, func(a, b line) int { return a.n - b.n })
	text = squeezed(text)
	loss := Loss{At: at}
	for _, l := range missing {
		if loss.N >= maxSought || strings.Contains(text, squeezed(l.text)) {
			continue
		}
		if loss.N++; len(loss.Lines) < maxLost {
			loss.Lines = append(loss.Lines, l.text)
		}
		loss.Since = max(loss.Since, l.call.Index)
		f.lose(l.text, at)
	}
	if loss.N > 0 {
		f.Losses = append(f.Losses, loss)
	}
}

// Standing returns the lines that calls wrote and that still stand, without white space at their ends.
func (s *Session) Standing() map[*Call]map[string]bool {
	all := map[*Call]map[string]bool{}
	for _, f := range s.Files {
		for text, owners := range f.lines {
			for _, l := range owners {
				if all[l.call] == nil {
					all[l.call] = map[string]bool{}
				}
				all[l.call][text] = true
			}
		}
	}
	return all
}

// Holding returns the file that calls wrote a text to, where nearly all of it still stands; nil if there is none.
func (s *Session) Holding(text string) *File {
	lines := wordLines(text)
	for _, f := range slices.Backward(s.Files) {
		missing := 0
		for i := 0; i < len(lines) && 10*missing <= len(lines); i++ {
			if !f.stands(lines[i]) {
				missing++
			}
		}
		if len(lines) > 0 && 10*missing <= len(lines) {
			return f
		}
	}
	return nil
}

// Over reports whether nothing is left of the lines that a call wrote, or so little that it may be lines as others write them too.
func (c *Call) Over() bool { return c.Replaced >= 0 && 4*c.left <= c.wrote }

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
