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
	Agent    string // transcript.Messages: the records are messages already, and stay in their own shape
	Lead     string // the lines that say what a companion is
	Sections []compactor.Section
	Verbatim compactor.Verbatim
	Budget   int // chars of everything that is said
}

// The two messages that stand for everything before the last ones.
const (
	compressed = "[Conversation compressed]\n\n"
	understood = "Understood. Continuing with compressed context."
)

// Messages gives a companion as a JSON array of {role, content}: what State, Earlier and Files say as a message of the
// user's, an answer to it, then the last messages whole, as many as the budget holds. A call and its result are never
// parted; thinking is dropped; what is too long for its place is cut, and its ID stands there. A session that was not
// shortened gives its messages alone. Records are those of the transcript in order, from the first one. An error of
// theirs ends it.
func Messages(records iter.Seq2[*transcript.Record, error], t Talk) ([]byte, error) {
	before := t.preamble()
	k := keeper{talk: t, room: t.Budget - utf8.RuneCountInString(before), compressed: before != ""}
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		k.add(r)
	}
	if before != "" && k.earlier != nil {
		said := k.earlier.carried(k.room / 2)
		before += said
		k.room -= utf8.RuneCountInString(said)
	}
	var out [][]byte
	for _, m := range k.system {
		out = append(out, m.json(whole, true))
	}
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
	if t.Verbatim.Ranges != "" {
		text += "\n" + t.Verbatim.Ranges
	}
	return text
}

func said(role, text string) []byte {
	return []byte(`{"role":` + quoted(role) + `,"content":` + quoted(text) + `}`)
}

// whole is the limit of a message that is not cut.
const whole = 1 << 40

// keeper takes the records in and keeps those that may stand among the last messages.
type keeper struct {
	talk    Talk
	room    int       // chars
	system  []message // of a plain list, from its beginning and from before the last messages
	before  *message  // the newest one before them
	earlier *message  // the compressed part of an earlier list

	compressed bool // there is a compressed part
	kept       []message
}

func (k *keeper) add(r *transcript.Record) {
	recent := r.N >= k.talk.Verbatim.First
	if k.talk.Agent != transcript.Messages {
		for _, m := range ofRecord(r) {
			k.take(m, recent)
		}
		return
	}
	m, ok := ofList(r.Raw)
	system := m.role == "system" || m.role == "developer"
	first := k.before == nil && k.earlier == nil && len(k.kept) == 0
	switch {
	case !ok:
	case k.compressed && m.isCompressed():
		k.earlier = &m
	case recent && !(system && first):
		k.take(m, true)
	case system:
		k.system = append(k.system, m)
		k.room -= m.cost(whole)
	default:
		k.take(m, false)
	}
}

func (k *keeper) take(m message, recent bool) {
	if recent {
		k.kept = append(k.kept, m)
		return
	}
	k.before = &m
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
	if len(all) > 1 && all[0].answers() {
		all = all[1:] // what it answers is not there
	}
	pair(all)
	if k.talk.Agent != transcript.Messages {
		all = arranged(all)
	}
	var out [][]byte
	answered := lastOf(all, "assistant")
	for i, m := range all {
		if m.says() {
			out = append(out, m.json(m.limit, i > answered))
		}
	}
	return out
}

// answers reports whether a message is the answer to the compressed part of an earlier list.
func (m *message) answers() bool {
	return m.role == "assistant" && len(m.blocks) == 1 && string(m.blocks[0].value) == quoted(understood)
}

func lastOf(all []message, role string) int {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].role == role {
			return i
		}
	}
	return -1
}

// pair finds the result of each call. A result without its call is left out: what it says stands in Earlier, with its
// call. A call without a result stays one only where it still waits for it, at the very end; else it is told in words.
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
