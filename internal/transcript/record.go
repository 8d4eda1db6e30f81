package transcript

import (
	"bytes"
	"slices"
	"time"
)

// SetUsage sets the context size that the record reports.
func (d *Decoder) SetUsage(r *Record, u Usage) {
	if u.Context == 0 { // nothing is reported
		return
	}
	d.usage = u
	r.Usage = &d.usage
}

// SetBoundary records that the agent compacted its context here.
func (d *Decoder) SetBoundary(r *Record, b Boundary) {
	d.bound = b
	r.Boundary = &d.bound
	d.fresh = true
}

// Refused adds what the API answered instead of a reply; text may be absent.
func (d *Decoder) Refused(r *Record, text Node) {
	r.APIError = true
	if text.Full() {
		r.UI = false
		r.Add(Item{Kind: Meta}, text)
	}
}

// RememberTool stores the tool of a call.
func (d *Decoder) RememberTool(call, tool string) { d.tools.put(call, tool) }

// ToolOf returns the tool of a call, "" if unknown.
func (d *Decoder) ToolOf(call string) string {
	tool, _ := d.tools.find(call)
	return tool
}

// ResultFailed reports whether a tool's result says that the tool or its command failed.
func (d *Decoder) ResultFailed(tool string, result Node) bool {
	return d.Client.Explain(tool, d.Client.Op(tool), result.Raw, false).Failed
}

// Typed reports whether a text is a client's form of a slash command or a shell line.
func (d *Decoder) Typed(text string) bool {
	_, _, ok := d.Client.typed(text)
	return ok
}

// Typed reports whether a person typed an item of the record as a message.
func (r *Record) Typed() bool {
	return slices.ContainsFunc(r.Items, func(it Item) bool { return it.Kind == Human && it.Call == "" })
}

// Talks reports whether a person typed the record, or the agent said or did something in it.
func (r *Record) Talks() bool {
	return r.Typed() || r.Replies()
}

// Replies reports whether the agent itself said or did something in the record.
func (r *Record) Replies() bool {
	return slices.ContainsFunc(r.Items, func(it Item) bool { return it.Kind.Assistant() && !it.Side })
}

// ParseTime reads a time: RFC 3339, or a number of milliseconds since 1970. It returns the zero time if there is none, or if it is out of
// the range that RFC 3339 and JSON allow.
func ParseTime(n Node) time.Time {
	const maxYear = 253402300799999 // the last millisecond of the year 9999
	if !n.Is('"') {
		if ms := n.Integer(); ms > 0 && ms <= maxYear {
			return time.UnixMilli(ms).UTC()
		}
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, string(n.Raw[1:len(n.Raw)-1]))
	if t = t.UTC(); err != nil || t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// Ranks of titles: those given by a person win over generated ones.
const (
	RankSummary = iota + 1
	RankMade
	RankGiven
)

// SetTitle sets the record's title, unless there was a title of higher rank.
func (d *Decoder) SetTitle(r *Record, title Node, rank int) {
	if title.Full() && title.Is('"') && rank >= d.titleRank {
		r.Title, d.titleRank = title.Text(), rank
	}
}

// SetSummary sets the title of the conversation that ends with the record leaf, which can follow. If there is no such
// record, it is the title of another session.
func (d *Decoder) SetSummary(r *Record, title Node, leaf string) {
	if _, ok := d.recent.find(leaf); ok {
		d.SetTitle(r, title, RankSummary)
	} else {
		d.titles.put(leaf, Node{Raw: bytes.Clone(title.Raw)})
	}
}

// UserRejected is the denial reason of a call that the human refused.
const UserRejected = "user-rejected"
