package search

import (
	"bytes"
	"slices"

	"ccd/internal/redact"
	"ccd/internal/transcript"
)

// overlap is how much of a segment of an attachment is searched again with the next one, to find phrases across both, in
// bytes.
const overlap = 8 << 10

// attachment finds the file as one item if each term occurs in some segment.
func (w *walk) attachment() error {
	found := make([]bool, len(w.terms))
	h := Hit{
		Session: w.source.Session.Session, Generation: w.generation.N, Kind: transcript.File,
		ID: w.generation.Sum.ID(), Time: w.source.Last, Line: 1,
	}
	var buf []byte // the end of the last segment and this one
	lines := 0     // line ends before buf
	secrets := w.agents.Redact.Session()
	for seg, err := range w.read {
		if damaged(err) {
			w.kept = append(w.kept, kept{err: w.failed(err)})
			continue
		}
		if err != nil {
			return err
		}
		drop := max(0, len(buf)-overlap)
		lines += bytes.Count(buf[:drop], []byte("\n"))
		buf = append(buf[:copy(buf, buf[drop:])], seg.Data...)
		marks := secrets.Marks(buf)
		w.look(redact.Apply(buf, 0, marks), marks, lines, found, &h)
		if !slices.Contains(found, false) {
			w.kept = append(w.kept, kept{hit: h})
			return nil
		}
	}
	return nil
}

// look records which terms occur in a part of an attachment without its secrets, and the first match.
func (w *walk) look(part []byte, marks []redact.Mark, lines int, found []bool, h *Hit) {
	start, end := -1, -1
	text := masked(part, marks)
	for i := range w.terms {
		if found[i] {
			continue
		}
		s, e := w.terms[i].find(text, 0)
		if s < 0 {
			continue
		}
		if found[i] = true; start < 0 || s < start {
			start, end = s, e
		}
	}
	if start >= 0 && h.Snippet == "" {
		h.Line, h.Snippet = lines+1+bytes.Count(part[:start], []byte("\n")), snippet(part, start, end)
	}
}

// messages decodes a plain message list.
func (w *walk) messages() error {
	d := w.agents.NewDecoder(w.source.Agent, w.source.Class)
	calls := map[string]bool{}
	for seg, err := range w.read {
		if err != nil {
			return err // message boundaries and numbers are unknown from here on
		}
		for r := range d.Records(seg) {
			w.message(r, calls)
		}
	}
	return nil
}

// maxCalls is how many wanted calls may wait for their results.
const maxCalls = 4096

// message finds the hits of a message. calls are those whose results are wanted.
func (w *walk) message(r *transcript.Record, calls map[string]bool) {
	for i := range r.Items {
		it := &r.Items[i]
		if it.Kind == transcript.Call && w.ofCall() && w.wanted(it, r) && it.Call != "" && len(calls) < maxCalls {
			calls[it.Call] = true
		}
		m, ok := w.match(r, it)
		switch {
		case !ok, it.Kind == transcript.Call && !w.wanted(it, r), it.Kind != transcript.Call && w.ofCall() && !calls[it.Call]:
			continue
		}
		h := w.hit(r, it, m)
		h.Record = r.N
		w.kept = append(w.kept, kept{hit: h})
	}
}
