package compactor

// kind is a row of the table.
type kind uint8

const (
	human kind = iota
	withdrawn
	refusal
	choice
	final
	said
	thought
	summed
	ruled
	noted
	stopped
	planned
	steps
	report
	gitRun
	check
	run
	look
	edit
	failedEdit
	read
	found
	fetched
	other
	editedFiles
	readFiles
)

// row says what the pieces of one kind of event are worth, and how its text is cut into them.
type row struct {
	name  string  // in --explain
	head  float64 // importance of the head alone; 0: the head only comes with a piece
	body  float64 // importance of a piece of the text
	fail  float64 // the same if the event failed
	minor float64 // of what matters less in it: options, removed lines, the end of a long command
	cut   func(string) []part
	prose bool // it is words: one line of it is printed in quotes behind its head
}

// table is all that ccd decides about what an agent is told: the rest is arithmetic (fill.go). Importance is that of the mission,
// 1 to 5; a name of a file is short and has one value, so its number is higher.
var table = [...]row{
	human:       {"human", 0, 5, 5, 5, sentences, true},
	withdrawn:   {"withdrawn", 0, 5, 5, 5, sentences, true},
	refusal:     {"refusal", 0, 5, 5, 5, sentences, true},
	choice:      {"choice", 5, 5, 5, 5, sentences, true},
	final:       {"last words", 0, 5, 5, 5, sentences, true},
	said:        {"words", 0, 3, 3, 3, sentences, true},
	thought:     {"thought", 0, 2, 2, 2, sentences, true},
	summed:      {"summary", 0, 2, 2, 2, sentences, true},
	ruled:       {"system", 0, 4, 4, 4, sentences, true},
	noted:       {"report", 0, 2, 2, 2, sentences, true},
	stopped:     {"stop", 2, 2, 2, 2, sentences, true},
	planned:     {"plan", 2, 2, 2, 2, sentences, true},
	steps:       {"steps", 0, 2, 2, 2, lines, false},
	report:      {"sub-agent", 0, 2, 2, 2, sentences, true},
	gitRun:      {"git", 4, 1, 1.6, .5, lines, false},
	check:       {"check", 4, 1, 1.6, .5, lines, false},
	run:         {"command", 4, 1, 1.6, .5, lines, false},
	look:        {"look-up", .5, .5, 1.6, .5, lines, false},
	edit:        {"edit", 1, 1, 1, .5, nil, false},
	failedEdit:  {"failed edit", 2, 1.6, 1.6, .5, lines, false},
	read:        {"read", .5, .5, .5, .5, pairs, false},
	found:       {"search", .5, .5, .5, .5, pairs, false},
	fetched:     {"web", .5, .5, .5, .5, sentences, false},
	other:       {"call", .5, .5, .5, .5, pairs, false},
	editedFiles: {"edited file", 0, 27, 27, 27, nil, false},
	readFiles:   {"read file", 0, 15, 15, 15, nil, false},
}
