package transcript

// Format is what is known of one agent: a row of a table.
type Format struct {
	Agent string
	// Roots returns the directories that hold transcripts, from the environment (getenv, as os.Getenv) and the home
	// directory. They need not exist.
	Roots func(getenv func(string) string, home string) []string

	// match tells what the file at rel (slashes, below a root as Roots gives them, without ".zst"; base is the root's
	// last element) is, from its name alone. Agent, Path, Root, Source and Packed are filled in by Find.
	match  func(base, rel string) (s Session, ok bool)
	client *client
	parse  parser
	write  func(d Draft) [][]byte
	place  func(d *Draft) string
}

// Write gives a draft's lines in the agent's own format, and where its file belongs below a root, with slashes. What it
// is given must be such a session: a call has one result, in the next message.
func (f Format) Write(d Draft) (lines [][]byte, place string) { return f.write(d), f.place(&d) }

// Messages is the agent of plain message lists, which have no home of their own.
const Messages = "messages"

// Formats returns what is known of each agent, in a fixed order.
func Formats() []Format {
	return []Format{
		{Agent: "claude-code", Roots: claudeRoots, match: claudeMatch, client: &claudeClient, parse: parseClaude, write: writeClaude, place: claudePlace},
		{Agent: "codex", Roots: codexRoots, match: codexMatch, client: &codexClient, parse: parseCodex, write: writeCodex, place: codexPlace},
	}
}

// Lookup returns the row of the agent.
func Lookup(agent string) (Format, bool) {
	for _, f := range Formats() {
		if f.Agent == agent {
			return f, true
		}
	}
	return Format{}, false
}
