package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxText is how much of a text is read to show a page of it, in bytes.
const maxText = 32 << 20

var errEnough = errors.New("the text is too long")

// whole keeps what is written to it, up to maxText. Then it fails with errEnough.
type whole struct {
	text []byte
	more bool // it was not all
}

// Write implements io.Writer. It fails with errEnough.
func (w *whole) Write(data []byte) (int, error) {
	if len(w.text)+len(data) > maxText {
		w.text, w.more = append(w.text, data[:maxText-len(w.text)]...), true
		return 0, errEnough
	}
	w.text = append(w.text, data...)
	return len(data), nil
}

// read returns what write writes.
func read(write func(io.Writer) error) (w whole, err error) {
	if err = write(&w); errors.Is(err, errEnough) {
		err = nil
	}
	return w, err
}

// split returns a text as pages that end at a line end, or within a line that is longer than a page.
func split(text []byte, room int) (pages [][]byte) {
	for len(text) > room {
		n := bytes.LastIndexByte(text[:room], '\n') + 1
		if n == 0 {
			n = boundary(text, room)
		}
		pages, text = append(pages, text[:n]), text[n:]
	}
	return append(pages, text)
}

// writer is a tool whose answer consists of lines. It writes them to w, and returns a name of the session that they are about that stays
// valid when another becomes the latest, "" if they are not about one.
type writer[Q any] = func(ctx context.Context, q Q, w io.Writer) (session string, err error)

func addText[Q any](h handler, s *mcp.Server, name, text string, write writer[Q]) {
	mcp.AddTool(s, describe(name, text), func(ctx context.Context, req *mcp.CallToolRequest, q Q) (*mcp.CallToolResult, any, error) {
		return h.serve(ctx, name, func(ctx context.Context) (answer, error) {
			var session string
			w, err := read(func(w io.Writer) (err error) {
				session, err = write(ctx, q, w)
				return err
			})
			if err != nil {
				return answer{}, err
			}
			a := answer{about: name}
			if session != "" {
				a.about += " of session " + session
			}
			a, _, err = a.paged(req, split(w.text, room(req)), map[string]any{"session": session})
			return a, err
		})
	})
}

// paged adds the page that a request asks for, which one it is and how to get the next one, if there are more. same are arguments that
// name the same thing when something newer has come.
func (a answer) paged(req *mcp.CallToolRequest, pages [][]byte, same map[string]any) (_ answer, more bool, err error) {
	var q struct{ Page int }
	_ = json.Unmarshal(req.Params.Arguments, &q) // it has been checked against the schema
	n, last := max(1, q.Page), len(pages)
	if n > last {
		return answer{}, false, toolError(fmt.Sprintf("%s: no page %d: the last page is %d", req.Params.Name, n, last))
	}
	a.about += fmt.Sprintf(", page %d of %d", n, last)
	switch a.body = string(pages[n-1]); {
	case last > n:
		same["page"] = n + 1
		a.end = "More follows; next page: " + again(req, same)
	case n > 1:
		a.end = "That was the last page."
	case a.body == "":
		a.end = "No results."
	default:
		a.end = "That is all of it."
	}
	return a, last > n, nil
}
