package registry

import (
	"cmp"
	"path"
	"strings"

	"ccd/internal/transcript"
)

// Lists returns the format of an agent of the configuration, whose files are lists of messages.
func Lists(name string, roots []string, glob string) transcript.Format {
	f := transcript.MessageList(anyClient)
	f.Agent, f.Title, f.How = name, name, "add the MCP server `ccd mcp` to its settings"
	f.Roots = func(func(string) string, string) []string { return roots }
	f.Match = func(_, rel string) (transcript.Session, bool) { return matchList(cmp.Or(glob, "*.jsonl"), rel) }
	f.Parse = parseListed
	return f
}

// matchList accepts a file whose path or name matches the glob. The session's ID is the UUID at the end of the name, or the
// path if there is none.
func matchList(glob, rel string) (s transcript.Session, ok bool) {
	name := path.Base(rel)
	whole, _ := path.Match(glob, rel)
	base, _ := path.Match(glob, name)
	if strings.HasPrefix(name, ".") || !whole && !base {
		return s, false
	}
	id := strings.TrimSuffix(rel, ".jsonl")
	stem := strings.TrimSuffix(id, ".json")
	if at := len(stem) - len("00000000-0000-0000-0000-000000000000"); at >= 0 && transcript.IsUUID(stem[at:]) {
		id = id[at:]
	}
	return transcript.Session{Key: transcript.Key{ID: id}}, true
}

// parseListed parses a message, or a record with one in its member "message", with the role in it or beside it. A record without a role is
// bookkeeping; one with a role and nothing that can be read is not understood.
func parseListed(d *transcript.Decoder, r *transcript.Record, value transcript.Node) {
	record, said := value.Object(), value.Field("message").Object()
	message := said
	if !said.Has("role") {
		message = record
	}
	if !said.Has("content") && !said.Has("tool_calls") {
		said = message
	}
	if r.UI = !message.Has("role"); !r.UI {
		transcript.ParseMessage(d, r, message, said)
		content := said.Field("content")
		r.Unknown = r.Unknown || len(r.Items) == 0 && (content.Full() || !content.Has())
	}
	if r.Time.IsZero() {
		r.Time = transcript.ParseTime(record.First("timestamp", "time", "at"))
	}
	r.UUID, r.Model = cmp.Or(r.UUID, record.Field("id").Text()), cmp.Or(r.Model, record.Field("model").Text())
	r.Cwd = transcript.Reuse(&d.Last.Cwd, record.First("cwd", "directory"))
}
