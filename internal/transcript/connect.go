package transcript

import (
	"cmp"
	"path/filepath"
)

// Connect describes the client's settings files that connect it to ccd. Paths have slashes and are below Dir.
type Connect struct {
	Name string // on the command line: "claude"
	// Dir returns the directory of the client's settings, from the same arguments as Roots.
	Dir func(getenv func(string) string, home string) string

	Hooks  string  // JSON file with its hooks, {"hooks": {EVENT: [{"hooks": [{"command": ...}]}]}}; "" if not used
	Events []Event // that call ccd
	// Transcript is the path of a session's transcript below a root, ID for the session's, if events do not name it; "" if they do.
	Transcript string
	Rules      bool // Hooks also has permissions.allow, as in Claude Code's settings
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

// DirOf returns a function for the directory in an environment variable, or else usual below the home directory.
func DirOf(variable, usual string) func(func(string) string, string) string {
	return func(getenv func(string) string, home string) string {
		return cmp.Or(getenv(variable), filepath.Join(home, filepath.FromSlash(usual)))
	}
}

// DirIn returns a function for name below the directory in an environment variable, or else below the home directory.
func DirIn(variable, name string) func(func(string) string, string) string {
	return func(getenv func(string) string, home string) string {
		return filepath.Join(cmp.Or(getenv(variable), home), name)
	}
}
