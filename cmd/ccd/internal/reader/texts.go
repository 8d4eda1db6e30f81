package reader

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"ccd/archive"
	"ccd/internal/transcript"
)

const (
	shortText = 16   // bytes below which a text is forgotten only where its surroundings are the same
	around    = 4096 // bytes of the line before and after it that are its surroundings
)

// Texts returns what to forget of an original: the content of each part, without its quotes or brackets, so that the rest
// of the record stays valid JSON.
func (l *Library) Texts(ctx context.Context, w Wanted, progress func(done, total int64)) (texts []archive.Text, err error) {
	for _, w.Raw = range []bool{false, true} { // of a record: its items, which other records may have too, and the whole line
		o, err := l.Original(ctx, w, progress)
		if err != nil {
			return nil, err
		}
		more, err := l.textsOf(ctx, o)
		if err != nil {
			return nil, err
		}
		for _, t := range more {
			if !slices.ContainsFunc(texts, func(known archive.Text) bool { return bytes.Equal(known.Bytes, t.Bytes) && known.From == t.From }) {
				texts = append(texts, t)
			}
		}
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("forget %s: it is empty", w.Name)
	}
	return texts, nil
}

func (l *Library) textsOf(ctx context.Context, o Original) (texts []archive.Text, err error) {
	var raw []byte
	for piece, err := range l.Archive.Raw(ctx, o.found) {
		if err != nil {
			return nil, err
		}
		raw = append(raw, piece.Data...)
		if piece.More {
			continue
		}
		span := piece.Part.Span
		parts := [][]byte{raw}
		if o.found.Shape == transcript.Lines {
			parts = bytes.SplitAfter(raw, []byte("\n"))
		}
		for _, part := range parts {
			if text, ok := content(bytes.TrimRight(part, "\r\n")); ok {
				at := span.Off + int64(text.From)
				if len(text.Bytes) < shortText {
					if text, err = o.inLine(ctx, at, text); err != nil {
						return nil, err
					}
				} else {
					text.From, text.To = 0, len(text.Bytes)
				}
				texts = append(texts, text)
			}
			span.Off += int64(len(part))
		}
		raw = nil
	}
	return texts, nil
}

// content returns the content of a JSON value, of which From is the offset, or the whole of anything else.
func content(raw []byte) (t archive.Text, ok bool) {
	t = archive.Text{Bytes: raw, Fill: '*'}
	if n := len(raw); n >= 2 {
		switch {
		case raw[0] == '"' && raw[n-1] == '"':
			t.From = 1
		case raw[0] == '{' && raw[n-1] == '}', raw[0] == '[' && raw[n-1] == ']':
			t.From, t.Fill = 1, ' '
		}
		t.Bytes = raw[t.From : n-t.From]
	}
	return t, len(t.Bytes) > 0
}

// inLine returns a short text at an offset of the session together with its surroundings in the line.
func (o Original) inLine(ctx context.Context, at int64, t archive.Text) (archive.Text, error) {
	g, err := o.library.Reading(o.Entry, o.found.Generation)
	if err != nil {
		return t, err
	}
	from := max(0, at-around)
	data, err := g.Bytes().Span(ctx, transcript.Span{Off: from, Len: min(g.Tip.Offset, at+int64(len(t.Bytes))+around) - from})
	if err != nil {
		return t, err
	}
	begin := bytes.LastIndexByte(data[:at-from], '\n') + 1
	last := int(at-from) + len(t.Bytes)
	if n := bytes.IndexByte(data[last:], '\n'); n >= 0 {
		data = data[:last+n]
	}
	return archive.Text{Bytes: data[begin:], From: int(at-from) - begin, To: last - begin, Fill: t.Fill}, nil
}
