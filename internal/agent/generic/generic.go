// Package generic decodes the transcripts of agents that the configuration describes: where their files are, and the
// paths in a record to what ccd needs. It knows JSON and the common names of roles, but no agent.
package generic

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"ccd/internal/transcript"
)

// Agent is a table [agents.formats.NAME]. A path is a JSON Pointer (RFC 6901). If a key has several paths, the first
// one that exists counts; the paths of Usage are summed. Parts is a list in the record; the paths from Content to
// Failed are also applied to each of its elements.
type Agent struct {
	Roots     []string `toml:"roots" json:"roots"`       // absolute
	Glob      string   `toml:"glob" json:"glob"`         // matched against the path below a root and against the name; "": *.jsonl
	Messages  string   `toml:"messages" json:"messages"` // the member with the list of records, in files that are one object
	Role      Paths    `toml:"role" json:"role"`
	Content   Paths    `toml:"content" json:"content"` // a text, or a list of texts and blocks
	Tool      Paths    `toml:"tool" json:"tool"`
	CallID    Paths    `toml:"call_id" json:"call_id"`
	Arguments Paths    `toml:"arguments" json:"arguments"`
	Result    Paths    `toml:"result" json:"result"`
	Failed    Paths    `toml:"failed" json:"failed"` // true, or a number other than 0
	Parts     Paths    `toml:"parts" json:"parts"`
	Time      Paths    `toml:"time" json:"time"`   // RFC 3339, or seconds or milliseconds since 1970
	Usage     Paths    `toml:"usage" json:"usage"` // real tokens
	ID        Paths    `toml:"id" json:"id"`
	Model     Paths    `toml:"model" json:"model"`
	Cwd       Paths    `toml:"cwd" json:"cwd"`
}

// Paths are JSON Pointers.
type Paths []string

// UnmarshalTOML accepts a pointer or a list of them.
func (p *Paths) UnmarshalTOML(value any) error {
	list, ok := value.([]any)
	if s, one := value.(string); one {
		list, ok = []any{s}, true
	}
	if !ok {
		return errors.New("must be a JSON Pointer or a list of them")
	}
	for i, v := range list {
		s, _ := v.(string)
		if s == "" || !jsontext.Pointer(s).IsValid() {
			return fmt.Errorf(`entry %d: must be a JSON Pointer such as "/message/role"`, i+1)
		}
		*p = append(*p, s)
	}
	return nil
}

// Row returns the format of the agent with this name.
func Row(name string, a Agent) transcript.Format {
	roots, glob := a.Roots, cmp.Or(a.Glob, "*.jsonl")
	a.Roots, a.Glob = nil, "" // these do not change how a record decodes, and so not the hash
	data, _ := json.Marshal(a)
	sum := sha256.Sum256(data)
	return transcript.Format{
		Agent: name, Title: name, How: "add the MCP server `ccd mcp` to its settings", Paths: hex.EncodeToString(sum[:4]),
		Roots: func(func(string) string, string) []string { return roots },
		Match: func(_, rel string) (transcript.Session, bool) { return match(glob, rel) },
		Parse: a.parse, Member: a.Messages, List: a.Messages == "",
	}
}

