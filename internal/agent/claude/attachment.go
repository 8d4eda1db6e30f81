package claude

import "ccd/internal/transcript"

// An attachment record contains what Claude Code itself adds to the context (reminders, file contents, hook output,
// listings) and what a person typed while the agent was working (queued_command). New versions put the text that was
// sent in "rendered"; in older ones it is the attachment's own text.

// silent lists the attachments that the model never sees: prompt_snapshot, for example, repeats the system prompt and
// the tools' schemas.
var silent = map[string]bool{"prompt_snapshot": true, "session_context": true}

func attachment(d *transcript.Decoder, r *transcript.Record, l *line) {
	a := d.Object(l.Field("attachment"))
	kind := a.Field("type").Text()
	if silent[kind] {
		r.UI = true
		return
	}
	item := transcript.Item{Kind: transcript.Meta, Side: l.side}
	if kind == "queued_command" {
		queued(d, r, l, a)
		return
	}
	if l.Field("rendered").Is('[') {
		for sent := range l.Field("rendered").Elements() {
			if content := sent.Field("content"); content.Full() {
				r.Add(item, content)
			}
		}
		return
	}
	if n := a.First("content", "text", "snippet", "prompt"); n.Full() {
		r.Add(item, n)
	}
}

// queued adds a prompt that waited for the agent. A person wrote it unless the record says that a program queued it.
func queued(d *transcript.Decoder, r *transcript.Record, l *line, a transcript.Object) {
	mode := a.Field("commandMode").Text()
	v := transcript.Voice{Role: "user", Side: l.side}
	origin := a.Field("origin")
	if !origin.Full() {
		origin = l.Field("origin")
	}
	if !a.Field("isMeta").IsTrue() && (mode == "prompt" || mode == "bash" || mode == "") {
		v.By = author(d, l, origin)
	}
	d.Content(r, a.Field("prompt"), v)
	attached(d, r)
	if mode == "task-notification" || a.Field("origin").Field("kind").Text() == "task-notification" {
		r.Agent = transcript.BetweenTexts(transcript.PlainText(a.Field("prompt")), "<task-id>", "</task-id>")
	}
}
