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

	// current is the section that the newest messages stand for.
	current = "Current item"
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
		said := h.text(false)
		if all = k.tail(h.Budget - utf8.RuneCountInString(said)); len(all.messages) == 0 {
			said = h.text(true)
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

// text returns the handover as a message, "" if there is nothing to say.
func (h Handover) text(whole bool) string {
	var b strings.Builder
	for _, s := range h.Sections {
		if whole || s.Name != current {
			b.WriteString("\n## " + s.Name + "\n" + strings.TrimRight(s.Body, "\n") + "\n")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return compressed + strings.TrimRight(h.Lead, "\n") + "\n" + b.String()
}

// message returns one with its content, which is JSON.
func message(assistant bool, content string) []byte {
	role := "user"
	if assistant {
		role = "assistant"
	}
	return []byte(`{"role":"` + role + `","content":` + content + `}`)
}
