package compactor

import (
	"fmt"

	"ccd/compactor/lexicon"
	"ccd/internal/transcript"
)

// content is what a file holds as far as the transcript knows, the row it comes from and what it is; no title where it
// is not known.
func (d *draft) content(f *fileState) (text string, from int32, title string) {
	if f.base != noStep && !f.lost {
		if text, ok := d.replayed(f); ok {
			at := f.base.row
			if n := len(f.replay); n > 0 {
				at = f.replay[n-1].row
			}
			return text, f.base.row, fmt.Sprintf("as of #%d (%d lines)", d.row(at).record(), lexicon.AllLines(text))
		}
	}
	if f.read < 0 || uint32(d.row(f.read).edits) != f.edits || d.row(f.read).has(failed|pictured) || d.row(f.read).op != transcript.Read {
		return "", 0, ""
	}
	body, first, ok := transcript.FileText(d.outcome(f.read).Text)
	if !ok {
		return "", 0, ""
	}
	n := lexicon.AllLines(body)
	return body, f.read, fmt.Sprintf("lines %d-%d as read at #%d", first, first+n-1, d.row(f.read).record())
}

// lastEdit is the last change of a file as - and + lines, and its call.
func (d *draft) lastEdit(f *fileState) (string, int32) {
	if f.changed < 0 || d.row(f.changed).kind != transcript.Call || d.row(f.changed).op == transcript.Command {
		return "", 0
	}
	return d.changeText(f.changed), f.changed
}

// replayed is the whole content that a write or a read gave, with the later changes applied. ok is false where one of
// them does not apply cleanly.
func (d *draft) replayed(f *fileState) (string, bool) {
	var c transcript.Content
	if d.row(f.base.row).kind == transcript.Call {
		c = d.after(f.base, c)
	} else if row := d.row(f.base.row); row.pair >= 0 && d.body(f.base.row).whole {
		a, out := d.action(row.pair), d.outcome(f.base.row)
		c = transcript.Reading(d.c.names.name(row.tool), &a, &out)
	}
	for _, s := range f.replay {
		if _, ok := c.Text(); !ok || d.err != nil {
			return "", false
		}
		c = d.after(s, c)
	}
	return c.Text()
}

// after applies a step to what was known of a file.
func (d *draft) after(s step, before transcript.Content) transcript.Content {
	b := d.body(s.row)
	if !b.whole || d.err != nil {
		return transcript.Content{}
	}
	return transcript.After(d.c.names.name(d.row(s.row).tool), b.raw, int(s.n), before)
}
