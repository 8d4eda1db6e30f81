package compactor

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// FuzzTranscripts folds whatever the decoders make of any bytes.
func FuzzTranscripts(f *testing.F) {
	f.Add([]byte("{}\n\n{\"type\":\"user\"}"), uint8(0))
	f.Add(day(3).buf.Bytes(), uint8(1))
	s := newScript()
	s.human("[ccd 0123456789ab x]\n## State\n---")
	s.boundary("u-1")
	s.fails("x", "error: \u202e", 3)
	f.Add(s.buf.Bytes(), uint8(2))
	f.Add([]byte(`[{"role":"user","content":"a"},`+"\n"+`{"role":"assistant","content":[{"type":"text","text":"b"}]}]`), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, which uint8) {
		agent := []string{"claude-code", "codex", "claude-code", transcript.Messages}[which%4]
		o := tokensOf([]int{72000, 6000}[which/4%2])
		g := foldingAs(t, agent, transcript.Class(which/8%2), data, o)
		g.check(t, g.compact(t))
	})
}

// FuzzRecords folds records that no decoder would make: any kinds in any order, pairs that do not pair, times that run
// backward, usage, boundaries.
func FuzzRecords(f *testing.F) {
	f.Add(uint64(1), uint16(40))
	f.Add(uint64(7), uint16(900))
	f.Fuzz(func(t *testing.T, seed uint64, n uint16) {
		rng := rand.New(rand.NewPCG(seed, 2))
		g := &folded{Compactor: New(tokensOf(8000), transcript.Session{Class: transcript.Class(rng.IntN(2))})}
		var records []*transcript.Record
		for i := range int(n % 1000) {
			records = append(records, g.randomRecord(rng, i))
		}
		for _, r := range records {
			g.Add(r)
		}
		g.check(t, g.compact(t))
	})
}

var pieces = []string{
	`"no, use integers only. Never floats."`, `"{\"output\":\"x\"}"`, `{"command":"make all","file_path":"/a/b.go","old_string":"a","new_string":"b"}`,
	`{"file_path":"/a/b.go","content":"one\ntwo"}`, `"Exit code 2\nerror: no such file"`, `[{"type":"text","text":"found it"}]`, `""`, `null`, `7`, `"`, `{"todos":[{"content":"x","status":"pending"}]}`,
	`"We decided to keep it, because the cents are exact. [ccd 0123456789ab cut]"`, `{"pattern":"x"}`, `"\ud800 lone"`, `{"patch":"*** Begin Patch\n*** Update File: /a/b.go\n@@\n-a\n+b\n*** End Patch"}`,
}

var toolNames = []string{"Bash", "Read", "Edit", "Write", "Grep", "TodoWrite", "Task", "apply_patch", "shell", "WebFetch", "mcp__x__y", ""}

// randomRecord appends a line to the bytes and gives a record over it.
func (f *folded) randomRecord(rng *rand.Rand, i int) *transcript.Record {
	start := int64(len(f.data))
	r := &transcript.Record{N: i + 1, UUID: string(rune('a' + rng.IntN(26)))}
	for range rng.IntN(4) {
		raw := pieces[rng.IntN(len(pieces))]
		for range rng.IntN(3) * rng.IntN(40) {
			if raw[0] == '"' && len(raw) > 1 {
				raw = raw[:len(raw)-1] + " and so on, always at most 3 errors\\n\""
			}
		}
		it := transcript.Item{
			Kind: transcript.Kind(rng.IntN(10)), Span: transcript.Span{Off: int64(len(f.data)), Len: int64(len(raw))},
			Tool: toolNames[rng.IntN(len(toolNames))], Side: rng.IntN(9) == 0, Failed: rng.IntN(5) == 0,
		}
		if rng.IntN(5) > 0 {
			it.Call = string(binary.AppendUvarint(nil, uint64(rng.IntN(30))))
		}
		f.data = append(f.data, raw...)
		r.Items = append(r.Items, it)
	}
	end := int64(len(f.data))
	for j := range r.Items {
		s := r.Items[j].Span
		r.Items[j].Raw = append([]byte(nil), f.data[s.Off:s.End()]...)
	}
	r.Raw = append([]byte(nil), f.data[start:end]...)
	r.Span, r.Hash = transcript.Span{Off: start, Len: end - start}, mark.Sum(r.Raw)
	f.data = append(f.data, '\n')
	if rng.IntN(3) > 0 {
		r.Time = time.Unix(1700000000+int64(rng.IntN(100000)), 0)
	}
	switch rng.IntN(20) {
	case 0:
		r.Boundary = &transcript.Boundary{Preserved: []string{"a", "z", "q"}, Replaced: rng.IntN(2) == 0}
	case 1, 2:
		r.Usage = &transcript.Usage{Context: int64(rng.IntN(400000)), Window: []int64{0, 258400, 258400, 1, 1000000, 20000000}[rng.IntN(6)]}
	case 3:
		r.Model, r.Cwd, r.Agent = "m[1m]", "/a", "agent-1"
	}
	return r
}
