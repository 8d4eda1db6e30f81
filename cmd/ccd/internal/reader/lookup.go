package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ccd/archive"
	"ccd/cmd/ccd/internal/history"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// Wanted names an original: an ID or a prefix of one, or SESSION#N, or with Session a whole transcript.
type Wanted struct {
	Name       string
	Session    string
	Agent      string // "" for every agent
	Generation int    // of a record or of Session; 0 is the current one
	Raw        bool   // the lines that hold it
	Full       bool   // the whole of a result that the agent saw cut
}

// Kind is what is named: "id", "record" or "session".
func (w Wanted) Kind() string {
	switch {
	case w.Session != "":
		return "session"
	case strings.Contains(w.Name, "#"):
		return "record"
	}
	return "id"
}

// Original finds what is wanted. Progress, which may be nil, is told how much of the archive has been looked through.
func (l *Library) Original(ctx context.Context, w Wanted, progress func(done, total int64)) (Original, error) {
	name, number, isRecord := strings.Cut(w.Name, "#")
	if w.Session != "" || isRecord || w.Full {
		if err := l.Load(ctx); err != nil {
			return Original{}, err
		}
	}
	if w.Session != "" {
		return l.whole(w)
	}
	var err error
	o := Original{library: l, raw: w.Raw}
	if isRecord {
		o, err = l.record(ctx, name, number, w)
	} else if o.found, err = l.lookup(ctx, w, progress); err == nil {
		o.Entry = l.Of(ctx, o.found.Key)
	}
	if err != nil {
		return Original{}, err
	}
	if w.Full {
		return o.spilled(ctx)
	}
	return o, nil
}

func (l *Library) whole(w Wanted) (Original, error) {
	e, err := l.Find(w.Session, w.Agent)
	if err != nil {
		return Original{}, err
	}
	if len(e.Generations) == 0 && w.Generation == 0 { // an empty transcript comes back empty
		return Original{library: l, Entry: e, Session: &archive.Generation{Sum: mark.Sum(nil)}}, nil
	}
	g, err := e.Generation(w.Generation)
	return Original{library: l, Entry: e, Session: &g}, err
}

// record finds SESSION#N.
func (l *Library) record(ctx context.Context, name, number string, w Wanted) (Original, error) {
	n, err := strconv.Atoi(number)
	if err != nil || n == 0 {
		return Original{}, words.Usage(fmt.Errorf("parse record %q: must be a number, 1 or more, or below 0 for one before a rewrite", number))
	}
	e, err := l.Find(name, w.Agent)
	if err != nil {
		return Original{}, err
	}
	g, err := e.Generation(w.Generation)
	if err != nil {
		return Original{}, err
	}
	if e.Class == transcript.Attachment {
		return Original{}, words.Hint(fmt.Errorf("find record %s#%d: %w: it is an attachment, which has no records", e.ID, n, history.ErrNotFound),
			"ccd restore --session %s", words.Shell(e.ID))
	}
	r, err := history.Record(ctx, l.History(), e.Session.Session, g.N, n)
	if err != nil {
		return Original{}, err
	}
	p := history.Whole(r)
	if !w.Raw {
		p = history.Items(r)
	}
	o, err := l.placed(ctx, e, g.N, p)
	o.raw = w.Raw
	return o, err
}

// Placed returns what a pointer of a session's story stands for. All of it is in a record that the caller has read.
func (l *Library) Placed(ctx context.Context, e Entry, generation int, p transcript.Pointer, r *transcript.Record) (Original, error) {
	line, err := l.placed(ctx, e, generation, history.Whole(*r))
	if err != nil {
		return Original{}, err
	}
	o, err := l.placed(ctx, e, generation, p)
	o.line, o.hidden = &line.found.Pointer, &secrets{}
	o.hidden.add(r, line.found.Parts[0].Span.Off)
	return o, err
}

func (l *Library) placed(ctx context.Context, e Entry, generation int, p transcript.Pointer) (Original, error) {
	found, err := l.Archive.Reader(e.Key, generation).Locate(ctx, p)
	if err == nil && found.Key != e.Key { // it stands in another file of the story
		e = l.Of(ctx, found.Key)
	}
	return Original{library: l, Entry: e, found: found}, err
}

