package history

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// ErrNotFound tells that nothing archived is what was asked for.
var ErrNotFound = errors.New("not found")

// AmbiguousError tells that more than one original or session is meant.
type AmbiguousError struct {
	What     string      // what was asked for, as it was given
	Why      string      // "" for a prefix that several share
	Matches  []string    // one line each, for people
	Sessions []Candidate // the matches, where sessions are meant
}

// Error returns one line; the matches are for the caller to list.
func (e *AmbiguousError) Error() string {
	why := e.Why
	if why == "" {
		why = "several match"
	}
	return fmt.Sprintf("resolve %s: %s (%d matches)", e.What, why, len(e.Matches))
}

// Candidate is a session that an argument may name.
type Candidate struct {
	transcript.Session
	Last time.Time // of its newest record; zero where it is not known
	Cwd  string    // where it works, "" where it is not known
	Made bool      // written by ccd itself: never the latest
}

// Choice narrows what an argument may name.
type Choice struct {
	Agent   string    // "" for every agent
	Dir     string    // what relative paths, also that of latest:DIR, are relative to
	Now     time.Time // what "live" is measured against
	Callers []string  // IDs of the sessions that ask, where their agents tell; of several live ones, latest is theirs
}

// live is how recently a session must have grown to be one that a person may mean by "the latest".
const live = 10 * time.Minute

// Resolve returns the one session that arg names: a session ID, a unique prefix of one, a transcript's path, `latest`
// or `latest:DIR`. It fails with ErrNotFound, or with *AmbiguousError where several are meant.
// An exact ID wins over a prefix, conversations over the attachments whose IDs begin with theirs. Of an ID that is a
// path below the root, the last element's prefix will do.
func Resolve(arg string, all []Candidate, by Choice) (Candidate, error) {
	all = ofAgent(all, by.Agent)
	if dir, ok := strings.CutPrefix(arg, "latest"); ok && (dir == "" || dir[0] == ':') {
		return latest(arg, strings.TrimPrefix(dir, ":"), all, by)
	}
	if found := byPath(arg, all, by.Dir); len(found) > 0 {
		return one(arg, found)
	}
	if !utf8.ValidString(arg) {
		arg = mark.Name(arg) // as lists and --json show it
	}
	if found := filter(all, func(c Candidate) bool { return mark.Name(c.ID) == arg }); len(found) > 0 {
		return one(arg, found)
	}
	begins := func(name func(Candidate) string) []Candidate {
		return filter(all, func(c Candidate) bool {
			return arg != "" && c.Class != transcript.Attachment && strings.HasPrefix(name(c), arg)
		})
	}
	if found := begins(func(c Candidate) string { return mark.Name(c.ID) }); len(found) > 0 {
		return one(arg, found)
	}
	return one(arg, begins(func(c Candidate) string { return path.Base(mark.Name(c.ID)) })) // where the ID is a path
}

func ofAgent(all []Candidate, agent string) []Candidate {
	if agent == "" {
		return all
	}
	return filter(all, func(c Candidate) bool { return c.Agent == agent })
}

func filter(all []Candidate, keep func(Candidate) bool) []Candidate {
	var found []Candidate
	for _, c := range all {
		if keep(c) {
			found = append(found, c)
		}
	}
	return found
}

// byPath finds the sessions whose transcript stands, or stood, at a place. A packed transcript is also known by its plain
// name, and the other way round.
func byPath(place string, all []Candidate, dir string) []Candidate {
	if !strings.ContainsAny(place, `/\.`) {
		return nil
	}
	if !filepath.IsAbs(place) {
		place = filepath.Join(dir, place)
	}
	plain := strings.TrimSuffix(filepath.Clean(place), ".zst")
	return filter(all, func(c Candidate) bool {
		return strings.TrimSuffix(c.Path, ".zst") == plain || strings.TrimSuffix(mark.Name(c.Path), ".zst") == plain
	})
}

// latest finds the main session with the newest record, of one project if dir is given. Two that are both live cannot be told
// apart by time: a person may mean either, an agent means its own.
func latest(arg, dir string, all []Candidate, by Choice) (Candidate, error) {
	if dir != "" && !filepath.IsAbs(dir) {
		dir = filepath.Join(by.Dir, dir)
	}
	found := filter(all, func(c Candidate) bool {
		return c.Class == transcript.Main && !c.Made && (dir == "" || below(c.Cwd, filepath.Clean(dir)))
	})
	slices.SortStableFunc(found, newestFirst)
	if len(found) > 1 && by.Now.Sub(found[1].Last) < live {
		running := filter(found, func(c Candidate) bool { return by.Now.Sub(c.Last) < live })
		if own := filter(running, func(c Candidate) bool { return slices.Contains(by.Callers, c.ID) }); len(own) == 1 {
			return own[0], nil
		}
		return Candidate{}, ambiguous(arg, "more than one session is live", running)
	}
	if len(found) == 0 {
		return Candidate{}, missing(arg)
	}
	return found[0], nil
}

func below(place, dir string) bool {
	return place == dir || strings.HasPrefix(place, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

func newestFirst(a, b Candidate) int {
	if c := b.Last.Compare(a.Last); c != 0 {
		return c
	}
	return strings.Compare(a.Agent+"\x00"+a.ID, b.Agent+"\x00"+b.ID)
}

func one(arg string, found []Candidate) (Candidate, error) {
	switch len(found) {
	case 0:
		return Candidate{}, missing(arg)
	case 1:
		return found[0], nil
	}
	return Candidate{}, ambiguous(arg, "", found)
}

func missing(arg string) error { return fmt.Errorf("resolve session %s: %w", arg, ErrNotFound) }

func ambiguous(arg, why string, found []Candidate) error {
	slices.SortStableFunc(found, newestFirst)
	e := &AmbiguousError{What: "session " + arg, Why: why, Sessions: found}
	for _, c := range found {
		line := c.Agent + "  " + c.ID
		if !c.Last.IsZero() {
			line += "  " + c.Last.UTC().Format(time.RFC3339)
		}
		if c.Cwd != "" {
			line += "  " + c.Cwd
		}
		e.Matches = append(e.Matches, line)
	}
	return e
}
