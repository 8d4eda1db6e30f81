package reader

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ccd/archive"
	"ccd/internal/lazy"
	"ccd/internal/mark"
	"ccd/internal/project"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// AmbiguousError reports that several originals, files or sessions match.
type AmbiguousError struct {
	What     string   // the argument as given
	Why      string   // why several match; "" for a shared prefix
	Matches  []string // one line each
	Sessions []*Entry // the matching sessions, if any
}

// Error returns one line without the matches, which the caller lists.
func (e *AmbiguousError) Error() string {
	if e.Why != "" {
		return fmt.Sprintf("find %s: %s", e.What, e.Why)
	}
	return fmt.Sprintf("find %s: ambiguous, %d matches", e.What, len(e.Matches))
}

// named is a session under one of its names.
type named struct {
	*Entry
	name string // as lists and --json show it; "" if only its path names it
	path string // "" if only its name names it
	head string // for shorten: as much of name as begins no other one
}

// names returns the sessions of an agent, "" for all, under each name. By the ID of a file all of its conversation is meant, and
// by its path the file.
func (l *Library) names(agent string) (all []named) {
	for _, e := range l.Sessions {
		if agent != "" && e.Agent != agent {
			continue
		}
		one := named{Entry: e, name: mark.Name(e.Name()), path: e.Path}
		if e.Thread != "" || e.newest != nil {
			all = append(all, named{Entry: e.Current(), name: mark.Name(e.ID)})
		}
		if e.newest != nil {
			one.name = ""
		}
		all = append(all, one)
	}
	return all
}

// Find returns the one session that a SESSION argument names: a session ID, a name from ccd label, a unique prefix of one of these, a
// transcript's path, `latest` or `latest:PROJECT`. It fails with archive.ErrNotFound, or with *AmbiguousError if several match.
func (l *Library) Find(arg, agent string) (*Entry, error) {
	return l.one(arg, l.resolve(arg, agent, naming))
}

// Named is Find of all agents' sessions, but a name from ccd label must be whole.
func (l *Library) Named(arg string) (*Entry, error) {
	return l.one(arg, l.resolve(arg, "", func(arg string) []func(named) bool {
		ways := naming(arg)
		return ways[:len(ways)-1]
	}))
}

func (l *Library) one(arg string, found []named) (*Entry, error) {
	switch {
	case len(found) == 0:
		return nil, l.Missing(l.notFound(arg))
	case slices.ContainsFunc(found, func(n named) bool { return n.Entry != found[0].Entry }):
		return nil, l.ambiguous(arg, found)
	}
	return found[0].Entry, nil
}

// resolve returns the sessions that an argument names in one of these ways, the first of them that names any. An exact ID or last
// element of one wins over a prefix, and a conversation over the attachments whose IDs begin with its own. If an ID is a path below the
// root, a prefix of its last element is enough. An ID wins over a name from ccd label.
func (l *Library) resolve(arg, agent string, ways func(arg string) []func(named) bool) []named {
	if dir, ok := LatestIn(arg); ok {
		for e := range l.Latest(dir, agent) {
			return []named{{Entry: e}}
		}
		return nil
	}
	all := l.names(agent)
	if found := filter(all, l.stood(arg)); len(found) > 0 || arg == "" {
		return found
	}
	if !utf8.ValidString(arg) {
		arg = mark.Name(arg)
	}
	for _, names := range ways(arg) {
		if found := filter(all, names); len(found) > 0 {
			return found
		}
	}
	return nil
}

// naming returns the ways in which an argument may name a session, the first that finds one counts.
func naming(arg string) []func(n named) bool {
	begins := func(name string) bool { return strings.HasPrefix(name, arg) }
	ways := []func(n named) bool{
		func(n named) bool { return path.Base(n.name) == arg },
		func(n named) bool { return begins(n.name) },
		func(n named) bool { return begins(path.Base(n.name)) || begins(n.own()) },
		func(n named) bool { return n.Kept.Labels.Name == arg },
		func(n named) bool { return begins(n.Kept.Labels.Name) },
	}
	for i, names := range ways {
		ways[i] = func(n named) bool { return n.Class != transcript.Attachment && n.name != "" && names(n) }
	}
	return append([]func(n named) bool{func(n named) bool { return n.name == arg }}, ways...)
}

