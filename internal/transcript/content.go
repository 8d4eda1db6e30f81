package transcript

import (
	"slices"
	"strings"
)

// Content is the known part of a file's text: nothing (the zero Content), some lines, or all. The text is split at
// newlines, so a text that ends with a newline has an empty last line. Content is a value: no method changes it.
type Content struct {
	parts []stretch // separate stretches in order, none empty
	total int       // lines of the whole file, 0 if unknown
}

// stretch is a run of known lines.
type stretch struct {
	first int // number of the first line, from 1
	lines []string
}

func (s stretch) end() int { return s.first + len(s.lines) }

// Whole returns the content of a file whose text is known.
func Whole(text string) Content {
	lines := strings.Split(text, "\n")
	return Content{parts: []stretch{{1, lines}}, total: len(lines)}
}

// Some returns the content of a file whose lines from number first are known. more is false if the text reaches the end
// of the file.
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

// Text returns the whole text; ok is false if not all of it is known.
func (c Content) Text() (text string, ok bool) {
	if len(c.parts) != 1 || c.parts[0].first != 1 || len(c.parts[0].lines) != c.total {
		return "", false
	}
	return strings.Join(c.parts[0].lines, "\n"), true
}

// Known returns the known line ranges (first and last line) in order.
func (c Content) Known() [][2]int {
	var all [][2]int
	for _, s := range c.parts {
		all = append(all, [2]int{s.first, s.end() - 1})
	}
	return all
}

// Seen returns the content after reading the file again: if the read agrees with the known content, both are merged,
// otherwise only the read is kept.
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

// replaced replaces old by new, as editing tools do: old must occur once, or all occurrences are meant. It drops what
// becomes unknown, and returns the zero Content if nothing remains known.
func (c Content) replaced(old, new string, all, swallow bool) Content {
	if old == "" {
		return Content{}
	}
	if text, ok := c.Text(); ok {
		return replacedWhole(text, old, new, all, swallow)
	}
	if all {
		return Content{} // the unknown part may contain it too
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
	if swallow && new == "" && strings.HasSuffix(text, old) && c.parts[at].end()-1 != c.total {
		return Content{} // unknown whether the newline is removed too
	}
	return c.with(at, strings.Replace(text, removedText(text, old, new, swallow), new, 1))
}

// with replaces the text of one part and moves the parts after it.
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

func replacedWhole(text, old, new string, all, swallow bool) Content {
	if n := strings.Count(text, old); n == 0 || (n > 1 && !all) {
		return Content{}
	}
	old = removedText(text, old, new, swallow)
	if all {
		return Whole(strings.ReplaceAll(text, old, new))
	}
	return Whole(strings.Replace(text, old, new, 1))
}

// removedText returns the text to remove for old: some clients also remove the newline if nothing replaces it.
func removedText(text, old, new string, swallow bool) string {
	if swallow && new == "" && !strings.HasSuffix(old, "\n") && strings.Contains(text, old+"\n") {
		return old + "\n"
	}
	return old
}