// match accepts a file whose path or name matches the glob. The session's ID is the UUID at the end of the name, or the
// path if there is none.
func match(glob, rel string) (s transcript.Session, ok bool) {
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

// in returns the first value that one of the pointers leads to.
func (p Paths) in(n transcript.Node) (found transcript.Node) {
	for _, path := range p {
		if found = follow(n, path); found.Has() {
			return found
		}
	}
	return transcript.Node{}
}

func follow(n transcript.Node, path string) transcript.Node {
	for token := range jsontext.Pointer(path).Tokens() {
		if !n.Is('[') {
			n = n.Field(token)
			continue
		}
		list, at := n, 0
		n = transcript.Node{}
		for e := range list.Elements() {
			if strconv.Itoa(at) == token {
				n = e
				break
			}
			at++
		}
	}
	return n
}

// roles maps the names that agents use for roles to those of ccd.
var roles = map[string]string{
	"user": "user", "human": "user",
	"assistant": "assistant", "model": "assistant", "ai": "assistant", "agent": "assistant", "bot": "assistant", "gpt": "assistant",
	"tool_call": "assistant", "tool_use": "assistant", "function_call": "assistant",
	"system": "system", "developer": "system",
	"tool": "tool", "function": "tool", "tool_result": "tool", "function_call_output": "tool", "observation": "tool",
}

// parse decodes a record, or each message of a file that is one object on one line.
func (a *Agent) parse(d *transcript.Decoder, rec *transcript.Record, value transcript.Node) {
	if list := value.Field(a.Messages); a.Messages != "" && list.Is('[') {
		for message := range list.Elements() {
			a.message(d, rec, message)
		}
		rec.UI = len(rec.Items) == 0
		return
	}
	a.message(d, rec, value)
}

func (a *Agent) message(d *transcript.Decoder, rec *transcript.Record, value transcript.Node) {
	role := a.Role.in(value)
	rec.Type = role.Text()
	rec.Time = clock(a.Time.in(value))
	rec.UUID = a.ID.in(value).Text()
	rec.Model = transcript.Reuse(&d.Last.Model, a.Model.in(value))
	rec.Cwd = transcript.Reuse(&d.Last.Cwd, a.Cwd.in(value))
	v := transcript.Voice{Role: roles[role.Text()], By: d.Author(), Message: rec.UUID}
	parts := a.Parts.in(value)
	said := a.items(d, rec, value, parts, v)
	for part := range parts.Elements() {
		said = a.items(d, rec, part, transcript.Node{}, v) || said
	}
	rec.UI = !said && !role.Has()
	rec.Unknown = rec.Unknown || !rec.UI && (v.Role == "" || !said)
	if v.Role == "assistant" {
		a.addUsage(d, rec, value)
	}
}

// items adds the text, call and result of a record or of one of its parts. It skips content that is the list of parts
// itself.
func (a *Agent) items(d *transcript.Decoder, rec *transcript.Record, n, parts transcript.Node, v transcript.Voice) (said bool) {
	content, tool, call := a.Content.in(n), a.Tool.in(n).Text(), a.CallID.in(n).Text()
	arguments, result := a.Arguments.in(n), a.Result.in(n)
	if parts.Is('[') && content.Off == parts.Off {
		content = transcript.Node{}
	}
	if v.Role == "tool" && !result.Has() {
		result, content = content, transcript.Node{}
	}
	if content.Has() {
		d.Content(rec, content, v)
	}
	called := tool != "" && v.Role != "tool" && (arguments.Has() || !result.Has())
	if called {
		d.Call(rec, transcript.Item{Call: call, Tool: tool, Message: v.Message}, arguments, n)
	}
	if result.Has() {
		failed := a.Failed.in(n)
		rec.AddFirst(transcript.Item{
			Kind: transcript.Result, Call: call, Tool: cmp.Or(tool, d.ToolOf(call)), Message: v.Message, Failed: failed.IsTrue() || failed.Integer() != 0,
		}, result, n)
	}
	return content.Has() || called || result.Has()
}

// addUsage reads the usage that a reply reports. If one count is not a valid number, the total is unknown.
func (a *Agent) addUsage(d *transcript.Decoder, rec *transcript.Record, value transcript.Node) {
	var counts []transcript.Node
	for _, path := range a.Usage {
		counts = append(counts, follow(value, path))
	}
	d.SetUsage(rec, transcript.Usage{ID: rec.UUID, Context: transcript.SumTokens(counts...)})
}

// clock reads a time, or a number of seconds or milliseconds since 1970.
func clock(n transcript.Node) time.Time {
	const mostSeconds = 1e11 // of the year 5138
	if s := n.Integer(); s > 0 && s < mostSeconds {
		n.Raw = strconv.AppendInt(nil, s*1000, 10)
	}
	return transcript.ParseTime(n)
}
