package reader

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"ccd/archive"
	"ccd/compactor/lexicon"
	"ccd/compactor/limits"
	"ccd/internal/mark"
	"ccd/internal/project"
	"ccd/internal/session"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// sought is the file that a person asks for.
type sought struct {
	Path string    // absolute, relative, or the last elements of a path
	Dir  string    // absolute; a relative Path is resolved against it first, then against the session's working directory
	At   time.Time // ignore later records; zero for none
	Naming
	session string // the session of Record
	Record  int    // ignore what calls in later records of a session did, and what was done after that; 0 for none
}

// until returns those of some steps, in order of time, that count.
func (w sought) until(steps []step) []step {
	if !w.At.IsZero() { // what has no time may be later
		steps = slices.DeleteFunc(steps, func(s step) bool {
			at := s.from.model.Time(s.rec)
			return s.when.IsZero() || at.After(w.At) || at.IsZero() && s.when.After(w.At)
		})
	}
	last := len(steps)
	for last > 0 && w.Record != 0 && (steps[last-1].from.ID != w.session || steps[last-1].At.N() > w.Record) {
		last--
	}
	return slices.DeleteFunc(steps[:last], func(s step) bool { // whose result came before that of an earlier call
		return w.Record != 0 && s.from.ID == w.session && s.At.N() > w.Record
	})
}

// by says until when records count.
func (w sought) by() string { return w.time(" by ", &w.At) }

// Version is the content of a file as an agent last read or wrote it, and what --info tells of it.
type Version struct {
	Path       string     `json:"path"` // as resolved
	How        string     `json:"how"`  // "read", "written", "edited", "renamed" or Found
	Agent      string     `json:"agent"`
	Session    string     `json:"session"` // of the read or change
	Generation int        `json:"generation"`
	Record     int        `json:"record"` // of its result
	Call       int        `json:"-"`      // the record of its call
	Time       *time.Time `json:"time"`   // of that record, nil if it has none
	Size       int64      `json:"size"`
	Lines      int        `json:"lines"`
	SHA256     string     `json:"sha256"`
	Gone       *Event     `json:"gone"`  // set if the file was deleted or renamed since
	Doubt      *Event     `json:"doubt"` // set if a later command may have changed it
	Text       string     `json:"-"`
	Known      bool       `json:"-"` // Text is the whole content
	Before     *Version   `json:"-"` // from Changes: the newest before it that is known, nil if none is
}

// Diff returns how a version differs from Before, "" if that or its own content is not known.
func (v *Version) Diff() string {
	if v.Before == nil || !v.Known {
		return ""
	}
	return v.Compare(v.Before)
}

// Compare returns the lines in which a version differs from an older one, in hunks; "" if none do.
func (v *Version) Compare(from *Version) string {
	text := string(diff.Diff("before", []byte(from.Text), "after", []byte(v.Text)))
	return minimal(text[max(0, strings.Index(text, "@@")):]) // before it are names that say nothing
}

// minimal returns a diff without the lines that it removes and adds again: package diff only finds lines that occur once in each text.
func minimal(text string) string {
	var b strings.Builder
	sides, last := map[byte][]string{}, byte(0)
	for line := range strings.Lines(text + "@") {
		own := sides[last]
		switch line[0] {
		case '-', '+':
			last = line[0]
			sides[last] = append(sides[last], line[1:])
			continue
		case '\\':
			if len(own) > 0 { // it belongs to the line before
				own[len(own)-1] += line
				continue
			}
		}
		writeFewest(&b, sides['-'], sides['+'])
		clear(sides)
		b.WriteString(line)
	}
	return strings.TrimSuffix(b.String(), "@")
}

// maxCompared bounds the pairs of lines that writeFewest compares.
const maxCompared = 1 << 22

