package transcript

import (
	"slices"
	"strings"
)

// Content is what is known of a file's text: nothing (the zero Content), some of its lines, or all of it. A text is cut
// at newlines, so that one that ends with a newline has an empty last line. It is a value: what derives from it leaves
// it as it was.
type Content struct {
	parts []stretch // apart from each other, in order, none of them empty
	total int       // lines of the whole file, 0 where not known
}

// stretch is known lines next to each other.
type stretch struct {
	first int // number of the first line, from 1 on
	lines []string
}

func (s stretch) end() int { return s.first + len(s.lines) }

// Whole is the content of a file whose text is known.
func Whole(text string) Content {
	lines := strings.Split(text, "\n")
	return Content{parts: []stretch{{1, lines}}, total: len(lines)}
}

// Some is the content of a file of which the lines from number first on are known; more is false where the text goes up
// to the file's end.
func Some(first int, text string, more bool) Content {
	if first < 1 {
		return Content{}
	}
	c := Content{parts: []stretch{{first, strings.Split(text, "\n")}}}
	if !more {
		c.total = c.parts[0].end() - 1
	}
	return c
}

// Text returns the whole text; ok is false where not all of it is known.
func (c Content) Text() (text string, ok bool) {
	if len(c.parts) != 1 || c.parts[0].first != 1 || len(c.parts[0].lines) != c.total {
		return "", false
	}
	return strings.Join(c.parts[0].lines, "\n"), true
}

// Known returns the line ranges that are known, first and last line of each, in order.
func (c Content) Known() [][2]int {
	var all [][2]int
	for _, s := range c.parts {
		all = append(all, [2]int{s.first, s.end() - 1})
	}
	return all
}

// Seen is the content after a read of the file as it now is: what was known stays where the read agrees with it, else
// only what was read is known.
func (c Content) Seen(read Content) Content {
	if len(read.parts) == 0 {
		return c
	}
	if _, ok := read.Text(); ok || !c.agrees(read) {
		return read
	}
	merged := Content{total: max(c.total, read.total)}
	all := append(slices.Clone(c.parts), read.parts...)
	slices.SortStableFunc(all, func(a, b stretch) int { return a.first - b.first })
	for _, s := range all {
		n := len(merged.parts)
		if n == 0 || s.first > merged.parts[n-1].end() {
			merged.parts = append(merged.parts, s)
			continue
		}
		last := &merged.parts[n-1]
		if over := last.end() - s.first; over < len(s.lines) {
			last.lines = append(slices.Clip(last.lines), s.lines[over:]...)
		}
	}
	return merged
}

// agrees reports whether two contents can be of the same text.
func (c Content) agrees(o Content) bool {
	if c.total != 0 && o.total != 0 && c.total != o.total {
		return false
	}
	for _, pair := range [][2]Content{{c, o}, {o, c}} {
		if n := len(pair[1].parts); pair[0].total != 0 && n > 0 && pair[1].parts[n-1].end()-1 > pair[0].total {
			return false
		}
	}
	for _, a := range c.parts {
		for _, b := range o.parts {
			from, to := max(a.first, b.first), min(a.end(), b.end())
			if from < to && !slices.Equal(a.lines[from-a.first:to-a.first], b.lines[from-b.first:to-b.first]) {
				return false
			}
		}
	}
	return true
}

// replaced puts new in the place of old, as the tools that edit by text do: old must stand there once, or all of them
// are meant. What can no longer be told is given up; where nothing can, the zero Content is returned.
func (c Content) replaced(old, new string, all bool) Content {
	if old == "" {
		return Content{}
	}
	if text, ok := c.Text(); ok {
		return replacedWhole(text, old, new, all)
	}
	if all {
		return Content{} // others may stand where nothing is known
	}
	at, found := -1, 0
	for i, s := range c.parts {
		if n := strings.Count(strings.Join(s.lines, "\n"), old); n > 0 {
			at, found = i, found+n
		}
	}
	if found != 1 {
		return Content{}
	}
	text := strings.Join(c.parts[at].lines, "\n")
	if new == "" && strings.HasSuffix(text, old) && c.parts[at].end()-1 != c.total {
		return Content{} // whether a line end goes with it cannot be told
	}
	return c.with(at, strings.Replace(text, swallows(text, old, new), new, 1))
}

// with is the content with another text in one of its parts: what stands behind it moves.
func (c Content) with(at int, text string) Content {
	after := Content{parts: slices.Clone(c.parts), total: c.total}
	after.parts[at].lines = strings.Split(text, "\n")
	delta := len(after.parts[at].lines) - len(c.parts[at].lines)
	for i := at + 1; i < len(after.parts); i++ {
		after.parts[i].first += delta
	}
	if after.total != 0 {
		after.total += delta
	}
	return after
}

func replacedWhole(text, old, new string, all bool) Content {
	if n := strings.Count(text, old); n == 0 || (n > 1 && !all) {
		return Content{}
	}
	old = swallows(text, old, new)
	if all {
		return Whole(strings.ReplaceAll(text, old, new))
	}
	return Whole(strings.Replace(text, old, new, 1))
}

// swallows is what is taken out in the place of old: where nothing is put in, Claude Code takes the line end with it.
func swallows(text, old, new string) string {
	if new == "" && !strings.HasSuffix(old, "\n") && strings.Contains(text, old+"\n") {
		return old + "\n"
	}
	return old
}
