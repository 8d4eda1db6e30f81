package history

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"ccd/internal/transcript"
)

// UnknownError reports that a file was touched but its content is not fully known.
type UnknownError struct {
	Path    string
	Session string    // the session that touched it
	Lines   [][2]int  // the known ranges of lines, nil if there are none
	Why     *Event    // the change whose result the transcript does not contain; nil if it never had the whole file
	Last    time.Time // until when the content was known, zero if never
}

// Error returns the message in one line.
func (e *UnknownError) Error() string {
	said := "restore file " + e.Path + ": its content is not in the transcript"
	if len(e.Lines) > 0 {
		var parts []string
		for _, l := range e.Lines {
			parts = append(parts, fmt.Sprintf("%d-%d", l[0], l[1]))
		}
		said = "restore file " + e.Path + ": only these lines are known: " + strings.Join(parts, ", ")
	}
	switch {
	case e.Why != nil && e.Last.IsZero():
		said += fmt.Sprintf("; it was %s at %s#%d", e.Why.What, e.Why.Session, e.Why.Record)
	case e.Why != nil:
		said += fmt.Sprintf(" since it was %s at %s#%d", e.Why.What, e.Why.Session, e.Why.Record)
	}
	return said
}

// Unwrap returns ErrNotFound.
func (e *UnknownError) Unwrap() error { return ErrNotFound }

// file is the state of a file during a replay.
type file struct {
	content transcript.Content
	version Version // of the last change or read
	touched bool
	gone    *Event
	doubt   *Event
	why     *Event    // why the content is unknown
	last    time.Time // until when it was known
}

// replay applies the calls on one file and on the files it was renamed from.
type replay struct {
	family []Source
	files  map[string]*file // by PathKey
	calls  map[string]*waiting
	order  []string        // of calls, oldest first
	seen   map[uint64]bool // calls that were applied: a sub-agent's transcript may begin with a copy of its parent's
}

// waiting is a call on a tracked file whose result has not come yet.
type waiting struct {
	tool   string
	input  []byte
	action transcript.Action
	client *transcript.Client
}

// maxWaiting is how many calls without a result are kept.
const maxWaiting = 256

// replayed reads the family again and returns the content of the one file that was found.
func replayed(ctx context.Context, a Archive, t *touchedFiles, at time.Time) (*Version, error) {
	path := t.paths[0]
	p, err := replayTo(ctx, a, t, at, func(*replay) {})
	if err != nil {
		return nil, err
	}
	return p.files[transcript.PathKey(path)].result(path, t.family[0].ID)
}

// replayTo reads the family again, up to a time, and calls each after each record.
func replayTo(ctx context.Context, a Archive, t *touchedFiles, at time.Time, each func(*replay)) (*replay, error) {
	p := &replay{family: t.family, files: map[string]*file{}, calls: map[string]*waiting{}, seen: map[uint64]bool{}}
	for _, name := range ancestors(t.paths[0], t.moves) {
		p.files[transcript.PathKey(name)] = &file{}
	}
	for r, err := range merged(ctx, a, t.family) {
		if err != nil {
			return nil, err
		}
		if after(r.Time, at) {
			continue
		}
		for i := range r.Items {
			p.item(&r, &r.Items[i])
		}
		each(p)
	}
	return p, nil
}

// result returns the version of the file after the replay.
func (f *file) result(path, session string) (*Version, error) {
	if !f.touched {
		return nil, fmt.Errorf("find file %s: %w: no successful call on it before that time", path, ErrNotFound)
	}
	text, ok := f.content.Text()
	if !ok {
		return nil, &UnknownError{Path: path, Session: session, Lines: f.content.Known(), Why: f.why, Last: f.last}
	}
	v := f.version
	v.Path, v.Text, v.Gone, v.Doubt = path, text, f.gone, f.doubt
	return &v, nil
}

// ancestors returns a path and its former names.
func ancestors(path string, moves []transcript.FileChange) []string {
	all := []string{path}
	for i := len(moves) - 1; i >= 0; i-- {
		m := moves[i]
		for _, name := range slices.Clone(all) {
			from := ""
			if holds(destinations(m), name) {
				from = m.Path
			}
			for _, to := range destinations(m) {
				if rest, ok := transcript.Below(name, to); ok && m.Tree && from == "" {
					from = transcript.Join(m.Path, rest)
				}
			}
			if from != "" && !holds(all, from) && len(all) < maxPaths {
				all = append(all, from)
			}
		}
	}
	return all
}

func (p *replay) item(r *sourced, it *transcript.Item) {
	key := fmt.Sprint(r.from, " ", it.Call)
	switch it.Kind {
	case transcript.Call:
		a := it.Understand()
		a.Resolve(r.cwd)
		if p.concerns(&a) && !p.again(it) {
			p.wait(key, &waiting{strings.Clone(it.Tool), slices.Clone(it.Raw), a, it.Client()})
		}
	case transcript.Result, transcript.Human:
		if w := p.calls[key]; w != nil {
			delete(p.calls, key)
			p.done(r, it, w)
		}
	}
}

// again reports whether a call was seen before.
func (p *replay) again(it *transcript.Item) bool {
	if it.Call == "" || len(p.family) == 1 {
		return false
	}
	h := fnv.New64a()
	h.Write([]byte(it.Call))
	h.Write(it.Raw)
	key := h.Sum64()
	known := p.seen[key]
	p.seen[key] = true
	return known
}

