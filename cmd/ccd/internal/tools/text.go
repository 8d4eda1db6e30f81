package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// textTool is a tool whose answer consists of lines.
type textTool[Q any] struct {
	name, text string
	write      func(ctx context.Context, q Q, w io.Writer) (session string, err error)
	// brief stops after the requested page without counting the pages after it, because some answers take long to complete.
	brief bool
}

// ofNone adapts a query that is not about one session.
func ofNone[Q any](write func(context.Context, Q, io.Writer) error) func(context.Context, Q, io.Writer) (string, error) {
	if write == nil {
		return nil
	}
	return func(ctx context.Context, q Q, w io.Writer) (string, error) { return "", write(ctx, q, w) }
}

func addText[Q any](h handler, s *mcp.Server, t textTool[Q]) {
	if t.write == nil {
		return
	}
	mcp.AddTool(s, describe(t.name, t.text), func(ctx context.Context, req *mcp.CallToolRequest, q Q) (*mcp.CallToolResult, any, error) {
		return h.serve(ctx, t.name, func(ctx context.Context) (answer, error) {
			p := &page{room: room(req), want: pageOf(req), brief: t.brief}
			session, err := t.write(ctx, q, p)
			if err == nil {
				err = p.end()
			}
			if err != nil && !errors.Is(err, errEnough) {
				return answer{}, err
			}
			return p.answer(req, session)
		})
	})
}

func pageOf(req *mcp.CallToolRequest) int {
	var q struct{ Page int }
	_ = json.Unmarshal(req.Params.Arguments, &q) // it has been checked against the schema
	return max(1, q.Page)
}

// answer adds which page this is and how to get the next one.
func (p *page) answer(req *mcp.CallToolRequest, session string) (answer, error) {
	name := req.Params.Name
	if p.want > p.at {
		return answer{}, toolError(fmt.Sprintf("%s: no page %d: the last page is %d", name, p.want, p.at))
	}
	a := answer{about: name, body: string(p.text), end: "That is all of it."}
	if session != "" {
		a.about += " of session " + session
	}
	if a.about += fmt.Sprintf(", page %d", p.want); !p.full {
		a.about += fmt.Sprintf(" of %d", p.at)
	}
	switch {
	case p.at > p.want:
		a.end = "More follows; next page: " + again(req, map[string]any{"page": p.want + 1, "session": session})
	case p.want > 1:
		a.end = "That was the last page."
	case a.body == "":
		a.end = "No results."
	}
	return a, nil
}