func filter(all []named, keep func(named) bool) (found []named) {
	for _, n := range all {
		if keep(n) {
			found = append(found, n)
		}
	}
	return found
}

// stood reports whether a session's transcript is or was at a place. A compressed transcript is also found by its plain name, and
// the other way round.
func (l *Library) stood(place string) func(named) bool {
	if !strings.ContainsAny(place, `/\.`) {
		return func(named) bool { return false }
	}
	if !filepath.IsAbs(place) {
		place = filepath.Join(l.workingDir(), place)
	}
	plain := func(path string) string {
		path, _ = transcript.Unpacked(path)
		return path
	}
	place = plain(filepath.Clean(place))
	return func(n named) bool { return plain(n.path) == place || plain(mark.Name(n.path)) == place }
}

// LatestIn reports whether arg is `latest` or `latest:PROJECT`, and returns PROJECT.
func LatestIn(arg string) (dir string, ok bool) {
	dir, ok = strings.CutPrefix(arg, "latest")
	return strings.TrimPrefix(dir, ":"), ok && (dir == "" || dir[0] == ':')
}

// Latest yields the sessions that `latest` can mean, or `latest:PROJECT` if one is given, newest first: main ones in which a person
// spoke, and which ccd did not write. The session whose agent runs this command comes before all others.
func (l *Library) Latest(dir, agent string) iter.Seq[*Entry] {
	in := project.Named(dir, l.workingDir(), l.Home)
	var callers, all []*Entry
	for _, e := range l.Sessions {
		if e.Class != transcript.Main || agent != "" && e.Agent != agent || !in(e.Kept.Cwd) {
			continue
		}
		if slices.Contains(l.callers, e.Name()) {
			callers = append(callers, e)
		} else if !(e.Aside() || e.Copy() || e.Kept.UnknownFormat) {
			all = append(all, e)
		}
	}
	return slices.Values(append(callers, all...))
}

// Here returns the session of the current directory: that of the agent that runs this command, else the newest main one
// of the directory's git working tree (without git: of the directory and those below it), else of its repository; nil if there is none.
func (l *Library) Here(agent string) (here *Entry) {
	p := project.Of(l.workingDir(), l.Home)
	for e := range l.Latest("", agent) {
		switch {
		case slices.Contains(l.callers, e.Name()), p.InTree(e.Kept.Cwd):
			return e
		case here == nil && p.Has(e.Kept.Cwd):
			here = e
		}
	}
	return here
}

// notFound is the error for an argument that names no session, with what to do.
func (l *Library) notFound(arg string) error {
	err := fmt.Errorf("find session %s: %w", arg, archive.ErrNotFound)
	switch {
	case len(l.Damage) > 0: // Missing says what to do
		return err
	case !l.ForAgent() && !l.forgotten(arg).IsZero():
		return fmt.Errorf("%w: ccd archive forget removed it at %s", err, words.Local(l.forgotten(arg)))
	case l.Limited() && arg == "latest":
		return fmt.Errorf("%w%s", err, l.Scope())
	case l.Limited():
		return words.Hint(fmt.Errorf("%w%s", err, l.Scope()), Widen)
	case len(l.Sessions) == 0:
		return words.Hint(fmt.Errorf("%w: nothing is archived yet", err), "ccd run --once")
	}
	return words.Hint(err, "ccd ls --all")
}

// Forgotten returns the sessions that were removed for good, and when. That they cannot be read, who archives reports.
func (l *Library) Forgotten() map[transcript.Key]time.Time {
	all, _ := l.Archive.Forgotten()
	return all
}

// forgotten returns when a session whose ID begins with arg was forgotten, zero if none was.
func (l *Library) forgotten(arg string) (at time.Time) {
	for k, t := range l.Forgotten() {
		if arg != "" && strings.HasPrefix(mark.Name(k.ID), arg) {
			at = t
		}
	}
	return at
}

