package tools

import (
	"context"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// countable is the size, in bytes, up to which an original is read to its end only to tell how long it is.
const countable = 16 << 20

func (d desk) addRestore(s *mcp.Server, restore func(context.Context, RestoreQuery) (Original, error)) {
	if restore == nil {
		return
	}
	const name = "restore"
	mcp.AddTool(s, describe(name, restoreText), func(ctx context.Context, req *mcp.CallToolRequest, q RestoreQuery) (*mcp.CallToolResult, any, error) {
		return d.serve(ctx, name, func(ctx context.Context) (answer, error) {
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
		return toolError("restore: at and session go with file; a record of a session is id SESSION#N")
	case q.File != "" && (q.Raw || q.Full), q.Raw && q.Full:
		return toolError("restore: of raw, full and file only one")
	case q.Offset < 0 || q.Limit < 0:
		return toolError("restore: offset and limit count from 0")
	}
	return nil
}

// page is one page of an original.
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
	if len(o.Images) > 0 && q.Offset == 0 {
		a.images = images(o.Images)
		a.notes = append(a.notes, fmt.Sprintf("Images in it: %d, shown behind its text: %d. raw gives the JSON that holds them.", len(o.Images), len(a.images)))
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

// unshown tells what an original is that no block can hold, and how to get it all the same.
func (o Original) unshown(s *sorter, q RestoreQuery) string {
	what := "bytes that are no text"
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

// answer tells which characters these are. Ended is whether all that was written has been seen.
func (w *window) answer(a answer, req *mcp.CallToolRequest, o Original, ended bool) (answer, error) {
	if w.from > 0 && w.at <= w.from && !w.more {
		return answer{}, toolError(fmt.Sprintf("restore: offset %d is behind the last character: there are %d", w.from, w.at))
	}
	to := w.from + int64(utf8.RuneCount(w.text))
	span := fmt.Sprintf("characters %d to %d", w.from, to)
	if ended {
		span += fmt.Sprintf(" of %d", w.at)
	} else if o.Bytes > 0 {
		span += fmt.Sprintf(" of what takes %d bytes in the transcript", o.Bytes)
	}
	if w.wrong > 0 {
		a.notes = append(a.notes, fmt.Sprintf("Bytes in it that are not UTF-8: %d; each is shown as U+FFFD here. In a shell `ccd agent restore` gives them exactly.", w.wrong))
	}
	a.body = string(w.text)
	switch {
	case w.more:
		a.end = "More follows: these are " + span + "; next page: " + again(req, map[string]any{"offset": to, "id": o.Name})
	case w.from > 0:
		a.end = "That is the end of it: " + span + "."
	case a.body == "" && len(o.Images) > 0:
		a.end = "That is all of it: it has no text."
	case a.body == "":
		a.end = "It is empty."
	default:
		a.end = "That is all of it: " + span + "."
	}
	return a, nil
}

// images gives those that a model can be shown, at most maxImage bytes of them.
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
