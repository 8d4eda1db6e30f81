package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ccd/archive"
	"ccd/internal/mark"
	"ccd/internal/project"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// WantedFile is a file as an agent last read or wrote it.
type WantedFile struct {
	Path    string
	At      string // a time, as people write it; "" for the last one
	Session string // "" for the newest session that touched the file, of this project if one did
	Agent   string // "" for every agent
	Naming  Naming
}

// Naming is how messages for a person name a session; their times are local. nil is for programs: whole names, and times in UTC.
type Naming func(session string) string

// record is a record of a session in a message.
func (n Naming) record(session string, number int) string {
	return fmt.Sprintf("%s#%d", n.session(session), number)
}

func (n Naming) session(session string) string {
	if n == nil {
		return session
	}
	return n(session)
}

// time returns a time for a message, with the words that stand before it; "" if it is not known.
func (n Naming) time(before string, t *time.Time) string {
	switch {
	case t == nil || t.IsZero():
		return ""
	case n == nil:
		return before + words.Minute(*t)
	}
	return before + words.Local(*t)
}

// File finds a file in the loaded sessions. Progress is told how many of them have been looked through.
func (l *Library) File(ctx context.Context, w WantedFile, progress func(done, total int64)) (*Version, error) {
	at, err := words.Moment(w.At, time.Now())
	if err != nil {
		return nil, words.Usage(err)
	}
	dir, err := l.Env.WorkingDir()
	if err != nil {
		return nil, err
	}
	own, rest := l.families(project.Of(dir, l.Home))
	if w.Session != "" {
		e, err := l.Find(w.Session, w.Agent)
		if err != nil {
			return nil, err
		}
		own, rest = [][]Reading{l.family(e)}, nil
	}
	if transcript.IsAbs(w.Path) { // it is the same file in each project
		own, rest = slices.Concat(own, rest), nil
	}
	wanted, read := sought{Path: w.Path, Dir: dir, At: at, Naming: w.Naming}, 0
	count := func() {
		read++
		progress(int64(read), int64(len(own)+len(rest)))
	}
	v, err := fileIn(ctx, own, wanted, count)
	if errors.Is(err, archive.ErrNotFound) && !errors.As(err, new(*UnknownError)) && len(rest) > 0 {
		v, err = fileIn(ctx, rest, wanted, count)
		if err == nil && transcript.IsAbs(v.Path) { // of another project: it is not what the path means here
			err = fmt.Errorf("find file %s: %w in this project, but %s is in another one", w.Path, archive.ErrNotFound, v.Path)
			return nil, l.Missing(words.Hint(err, "ccd restore --file %s%s", words.Shell(v.Path), w.at()))
		}
	}
	return v, l.Missing(w.hint(err))
}

// at is the flag for the wanted time, "" for none.
func (w WantedFile) at() string {
	if w.At == "" {
		return ""
	}
	return " --at " + words.Shell(w.At)
}

// hint says what to try where a file is not known, or not wholly.
func (w WantedFile) hint(err error) error {
	var unknown *UnknownError
	var several *AmbiguousError
	if errors.As(err, &unknown) {
		unknown.naming = w.Naming
	}
	switch {
	case unknown != nil && !unknown.Last.IsZero():
		return words.Hint(err, "ccd restore --file %s --at %s %s", words.Shell(unknown.Path), unknown.Last.UTC().Format(time.RFC3339Nano), words.Argument(w.Naming.session(unknown.Session)))
	case errors.As(err, &several) && len(several.Sessions) == 0:
		return words.Hint(err, "add more of the path, or the session: ccd restore --file %s SESSION", words.Shell(w.Path))
	case err != nil && w.At == "" && errors.Is(err, archive.ErrNotFound) && unknown == nil:
		return words.Hint(err, "ccd timeline SESSION shows which files a session touched")
	}
	return err
}

// families are the sessions with their sub-agents, newest first: those of a project, and the rest.
func (l *Library) families(p *project.Project) (own, rest [][]Reading) {
	for _, e := range l.Sessions {
		if e.Class == transcript.SubAgent && l.Parent(e) != nil {
			continue // it counts with its parent
		}
		switch f := l.family(e); {
		case e.Class == transcript.Attachment, e.Root == "", e.Kept.NotResumed(), len(f) == 0: // a copy of ours that nobody went on with adds nothing
		case p.Has(e.Kept.Cwd):
			own = append(own, f)
		default:
			rest = append(rest, f)
		}
	}
	return own, rest
}

// family is a session with its sub-agents.
func (l *Library) family(e *Entry) (all []Reading) {
	add := func(e *Entry) {
		if r, err := l.Reading(e, 0); err == nil {
			all = append(all, r)
		}
	}
	add(e)
	for _, sub := range l.Sessions {
		if sub.StartedBy(e) && e.Class != transcript.SubAgent {
			add(sub)
		}
	}
	return all
}

// told says how a file is, and since which record.
func (v *Version) told(n Naming) string {
	return v.How + " in " + n.record(v.Session, v.Record) + n.time(", ", v.Time)
}

// Notes tell what the text alone does not, a line each: where it is from, and what may have happened to it since.
func (v *Version) Notes(n Naming) []string {
	all := []string{mark.Inline(v.Path, 400) + " as " + v.told(n)}
	if e := v.Gone; e != nil {
		all = append(all, "it was "+mark.Inline(e.What, 400)+" in "+n.record(e.Session, e.Record)+n.time(", ", e.Time))
	}
	if e := v.Doubt; e != nil {
		all = append(all, "a command may have changed it since, in "+n.record(e.Session, e.Record)+n.time(", ", e.Time))
	}
	return all
}
