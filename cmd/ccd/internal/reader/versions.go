package reader

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ccd/archive"
	"ccd/compactor/limits"
	"ccd/internal/session"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// sought is the file that a person asks for.
type sought struct {
	Path string    // absolute, relative, or the last elements of a path
	Dir  string    // absolute; a relative Path is resolved against it first, then against the session's working directory
	At   time.Time // ignore later records; zero for none
	Ask  bool      // fail with *AmbiguousError if the sessions of several directories touched such a path
}

// by says until when records count.
func (w sought) by() string {
	if w.At.IsZero() {
		return ""
	}
	return " by " + w.At.UTC().Format("2006-01-02T15:04Z")
}

// Version is the content of a file as an agent last read or wrote it.
type Version struct {
	Path   string // as resolved
	Text   string
	Source Reading   // the session of the read or change
	Record int       // the record of its result
	Time   time.Time // of that record, zero if it has none
	How    string    // "read", "written", "edited" or "renamed"
	Gone   *Event    // set if the file was deleted or renamed since
	Doubt  *Event    // set if a later command may have changed it
}

// How names what a change does to a file.
var How = map[transcript.Op]string{
	transcript.Write: "written", transcript.Edit: "edited", transcript.Delete: "deleted", transcript.Rename: "renamed",
	transcript.Revert: "reverted", transcript.Touch: "created",
}

// Event is a change of a file in a record.
type Event struct {
	What    string     `json:"what"` // "deleted", "renamed to PATH", "put back", "changed", in words for people
	Session string     `json:"session"`
	Record  int        `json:"record"`
	Time    *time.Time `json:"time"`
}

// String says what happened and in which record.
func (e *Event) String() string { return fmt.Sprintf("%s, %s#%d", e.What, e.Session, e.Record) }

// UnknownError reports that a file was touched but its content is not fully known.
type UnknownError struct {
	Path    string
	Session string    // the session that touched it
	Part    bool      // some lines of it are known
	Why     *Event    // the change whose result the transcript does not contain; nil if it never had the whole file
	Last    time.Time // until when the content was known, zero if never
}

// Error returns the message in one line.
func (e *UnknownError) Error() string {
	said := "restore file " + e.Path + ": its content is not in the transcript"
	if e.Part {
		said = "restore file " + e.Path + ": only a part of it is in the transcript"
	}
	switch {
	case e.Why != nil && e.Last.IsZero():
		said += fmt.Sprintf("; it was %s at %s#%d", e.Why.What, e.Why.Session, e.Why.Record)
	case e.Why != nil:
		said += fmt.Sprintf(" since it was %s at %s#%d", e.Why.What, e.Why.Session, e.Why.Record)
	}
	return said
}

// Unwrap returns archive.ErrNotFound.
func (e *UnknownError) Unwrap() error { return archive.ErrNotFound }

// fileIn returns the wanted file from the first family (a session with its sub-agents) that touched exactly that path. If none
// did, it takes the first family with that path below the session's directory, else the first with a path that ends with it;
// with Ask, these must be one path.
// It fails with archive.ErrNotFound, with *AmbiguousError if several paths of one family end with it, and with *UnknownError if part of
// the content at that time is unknown. progress is called after each family.
func fileIn(ctx context.Context, families [][]Reading, w sought, progress func()) (*Version, error) {
	found := &touched{rank: rankNone}
	var others []string // the paths that match as well as found's
	for _, family := range families {
		t, err := touch(ctx, family, w)
		if err != nil {
			return nil, err
		}
		progress()
		if t.rank < found.rank {
			found, others = t, nil
		}
		if w.Ask && t.rank == found.rank {
			others = t.addTo(others, w)
		}
		if found.rank == rankExact {
			break
		}
	}
	if len(found.paths) == 0 {
		return nil, fmt.Errorf("find file %s: %w: no archived session touched it%s", w.Path, archive.ErrNotFound, w.by())
	}
	path, err := found.path(w)
	if err == nil && len(others) > 1 {
		err = &AmbiguousError{What: "file " + w.Path, Why: "several projects have it", Matches: others}
	}
	if err != nil {
		return nil, err
	}
	f, err := found.replay(path, func(*file) {})
	if err != nil {
		return nil, err
	}
	return f.result(path, found.family[0].ID, w)
}

