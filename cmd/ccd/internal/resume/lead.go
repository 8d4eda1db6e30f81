package resume

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// lead is the beginning of a session that replaces an older part which is not in it: the agent's own summary and what its
// compaction kept. A session has one if the agent forked it after a compaction, or if it is a copy of a session that is not
// archived. Nothing else in the session covers that part.
type lead struct {
	parts []leadPart
	chars int // chars of messages before it
}

type leadPart struct {
	text    string
	pointer transcript.Pointer
}

// add adds a record and reports whether its summary is the lead. A summary is one if it is longer than all messages before it,
// because it must then also cover something that is not in the session.
func (l *lead) add(r *transcript.Record) (leads bool) {
	parts := leadParts(r)
	size := 0
	for _, p := range parts {
		size += utf8.RuneCountInString(p.text)
	}
	if leads = size > l.chars; leads {
		l.parts = parts
	}
	for i := range r.Items {
		switch it := &r.Items[i]; it.Kind {
		case transcript.Human, transcript.Text, transcript.Result, transcript.Call:
			if !it.Side {
				l.chars += transcript.Chars(it.Raw)
			}
		}
	}
	l.chars += size
	return leads
}

// withoutSummary returns a record without its summary.
func withoutSummary(r *transcript.Record) *transcript.Record {
	bare := *r
	bare.Items = slices.DeleteFunc(slices.Clone(r.Items), func(it transcript.Item) bool { return it.Kind == transcript.Summary })
	return &bare
}

// leadParts returns the summaries of a record and, if the record carries the new context, the human messages in it.
func leadParts(r *transcript.Record) (parts []leadPart) {
	items := transcript.Replacement(r)
	if !hasSummary(items) {
		items = append(items, r.Items...)
	}
	if !hasSummary(items) {
		return nil
	}
	for i := range items {
		it := &items[i]
		if it.Side || it.Kind != transcript.Summary && (it.Kind != transcript.Human || r.Boundary == nil) {
			continue
		}
		note := "summary"
		if it.Kind == transcript.Human {
			note = "message"
		}
		parts = append(parts, leadPart{string(transcript.Original(it.Kind, bytes.Clone(it.Raw))), transcript.Pointer{
			Hash: it.Sum(), Parts: []transcript.Part{{Span: it.Span, Kind: it.Kind}},
			Record: r.N, Last: r.N, Time: r.Time, Note: note,
		}})
	}
	return parts
}

func hasSummary(items []transcript.Item) bool {
	for i := range items {
		if items[i].Kind == transcript.Summary && !items[i].Side {
			return true
		}
	}
	return false
}

const leadHead = "\n## Before this session\nThe older part is not in this session. This is what it began with in its place:\n"

// quoted returns the lead as text in at most chars, with the originals of its IDs. If there is not enough room, the last
// part, which is the summary, gets it first.
func (l *lead) quoted(chars int) (string, []transcript.Pointer) {
	room := chars - len(leadHead)
	text := ""
	var pointers []transcript.Pointer
	for i := len(l.parts) - 1; i >= 0; i-- {
		said, ok := l.parts[i].quoted(room)
		if !ok {
			continue // the ID of its record covers it
		}
		room -= utf8.RuneCountInString(said)
		text = said + text
		pointers = append(pointers, l.parts[i].pointer)
	}
	if text == "" {
		return "", nil
	}
	return leadHead + text, pointers
}

// quoted returns one part, cut to its beginning and end if it is longer than room. ok is false if nothing fits.
func (p *leadPart) quoted(room int) (string, bool) {
	id, all := p.pointer.Hash.ID(), []rune(p.text)
	whole := fmt.Sprintf("%s, %d chars", p.pointer.Note, len(all))
	said := mark.New(id, whole) + "\n" + mark.Quote("", p.text)
	for most := min(room, len(all)); utf8.RuneCountInString(said) > room; most = most * 3 / 4 {
		if most < leastCut {
			return "", false
		}
		said = mark.New(id, whole+", its beginning") + "\n" + mark.Quote("", string(all[:most*5/8])) +
			mark.New(id, whole+", its end; ccd agent restore "+string(id)) + "\n" + mark.Quote("", string(all[len(all)-most/4:]))
	}
	return said, strings.TrimSpace(p.text) != ""
}
