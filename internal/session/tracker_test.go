package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ccd/compactor/limits"
	"ccd/internal/agent/registry"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// chatter is a record of one assistant text of n chars, with usage where used is not 0.
func chatter(n int, reply string, used int64) *transcript.Record {
	raw := []byte(`"` + strings.Repeat("x", n) + `"`)
	r := &transcript.Record{Items: []transcript.Item{{Kind: transcript.Text, Raw: raw, Span: transcript.Span{Len: int64(len(raw))}}}}
	if used > 0 {
		r.Usage = &transcript.Usage{Context: used, ID: reply}
	}
	return r
}

// TestGauge: what triggers, and how many chars a token has.
func TestGauge(t *testing.T) {
	boundary := &transcript.Record{Boundary: &transcript.Boundary{}}
	repeat := func(n, chars int, used int64) (all []*transcript.Record) {
		for range n {
			all = append(all, chatter(chars, "", used))
		}
		return all
	}
	for name, c := range map[string]struct {
		records []*transcript.Record
		trigger string
		ratio   float64
	}{
		"small":             {repeat(10, 100, 0), "", 0},
		"boundary":          {[]*transcript.Record{boundary}, "boundary", 0},
		"over threshold":    {repeat(13, 10000, 1000), "threshold", 0},
		"just below":        {repeat(12, 10000, 1000), "", 0},
		"pressure":          {repeat(10, 5000, 120000), "pressure", 0},
		"pressure below":    {repeat(10, 5000, 119000), "", 0},
		"nothing to save":   {repeat(7, 5000, 150000), "", 0},
		"estimated":         {repeat(10, 9001, 0), "pressure", 0},
		"stays":             {append(repeat(10, 5000, 130000), boundary), "pressure", 0},
		"three intervals":   {[]*transcript.Record{chatter(500, "a", 20000), chatter(3000, "b", 21000), chatter(3000, "c", 22000), chatter(3000, "d", 23000)}, "", 3},
		"two are too few":   {[]*transcript.Record{chatter(500, "a", 20000), chatter(3000, "b", 21000), chatter(3000, "c", 22000)}, "", 0},
		"too little":        {[]*transcript.Record{chatter(500, "a", 20000), chatter(300, "b", 20100), chatter(300, "c", 20200), chatter(300, "d", 20300)}, "", 0},
		"a fall is no part": {[]*transcript.Record{chatter(500, "a", 20000), chatter(3000, "b", 21000), chatter(3000, "c", 15000), chatter(3000, "d", 16000), chatter(3000, "e", 17000)}, "", 3},
	} {
		s := session.New(limits.Defaults(), transcript.Session{})
		for _, r := range c.records {
			s.Add(r)
		}
		if got := s.Status().Trigger; got != c.trigger || s.CharsPerToken() != c.ratio {
			t.Errorf("%s: trigger %q, want %q; %v chars per token, want %v", name, got, c.trigger, s.CharsPerToken(), c.ratio)
		}
	}
}

