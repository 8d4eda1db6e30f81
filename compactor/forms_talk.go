package compactor

import (
	"fmt"
	"slices"
	"strings"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// decideTalk applies the rules to the messages that may get a line, in the order of the transcript. Where texts are
// compared with each other, what stands in Recent and what a person said is compared too, and texts are read from the
// newest on until they hold so many chars.
func (d *draft) decideTalk(all []*candidate, chars int) {
	var talks []talk
	if d.c.o.NearDedup || d.c.o.Contradictions {
		talks = d.comparedTalk(chars)
	} else {
		for _, c := range all {
			if d.row(c.unit.first).kind == transcript.Text {
				talks = append(talks, d.talkOf(c.unit.first))
			}
		}
	}
	slices.Reverse(talks)
	d.decided = map[int32]decision{}
	for n, dec := range decide(talks, &d.c.o) {
		if dec.of >= 0 {
			dec.of = int(talks[dec.of].row)
		}
		d.decided[talks[n].row] = dec
	}
}

// comparedTalk gives the newest messages with their texts, newest first; those for whose text there is no room have none.
func (d *draft) comparedTalk(chars int) []talk {
	var talks []talk
	for n := d.c.texts.n - 1; n >= d.c.texts.from && len(talks) < maxCandidates; n-- {
		t := d.talkOf(d.c.texts.at(n).row)
		if t.chars <= chars {
			chars -= t.chars
			t.text = d.text(t.row)
		}
		talks = append(talks, t)
	}
	return talks
}

// talkOf is a message as the rules look at it, without its text.
func (d *draft) talkOf(i int32) talk {
	row := d.row(i)
	t := talk{
		role: "assistant", row: i, kind: row.kind, chars: int(row.chars), key: row.key, recent: int(row.rec) >= d.recent,
		plain: d.c.session.Agent == transcript.Messages, shape: d.shapeOf(i), importance: d.importance(i),
	}
	if row.kind == transcript.Human {
		t.role = "user"
	}
	return t
}

func (d *draft) shapeOf(i int32) shape {
	if t := d.c.textOf(i); t != nil {
		return t.shape
	}
	return shape{}
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
	if fits && runes(whole) <= wholeText {
		return form{line: start + ": " + whole}
	}
	if n := runes(text); n <= maxStand && (v.whole || d.isKept(i) && n <= v.kept) {
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
	if fits && runes(f.line)+runes(f.quote) >= runes(start)+2+runes(whole) {
		return form{line: start + ": " + whole}
	}
	f.saved = int64(row.chars) - int64(runes(f.line)+runes(f.quote))
	return f
}

// isKept reports whether the rules keep a message as it is, for what it holds: code, JSON, a traceback, what matters.
func (d *draft) isKept(i int32) bool {
	dec, ok := d.decided[i]
	return ok && dec.action == preserved && dec.reason != "short"
}

// referForm is the form of a message that another one stands for: a newer copy, or what corrects it.
func (d *draft) referForm(i int32, start string) (form, bool) {
	row := d.row(i)
	saves := func(note, kind string) (form, bool) {
		m := mark.New(d.id(i), note)
		return form{line: start + " " + m, kind: kind, saved: int64(row.chars) - int64(runes(m))}, runes(m) < int(row.chars)
	}
	if at, ok := d.copyOf(i); ok {
		return saves(fmt.Sprintf("dup of #%d, %d chars", at, row.chars), "dup")
	}
	dec, ok := d.decided[i]
	switch {
	case !ok || dec.of < 0:
	case dec.action == nearDuped && d.stays(int32(dec.of)):
		return saves(fmt.Sprintf("near-dup of #%d, %d chars, ~%d%%", d.row(int32(dec.of)).record(), row.chars, int(100*dec.like)), "near-dup")
	case dec.action == contradicted:
		note := fmt.Sprintf("superseded by #%d (%s)", d.row(int32(dec.of)).record(), dec.signal)
		if said := mark.Inline(d.text(i), wholeText); runes(note)+runes(said) < int(row.chars)-20 {
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
	case dec.action == split && d.c.o.on("code-split"):
		q := splitCode(text, func(prose string) string { return summarize([]string{prose}, &d.c.o, v.text) })
		if q, ok := quotedWhole(q, min(d.standMost(), 2*v.text)); ok {
			m := mark.New(d.id(i), fmt.Sprintf("summary: the prose of %d chars, the code as it stands", runes(text)))
			return form{line: start + " " + m, quote: q, kind: "code"}
		}
	case dec.action == preserved && dec.reason != "short" || !d.c.o.on("talk"):
		return form{line: start + " " + d.cutMarker(i, text, v.text), kind: "cut"}
	}
	short := d.summary([]string{text}, v.text, func() string { return summarize([]string{text}, &d.c.o, v.text) })
	if short == "" {
		return form{line: start + " " + d.cutMarker(i, text, v.text), kind: "cut"}
	}
	m := mark.New(d.id(i), "summary: "+mark.Inline(short, v.text+100)+d.entities(text, short+d.said))
	return form{line: start + " " + m, kind: "talk"}
}

// cutMarker is the beginning of a text behind its ID.
func (d *draft) cutMarker(i int32, text string, most int) string {
	return mark.New(d.id(i), fmt.Sprintf("cut, %d chars: %s", runes(text), mark.Inline(text, min(most, maxCut))))
}

// maxCut is how much of an item stays that is cut because it is too long for its place, in chars.
const maxCut = 512
