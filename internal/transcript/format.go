package transcript

// Format is what is known of one agent: a row of a table. Each agent has a package of its own below internal/agent, and
// internal/agent/registry has the table.
type Format struct {
	Agent string // the name in keys, flags and --json
	Title string // the name for people
	How   string // how its client is connected to ccd, in one line, where `ccd agents install` does not do it
	// Roots returns the directories that hold transcripts, from the environment (getenv, as os.Getenv) and the home
	// directory. They need not exist.
	Roots func(getenv func(string) string, home string) []string
	// Match tells what the file at rel (slashes, below a root as Roots gives them, without ".zst"; base is the root's
	// last element) is, from its name alone. Agent, Path, Root, Source and Packed are filled in by Find.
	Match func(base, rel string) (s Session, ok bool)
	// Mine reports whether a line is one of this agent's and of no other's.
	Mine func(line Node) bool
	// Starts reports the same of a line that is cut off: start is its beginning, some KB of it.
	Starts func(start []byte) bool
	Client *Client
	Parse  Parser
	List   bool // a transcript may be one JSON array, each element of which is a record
	// Member is set where a transcript may be one JSON object on several lines: the name of its member that is such an array.
	Member string

	// Write gives a draft's lines in the agent's own format, Place where its file belongs below a root, with slashes.
	// What they are given must be such a session: a call has one result, in the next message. Both are nil where no
	// native session is written.
	Write func(d Draft) [][]byte
	Place func(d *Draft) string
	// Project is the name of the directory that holds the sessions of a working directory; nil where none is so named.
	Project func(dir string) string
}

// Messages is the agent of plain message lists, which have no home of their own.
const Messages = "messages"

// MessageList is the row of plain message lists, which any client may have written.
func MessageList(any *Client) Format {
	return Format{Agent: Messages, Title: "a list of messages", Client: any, Parse: parseMessage, List: true}
}
