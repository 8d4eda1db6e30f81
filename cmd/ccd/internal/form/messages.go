package form

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"ccd/compactor"
	"ccd/internal/transcript"
)

// Talk is the input of Messages beside the records.
type Talk struct {
	Lead     string // the introduction of the companion, without its size
	Sections []compactor.Section
	Budget   int // chars of all messages
}

// The two messages that replace everything before the last ones.
const (
	compressed = "[Conversation compressed]\n\n"
	understood = "Understood. Continuing with compressed context."
)

// message is one message of the list.
type message struct {
	blocks []block
	limit  int // maximum chars of each block
}

func (m *message) assistant() bool { return m.blocks[0].Kind.Assistant() }

// cost returns how many chars a message takes if the limit of each block is about most.
func (m *message) cost(most int) int {
	n := 0
	for i := range m.blocks {
		n += m.blocks[i].cost(most)
	}
	return n
}

// current is the section that the messages of the current item replace.
const current = "Current item"

// Messages converts a companion to a JSON array of {role, content}: a user message with all sections but the current item, an
// answer to it, then as many messages of the current item as the budget allows. It never separates a call from its result,
// drops thinking, and cuts what is too long, leaving its ID. A session that fits the budget becomes its messages alone.
// records are those of the transcript from the first one; an error among them ends the conversion.
func Messages(records iter.Seq2[*transcript.Record, error], t Talk) ([]byte, error) {
	k := keeper{room: t.Budget}
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		k.add(r)
	}
	before := ""
	if k.spent > k.room {
		before = t.preamble()
		k.kept, k.room = k.kept[k.item:], k.room-utf8.RuneCountInString(before)
	}
	var out [][]byte
	if before != "" {
		out = append(out, written(false, transcript.QuoteText(before)), written(true, transcript.QuoteText(understood)))
	}
	out = append(out, k.last()...)
	if len(out) == 0 {
		return []byte("[]\n"), nil
	}
	return slices.Concat([]byte("[\n"), bytes.Join(out, []byte(",\n")), []byte("\n]\n")), nil
}

// preamble returns the text that replaces the older messages, "" if there are none.
func (t Talk) preamble() string {
	var b strings.Builder
	for _, s := range t.Sections {
		if s.Name != current {
			b.WriteString("\n## " + s.Name + "\n" + strings.TrimRight(s.Body, "\n") + "\n")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	text := compressed + strings.TrimRight(t.Lead, "\n") + "\n" + b.String()
	return text
}

// written returns a message with its content, which is JSON.
func written(assistant bool, content string) []byte {
	role := "user"
	if assistant {
		role = "assistant"
	}
	return []byte(`{"role":"` + role + `","content":` + content + `}`)
}

// keeper reads the records and keeps all messages while they fit the room, else those of the current item.
type keeper struct {
	room  int // chars
	spent int // chars of all messages
	item  int // the first of kept that belongs to the current item
	kept  []message
}

func (k *keeper) add(r *transcript.Record) {
	for _, m := range ofRecord(r) {
		if m.blocks[0].Kind == transcript.Human {
			k.item = len(k.kept)
		}
		k.kept = append(k.kept, m)
		k.spent += m.cost(k.room)
	}
	if k.spent > k.room && k.item > 0 {
		k.kept, k.item = slices.Clone(k.kept[k.item:]), 0
	}
}

const (
	leastCut = 350 // chars that a message may take when room is short
	fairCut  = 700 // chars that each item of a message may take
)

// last renders the newest messages that fit the room, always including the last one.
func (k *keeper) last() [][]byte {
	room, most := k.room, max(fairCut, k.room/3)
	first := len(k.kept)
	for i := len(k.kept) - 1; i >= 0; i-- {
		m := &k.kept[i]
		m.limit = most
		for m.cost(m.limit) > room && m.limit > leastCut {
			m.limit = max(leastCut, m.limit/2)
		}
		if m.cost(m.limit) > room && first < len(k.kept) {
			break
		}
		room -= m.cost(m.limit)
		first = i
	}
	all := paired(k.kept[first:])
	turns := transcript.Turns(len(all), func(i int) *transcript.Block { return &all[i].Block })
	answered := len(turns) - 1
	for answered >= 0 && !all[turns[answered][0]].Kind.Assistant() {
		answered--
	}
	var out [][]byte
	for n, turn := range turns {
		var blocks []string
		var shown transcript.Block
		for _, i := range turn {
			shown = all[i].shown(n > answered)
			blocks = append(blocks, shown.JSON())
		}
		content, first := "["+strings.Join(blocks, ",")+"]", &all[turn[0]]
		if len(turn) == 1 && first.says() {
			content = string(shown.Raw)
		}
		out = append(out, written(first.Kind.Assistant(), content))
	}
	return out
}

// paired returns the blocks of the messages, each with its limit. It drops a result without its call, because both are in
// the sections. A call without a result stays a call only at the very end, where it may still be running; elsewhere it is
// described in words.
func paired(messages []message) (kept []block) {
	var all []block
	waiting := 0 // the first block that may be a running call
	for _, m := range messages {
		waiting = len(all)
		for _, b := range m.blocks {
			b.most = m.limit
			all = append(all, b)
		}
	}
	answers := transcript.Answers(len(all), func(i int) *transcript.Block { return &all[i].Block })
	asked := map[int]bool{}
	for _, result := range answers {
		asked[result] = true
	}
	for i, b := range all {
		if b.Kind == transcript.Result && !asked[i] {
			continue
		}
		_, answered := answers[i]
		b.told = b.Kind == transcript.Call && !answered && (i < waiting || b.Call == "")
		kept = append(kept, b)
	}
	return kept
}
