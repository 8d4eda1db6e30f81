package transcript

import "time"

// Op is what a tool call does, whatever the agent calls the tool.
type Op uint8

// The operations.
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
	Ask        // puts a question or a plan to the human; its result is what the human answered
	Agent      // starts, or speaks to, a sub-agent
	Revert     // puts a file back to what its repository holds
	Touch      // makes an empty file where there is none
)

// FileChange is one file that a call touches.
type FileChange struct {
	Op    Op     // Read, Write, Edit, Delete, Rename, Revert or Touch; Other: changed perhaps, in ways that are not told
	Path  string // as the call names it: relative to where the call runs, unless Action.Resolve made it absolute
	To    string // of a Rename
	Tree  bool   // Path may be a directory: what lies below it is meant as well
	Loose bool   // of a Rename: To may be a directory that Path went into
	Proof Proof  // what proves that it was made
}

// PlanItem is one line of a plan or todo list.
type PlanItem struct {
	Key    string // what later updates name it by: an ID, else its text
	Text   string
	Status string // "pending", "in_progress", "completed", "deleted"
}

// Action is a tool call understood. Its strings are of their own, not views of the input.
type Action struct {
	Op      Op
	Files   []FileChange // in order; of a Command, those that it is certain to touch if it succeeds, see Changes
	Command string       // of a Command, as one line of shell
	Dir     string       // where it runs, "" where not told
	Query   string       // of a Search or Web: pattern, query or URL; of an Agent: its task in a few words; else a short label
	Plan    []PlanItem   // of a Plan
	Replace bool         // of a Plan: it is the whole list (else items are added or updated by Key)
	Stdin   bool         // of a Command: goes on with one already running
	Job     string       // of a Command that goes on: what Outcome.Job called the one it goes on with
	Lines   [2]int       // of a Read: first line and number of lines, 0 where the whole file
}

// Outcome is a tool result understood.
type Outcome struct {
	Text     string        // as the agent saw it, without the wrapping that repeats Exit and Duration
	Exit     int           // exit status, where HasExit
	HasExit  bool          // a status is told, or follows for certain from how the agent writes results
	Failed   bool          // the tool says that it failed
	Duration time.Duration // 0 where not told
	Spilled  string        // path of the file that holds the whole output, "" where the result is whole
	Images   int           // images that stand in it
	Running  bool          // the command had not ended
	Job      string        // of a command that goes on: what later calls name it by ("" where not told)
	Amended  bool          // the human changed what the call writes: its input is not what stands in the file
	Created  bool          // of a Write: the result says that the file is new
	Replaced bool          // of a Write: the result says that there was such a file before
	Rejected bool          // the human, or a rule, refused the call
	Claimed  bool          // it poses as the client's report of what the human said, and no client provides the tool
	PlanID   string        // of a Plan call that created an item: the key it got
	Plan     []PlanItem    // of a Plan call that asks for the list: what it then held
	AgentID  string        // of an Agent call: the sub-agent's ID
}
