package unit

import (
	"fmt"

	"ccd/compactor/fold"
	"ccd/compactor/lexicon"

	"ccd/internal/transcript"
)

// content is a file's content as far as the transcript has it. The title is empty if the content is unknown.
type content struct {
	text  string
	from  int32 // the row that it is from
	title string
}

func (w *writer) content(f *fold.File) *content {
	if f.Doubt { // a checkout or a formatter may have changed it since
		return &content{}
	}
	if f.Base != fold.NoStep && !f.Lost {
		if text, ok := w.replayed(f); ok {
			at := f.Base.Row
			if n := len(f.Replay); n > 0 {
				at = f.Replay[n-1].Row
			}
			return &content{text, f.Base.Row, fmt.Sprintf("as of #%d (%d lines)", w.row(at).Record(), lexicon.AllLines(text))}
		}
	}
	if f.Read < 0 || uint32(w.row(f.Read).Edits) != f.Edits || w.row(f.Read).Has(fold.Failed|fold.Pictured) || w.row(f.Read).Op != transcript.Read {
		return &content{}
	}
	body, first, ok := transcript.FileText(w.outcome(f.Read).Text)
	if !ok {
		return &content{}
	}
	n := lexicon.AllLines(body)
	return &content{body, f.Read, fmt.Sprintf("lines %d-%d as read at #%d", first, first+n-1, w.row(f.Read).Record())}
}

// lastEdit returns the last change of a file as - and + lines, and its call.
func (w *writer) lastEdit(f *fold.File) (string, int32) {
	if f.Changed < 0 || w.row(f.Changed).Kind != transcript.Call || w.row(f.Changed).Op == transcript.Command {
		return "", 0
	}
	return w.changeText(f.Changed), f.Changed
}

// replayed returns the whole content from a write or read with the later changes applied. ok is false if one of them does not
// apply cleanly.
func (w *writer) replayed(f *fold.File) (string, bool) {
	var c transcript.Content
	if w.row(f.Base.Row).Kind == transcript.Call {
		c = w.after(f.Base, c)
	} else if row := w.row(f.Base.Row); row.Pair >= 0 && w.body(f.Base.Row).whole {
		a, out := w.action(row.Pair), w.outcome(f.Base.Row)
		c = w.f.Client().Reading(w.f.Tool(row), &a, &out)
	}
	for _, s := range f.Replay {
		if _, ok := c.Text(); !ok || w.Err != nil {
			return "", false
		}
		c = w.after(s, c)
	}
	return c.Text()
}

// after returns the content after a step.
func (w *writer) after(s fold.Step, before transcript.Content) transcript.Content {
	b := w.body(s.Row)
	if !b.whole || w.Err != nil {
		return transcript.Content{}
	}
	return w.f.Client().After(w.f.Tool(w.row(s.Row)), b.raw, int(s.N), before)
}
