package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"ccd/cmd/ccd/internal/history"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// restoreFile prints a file as the agent last read or wrote it.
func (a *app) restoreFile(ctx context.Context, f restoreFlags, args []string) (err error) {
	l, err := a.library(ctx)
	if err != nil {
		return err
	}
	var of transcript.Key
	defer func() {
		if !f.info {
			l.noteRestore("file", of, err)
		}
	}()
	v, err := a.fileVersion(ctx, l, f, args)
	if err != nil {
		return err
	}
	of = v.Source.Key
	if f.info {
		return a.fileInfo(v)
	}
	a.fileNotes(v)
	return a.deliver(f.output, f.force, false, func(w io.Writer) error {
		watch := &secretWatch{w: w}
		_, err := io.WriteString(watch, v.Text)
		if watch.seen != "" {
			fmt.Fprintf(a.err, "ccd: warning: this looks like it holds %s\n", watch.seen)
		}
		if err != nil {
			return fmt.Errorf("write output: %w", err)
		}
		return nil
	})
}

// fileVersion finds the file that the command line asks for.
func (a *app) fileVersion(ctx context.Context, l *library, f restoreFlags, args []string) (*history.Version, error) {
	at, err := moment(f.at)
	if err != nil {
		return nil, usageError{err}
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find working directory: %w", err)
	}
	families := l.families()
	if len(args) == 1 {
		e, err := l.find(args[0], f.agent)
		if err != nil {
			return nil, err
		}
		families = [][]history.Source{l.family(e)}
	}
	show, wipe := a.progress("looking for the file:")
	defer wipe()
	v, err := history.File(ctx, l.archive, families, history.Wanted{Path: f.file, Dir: dir, At: at}, func(done int) {
		show(int64(done), int64(len(families)))
	})
	if err == nil && !at.IsZero() && v.Time.IsZero() {
		return nil, hint(fmt.Errorf("restore file %s: --at %s cannot be applied: the session's records have no times", v.Path, f.at),
			"ccd restore --file %s, as it was last", shellWord(f.file))
	}
	if err == nil && len(args) == 0 {
		l.incomplete() // one of those may have touched it later
	}
	return v, l.missing(fileHint(err, f))
}

// fileHint says what to try where a file is not known, or not wholly.
func fileHint(err error, f restoreFlags) error {
	var unknown *history.UnknownError
	var several *history.AmbiguousError
	switch {
	case errors.As(err, &unknown) && !unknown.Last.IsZero():
		return hint(err, "ccd restore --file %s --at %s %s, as it was before", shellWord(unknown.Path), unknown.Last.UTC().Format(time.RFC3339Nano), unknown.Session)
	case errors.As(err, &several) && len(several.Sessions) == 0:
		return hint(err, "ccd restore --file with more of the path")
	case err != nil && f.at == "" && errors.Is(err, history.ErrNotFound) && unknown == nil:
		return hint(err, "ccd timeline SESSION tells which files a session touched")
	}
	return err
}

// families are the sessions with their sub-agents, newest first.
func (l *library) families() (all [][]history.Source) {
	for _, e := range l.sessions {
		if e.Class == transcript.Attachment || e.Root == "" {
			continue
		}
		if e.Class == transcript.SubAgent {
			if _, ok := l.entry(transcript.Key{Agent: e.Agent, ID: e.Parent}); ok {
				continue // it counts with its parent
			}
		}
		if f := l.family(e); len(f) > 0 {
			all = append(all, f)
		}
	}
	return all
}

// family is a session with its sub-agents.
func (l *library) family(e entry) []history.Source {
	family := source(nil, e)
	for _, sub := range l.sessions {
		if sub.Class == transcript.SubAgent && sub.Agent == e.Agent && sub.Parent == e.ID && e.Class != transcript.SubAgent {
			family = source(family, sub)
		}
	}
	return family
}

func source(family []history.Source, e entry) []history.Source {
	if g, err := e.generation(0); err == nil {
		family = append(family, history.Source{Session: e.Session.Session, Generation: g.N})
	}
	return family
}

// moments are the forms in which a time is given; the shorter ones mean all of the minute or of the day.
var moments = []struct {
	form string
	span time.Duration
}{
	{time.RFC3339Nano, 0},
	{"2006-01-02T15:04Z07:00", time.Minute},
	{"2006-01-02T15:04:05", 0},
	{"2006-01-02T15:04", time.Minute},
	{"2006-01-02 15:04:05", 0},
	{"2006-01-02 15:04", time.Minute},
	{"2006-01-02", 24 * time.Hour},
}

