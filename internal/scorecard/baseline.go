package scorecard

import (
	"slices"
	"strconv"
	"strings"

	"ccd/internal/transcript"
)

// maxBaseline is the largest size that a baseline can be asked for, in chars.
const maxBaseline = 64 << 10

// plain keeps of a transcript's text, as the agent saw it, what the dumb ways to shorten it need.
type plain struct {
	text, stubbed ends
	results       []string // the last ones, cut; they are not stubbed
}

const keptResults = 3

func (p *plain) said(text string) {
	p.text.write(text + "\n")
	p.stubbed.write(text + "\n")
}

func (p *plain) called(tool string, a *transcript.Action, input []byte) {
	line := normalLine(a.Command)
	if line == "" {
		line = string(input)
	}
	p.said(tool + ": " + line)
}

func (p *plain) answered(op transcript.Op, out *transcript.Outcome) {
	text := out.Text
	if out.HasExit && op == transcript.Command {
		text = "exit " + strconv.Itoa(out.Exit) + "\n" + text
	}
	p.text.write(text + "\n")
	p.stubbed.write("[result left out]\n")
	if p.results = append(p.results, tail(text, maxBaseline)); len(p.results) > keptResults {
		p.results = slices.Delete(p.results, 0, 1)
	}
}

func normalLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Tail is the last chars of the plain text.
func (f *Facts) Tail(chars int) string { return tail(string(f.plain.text.last), chars) }

// HeadTail is the first and the last chars of the plain text, half each.
func (f *Facts) HeadTail(chars int) string {
	last := string(f.plain.text.last)
	if !f.plain.text.cut && !long(last, chars) {
		return last
	}
	return head(string(f.plain.text.first), chars/2) + "\n" + tail(last, chars-chars/2-1)
}

// Stub is the last chars of the plain text with all results but the last three left out.
func (f *Facts) Stub(chars int) string {
	return tail(string(f.plain.stubbed.last)+strings.Join(f.plain.results, "\n"), chars)
}

// ends keeps the first and the last maxBaseline chars, at the least, of what is written to it.
type ends struct {
	first, last []byte
	cut         bool
}

func (e *ends) write(text string) {
	if len(e.first) < 4*maxBaseline {
		e.first = append(e.first, head(text, maxBaseline)...)
	}
	if e.last = append(e.last, tail(text, maxBaseline)...); len(e.last) > 16*maxBaseline {
		e.last, e.cut = append(e.last[:0], tail(string(e.last), maxBaseline)...), true
	}
	e.cut = e.cut || long(text, maxBaseline)
}