// writeFewest writes the fewest lines of a diff that make one text of another.
func writeFewest(b *strings.Builder, was, now []string) {
	if len(was)*len(now) > maxCompared {
		writeFewest(b, was, nil)
		was = nil
	}
	same := make([][]int32, len(was)+1) // by where both are: how many lines can stay from there
	same[len(was)] = make([]int32, len(now)+1)
	for i, old := range slices.Backward(was) {
		same[i] = make([]int32, len(now)+1)
		for j, line := range slices.Backward(now) {
			if same[i][j] = max(same[i+1][j], same[i][j+1]); old == line {
				same[i][j] = same[i+1][j+1] + 1
			}
		}
	}
	i, j := 0, 0
	for i+j < len(was)+len(now) {
		switch {
		case i < len(was) && j < len(now) && was[i] == now[j]:
			b.WriteString(" " + was[i])
			i, j = i+1, j+1
		case i < len(was) && (j == len(now) || same[i+1][j] >= same[i][j+1]):
			b.WriteString("-" + was[i])
			i++
		default:
			b.WriteString("+" + now[j])
			j++
		}
	}
}

// Found is how a file is that a change found so.
const Found = "found by an edit"

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
	naming  Naming
}

// Error returns the message in one line.
func (e *UnknownError) Error() string {
	said := "restore file " + e.Path + ": its content is not in the transcript"
	if e.Part {
		said = "restore file " + e.Path + ": only a part of it is in the transcript"
	}
	switch {
	case e.Why != nil && e.Last.IsZero():
		said += "; it was " + e.Why.What + " at " + e.naming.record(e.Why.Session, e.Why.Record)
	case e.Why != nil:
		said += " since it was " + e.Why.What + " at " + e.naming.record(e.Why.Session, e.Why.Record)
	}
	return said
}

// Unwrap returns archive.ErrNotFound.
func (e *UnknownError) Unwrap() error { return archive.ErrNotFound }

// fileIn returns the wanted file from the first family (a session with its sub-agents) that touched exactly that path. If none
// did, it takes the first family with that path below the session's directory, else the first with a path that ends with it.
// It fails with archive.ErrNotFound, with *AmbiguousError if several paths of one family end with it, and with *UnknownError if part of
// the content at that time is unknown. progress is called after each family.
func fileIn(ctx context.Context, families [][]Reading, w sought, progress func()) (*Version, error) {
	found := &touched{rank: rankNone}
	for _, family := range families {
		t, err := touch(ctx, family, w)
		if err != nil {
			return nil, err
		}
		progress()
		if t.rank < found.rank {
			found = t
		}
		if found.rank == rankExact {
			break
		}
	}
	if len(found.found) == 0 {
		return nil, untouched(ctx, families, w)
	}
	one, err := found.one(w)
	if err != nil {
		return nil, err
	}
	f, err := one.replay(func(*file) {})
	if err != nil {
		return nil, err
	}
	v, err := f.result(one.path, found.family[0].ID, w)
	if errors.As(err, new(*UnknownError)) && !w.At.IsZero() && f.Gone == nil {
		if later := foundLater(ctx, found.family, one.path, w); later != nil {
			return later, nil
		}
	}
	return v, err
}

// untouched is the error for a file that no call touched until then. Of one session it says when one first did.
func untouched(ctx context.Context, families [][]Reading, w sought) error {
	err := fmt.Errorf("find file %s: %w: no archived session touched it%s", w.Path, archive.ErrNotFound, w.by())
	if w.Record == 0 {
		return err
	}
	all, failed := touch(ctx, families[0], sought{Path: w.Path, Dir: w.Dir})
	if failed != nil || len(all.found) != 1 {
		return err
	}
	first := all.found[0].calls[0]
	seen := w.record(first.from.ID, first.At.N())
	err = fmt.Errorf("find file %s: %w by %s: the first call on it is %s", w.Path, archive.ErrNotFound, w.record(w.session, w.Record), seen)
	return words.Hint(err, "ccd restore --file %s --at %s", words.Shell(w.Path), words.Shell(seen))
}

