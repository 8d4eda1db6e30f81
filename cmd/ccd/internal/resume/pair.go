package resume

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"ccd/internal/transcript"
)

// callID is what an API takes as the ID of a call.
var callID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// pair gives each call its result and each pair an ID of its own. A call without a result, or that the agent does not
// know, is told, and its result with it; a result without a call goes.
func pair(all []piece) (kept, dropped []piece) {
	answer := answers(all)
	used := map[string]bool{}
	asked := map[int]int{} // the call of each result
	for i := range all {
		p := &all[i]
		if p.Kind != transcript.Call {
			continue
		}
		j, answered := answer[i]
		switch {
		case answered:
			asked[j] = i
		case p.told:
			*p = p.asText("")
			continue
		default:
			*p = p.asText(" (no result)")
			continue
		}
		if p.told {
			*p = p.asText("")
			all[j] = all[j].resultAsText()
			continue
		}
		id := unused(p.Call, used)
		p.Call, all[j].Call, all[j].Free = id, id, p.Free
	}
	for i, p := range all {
		if _, ok := asked[i]; p.Kind == transcript.Result && !ok {
			dropped = append(dropped, p)
			continue
		}
		kept = append(kept, p)
	}
	return kept, dropped
}

// answers finds the result of each call: the first one behind it that names it.
func answers(all []piece) map[int]int {
	found, open := map[int]int{}, map[string]int{}
	for i := range all {
		switch p := &all[i]; p.Kind {
		case transcript.Call:
			open[p.Call] = i
		case transcript.Result:
			if c, ok := open[p.Call]; ok {
				found[c] = i
				delete(open, p.Call)
			}
		}
	}
	return found
}

// unused is an ID for a call: its own, unless no API takes it or another call has it.
func unused(id string, used map[string]bool) string {
	if !callID.MatchString(id) {
		id = "call_ccd"
	}
	base := id[:min(len(id), 56)]
	for n := 1; used[id]; n++ {
		id = fmt.Sprintf("%s_%d", base, n)
	}
	used[id] = true
	return id
}

// thoughts leaves thinking where an API asks for it: in a loop of calls that has not ended, in replies that are there
// whole, as they were. Elsewhere it is of no use to anyone. Before is the reply that what stands before is of.
func thoughts(all []piece, before string) []piece {
	loop := len(all)
	if loop > 0 && all[loop-1].Kind == transcript.Result {
		for loop > 0 && !all[loop-1].typed() {
			loop--
		}
	}
	whole := wholeReplies(all[loop:])
	whole[before] = false
	var kept []piece
	for i, p := range all {
		if p.Kind != transcript.Thinking || i >= loop && whole[p.reply] {
			kept = append(kept, p)
		}
	}
	return kept
}

// wholeReplies are the replies that begin with thinking, lack nothing and call something.
func wholeReplies(all []piece) map[string]bool {
	whole, last := map[string]bool{}, map[string]transcript.Kind{}
	for _, p := range all {
		if !p.assistant {
			continue
		}
		fits, begun := whole[p.reply]
		thinks := p.Kind == transcript.Thinking
		whole[p.reply] = !p.short && p.reply != "" && (fits || !begun && thinks)
		last[p.reply] = p.Kind
	}
	for reply, kind := range last {
		whole[reply] = whole[reply] && kind == transcript.Call
	}
	return whole
}

// arranged brings pieces into messages that take turns: the results of a reply's calls follow it at once, what was said
// meanwhile follows them.
func arranged(all []piece) []transcript.Message {
	a := arranger{all: all, done: make([]bool, len(all)), results: map[string]int{}}
	for i, p := range all {
		if p.Kind == transcript.Result {
			a.results[p.Call] = i
		}
	}
	for i := range all {
		if a.done[i] {
			continue
		}
		if all[i].assistant {
			a.reply(i)
		} else {
			a.put(i)
		}
	}
	return a.out
}

type arranger struct {
	all     []piece
	done    []bool
	results map[string]int
	out     []transcript.Message
}

// reply puts the reply that begins at i, also where results stand between its blocks, and then the results of its calls.
func (a *arranger) reply(i int) {
	var calls []string
	last, answered := a.all[i].reply, false
	for j := i; j < len(a.all); j++ {
		p := &a.all[j]
		if a.done[j] {
			continue
		}
		if p.Kind == transcript.Result && own(calls, p.Call) {
			answered = true
			continue
		}
		if !p.assistant || answered && (p.reply == "" || p.reply != last) {
			break
		}
		a.put(j)
		last = p.reply
		if p.Kind == transcript.Call {
			calls = append(calls, p.Call)
		}
	}
	for _, id := range calls {
		a.put(a.results[id])
	}
}

func own(calls []string, id string) bool {
	for _, c := range calls {
		if c == id {
			return true
		}
	}
	return false
}

// put adds a piece to the message of its side.
func (a *arranger) put(i int) {
	a.done[i] = true
	p := &a.all[i]
	n := len(a.out)
	if n == 0 || a.out[n-1].Assistant != p.assistant {
		a.out = append(a.out, transcript.Message{Assistant: p.assistant, ID: p.reply, Time: p.time})
		n++
	}
	m := &a.out[n-1]
	if m.ID == "" || strings.HasPrefix(m.ID, "msg_ccd_") {
		m.ID = p.reply
	}
	if m.Model == "" && p.assistant {
		m.Model = p.model
	}
	m.Time = later(m.Time, p.time)
	m.Blocks = append(m.Blocks, p.Block)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
