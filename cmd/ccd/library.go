package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"ccd/archive"
	"ccd/cmd/ccd/internal/history"
	"ccd/compactor"
	"ccd/daemon"
	"ccd/internal/config"
	"ccd/internal/transcript"
	"ccd/watcher"
)

// library is what reading commands look at: the archive, opened for reading only, and what it knows of each session,
// newest first.
type library struct {
	app         *app // that looks
	config      config.Config
	configPath  string // the file it was read from, "" where there is none
	stateDir    string
	roots       []watcher.Root
	watch       watcher.Options
	archivePath string
	archive     *archive.Archive
	sessions    []entry
	reach       *reach   // nil: every session
	callers     []string // the sessions that run this command in their shell, as their agents tell
	loaded      bool     // sessions are all that the archive knows
	damage      []error  // why sessions may be missing among them
}

// entry is one session and what the daemon last kept of it.
type entry struct {
	archive.Session
	state daemon.State
}

// library opens the archive for reading. That there is none yet is no error: it then holds no sessions.
func (a *app) library(ctx context.Context) (*library, error) {
	l, err := a.locate(true)
	if err != nil {
		return nil, err
	}
	return l, l.load(ctx)
}

// load reads what the archive knows of each session in reach.
func (l *library) load(ctx context.Context) error {
	stored, err := l.archive.Sessions(ctx)
	l.damage = nil
	for _, err := range archive.Damages(err) { // what is damaged takes none of the sound ones with it
		damaged := errors.As(err, new(*archive.DamageError))
		if damaged {
			l.damage = append(l.damage, err)
		}
		if !damaged || len(stored) == 0 {
			return fmt.Errorf("read archive: %w", err)
		}
	}
	l.loaded = true
	l.sessions = nil
	for _, s := range stored {
		l.sessions = append(l.sessions, entryOf(s))
	}
	slices.SortStableFunc(l.sessions, func(x, y entry) int {
		return cmp.Or(y.last().Compare(x.last()), cmp.Compare(x.ID, y.ID))
	})
	if err := l.narrow(ctx); err != nil {
		return err
	}
	for _, e := range l.sessions { // those in reach: no other may be named
		if e.StateDamage != nil {
			l.damage = append(l.damage, e.StateDamage)
		}
	}
	return nil
}

// last is when the session last grew: by its own clock, else by its file's.
func (e entry) last() time.Time {
	if e.state.Last.IsZero() && e.state.Source.ModTime != 0 {
		return time.Unix(0, e.state.Source.ModTime).UTC()
	}
	return e.state.Last
}

// candidates are the sessions as arguments may name them.
func (l *library) candidates() []history.Candidate {
	all := make([]history.Candidate, 0, len(l.sessions))
	for _, e := range l.sessions {
		all = append(all, history.Candidate{Session: e.Session.Session, Last: e.last(), Cwd: e.state.Cwd, Made: e.Root == "" || e.state.Skipped != "" || e.state.Idle()})
	}
	return all
}

// find returns the session that a SESSION argument names.
func (l *library) find(arg, agent string) (entry, error) {
	dir, err := os.Getwd()
	if err != nil {
		dir = string(os.PathSeparator) // it was removed, and no relative path leads anywhere from there
	}
	got, err := history.Resolve(arg, l.candidates(), history.Choice{Agent: agent, Dir: dir, Now: time.Now(), Callers: l.callers})
	if err != nil && len(l.damage) > 0 {
		return entry{}, l.missing(err)
	}
	if err != nil {
		return entry{}, l.resolveHint(arg, err)
	}
	if strings.HasPrefix(arg, "latest") {
		l.incomplete() // one of those may be newer
	}
	e, _ := l.entry(got.Key)
	return e, nil
}

// incomplete says which sessions the answer may lack, or tell less of, because they are damaged. The command then exits 4.
func (l *library) incomplete() {
	if len(l.damage) == 0 || l.app.damaged {
		return
	}
	l.app.damaged = true
	fmt.Fprintln(l.app.err, "ccd: the archive is damaged. The answer may be incomplete:")
	for _, err := range l.damage {
		fmt.Fprintf(l.app.err, "  %v\n", err)
	}
	fmt.Fprintln(l.app.err, "hint: ccd verify")
}

