package history

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"ccd/internal/transcript"
)

// Source is one generation of a session.
type Source struct {
	transcript.Session
	Generation int
}

// Wanted describes the file that a person asks for.
type Wanted struct {
	Path string    // absolute, relative, or the last elements of a path
	Dir  string    // absolute; a relative Path is resolved against it first, then against the session's working directory
	At   time.Time // ignore later records; zero for none
}

// Version is the content of a file as an agent last read or wrote it.
type Version struct {
	Path   string // as resolved
	Text   string
	Source Source    // the session of the read or change
	Record int       // the record of its result
	Time   time.Time // of that record, zero if it has none
	How    string    // "read", "written", "edited" or "renamed"
	Gone   *Event    // set if the file was deleted or renamed since
	Doubt  *Event    // set if a later command may have changed it
}

// Event is a change of a file in a record.
type Event struct {
	What    string // "deleted", "renamed to PATH", "put back", "changed", in words for people
	Session string
	Record  int
	Time    time.Time
}

// File returns the wanted file from the first family (a session with its sub-agents) that touched exactly that path. If none
// did, it takes the first family with that path below the session's directory, else the first with a path that ends with it.
// It fails with ErrNotFound, with *AmbiguousError if several paths of one family end with it, and with *UnknownError if part of
// the content at that time is unknown. progress, which may be nil, is called with the number of families read.
func File(ctx context.Context, a Archive, families [][]Source, w Wanted, progress func(done int)) (*Version, error) {
	var found *touchedFiles
	for i, family := range families {
		t, err := touched(ctx, a, family, w)
		if err != nil {
			return nil, err
		}
		if progress != nil {
			progress(i + 1)
		}
		if found == nil || t.rank < found.rank {
			found = t
		}
		if found.rank == rankExact {
			break
		}
	}
	if found != nil {
		found.paths = newest(found.paths, found.moves)
	}
	switch {
	case found == nil || len(found.paths) == 0:
		return nil, fmt.Errorf("find file %s: %w: no archived session touched it", w.Path, ErrNotFound)
	case len(found.paths) > 1:
		return nil, &AmbiguousError{What: "file " + w.Path, Why: "several paths match", Matches: found.paths}
	}
	return replayed(ctx, a, found, w.At)
}

// How well a path matches the wanted one, best first.
const (
	rankExact  = iota // the same path, resolved against the person's directory
	rankInside        // the same path, resolved against the session's directory
	rankEnd           // ends with the wanted path
	rankNone
)

// maxPaths is how many paths are listed if several match.
const maxPaths = 50

// touchedFiles collects the files of a family that match.
type touchedFiles struct {
	family []Source
	rank   int
	paths  []string
	moves  []transcript.FileChange // all renames, in order
}

// maxMoves is how many renames of a family are kept, maxFollowed how many are followed file by file.
const (
	maxMoves    = 1 << 14
	maxFollowed = 256
)

// touched finds the files of a family that match. If none does and something was renamed, it reads the family a second time,
// because a file may match only under the name that the rename of a directory gave it.
func touched(ctx context.Context, a Archive, family []Source, w Wanted) (*touchedFiles, error) {
	t := &touchedFiles{family: family, rank: rankNone}
	if err := t.look(ctx, a, w, false); err != nil || len(t.paths) > 0 || len(t.moves) == 0 || len(t.moves) > maxFollowed {
		return t, err
	}
	return t, t.look(ctx, a, w, true)
}

func (t *touchedFiles) look(ctx context.Context, a Archive, w Wanted, again bool) error {
	moved := 0
	for r, err := range merged(ctx, a, t.family) {
		if err != nil {
			return err
		}
		if after(r.Time, w.At) {
			continue
		}
		for i := range r.Items {
			switch it := &r.Items[i]; {
			case it.Kind != transcript.Call:
			case again:
				moved += t.follow(it, r.cwd, w, t.moves[moved:])
			default:
				t.call(it, r.cwd, w)
			}
		}
	}
	return nil
}

// follow matches the files of a call under the names that later renames of directories gave them. It returns the number of
// renames in the call itself.
func (t *touchedFiles) follow(it *transcript.Item, cwd string, w Wanted, moves []transcript.FileChange) (moved int) {
	a := it.Understand()
	a.Resolve(cwd)
	for _, f := range a.Files {
		p := f.Path
		for _, m := range moves {
			if rest, ok := transcript.Below(p, m.Path); ok && m.Tree {
				p = transcript.Join(m.To, rest)
				t.path(p, cwd, w)
			}
		}
		if f.Op == transcript.Rename && f.To != "" {
			moved++
		}
	}
	return moved
}

