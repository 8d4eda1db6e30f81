package form

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// anyList returns a plain list of n messages as JSON, with unusual roles and IDs, all kinds of content, copies,
// corrections and markers. Equal arguments give equal bytes.
func anyList(seed uint64, n int) []byte {
	l := lister{rand.New(rand.NewPCG(seed, 11))}
	all := []any{}
	for i := range n {
		all = append(all, l.element(i))
	}
	data, err := json.Marshal(all)
	if err != nil {
		panic(err) // every value can be written as JSON
	}
	return data
}

type lister struct{ *rand.Rand }

// one returns one of several values.
func (l lister) one(of ...any) any { return of[l.IntN(len(of))] }

// said returns texts that different rules of the compactor apply to.
func said() []any {
	listing := ""
	for i := range 30 {
		listing += fmt.Sprintf("line %d of the listing\n", i)
	}
	return []any{
		"", "ok", walk("mill", 3), walk("gate", 2), walk("gate_7", 9), "Sorry, that is wrong: " + walk("mill", 2), "No, not the gate: " + walk("gate", 1),
		walk("pond", 1) + "\n```go\nfunc pond() {}\n```\n" + walk("barn", 2), `{"a": [1, 2, "` + walk("json", 3) + `"]}`,
		"[ccd 0123456789ab cut, 9 chars: " + walk("marker", 3) + "]", "[Conversation compressed]\n\n" + walk("part", 5),
		"水車は夜に止まる。" + strings.Repeat("門は朝に開く。", 60), "\u0000\u202e\\x41 [ccd 0123456789ab] \"quotes\" " + walk("quote\n", 2),
		listing, strings.Repeat("x", 5000), strings.Repeat("🙂", 300), "Traceback (most recent call last)\n" + walk("trace", 9),
	}
}

func (l lister) text() string {
	s, _ := l.one(said()...).(string)
	if l.IntN(3) == 0 {
		s += fmt.Sprintf(" And then it was %d.", l.IntN(4))
	}
	return s
}

func (l lister) block() any {
	image := map[string]any{"type": "image", "source": map[string]any{"type": "base64", "data": "QUJD"}}
	text := map[string]any{"type": "text", "text": l.text()}
	return l.one(
		image, text, text, l.text(), nil, 3, map[string]any{},
		map[string]any{"type": "tool_use", "id": "t", "name": "look", "input": map[string]any{"at": l.text()}},
		map[string]any{"type": "tool_result", "tool_use_id": "t", "content": l.text()},
		map[string]any{"type": "tool_result", "tool_use_id": "u", "content": []any{text, image}},
		map[string]any{"type": "thinking", "thinking": l.text(), "signature": "s"},
	)
}

// element returns a message, or sometimes a value that is no message.
func (l lister) element(i int) any {
	if l.IntN(12) == 0 {
		return l.one(nil, 7, "text", []any{}, true)
	}
	m := map[string]any{"role": l.one("user", "user", "assistant", "assistant", "system", "tool", "developer", "narrator", "", 5), "content": l.text()}
	switch l.IntN(10) {
	case 0: // no id
	case 1:
		m["id"] = i
	case 2:
		m["id"] = "the same"
	case 3:
		m["uuid"] = fmt.Sprint("u", i)
	default:
		m["id"] = fmt.Sprint("m", i)
	}
	switch l.IntN(10) {
	case 0:
		m["content"] = nil
	case 1, 2:
		blocks := []any{}
		for range l.IntN(4) {
			blocks = append(blocks, l.block())
		}
		m["content"] = blocks
	case 3:
		m["tool_calls"] = []any{map[string]any{"id": "c", "function": map[string]any{"name": "look", "arguments": l.text()}}}
	case 4:
		m["tool_call_id"] = "c"
	case 5:
		m["metadata"] = map[string]any{"at": 1.50}
	case 6:
		delete(m, "role")
	}
	return m
}
