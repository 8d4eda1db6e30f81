// Package scorecard grades a text that replaces a transcript: which of the transcript's key facts the text shows, which
// can be restored through the IDs in it, and which are lost.
//
// It defines what a key fact is and when a text shows it (docs/SCORE.md). It grades companions, the text that hooks add
// and an agent's own summaries by the same rules. The rules share no code with the compactor (it imports nothing of it
// but the lexicon), so that an error in one cannot hide an error in the other. It judges sentences and lines; a word in
// a list does not count. A grade depends only on the records, the text and what the IDs restore to. The package keeps
// facts while it grades, but returns only counts. It knows nothing of files, the archive, and how a companion is made.
package scorecard

import "slices"

// Class is a kind of key fact. Its value is the name in tables and --json.
type Class string

// The classes of key facts, then those of traces: what replaces the long parts of a transcript.
const (
	Asked       Class = "asked"       // what a person typed
	Answers     Class = "answers"     // sentences of the agent's last message in each turn
	Questions   Class = "questions"   // questions and plans shown to the person, with the answer
	Refusals    Class = "refusals"    // calls that the person refused, with the reason
	Decisions   Class = "decisions"   // sentences of the agent between its calls
	Reports     Class = "reports"     // sentences of sub-agents' reports
	Edited      Class = "edited"      // paths that were created or changed, and still exist
	Deleted     Class = "deleted"     // paths that were deleted, or renamed away
	Commands    Class = "commands"    // distinct commands with their last exit status
	Outcomes    Class = "outcomes"    // commands with the line of the output that shows the result
	Errors      Class = "errors"      // lines of failed results that say why
	OpenErrors  Class = "open_errors" // commands that failed and did not succeed later
	Git         Class = "git"         // branch, last commit, whether it was pushed, stash, uncommitted changes
	Numbers     Class = "numbers"     // numbers, with the statement around them
	Identifiers Class = "identifiers" // camelCase, PascalCase, snake_case, dotted.names, `code spans`, with the statement around them
	URLs        Class = "urls"        // web addresses, with the statement around them
	Hashes      Class = "hashes"      // hashes, UUIDs and versions, with the statement around them
	Plan        Class = "plan"        // plan or todo items in their last state

	Images   Class = "images"   // images, by their own ID
	Contents Class = "contents" // long file contents: path and number of lines
	Hits     Class = "hits"     // long search results: the first line
	Code     Class = "code"     // fenced code that the agent wrote
)

// Classes returns the classes of key facts, in the order in which tables show them.
func Classes() []Class {
	return []Class{
		Asked, Answers, Questions, Refusals, Decisions, Reports, Edited, Deleted, Commands, Outcomes, Errors, OpenErrors, Git,
		Numbers, Identifiers, URLs, Hashes, Plan,
	}
}

// Traces returns the classes of traces. They are counted separately and are not part of the mean over key facts.
func Traces() []Class { return []Class{Images, Contents, Hits, Code} }

// Count counts the facts of one class, or of all classes: Facts = Visible + Recoverable + Lost.
type Count struct {
	Facts       int     `json:"facts"`
	Visible     int     `json:"visible"`
	Recoverable int     `json:"recoverable"`
	Lost        int     `json:"lost"`
	Weight      float64 `json:"weight"`         // of all facts
	Shown       float64 `json:"weight_visible"` // of the visible ones
}

// Share returns the visible part by weight, 0..1; 1 if there are no facts.
func (c Count) Share() float64 {
	if c.Weight == 0 {
		return 1
	}
	return c.Shown / c.Weight
}

// Add adds another count to c.
func (c *Count) Add(d Count) {
	c.Facts += d.Facts
	c.Visible += d.Visible
	c.Recoverable += d.Recoverable
	c.Lost += d.Lost
	c.Weight += d.Weight
	c.Shown += d.Shown
}

// Grade is the result for one text: what it shows of the facts of a stretch.
type Grade struct {
	Chars   int             `json:"chars"`  // of the text, front matter left out
	Tokens  int             `json:"tokens"` // estimated: chars * 4 / 3
	Mean    float64         `json:"mean"`   // of the visible shares of the classes that have facts, 0..1
	All     Count           `json:"all"`    // key facts of all classes
	Classes map[Class]Count `json:"classes"`
	Traces  map[Class]Count `json:"traces"`
}

// means sets All and Mean from the classes.
func (g *Grade) means() {
	var shares []float64
	for _, class := range Classes() {
		if c, ok := g.Classes[class]; ok {
			g.All.Add(c)
			shares = append(shares, c.Share())
		}
	}
	g.Mean = 1 // if there are no facts
	if len(shares) > 0 {
		g.Mean = spread(shares).Mean
	}
}

// Count returns the count of a class, of key facts or of traces.
func (g *Grade) Count(class Class) Count {
	if slices.Contains(Traces(), class) {
		return g.Traces[class]
	}
	return g.Classes[class]
}