// TestWindow: which window the pressure is measured against.
func TestWindow(t *testing.T) {
	o := limits.Defaults()
	o.Windows = map[string]int64{"some-": 100000, "some-model-2": 400000, "claude-opus-5": 1000000}
	named := func(model string, used, window int64) *transcript.Record {
		return &transcript.Record{Model: model, Usage: &transcript.Usage{Context: used, Window: window}}
	}
	boundary := func(before int64) *transcript.Record {
		return &transcript.Record{Boundary: &transcript.Boundary{Before: before}}
	}
	for name, c := range map[string]struct {
		records  []*transcript.Record
		window   int64
		assumed  bool
		pressure float64
		level    limits.Level
	}{
		"unknown model":        {[]*transcript.Record{named("x", 50000, 0)}, 200000, true, 0.25, limits.Gentle},
		"reseller":             {[]*transcript.Record{named("openrouter/anthropic/claude-opus-5.5", 500000, 0)}, 1000000, false, 0.5, limits.Gentle},
		"region":               {[]*transcript.Record{named("eu.anthropic.claude-opus-5-v1:0", 500000, 0)}, 1000000, false, 0.5, limits.Gentle},
		"own compaction":       {[]*transcript.Record{named("x", 167000, 0), {Boundary: &transcript.Boundary{Before: 167000, Trigger: "auto"}}, named("x", 20000, 0)}, 200000, false, 0.1, limits.Aggressive},
		"asked compaction":     {[]*transcript.Record{named("x", 167000, 0), {Boundary: &transcript.Boundary{Before: 167000, Trigger: "manual"}}, named("x", 20000, 0)}, 200000, true, 0.1, limits.Aggressive},
		"longest prefix":       {[]*transcript.Record{named("some-model-2b", 100000, 0)}, 400000, false, 0.25, limits.Gentle},
		"shorter prefix":       {[]*transcript.Record{named("some-other", 65000, 0)}, 100000, false, 0.65, limits.Standard},
		"[1m]":                 {[]*transcript.Record{named("x[1m]", 500000, 0)}, 1000000, false, 0.5, limits.Gentle},
		"stated":               {[]*transcript.Record{named("some-other", 200000, 258400)}, 258400, false, 200000.0 / 258400, limits.Aggressive},
		"two are no proof":     {[]*transcript.Record{named("x", 190000, 0), named("x", 250000, 0), named("x", 250000, 0)}, 200000, true, 1.25, limits.Maximum},
		"three are":            {[]*transcript.Record{named("x", 120000, 0), named("x", 250000, 0), named("x", 250000, 0), named("x", 250000, 0)}, 1000000, false, 0.25, limits.Gentle},
		"contradicted":         {[]*transcript.Record{named("x", 100000, 0), named("x", 650000, 0), named("x", 110000, 0)}, 200000, true, 0.55, limits.Gentle},
		"chosen":               {[]*transcript.Record{{Chosen: "x[1m]"}, named("x", 250000, 0)}, 1000000, false, 0.25, limits.Gentle},
		"absurd beside stated": {[]*transcript.Record{named("x", 129200, 258400), named("x", 900000, 258400)}, 258400, false, 0.5, limits.Gentle},
		"proof stays":          {[]*transcript.Record{named("x", 250000, 0), named("x", 250000, 0), named("x", 250000, 0), boundary(0), named("x", 10000, 0), named("y", 100000, 0)}, 1000000, false, 0.1, limits.Gentle},
		"highest stays":        {[]*transcript.Record{named("x", 195000, 0), named("x", 20000, 0)}, 200000, true, 0.1, limits.Maximum},
		"a boundary forgets":   {[]*transcript.Record{named("x", 150000, 0), boundary(0)}, 200000, true, 0, limits.Aggressive},
	} {
		m := session.New(o, transcript.Session{})
		for _, r := range c.records {
			m.Add(r)
		}
		if s := m.Status(); s.Window != c.window || s.Assumed != c.assumed || s.Pressure != c.pressure || s.Level != c.level {
			t.Errorf("%s: window %d assumed %t pressure %.3f level %v", name, s.Window, s.Assumed, s.Pressure, s.Level)
		}
	}
}

// TestARequestIsWhatReachedTheAgent: a command that the client ran itself is neither an item nor the title of a session.
func TestARequestIsWhatReachedTheAgent(t *testing.T) {
	const model = "<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args>opus</command-args>"
	const local, review = "<local-command-stdout>Set model to Opus</local-command-stdout>", "<command-message>review</command-message>\n<command-name>/review</command-name>"
	for _, c := range []struct {
		steps []string
		ask   string
		items int
	}{
		{[]string{model, local, "Fix the cart"}, "Fix the cart", 1},
		{[]string{model, local}, "", 0},
		{[]string{"Fix the cart", model, local, "$ make => ok"}, "Fix the cart", 1},
		{[]string{review, "$ git diff => ok"}, "/review", 1},
		{[]string{review, "Fix the cart"}, "/review", 2},
		{[]string{"Fix the cart", review}, "Fix the cart", 2},
		{[]string{"<bash-input>ls</bash-input>", "<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>", "Fix the cart"}, "Fix the cart", 1},
		{[]string{"/srv/log/app.log says why"}, "/srv/log/app.log says why", 1},
		{[]string{"/fix the cart", "$ make => ok"}, "/fix the cart", 1},
	} {
		s := told(c.steps...)
		st := s.Status()
		requests, err := st.Did()
		requests = slices.DeleteFunc(requests, func(d session.Deed) bool { return d.Kind != session.Requested })
		if err != nil || st.Ask != c.ask || len(s.Items)-1 != c.items || len(requests) != c.items {
			t.Errorf("%q: asked %q in %d items and %d requests, want %q in %d, %v", c.steps, st.Ask, len(s.Items)-1, len(requests), c.ask, c.items, err)
		}
	}
}

