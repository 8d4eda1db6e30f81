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

// lead is what a session begins with in the place of an older part that is not in it: the agent's own summary, and what
// its compaction kept with it. A session has one where the agent forked it after a compaction, or where it is a copy of
// a session that is not archived. Nothing else tells of that part.
type lead struct {
	parts []leadPart
	chars int // that were said before it
}

type leadPart struct {
	text    string
	pointer transcript.Pointer
}

// add takes a record in, and reports whether its summary is the lead. It is one where less was said before it than it
// says itself: it cannot be of that alone.
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

// withoutSummary is a record whose summary stands elsewhere.
func withoutSummary(r *transcript.Record) *transcript.Record {
	bare := *r
	bare.Items = slices.DeleteFunc(slices.Clone(r.Items), func(it transcript.Item) bool { return it.Kind == transcript.Summary })
	return &bare
}

// leadParts are the summaries of a record; of one that carries the new context with it, also what people said in it.
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
			Hash: mark.Sum(it.Raw), Parts: []transcript.Part{{Span: it.Span, Kind: it.Kind}},
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

// quoted is the lead as text in at most chars, with what its IDs stand for. The last part, the summary, comes first
// where there is no room for all.
func (l *lead) quoted(chars int) (string, []transcript.Pointer) {
	room := chars - len(leadHead)
	text := ""
	var pointers []transcript.Pointer
	for i := len(l.parts) - 1; i >= 0; i-- {
		said, ok := l.parts[i].quoted(room)
		if !ok {
			continue // it is under the ID of its record
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

// quoted is one part, its beginning and its end where room chars do not hold it; ok is false where they hold nothing.
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
