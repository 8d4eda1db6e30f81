package transcript

// Format describes one agent. Each agent has its own package below internal/agent, and internal/agent/registry has the
// table.
type Format struct {
	Agent string // name in keys, flags and --json
	Title string // name for people
	// Paths identifies the configured paths by which its records are read; "" for an agent with a package. They affect
	// companions like options.
	Paths string
	How   string // how the client is connected to ccd, in one line, if `ccd agents install` does not do it
	// Connect says what `ccd agents install` writes; nil if it writes nothing.
	Connect *Connect
	// Roots returns the directories with transcripts, given the environment (as os.Getenv) and the home directory. They
	// need not exist.
	Roots func(getenv func(string) string, home string) []string
	// Match classifies the file at rel by its name (slashes, relative to a root from Roots, without ".zst" or ".zstd"; base is the
	// root's last element). Find fills in Agent, Path, Root, Source and Packed.
	Match func(base, rel string) (s Session, ok bool)
	// Recognizes reports whether a line, or a file that is one object, is this agent's and no other's. Of a long line
	// it gets the beginning, see CompleteObject.
	Recognizes func(line Node) bool
	Client     *Client
	Beside     []Index // files that say more of sessions than their records do
	Parse      Parser
	List       bool // a transcript may be one JSON array of records
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

// Owns reports whether a text begins with a record of this agent, which may be cut off.
func (f Format) Owns(text []byte) bool {
	whole := CompleteObject(text)
	return whole != nil && f.Recognizes(Node{Raw: whole})
}

// Messages is the agent of plain message lists.
const Messages = "messages"

// MessageList returns the Format of plain message lists, which any client may have written.
func MessageList(any *Client) Format {
	return Format{Agent: Messages, Title: "a list of messages", Client: any, Parse: parseMessage, List: true}
}
