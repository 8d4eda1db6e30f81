package transcript

import (
	"cmp"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"ccd/internal/lazy"
)

// Format describes one agent. Each agent has its own package below internal/agent, and internal/agent/registry has the
// table.
type Format struct {
	Agent string // name in keys, flags and --json
	Title string // name for people
	How   string // how the client is connected to ccd, in one line, if `ccd agents install` does not do it
	// Connect says what `ccd agents install` writes; nil if it writes nothing.
	Connect *Connect
	// Roots returns the directories with transcripts, given the environment (as os.Getenv) and the home directory. They
	// need not exist.
	Roots func(getenv func(string) string, home string) []string
	// Match classifies the file at rel by its name (slashes, relative to a root from Roots, without ".zst"; base is the
	// root's last element). Find fills in Agent, Path, Root, Source and Packed.
	Match  func(base, rel string) (s Session, ok bool)
	Client *Client
	Beside []Index // files that say more of sessions than their records do
	Parse  Parser
	List   bool // a transcript may be one JSON array of records
	// Member is the name of the array's member if a transcript may be one JSON object on several lines.
	Member string

	// Write returns a draft's lines in the agent's own format, Place the file's path below a root, with slashes; it may
	// read the root. Both expect a valid draft: each call has one result, in the next message. They and the next three
	// are nil if ccd writes no sessions of this agent.
	Write func(d Draft) [][]byte
	Place func(d *Draft, root string) string
	// Resume is the command that continues a session, without its ID; with ByPath it takes the path of its file as
	// well.
	Resume []string
	ByPath bool
	// Shell returns the name and input of a call that runs a command. dir is "" if the command runs in the session's
	// directory.
	Shell func(command, dir string) (tool string, input []byte)
	// Project returns the name of the directory with the sessions of a working directory; nil if names do not depend on
	// it.
	Project func(dir string) string
}

// Messages is the agent of plain message lists.
const Messages = "messages"

// MessageList returns the Format of plain message lists, which any client may have written.
func MessageList(any *Client) Format {
	return Format{Agent: Messages, Title: "a list of messages", Client: any, Parse: parseMessage, List: true}
}

// Index is a file that a client keeps beside its transcripts and that says of sessions what their records do not.
type Index struct {
	// Of returns the file's path, and by what name it has a session; team is the one that the session's records name. The path is
	// "" if there is no such file for it.
	Of func(s Session, team string) (path, name string)
	// Read returns what the file's text says, by name.
	Read func(text []byte) map[string]Facts
}

// Facts is what a file beside transcripts says of a session.
type Facts struct {
	Title  string
	Cwd    string // its working directory
	Parent string // ID of the session that started it
}

// Connect describes the client's settings files that connect it to ccd. Paths have slashes and are below Dir.
type Connect struct {
	Name string // on the command line: "claude"
	// Dir returns the directory of the client's settings, from the same arguments as Roots.
	Dir func(getenv func(string) string, home string) string

	Hooks  string  // JSON file with its hooks, {"hooks": {EVENT: [{"hooks": [{"command": ...}]}]}}; "" if not used
	Events []Event // that call ccd
	// Transcript is the path of a session's transcript below a root, ID for the session's, if events do not name it; "" if they do.
	Transcript string
	Line       bool // Hooks also has statusLine, a command that prints the client's status line

	Servers string // file with its MCP servers: JSON, or TOML with a table mcp_servers if there is no Member; "" if not used
	// ServersAt returns the path of Servers if it is not below Dir; otherwise it is nil.
	ServersAt func(getenv func(string) string, home string) string
	Member    string   // the object of Servers that contains the servers
	Type      string   // of a server that is a program, "" if there is no type
	Tools     []string // tools that the server's entry allows, nil if there is no such list
	Comments  bool     // the client accepts comments in its JSON files
	State     bool     // the client itself writes Servers again and again

	Guide  string // Markdown file that each session loads: ccd adds a block
	Shadow string // file that the client reads instead of Guide if it exists, "" for none
	Skill  string // or the file of a skill
	Note   string // what the user must know after hooks have changed, "" for nothing
	Mod    string // folder of a plugin with which ccd answers compactions, "" if the client has none
	Asks   string // the first version of the client that asks Mod, "" for all

	Outputs bool // the plugin also shortens long outputs

	Model *Model // nil if no model of ccd's can write the client's summaries
}

// Model says how a client that asks a model for the summary of a compaction is made to ask ccd. As long as the model in Key is not in the
// client's list, the client asks its own.
type Model struct {
	Event Event    // just before the client asks: ccd answers it instead of the one with the same name in Events
	Key   string   // in Hooks: the name of the model
	Value string   // the name of ccd's model there
	ID    string   // its name in the list
	List  []string // the path of the list in Hooks, which the client reads again when it changes
	Proxy string   // in Hooks: the address of a proxy for all requests
	Env   string   // a variable that the client always has, whose value it sends to the model in place of the user's key
}