// moment reads a time as companions show it, the end of what it means; UTC where it names no zone. "" is none.
func moment(text string) (time.Time, error) {
	t, span, err := instant(text)
	return t.Add(max(0, span-time.Nanosecond)), err
}

// instant reads a time and how long the minute or day is that it means.
func instant(text string) (time.Time, time.Duration, error) {
	if text == "" {
		return time.Time{}, 0, nil
	}
	for _, m := range moments {
		if t, err := time.Parse(m.form, text); err == nil {
			return t, m.span, nil
		}
	}
	return time.Time{}, 0, fmt.Errorf("parse time %q: want 2026-01-29T10:30Z, with or without seconds, or a day", text)
}

// fileNotes tells on stderr what the text alone does not.
func (a *app) fileNotes(v *history.Version) {
	if a.quiet {
		return
	}
	fmt.Fprintf(a.err, "%s as %s in %s#%d%s\n", mark.Inline(v.Path, 400), v.How, v.Source.ID, v.Record, minutes(v.Time))
	if v.Gone != nil {
		fmt.Fprintf(a.err, "it was %s in %s#%d%s\n", mark.Inline(v.Gone.What, 400), v.Gone.Session, v.Gone.Record, minutes(v.Gone.Time))
	}
	if v.Doubt != nil {
		fmt.Fprintf(a.err, "a command may have changed it since, in %s#%d%s\n", v.Doubt.Session, v.Doubt.Record, minutes(v.Doubt.Time))
	}
}

func minutes(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ", " + minute(t)
}

// fileOutput is what --info tells of a file.
type fileOutput struct {
	Path       string       `json:"path"`
	How        string       `json:"how"`
	Agent      string       `json:"agent"`
	Session    string       `json:"session"`
	Generation int          `json:"generation"`
	Record     int          `json:"record"`
	Time       *time.Time   `json:"time"`
	Size       int64        `json:"size"`
	Lines      int          `json:"lines"`
	SHA256     string       `json:"sha256"`
	Gone       *eventOutput `json:"gone"`
	Doubt      *eventOutput `json:"doubt"`
}

type eventOutput struct {
	What    string     `json:"what"`
	Session string     `json:"session"`
	Record  int        `json:"record"`
	Time    *time.Time `json:"time"`
}

func eventOf(e *history.Event) *eventOutput {
	if e == nil {
		return nil
	}
	return &eventOutput{e.What, e.Session, e.Record, known(e.Time)}
}

func (a *app) fileInfo(v *history.Version) error {
	sum := sha256.Sum256([]byte(v.Text))
	o := fileOutput{
		Path: v.Path, How: v.How, Agent: v.Source.Agent, Session: v.Source.ID, Generation: v.Source.Generation, Record: v.Record, Time: known(v.Time),
		Size: int64(len(v.Text)), Lines: strings.Count(v.Text, "\n"), SHA256: hex.EncodeToString(sum[:]), Gone: eventOf(v.Gone), Doubt: eventOf(v.Doubt),
	}
	if v.Text != "" && !strings.HasSuffix(v.Text, "\n") {
		o.Lines++
	}
	if a.json {
		return a.printJSON(o)
	}
	rows := [][]string{
		{"path", mark.Inline(o.Path, 400)},
		{"how", o.How},
		{"session", o.Agent + " " + o.Session},
		{"generation", strconv.Itoa(o.Generation)},
		{"record", strconv.Itoa(o.Record)},
	}
	if o.Time != nil {
		rows = append(rows, []string{"time", o.Time.Format(time.RFC3339)})
	}
	rows = append(rows, []string{"lines", strconv.Itoa(o.Lines)}, []string{"size", exactSize(o.Size)}, []string{"sha256", o.SHA256})
	for _, e := range []struct {
		name string
		*eventOutput
	}{{"gone", o.Gone}, {"doubt", o.Doubt}} {
		if e.eventOutput != nil {
			rows = append(rows, []string{e.name, fmt.Sprintf("%s, %s#%d", mark.Inline(e.What, 400), e.Session, e.Record)})
		}
	}
	return a.table(rows)
}