// ambiguous is the error for an argument that names several sessions, with what to add to it.
func (l *Library) ambiguous(arg string, found []named) error {
	err := &AmbiguousError{What: "session " + arg}
	agents := map[string]bool{}
	for _, n := range found {
		line := n.Agent + "  " + n.Name()
		if last := n.Last(); !last.IsZero() {
			line += "  " + words.Minute(last)
		}
		if n.Kept.Cwd != "" {
			line += "  " + n.Kept.Cwd
		}
		err.Matches, err.Sessions, agents[n.Agent] = append(err.Matches, line), append(err.Sessions, n.Entry), true
	}
	switch first := found[0]; {
	case len(l.Damage) > 0:
		return err
	case len(agents) == len(found):
		return words.Hint(err, "add --agent %s", first.Agent)
	default:
		return words.Hint(err, "use more of the ID, such as %s", l.Argument(first.Entry))
	}
}

// Argument is a session as a hint's command line names it: it must work when it is pasted. A name that two agents use needs its agent.
func (l *Library) Argument(e *Entry) string {
	agent := ""
	if slices.ContainsFunc(l.Sessions, func(other *Entry) bool { return other.Agent != e.Agent && other.Name() == e.Name() }) {
		agent = "--agent " + e.Agent + " "
	}
	return agent + words.Argument(e.Short())
}

// Short is as much of the session's name as begins no other name. Sessions of two agents may have one name.
func (e *Entry) Short() string { return cmp.Or(e.short, mark.Name(e.Name())) }

// ShortName is the short name of a session.
func (l *Library) ShortName(session string) string {
	if e, err := l.Find(session, ""); err == nil {
		return e.Short()
	}
	return session
}

// shorten finds the short names: the beginnings of the sessions' own IDs.
func (l *Library) shorten() {
	left := filter(l.names(""), func(n named) bool { return n.name != "" && n.Class != transcript.Attachment })
	beginnings(left)
	for size := shortest; len(left) > 0; size++ {
		first, several := map[string]string{}, map[string]bool{}
		for _, n := range left {
			part := n.part(size)
			several[part] = several[part] || first[part] != "" && first[part] != n.name
			if first[part] = n.name; n.name == mark.Name(n.Name()) {
				n.short = part
			}
		}
		left = filter(left, func(n named) bool { return several[n.part(size)] && n.part(size) != n.head })
	}
}

// beginnings sets the heads of sessions. In order, a name has most in common with the one before or behind it.
func beginnings(all []named) {
	var names []string
	for _, n := range all {
		names = append(names, n.name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for i, n := range all {
		at, _ := slices.BinarySearch(names, n.name)
		name, size := []rune(n.name), min(shortest, utf8.RuneCountInString(n.name))
		for _, other := range names[max(0, at-1):min(len(names), at+2)] {
			for other != n.name && size < len(name) && strings.HasPrefix(other, string(name[:size])) {
				size++
			}
		}
		all[i].head = string(name[:size])
	}
}

// shortest is the fewest characters of a longer ID that are shown.
const shortest = 8

// own returns the session's own ID, or its beginning, without the directories and the time that a client puts before it.
func (n named) own() string {
	name := path.Base(strings.TrimSuffix(n.name, ".json"))
	return name[len(timed().FindString(name)):]
}

// timed matches what precedes an ID in the name of a file that begins with the time.
var timed = lazy.Regexp(`^.*\d{4}-\d\d-\d\dT\d\d-\d\d(-\d\d)?(-\d{3}Z)?[-_]`)

// part returns so many characters of the session's own ID, and the beginning of the name where others have all of that.
func (n named) part(size int) string {
	own := []rune(n.own())
	if size > max(len(own), shortest) {
		return n.head
	}
	return strings.TrimRight(string(own[:min(size, len(own))]), "-")
}

// workingDir is the current directory, or the root of the file system if it was removed: no relative path leads anywhere
// from there.
func (l *Library) workingDir() string {
	dir, err := l.Env.WorkingDir()
	if err != nil {
		return string(os.PathSeparator)
	}
	return dir
}

// Missing adds the damage to an error that says that something is not there: it may be there.
func (l *Library) Missing(err error) error {
	if len(l.Damage) == 0 || !errors.Is(err, archive.ErrNotFound) {
		return err
	}
	return words.Hint(fmt.Errorf("%w, but not all of the archive could be read: %w", err, l.Damage[0]), "ccd archive verify")
}
