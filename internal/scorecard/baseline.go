package scorecard

import (
	"strconv"
	"strings"

	"ccd/internal/transcript"
)

// maxBaseline is the largest size that a baseline can be asked for, in chars.
const maxBaseline = 64 << 10

// Baselines keeps of a transcript's plain text what the dumb ways to shorten it need: its beginning and its end.
type Baselines struct {
	text, stubbed end
	results       []string // the last ones, cut; they are not stubbed
	calls         map[string]transcript.Action
}

const keptResults = 3

// NewBaselines returns empty ones.
func NewBaselines() *Baselines { return &Baselines{calls: map[string]transcript.Action{}} }

// Add takes the text of a record. It keeps nothing of r.
func (b *Baselines) Add(r *transcript.Record) {
	for i := range r.Items {
		it := &r.Items[i]
		switch it.Kind {
		case transcript.Human, transcript.Text, transcript.Summary:
			b.write(string(transcript.Original(it.Kind, it.Raw)), false)
		case transcript.Call:
			a := transcript.Understand(it.Tool, it.Raw)
			b.calls[it.Call] = a
			line := it.Tool + ": " + normalLine(a.Command)
			if a.Command == "" {
				line = it.Tool + ": " + string(transcript.Original(it.Kind, it.Raw))
			}
			b.write(line, false)
		case transcript.Result:
			a := b.calls[it.Call]
			delete(b.calls, it.Call)
			out := transcript.Explain(it.Tool, a.Op, it.Raw, it.Failed)
			text := out.Text
			if out.HasExit && a.Op == transcript.Command {
				text = "exit " + strconv.Itoa(out.Exit) + "\n" + text
			}
			b.write(text, true)
		}
	}
}

func normalLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func (b *Baselines) write(text string, result bool) {
	b.text.write(text + "\n")
	if !result {
		b.stubbed.write(text + "\n")
		return
	}
	b.stubbed.write("[result left out]\n")
	if b.results = append(b.results, tail(text, maxBaseline)); len(b.results) > keptResults {
		b.results = b.results[1:]
	}
}

// Tail is the last chars of the plain text.
func (b *Baselines) Tail(chars int) string { return tail(string(b.text.last), chars) }

// HeadTail is the first and the last chars, half each.
func (b *Baselines) HeadTail(chars int) string {
	last := string(b.text.last)
	if !b.text.cut && !long(last, chars) {
		return last
	}
	return head(string(b.text.first), chars/2) + "\n" + tail(last, chars-chars/2-1)
}

// Stub is the last chars of the plain text with all results but the last three left out.
func (b *Baselines) Stub(chars int) string {
	var kept end
	kept.last = append(kept.last, b.stubbed.last...)
	for _, r := range b.results {
		kept.write(r + "\n")
	}
	return tail(string(kept.last), chars)
}

// end keeps the first and the last maxBaseline chars, at the least, of what is written to it.
type end struct {
	first, last []byte
	cut         bool
}

func (e *end) write(text string) {
	if len(e.first) < 4*maxBaseline {
		e.first = append(e.first, head(text, maxBaseline)...)
	}
	if e.last = append(e.last, tail(text, maxBaseline)...); len(e.last) > 16*maxBaseline {
		e.last, e.cut = append(e.last[:0], tail(string(e.last), maxBaseline)...), true
	}
	e.cut = e.cut || long(text, maxBaseline)
}
