package session_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"ccd/compactor/limits"
	"ccd/internal/agent/registry"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// reporting is the model of a session whose replies report their context. A report is `tokens` of Claude Code, which may be any JSON, or
// `tokens/window` of Codex, without a window where that is 0, and `*N` repeats it.
func reporting(model, reports string) *session.Session {
	agent, text := "claude-code", `{"type":"user","uuid":"u","message":{"role":"user","content":"Mill the rye."}}`+"\n"
	if strings.Contains(reports, "/") {
		agent, text = "codex", `{"type":"session_meta","payload":{"id":"s","cwd":"/src/mill"}}`+"\n"+`{"type":"turn_context","payload":{"model":"`+model+`"}}`+"\n"
	}
	n := 0
	for one := range strings.FieldsSeq(reports) {
		figure, times, _ := strings.Cut(one, "*")
		tokens, window, rollout := strings.Cut(figure, "/")
		for range max(1, number(times)) {
			n++
			words := strings.Repeat(fmt.Sprintf("sack %d ", n), 250)
			if !rollout {
				text += fmt.Sprintf(`{"type":"assistant","uuid":"a%d","message":{"id":"m%d","role":"assistant","model":%q,"content":[{"type":"text","text":%q}],"usage":{"input_tokens":%s,"output_tokens":1}}}`+"\n", n, n, model, words, tokens)
				continue
			}
			text += fmt.Sprintf(`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}}`+"\n", strings.Repeat(words, 6))
			told := `,"model_context_window":` + window
			if window == "0" {
				told = ""
			}
			text += fmt.Sprintf(`{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"total_tokens":%s}%s}}}`+"\n", tokens, told)
		}
	}
	o := limits.Defaults()
	o.Windows = map[string]int64{"claude-": 200_000, "gpt-5": 272_000}
	s := session.New(o, transcript.Session{})
	for r := range (registry.Table{}).NewDecoder(agent, transcript.Main).Records(transcript.Segment{Data: []byte(text), Rest: true}) {
		s.Add(r)
	}
	return s
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// TestImpossibleReports: a context that is no count or that others contradict, and a window that is none, are ignored.
func TestImpossibleReports(t *testing.T) {
	for _, c := range []struct{ model, reports, want string }{
		{"claude-sonnet-4-5", "150000*20", `150001 of 200000, 0.75 aggressive "pressure"`},
		{"claude-sonnet-4-5", "150000*3 3000000 150000*16", `150001 of 200000, 0.75 aggressive "pressure"`},
		{"claude-sonnet-4-5", "150000*19 3000000", `150001 of 200000, 0.75 aggressive "pressure"`},
		{"someone-s", "3000000 150000*19", `150001 of 200000, 0.75 aggressive "pressure", assumed`},
		{"claude-sonnet-4-5", "150000*3 900000 150000*16", `150001 of 200000, 0.75 aggressive "pressure"`},
		{"claude-sonnet-4-5", "20000*15 900000 20000*4", `20001 of 200000, 0.10 gentle ""`},
		{"claude-sonnet-4-5", "150000*19 9223372036854775807", `150001 of 200000, 0.75 aggressive "pressure"`},
		{"claude-sonnet-4-5", "150000*19 1e400", `150001 of 200000, 0.75 aggressive "pressure"`},
		{"claude-sonnet-4-5", "400000*20", `400001 of 1000000, 0.40 gentle ""`},
		{"claude-sonnet-4-5", "750000*20", `750001 of 1000000, 0.75 aggressive "pressure"`},
		{"someone-s[1m]", "20000*19 750000", `750001 of 1000000, 0.75 aggressive "pressure"`},

		{"claude-sonnet-4-5", "120000*19 0", `1 of 200000, 0.00 standard "pressure"`},
		{"claude-sonnet-4-5", "120000*19 1.3e5", `130001 of 200000, 0.65 standard "pressure"`},
		{"claude-sonnet-4-5", `120000*19 130000,"cache_read_input_tokens":null`, `130001 of 200000, 0.65 standard "pressure"`},
		{"claude-sonnet-4-5", "120000*19 -5", `120001 of 200000, 0.60 standard "pressure"`},
		{"claude-sonnet-4-5", `120000*19 "150000"`, `120001 of 200000, 0.60 standard "pressure"`},
		{"claude-sonnet-4-5", "120000*19 null", `120001 of 200000, 0.60 standard "pressure"`},
		{"claude-sonnet-4-5", "120000*19 []", `120001 of 200000, 0.60 standard "pressure"`},
		{"claude-sonnet-4-5", "120000*19 {}", `120001 of 200000, 0.60 standard "pressure"`},
		{"claude-sonnet-4-5", "120000*19 true", `120001 of 200000, 0.60 standard "pressure"`},
		{"claude-sonnet-4-5", "120000*19 120000.75", `120001 of 200000, 0.60 standard "pressure"`},
		{"claude-sonnet-4-5", "120000*19 -9223372036854775808", `120001 of 200000, 0.60 standard "pressure"`},
		{"claude-sonnet-4-5", "120000*19 -1e400", `120001 of 200000, 0.60 standard "pressure"`},
		{"claude-sonnet-4-5", `120000*19 0,"cache_read_input_tokens":-50003`, `120001 of 200000, 0.60 standard "pressure"`},

		{"gpt-5", "24000/272000*8", `24000 of 272000, 0.09 gentle ""`},
		{"gpt-5", "225000/272000*8", `225000 of 272000, 0.83 aggressive "pressure"`},
		{"gpt-5", "24000/272000*8 24000/1 24000/272000*3", `24000 of 272000, 0.09 gentle ""`},
		{"gpt-5", "24000/272000*8 24000/1", `24000 of 272000, 0.09 gentle ""`},
		{"gpt-5", "24000/1 24000/272000*8", `24000 of 272000, 0.09 gentle ""`},
		{"gpt-5", "24000/272000*8 9000/10000 24000/272000*3", `24000 of 272000, 0.09 gentle ""`},
		{"gpt-5", "24000/272000*8 9000/10000", `9000 of 272000, 0.03 gentle ""`},
		{"gpt-5", "9000/10000 24000/272000*8", `24000 of 272000, 0.09 gentle ""`},
		{"gpt-5", "24000/272000*8 24000/20000000 225000/0*3", `225000 of 272000, 0.83 aggressive "pressure"`},
		{"gpt-5", "24000/20000000 225000/272000*8", `225000 of 272000, 0.83 aggressive "pressure"`},
		{"gpt-5", "24000/272000*8 24000/1125899906842624*5", `24000 of 272000, 0.09 gentle ""`},
		{"gpt-5", "24000/1000*8", `24000 of 272000, 0.09 gentle ""`},
		{"gpt-5", "24000/272000*8 160000/400000*3", `160000 of 400000, 0.40 gentle ""`},
		{"gpt-5", "24000/2000000*8", `24000 of 2000000, 0.01 gentle ""`},
	} {
		st := reporting(c.model, c.reports).Status()
		got := fmt.Sprintf("%d of %d, %.2f %s %q", st.Reported, st.Window, st.Pressure, st.Level, st.Trigger)
		if st.Assumed {
			got += ", assumed"
		}
		if got != c.want {
			t.Errorf("%s %s: %s, want %s", c.model, c.reports, got, c.want)
		}
	}
}
