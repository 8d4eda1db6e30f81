package compactor

import (
	"fmt"
	"slices"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/compactor/prose"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// decideTalk applies the rules to the messages that may get a line, in the order of the transcript. Where texts are
// compared with each other, what stands in Recent and what a person said is compared too, and texts are read from the
// newest on until they hold so many chars.
func (d *draft) decideTalk(all []*candidate, chars int) {
	var rows []int32
	if d.c.o.NearDedup || d.c.o.Contradictions {
		for n := d.c.texts.n - 1; n >= d.c.texts.from && len(rows) < maxCandidates; n-- {
			rows = append(rows, d.c.texts.at(n).row)
		}
	} else {
		for _, c := range all {
			if d.row(c.unit.first).kind == transcript.Text {
				rows = append(rows, c.unit.first)
			}
		}
		chars = 0
	}
	texts := make([]prose.Text, len(rows))
	for n, i := range rows {
		t := &texts[len(rows)-1-n]
		*t = d.talkOf(i)
		if 0 < t.Chars && t.Chars <= chars {
			chars -= t.Chars
			t.Text = d.text(i)
		}
	}
	slices.Reverse(rows)
	d.decided = map[int32]prose.Decision{}
	for n, dec := range prose.Decide(texts, d.c.o.prose()) {
		if dec.Of >= 0 {
			dec.Of = int(rows[dec.Of])
		}
		d.decided[rows[n]] = dec
	}
}

// talkOf is a message as the rules look at it, without its text.
func (d *draft) talkOf(i int32) prose.Text {
	row := d.row(i)
	t := prose.Text{
		Role: "assistant", Chars: int(row.chars), Key: row.key, Marker: d.c.session.Agent == transcript.Messages,
		Importance: d.importance(i),
	}
	if n := d.c.textOf(i); n != nil {
		t.Shape = n.shape
	}
	if row.kind == transcript.Human {
		t.Role, t.Kept = "user", prose.Human
	} else if int(row.rec) >= d.recent {
		t.Kept = "recent"
	}
	return t
}

// talkForm is the short form of a message.
func (d *draft) talkForm(i int32, who string, v detail) form {
	row := d.row(i)
	start := fmt.Sprintf("- #%d %s", row.record(), who)
	if i == d.notes.answer {
		return form{line: start + ": see Last answer"}
	}
	if f, ok := d.referForm(i, start); ok {
		return f
	}
	text := d.text(i)
	whole, fits := mark.Fits(text, maxLine-101)
	if fits && lexicon.Chars(whole) <= wholeText {
		return form{line: start + ": " + whole}
	}
	if n := lexicon.Chars(text); n <= maxStand && (v.whole || d.isKept(i) && n <= v.kept) {
		if d.narrow && fits && !strings.Contains(text, "\n") && n <= d.standMost() {
			return form{line: start + ": " + whole, kind: "kept"}
		}
		if q, ok := quotedWhole(text, d.standMost()); ok {
			return form{line: start, quote: q, kind: "kept"}
		}
	}
	if d.age(row) < d.c.o.TalkAge.Milliseconds() {
		v.text *= 2
	}
	f := d.shortTalk(i, start, text, v)
	if fits && lexicon.Chars(f.line)+lexicon.Chars(f.quote) >= lexicon.Chars(start)+2+lexicon.Chars(whole) {
		return form{line: start + ": " + whole}
	}
	f.saved = int64(row.chars) - int64(lexicon.Chars(f.line)+lexicon.Chars(f.quote))
	return f
}

// isKept reports whether the rules keep a message as it is, for what it holds: code, JSON, a traceback, what matters.
func (d *draft) isKept(i int32) bool {
	dec, ok := d.decided[i]
	return ok && dec.Action == prose.Preserved && dec.Reason != "short"
}

// referForm is the form of a message that another one stands for: a newer copy, or what corrects it.
func (d *draft) referForm(i int32, start string) (form, bool) {
	row := d.row(i)
	saves := func(note, kind string) (form, bool) {
		m := mark.New(d.id(i), note)
		return form{line: start + " " + m, kind: kind, saved: int64(row.chars) - int64(lexicon.Chars(m))}, lexicon.Chars(m) < int(row.chars)
	}
	if at, ok := d.copyOf(i); ok {
		return saves(fmt.Sprintf("dup of #%d, %d chars", at, row.chars), "dup")
	}
	dec, ok := d.decided[i]
	switch {
	case !ok || dec.Of < 0:
	case dec.Action == prose.NearDuped && d.stays(int32(dec.Of)):
		return saves(fmt.Sprintf("near-dup of #%d, %d chars, ~%d%%", d.row(int32(dec.Of)).record(), row.chars, int(100*dec.Like)), "near-dup")
	case dec.Action == prose.Contradicted:
		note := fmt.Sprintf("superseded by #%d (%s)", d.row(int32(dec.Of)).record(), dec.Signal)
		if said := mark.Inline(d.text(i), wholeText); lexicon.Chars(note)+lexicon.Chars(said) < int(row.chars)-20 {
			note += ": " + said
		}
		return saves(note, "superseded")
	}
	return form{}, false
}

// stays reports whether the companion shows a row.
func (d *draft) stays(i int32) bool {
	return int(d.row(i).rec) >= d.recent || d.newest[d.row(i).key] == i
}

// shortTalk is a message in short: a summary; with code, the code as it stands with its prose summarised; what cannot
// be summarised without harm, as it begins.
func (d *draft) shortTalk(i int32, start, text string, v detail) form {
	switch dec := d.decided[i]; {
	case dec.Action == prose.Split && d.c.o.on("code-split"):
		q := prose.SplitCode(text, func(part string) string { return prose.Summarize([]string{part}, d.c.o.prose(), v.text) })
		if q, ok := quotedWhole(q, min(d.standMost(), 2*v.text)); ok {
			m := mark.New(d.id(i), fmt.Sprintf("summary: the prose of %d chars, the code as it stands", lexicon.Chars(text)))
			return form{line: start + " " + m, quote: q, kind: "code"}
		}
	case dec.Action == prose.Preserved && dec.Reason != "short" || !d.c.o.on("talk"):
		return form{line: start + " " + d.cutMarker(i, text, v.text), kind: "cut"}
	}
	short := d.summary([]string{text}, v.text, func() string { return prose.Summarize([]string{text}, d.c.o.prose(), v.text) })
	if short == "" {
		return form{line: start + " " + d.cutMarker(i, text, v.text), kind: "cut"}
	}
	m := mark.New(d.id(i), "summary: "+mark.Inline(short, v.text+100)+d.entities(text, short+d.said))
	return form{line: start + " " + m, kind: "talk"}
}

// cutMarker is the beginning of a text behind its ID.
func (d *draft) cutMarker(i int32, text string, most int) string {
	return mark.New(d.id(i), fmt.Sprintf("cut, %d chars: %s", lexicon.Chars(text), mark.Inline(text, min(most, maxCut))))
}

// maxCut is how much of an item stays that is cut because it is too long for its place, in chars.
const maxCut = 512
