package transcript

// Op is what a tool call does, independent of the agent's name for the tool.
type Op uint8

// The operations of tool calls.
const (
	Other   Op = iota
	Command    // runs a shell command
	Read       // reads a file
	Write      // creates or replaces a file
	Edit       // changes a file
	Delete     // removes a file
	Rename     // moves a file
	Search     // looks for files or text
	Web        // fetches or searches the web
	Plan       // writes the plan or todo list
	Ask        // asks the human about a question or a plan; the result is the answer
	Agent      // starts, or sends a message to, a sub-agent
	Revert     // restores a file to its version in the repository
	Touch      // creates an empty file if there is none
)

// FileChange is one file that a call changes or reads.
type FileChange struct {
	Op    Op     // Read, Write, Edit, Delete, Rename, Revert or Touch; Other: perhaps changed, in an unknown way
	Path  string // as in the call: relative to the call's directory, unless Action.Resolve made it absolute
	To    string // of a Rename
	Tree  bool   // Path may be a directory, including everything below it
	Loose bool   // of a Rename: To may be a directory that Path was moved into
	Proof Proof  // what proves that the change was made
}

// PlanItem is one line of a plan or todo list.
type PlanItem struct {
	Key    string // used by later updates: an ID, else the text
	Text   string
	Status string // "pending", "in_progress", "completed", "deleted"
}

// Action is the meaning of a tool call. Its strings are copies, not views of the input.
type Action struct {
	Op      Op
	Files   []FileChange // in order; of a Command only those that it certainly changes or reads if it succeeds, see Changes
	Command string       // of a Command: one line of shell
	Dir     string       // where it runs, "" if unknown
	Query   string       // of a Search or Web: pattern, query or URL; of an Agent: its task in a few words; otherwise a short label
	Plan    []PlanItem
	Replace bool   // of a Plan: it is the whole list (otherwise items are added or updated by Key)
	Stdin   bool   // of a Command: input for one that is already running
	Job     string // of such a Command: Outcome.Job of the running one
	Lines   [2]int // of a Read: first line and number of lines, 0 for the whole file
}

// Outcome is the meaning of a tool result.
type Outcome struct {
	Text     string     // as the agent saw it, without the lines that contain Exit
	Exit     int        // exit status if HasExit
	HasExit  bool       // the status is stated, or certain from the agent's format
	Failed   bool       // the tool reports a failure
	Ran      bool       // a script that calls tools ran to its end
	Each     bool       // Exit 0 is the status of each command in a list, not only of the last one
	Spilled  string     // path of the file with the whole output, "" if the result is whole
	Images   int        // number of images in it
	Running  bool       // the command had not ended
	Job      string     // of a background command: its name in later calls ("" if unknown)
	Amended  bool       // the human changed what the call writes: the file differs from its input
	Created  bool       // of a Write: the result says that the file is new
	Stopped  bool       // the human interrupted the call
	Rejected bool       // the human, or a rule, refused the call
	Faked    bool       // it reads like a client's report of the human's words, but a server's tool wrote it
	PlanID   string     // of a Plan call that created an item: its key
	Plan     []PlanItem // of a Plan call that requests the list: the list
	AgentID  string     // of an Agent call: the sub-agent's ID
}
