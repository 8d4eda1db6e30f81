package reader

import (
	"ccd/internal/ownfile"
	"ccd/internal/transcript"
)

// maxBeside is how much of a file beside transcripts is read, in bytes.
const maxBeside = 8 << 20

// addFacts adds to the sessions what files beside their transcripts say and their records do not. What cannot be read is left out.
func (l *Library) addFacts() {
	if l.Machine != "" {
		return
	}
	read := map[string]map[string]transcript.Facts{}
	for _, e := range l.Sessions {
		if e.Path == "" || !e.Conversation() {
			continue
		}
		row, _ := l.Agents.Lookup(e.Agent)
		for _, index := range row.Beside {
			path, name := index.Of(e.Session.Session, e.Kept.Team)
			if _, known := read[path]; path != "" && !known {
				read[path] = nil
				if text, err := ownfile.Read(path, maxBeside); err == nil {
					read[path] = index.Read(text)
				}
			}
			e.know(read[path][name])
		}
	}
}

// know takes what the records of a session do not tell.
func (e *Entry) know(f transcript.Facts) {
	if e.Kept.Title == "" {
		e.Kept.Title = f.Title
	}
	if e.Kept.Cwd == "" {
		e.Kept.Cwd, e.Kept.Start = f.Cwd, f.Cwd
	}
	if e.Parent == "" && f.Parent != e.ID {
		e.setParent(f.Parent)
	}
}
