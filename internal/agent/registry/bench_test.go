package registry_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
)

// BenchmarkRecords decodes and hashes invented lines in the proportions of real ones: half of the bytes are copies for
// the screen, which are skipped.
func BenchmarkRecords(b *testing.B) {
	for agent, data := range map[string][]byte{"claude-code": claudeBulk(), "codex": codexBulk()} {
		b.Run(agent, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			lines := 0
			for b.Loop() {
				d := registry.Table{}.NewDecoder(agent, transcript.Main)
				for r := range d.Records(transcript.Segment{Data: data, Rest: true}) {
					lines += len(r.Items)
				}
			}
			if lines == 0 {
				b.Fatal("no items")
			}
		})
	}
}

func sourceText(n int) string {
	var s strings.Builder
	for i := 0; s.Len() < n; i++ {
		fmt.Fprintf(&s, `     %d\u2192\tif err := step%d(ctx, \"name\"); err != nil {\n`, i, i)
	}
	return s.String()
}

func claudeBulk() []byte {
	var b bytes.Buffer
	for i := range 400 {
		head := fmt.Sprintf(`"isSidechain":false,"userType":"external","cwd":"/home/u/p","sessionId":"s","version":"2.1.0","gitBranch":"main","uuid":"u%d","timestamp":"2026-01-02T03:04:05.678Z"`, i)
		fmt.Fprintf(&b, `{"parentUuid":"u",%s,"type":"assistant","requestId":"req%d","message":{"id":"msg%d","type":"message","role":"assistant","model":"claude-x","content":[{"type":"tool_use","id":"toolu_%d","name":"Read","input":{"file_path":"/home/u/p/f%d.go"}}],"stop_reason":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30000,"output_tokens":40,"service_tier":"standard"}}}`+"\n", head, i, i, i, i)
		text := sourceText(2000 + i%7*2000)
		fmt.Fprintf(&b, `{"parentUuid":"u",%s,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"%s"}]},"toolUseResult":{"type":"text","file":{"filePath":"/home/u/p/f%d.go","content":"%s","numLines":99}}}`+"\n", head, i, text, i, text)
		fmt.Fprintf(&b, `{"parentUuid":"u",%s,"type":"progress","data":{"type":"bash_progress","output":"%s"}}`+"\n", head, sourceText(500))
	}
	return b.Bytes()
}

func codexBulk() []byte {
	var b bytes.Buffer
	for i := range 400 {
		fmt.Fprintf(&b, `{"timestamp":"2026-01-02T03:04:05.678Z","type":"response_item","payload":{"type":"reasoning","summary":[],"content":null,"encrypted_content":"%s"}}`+"\n", strings.Repeat("QUJD", 300))
		fmt.Fprintf(&b, `{"timestamp":"2026-01-02T03:04:05.678Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"cat f%d.go\"]}","call_id":"call_%d"}}`+"\n", i, i)
		fmt.Fprintf(&b, `{"timestamp":"2026-01-02T03:04:05.678Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_%d","output":"%s"}}`+"\n", i, sourceText(1000+i%5*1500))
		fmt.Fprintf(&b, `{"timestamp":"2026-01-02T03:04:05.678Z","type":"turn_context","payload":{"cwd":"/home/u/p","approval_policy":"never","model":"gpt-x","user_instructions":"%s"}}`+"\n", sourceText(1500))
	}
	return b.Bytes()
}
