// Package scorecard counts which key facts of a transcript a text tells that is to replace it, which can be had back
// through the IDs in that text, and which are lost.
//
// It owns what a key fact is and when one is visible (docs/SCORE.md). It grades companions, what hooks add and an agent's
// own summaries by the same rule, and its rules are its own: nothing of the compactor is imported, so that no fault is
// made twice and agreed on. It judges what is said, in sentences and lines; a word in a list counts nothing. Its
// invariant: a grade is a function of the records, the text and what the IDs restore to. It keeps facts while it grades
// and gives out counts only. It knows nothing of files, the archive, and how a companion is made.
package scorecard

import "slices"

// Class is a kind of key fact. Its value is its name as tables and --json show it.
type Class string

// The classes of key facts, then those of traces: what stands for a thing that was replaced.
const (
	Asked       Class = "asked"       // what a person typed
	Answers     Class = "answers"     // sentences of the agent's last words in each turn
	Questions   Class = "questions"   // questions and plans put to the person, with what was answered
	Refusals    Class = "refusals"    // calls that the person refused, with the reason
	Decisions   Class = "decisions"   // sentences of the agent between its calls
	Reports     Class = "reports"     // sentences of sub-agents' reports
	Edited      Class = "edited"      // paths that were created or changed, and still stand
	Deleted     Class = "deleted"     // paths that were deleted, or renamed away
	Commands    Class = "commands"    // distinct commands with the status they last ended with
	Outcomes    Class = "outcomes"    // commands with the line that tells what came out
	Errors      Class = "errors"      // lines of failed results that say why
	OpenErrors  Class = "open_errors" // commands that failed and did not succeed later
	Git         Class = "git"         // branch, last commit, whether it was pushed, stash, changes that are not committed
	Numbers     Class = "numbers"     // numbers, in what they were said in
	Identifiers Class = "identifiers" // camelCase, PascalCase, snake_case, dotted.names, `code spans`, likewise
	URLs        Class = "urls"        // web addresses, likewise
	Hashes      Class = "hashes"      // hashes, UUIDs and versions, likewise
	Plan        Class = "plan"        // plan or todo items as last left

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

// Traces returns the classes of traces. They are counted apart and are no part of a mean over key facts.
func Traces() []Class { return []Class{Images, Contents, Hits, Code} }

// Count tells what became of the facts of one class, or of all: Facts = Visible + Recoverable + Lost.
type Count struct {
	Facts       int     `json:"facts"`
	Visible     int     `json:"visible"`
	Recoverable int     `json:"recoverable"`
	Lost        int     `json:"lost"`
	Weight      float64 `json:"weight"`         // of all facts
	Shown       float64 `json:"weight_visible"` // of the visible ones
}

// Share is the visible part by weight, 0..1; 1 where there are no facts.
func (c Count) Share() float64 {
	if c.Weight == 0 {
		return 1
	}
	return c.Shown / c.Weight
}

// Add adds another count.
func (c *Count) Add(d Count) {
	c.Facts += d.Facts
	c.Visible += d.Visible
	c.Recoverable += d.Recoverable
	c.Lost += d.Lost
	c.Weight += d.Weight
	c.Shown += d.Shown
}

// Grade is what one text shows of the facts of a stretch.
type Grade struct {
	Chars   int             `json:"chars"`  // of the text, front matter left out
	Tokens  int             `json:"tokens"` // estimated: chars * 4 / 3
	Mean    float64         `json:"mean"`   // of the visible shares of the classes that have facts, 0..1
	Must    bool            `json:"must"`   // messages, edited paths and open problems would fill at most half of the text
	All     Count           `json:"all"`    // key facts of all classes
	Classes map[Class]Count `json:"classes"`
	Traces  map[Class]Count `json:"traces"`
}

// means fills what follows from the classes.
func (g *Grade) means() {
	var shares []float64
	for _, class := range Classes() {
		if c, ok := g.Classes[class]; ok {
			g.All.Add(c)
			shares = append(shares, c.Share())
		}
	}
	g.Mean = 1 // where there is nothing to miss
	if len(shares) > 0 {
		g.Mean = spread(shares).Mean
	}
}

// count returns the count of a class, of key facts or of traces.
func (g *Grade) Count(class Class) Count {
	if slices.Contains(Traces(), class) {
		return g.Traces[class]
	}
	return g.Classes[class]
}