// foundLater returns a file as the first change after a time found it, by the client's copy, nil if that does not show it, or if what it
// found is not what was there.
func foundLater(ctx context.Context, family []Reading, path string, w sought) *Version {
	t, err := touch(ctx, family, sought{Path: path, Dir: w.Dir})
	if err != nil || len(t.found) != 1 {
		return nil
	}
	later := slices.DeleteFunc(t.found[0].calls, func(c change) bool { return !c.when.After(w.At) || c.Op == transcript.Read })
	if slices.ContainsFunc(later, func(c change) bool { return c.Op == transcript.Rename && c.away == "" }) {
		return nil // what is before it was done to another file
	}
	f := &file{}
	for _, c := range later {
		e := c.event()
		switch e.change = c; {
		case c.Op == transcript.Other:
			f.Doubt = e.told("named by a command")
			continue
		case c.Op != transcript.Write && c.Op != transcript.Edit, !e.copyOf():
			return nil
		}
		doubt := f.Doubt
		e.now(f, e.copy.Before, Found)
		f.Doubt = doubt
		v, _ := f.result(path, f.Session, w) // an error: it does not show all
		return v
	}
	return nil
}

// maxChanges and maxChangeBytes bound what Changes keeps: of a file with more, the newest.
const (
	maxChanges     = 100
	maxChangeBytes = 32 << 20
)

// Changes returns a file after each call of a session, or of its sub-agents, that changed it or showed another content, the
// oldest first, and its path. It fails like File.
func (l *Library) Changes(ctx context.Context, e *Entry, wanted string) (path string, all []Version, err error) {
	w, family := sought{Path: wanted, Dir: e.Kept.Cwd}, l.family(e)
	t, err := touch(ctx, family, w)
	if err != nil {
		return "", nil, err
	}
	if len(t.found) == 0 {
		return "", nil, fmt.Errorf("find file %s: %w in this session", w.Path, archive.ErrNotFound)
	}
	named, err := t.one(w)
	if err != nil {
		return "", nil, err
	}
	past := history{path: named.path}
	_, err = named.replay(past.take)
	return past.path, past.all, err
}

// history is what a file was.
type history struct {
	path string
	all  []Version
	last Version
	full *Version // the last one that is known
	size int      // bytes of all texts
}

// take adds a file as a call left it, and as the call found it if that was not known.
func (h *history) take(f *file) {
	one := f.Version
	if one.Text, one.Known = f.content.Text(); f.Gone != nil {
		one = Version{How: f.Gone.What, Session: f.Gone.Session, Record: f.Gone.Record, Call: f.Call, Time: f.Gone.Time, Gone: f.Gone, Known: true}
	}
	one.Path = h.path
	shown := h.last
	if one.Record == 0 || one.Record == shown.Record && one.Session == shown.Session {
		return
	}
	if h.last = one; one.How == "read" && shown.Known && shown.Text == one.Text {
		return
	}
	if found, ok := f.found.Text(); ok && !shown.Known {
		before := one
		before.How, before.Text, before.Known = Found, found, true
		h.add(before)
	}
	h.add(one)
}

func (h *history) add(one Version) {
	one.Before = h.full
	h.all = append(h.all, one)
	if one.Known {
		one.Before, h.full = nil, &one // versions that are left out are not kept
	}
	for h.size += len(one.Text); len(h.all) > 1 && (len(h.all) > maxChanges || h.size > maxChangeBytes); h.all = h.all[1:] {
		h.size -= len(h.all[0].Text)
	}
}

