package unit

import (
	"fmt"
	"slices"
	"strings"

	"ccd/compactor/fold"
	"ccd/compactor/lexicon"
	"ccd/compactor/prose"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// decide applies the rules to the messages that may get a line, in the order of the transcript. Where texts are compared
// with each other, all that were said are compared, read from the newest on until they hold four times the room.
func (w *writer) decide(all []candidate) {
	var rows []int32
	chars := 0
	if w.o.NearDedup || w.o.Contradictions {
		chars = 4 * w.Room
		w.f.Texts(func(t *fold.Text) bool {
			rows = append(rows, t.Row)
			return len(rows) < maxCandidates
		})
	} else {
		for n := range all {
			if w.row(all[n].first).Kind == transcript.Text {
				rows = append(rows, all[n].first)
			}
		}
	}
	texts := make([]prose.Text, len(rows))
	for n, i := range rows {
		t := &texts[len(rows)-1-n]
		*t = w.talkOf(i)
		if 0 < t.Chars && t.Chars <= chars {
			chars -= t.Chars
			t.Text = w.text(i)
		}
	}
	slices.Reverse(rows)
	w.decided = map[int32]prose.Decision{}
	for n, dec := range prose.Decide(texts, w.o.Prose()) {
		if dec.Of >= 0 {
			dec.Of = int(rows[dec.Of])
		}
		w.decided[rows[n]] = dec
	}
}

// talkOf is a message as the rules look at it, without its text.
func (w *writer) talkOf(i int32) prose.Text {
	row := w.row(i)
	t := prose.Text{
		Role: "assistant", Chars: int(row.Chars), Key: row.Key, Marker: w.f.Session().Agent == transcript.Messages,
		Importance: w.importance(i),
	}
	if n := w.f.Text(i); n != nil {
		t.Shape = n.Shape
	}
	if row.Kind == transcript.Human {
		t.Role, t.Kept = "user", prose.Human
	} else if int(row.Rec) >= w.until {
		t.Kept = "recent"
	}
	return t
}

// refer is the form of a message that another one stands for: a newer copy, or what corrects it.
func (w *writer) refer(i int32, head string) (form, bool) {
	row := w.row(i)
	saves := func(note, kind string) (form, bool) {
		m := mark.New(w.id(i), note)
		return form{line: head + " " + m, kind: kind, saved: int(row.Chars) - lexicon.Chars(m)}, lexicon.Chars(m) < int(row.Chars)
	}
	if at, ok := w.copyOf(i); ok {
		return saves(fmt.Sprintf("dup of #%d, %d chars", at, row.Chars), "dup")
	}
	dec, ok := w.decided[i]
	switch {
	case !ok || dec.Of < 0:
	case dec.Action == prose.NearDuped:
		return saves(fmt.Sprintf("near-dup of #%d, %d chars, ~%d%%", w.row(int32(dec.Of)).Record(), row.Chars, int(100*dec.Like)), "near-dup")
	case dec.Action == prose.Contradicted:
		note := fmt.Sprintf("superseded by #%d (%s)", w.row(int32(dec.Of)).Record(), dec.Signal)
		if said := mark.Inline(w.text(i), wholeText); lexicon.Chars(note)+lexicon.Chars(said) < int(row.Chars)-20 {
			note += ": " + said
		}
		return saves(note, "superseded")
	}
	return form{}, false
}

// byRule is a message that the rules keep: whole where it is short enough; else the code as it stands with its prose in
// short, or its beginning.
func (w *writer) byRule(i int32, head, text string, level int) (form, bool) {
	dec, ok := w.decided[i]
	if !ok || dec.Action == prose.Preserved && dec.Reason == "short" {
		return form{}, false
	}
	n := lexicon.Chars(text)
	switch {
	case dec.Action == prose.Split && w.o.On("code-split") && level > 0:
		q := prose.SplitCode(text, func(part string) string { return w.best(i, part, steps[min(level, len(steps)-1)]) })
		if q, ok := quotedWhole(q, w.most); ok {
			m := mark.New(w.id(i), fmt.Sprintf("summary: the prose of %d chars, the code as it stands", n))
			return form{line: head + " " + m, quote: q, kind: "code", saved: n - lexicon.Chars(q)}, true
		}
	case dec.Action == prose.Preserved && n <= maxStand && level > 0:
		if q, ok := quotedWhole(text, w.most); ok {
			return form{line: head + " " + mark.New(w.id(i), "answer") + ":", quote: q, kind: "kept", rows: []int32{i}}, true
		}
	}
	return form{}, false
}

// best is the best pieces of a part of a message in at most so many chars.
func (w *writer) best(i int32, text string, most int) string {
	said := ""
	for n, all := range w.chosen(i, text, nil) {
		s := strings.Join(all, between)
		if n == 0 || lexicon.Chars(s) <= most {
			said = s
		}
	}
	return said
}

// copyOf finds the newest copy of an item's content.
func (w *writer) copyOf(i int32) (record int, ok bool) {
	row := w.row(i)
	if !w.o.Dedup || row.Chars < prose.DupChars {
		return 0, false
	}
	at, ok := w.newest()[row.Key]
	if !ok || at <= i {
		return 0, false
	}
	return w.row(at).Record(), true
}

// newest is the newest row of each content that a copy may refer to.
func (w *writer) newest() map[uint64]int32 {
	if w.copies == nil {
		w.copies = map[uint64]int32{}
		from, to := w.f.Rows()
		for i := from; i < to; i++ {
			if row := w.row(i); row.Chars >= prose.DupChars && !row.Has(fold.Side) && !hidden(row.Kind) {
				w.copies[row.Key] = i
			}
		}
	}
	return w.copies
}

// quotedWhole is a text as quoted lines, where it takes no more than the most.
func quotedWhole(text string, most int) (quoted string, ok bool) {
	if len(text) > 4*most || lexicon.Bulk(text) > most {
		return "", false
	}
	q := mark.Quote("", text)
	return q, lexicon.Chars(q) <= most+most/4
}
