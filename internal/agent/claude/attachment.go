package claude

import "ccd/internal/transcript"

// An attachment record holds what Claude Code puts into the context by itself: reminders, file contents, hook output,
// listings; and what a person typed while the agent was at work (queued_command). New versions say in "rendered" what
// was sent; in older ones it is the attachment's own text.

// silent are the attachments that the model never sees as such: prompt_snapshot repeats the system prompt and
// the tools' schemas.
var silent = map[string]bool{"prompt_snapshot": true, "session_context": true}

func attachment(d *transcript.Decoder, r *transcript.Record, l *line) {
	a := readAttachment(l.attachment)
	kind := a.kind.Text()
	if silent[kind] {
		r.UI = true
		return
	}
	item := transcript.Item{Kind: transcript.Meta, Side: l.side}
	if kind == "queued_command" {
		queued(d, r, l, a)
		return
	}
	if l.rendered.Is('[') {
		for sent := range l.rendered.Elements() {
			if content := sent.Field("content"); content.Full() {
				r.Add(item, content)
			}
		}
		return
	}
	for _, n := range []transcript.Node{a.content, a.text, a.snippet, a.prompt} {
		if n.Full() {
			r.Add(item, n)
			return
		}
	}
}

// queued adds a prompt that waited for the agent: a person's, unless it says that a program put it there.
func queued(d *transcript.Decoder, r *transcript.Record, l *line, a attached) {
	mode := a.mode.Text()
	v := transcript.Voice{Role: "user", Side: l.side}
	origin := a.origin
	if !origin.Full() {
		origin = l.origin
	}
	if !a.meta.IsTrue() && (mode == "prompt" || mode == "bash" || mode == "") {
		v.By = author(d, l, origin)
	}
	d.Content(r, a.prompt, v)
	if mode == "task-notification" || a.origin.Field("kind").Text() == "task-notification" {
		r.Agent = transcript.BetweenTexts(transcript.PlainText(a.prompt), "<task-id>", "</task-id>")
	}
}

type attached struct{ kind, content, text, snippet, prompt, mode, origin, meta transcript.Node }

func readAttachment(n transcript.Node) (a attached) {
	for key, v := range n.Members() {
		switch string(key) {
		case "type":
			a.kind = v
		case "content":
			a.content = v
		case "text":
			a.text = v
		case "snippet":
			a.snippet = v
		case "prompt":
			a.prompt = v
		case "commandMode":
			a.mode = v
		case "origin":
			a.origin = v
		case "isMeta":
			a.meta = v
		}
	}
	return a
}
