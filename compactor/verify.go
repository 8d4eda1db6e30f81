package compactor

import (
	"fmt"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// verify checks each claim of the handover against the record that it names, every ID, and the sizes. It counts the key facts
// that the text shows.
func (d *draft) verify(out *Compaction, body string) {
	h := &out.Header
	h.Verified = true
	told := Records(body)
	for _, e := range d.events {
		if !e.key() {
			continue
		}
		if e.held || e.head.taken || told[e.n] > 0 {
			h.KeyInformation.Visible++
		} else {
			h.KeyInformation.Recoverable++
		}
	}
	for _, c := range d.claims {
		if c.has != "" && !d.proven(c) {
			h.doubt(fmt.Sprintf("record #%d does not say what the handover says of it", c.ref.N()))
		}
	}
	if st := d.s.Status(); st.Unread > 0 {
		why := fmt.Sprintf("record #%d could not be read in whole", st.FirstUnread)
		if st.Unread > 1 {
			why += fmt.Sprintf(", nor %d more", st.Unread-1)
		}
		h.doubt(why)
	}
	switch {
	case len(out.Pointers) != len(mark.IDs(body)):
		h.doubt("an ID has no pointer")
	case longest(body) > mark.MaxLine:
		h.doubt("a line is too long")
	case d.length() > d.reader.Room, strings.Count(body, "\n") > maxLines:
		h.doubt(fmt.Sprintf("%d chars are over the budget, or more than %d lines", d.length(), maxLines))
	}
}

// proven reports whether a record has what a claim says of it, as it stands, as it is shown, or as JSON.
func (d *draft) proven(c claim) bool {
	text := d.src.Text(c.ref)
	return says(text, c.has) || says(shownText(session.WithoutReminders(text)), c.has) || says(string(d.src.Raw(c.ref)), c.has) ||
		says(string(transcript.Unescaped([]byte(spaces.Replace(text)))), c.has)
}

// spaces undoes the escapes of white space in JSON, which transcript.Unescaped makes letters. An escaped backslash is none.
var spaces = strings.NewReplacer(`\\`, `\\`, `\n`, " ", `\r`, " ", `\t`, " ")

// says reports whether a text contains what a claim says of it. A client may have put it into JSON inside the text.
func says(text, has string) bool { return strings.Contains(joined(text), joined(has)) }

func (h *Header) doubt(why string) {
	if h.Verified {
		h.Verified, h.Reason = false, why
	}
}

// longest returns the length of the longest line of a text, in chars.
func longest(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		n = max(n, lexicon.Chars(strings.TrimSuffix(line, "\n")))
	}
	return n
}
