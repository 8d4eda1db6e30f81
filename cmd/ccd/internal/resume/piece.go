package resume

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// piece is a block of the source that may become part of a copy.
type piece struct {
	transcript.Block
	model, provider string
	time            time.Time
	record          int
	whole           transcript.Pointer
	size            int    // bytes of the original
	chars           int    // as the model sees it
	label           string // of a call: tool and input, for describing it in words
	told            bool   // of a call: it is described in words, because the copy's agent has no such call or room is short
	short           bool   // shortened, with its ID
	named           bool   // of a result: contains its ID in place of an image
	answer          string // of a result with the human's answer to a question, a plan or a call: that answer
}

const (
	labelChars = 300  // of a call described in words
	toldChars  = 2000 // of a result given as text
	stubChars  = 120  // of a stub, about
)

// newPiece converts an item to a piece for the copy's agent. ok is false for items that are left out.
func newPiece(from, to, cwd string, r *transcript.Record, it *transcript.Item) (p piece, ok bool) {
	quoted := it.Kind == transcript.Summary && quotedSummary(from, r)
	if it.Side || it.Kind == transcript.Summary && !quoted { // what it summarizes is in the source
		return p, false
	}
	b, ok := transcript.NewBlock(r, it)
	if quoted {
		b.Kind = transcript.Human
	}
	if !ok {
		return p, false
	}
	p = piece{Block: b, model: r.Model, provider: r.Provider, time: r.Time, record: r.N, size: len(it.Raw)}
	if from != to {
		p.model, p.provider = "", "" // the other agent does not know it
	}
	p.whole = transcript.Pointer{
		Hash: it.Sum(), Parts: []transcript.Part{{Span: it.Span, Kind: it.Kind}},
		Record: r.N, Last: r.N, Time: r.Time, Note: it.Kind.String(),
	}
	if it.Kind == transcript.Human && it.Call != "" {
		p.answer, _ = it.Said()
	}
	if p.Kind == transcript.Image {
		return p.stubbed(), true
	}
	if ok = p.fit(from, to, cwd, r, it); ok {
		p.disclaim(to, it)
		p.weigh()
	}
	if ok && quoted && p.chars > quotedChars {
		p = p.cut(quotedChars)
	}
	return p, ok
}

// quotedChars is how much is kept of a message that only its wording marks as a summary.
const quotedChars = 2000

// quotedSummary reports whether the summary in a record may be a person's message that quotes one. Codex does not flag
// summaries, but writes its own into compaction records.
func quotedSummary(from string, r *transcript.Record) bool {
	m := node(r.Raw)
	if payload := m.Field("payload"); payload.Is('{') {
		m = payload
	}
	return from != claude && r.Boundary == nil && m.Field("role").Text() == "user"
}

// fit converts a piece to a form that the agent's API accepts.
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
		p.told = p.Call == "" || !fitCall(from, to, r.Type, cwd, &p.Block) || !toolName().MatchString(p.Tool)
	case transcript.Result:
		p.named = fitResult(from, to, &p.Block, p.id())
		return p.Call != ""
	}
	return true
}

// disclaim puts a line before text by a program that a reader of the copy could mistake for the human's: a result that
// imitates the client's report of an answer, and a summary that only its wording marks as one.
func (p *piece) disclaim(to string, it *transcript.Item) {
	who := ""
	switch {
	case it.Kind == transcript.Summary && to != codex:
		who = "a summary, not the human's words"
	case it.Kind == transcript.Result && !it.Refused && it.Client().FakesReport(it.Tool, it.Raw):
		who = "the tool wrote this, not the human"
	default:
		return
	}
	p.Raw, p.named = transcript.Quote(mark.New(p.id(), who)+"\n"+flat(p.Raw, p.id())), true
}

// weigh sets the size of a piece.
func (p *piece) weigh() {
	p.chars = transcript.Chars(p.Raw)
	if p.Kind == transcript.Call {
		p.chars += utf8.RuneCountInString(p.Tool)
	}
}

func (p *piece) id() mark.ID { return p.whole.Hash.ID() }

// stub returns the marker that replaces an image, or a result for which there is no room.
func (p *piece) stub() string {
	id := string(p.id())
	if p.Kind == transcript.Image { // there may be no file to read it from again
		return mark.New(p.id(), fmt.Sprintf("%s: only here; ccd agent restore %s", transcript.MediumOf(p.Raw), id))
	}
	return mark.New(p.id(), fmt.Sprintf("%d bytes: elided; read again before editing; ccd agent restore %s", p.size, id))
}

// stubbed returns the piece with its content replaced by its stub.
func (p piece) stubbed() piece {
	text := p.stub()
	if p.Kind == transcript.Image {
		p.Kind = transcript.Meta
	}
	p.Raw, p.chars, p.short = transcript.Quote(text), len(text), true
	return p
}

// cut returns the piece shortened to about most chars: the beginning of its text, its ID, and the end.
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

// asText returns a call described in words: what was called, and the ID of its input.
func (p piece) asText(why string) piece {
	text := mark.New(p.id(), "call of "+p.label+why)
	p.Kind, p.short = transcript.Text, true
	p.Raw, p.chars = transcript.Quote(text), utf8.RuneCountInString(text)
	return p
}

// resultAsText returns the result of a call that is described in words.
func (p piece) resultAsText() piece {
	if p.answer != "" && utf8.RuneCountInString(p.answer) <= toldChars { // the human's words are kept
		text := p.answer + "\n" + mark.New(p.id(), "to the call before")
		p.Kind, p.short = transcript.Human, true
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
	p.Kind, p.short = transcript.Text, true
	p.Raw, p.chars = transcript.Quote(text), utf8.RuneCountInString(text)
	return p
}
