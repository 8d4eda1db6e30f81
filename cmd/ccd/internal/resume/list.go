package resume

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"ccd/compactor"
	"ccd/internal/transcript"
)

// Handover is what a list of messages begins with if not all of a session fits it.
type Handover struct {
	Lead     string // the introduction of the companion, without its size
	Sections []compactor.Section
	Budget   int // chars of all messages
}

const (
	compressed = "[Conversation compressed]\n\n"
	understood = "Understood. Continuing with compressed context."
)

// List returns a session of an agent as a JSON array of {role, content} in Anthropic's form: all its messages if they fit the
// budget, else a user message with the handover, an answer to it, and the newest messages as a copy has them. An error among the
// records ends it.
func List(agent string, records iter.Seq2[*transcript.Record, error], h Handover) ([]byte, error) {
	k := newTalk(agent, transcript.Messages, h.Budget)
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		k.add(r)
	}
	var out [][]byte
	all := k.tail(h.Budget)
	if !all.whole {
		said := h.text(h.Budget / 2)
		if all = k.tail(h.Budget - utf8.RuneCountInString(said)); len(all.messages) == 0 {
			said = h.text(h.Budget)
		}
		if said != "" {
			out = append(out, message(false, transcript.QuoteText(said)), message(true, transcript.QuoteText(understood)))
		}
	}
	for _, m := range all.messages {
		var blocks []string
		for i := range m.Blocks {
			blocks = append(blocks, m.Blocks[i].JSON())
		}
		content := "[" + strings.Join(blocks, ",") + "]"
		if strings.HasPrefix(blocks[0], `{"type":"text"`) && len(blocks) == 1 {
			content = string(m.Blocks[0].Raw)
		}
		out = append(out, message(m.Assistant, content))
	}
	if len(out) == 0 {
		return []byte("[]\n"), nil
	}
	return slices.Concat([]byte("[\n"), bytes.Join(out, []byte(",\n")), []byte("\n]\n")), nil
}

// text returns the handover as a message of about room chars, "" if there is nothing to say. Its end goes first: what happened last
// follows in the newest messages.
func (h Handover) text(room int) string {
	var b strings.Builder
	for _, s := range h.Sections {
		b.WriteString("\n## " + s.Name + "\n" + strings.TrimRight(s.Body, "\n") + "\n")
	}
	if b.Len() == 0 {
		return ""
	}
	var cut strings.Builder
	for line := range strings.Lines(b.String()) {
		if room -= utf8.RuneCountInString(line); room < 0 {
			break
		}
		cut.WriteString(line)
	}
	return compressed + strings.TrimRight(h.Lead, "\n") + "\n" + cut.String()
}

// message returns one with its content, which is JSON.
func message(assistant bool, content string) []byte {
	role := "user"
	if assistant {
		role = "assistant"
	}
	return []byte(`{"role":"` + role + `","content":` + content + `}`)
}