// Newest returns the files of one session that were read or changed last, the newest first, whose content is known: at most so many. It
// fails with the archive's error.
func Newest(ctx context.Context, s Reading, most int) (all []*Version, err error) {
	t, err := touch(ctx, []Reading{s}, sought{})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(t.trails, func(a, b *trail) int { return b.last - a.last })
	for _, one := range t.trails {
		if len(all) == most {
			break
		}
		f, err := one.replay(func(*file) {})
		if err != nil {
			return nil, err
		}
		if v, err := f.result(one.path, s.ID, sought{}); err == nil && v.Gone == nil && v.Text != "" { // an error: the content is not known
			all = append(all, v)
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

// touched is what the calls of a family did to files, and which of these match.
type touched struct {
	family []Reading
	trails []*trail
	byPath map[string]*trail // by transcript.PathKey
	rank   int
	found  []*trail
}

// trail is what calls did to what has a path; of a renamed file also what they did to it before, under its former names.
type trail struct {
	path  string
	from  []*origin // the sessions that name it
	calls []change
	last  int  // number of the last step that read or changed it
	gone  bool // it was deleted or renamed
}

// origin is a session of a family as it is read.
type origin struct {
	Reading
	model *session.Session
	text  *session.Source
	then  session.Status // until when records count
}

// step is a call that names files.
type step struct {
	*session.Call
	from *origin
	rec  int32     // of its result, or of the call if it has none
	when time.Time // of that record, or of those before it
}

// change is what a step did to a file.
type change struct {
	step
	session.Change
	away string // the new name, if the file was renamed to another one; "" if it was renamed to this one
}

// touch reads a family and finds the files that match, none if no path is wanted.
func touch(ctx context.Context, family []Reading, w sought) (*touched, error) {
	t := &touched{family: family, byPath: map[string]*trail{}, rank: rankNone}
	var steps []step
	seen := map[[2]uint64]*origin{} // a sub-agent's transcript may begin with a copy of its parent's
	for _, one := range family {
		from, err := originOf(ctx, one, w)
		if err != nil {
			return nil, err
		}
		if n := from.model.Records(); from.ID == w.session && n < w.Record {
			return nil, fmt.Errorf("find record %s: %w: the session has %d records", w.record(w.session, w.Record), archive.ErrNotFound, n)
		}
		var own []step
		for _, c := range from.model.Calls {
			key := [2]uint64{c.At.Sum.Key(), c.Result.Sum.Key()}
			if first, known := seen[key]; len(c.Files) > 0 && (!known || first == from) {
				seen[key] = from
				own = append(own, step{Call: c, from: from, rec: max(c.At.Rec, c.Result.Rec)})
			}
		}
		dated(own, from.model)
		steps = append(steps, own...)
	}
	slices.SortStableFunc(steps, func(a, b step) int { return a.when.Compare(b.when) })
	for n, s := range w.until(steps) {
		for _, f := range s.Files {
			if !s.Result.Zero() { // else it has not ended by then
				t.take(n, change{step: s, Change: f})
			}
		}
	}
	if w.Path != "" {
		t.match(w)
	}
	return t, nil
}

// originOf reads a session.
func originOf(ctx context.Context, r Reading, w sought) (*origin, error) {
	s := session.New(limits.Options{}, r.Session)
	from := &origin{Reading: r, model: s}
	over := false
	for one, err := range r.Records(ctx) {
		if err != nil {
			return nil, err
		}
		if !over && (!w.At.IsZero() && one.Time.After(w.At) || w.Record != 0 && r.ID == w.session && one.N > w.Record) {
			over, from.then = true, s.Status()
		}
		s.Add(one)
	}
	if !over {
		from.then = s.Status()
	}
	from.text = session.NewSource(s, r.Text(ctx))
	from.text.Whole = true
	return from, nil
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

// trail returns that of a path, which a session names.
func (t *touched) trail(path string, from *origin) *trail {
	key := transcript.PathKey(path)
	one := t.byPath[key]
	if one == nil {
		one = &trail{path: path, last: -1}
		t.byPath[key], t.trails = one, append(t.trails, one)
	}
	if !slices.Contains(one.from, from) {
		one.from = append(one.from, from)
	}
	return one
}

// take adds what step number n did to a file, or to a directory with the files in it.
func (t *touched) take(n int, c change) {
	if c.Op != transcript.Other {
		t.trail(c.File.Path, c.from)
	}
	for _, one := range t.trails {
		rest, below := transcript.Below(one.path, c.File.Path)
		switch {
		case !c.Sure && c.Op != transcript.Other, !transcript.SamePath(one.path, c.File.Path) && !(below && c.Tree):
			continue
		case c.Op == transcript.Rename:
			t.rename(one, rest, n, c)
			continue
		case c.Op != transcript.Other:
			one.last, one.gone = n, c.Op == transcript.Delete
		}
		one.calls = append(one.calls, c)
	}
}

// rename moves a trail to the new name, or to the two that are possible. rest is its path below what was renamed.
func (t *touched) rename(from *trail, rest string, n int, c change) {
	if rest != "" && from.gone {
		return
	}
	for _, to := range destinations(c.Change, rest) {
		path := transcript.Join(to, cmp.Or(rest, "."))
		if one := t.trail(path, c.from); one != from {
			one.calls, one.last, one.gone = append(slices.Clone(from.calls), c), n, false
		}
	}
	c.away = transcript.Join(c.To.Path, cmp.Or(rest, "."))
	from.calls, from.gone = append(from.calls, c), true
}

// match finds the paths that match best.
func (t *touched) match(w sought) {
	for _, one := range t.trails {
		rank := one.rank(w)
		if rank == rankNone || rank > t.rank {
			continue
		}
		if rank < t.rank {
			t.rank, t.found = rank, nil
		}
		if len(t.found) < maxPaths {
			t.found = append(t.found, one)
		}
	}
}

func (one *trail) rank(w sought) int {
	inside := func(dir string) bool { return dir != "" && transcript.SamePath(one.path, transcript.Join(dir, w.Path)) }
	switch {
	case transcript.SamePath(one.path, transcript.Join(w.Dir, w.Path)):
		return rankExact
	case slices.ContainsFunc(one.from, func(from *origin) bool {
		return inside(from.then.Start) || inside(from.then.Cwd)
	}):
		return rankInside
	case transcript.EndsWith(one.path, w.Path): // of a relative one the directory is unknown
		return rankEnd
	}
	return rankNone
}

// one returns the file that matches, of several the one that was not renamed.
func (t *touched) one(w sought) (*trail, error) {
	left := slices.DeleteFunc(slices.Clone(t.found), func(one *trail) bool { n := len(one.calls); return n > 0 && one.calls[n-1].away != "" })
	if len(left) == 0 {
		left = t.found
	}
	if len(left) == 2 && slices.ContainsFunc(left, func(one *trail) bool { return one.path == w.Path }) { // perhaps one file, which some calls name without its directory
		return slices.MaxFunc(left, func(a, b *trail) int { return a.last - b.last }), nil
	}
	if len(left) > 1 {
		several := &AmbiguousError{What: "file " + w.Path, Why: "several paths match"}
		for _, one := range left {
			several.Matches = append(several.Matches, one.path)
		}
		return nil, several
	}
	return left[0], nil
}

// destinations returns the possible new names of a renamed file: two if the target may be a directory. A directory, in which the file
// is at rest, is taken to have the new name itself.
func destinations(f session.Change, rest string) []string {
	if rest != "" || !f.Tree || !f.Into && strings.Contains(transcript.Base(f.To.Path), ".") {
		return []string{f.To.Path}
	}
	return []string{f.To.Path, transcript.Join(f.To.Path, transcript.Base(f.File.Path))}
}

// file is the state of a file during a replay, as the last change or read left it.
type file struct {
	Version
	content transcript.Content
	found   transcript.Content // what the last change found, by the client's copy
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
	v, sum := f.Version, sha256.Sum256([]byte(text))
	v.Path, v.Text, v.Size, v.Lines, v.SHA256 = path, text, int64(len(text)), lexicon.AllLines(text), hex.EncodeToString(sum[:])
	return &v, nil
}

// replay applies the calls on a file, and calls each after each of them.
func (one *trail) replay(each func(*file)) (*file, error) {
	f, e := &file{}, &event{}
	for i, c := range one.calls {
		if c.Call != e.Call {
			e = c.event()
		}
		e.change = c
		e.apply(f)
		if err := c.from.text.Err; err != nil {
			return nil, err
		}
		if i+1 == len(one.calls) || one.calls[i+1].Call != c.Call {
			f.Call = c.At.N()
			each(f)
		}
	}
	return f, nil
}

// event is a change of a file that a result reports.
type event struct {
	change
	client *transcript.Client
	input  []byte
	out    transcript.Outcome
	copy   transcript.Copy
	copied bool
	at     time.Time
}

// event reads a call and its result.
func (s step) event() *event {
	m, text := s.from.model, s.from.text
	e := &event{client: m.Client(), input: slices.Clone(text.Raw(s.At)), out: text.Explain(s.Call), at: m.Time(s.Result.Rec)}
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
func (e *event) apply(f *file) {
	f.found = transcript.Content{}
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
		e.renamed(f)
	}
}

// now sets the content that the file has from this record on.
func (e *event) now(f *file, c transcript.Content, how string) {
	f.touched, f.content = true, c
	if _, ok := c.Text(); ok {
		f.why, f.last = nil, e.at
	}
	f.Version = Version{How: how, Agent: e.from.Agent, Session: e.from.ID, Generation: e.from.N, Record: e.Result.N(), Time: words.Known(e.at)}
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
	if e.copyOf() {
		f.found = e.copy.Before
	}
	if !after.Known() && f.why == nil { // else it was unknown already
		f.why = e.told(how)
	}
}

// renamed takes the file to another name, or the content from another one to this.
func (e *event) renamed(f *file) {
	if e.away != "" {
		f.touched, f.Gone = true, e.told("renamed to "+e.away)
		return
	}
	known := f.content.Known()
	if e.now(f, e.client.After(e.Tool, e.input, int(e.N), f.content), "renamed"); known && !f.content.Known() {
		f.why = e.told("renamed")
	}
}

// WantedFile is a file as an agent last read or wrote it.
type WantedFile struct {
	Path    string
	At      string // a time, as people write it, or SESSION#N; "" for the last one
	Session string // "" for the newest session that touched the file, of this project if one did
	Agent   string // "": of every agent
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
	dir, err := l.Env.WorkingDir()
	if err != nil {
		return nil, err
	}
	wanted, read := sought{Path: w.Path, Dir: dir, Naming: w.Naming}, 0
	own, rest, err := l.wanted(&w, &wanted)
	if err != nil {
		return nil, err
	}
	if transcript.IsAbs(w.Path) { // it is the same file in each project
		own, rest = slices.Concat(own, rest), nil
	}
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

// wanted returns the families that may have the file: that of the wanted session, else those of the project, and the rest. It adds until when
// records count.
func (l *Library) wanted(w *WantedFile, in *sought) (own, rest [][]Reading, err error) {
	if step := (Wanted{Name: w.At}); step.OfSession() {
		named, last := w.Session, 0
		if w.Session, in.Record, last, err = step.Range(); err == nil && (named != "" || w.Session == "" || last != in.Record) {
			err = words.Usage(fmt.Errorf("--at %s: expected one record of a session, and no other SESSION", w.At))
		}
	} else if in.At, err = words.Moment(w.At, time.Now()); err != nil {
		err = words.Usage(err)
	}
	if err != nil || w.Session == "" {
		own, rest = l.families(project.Of(in.Dir, l.Home))
		return own, rest, err
	}
	e, err := l.Find(w.Session, w.Agent)
	if err != nil {
		return nil, nil, err
	}
	if in.Record != 0 {
		in.session = e.ID
		e = cmp.Or(l.Parent(e), e)
	}
	return [][]Reading{l.family(e)}, nil, nil
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
		return words.Hint(err, "ccd restore --file %s --at %s %s", words.Shell(unknown.Path), words.Exact(unknown.Last), words.Argument(w.Naming.session(unknown.Session)))
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
	text := v.How + " in " + n.record(v.Session, v.Record)
	switch { // with seconds: an agent changes a file more than once in a minute
	case v.Time == nil:
		return text
	case n == nil:
		return text + ", " + v.Time.UTC().Format(time.RFC3339)
	}
	return text + ", " + v.Time.Local().Format(time.DateTime)
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
