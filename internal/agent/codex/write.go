package codex

import (
	"cmp"
	"strings"

	"ccd/internal/transcript"
)

// writer writes a rollout: a header, then what the model sees.
type writer struct {
	stamps transcript.Stamps
	lines  [][]byte
}

// write returns the lines of a draft. Without a provider the client's terminal refuses it. It leaves out events, usage, ordinals and the history's mode, because with them
// the client would compact the copy at once or refuse it.
func write(d transcript.Draft) [][]byte {
	w := writer{stamps: transcript.Stamps{Last: d.Start}}
	w.stamps.Next(d.Start)
	head := w.stamps.Next(d.Start)
	for i := range d.Messages {
		w.message(&d.Messages[i])
	}
	branch := ""
	if d.Branch != "" {
		branch = `,"git":{"branch":` + transcript.QuoteText(d.Branch) + `}`
	}
	meta := `{"timestamp":"` + head + `","type":"session_meta","payload":{"id":` + transcript.QuoteText(d.ID) + `,"session_id":` + transcript.QuoteText(d.ID) +
		`,"timestamp":"` + head + `","cwd":` + transcript.QuoteText(d.Cwd) + `,"originator":"codex_cli_rs","cli_version":` + transcript.QuoteText(cmp.Or(d.Version, version)) +
		`,"source":"cli","model_provider":` + transcript.QuoteText(cmp.Or(d.Provider, "openai")) + branch + `,"thread_name":` + transcript.QuoteText(transcript.TitlePrefix+d.Title) + `,` + d.Resumed.JSON(len(w.lines)+1) + `}}`
	return append([][]byte{[]byte(meta)}, w.lines...)
}

// version is the client version in a copy of another agent's session: one that is known to read it.
const version = "0.169.0"

// message writes the texts of a message as one item, and each call and result as its own. The assistant's
// text comes before its calls and the user's text after the results, so that nothing comes between calls and results.
func (w *writer) message(m *transcript.Message) {
	if m.Assistant {
		w.said(m, "assistant", "output_text")
	}
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Kind == transcript.Call || b.Kind == transcript.Result {
			w.item(m, payload(b))
		}
	}
	if !m.Assistant {
		w.said(m, "user", "input_text")
	}
}

func (w *writer) said(m *transcript.Message, role, kind string) {
	var parts, kinds []string
	typed := false
	for i := range m.Blocks {
		b := &m.Blocks[i]
		if b.Kind == transcript.Call || b.Kind == transcript.Result || b.Kind == transcript.Thinking {
			continue
		}
		of := `"unknown"`
		if b.Typed {
			of, typed = `"user.text"`, true
		}
		parts, kinds = append(parts, `{"type":"`+kind+`","text":`+string(b.Raw)+`}`), append(kinds, of)
	}
	told := ""
	if typed {
		told = `,"internal_chat_message_metadata_passthrough":{"content_item_kinds":[` + strings.Join(kinds, ",") + `]}`
	}
	if len(parts) > 0 {
		w.item(m, `{"type":"message","role":"`+role+`","content":[`+strings.Join(parts, ",")+`]`+told+`}`)
	}
}

func (w *writer) item(m *transcript.Message, payload string) {
	w.lines = append(w.lines, []byte(`{"timestamp":"`+w.stamps.Next(m.Time)+`","type":"response_item","payload":`+payload+`}`))
}

func payload(b *transcript.Block) string {
	kind, value := "function_call", "arguments"
	if b.Free {
		kind, value = "custom_tool_call", "input"
	}
	if b.Kind == transcript.Result {
		return `{"type":"` + kind + `_output","call_id":` + transcript.QuoteText(b.Call) + `,"output":` + string(b.Raw) + `}`
	}
	space := ""
	if b.Space != "" {
		space = `,"namespace":` + transcript.QuoteText(b.Space)
	}
	return `{"type":"` + kind + `","name":` + transcript.QuoteText(b.Tool) + space + `,"` + value + `":` + string(b.Raw) + `,"call_id":` + transcript.QuoteText(b.Call) + `}`
}

// shell returns the call that runs a command.
func shell(command, dir string) (tool string, input []byte) {
	args := `{"cmd":` + transcript.QuoteText(command)
	if dir != "" {
		args += `,"workdir":` + transcript.QuoteText(dir)
	}
	return "exec_command", transcript.Quote(args + "}")
}

// place returns the path of a draft below the root, with slashes. The name has the start time of the original session,
// so that a list by time shows the copy next to it and not before all others.
func place(d *transcript.Draft, _ string) string {
	t := d.Start.UTC()
	return t.Format("2006/01/02/") + "rollout-" + t.Format("2006-01-02T15-04-05-") + d.ID + ".jsonl"
}
