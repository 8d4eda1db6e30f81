package search

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"ccd/internal/transcript"
)

// callSieve finds the lines that may hold a call of the tool on the file. A tool's name stands in its line as it is, but
// for the server's, which may stand elsewhere in it; of a path the last of its elements that is not all pattern does,
// though a shell's quotes and joined lines may stand in it.
func callSieve(tool string, path pattern) sieve {
	if i := strings.LastIndex(tool, "__"); i >= 0 {
		tool = tool[i+len("__"):]
	}
	s := newSieve([]term{newTerm(tool)})
	if piece := path.piece(); len(piece) > 1 {
		u := newRun(piece)
		u.loose = true
		s.runs = append(s.runs, u)
		s.sort()
	}
	return s
}

// piece is what stands in every path that is meant, without what may be spelled in several ways; nil where that is not
// much.
func (p pattern) piece() []rune {
	for _, e := range slices.Backward(p) {
		if best := longest(e); len(best) > 1 {
			return best
		}
	}
	return nil
}

// longest returns the longest part of an element of a pattern that stands in a line as it is. An n is none: behind a
// backslash it may end a line within a word.
func longest(element string) (best []rune) {
	var part []rune
	class := false
	for _, r := range element {
		class = r == '[' || class && r != ']'
		if class || !plainInJSON(r) || strings.ContainsRune(`]*?'nN`, r) {
			part = nil
			continue
		}
		if part = append(part, r); len(part) > len(best) {
			best = part
		}
	}
	return best
}

// quoting reports whether the byte at at may stand within a word of a shell, and is none of it.
func quoting(data []byte, at int) bool {
	switch data[at] {
	case '\\', '"', '\'':
		return true
	case 'n':
		return at > 0 && data[at-1] == '\\'
	}
	return false
}

// looseForth is forth that passes over quoting.
func looseForth(data []byte, at int, text []rune) int {
	for i := range text {
		for i > 0 && at < len(data) && quoting(data, at) {
			at++
		}
		if at = forth(data, at, text[i:i+1]); at < 0 {
			return -1
		}
	}
	return at
}

// looseBack is back that passes over quoting.
func looseBack(data []byte, at int, text []rune) int {
	for i := len(text) - 1; i >= 0; i-- {
		for at > 0 && quoting(data, at-1) {
			at--
		}
		if at = back(data, at, text[i:i+1]); at < 0 {
			return -1
		}
	}
	return at
}

// candidates returns the lines of a segment that may hold a match, in order.
func (w *walk) candidates(ctx context.Context, seg transcript.Segment) ([]transcript.Span, error) {
	if len(w.calls.runs) == 0 {
		return w.sieve.lines(seg.Data), nil
	}
	if w.decoder == nil {
		if err := w.begin(ctx, seg); err != nil {
			return nil, err
		}
	}
	if u := w.path.piece(); u != nil && w.cwd != "" { // a path may begin where the session works
		if one := newRun(u); one.in([]byte(w.cwd)) {
			return w.sieve.lines(seg.Data), nil
		}
	}
	ids := callIDs{all: map[string]bool{}}
	before, err := w.before(ctx, seg)
	if err != nil {
		return nil, err
	}
	w.wantedIn(before, seg.Start.Offset-int64(len(before)), &ids)
	found := w.wantedIn(seg.Data, seg.Start.Offset, &ids)
	maps.DeleteFunc(w.known, func(at int64, _ []string) bool { return at >= seg.Start.Offset })
	found = append(found, ids.lines(seg.Data)...)
	slices.SortFunc(found, func(a, b transcript.Span) int { return cmp.Compare(a.Off, b.Off) })
	found = slices.Compact(found)
	if len(w.sieve.runs) > 0 {
		found = slices.DeleteFunc(found, func(line transcript.Span) bool {
			return len(w.sieve.lines(seg.Data[line.Off:line.End()])) == 0
		})
	}
	return found, nil
}

// before returns what stands before a segment, as far as a call is looked for there; nothing where it is damaged.
func (w *walk) before(ctx context.Context, seg transcript.Segment) ([]byte, error) {
	span := transcript.Span{Off: max(0, seg.Start.Offset-maxBefore)}
	span.Len = seg.Start.Offset - span.Off
	if span.Len == 0 || len(seg.Data) == 0 {
		return nil, nil
	}
	data, err := w.near.Span(ctx, span)
	if damaged(err) {
		return nil, nil
	}
	return data, err
}

// wantedIn returns the lines of data, which stands at off, that may hold calls which are looked for, and adds their IDs.
func (w *walk) wantedIn(data []byte, off int64, ids *callIDs) []transcript.Span {
	lines := w.calls.lines(data)
	for _, line := range lines {
		at := off + line.Off
		calls, ok := w.known[at]
		if !ok {
			if r := w.record(data, off, line); r != nil {
				for i := range r.Items {
					if it := &r.Items[i]; it.Kind == transcript.Call && it.Call != "" && w.wanted(it, r) {
						calls = append(calls, it.Call)
					}
				}
			}
			w.known[at] = calls
		}
		for _, id := range calls {
			ids.add(id)
		}
	}
	return lines
}

// callIDs are the IDs of calls whose results are looked for.
type callIDs struct {
	all     map[string]bool
	first   [256]bool // their first bytes
	sizes   []int
	spelled bool // one of them is not written as it is
}

func (c *callIDs) add(id string) {
	if c.all[id] {
		return
	}
	c.all[id] = true
	c.first[id[0]] = true
	if !slices.Contains(c.sizes, len(id)) {
		c.sizes = append(c.sizes, len(id))
	}
	for _, r := range id {
		c.spelled = c.spelled || !plainInJSON(r)
	}
}

// lines returns the lines of data in which one of the IDs is a string.
func (c *callIDs) lines(data []byte) (found []transcript.Span) {
	switch {
	case len(c.all) == 0:
		return nil
	case c.spelled:
		return all(data)
	}
	for at := 0; ; {
		i := bytes.IndexByte(data[at:], '"')
		if i < 0 {
			return found
		}
		if at += i + 1; c.begins(data[at:]) {
			line := lineAround(data, at)
			found = append(found, line)
			at = int(line.End())
		}
	}
}

// begins reports whether text begins with one of the IDs and a quote.
func (c *callIDs) begins(text []byte) bool {
	if len(text) == 0 || !c.first[text[0]] {
		return false
	}
	for _, n := range c.sizes {
		if n < len(text) && text[n] == '"' && c.all[string(text[:n])] {
			return true
		}
	}
	return false
}