// Event is a moment at which a client calls ccd.
type Event struct {
	Client  string // name in the client's settings
	Name    string // name for `ccd hook`
	Timeout int    // in the client's unit
}

// Events returns the events of a client that uses Claude Code's names, with timeouts in seconds. ccd's own limits are
// far lower; these only matter if ccd hangs.
func Events() []Event {
	return []Event{{"SessionStart", "SessionStart", 10}, {"UserPromptSubmit", "UserPromptSubmit", 10}, {"PreCompact", "PreCompact", 15}}
}

// Dir is a directory below the one in an environment variable, or else below usual in the home directory.
type Dir struct{ Variable, Usual, Below string }

// Of returns its path.
func (d Dir) Of(getenv func(string) string, home string) string {
	above := cmp.Or(getenv(d.Variable), filepath.Join(home, filepath.FromSlash(d.Usual)))
	return filepath.Join(above, filepath.FromSlash(d.Below))
}

// With returns a function for the directories with these names in it.
func (d Dir) With(names ...string) func(func(string) string, string) []string {
	return func(getenv func(string) string, home string) (all []string) {
		for _, name := range names {
			all = append(all, filepath.Join(d.Of(getenv, home), name))
		}
		return all
	}
}

// UUID matches one, JSONL the name of a file with JSON lines that is not hidden, in a Name.
const (
	UUID  = `[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`
	JSONL = `[^/.][^/]*\.jsonl`
)

// Name is a form of the names of an agent's files.
type Name struct {
	Form  string // a regular expression for the path below a root; its groups id, parent and thread are those of a Session
	Class Class
}

// Named returns a Format.Match for files with one of some names, of which the first counts. Without a group id, the ID is the path, of a
// conversation without its suffix.
func Named(names ...Name) func(base, rel string) (Session, bool) {
	var forms []func() *regexp.Regexp
	for _, n := range names {
		forms = append(forms, lazy.Regexp("(?s)^(?:"+n.Form+")$"))
	}
	return func(_, rel string) (s Session, ok bool) {
		for i, n := range names {
			form := forms[i]()
			found := form.FindStringSubmatch(rel)
			if found == nil {
				continue
			}
			group := func(name string) string {
				if at := form.SubexpIndex(name); at >= 0 {
					return found[at]
				}
				return ""
			}
			if n.Class != Attachment {
				rel = strings.TrimSuffix(rel, ".jsonl")
			}
			s = Session{Key: Key{ID: cmp.Or(group("id"), group("thread"), rel)}, Class: n.Class, Parent: group("parent")}
			if group("id") != "" {
				s.Thread = group("thread")
			}
			return s, true
		}
		return s, false
	}
}

// Stem returns the name of a transcript with JSON lines without its suffix. ok is false for hidden and other files.
func Stem(rel string) (stem string, ok bool) {
	stem, ok = strings.CutSuffix(path.Base(rel), ".jsonl")
	return stem, ok && stem != "" && stem[0] != '.'
}

// roles has the other names of roles.
var roles = map[string]string{
	"human": "user", "model": "assistant", "ai": "assistant", "agent": "assistant", "bot": "assistant", "gpt": "assistant",
	"function": "tool", "tool_result": "tool", "observation": "tool",
}

// parseMessage parses one message of a plain list: {"id"?, "role", "content"}, with a string or a list of text,
// tool_use, tool_result and image blocks as content. It also accepts the other common form (role "tool", tool_calls).
func parseMessage(d *Decoder, r *Record, value Node) {
	m := d.Object(value)
	ParseMessage(d, r, m, m)
}

// ParseMessage parses a message whose content and calls are in an object of their own.
func ParseMessage(d *Decoder, r *Record, m, said Object) {
	role, content, calls := m.Field("role"), said.Field("content"), said.Field("tool_calls")
	r.Type = role.Text()
	r.UUID = m.First("id", "uuid").Text()
	r.Time = ParseTime(m.Field("timestamp"))
	r.Model = Reuse(&d.Last.Model, m.Field("model"))
	r.Unknown = r.Unknown || len(content.Raw) == 0 && len(calls.Raw) == 0
	v := Voice{Role: cmp.Or(roles[role.Text()], role.Text()), By: d.Author(), Message: r.UUID}
	switch v.Role {
	case "user", "assistant", "system", "developer":
		d.Content(r, content, v)
	case "tool":
		call := m.Field("tool_call_id").Text()
		failed := m.Field("is_error").IsTrue() || m.Field("exit_code").Integer() != 0
		r.AddFirst(Item{Kind: Result, Call: call, Tool: d.ToolOf(call), Message: v.Message, Failed: failed}, content)
	default: // parse the content even without a role
		r.Unknown = r.Unknown || v.Role != ""
		d.Content(r, content, v)
	}
	for call := range calls.Elements() {
		f := call.Field("function")
		d.Call(r, Item{Call: call.Field("id").Text(), Tool: f.Field("name").Text(), Message: v.Message}, f.Field("arguments"), call)
	}
}
