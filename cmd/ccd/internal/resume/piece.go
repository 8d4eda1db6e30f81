package resume

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// piece is a block of the source on its way into a copy.
type piece struct {
	transcript.Block
	assistant bool
	reply     string // what pieces of one reply share
	model     string
	time      time.Time
	record    int
	place     int // in the order of all pieces
	whole     transcript.Pointer
	size      int    // bytes of the original
	chars     int    // as it stands, as the model sees it
	label     string // of a call: tool and input, for where it is told
	told      bool   // of a call: it is told in words, for the copy's agent has no such call, or no room
	short     bool   // its ID stands in it, for what it leaves out
	named     bool   // of a result: its ID stands in it for an image
	answer    string // of a result in which the human answers a question, a plan or a call: their words
}

const (
	labelChars = 300  // of a call that is told
	toldChars  = 2000 // of a result that is told
	stubChars  = 120  // that a stub takes, about
	imageChars = 3000 // that an image counts at the least
)

// newPiece is an item as a piece of a copy for the agent; ok is false for what stays out of it.
func newPiece(from, to, cwd string, r *transcript.Record, it *transcript.Item) (p piece, ok bool) {
	quoted := it.Kind == transcript.Summary && quotedSummary(from, r)
	if it.Side || it.Kind == transcript.Summary && !quoted { // what it summed up stands before it
		return p, false
	}
	b, ok := transcript.NewBlock(r, it)
	if quoted {
		b.Kind = transcript.Human
	}
	if !ok {
		return p, false
	}
	p = piece{Block: b, reply: it.Message, model: r.Model, time: r.Time, record: r.N, size: len(it.Raw)}
	if from != to {
		p.model = "" // the other agent knows none of them
	}
	p.assistant = b.Kind == transcript.Text || b.Kind == transcript.Call || b.Kind == transcript.Thinking
	p.whole = transcript.Pointer{
		Hash: mark.Sum(it.Raw), Parts: []transcript.Part{{Span: it.Span, Kind: it.Kind}},
		Record: r.N, Last: r.N, Time: r.Time, Note: it.Kind.String(),
	}
	if it.Kind == transcript.Human && it.Call != "" {
		p.answer, _ = it.Said()
	}
	raw := p.Raw
	if ok = p.fit(from, to, cwd, r, it); ok {
		p.disclaim(to, it)
		p.weigh()
	} else if p.Kind == transcript.Image { // there is none of the kind: its ID tells that it was there
		p.Raw = raw
		p, ok = p.stubbed(), true
	}
	if ok && quoted && p.chars > quotedChars {
		p = p.cut(quotedChars)
	}
	return p, ok
}

// quotedChars is what is left of a message that is taken for a summary by its words alone.
const quotedChars = 2000

// quotedSummary reports whether the summary in a record may be a person's message that quotes one: Codex has no flag for
// them, its own ones stand in records of compaction.
func quotedSummary(from string, r *transcript.Record) bool {
	m := object(r.Raw)
	if payload := object(m["payload"]); payload != nil {
		m = payload
	}
	return from != claude && r.Boundary == nil && text(m["role"]) == "user"
}

// fit gives a piece the shape that the agent's API takes.
func (p *piece) fit(from, to, cwd string, r *transcript.Record, it *transcript.Item) bool {
	switch p.Kind {
	case transcript.Human, transcript.Text:
		said := string(transcript.Original(p.Kind, p.Raw))
		if begin, end := it.Client().Span(it.Frame, said); p.Kind == transcript.Human && end-begin < len(said) {
			_, added := it.Client().Said(it.Frame, said)
			p.Raw, p.named = transcript.Quote(said[begin:end]+"\n"+mark.New(p.id(), fmt.Sprintf("%d chars added by the client", added))), true
		} else if p.Raw[0] != '"' {
			p.Raw = transcript.Quote(said)
		}
		return strings.TrimSpace(said) != ""
	case transcript.Thinking:
		return from == to
	case transcript.Call:
		p.Raw = input(&p.Block)
		p.label = mark.Inline(p.Tool+" "+string(transcript.Original(transcript.Call, p.Raw)), labelChars)
		p.told = p.Call == "" || !fitCall(from, to, r.Type, cwd, &p.Block) || !toolName.MatchString(p.Tool)
	case transcript.Result:
		p.named = fitResult(from, to, &p.Block, p.id())
		return p.Call != ""
	case transcript.Image:
		return fitImage(to, &p.Block)
	}
	return true
}