// after reports whether a record is later than the requested time.
func after(t, at time.Time) bool { return !at.IsZero() && !t.IsZero() && t.After(at) }

func (t *touchedFiles) call(it *transcript.Item, cwd string, w Wanted) {
	a := it.Understand()
	a.Resolve(cwd)
	for _, f := range a.Files {
		if f.Op == transcript.Other {
			continue
		}
		t.path(f.Path, cwd, w)
		if f.Op != transcript.Rename || f.To == "" {
			continue
		}
		if len(t.moves) < maxMoves {
			t.moves = append(t.moves, f)
		}
		for _, to := range destinations(f) {
			t.path(to, cwd, w)
		}
	}
}

// path records a path that matches at least as well as those before it.
func (t *touchedFiles) path(p, cwd string, w Wanted) {
	rank := rankOf(p, cwd, w)
	if rank == rankNone || rank > t.rank || holds(t.paths, p) {
		return
	}
	if rank < t.rank {
		t.rank, t.paths = rank, nil
	}
	if len(t.paths) < maxPaths {
		t.paths = append(t.paths, strings.Clone(p))
	}
}

// holds reports whether a path is among others.
func holds(paths []string, p string) bool {
	return slices.ContainsFunc(paths, func(one string) bool { return transcript.SamePath(one, p) })
}

func rankOf(p, cwd string, w Wanted) int {
	switch {
	case p == w.Path, transcript.SamePath(p, transcript.Join(w.Dir, w.Path)):
		return rankExact
	case cwd != "" && transcript.SamePath(p, transcript.Join(cwd, w.Path)):
		return rankInside
	case transcript.EndsWith(p, w.Path):
		return rankEnd
	}
	return rankNone
}

// destinations returns the possible new names of a renamed file: two if the target may be a directory.
func destinations(f transcript.FileChange) []string {
	if !f.Tree || (!f.Loose && strings.Contains(transcript.Base(f.To), ".")) {
		return []string{f.To}
	}
	return []string{f.To, transcript.Join(f.To, transcript.Base(f.Path))}
}

// newest drops paths that are former names of others.
func newest(paths []string, moves []transcript.FileChange) []string {
	old := map[string]bool{}
	for _, p := range paths {
		for _, name := range ancestors(p, moves)[1:] {
			old[transcript.PathKey(name)] = true
		}
	}
	if left := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return old[transcript.PathKey(p)] }); len(left) > 0 {
		return left
	}
	return paths
}

// sourced is a record with the session that it is from.
type sourced struct {
	*transcript.Record
	from int       // index of its source
	when time.Time // its time, or that of the records before it
	cwd  string    // its session's working directory
}

// merged yields the records of several sessions ordered by time, without reordering those of one session. A record is valid
// until the next one.
func merged(ctx context.Context, a Archive, family []Source) iter.Seq2[sourced, error] {
	return func(yield func(sourced, error) bool) {
		heads := make([]*stream, 0, len(family))
		defer func() {
			for _, h := range heads {
				h.stop()
			}
		}()
		for i, s := range family {
			h := &stream{sourced: sourced{from: i}}
			h.next, h.stop = iter.Pull2(Records(ctx, a, s.Session, s.Generation))
			heads = append(heads, h)
			h.step()
		}
		for {
			var first *stream
			for _, h := range heads {
				if h.ok && (first == nil || h.when.Before(first.when)) {
					first = h
				}
			}
			if first == nil {
				return
			}
			if !yield(first.sourced, first.err) || first.err != nil {
				return
			}
			first.step()
		}
	}
}

// stream reads one session.
type stream struct {
	sourced
	ok   bool
	err  error
	next func() (*transcript.Record, error, bool)
	stop func()
}

func (s *stream) step() {
	s.Record, s.err, s.ok = s.next()
	if !s.ok || s.err != nil {
		return
	}
	if s.Time.After(s.when) {
		s.when = s.Time
	}
	if s.Cwd != "" && s.Cwd != s.cwd {
		s.cwd = strings.Clone(s.Cwd)
	}
}