func (p *replay) wait(key string, w *waiting) {
	if p.order = append(p.order, key); len(p.order) > maxWaiting {
		delete(p.calls, p.order[0])
		p.order = p.order[1:]
	}
	p.calls[key] = w
}

// concerns reports whether a call touches one of the files.
func (p *replay) concerns(a *transcript.Action) bool {
	for _, f := range a.Files {
		for name := range p.files {
			if _, in := transcript.Below(name, f.Path); in && f.Tree || transcript.SamePath(name, f.Path) || transcript.SamePath(name, f.To) {
				return true
			}
		}
	}
	return false
}

// done applies the outcome of a call to the files.
func (p *replay) done(r *sourced, it *transcript.Item, w *waiting) {
	out := it.Explain(w.tool, w.action.Op)
	e := event{replay: p, r: r, w: w, out: &out}
	e.copy, e.copied = transcript.CopyOf(r.Record)
	for n, ch := range w.action.Changes(&out) {
		e.n, e.FileChange = n, ch
		for _, name := range slices.Sorted(maps.Keys(p.files)) {
			if _, in := transcript.Below(name, ch.Path); transcript.SamePath(name, ch.Path) || in && ch.Tree {
				e.apply(name, p.files[name])
			}
		}
	}
}

// event is a change of a file that a result reports.
type event struct {
	*replay
	transcript.FileChange
	r      *sourced
	w      *waiting
	out    *transcript.Outcome
	n      int
	copy   transcript.Copy
	copied bool
}

func (e *event) told(what string) *Event {
	return &Event{What: what, Session: e.family[e.r.from].ID, Record: e.r.N, Time: e.r.Time}
}

// apply updates what is known of a file.
func (e *event) apply(name string, f *file) {
	switch e.Op {
	case transcript.Other:
		if f.touched && f.gone == nil {
			f.doubt = e.told("named by a command")
		}
	case transcript.Read:
		e.read(f)
	case transcript.Write, transcript.Edit:
		e.written(f)
	case transcript.Touch:
		f.touched, f.gone = true, nil
	case transcript.Delete:
		f.touched, f.gone = true, e.told("deleted")
	case transcript.Revert:
		f.lose(e.told("restored by git"))
	case transcript.Rename:
		e.moved(name, f)
	}
}

// lose marks the content as unknown.
func (f *file) lose(why *Event) {
	f.touched, f.gone, f.doubt = true, nil, nil
	f.content, f.why = transcript.Content{}, why
}

// now sets the content that the file has from this record on.
func (e *event) now(f *file, c transcript.Content, how string) {
	f.touched, f.gone, f.doubt = true, nil, nil
	f.content = c
	if _, ok := c.Text(); ok {
		f.why, f.last = nil, e.r.Time
	}
	f.version = Version{Source: e.family[e.r.from], Record: e.r.N, Time: e.r.Time, How: how}
}

func (e *event) read(f *file) {
	seen := e.w.client.Reading(e.w.tool, &e.w.action, e.out)
	if e.copied && transcript.SamePath(transcript.Join(e.r.cwd, e.copy.Path), e.w.action.Files[e.n].Path) && len(seen.Known()) > 0 {
		if both := seen.Seen(e.copy.Seen); len(e.copy.Seen.Known()) > 0 && len(both.Known()) > 0 {
			seen = both
		}
	}
	if len(seen.Known()) == 0 {
		f.touched, f.gone = true, nil
		return
	}
	if f.gone != nil || f.doubt != nil {
		f.content = transcript.Content{}
	}
	e.now(f, f.content.Seen(seen), "read")
}

func (e *event) written(f *file) {
	before, how := f.content, "edited"
	certain := strings.EqualFold(e.w.tool, "edit") || strings.EqualFold(e.w.tool, "multiedit")
	switch {
	case f.gone != nil, f.doubt != nil && !certain:
		before = transcript.Content{}
	}
	if e.copied && len(e.copy.Before.Known()) > 0 && transcript.SamePath(transcript.Join(e.r.cwd, e.copy.Path), e.Path) {
		before = e.copy.Before
	}
	after := e.w.client.After(e.w.tool, e.w.input, e.n, before)
	if e.Op == transcript.Write {
		how = "written"
	}
	if e.out.Amended || (e.copied && e.copy.Amended) {
		after = transcript.Content{}
	}
	e.now(f, after, how)
	if len(after.Known()) == 0 {
		f.why = e.told(how)
	}
}

// moved transfers the content to the file's new name.
func (e *event) moved(name string, f *file) {
	rest, _ := transcript.Below(name, e.Path)
	for _, to := range destinations(e.FileChange) {
		g := e.files[transcript.PathKey(transcript.Join(to, cmp.Or(rest, ".")))]
		if g == nil || g == f {
			continue
		}
		*g = *f
		e.now(g, e.w.client.After(e.w.tool, e.w.input, e.n, f.content), "renamed")
		if len(g.content.Known()) == 0 && len(f.content.Known()) > 0 {
			g.why = e.told("renamed")
		}
	}
	f.touched, f.gone = true, e.told("renamed to "+transcript.Join(e.To, cmp.Or(rest, ".")))
}