// disclaim puts a line before what a program wrote and a reader of the copy could take for the human's words: a result
// that poses as the client's report of them, and a summary that only Codex knows by its words.
func (p *piece) disclaim(to string, it *transcript.Item) {
	who := ""
	switch {
	case it.Kind == transcript.Summary && to == claude:
		who = "a summary, not the human's words"
	case it.Kind == transcript.Result && !it.Refused && it.Client().Poses(it.Tool, it.Raw):
		who = "the tool wrote this, not the human"
	default:
		return
	}
	p.Raw, p.named = transcript.Quote(mark.New(p.id(), who)+"\n"+flat(p.Raw, p.id())), true
}

// weigh counts what a piece takes.
func (p *piece) weigh() {
	p.chars = transcript.Chars(p.Raw)
	switch p.Kind {
	case transcript.Call:
		p.chars += utf8.RuneCountInString(p.Tool)
	case transcript.Image:
		p.chars = max(imageChars, len(p.Raw)/8)
	case transcript.Result:
		if other := len(p.Raw) - p.chars; p.Raw[0] == '[' && other > imageChars { // images are no text
			p.chars += max(imageChars, other/8)
		}
	}
}

func (p *piece) id() mark.ID { return p.whole.Hash.ID() }

// stub is what stands for a result or an image that has no room.
func (p *piece) stub() string {
	what := ""
	if p.Kind == transcript.Image {
		what = "image, "
	}
	id := string(p.id())
	return mark.New(p.id(), fmt.Sprintf("%s%d bytes: elided; read again before editing; ccd agent restore %s", what, p.size, id))
}

// stubbed is the piece with its stub in the place of what it held.
func (p piece) stubbed() piece {
	text := p.stub()
	if p.Kind == transcript.Image {
		p.Kind = transcript.Meta
	}
	p.Raw, p.chars, p.short = transcript.Quote(text), len(text), true
	return p
}

// cut is a text with its beginning and its end, in about most chars; its ID stands between them.
func (p piece) cut(most int) piece {
	text := []rune(string(transcript.Original(p.Kind, p.Raw)))
	m := "\n" + mark.New(p.id(), fmt.Sprintf("cut, %d chars; ccd agent restore %s", len(text), p.id())) + "\n"
	if room := max(0, most-len(m)); len(text) > room {
		m = string(text[:room*5/8]) + m + string(text[len(text)-room/4:])
	}
	p.Raw, p.short = transcript.Quote(m), true
	p.chars = transcript.Chars(p.Raw)
	return p
}

// asText is a call that is told: what was called, and where its input stands.
func (p piece) asText(why string) piece {
	text := mark.New(p.id(), "call of "+p.label+why)
	p.Kind, p.assistant, p.short = transcript.Text, true, true
	p.Raw, p.chars = transcript.Quote(text), utf8.RuneCountInString(text)
	return p
}

// resultAsText is the result of a call that is told.
func (p piece) resultAsText() piece {
	if p.answer != "" && utf8.RuneCountInString(p.answer) <= toldChars { // it stays the human's
		text := p.answer + "\n" + mark.New(p.id(), "to the call before")
		p.Kind, p.assistant, p.short = transcript.Human, false, true
		p.Raw, p.chars = transcript.Quote(text), utf8.RuneCountInString(text)
		return p
	}
	text := string(transcript.Original(transcript.Text, p.Raw))
	end := mark.New(p.id(), "its result") + "\n"
	if r := []rune(text); len(r) > toldChars {
		text = string(r[:toldChars/4])
		end = mark.New(p.id(), fmt.Sprintf("its result, cut, %d chars", len(r))) + "\n"
	}
	text = end + mark.Quote("", text)
	p.Kind, p.assistant, p.short = transcript.Text, true, true
	p.Raw, p.chars = transcript.Quote(text), utf8.RuneCountInString(text)
	return p
}

// object reads a JSON object's members, nil where it is none.
func object(raw []byte) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// list reads a JSON list's values, nil where it is none.
func list(raw []byte) []json.RawMessage {
	var l []json.RawMessage
	if json.Unmarshal(raw, &l) != nil {
		return nil
	}
	return l
}

// text reads a JSON string, "" where it is none.
func text(raw []byte) string {
	if len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	return string(transcript.Original(transcript.Text, raw))
}
