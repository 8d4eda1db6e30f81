// Package scorecard counts which key facts of a transcript stand in a text that is to replace it, which can be had back
// through the IDs in that text, and which are lost.
//
// It owns what a key fact is and when one is visible (docs/SCORE.md). It grades companions, an agent's own summaries and
// dumb baselines by the same rule, and its rules are its own: nothing of the compactor is imported, so that no fault is
// made twice and agreed on. Its invariant: a grade is a function of the records, the text and what the IDs restore to.
// It keeps facts while it grades and gives out counts only. It knows nothing of files, the archive, and how a companion
// is made.
package scorecard

// Class is a kind of key fact. Its value is its name as tables and --json show it.
type Class string

// The classes of key facts, then those of traces: what stands for a thing that was replaced.
const (
	Asked       Class = "asked"       // what a person typed or answered
	Edited      Class = "edited"      // paths that were created or changed, and still stand
	Read        Class = "read"        // paths that were only read
	Deleted     Class = "deleted"     // paths that were deleted, or renamed away
	Commands    Class = "commands"    // distinct commands with the status they last ended with
	Errors      Class = "errors"      // distinct lines of failed results that report an error
	OpenErrors  Class = "open_errors" // commands that failed and did not succeed later
	Decisions   Class = "decisions"   // sentences that decide, conclude or reject
	Numbers     Class = "numbers"     // numbers with units
	Identifiers Class = "identifiers" // camelCase, PascalCase, snake_case, dotted.names, `code spans`
	URLs        Class = "urls"        // web addresses
	Hashes      Class = "hashes"      // hashes, UUIDs and versions
	Plan        Class = "plan"        // plan or todo items as last left
	Answer      Class = "answer"      // the agent's last words

	Constraints Class = "constraints" // sentences of a person that demand, forbid or correct
	Reports     Class = "reports"     // sub-agents' reports
	Images      Class = "images"      // images, by their own ID
	Contents    Class = "contents"    // long file contents: path and number of lines
	Hits        Class = "hits"        // long search results: the first hit
	Totals      Class = "totals"      // long outputs: the line that sums up
	Code        Class = "code"        // fenced code that the agent wrote
)

// Classes returns the classes of key facts, in the order in which tables show them.
func Classes() []Class {
	return []Class{
		Asked, Edited, Read, Deleted, Commands, Errors, OpenErrors, Decisions, Numbers, Identifiers, URLs, Hashes, Plan, Answer,
	}
}

// Traces returns the classes of traces. They are counted apart and are no part of a mean over key facts.
func Traces() []Class { return []Class{Constraints, Reports, Images, Contents, Hits, Totals, Code} }

// Count tells what became of the facts of one class, or of all: Facts = Visible + Recoverable + Lost.
type Count struct {
	Facts       int `json:"facts"`
	Visible     int `json:"visible"`
	Recoverable int `json:"recoverable"`
	Lost        int `json:"lost"`
	Strong      int `json:"strong"`         // facts that a person named, or that were named at least twice
	StrongSeen  int `json:"strong_visible"` // those of them that are visible
}

// Share is the visible part, 0..1; 1 where there are no facts.
func (c Count) Share() float64 { return share(c.Visible, c.Facts) }

func share(part, all int) float64 {
	if all == 0 {
		return 1
	}
	return float64(part) / float64(all)
}

func (c *Count) add(d Count) {
	c.Facts += d.Facts
	c.Visible += d.Visible
	c.Recoverable += d.Recoverable
	c.Lost += d.Lost
	c.Strong += d.Strong
	c.StrongSeen += d.StrongSeen
}

// Grade is what one text shows of the facts of a stretch.
type Grade struct {
	Chars   int             `json:"chars"`  // of the text, front matter left out
	Tokens  int             `json:"tokens"` // estimated: chars * 4 / 3
	Mean    float64         `json:"mean"`   // of the visible shares of the classes that have facts, 0..1
	Strong  float64         `json:"strong"` // the same over strong facts
	Trace   float64         `json:"trace"`  // the same over traces
	Must    bool            `json:"must"`   // messages, edited paths and open errors would fill at most half of the text
	All     Count           `json:"all"`    // key facts of all classes
	Classes map[Class]Count `json:"classes"`
	Traces  map[Class]Count `json:"traces"`
}

// means fills what follows from the classes.
func (g *Grade) means() {
	var shares, strong, traces []float64
	for _, class := range Classes() {
		c, ok := g.Classes[class]
		if !ok {
			continue
		}
		g.All.add(c)
		shares = append(shares, c.Share())
		if c.Strong > 0 {
			strong = append(strong, share(c.StrongSeen, c.Strong))
		}
	}
	for _, class := range Traces() {
		if c, ok := g.Traces[class]; ok {
			traces = append(traces, c.Share())
		}
	}
	g.Mean, g.Strong, g.Trace = mean(shares), mean(strong), mean(traces)
}

// mean is 1 where there is nothing to miss.
func mean(all []float64) float64 {
	if len(all) == 0 {
		return 1
	}
	sum := 0.0
	for _, x := range all {
		sum += x
	}
	return sum / float64(len(all))
}
