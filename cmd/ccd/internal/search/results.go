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

// callSieve finds the lines that may contain a call of the tool on the file. The line contains the tool's name literally,
// though perhaps apart from its server's name. It contains the last literal element of the path, though perhaps with shell
// quotes and escaped line ends in it.
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

// piece returns text that every matching path contains literally, nil if that is too short to be useful.
func (p pattern) piece() []rune {
	for _, e := range slices.Backward(p) {
		if best := longest(e); len(best) > 1 {
			return best
		}
	}
	return nil
}

// longest returns the longest literal part of a pattern's element. It excludes the letter n, because `\n` may be an escaped
// line end within a word.
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

// quoting reports whether the byte at at is shell quoting rather than part of a word.
func quoting(data []byte, at int) bool {
	switch data[at] {
	case '\\', '"', '\'':
		return true
	case 'n':
		return at > 0 && data[at-1] == '\\'
	}
	return false
}

// looseForth is like forth but skips quoting.
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

// looseBack is like back but skips quoting.
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

// candidates returns the lines of a segment that may contain a match, in order.
func (w *walk) candidates(ctx context.Context, seg transcript.Segment) ([]transcript.Span, error) {
	if len(w.calls.runs) == 0 {
		return w.sieve.lines(seg.Data), nil
	}
	if w.decoder == nil {
		if err := w.begin(ctx, seg); err != nil {
			return nil, err
		}
	}
	if u := w.path.piece(); u != nil && w.cwd != "" { // a path may begin with the session's directory
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
	maps.DeleteFunc(w.known, func(at int64, _ []string) bool { return at < seg.Start.Offset-maxBefore })
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

// before returns the bytes before a segment that are searched for calls, none if they are damaged.
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

// wantedIn returns the lines of data, which begins at offset off, that may contain wanted calls, and adds the calls' IDs.
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

// callIDs are the IDs of calls whose results are wanted.
type callIDs struct {
	all     map[string]bool
	first   [256]bool // the first bytes of the IDs
	sizes   []int
	spelled bool // one of them is not written literally in JSON
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

// lines returns the lines of data that contain one of the IDs as a string.
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
			line := transcript.LineAround(data, at)
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