// Change is a file after one call that read or changed it. Text is "" and Known false if its content is not wholly known.
type Change struct {
	Version
	Known bool
}

// maxChanges and maxChangeBytes bound what Changes keeps: of a file with more, the newest.
const (
	maxChanges     = 500
	maxChangeBytes = 32 << 20
)

// Changes returns a file after each call of a session, or of its sub-agents, that changed it or showed another content, the
// oldest first, and its path. It fails like File.
func (l *Library) Changes(ctx context.Context, e *Entry, wanted string) (path string, all []Change, err error) {
	w, family := sought{Path: wanted, Dir: e.Kept.Cwd}, l.family(e)
	t, err := touch(ctx, family, w)
	if err != nil {
		return "", nil, err
	}
	if len(t.paths) == 0 {
		return "", nil, fmt.Errorf("find file %s: %w in this session", w.Path, archive.ErrNotFound)
	}
	if path, err = t.path(w); err != nil {
		return "", nil, err
	}
	size, last := 0, Change{}
	_, err = t.replay(path, func(f *file) {
		one := Change{Version: f.Version}
		if one.Text, one.Known = f.content.Text(); f.Gone != nil {
			one = Change{Version{How: f.Gone.What, Record: f.Gone.Record, Source: Reading{Session: transcript.Session{Key: transcript.Key{ID: f.Gone.Session}}}}, true}
			if f.Gone.Time != nil {
				one.Time = *f.Gone.Time
			}
		}
		one.Path = path
		if one.Record == 0 || one.Record == last.Record && one.Source.ID == last.Source.ID {
			return
		}
		shown := last
		if last = one; one.How == "read" && shown.Known && shown.Text == one.Text {
			return
		}
		all = append(all, one)
		for size += len(one.Text); len(all) > 1 && (len(all) > maxChanges || size > maxChangeBytes); all = all[1:] {
			size -= len(all[0].Text)
		}
	})
	return path, all, err
}

