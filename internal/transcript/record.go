package transcript

import "time"

// Uses sets what the record reports of the context.
func (d *Decoder) Uses(r *Record, u Usage) {
	d.usage = u
	r.Usage = &d.usage
}

// Compacted sets that the agent compacted its context here.
func (d *Decoder) Compacted(r *Record, b Boundary) {
	d.bound = b
	r.Boundary = &d.bound
}

// Named remembers which tool a call names.
func (d *Decoder) Named(call, tool string) { d.tools.put(call, tool) }

// ToolOf returns the tool that a call named, "" where it is not known any more.
func (d *Decoder) ToolOf(call string) string { return d.tools.tool(call) }

// Op returns what a tool of this agent does.
func (d *Decoder) Op(tool string) Op { return d.client.Op(tool) }

// BuiltIn reports whether the agent's own program provides a tool.
func (d *Decoder) BuiltIn(tool string) bool { return d.client.BuiltIn(tool) }

// IsSummary reports whether a text stands for a compacted conversation.
func (d *Decoder) IsSummary(text string) bool { return d.client.isSummary(text) }

// Typed reports whether a text is what the client makes of a slash command or of a line for the shell.
func (d *Decoder) Typed(text string) bool {
	_, _, ok := d.client.typed(text)
	return ok
}

// Remember keeps the UUID of a record for Between; the last few hundred are kept.
func (d *Decoder) Remember(uuid string) { d.recent.add(uuid) }

// Between returns the UUIDs from head to tail, in order; only these two where they are too far back.
func (d *Decoder) Between(head, tail string) []string { return d.recent.between(head, tail) }

// After returns the UUIDs of the records behind the one, in order; none where it is too far back.
func (d *Decoder) After(uuid string) []string { return d.recent.after(uuid) }

// Clock reads an RFC 3339 time; the zero time where there is none, and of one that its offset carries out of the years
// that RFC 3339 and JSON can write.
func Clock(n Node) time.Time {
	if !n.Is('"') {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, string(n.Raw[1:len(n.Raw)-1]))
	if t = t.UTC(); err != nil || t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// The order in which titles win: what a person gave, before what a program made up.
const (
	RankSummary = iota + 1
	RankMade
	RankGiven
)

// Entitle sets the record's title, unless a better one has been given before.
func (d *Decoder) Entitle(r *Record, title Node, rank int) {
	if title.Full() && title.Is('"') && rank >= d.titleRank {
		r.Title, d.titleRank = title.Text(), rank
	}
}

// UserRejected is why a call that the human refused was not allowed.
const UserRejected = "user-rejected"
