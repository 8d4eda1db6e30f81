package resume

import (
	"fmt"
	"slices"
	"strings"

	"ccd/internal/lazy"
	"ccd/internal/transcript"
)

// callID matches a call ID that an API accepts.
var callID = lazy.Regexp(`^[a-zA-Z0-9_-]{1,64}$`)

// toolName matches a tool's name that an API accepts.
var toolName = lazy.Regexp(`^[a-zA-Z0-9_-]{1,128}$`)

// pair finds the result of each call and gives each pair a unique ID. A call without a result, or unknown to the agent, is
// described in words, as is its result. A result without a call is dropped.
func pair(all []piece) (kept, dropped []piece) {
	answer := transcript.Answers(len(all), func(i int) *transcript.Block { return &all[i].Block })
	used := map[string]bool{}
	asked := map[int]int{} // index of each result's call
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
		p.Call, all[j].Call, all[j].Free, all[j].Tool = id, id, p.Free, p.Tool
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

// unused returns an ID for a call: its own, unless the API rejects it or another call has it.
func unused(id string, used map[string]bool) string {
	if !callID().MatchString(id) {
		id = "call_ccd"
	}
	base := id[:min(len(id), 56)]
	for n := 1; used[id]; n++ {
		id = fmt.Sprintf("%s_%d", base, n)
	}
	used[id] = true
	return id
}

// thoughts keeps thinking only where an API requires it: in complete replies of a loop of calls that has not ended. before
// is the reply that precedes the pieces.
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
		if p.Kind != transcript.Thinking || i >= loop && whole[p.Reply] {
			kept = append(kept, p)
		}
	}
	return kept
}

// wholeReplies returns the complete replies that begin with thinking and end with a call.
func wholeReplies(all []piece) map[string]bool {
	whole, last := map[string]bool{}, map[string]transcript.Kind{}
	for _, p := range all {
		if !p.Kind.Assistant() {
			continue
		}
		fits, begun := whole[p.Reply]
		thinks := p.Kind == transcript.Thinking
		whole[p.Reply] = !p.short && p.Reply != "" && (fits || !begun && thinks)
		last[p.Reply] = p.Kind
	}
	for reply, kind := range last {
		whole[reply] = whole[reply] && kind == transcript.Call
	}
	return whole
}

// arranged groups pieces into messages of alternating roles. Where a message no longer begins with thinking, because what was
// before it is described in words, an API accepts none in it.
func arranged(all []piece) (messages []transcript.Message) {
	for _, turn := range transcript.Turns(len(all), func(i int) *transcript.Block { return &all[i].Block }) {
		m := transcript.Message{Assistant: all[turn[0]].Kind.Assistant()}
		if all[turn[0]].Kind != transcript.Thinking || all[turn[len(turn)-1]].Kind == transcript.Thinking {
			turn = slices.DeleteFunc(turn, func(i int) bool { return all[i].Kind == transcript.Thinking })
		}
		if len(turn) == 0 {
			continue
		}
		for _, i := range turn {
			p := &all[i]
			if m.ID == "" || strings.HasPrefix(m.ID, "msg_ccd_") {
				m.ID = p.Reply
			}
			if m.Model == "" && m.Assistant {
				m.Model, m.Provider = p.model, p.provider
			}
			if p.time.After(m.Time) {
				m.Time = p.time
			}
			m.Blocks = append(m.Blocks, p.Block)
		}
		messages = append(messages, m)
	}
	return messages
}
