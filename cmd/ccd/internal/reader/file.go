package reader

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"ccd/cmd/ccd/internal/history"
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
}

// File finds a file in the loaded sessions. Progress is told how many of them have been looked through.
func (l *Library) File(ctx context.Context, w WantedFile, progress func(done, total int64)) (*history.Version, error) {
	at, err := words.Moment(w.At, time.Now())
	if err != nil {
		return nil, words.Usage(err)
	}
	dir, err := l.Env.WorkingDir()
	if err != nil {
		return nil, err
	}
	families := l.families()
	if w.Session != "" {
		e, err := l.Find(w.Session, w.Agent)
		if err != nil {
			return nil, err
		}
		families = [][]history.Source{l.Family(e)}
	}
	wanted, read := history.Wanted{Path: w.Path, Dir: dir, At: at}, 0
	find := func(in [][]history.Source) (*history.Version, error) {
		return history.File(ctx, l.History(), in, wanted, func(int) {
			read++
			progress(int64(read), int64(len(families)))
		})
	}
	own, rest := l.ofProject(families, project.Of(dir, l.Home))
	v, err := find(own)
	if errors.Is(err, history.ErrNotFound) && !errors.As(err, new(*history.UnknownError)) && len(rest) > 0 {
		wanted.Ask = w.Session == "" && !transcript.IsAbs(w.Path)
		v, err = find(rest)
		if err == nil && wanted.Ask && transcript.IsAbs(v.Path) { // of another project: it is not what the path means here
			err = fmt.Errorf("find file %s: %w in this project, but %s is in another one", w.Path, history.ErrNotFound, v.Path)
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
	var unknown *history.UnknownError
	var several *history.AmbiguousError
	switch {
	case errors.As(err, &unknown) && !unknown.Last.IsZero():
		return words.Hint(err, "ccd restore --file %s --at %s %s", words.Shell(unknown.Path), unknown.Last.UTC().Format(time.RFC3339Nano), words.Argument(unknown.Session))
	case errors.As(err, &several) && len(several.Sessions) == 0:
		return words.Hint(err, "add more of the path, or the session: ccd restore --file %s SESSION", words.Shell(w.Path))
	case err != nil && w.At == "" && errors.Is(err, history.ErrNotFound) && unknown == nil:
		return words.Hint(err, "ccd timeline SESSION shows which files a session touched")
	}
	return err
}

// ofProject separates the families whose session worked in a project.
func (l *Library) ofProject(families [][]history.Source, p *project.Project) (own, rest [][]history.Source) {
	for _, f := range families {
		if e, ok := l.Entry(f[0].Key); ok && p.Has(e.Kept.Cwd) {
			own = append(own, f)
		} else {
			rest = append(rest, f)
		}
	}
	return own, rest
}

// families are the sessions with their sub-agents, newest first.
func (l *Library) families() (all [][]history.Source) {
	for _, e := range l.Sessions {
		if e.Class == transcript.Attachment || e.Root == "" {
			continue
		}
		if e.Class == transcript.SubAgent {
			if _, ok := l.Entry(transcript.Key{Agent: e.Agent, ID: e.Parent}); ok {
				continue // it counts with its parent
			}
		}
		if f := l.Family(e); len(f) > 0 {
			all = append(all, f)
		}
	}
	return all
}

// Family is a session with its sub-agents.
func (l *Library) Family(e Entry) []history.Source {
	family := source(nil, e)
	for _, sub := range l.Sessions {
		if sub.Class == transcript.SubAgent && sub.Agent == e.Agent && sub.Parent == e.ID && e.Class != transcript.SubAgent {
			family = source(family, sub)
		}
	}
	return family
}

func source(family []history.Source, e Entry) []history.Source {
	if g, err := e.Generation(0); err == nil {
		family = append(family, history.Source{Session: e.Session.Session, Generation: g.N})
	}
	return family
}

// FileInfo is what --info tells of a file.
type FileInfo struct {
	Path       string     `json:"path"`
	How        string     `json:"how"`
	Agent      string     `json:"agent"`
	Session    string     `json:"session"`
	Generation int        `json:"generation"`
	Record     int        `json:"record"`
	Time       *time.Time `json:"time"`
	Size       int64      `json:"size"`
	Lines      int        `json:"lines"`
	SHA256     string     `json:"sha256"`
	Gone       *FileEvent `json:"gone"`
	Doubt      *FileEvent `json:"doubt"`
}

// FileEvent is what happened to a file.
type FileEvent struct {
	What    string     `json:"what"`
	Session string     `json:"session"`
	Record  int        `json:"record"`
	Time    *time.Time `json:"time"`
}

func eventOf(e *history.Event) *FileEvent {
	if e == nil {
		return nil
	}
	return &FileEvent{e.What, e.Session, e.Record, words.Known(e.Time)}
}

// FileInfoOf tells of a file without its text.
func FileInfoOf(v *history.Version) FileInfo {
	sum := sha256.Sum256([]byte(v.Text))
	o := FileInfo{
		Path: v.Path, How: v.How, Agent: v.Source.Agent, Session: v.Source.ID, Generation: v.Source.Generation, Record: v.Record, Time: words.Known(v.Time),
		Size: int64(len(v.Text)), Lines: strings.Count(v.Text, "\n"), SHA256: hex.EncodeToString(sum[:]), Gone: eventOf(v.Gone), Doubt: eventOf(v.Doubt),
	}
	if v.Text != "" && !strings.HasSuffix(v.Text, "\n") {
		o.Lines++
	}
	return o
}

// FileNotes tell what the text alone does not, a line each: where it is from, and what may have happened to it since.
func FileNotes(v *history.Version) []string {
	all := []string{fmt.Sprintf("%s as %s in %s#%d%s", mark.Inline(v.Path, 400), v.How, v.Source.ID, v.Record, at(v.Time))}
	if v.Gone != nil {
		all = append(all, fmt.Sprintf("it was %s in %s#%d%s", mark.Inline(v.Gone.What, 400), v.Gone.Session, v.Gone.Record, at(v.Gone.Time)))
	}
	if v.Doubt != nil {
		all = append(all, fmt.Sprintf("a command may have changed it since, in %s#%d%s", v.Doubt.Session, v.Doubt.Record, at(v.Doubt.Time)))
	}
	return all
}
