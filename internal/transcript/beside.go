package transcript

// Index is a file that a client keeps beside its transcripts and that says of sessions what their records do not.
type Index struct {
	// Of returns the file's path, and by what name it has a session; team is the one that the session's records name. The path is
	// "" if there is no such file for it.
	Of func(s Session, team string) (path, name string)
	// Read returns what the file's text says, by name.
	Read func(text []byte) map[string]Facts
}

// Facts is what a file beside transcripts says of a session.
type Facts struct {
	Title  string
	Cwd    string // its working directory
	Parent string // ID of the session that started it
}
