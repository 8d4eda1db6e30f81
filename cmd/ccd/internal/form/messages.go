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

// Talk is what a list of messages is made of, beside the records.
type Talk struct {
	Lead     string // the lines that say what a companion is, without its size
	Sections []compactor.Section
	Verbatim int // number of the first record that stands under Recent
	Budget   int // chars of everything that is said
}

// The two messages that stand for everything before the last ones.
const (
	compressed = "[Conversation compressed]\n\n"
	understood = "Understood. Continuing with compressed context."
)

// message is one message of the list.
type message struct {
	role   string
	blocks []block
	limit  int // chars of each block at the most
}

// cost is how many chars of text a message has whose blocks may have about most each.
func (m *message) cost(most int) int {
	n := 0
	for i := range m.blocks {
		n += m.blocks[i].cost(most)
	}
	return n
}

// Messages gives a companion as a JSON array of {role, content}: what all sections but Recent say as a message of the
// user's, an answer to it, then the last messages whole, as many as the budget holds. A call and its result are never
// parted; thinking is dropped; what is too long for its place is cut, and its ID stands there. A session that was not
// shortened gives its messages alone. Records are those of the transcript in order, from the first one. An error of
// theirs ends it.
func Messages(records iter.Seq2[*transcript.Record, error], t Talk) ([]byte, error) {
	before := t.preamble()
	k := keeper{talk: t, room: t.Budget - utf8.RuneCountInString(before)}
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		k.add(r)
	}
	var out [][]byte
	if before != "" {
		out = append(out, said("user", before), said("assistant", understood))
	}
	out = append(out, k.last()...)
	if len(out) == 0 {
		return []byte("[]\n"), nil
	}
	return slices.Concat([]byte("[\n"), bytes.Join(out, []byte(",\n")), []byte("\n]\n")), nil
}

// preamble is what stands for the part that is not given message by message, "" where there is no such part.
func (t Talk) preamble() string {
	var b strings.Builder
	for _, s := range t.Sections {
		if s.Name != "Recent" {
			b.WriteString("\n## " + s.Name + "\n" + strings.TrimRight(s.Body, "\n") + "\n")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	text := compressed + strings.TrimRight(t.Lead, "\n") + "\n" + b.String()
	return text
}

func said(role, text string) []byte {
	return []byte(`{"role":` + quoted(role) + `,"content":` + quoted(text) + `}`)
}

// keeper takes the records in and keeps those that may stand among the last messages.
type keeper struct {
	talk   Talk
	room   int      // chars
	before *message // the newest one before them
	kept   []message
}

func (k *keeper) add(r *transcript.Record) {
	for _, m := range ofRecord(r) {
		if r.N >= k.talk.Verbatim {
			k.kept = append(k.kept, m)
		} else {
			k.before = &m
		}
	}
}

const (
	leastCut = 350 // chars that a message may take where there is no room for more
	fairCut  = 700 // chars that an item of any message may take
)

// last chooses the newest messages that the room holds, the very last one always, and renders them.
func (k *keeper) last() [][]byte {
	if len(k.kept) == 0 && k.before != nil {
		k.kept = []message{*k.before}
	}
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
	all := k.kept[first:]
	pair(all)
	all = arranged(all)
	var out [][]byte
	answered := lastOf(all, "assistant")
	for i, m := range all {
		out = append(out, m.built(m.limit, i > answered))
	}
	return out
}

func lastOf(all []message, role string) int {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].role == role {
			return i
		}
	}
	return -1
}

// pair finds the result of each call. A result without its call is left out: what it says stands in the sections,
// with its call. A call without a result stays one only where it still waits for it, at the very end; else it is told in words.
func pair(all []message) {
	open := map[string]*block{}
	for i := range all {
		for j := range all[i].blocks {
			b := &all[i].blocks[j]
			switch b.kind {
			case isCall:
				open[b.call] = b
			case isResult:
				if c := open[b.call]; c != nil && b.call != "" {
					c.answered, b.answered = true, true
					delete(open, b.call)
				} else {
					b.dropped = true
				}
			}
		}
	}
	waiting := len(all) - 1
	if waiting >= 0 && all[waiting].role != "assistant" {
		waiting = -1
	}
	for i := range all {
		for j := range all[i].blocks {
			if b := &all[i].blocks[j]; b.kind == isCall && !b.answered && (i != waiting || b.call == "") {
				b.told = true
			}
		}
	}
}
