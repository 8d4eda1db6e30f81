package tools

import (
	"context"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// countable is the size in bytes up to which an original is read to its end to count its characters.
const countable = 16 << 20

func (h handler) addRestore(s *mcp.Server, restore func(context.Context, RestoreQuery) (Original, error)) {
	if restore == nil {
		return
	}
	const name = "restore"
	mcp.AddTool(s, describe(name, restoreText), func(ctx context.Context, req *mcp.CallToolRequest, q RestoreQuery) (*mcp.CallToolResult, any, error) {
		return h.serve(ctx, name, func(ctx context.Context) (answer, error) {
			if err := q.check(); err != nil {
				return answer{}, err
			}
			o, err := restore(ctx, q)
			if err != nil {
				return answer{}, err
			}
			return o.page(ctx, req, q)
		})
	})
}

func (q RestoreQuery) check() error {
	switch {
	case (q.ID == "") == (q.File == ""):
		return toolError("restore: give either id or file")
	case q.File == "" && (q.At != "" || q.Session != ""):
		return toolError("restore: at and session need file; to get a record of a session use id SESSION#N")
	case q.File != "" && (q.Raw || q.Full), q.Raw && q.Full:
		return toolError("restore: use only one of raw, full and file")
	case q.Offset < 0 || q.Limit < 0:
		return toolError("restore: offset and limit must not be negative")
	}
	return nil
}

// page returns one page of an original.
func (o Original) page(ctx context.Context, req *mcp.CallToolRequest, q RestoreQuery) (answer, error) {
	w := &window{from: q.Offset, limit: math.MaxInt64 - q.Offset, room: room(req), all: o.Bytes <= countable}
	if q.Limit > 0 {
		w.limit = int64(q.Limit)
	}
	s := &sorter{text: w}
	err := o.Write(ctx, s)
	if err == nil {
		err = s.end()
	}
	if err != nil && !errors.Is(err, errEnough) {
		return answer{}, err
	}
	a := answer{about: o.About, notes: o.Notes}
	if o.Hidden != nil {
		hidden, err := o.Hidden(ctx)
		if err != nil {
			return answer{}, err
		}
		if hidden != "" {
			a.notes = append(a.notes, hidden)
		}
	}
	if len(o.Images) > 0 && q.Offset == 0 {
		a.images = images(o.Images)
		a.notes = append(a.notes, fmt.Sprintf("Images in it: %d, shown after its text: %d. Use raw for the JSON that contains them.", len(o.Images), len(a.images)))
	}
	switch {
	case s.kept:
		a.images = append(a.images, &mcp.ImageContent{Data: s.head, MIMEType: s.image})
		a.end = fmt.Sprintf("That is all of it: an image of %d bytes.", s.size)
		return a, nil
	case s.image != "" || s.other:
		a.end = "It is not shown: " + o.unshown(s, q) + "."
		return a, nil
	}
	return w.answer(a, req, o, err == nil)
}

// unshown says why an original cannot be shown, and how to get it in a shell.
func (o Original) unshown(s *sorter, q RestoreQuery) string {
	what := "binary data"
	if s.image != "" {
		what = s.image + " too large for an answer"
	}
	if o.Bytes > 0 {
		what += fmt.Sprintf(", about %d bytes in the transcript", o.Bytes)
	}
	flag := ""
	if q.Full {
		flag = " --full"
	}
	if q.File != "" {
		return what
	}
	return what + ". In a shell: ccd agent restore" + flag + " '" + q.ID + "' > FILE"
}

// answer adds the kept characters and their position. ended reports whether the original was written to its end.
func (w *window) answer(a answer, req *mcp.CallToolRequest, o Original, ended bool) (answer, error) {
	if w.from > 0 && w.at <= w.from && !w.more {
		return answer{}, toolError(fmt.Sprintf("restore: offset %d is beyond the end: the text has %d characters", w.from, w.at))
	}
	to := w.from + int64(utf8.RuneCount(w.text))
	span := fmt.Sprintf("characters %d to %d", w.from, to)
	if ended {
		span += fmt.Sprintf(" of %d", w.at)
	} else if o.Bytes > 0 {
		span += fmt.Sprintf(" of a text that takes %d bytes in the transcript", o.Bytes)
	}
	if w.wrong > 0 {
		a.notes = append(a.notes, fmt.Sprintf("Bytes in it that are not UTF-8: %d, each shown as U+FFFD. In a shell, `ccd agent restore` prints them exactly.", w.wrong))
	}
	a.body = string(w.text)
	switch {
	case w.more:
		a.end = "More follows. This is " + span + "; next page: " + again(req, map[string]any{"offset": to, "id": o.Name})
	case w.from > 0:
		a.end = "End of the text: " + span + "."
	case a.body == "" && len(o.Images) > 0:
		a.end = "It has no text."
	case a.body == "":
		a.end = "It is empty."
	default:
		a.end = "That is all of it: " + span + "."
	}
	return a, nil
}

// images returns the images of a type that models accept, at most maxImage bytes of them.
func images(all [][]byte) (shown []mcp.Content) {
	left := maxImage
	for _, data := range all {
		if mime := imageType(data); mime != "" && len(data) <= left {
			shown = append(shown, &mcp.ImageContent{Data: data, MIMEType: mime})
			left -= len(data)
		}
	}
	return shown
}
