package transcript

// Format is what is known of one agent: a row of a table.
type Format struct {
	Agent string
	// Roots returns the directories that hold transcripts, from the environment (getenv, as os.Getenv) and the home
	// directory. They need not exist.
	Roots func(getenv func(string) string, home string) []string
	// Match tells what the file at rel (slashes, below a root as Roots gives them; base is the root's last element)
	// is, from its name alone. ok is false for files that are nobody's. Agent, Path and Root are filled in by Find.
	Match func(base, rel string) (s Session, ok bool)
	// decode understands one line (or, for a JSON array of messages, one element). It fills everything of r but
	// N, Span, Raw and Hash, which are set. Item spans are absolute: base is the offset of line[0].
	decode func(r *Record, line []byte, base int64)
}
