package history

import (
	"cmp"
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
	"ccd/internal/words"
)

// ErrNotFound reports that nothing in the archive matches.
var ErrNotFound = errors.New("not found")

// AmbiguousError reports that several originals, files or sessions match.
type AmbiguousError struct {
	What     string      // the argument as given
	Why      string      // why several match; "" for a shared prefix
	Matches  []string    // one line each
	Sessions []Candidate // the matching sessions, if any
}

// Error returns one line without the matches, which the caller lists.
func (e *AmbiguousError) Error() string {
	if e.Why != "" {
		return fmt.Sprintf("find %s: %s", e.What, e.Why)
	}
	return fmt.Sprintf("find %s: ambiguous, %d matches", e.What, len(e.Matches))
}

// Candidate is a session that an argument may name.
type Candidate struct {
	transcript.Session
	Last time.Time // time of its newest record, zero if unknown
	Cwd  string    // its working directory, "" if unknown
	Made bool      // written by ccd itself, or no person spoke in it: never the latest, except for the agent in it
	N    int       // the caller's number for it
}

// Choice narrows which sessions an argument can name.
type Choice struct {
	Agent   string   // "" for every agent
	Dir     string   // base of relative paths, also of that in latest:DIR
	Callers []string // IDs of the sessions whose agents run this command; latest prefers them
}

// Resolve returns the one session that arg names: a session ID, a unique prefix of one, a transcript's path, `latest`
// or `latest:DIR`. It fails with ErrNotFound, or with *AmbiguousError if several match.
// An exact ID wins over a prefix, and a conversation over the attachments whose IDs begin with its own. If an ID is a path
// below the root, a prefix of its last element is enough; of any, so is its end.
func Resolve(arg string, all []Candidate, by Choice) (Candidate, error) {
	all = ofAgent(all, by.Agent)
	if dir, ok := LatestIn(arg); ok {
		if found := Latest(dir, all, by); len(found) > 0 {
			return found[0], nil
		}
		return Candidate{}, missing(arg)
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
	if found := begins(func(c Candidate) string { return path.Base(mark.Name(c.ID)) }); len(found) > 0 { // where the ID is a path
		return one(arg, found)
	}
	return one(arg, filter(all, func(c Candidate) bool {
		name := mark.Name(c.ID)
		return len(arg) >= leastEnd && c.Class != transcript.Attachment && strings.HasSuffix(name, arg)
	}))
}

// leastEnd is the fewest bytes that name a session as the end of its ID.
const leastEnd = 8

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

// byPath finds the sessions whose transcript is or was at a path. A compressed transcript is also found by its plain name, and
// the other way round.
func byPath(place string, all []Candidate, dir string) []Candidate {
	if !strings.ContainsAny(place, `/\.`) {
		return nil
	}
	if !filepath.IsAbs(place) {
		place = filepath.Join(dir, place)
	}
	plain := func(path string) string {
		path, _ = transcript.Unpacked(path)
		return path
	}
	place = plain(filepath.Clean(place))
	return filter(all, func(c Candidate) bool {
		return plain(c.Path) == place || plain(mark.Name(c.Path)) == place
	})
}

// LatestIn reports whether arg is `latest` or `latest:DIR`, and returns DIR.
func LatestIn(arg string) (dir string, ok bool) {
	dir, ok = strings.CutPrefix(arg, "latest")
	return strings.TrimPrefix(dir, ":"), ok && (dir == "" || dir[0] == ':')
}

// Latest returns the sessions that `latest` can mean, or `latest:DIR` if dir is given: main sessions that are not Made,
// newest first. The session whose agent runs this command comes before all others.
func Latest(dir string, all []Candidate, by Choice) []Candidate {
	in := func(string) bool { return true }
	if dir != "" {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(by.Dir, dir)
		}
		in = below(filepath.Clean(dir))
	}
	found := filter(ofAgent(all, by.Agent), func(c Candidate) bool {
		return c.Class == transcript.Main && (!c.Made || slices.Contains(by.Callers, c.ID)) && in(c.Cwd)
	})
	asks := func(c Candidate) int {
		if slices.Contains(by.Callers, c.ID) {
			return 0
		}
		return 1
	}
	order := func(a, b Candidate) int { return cmp.Or(asks(a)-asks(b), newestFirst(a, b)) }
	if !slices.IsSortedFunc(found, order) { // as a rule they are
		slices.SortStableFunc(found, order)
	}
	return found
}

// below returns a function that reports whether a place is a directory or below it, by the paths as they are written or by those without
// symbolic links.
func below(dir string) func(place string) bool {
	known := map[string]string{}
	real := func(p string) string {
		if _, ok := known[p]; !ok {
			known[p] = p
			if to, err := filepath.EvalSymlinks(p); err == nil {
				known[p] = to
			}
		}
		return known[p]
	}
	within := func(place, dir string) bool {
		return place == dir || strings.HasPrefix(place, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
	}
	return func(place string) bool {
		return place != "" && (within(place, dir) || within(real(place), real(dir)))
	}
}

func newestFirst(a, b Candidate) int {
	if c := b.Last.Compare(a.Last); c != 0 {
		return c
	}
	return strings.Compare(a.Agent+"\x00"+a.ID, b.Agent+"\x00"+b.ID)
}

func one(arg string, found []Candidate) (Candidate, error) {
	switch {
	case len(found) == 0:
		return Candidate{}, missing(arg)
	case !slices.ContainsFunc(found, func(c Candidate) bool { return c.N != found[0].N }):
		return found[0], nil
	}
	return Candidate{}, ambiguous(arg, found)
}

func missing(arg string) error { return fmt.Errorf("find session %s: %w", arg, ErrNotFound) }

func ambiguous(arg string, found []Candidate) error {
	slices.SortStableFunc(found, newestFirst)
	e := &AmbiguousError{What: "session " + arg, Sessions: found}
	for _, c := range found {
		line := c.Agent + "  " + c.ID
		if !c.Last.IsZero() {
			line += "  " + words.Minute(c.Last)
		}
		if c.Cwd != "" {
			line += "  " + c.Cwd
		}
		e.Matches = append(e.Matches, line)
	}
	return e
}
