package history

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"ccd/archive"
	"ccd/internal/transcript"
)

// Source is one generation of a session.
type Source struct {
	transcript.Session
	Generation int
}

// Wanted is a file that a person asks for.
type Wanted struct {
	Path string    // absolute, relative, or the last elements of a path
	Dir  string    // absolute: what a relative Path is relative to first, then the session's working directory
	At   time.Time // only what stands in records up to then counts; zero: all of them
}

// Version is a file as an agent last read or wrote it.
type Version struct {
	Path   string // as resolved
	Text   string
	Source Source    // where the change or read stands
	Record int       // of its result
	Time   time.Time // of that record, zero where it has none
	How    string    // "read", "written", "edited" or "renamed"
	Gone   *Event    // it was deleted or renamed since
	Doubt  *Event    // a command since then may have changed it
}

// Event is what happened to a file in a record.
type Event struct {
	What    string // "deleted", "renamed to PATH", "put back", "changed", in words for people
	Session string
	Record  int
	Time    time.Time
}

// File returns the wanted file as the first of the families tells of it, each a session with its sub-agents, in which a
// file of exactly that path was touched; else the first in which one path ends with it. It fails with ErrNotFound, with
// *AmbiguousError where several paths of one family end with it, and with *UnknownError where the content at that time
// is not wholly known: nothing is ever made up. Progress is told how many families have been looked through; it may be
// nil.
func File(ctx context.Context, a *archive.Archive, families [][]Source, w Wanted, progress func(done int)) (*Version, error) {
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
		return nil, &AmbiguousError{What: "file " + w.Path, Why: "several paths end with it", Matches: found.paths}
	}
	return replayed(ctx, a, found, w.At)
}

// How well a path fits what was asked for, best first.
const (
	rankExact  = iota // it is the path, seen from where the person is
	rankInside        // seen from where the session works
	rankEnd           // it ends with it
	rankNone
)

// maxPaths bounds the paths that are told where several fit.
const maxPaths = 50

// touchedFiles is which files of a family fit what was asked for.
type touchedFiles struct {
	family []Source
	rank   int
	paths  []string
	moves  []transcript.FileChange // all renames, in order
}

// maxMoves bounds the renames of a family that are kept, maxFollowed those that are followed file by file.
const (
	maxMoves    = 1 << 14
	maxFollowed = 256
)

// touched looks through a family for the files that fit. What fits only by the name of a directory that was renamed is
// looked for once more.
func touched(ctx context.Context, a *archive.Archive, family []Source, w Wanted) (*touchedFiles, error) {
	t := &touchedFiles{family: family, rank: rankNone}
	if err := t.look(ctx, a, w, false); err != nil || len(t.paths) > 0 || len(t.moves) == 0 || len(t.moves) > maxFollowed {
		return t, err
	}
	return t, t.look(ctx, a, w, true)
}

func (t *touchedFiles) look(ctx context.Context, a *archive.Archive, w Wanted, again bool) error {
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

// follow takes the files of a call by what later renames of directories made of their paths, and returns how many
// renames the call made itself.
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

// after reports whether a record is later than what is asked for.
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

// path takes a path that fits at least as well as those before it.
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

// destinations are what a renamed file may now be called: where it is not certain whether that is a directory, both.
func destinations(f transcript.FileChange) []string {
	if !f.Tree || (!f.Loose && strings.Contains(transcript.Base(f.To), ".")) {
		return []string{f.To}
	}
	return []string{f.To, transcript.Join(f.To, transcript.Base(f.Path))}
}

// newest leaves out the paths that another of them was called before.
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

// sourced is a record of one of several sessions.
type sourced struct {
	*transcript.Record
	from int       // place of its source
	when time.Time // its time, or that of the records before it
	cwd  string    // where its session works
}

// merged gives the records of several sessions in the order of their times; each session's own order stays. A record is
// valid until the next one.
func merged(ctx context.Context, a *archive.Archive, family []Source) iter.Seq2[sourced, error] {
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

// stream is one session that is read.
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
