package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ccd/archive"
	"ccd/cmd/ccd/internal/history"
	"ccd/cmd/ccd/internal/search"
	"ccd/cmd/ccd/internal/tools"
	"ccd/internal/mark"
)

// lent runs a command with w as its stdout; what it says beside that stands behind it.
func (a *app) lent(w io.Writer, do func(*app) error) error {
	var talk bytes.Buffer
	b := &app{std: std{strings.NewReader(""), w, &talk}, env: a.env, configFile: a.configFile, agent: a.agent}
	if err := do(b); err != nil && !errors.Is(err, errDamaged) && !errors.Is(err, errSaid) { // those have said what is wrong
		return err
	}
	if _, err := talk.WriteTo(w); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// ofSession lends a command to a tool that is about one session. It returns what names the session.
func (a *app) ofSession(ctx context.Context, session, agent string, w io.Writer, do func(a *app, arg string) error) (string, error) {
	arg, err := a.named(ctx, session, agent)
	if err != nil {
		return "", err
	}
	return arg, a.lent(w, func(a *app) error { return do(a, arg) })
}

// named gives a tool's SESSION as commands know it: latest, and none, is that of the directory that the server was
// started in, under its own ID. Agents name that directory by where it really is, or as they were told.
func (a *app) named(ctx context.Context, session, agent string) (string, error) {
	if session != "" && session != "latest" {
		return session, nil
	}
	l, err := a.library(ctx)
	if err != nil {
		return "", err
	}
	l.app = &app{std: std{err: io.Discard}} // a model may look at any session
	real, told, err := here()
	if err != nil {
		return "", err
	}
	e, err := l.find("latest:"+real, agent)
	if errors.Is(err, history.ErrNotFound) && told != real {
		e, err = l.find("latest:"+told, agent)
	}
	if errors.Is(err, history.ErrNotFound) && l.reach != nil { // another directory of the project
		e, err = l.find("latest", agent)
	}
	var several *history.AmbiguousError
	if errors.As(err, &several) && len(several.Sessions) > 0 { // a model can look at another one by its ID; an error only costs it a turn
		return several.Sessions[0].ID, nil
	}
	return e.ID, err
}

func here() (real, told string, err error) {
	if told, err = os.Getwd(); err != nil {
		return "", "", fmt.Errorf("find working directory: %w", err)
	}
	if real, err = filepath.EvalSymlinks(told); err != nil {
		real = told
	}
	return real, told, nil
}

// toolError tells an error to a model as a command would tell it to a person.
func toolError(err error) string {
	var text strings.Builder
	report(&text, err, true)
	return cmp.Or(strings.ReplaceAll(text.String(), "hint: ask the user to run: ccd ls --all", "hint: the tool sessions lists them"), err.Error())
}

func secretIn(text []byte) string {
	watch := secretWatch{w: io.Discard}
	_, _ = watch.Write(text)
	return watch.seen
}

func (a *app) toolSessions(ctx context.Context, q tools.SessionsQuery, w io.Writer) error {
	l, err := a.library(ctx)
	if err != nil {
		return err
	}
	real, told, err := here()
	if err != nil {
		return err
	}
	asked := func(e entry) bool {
		of := q.Project == "" || within(e.state.Cwd, seenFrom(real, q.Project)) || within(e.state.Cwd, seenFrom(told, q.Project))
		return of && (q.Agent == "" || e.Agent == q.Agent)
	}
	archived := len(l.sessions)
	l.sessions = slices.DeleteFunc(l.sessions, func(e entry) bool { return !asked(e) })
	rows := family(l.sessions, q.All)
	for _, e := range rows {
		if _, err := io.WriteString(w, e.line()+"\n"); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
	}
	text := ""
	switch {
	case archived == 0 && l.limited():
		text = "no session of this project is archived\n"
	case archived == 0:
		text = "nothing is archived yet\n"
	case len(rows) == 0:
		text = fmt.Sprintf("no session is like that; of others there are %d\n", archived)
	}
	for _, err := range l.damage {
		text += fmt.Sprintf("a session cannot be read: %v\n", err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// seenFrom is a path that is meant from within dir.
func seenFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// within reports whether a directory is dir or stands below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return path != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// line tells of a session what an agent chooses by.
func (e entry) line() string {
	parts := []string{mark.Inline(e.ID, maxName), e.Agent, mark.Inline(cmp.Or(e.state.Cwd, "(unknown directory)"), 400), minute(e.last()), count(e.state.Records, "record"), e.tokens() + " tokens"}
	if e.Parent != "" {
		parts = append(parts, "sub-agent of "+mark.Inline(e.Parent, maxName))
	}
	if e.state.Companion == "" {
		parts = append(parts, "no companion written yet (companion makes one)")
	}
	if e.state.Skipped != "" {
		parts = append(parts, "not followed")
	}
	if !e.present() {
		parts = append(parts, "transcript purged")
	}
	if title := mark.Inline(e.state.Title, 200); title != "" {
		parts = append(parts, `"`+title+`"`)
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

// toolSearch searches for the words of a line, and gives every hit: its reader stops when it has enough.
func (a *app) toolSearch(ctx context.Context, q tools.SearchQuery, w io.Writer) (err error) {
	f := searchFlags{tool: q.Tool, path: q.Path, since: q.Since, all: q.All, session: q.Session}
	if q.Session != "" {
		if f.session, err = a.named(ctx, q.Session, ""); err != nil {
			return err
		}
	}
	return a.lent(w, func(a *app) error { return a.search(ctx, f, search.Words(q.Words)) })
}

// toolRestore finds an original as `ccd restore` does. Damage becomes the text that stands for it.
func (a *app) toolRestore(ctx context.Context, q tools.RestoreQuery) (tools.Original, error) {
	var found tools.Original
	err := a.lent(io.Discard, func(a *app) (err error) {
		if q.File != "" {
			found, err = a.toolFile(ctx, q)
			return err
		}
		id := unmark(q.ID)
		if name, number, isRecord := strings.Cut(id, "#"); isRecord {
			if name, err = a.named(ctx, name, ""); err != nil {
				return err
			}
			id = name + "#" + number
		}
		found, err = a.toolOriginal(ctx, q, id)
		return err
	})
	return found, err
}

func (a *app) toolOriginal(ctx context.Context, q tools.RestoreQuery, id string) (tools.Original, error) {
	f := restoreFlags{raw: q.Raw, full: q.Full}
	l, err := a.locate(true)
	if err != nil {
		return tools.Original{}, err
	}
	o, err := a.original(ctx, l, f, []string{id})
	if err != nil {
		l.noteRestore(f.kind([]string{id}), o.entry.Key, err)
		return tools.Original{}, lostOriginal(err, mark.Inline(unmark(id), 100), "index")
	}
	write := o.write
	text, images, err := o.apart(ctx)
	if err != nil {
		return tools.Original{}, lostOriginal(err, string(o.id()), o.entry.Path)
	}
	if len(images) > 0 {
		write = func(_ context.Context, w io.Writer) error {
			_, err := w.Write(text)
			return err
		}
	}
	return tools.Original{Name: id, About: o.about(), Bytes: o.bytes(), Images: images, Write: func(ctx context.Context, w io.Writer) error {
		err := write(ctx, w)
		damaged := errors.As(err, new(*archive.DamageError))
		switch {
		case damaged:
			l.noteRestore(f.kind([]string{id}), o.entry.Key, err)
		case q.Offset == 0: // a page that is full is no failure
			l.noteRestore(f.kind([]string{id}), o.entry.Key, nil)
		}
		return lostOriginal(err, string(o.id()), o.entry.Path)
	}}, nil
}

// lostOriginal is what stands for an original that the archive cannot give back.
func lostOriginal(err error, id, path string) error {
	if !errors.As(err, new(*archive.DamageError)) {
		return err
	}
	return hint(errors.New(mark.New(mark.ID(id), fmt.Sprintf("content unavailable: %s, hash mismatch", mark.Inline(path, 400)))), "ccd verify")
}

func (o original) id() mark.ID {
	if o.session != nil {
		return o.session.Sum.ID()
	}
	return o.found.Hash.ID()
}

// bytes is what it takes in the transcript.
func (o original) bytes() int64 {
	if o.session != nil {
		return o.session.Tip.Offset
	}
	return sizeOf(o.found)
}

// about tells in one line what it is and where it stood.
func (o original) about() string {
	where := o.entry.Agent + " session " + mark.Inline(o.entry.ID, 400)
	if o.session != nil {
		return mark.New(o.id(), "file") + " of " + where
	}
	kind, _ := kindOf(o.found.Pointer)
	switch {
	case o.found.Last > o.found.Record:
		where += fmt.Sprintf(", records %d to %d", o.found.Record, o.found.Last)
	case o.found.Record > 0:
		where += fmt.Sprintf(", record %d", o.found.Record)
	}
	if o.raw {
		kind += ", raw"
	}
	return mark.New(o.id(), kind) + " of " + where + minutes(o.found.Time)
}

// toolFile finds a file as an agent last read or wrote it.
func (a *app) toolFile(ctx context.Context, q tools.RestoreQuery) (tools.Original, error) {
	l, err := a.library(ctx)
	if err != nil {
		return tools.Original{}, err
	}
	f := restoreFlags{file: q.File, at: q.At}
	var args []string
	if q.Session != "" {
		session, err := a.named(ctx, q.Session, "")
		if err != nil {
			return tools.Original{}, err
		}
		args = []string{session}
	}
	v, err := a.fileVersion(ctx, l, f, args)
	if err != nil {
		return tools.Original{}, err
	}
	notes := &bytes.Buffer{}
	(&app{std: std{err: notes}}).fileNotes(v)
	about, more, _ := strings.Cut(strings.TrimSpace(notes.String()), "\n")
	o := tools.Original{About: "File " + about, Bytes: int64(len(v.Text)), Write: func(_ context.Context, w io.Writer) error {
		if _, err := io.WriteString(w, v.Text); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
		return nil
	}}
	if more != "" {
		o.Notes = strings.Split(more, "\n")
	}
	return o, nil
}
