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

// write gives the lines of a draft. Events, usage and ordinals are left out, and so is the history's mode: with
// them the client would compact the copy at once, or refuse it.
func write(d transcript.Draft) [][]byte {
	w := writer{stamps: transcript.Stamps{Last: d.Start}}
	w.stamps.Next(d.Start)
	head := w.stamps.Next(d.Start)
	for i := range d.Messages {
		w.message(&d.Messages[i])
	}
	branch := ""
	if d.Branch != "" {
		branch = `,"git":{"branch":` + quote(d.Branch) + `}`
	}
	meta := `{"timestamp":"` + head + `","type":"session_meta","payload":{"id":` + quote(d.ID) + `,"session_id":` + quote(d.ID) +
		`,"timestamp":"` + head + `","cwd":` + quote(d.Cwd) + `,"originator":"codex_cli_rs","cli_version":` + quote(cmp.Or(d.Version, version)) +
		`,"source":"cli"` + branch + `,` + d.Resumed.JSON(len(w.lines)+1) + `}}`
	return append([][]byte{[]byte(meta)}, w.lines...)
}

// version is the version that a copy of another agent's session names: one that is known to read it.
const version = "0.169.0"

// message writes the texts and images of a message as one item, and each of its calls or results as one: what is said
// comes before the calls and after the results, so that nothing stands between the two.
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
		part := `{"type":"` + kind + `","text":` + string(b.Raw) + `}`
		switch b.Kind {
		case transcript.Call, transcript.Result, transcript.Thinking:
			continue
		case transcript.Image:
			part = `{"type":"input_image","image_url":` + string(b.Raw) + `}`
		}
		of := `"unknown"`
		if b.Typed {
			of, typed = `"user.text"`, true
		}
		parts, kinds = append(parts, part), append(kinds, of)
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
		return `{"type":"` + kind + `_output","call_id":` + quote(b.Call) + `,"output":` + string(b.Raw) + `}`
	}
	space := ""
	if b.Space != "" {
		space = `,"namespace":` + quote(b.Space)
	}
	return `{"type":"` + kind + `","name":` + quote(b.Tool) + space + `,"` + value + `":` + string(b.Raw) + `,"call_id":` + quote(b.Call) + `}`
}

// place is where a draft belongs below the root, with slashes. The name carries the time of the session that it is
// made from, so that a list by time shows the copy beside that one and not before all others.
func place(d *transcript.Draft) string {
	t := d.Start.UTC()
	return t.Format("2006/01/02/") + "rollout-" + t.Format("2006-01-02T15-04-05-") + d.ID + ".jsonl"
}

func quote(text string) string { return string(transcript.Quote(text)) }
