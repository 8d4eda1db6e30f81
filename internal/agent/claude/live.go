package claude

import "ccd/internal/transcript"

// After a compaction that ccd answered, the client writes ccd's text as a message of the user's, without isCompactSummary,
// and then the newest messages once more, with new UUIDs. The text is the agent's summary, and the rest is not said twice.

// memory is what the decoder knows of earlier records.
type memory struct {
	begun     bool                       // the agent has said or done something: a fork of a compacted session begins with copies that stand nowhere else
	left      int                        // copied blocks that follow ccd's text
	waiting   transcript.Waiting[string] // what a person typed while the agent worked
	delivered []string                   // of that, what the running turn took
}

// answered reports whether a message is ccd's text: it has ccd's front matter, and nobody typed it. That does not depend on
// what was decoded before, because a search decodes single lines. In a fork the text names the session that was compacted.
func answered(d *transcript.Decoder, r *transcript.Record, l *line, content transcript.Node) bool {
	if l.side || l.Field("promptSource").Full() {
		return false
	}
	live, ok := transcript.ReadLive(content.Text())
	if s := transcript.StateOf[memory](d); ok && s.begun {
		s.left = live.Kept
	}
	if ok && live.Session != l.Field("sessionId").Text() {
		r.Origin = live.Session
	}
	return ok
}

// markCopies marks the items of a record that repeats an earlier message. The client adds to records of its own what it
// does not add to those: who made the prompt, which request gave the reply, what the tool returned.
func markCopies(d *transcript.Decoder, r *transcript.Record, l *line) {
	t := transcript.StateOf[memory](d)
	t.begun = t.begun || len(r.Items) > 0 && r.Items[0].Kind.Assistant() && !l.side
	if t.left == 0 || l.side || len(r.Items) > 0 && r.Items[0].Kind == transcript.Summary {
		return
	}
	for _, own := range []string{"promptSource", "requestRef", "requestId", "toolUseResult", "sourceToolAssistantUUID"} {
		if l.Field(own).Full() {
			t.left = 0
			return
		}
	}
	for i := range r.Items {
		if t.left > 0 {
			t.left--
			r.Items[i].Kind, r.Items[i].Copy, r.Items[i].Call = transcript.Meta, true, ""
		}
	}
}
