package resume

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// lead is the summary that a session begins with: what replaces the older part in a fork after a compaction, or in a copy of a
// session that is not archived. Nothing else in the session covers that part.
type lead struct {
	text    string
	pointer transcript.Pointer
}

func leadOf(r *transcript.Record, it *transcript.Item) lead {
	return lead{string(transcript.Original(it.Kind, bytes.Clone(it.Raw))), transcript.Pointer{
		Hash: it.Sum(), Parts: []transcript.Part{{Span: it.Span, Kind: it.Kind}}, Record: r.N, Last: r.N, Time: r.Time, Note: "summary",
	}}
}

// quoted returns the summary as text, cut to its beginning and end if it is longer than room; "" if there is none, or nothing fits.
func (l *lead) quoted(room int) string {
	const head = "\n## Before this session\nThe older part is not in this session. This is what it began with in its place:\n"
	id, all := l.pointer.Hash.ID(), []rune(l.text)
	said := head + mark.New(id, fmt.Sprintf("summary, %d chars", len(all))) + "\n" + mark.Quote("", l.text)
	for most := min(room, len(all)); utf8.RuneCountInString(said) > room; most = most * 3 / 4 {
		if most < leastCut {
			return ""
		}
		said = head + mark.New(id, fmt.Sprintf("summary, %d chars, its beginning", len(all))) + "\n" + mark.Quote("", string(all[:most*5/8])) +
			mark.New(id, "its end; ccd agent restore "+string(id)) + "\n" + mark.Quote("", string(all[len(all)-most/4:]))
	}
	return said
}
