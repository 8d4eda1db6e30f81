package search

import (
	"bytes"
	"context"
	"strings"

	"ccd/internal/transcript"
)

// How far back the call of a result is searched, in bytes: before the current segment, and in lines with the call's ID.
const (
	maxBefore = 2 << 20
	maxNamed  = 4 << 20
)

// called returns item i of a record with its kind and tool. A result gets its tool from its call, which also shows whether
// it is a person's answer. ok reports whether tool and file match the query.
func (w *walk) called(ctx context.Context, seg transcript.Segment, at transcript.Span, r *transcript.Record, i int) (it transcript.Item, ok bool, err error) {
	it = r.Items[i]
	switch {
	case it.Kind == transcript.Call:
		return it, w.wanted(&it, r), nil
	case it.Call == "":
		return it, !w.ofCall(), nil
	}
	call, cr, err := w.callOf(ctx, seg, at, r, it.Call)
	if call == nil || err != nil {
		return it, !w.ofCall(), err
	}
	it.Tool = call.Tool
	if ok = w.wanted(call, cr); ok {
		// Decode the line again, now that its call is known.
		if again := decoded(w.decoder, seg.Data, seg.Start.Offset, at); again != nil && i < len(again.Items) {
			it.Kind, it.Frame = again.Items[i].Kind, again.Items[i].Frame
		}
	}
	return it, ok, nil
}

// callOf finds the call that a result belongs to: in its own line, earlier in the segment, or some way before the segment.
// It returns nil if there is none.
func (w *walk) callOf(ctx context.Context, seg transcript.Segment, at transcript.Span, r *transcript.Record, id string) (*transcript.Item, *transcript.Record, error) {
	if call := callTo(r, id); call != nil {
		return call, r, nil
	}
	call, r := w.callIn(seg.Data[:at.Off], seg.Start.Offset, id)
	if call != nil || seg.Start.Offset == 0 {
		return call, r, nil
	}
	before := transcript.Span{Off: max(0, seg.Start.Offset-maxBefore)}
	before.Len = seg.Start.Offset - before.Off
	data, err := w.near.Span(ctx, before)
	if damaged(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	call, r = w.callIn(data, before.Off, id)
	return call, r, nil
}

// callIn finds the last call with an ID in data, which begins at offset off.
func (w *walk) callIn(data []byte, off int64, id string) (*transcript.Item, *transcript.Record) {
	end := len(data)
	for named := int64(0); named < maxNamed; {
		i := bytes.LastIndex(data[:end], []byte(id))
		if i < 0 {
			break
		}
		line := transcript.LineAround(data, i)
		if r := w.record(data, off, line); r != nil {
			if call := callTo(r, id); call != nil {
				return call, r
			}
		}
		named += line.Len
		end = int(line.Off)
	}
	return nil, nil
}

// callTo returns the record's call with that ID, or nil.
func callTo(r *transcript.Record, id string) *transcript.Item {
	for i := range r.Items {
		if it := &r.Items[i]; it.Kind == transcript.Call && it.Call == id {
			return it
		}
	}
	return nil
}

// wanted reports whether a call matches the tool and file of the query.
func (w *walk) wanted(call *transcript.Item, r *transcript.Record) bool {
	if w.tool != "" && !isTool(call.Tool, w.tool) {
		return false
	}
	if w.path == nil {
		return true
	}
	cwd := r.Cwd
	if cwd == "" {
		cwd = w.cwd
	}
	a := call.Understand()
	a.Resolve(cwd)
	for _, f := range a.Files {
		if len(r.Marks) > 0 {
			f.Path, f.To = string(masked([]byte(f.Path), r.Marks)), string(masked([]byte(f.To), r.Marks))
		}
		if w.path.matches(f.Path) || f.To != "" && w.path.matches(f.To) {
			return true
		}
	}
	return false
}

// isTool reports whether want is the tool's name, with or without the name of its server.
func isTool(tool, want string) bool {
	if strings.EqualFold(tool, want) {
		return true
	}
	i := strings.LastIndex(tool, "__")
	return i >= 0 && strings.EqualFold(tool[i+2:], want)
}
