package reader

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"ccd/internal/lazy"
	"ccd/internal/transcript"
)

// conflicting matches what programs that synchronize directories add to the name of a copy.
var conflicting = lazy.Regexp(`(?i)[ ._-]+(\(.*conflict|(sync-)?conflict|\(?copy\b|\(\d+\)$)`)

// file returns the session's ID without directories and extension.
func (e *Entry) file() string { return strings.TrimSuffix(path.Base(e.ID), ".json") }

// copied returns the name of which a session's is that of a copy; ok is false if it is none.
func (e *Entry) copied() (of string, ok bool) {
	name := e.file()
	at := conflicting().FindStringIndex(name)
	if at == nil {
		return name, false
	}
	return name[:at[0]], true
}

// relate marks copies of sessions: those that a program made which synchronizes directories, and forks that do not say so, which have
// the beginning of another session. A copy that says nothing newer is a duplicate.
func (l *Library) relate() {
	alike, named := map[transcript.Key][]*Entry{}, map[transcript.Key]*Entry{} // by their beginning, by their name
	for _, e := range l.Sessions {
		if e.Class != transcript.Main || e.Kept.Resumed.Records > 0 {
			continue
		}
		if e.Kept.Beginning != "" {
			key := transcript.Key{Agent: e.Agent, ID: e.Kept.Beginning}
			alike[key] = append(alike[key], e)
		}
		named[transcript.Key{Agent: e.Agent, ID: e.file()}] = e
	}
	for _, all := range alike {
		original := slices.MinFunc(all, func(a, b *Entry) int {
			return cmp.Or(a.distance()-b.distance(), a.Last().Compare(b.Last()), cmp.Compare(a.ID, b.ID))
		})
		for _, e := range all {
			if e != original {
				e.repeats(original)
			}
		}
	}
	for _, e := range named { // no record of theirs has a time
		of, ok := e.copied()
		if original := named[transcript.Key{Agent: e.Agent, ID: strings.TrimSpace(of)}]; ok && original != nil {
			e.repeats(original)
		}
	}
}

// distance is 0 for a session that may be the original of others, more for a fork, and most for a copy.
func (e *Entry) distance() (n int) {
	if _, copied := e.copied(); copied {
		n = 2
	}
	if e.Kept.Origin != "" {
		n++
	}
	return n
}

// repeats makes the session a copy of another one.
func (e *Entry) repeats(original *Entry) {
	if e.Kept.Origin == "" {
		e.Kept.Origin = original.Name()
	}
	_, copied := e.copied()
	e.Duplicate = copied || !e.Last().After(original.Last())
}
