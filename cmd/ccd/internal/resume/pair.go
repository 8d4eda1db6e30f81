package resume

import (
	"fmt"
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

// arranged groups pieces into messages of alternating roles.
func arranged(all []piece) (messages []transcript.Message) {
	for _, turn := range transcript.Turns(len(all), func(i int) *transcript.Block { return &all[i].Block }) {
		m := transcript.Message{Assistant: all[turn[0]].Kind.Assistant()}
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
