package unit

import (
	"fmt"
	"strings"
	"testing"

	"ccd/compactor/fold"
	"ccd/compactor/limits"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

// Work is closed where a failure was made good since, and where a sub-agent has reported.
func TestClosedWork(t *testing.T) {
	var b strings.Builder
	n := 0
	do := func(tool, input, result string, failed bool) {
		n++
		fmt.Fprintf(&b, `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"%s","input":%s}]}}`+"\n", n, tool, input)
		fmt.Fprintf(&b, `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"%s","is_error":%t}]}}`+"\n", n, result, failed)
	}
	do("Bash", `{"command":"make mended"}`, `Exit code 2\nerror: no`, true)
	do("Bash", `{"command":"make broken"}`, `Exit code 2\nerror: no`, true)
	do("Bash", `{"command":"make mended"}`, `fine`, false)
	do("Task", `{"description":"look","prompt":"look"}`, `seen`, false)
	f := fold.New(limits.Defaults(), transcript.Session{Key: transcript.Key{Agent: "claude-code", ID: "s"}})
	for r := range (registry.Table{}).NewDecoder("claude-code", transcript.Main).Records(transcript.Segment{Data: []byte(b.String()), Rest: true}) {
		f.Add(r)
	}
	w := &writer{Source: NewSource(f, limits.Defaults(), &Memory{}, nil)}
	for call, want := range []bool{true, false, false, true} {
		if got := w.isClosed(pair{first: int32(2 * call), result: int32(2*call + 1)}); got != want {
			t.Errorf("the work of call %d is closed: %t, want %t", call, got, want)
		}
	}
}