// In finds an original by its whole ID, first in a session.
func (l *Library) In(ctx context.Context, e Entry, id string) (Original, error) {
	found, err := history.Find(ctx, history.Search{Archive: l.History(), Sessions: []archive.Session{e.Session}}, id)
	if err == nil && len(found) == 1 {
		return Original{library: l, Entry: e, found: found[0]}, nil
	}
	return l.Original(ctx, Wanted{Name: id}, nil)
}

// Indexed reports whether a whole ID is in the index, so that no session need be searched for it.
func (l *Library) Indexed(ctx context.Context, id string) bool {
	if len(id) < mark.IDLen {
		return false
	}
	found, err := l.Archive.Lookup(ctx, mark.ID(id))
	return err == nil && len(found) == 1
}

const findsIDs = "ccd search WORDS finds IDs"

// lookup finds the one original that an ID, or a prefix of one, names.
func (l *Library) lookup(ctx context.Context, w Wanted, progress func(done, total int64)) (archive.Found, error) {
	prefix := w.Name
	if _, _, err := mark.PrefixRange(prefix); err != nil {
		err = words.Usage(err)
		if strings.Contains(prefix, ".") {
			return archive.Found{}, words.Hint(err, "ccd restore --file %s", words.Shell(prefix))
		}
		if err := l.Load(ctx); err != nil {
			return archive.Found{}, err
		}
		if _, wrong := l.Find(prefix, w.Agent); wrong != nil {
			return archive.Found{}, words.Hint(err, findsIDs)
		}
		return archive.Found{}, words.Hint(err, "ccd restore --session %s", words.Shell(prefix))
	}
	var found []archive.Found
	var err error
	if l.reach == nil || len(prefix) == mark.IDLen { // what a companion names stands in the index: nothing else need be read
		found, err = l.Archive.Lookup(ctx, mark.ID(prefix))
	}
	if l.reach != nil || len(found) == 0 {
		if err := l.Load(ctx); err != nil {
			return archive.Found{}, err
		}
		found = slices.DeleteFunc(found, func(f archive.Found) bool { _, in := l.Entry(f.Key); return !in })
	}
	if len(found) == 0 {
		found, err = history.Find(ctx, l.search(progress), prefix)
		err = l.Missing(err)
	}
	if len(found) > 0 {
		err = nil // damage elsewhere in the index
	}
	switch {
	case errors.Is(err, history.ErrNotFound) && l.Limited():
		return archive.Found{}, words.Hint(err, Widen)
	case err != nil && len(l.Sessions) == 0:
		return archive.Found{}, words.Hint(fmt.Errorf("%w: nothing is archived yet", err), "ccd run --once")
	case errors.Is(err, history.ErrNotFound) && len(l.Damage) == 0:
		return archive.Found{}, words.Hint(err, findsIDs)
	case err != nil:
		return archive.Found{}, err
	case len(found) > 1:
		return archive.Found{}, severalFound(prefix, found)
	}
	return found[0], nil
}

func severalFound(prefix string, found []archive.Found) error {
	e := &history.AmbiguousError{What: "id " + prefix}
	for _, f := range found {
		line := fmt.Sprintf("%s  %s  %s#%d", f.Hash.ID(), f.Note, f.Key.ID, f.Record)
		if len(found) > 1 && found[0].Hash.ID() == found[1].Hash.ID() {
			line += "  sha256 " + f.Hash.String()
		}
		e.Matches = append(e.Matches, line)
	}
	return e
}

// Unmark takes the ID out of a whole marker, "[ccd ID ...]", as it is pasted from a companion.
func Unmark(arg string) string {
	if rest, ok := strings.CutPrefix(strings.TrimSpace(arg), "[ccd "); ok {
		if parts := strings.Fields(strings.TrimSuffix(rest, "]")); len(parts) > 0 {
			return strings.TrimRight(parts[0], "]")
		}
	}
	return arg
}