// TestAnInterruptedAgentWaits: the person who stopped it is next.
func TestAnInterruptedAgentWaits(t *testing.T) {
	for stop, waits := range map[string]bool{"[Request interrupted by user for tool use]": true, "Grind on": false} {
		data := `{"type":"assistant","uuid":"u1","sessionId":"s","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}]}}` + "\n"
		s := session.New(limits.Defaults(), transcript.Session{})
		add := func(line string) session.Status {
			for r := range (registry.Table{}).NewDecoder("claude-code", transcript.Main).Records(transcript.Segment{Data: []byte(line), Rest: true}) {
				s.Add(r)
			}
			return s.Status()
		}
		if st := add(data); st.Waiting {
			t.Error("it waits in a call")
		}
		add(`{"type":"user","uuid":"u2","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"stopped"}]}}` + "\n")
		if st := add(`{"type":"user","uuid":"u3","sessionId":"s","message":{"role":"user","content":[{"type":"text","text":"` + stop + `"}]}}` + "\n"); st.Waiting != waits {
			t.Errorf("%s: waiting %v", stop, st.Waiting)
		}
	}
}

// TestACallWithoutAResult: each of the calls of a reply needs one, and none does once the person has stopped it or left.
func TestACallWithoutAResult(t *testing.T) {
	const calls = `{"type":"assistant","uuid":"u1","sessionId":"s","message":{"role":"assistant","content":[{"type":"tool_use","id":"a1","name":"Bash","input":{}},{"type":"tool_use","id":"a2","name":"Bash","input":{}}]}}` + "\n"
	const result = `{"type":"user","uuid":"u2","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":"done"}]}}` + "\n"
	for then, want := range map[string]bool{
		"": true, fmt.Sprintf(result, "a1"): true, fmt.Sprintf(result, "a2"): true, fmt.Sprintf(result, "a1") + strings.Replace(fmt.Sprintf(result, "a2"), "u2", "u4", 1): false,
		`{"type":"user","uuid":"u3","sessionId":"s","message":{"role":"user","content":"<command-name>/exit</command-name>\n<command-message>exit</command-message>\n<command-args></command-args>"}}` + "\n":                           false,
		`{"type":"user","uuid":"u3","sessionId":"s","message":{"role":"user","content":"<bash-input>ls</bash-input>"}}` + "\n":                                                                                                          false,
		`{"type":"user","uuid":"u3","sessionId":"s","isMeta":true,"message":{"role":"user","content":"A hook says so."}}` + "\n":                                                                                                        true,
		`{"type":"user","uuid":"u3","sessionId":"s","message":{"role":"user","content":"<local-command-stdout>Bye!</local-command-stdout>"}}` + "\n":                                                                                    false,
		`{"type":"system","subtype":"local_command","uuid":"u3","sessionId":"s","content":"<command-name>/exit</command-name>\n            <command-message>exit</command-message>\n            <command-args></command-args>"}` + "\n": false,
		`{"type":"system","subtype":"local_command","uuid":"u3","sessionId":"s","content":"<local-command-stdout>Bye!</local-command-stdout>"}` + "\n":                                                                                  false,
		`{"type":"user","uuid":"u3","sessionId":"s","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}` + "\n":                                                                               false,
	} {
		s := session.New(limits.Defaults(), transcript.Session{})
		for r := range (registry.Table{}).NewDecoder("claude-code", transcript.Main).Records(transcript.Segment{Data: []byte(calls + then), Rest: true}) {
			s.Add(r)
		}
		if got := s.Status().Open; got != want {
			t.Errorf("%s: a call without a result %v", then, got)
		}
	}
}

// A question and a plan wait for the person as the agent's last words do, until they are answered.
func TestWaiting(t *testing.T) {
	const ask = `{"type":"assistant","uuid":"u1","sessionId":"s","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":%q,"input":{}}]}}` + "\n"
	const answer = `{"type":"user","uuid":"u2","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"yes"}]}}` + "\n"
	const read = `{"type":"assistant","uuid":"u3","sessionId":"s","message":{"role":"assistant","content":[{"type":"tool_use","id":"t2","name":"Read","input":{}}]}}` + "\n"
	for tool, waits := range map[string]bool{"AskUserQuestion": true, "ExitPlanMode": true, "Read": false} {
		for _, answered := range []bool{false, true} {
			s := session.New(limits.Defaults(), transcript.Session{})
			data := fmt.Sprintf(ask, tool) + read + strings.NewReplacer("t1", "t2", "u2", "u4").Replace(answer) // beside another call
			if answered {
				data += answer
			}
			for r := range (registry.Table{}).NewDecoder("claude-code", transcript.Main).Records(transcript.Segment{Data: []byte(data), Rest: true}) {
				s.Add(r)
			}
			if st := s.Status(); st.Waiting != (waits && !answered) || st.Open == answered {
				t.Errorf("%s, answered %v: waiting %v, a call without a result %v", tool, answered, st.Waiting, st.Open)
			}
		}
	}
}
