package form

import (
	"bytes"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// ofRecord converts a record of a transcript to messages.
func ofRecord(r *transcript.Record) (all []message) {
	for i := range r.Items {
		b, ok := newBlock(&r.Items[i])
		if !ok {
			continue
		}
		if n := len(all); n == 0 || all[n-1].assistant() != b.Kind.Assistant() {
			all = append(all, message{})
		}
		m := &all[len(all)-1]
		m.blocks = append(m.blocks, b)
	}
	return all
}

// giant is the size in bytes beyond which only both ends of a value are kept.
const giant = 256 << 10

// newBlock converts an item to a block. ok is false for what only the agent itself needs: thinking, reminders, instructions.
func newBlock(it *transcript.Item) (b block, ok bool) {
	b.Block = transcript.Block{Kind: it.Kind, Call: it.Call, Tool: it.Tool, Failed: it.Failed, Reply: it.Message}
	raw := it.Raw
	switch {
	case it.Side:
		return b, false
	case it.Kind == transcript.Result, it.Kind == transcript.Human && it.Call != "":
		b.Kind = transcript.Result
		if b.pictures = holdsPictures(raw); !b.pictures && !(transcript.Node{Raw: raw}).Is('"') {
			raw = transcript.Quote(string(transcript.Original(transcript.Text, raw)))
		}
	case it.Kind == transcript.Call:
		raw = input(raw)
	case it.Kind == transcript.Image:
		if media, data := transcript.ImageData(raw); !(transcript.Node{Raw: raw}).Is('{') && (media == "" || data == "") {
			return b, false
		}
		raw = transcript.ImageSource(raw)
	case it.Kind == transcript.Human, it.Kind == transcript.Summary, it.Kind == transcript.Text:
		raw = said(it)
	default:
		return b, false
	}
	b.id = it.Sum().ID()
	if it.Kind == transcript.Image {
		b.Raw = utf(raw)
		return b, true
	}
	b.chars = transcript.Chars(raw)
	if len(raw) <= giant {
		b.Raw = utf(raw)
		return b, true
	}
	text := string(transcript.Original(transcript.Text, raw))
	b.giant, b.head, b.tail = true, strings.Clone(head(text, giant/8)), strings.Clone(lexicon.Tail(text, 1000))
	return b, true
}

// utf returns a copy of a value with invalid UTF-8 replaced by U+FFFD.
func utf(raw []byte) []byte { return bytes.ToValidUTF8(bytes.Clone(raw), []byte("\ufffd")) }

// said returns a text; of a person's message only what the person wrote.
func said(it *transcript.Item) []byte {
	whole := string(transcript.Original(it.Kind, it.Raw))
	if !(transcript.Node{Raw: it.Raw}).Is('"') {
		return transcript.Quote(whole)
	}
	if it.Kind == transcript.Human {
		if typed, added := it.Said(); typed != whole {
			return transcript.Quote(typed + mark.Added(added))
		}
	}
	return it.Raw
}

// input returns a call's input as an object.
func input(raw []byte) []byte {
	n := transcript.Node{Raw: raw}
	if n.Is('{') {
		return raw
	}
	if inner := []byte(strings.TrimSpace(n.Text())); (transcript.Node{Raw: inner}).Is('{') && transcript.Valid(inner) {
		return inner
	}
	return []byte(`{"input":` + string(utf(raw)) + `}`)
}

// holdsPictures reports whether a content is a list of text and image blocks in Anthropic's format with at least one image.
func holdsPictures(content []byte) (holds bool) {
	for e := range (transcript.Node{Raw: content}).Elements() {
		switch e.Field("type").Text() {
		case "text":
		case "image":
			if !e.Field("source").Is('{') {
				return false
			}
			holds = true
		default:
			return false
		}
	}
	return holds
}