// Newest returns the files of one session that were read or changed last, the newest first, whose content is known: at most so many. It
// fails with the archive's error.
func Newest(ctx context.Context, s Reading, most int) (all []*Version, err error) {
	t, err := touch(ctx, []Reading{s}, sought{})
	if err != nil {
		return nil, err
	}
	for _, call := range slices.Backward(t.steps) {
		for _, change := range call.Files {
			path := change.File.Path
			if len(all) == most || !change.Sure || change.Op == transcript.Other || holds(t.paths, path) {
				continue
			}
			t.paths = append(t.paths, path)
			f, err := t.replay(path, func(*file) {})
			if err != nil {
				return nil, err
			}
			if v, err := f.result(path, s.ID, sought{}); err == nil && v.Gone == nil && v.Text != "" { // an error: the content is not known
				all = append(all, v)
			}
		}
	}
	return all, nil
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

// touched are the calls of a family, and those of their files that match.
type touched struct {
	family []Reading
	steps  []step
	moves  []session.Change // all renames, in order
	rank   int
	paths  []string
}

// origin is a session of a family as it is read.
type origin struct {
	Reading
	model *session.Session
	text  *session.Source
}

// step is a call that names files.
type step struct {
	*session.Call
	from *origin
	rec  int32     // of its result, or of the call if it has none
	when time.Time // of that record, or of those before it
}

// touch reads a family and finds the files that match, none if no path is wanted.
func touch(ctx context.Context, family []Reading, w sought) (*touched, error) {
	t := &touched{family: family, rank: rankNone}
	seen := map[[2]uint64]*origin{} // a sub-agent's transcript may begin with a copy of its parent's
	for _, one := range family {
		s := session.New(limits.Options{}, one.Session)
		for r, err := range one.Records(ctx) {
			if err != nil {
				return nil, err
			}
			if w.At.IsZero() || r.Time.IsZero() || !r.Time.After(w.At) {
				s.Add(r)
			}
		}
		from := &origin{one, s, session.NewSource(s, one.Text(ctx))}
		from.text.Whole = true
		var own []step
		for _, c := range s.Calls {
			key := [2]uint64{c.At.Sum.Key(), c.Result.Sum.Key()}
			if first, known := seen[key]; len(c.Files) > 0 && (!known || first == from) {
				seen[key] = from
				own = append(own, step{Call: c, from: from, rec: max(c.At.Rec, c.Result.Rec)})
			}
		}
		dated(own, s)
		if !w.At.IsZero() { // what has no time may be later
			own = slices.DeleteFunc(own, func(s step) bool { return s.when.IsZero() })
		}
		t.steps = append(t.steps, own...)
	}
	slices.SortStableFunc(t.steps, func(a, b step) int { return a.when.Compare(b.when) })
	t.moves = moves(t.steps)
	if w.Path != "" {
		t.match(w)
	}
	return t, nil
}

// dated sorts the calls of a session by their records, and gives each the newest time up to there, because its own record
// may have none.
func dated(own []step, s *session.Session) {
	slices.SortStableFunc(own, func(a, b step) int { return cmp.Compare(a.rec, b.rec) })
	when, rec := time.Time{}, int32(0)
	for k := range own {
		for ; rec <= own[k].rec; rec++ {
			if at := s.Time(rec); at.After(when) {
				when = at
			}
		}
		own[k].when = when
	}
}

// moves returns the renames that certainly happened.
func moves(steps []step) (all []session.Change) {
	for _, s := range steps {
		for _, f := range s.Files {
			if f.Sure && f.To != nil {
				all = append(all, f)
			}
		}
	}
	return all
}

// match finds the paths that match best, also under the names that later renames of directories gave them.
func (t *touched) match(w sought) {
	moved := 0
	for _, s := range t.steps {
		if s.Result.Zero() { // it has not ended by then
			continue
		}
		for _, f := range s.Files {
			if f.Op == transcript.Other {
				continue
			}
			path := f.File.Path
			t.add(path, s.from, w)
			if f.Sure && f.To != nil {
				moved++
				for _, to := range destinations(f) {
					t.add(to, s.from, w)
				}
			}
			for _, m := range t.moves[moved:] {
				if rest, ok := transcript.Below(path, m.File.Path); ok && m.Tree {
					path = transcript.Join(m.To.Path, rest)
					t.add(path, s.from, w)
				}
			}
		}
	}
}

// add records a path that matches at least as well as those before it.
func (t *touched) add(p string, from *origin, w sought) {
	st, rank := from.model.Status(), rankNone
	inside := func(dir string) bool { return dir != "" && transcript.SamePath(p, transcript.Join(dir, w.Path)) }
	switch {
	case transcript.SamePath(p, transcript.Join(w.Dir, w.Path)):
		rank = rankExact
	case inside(st.Start), inside(st.Cwd):
		rank = rankInside
	case p == w.Path, transcript.EndsWith(p, w.Path): // of a relative one the directory is unknown
		rank = rankEnd
	}
	if rank == rankNone || rank > t.rank || holds(t.paths, p) {
		return
	}
	if rank < t.rank {
		t.rank, t.paths = rank, nil
	}
	if len(t.paths) < maxPaths {
		t.paths = append(t.paths, p)
	}
}

// path returns the one path that matches, without those that are former names of others.
func (t *touched) path(w sought) (string, error) {
	old := map[string]bool{}
	for _, p := range t.paths {
		for _, name := range t.ancestors(p)[1:] {
			old[transcript.PathKey(name)] = true
		}
	}
	left := slices.DeleteFunc(slices.Clone(t.paths), func(p string) bool { return old[transcript.PathKey(p)] })
	if len(left) == 0 {
		left = t.paths
	}
	if len(left) == 2 && slices.Contains(left, w.Path) { // perhaps one file, which some calls name without its directory
		return t.lastOf(left), nil
	}
	if len(left) > 1 {
		return "", &AmbiguousError{What: "file " + w.Path, Why: "several paths match", Matches: left}
	}
	return left[0], nil
}

// addTo adds the path that matches to others, unless it is among them.
func (t *touched) addTo(others []string, w sought) []string {
	if len(t.paths) == 0 {
		return others
	}
	if p, err := t.path(w); err == nil && !holds(others, p) {
		others = append(others, p)
	}
	return others
}

// lastOf returns the one of the paths that a call named last.
func (t *touched) lastOf(paths []string) string {
	for _, s := range slices.Backward(t.steps) {
		for _, f := range s.Files {
			if holds(paths, f.File.Path) {
				return f.File.Path
			}
		}
	}
	return paths[0]
}

// holds reports whether a path is among others.
func holds(paths []string, p string) bool {
	return slices.ContainsFunc(paths, func(one string) bool { return transcript.SamePath(one, p) })
}

// destinations returns the possible new names of a renamed file: two if the target may be a directory.
func destinations(f session.Change) []string {
	if !f.Tree || !f.Into && strings.Contains(transcript.Base(f.To.Path), ".") {
		return []string{f.To.Path}
	}
	return []string{f.To.Path, transcript.Join(f.To.Path, transcript.Base(f.File.Path))}
}

// ancestors returns a path and its former names.
func (t *touched) ancestors(path string) []string {
	all := []string{path}
	for _, m := range slices.Backward(t.moves) {
		for _, name := range slices.Clone(all) {
			from := ""
			for _, to := range destinations(m) {
				rest, below := transcript.Below(name, to)
				switch {
				case transcript.SamePath(to, name):
					from = m.File.Path
				case below && m.Tree && from == "":
					from = transcript.Join(m.File.Path, rest)
				}
			}
			if from != "" && !holds(all, from) && len(all) < maxPaths {
				all = append(all, from)
			}
		}
	}
	return all
}

// file is the state of a file during a replay, as the last change or read left it.
type file struct {
	Version
	content transcript.Content
	touched bool
	why     *Event    // why the content is unknown
	last    time.Time // until when it was known
}

// result returns the version of the file after the replay.
func (f *file) result(path, session string, w sought) (*Version, error) {
	if !f.touched {
		return nil, fmt.Errorf("find file %s: %w: no successful call on it%s", path, archive.ErrNotFound, w.by())
	}
	text, ok := f.content.Text()
	if !ok {
		return nil, &UnknownError{Path: path, Session: session, Part: f.content.Known(), Why: f.why, Last: f.last}
	}
	v := f.Version
	v.Path, v.Text = path, text
	return &v, nil
}

// replay applies the calls on a file and on the files it was renamed from, and calls each after each of them.
func (t *touched) replay(path string, each func(*file)) (*file, error) {
	files := map[string]*file{} // by PathKey
	for _, name := range t.ancestors(path) {
		files[transcript.PathKey(name)] = &file{}
	}
	names := slices.Sorted(maps.Keys(files))
	for _, s := range t.steps {
		if s.Result.Zero() {
			continue
		}
		var e *event
		for _, change := range s.Files {
			for _, name := range names {
				_, in := transcript.Below(name, change.File.Path)
				if !change.Sure && change.Op != transcript.Other || !transcript.SamePath(name, change.File.Path) && !(in && change.Tree) {
					continue
				}
				if e == nil {
					e = s.event(files)
				}
				e.Change = change
				e.apply(name, files[name])
			}
		}
		if err := s.from.text.Err; err != nil {
			return nil, err
		}
		if e != nil {
			each(files[transcript.PathKey(path)])
		}
	}
	return files[transcript.PathKey(path)], nil
}

// event is a change of a file that a result reports.
type event struct {
	session.Change
	step
	files  map[string]*file
	client *transcript.Client
	input  []byte
	out    transcript.Outcome
	copy   transcript.Copy
	copied bool
	at     time.Time
}

// event reads a call and its result.
func (s step) event(files map[string]*file) *event {
	m, text := s.from.model, s.from.text
	e := &event{step: s, files: files, client: m.Client(), input: slices.Clone(text.Raw(s.At)), out: text.Explain(s.Call), at: m.Time(s.Result.Rec)}
	var results []transcript.Item
	for _, c := range m.Calls {
		if c.Result.Rec == s.Result.Rec && !c.Result.Zero() {
			results = append(results, transcript.Item{Kind: transcript.Result})
		}
	}
	e.copy, e.copied = transcript.CopyOf(&transcript.Record{Raw: text.Record(s.Result.Rec), Items: results})
	return e
}

func (e *event) told(what string) *Event {
	return &Event{What: what, Session: e.from.ID, Record: e.Result.N(), Time: words.Known(e.at)}
}

// apply updates what is known of a file.
func (e *event) apply(name string, f *file) {
	switch e.Change.Op {
	case transcript.Other:
		if f.touched && f.Gone == nil {
			f.Doubt = e.told("named by a command")
		}
	case transcript.Read:
		e.read(f)
	case transcript.Write, transcript.Edit:
		e.written(f)
	case transcript.Touch:
		f.touched, f.Gone = true, nil
	case transcript.Delete:
		f.touched, f.Gone = true, e.told("deleted")
	case transcript.Revert:
		f.Gone, f.Doubt = nil, nil
		e.now(f, transcript.Content{}, "restored by git")
		f.why = e.told(f.How)
	case transcript.Rename:
		e.moved(name, f)
	}
}

// now sets the content that the file has from this record on.
func (e *event) now(f *file, c transcript.Content, how string) {
	f.touched, f.content = true, c
	if _, ok := c.Text(); ok {
		f.why, f.last = nil, e.at
	}
	f.Version = Version{Source: e.from.Reading, Record: e.Result.N(), Time: e.at, How: how}
}

// copyOf reports whether the client's own copy is one of the event's file.
func (e *event) copyOf() bool {
	return e.copied && transcript.SamePath(transcript.Join(e.from.model.Root(), e.copy.Path), e.File.Path)
}

func (e *event) read(f *file) {
	a := e.client.Understand(e.Tool, e.input)
	seen := e.client.Reading(e.Tool, &a, &e.out)
	if e.copyOf() && seen.Known() {
		seen = seen.Seen(e.copy.Seen)
	}
	if !seen.Known() {
		f.touched, f.Gone = true, nil
		return
	}
	if f.Gone != nil || f.Doubt != nil {
		f.content = transcript.Content{}
	}
	e.now(f, f.content.Seen(seen), "read")
}

func (e *event) written(f *file) {
	before, how := f.content, "edited"
	certain := strings.EqualFold(e.Tool, "edit") || strings.EqualFold(e.Tool, "multiedit")
	if f.Gone != nil || f.Doubt != nil && !certain {
		before = transcript.Content{}
	}
	if e.copyOf() && e.copy.Before.Known() {
		before = e.copy.Before
	}
	after := e.client.After(e.Tool, e.input, int(e.N), before)
	if e.Change.Op == transcript.Write {
		how = "written"
	}
	if e.out.Amended || e.copied && e.copy.Amended {
		after = transcript.Content{}
	}
	e.now(f, after, how)
	if !after.Known() {
		f.why = e.told(how)
	}
}

// moved transfers the content to the file's new name.
func (e *event) moved(name string, f *file) {
	rest, _ := transcript.Below(name, e.File.Path)
	for _, to := range destinations(e.Change) {
		g := e.files[transcript.PathKey(transcript.Join(to, cmp.Or(rest, ".")))]
		if g == nil || g == f {
			continue
		}
		*g = *f
		e.now(g, e.client.After(e.Tool, e.input, int(e.N), f.content), "renamed")
		if !g.content.Known() && f.content.Known() {
			g.why = e.told("renamed")
		}
	}
	f.touched, f.Gone = true, e.told("renamed to "+transcript.Join(e.To.Path, cmp.Or(rest, ".")))
}
