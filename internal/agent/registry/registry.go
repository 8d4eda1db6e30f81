// Package registry lists the agents, one line each.
package registry

import (
	"bytes"
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"ccd/internal/agent/amp"
	"ccd/internal/agent/claude"
	"ccd/internal/agent/codex"
	"ccd/internal/agent/copilot"
	"ccd/internal/agent/cursor"
	"ccd/internal/agent/droid"
	"ccd/internal/agent/gemini"
	"ccd/internal/agent/openclaw"
	"ccd/internal/agent/opencode"
	"ccd/internal/agent/pi"
	"ccd/internal/agent/qwen"
	"ccd/internal/redact"
	"ccd/internal/transcript"
)

// known lists the agents that have a package. It is built once because every scan looks up every file in it.
var known = []transcript.Format{
	claude.Row(),
	codex.Row(),
	gemini.Row(),
	qwen.Row(),
	droid.Row(),
	cursor.Row(),
	copilot.Row(),
	pi.Row(),
	openclaw.Row(),
	amp.Row(),
	opencode.Row(),
}

// Table lists the agents that a process knows. The zero Table has those with a package; With adds those of the
// configuration.
type Table struct {
	own []transcript.Format
	// Redact has the rules by which NewDecoder's decoders leave out secrets; nil: they leave out nothing.
	Redact *redact.Rules
}

// Exact returns the table without Redact.
func (t Table) Exact() Table {
	t.Redact = nil
	return t
}

// With returns a table that also has these formats. A format without a Client gets one that understands what any agent
// writes.
func (t Table) With(rows ...transcript.Format) Table {
	t.own = slices.Clone(t.own)
	for _, f := range rows {
		if f.Client == nil {
			f.Client = anyClient
		}
		t.own = append(t.own, f)
	}
	return t
}

// All returns the format of each agent, in a fixed order.
func (t Table) All() []transcript.Format { return slices.Concat(known, t.own) }

// Names returns the agents' names, in the order of All.
func (t Table) Names() (names []string) {
	for _, f := range t.All() {
		names = append(names, f.Agent)
	}
	return names
}

// Titles returns the agents' names for people, in the order of All.
func (t Table) Titles() (titles []string) {
	for _, f := range t.All() {
		titles = append(titles, f.Title)
	}
	return titles
}

// Title returns an agent's name for people, or the given name if the agent is unknown.
func (t Table) Title(agent string) string {
	if agent == transcript.Messages {
		return "list of messages"
	}
	if f, ok := t.Lookup(agent); ok {
		return f.Title
	}
	return agent
}

// Short returns the name by which commands call an agent, or the given name if none does.
func (t Table) Short(agent string) string {
	if f, ok := t.Lookup(agent); ok && f.Connect != nil {
		return f.Connect.Name
	}
	return agent
}

// Lookup returns the format of the agent.
func (t Table) Lookup(agent string) (transcript.Format, bool) {
	for _, rows := range [][]transcript.Format{known, t.own} {
		for i := range rows {
			if rows[i].Agent == agent {
				return rows[i], true
			}
		}
	}
	return transcript.Format{}, false
}

// NewDecoder returns a decoder for a transcript of the agent, or for a plain list of messages.
func (t Table) NewDecoder(agent string, class transcript.Class) *transcript.Decoder {
	f := transcript.MessageList(anyClient)
	if agent != transcript.Messages {
		f, _ = t.Lookup(agent)
	}
	d := transcript.NewDecoder(f, class)
	d.Redact = t.Redact.Session()
	return d
}

// anyClient reads texts of unknown agents: it understands what any agent writes.
var anyClient = merged()

func merged() *transcript.Client {
	any := transcript.Client{Ops: map[string]transcript.Op{}}
	for _, f := range slices.Backward(known) { // if two disagree, the first one in the table wins
		for tool, op := range f.Client.Ops {
			any.Ops[tool] = op
		}
		any.Elements = append(any.Elements, f.Client.Elements...)
		any.Notices = append(any.Notices, f.Client.Notices...)
		any.Summaries = append(any.Summaries, f.Client.Summaries...)
		any.Reports, any.Prints = append(any.Reports, f.Client.Reports...), append(any.Prints, f.Client.Prints...)
		any.Local, any.Memory = append(any.Local, f.Client.Local...), append(any.Memory, f.Client.Memory...)
		if f.Client.Typed != nil {
			any.Typed = f.Client.Typed
		}
		if f.Client.Ran != nil {
			any.Ran = f.Client.Ran
		}
	}
	return &any
}

// Find returns what session or attachment the file at filename, below root, belongs to. It looks only at the name and
// opens nothing. Both are absolute paths of this system. ok is false for files of no agent and for ccd's own files.
func (t Table) Find(agent, root, filename string) (s transcript.Session, ok bool) {
	f, ok := t.Lookup(agent)
	if !ok {
		return s, false
	}
	rel, err := filepath.Rel(root, filename)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return s, false
	}
	rel = filepath.ToSlash(rel)
	if name := path.Base(rel); strings.HasSuffix(name, ".ccd.md") || strings.HasPrefix(name, ".ccd-") { // a companion or a temporary file
		return s, false
	}
	plain, packed := transcript.Unpacked(rel)
	base := filepath.Base(root)
	if s, ok = f.Match(base, plain); !ok || (packed && s.Class == transcript.Attachment) {
		return transcript.Session{}, false
	}
	s.Agent, s.Path, s.Root, s.Packed = agent, filename, root, packed
	s.Source = base + "/" + plain
	return s, true
}

// Sniff returns which agent wrote the file that begins with head (some KB of it, or all), or that it is a plain list of
// messages, and whether it is a sub-agent's: the one as whose most of it is understood. It is for files whose path does not say
// so. ok is false if the agent is unknown.
func (t Table) Sniff(head []byte) (agent string, class transcript.Class, ok bool) {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	if len(text) > 0 && text[0] == '[' {
		return transcript.Messages, transcript.Main, true
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	whole := transcript.CompleteObject(text)
	best := understood{}
	for _, f := range append([]transcript.Format{transcript.MessageList(anyClient)}, t.All()...) {
		all := []understood{understoodOf(f, text)}
		if !transcript.Valid(first) && whole != nil { // an object that spans several lines, or a long first line
			all = append(all, understoodOf(f, whole))
		}
		for _, one := range all {
			if agent == "" && one.content+one.known > 0 || one.more(best) {
				agent, best = f.Agent, one
			}
		}
	}
	return agent, best.class, agent != ""
}

// understood is how much of a beginning a decoder understands.
type understood struct {
	content, known, unknown, timed int // records: with items, without, not understood, with a time
	class                          transcript.Class
}

func understoodOf(f transcript.Format, text []byte) (g understood) {
	for r := range transcript.NewDecoder(f, transcript.Main).Records(transcript.Segment{Data: text, Rest: true}) {
		switch {
		case r.Unknown || r.Broken || r.Type == "":
			g.unknown++
			continue
		case len(r.Items) == 0:
			g.known++
		default:
			if g.content++; g.content == 1 && r.Items[0].Side {
				g.class = transcript.SubAgent
			}
		}
		if !r.Time.IsZero() {
			g.timed++
		}
	}
	return g
}

// more reports whether more is understood than of another one.
func (g understood) more(than understood) bool {
	score := func(g understood) int { return g.content + g.known - g.unknown }
	return cmp.Or(score(g)-score(than), g.content-than.content, g.timed-than.timed) > 0
}