// missing adds the damage to an error that says that something is not there: it may be there.
func (l *library) missing(err error) error {
	if len(l.damage) == 0 || !errors.Is(err, history.ErrNotFound) {
		return err
	}
	return hint(fmt.Errorf("%w, but not all of the archive could be read: %w", err, l.damage[0]), "ccd verify")
}

// damages are the sessions that could not be read, as --json lists them.
func (l *library) damages() []damageOutput {
	all := []damageOutput{}
	for _, err := range l.damage {
		var d *archive.DamageError
		if errors.As(err, &d) {
			all = append(all, damageOf(d))
		}
	}
	return all
}

func entryOf(s archive.Session) entry {
	e := entry{Session: s}
	if state, err := daemon.DecodeState(s.State); err == nil { // a cache: unreadable is as good as none
		e.state = state
		if e.Parent = cmp.Or(e.Parent, state.Parent); e.Parent != "" && e.Class == transcript.Main {
			e.Class = transcript.SubAgent // its path does not tell, its records do
		}
	}
	return e
}

// of returns one session, without reading all of them where that has not been done.
func (l *library) of(ctx context.Context, k transcript.Key) entry {
	if e, ok := l.entry(k); ok || l.loaded && l.reach != nil { // what is out of reach is not told of
		return e
	}
	s, err := l.archive.Session(ctx, k)
	if err != nil { // its record is damaged: what is asked for is found all the same
		s.Key = k
	}
	return entryOf(s)
}

func (l *library) entry(k transcript.Key) (entry, bool) {
	i := slices.IndexFunc(l.sessions, func(e entry) bool { return e.Key == k })
	if i < 0 {
		return entry{}, false
	}
	return l.sessions[i], true
}

// generation returns number n of the session's generations, the current one for 0.
func (e entry) generation(n int) (archive.Generation, error) {
	if len(e.Generations) == 0 {
		return archive.Generation{}, fmt.Errorf("read session %s: %w: nothing of it is archived", e.ID, history.ErrNotFound)
	}
	if n == 0 {
		return e.Generations[len(e.Generations)-1], nil
	}
	for _, g := range e.Generations {
		if g.N == n {
			return g, nil
		}
	}
	return archive.Generation{}, fmt.Errorf("find generation %d of session %s: %w: it has %d", n, e.ID, history.ErrNotFound, len(e.Generations))
}

// search is where an ID that is not in the index is looked for.
func (l *library) search(progress func(done, total int64)) history.Search {
	s := history.Search{Archive: l.archive, Progress: progress, Scope: cmp.Or(l.scope(), " in any archived session")}
	for _, e := range l.sessions {
		s.Sessions = append(s.Sessions, e.Session)
	}
	s.Fold = func(one archive.Session, generation int) history.Folder {
		e, _ := l.entry(one.Key)
		return l.fold(e, generation)
	}
	return s
}

// options returns what decides the session's companion: the configured options and the session's own.
func (l *library) options(e entry) compactor.Options {
	return compactionOptions(l.config).With(e.state.Manual)
}

// fold is one generation on its way into a companion.
type fold struct {
	*compactor.Compactor
	archive *archive.Archive
	reader  *archive.Reader
	id      string
}

func (l *library) fold(e entry, generation int) fold {
	return l.foldWith(e, generation, l.options(e))
}

func (l *library) foldWith(e entry, generation int, o compactor.Options) fold {
	return fold{compactor.New(o, e.Session.Session), l.archive, l.archive.Reader(e.Key, generation), e.ID}
}

// compaction makes the companion's text from what was added.
func (f fold) compaction(ctx context.Context) (*compactor.Compaction, error) {
	c, err := f.Summarized(func(span transcript.Span) ([]byte, error) { return f.reader.Span(ctx, span) }, f.archive.Summaries(ctx))
	if err != nil {
		return nil, fmt.Errorf("compact session %s: %w", f.id, err)
	}
	return c, nil
}

// Pointers implements history.Folder.
func (f fold) Pointers(ctx context.Context) ([]transcript.Pointer, error) {
	c, err := f.compaction(ctx)
	if err != nil {
		return nil, err
	}
	return c.Pointers, nil
}
