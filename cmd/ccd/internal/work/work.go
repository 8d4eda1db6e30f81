// Package work reads what sessions did: what was asked, which files changed, what was committed and compacted, and what the
// replies cost.
//
// Invariant: it only reads, and it counts what records prove, each thing once: what a fork, a copy or a client repeats is the same
// thing. It knows nothing of how a sum is printed.
package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"ccd/archive"
	"ccd/cmd/ccd/internal/reader"
	"ccd/compactor/limits"
	"ccd/daemon"
	"ccd/internal/config"
	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// Session is what one session did.
type Session struct {
	*reader.Entry
	Deeds []session.Deed // without requests that were taken back, and those of a sub-agent's parent; without a time, as new as the session
}

// read returns what a session did: as it was counted when it was archived, else by its records.
func read(ctx context.Context, l *reader.Library, e *reader.Entry) (*Session, error) {
	known, back := e.Kept.Known, e.Kept.TakenBack
	if tip := e.Tip(); !known.Counted() || e.Kept.Read != (daemon.Place{Generation: tip.Generation, Offset: tip.Offset}) {
		g, err := l.Reading(e, 0)
		if err != nil {
			return nil, err
		}
		t := session.NewTracker(limits.Options{}, g.Session)
		for r, err := range g.Records(ctx) {
			if err != nil {
				return nil, err
			}
			t.Add(r)
		}
		known, back = t.Status().Known, t.Status().Back
	}
	all, err := known.Did()
	s := &Session{Entry: e}
	for _, d := range all {
		if last := e.Last(); d.Milli == 0 && !last.IsZero() {
			d.Milli = last.UnixMilli()
		}
		if d.Kind != session.Requested || e.Class != transcript.SubAgent && !back.Has(int(d.Record)) {
			s.Deeds = append(s.Deeds, d)
		}
	}
	return s, err
}

// Each yields the wanted sessions that do something of their own, newest first: those that are archived from a watched directory.
// Damage is noted in the library, and does not end it.
func Each(ctx context.Context, l *reader.Library, c reader.Choice) iter.Seq2[*Session, error] {
	return func(yield func(*Session, error) bool) {
		for _, e := range l.Sessions {
			late := !e.Last().IsZero() && e.Last().Before(c.Since)
			early := !c.Until.IsZero() && e.Kept.First.After(c.Until)
			works := e.Class != transcript.Attachment && e.Root != "" && len(e.Generations) > 0 && !e.Kept.UnknownFormat
			if !works || late || early || !c.Session(e) {
				continue
			}
			s, err := read(ctx, l, e)
			if errors.As(err, new(*archive.DamageError)) {
				l.Damage = append(l.Damage, err)
			} else if !yield(s, err) {
				return
			}
		}
	}
}

// File is a file that a session changed: all its versions there, or one.
type File struct {
	Path     string     `json:"path"`
	How      string     `json:"how"`
	Versions int        `json:"versions"`
	Plus     int64      `json:"plus"`
	Minus    int64      `json:"minus"`
	Agent    string     `json:"agent"`
	Session  string     `json:"session"`
	Record   int64      `json:"record"`
	Time     *time.Time `json:"time"`
	Project  string     `json:"project"`
	Diff     string     `json:"diff,omitempty"` // of a version, if wanted and known

	At    time.Time     `json:"-"` // Time, or zero
	Alone bool          `json:"-"` // it is one version
	Of    *reader.Entry `json:"-"`
}

// Files returns the files that sessions changed, those changed last first: at most so many, all if most is 0, and whether there are more.
// Of the files that at accepts, a path names one: each of its versions counts. Sessions are read from the newest on, until no older one can
// have a newer change. It fails with the archive's error, but not for damage.
func Files(ctx context.Context, l *reader.Library, which reader.Choice, most int, at func(file string) bool, path string) (all []*File, more bool, err error) {
	seen, chosen := map[int64]bool{}, which.Session
	all = []*File{}
	which.Session = func(e *reader.Entry) bool {
		return chosen(e) && (most == 0 || len(all) <= most || all[most].At.Before(e.Last()))
	}
	for s, err := range Each(ctx, l, which) {
		if err != nil {
			return nil, false, err
		}
		all = append(all, s.files(which, at, path, seen)...)
		slices.SortStableFunc(all, func(x, y *File) int { return y.At.Compare(x.At) })
		if most > 0 {
			all = all[:min(len(all), most+1)]
		}
	}
	if more = most > 0 && len(all) > most; more {
		all = all[:most]
	}
	return all, more, nil
}

// files returns the changed files of a session: one for each or, of the file that path is, one for each change.
func (s *Session) files(which reader.Choice, at func(file string) bool, path string, seen map[int64]bool) (all []*File) {
	known := map[string]*File{}
	for _, e := range s.Deeds {
		if e.Kind != session.Changed || !at(e.Name) || !which.In(e.Time()) || seen[e.Key] || which.Record != 0 && int(e.Record) != which.Record {
			continue
		}
		seen[e.Key] = true
		f := known[transcript.PathKey(e.Name)]
		if itself := which.Record != 0 || path != "" && transcript.EndsWith(e.Name, path); f == nil || itself {
			f = &File{Path: e.Name, Agent: s.Agent, Session: mark.Name(s.Name()), Project: s.Kept.Cwd, Alone: itself, Of: s.Entry}
			known[transcript.PathKey(e.Name)] = f
			all = append(all, f)
		}
		f.How, f.Versions, f.Record, f.At, f.Time = reader.How[transcript.Op(e.Op)], f.Versions+1, e.Record, e.Time(), words.Known(e.Time())
		f.Plus, f.Minus = f.Plus+e.Plus, f.Minus+e.Minus
	}
	return all
}

// Sum is what was done in a time, in a session, in a project, by an agent or by a model. Of a model only sessions and tokens are counted:
// what else was done, no record ascribes to one.
type Sum struct {
	Name      string `json:"-"`               // of a session behind its agent, if another agent has one of that name
	Key       string `json:"name"`            // of a time its first day or its month, as ISO 8601 has it; else Name
	Agent     string `json:"agent,omitempty"` // of a session
	Sessions  int    `json:"sessions"`        // with their sub-agents
	Requests  int    `json:"requests"`
	Files     int    `json:"files"` // different ones that were changed
	Commits   int    `json:"commits"`
	Compacted int    `json:"compactions"`
	transcript.Spent
	Replies int      `json:"replies"`
	Cost    *float64 `json:"cost_usd"` // null if a price is not configured

	Of       *reader.Entry `json:"-"` // the session, if it is the sum of one
	first    time.Time
	sessions map[transcript.Key]bool
	files    map[string]bool
	free     bool // a reply has no price
}

// Sums are the sums of a time. Lists are in order of time, else the most tokens come first.
type Sums struct {
	Since    time.Time       `json:"since"`
	Until    time.Time       `json:"until"`
	Total    *Sum            `json:"total"`
	Times    []*Sum          `json:"by_time"`
	Sessions []*Sum          `json:"by_session"` // with their sub-agents
	Projects []*Sum          `json:"by_project"`
	Agents   []*Sum          `json:"by_agent"`
	Models   []*Sum          `json:"by_model"`
	Unpriced []string        `json:"unpriced"` // models without a price; none if no price is configured
	Damage   []reader.Damage `json:"damage"`

	seen    map[int64]bool
	replies []reply
	known   map[int64]int // index of a reply by its key
}

// reply is a reply of a session, which is one with whole.
type reply struct {
	session.Deed
	of    *Session
	whole *reader.Entry
}

// Wanted is what is added up, with both limits of time.
type Wanted struct {
	reader.Choice
	Models config.Models // with their prices
}

// Of adds up the sessions of a library. It fails with the archive's error, but not for damage.
func Of(ctx context.Context, l *reader.Library, w Wanted) (*Sums, error) {
	b := &Sums{Since: w.Since, Until: w.Until, Total: newSum("total"), Unpriced: []string{}, seen: map[int64]bool{}, known: map[int64]int{}}
	for s, err := range Each(ctx, l, w.Choice) {
		if err != nil {
			return nil, err
		}
		whole := cmp.Or(l.Parent(s.Entry), s.Entry)
		for _, d := range s.Deeds {
			b.add(d, s, whole, w)
		}
	}
	b.spend(w)
	b.Damage = reader.DamagesOf(l.Damage)
	b.end(len(w.Models.Prices) > 0)
	return b, nil
}

func newSum(name string) *Sum {
	return &Sum{Name: name, Key: name, sessions: map[transcript.Key]bool{}, files: map[string]bool{}}
}

// add adds a deed of a session, which is one with whole.
func (b *Sums) add(d session.Deed, s *Session, whole *reader.Entry, w Wanted) {
	switch {
	case d.Kind == session.Replied:
		b.reply(reply{d, s, whole})
	case w.In(d.Time()) && !b.seen[d.Key]:
		b.seen[d.Key] = true
		b.count(d.Time(), s.Agent, whole, func(one *Sum) {
			switch d.Kind {
			case session.Requested:
				one.Requests++
			case session.Committed:
				one.Commits++
			case session.Compacted:
				one.Compacted++
			case session.Changed:
				one.files[transcript.PathKey(d.Name)] = true
			}
		})
	}
}

// reply takes a reply. A later record of the session has the whole count; what another session repeats may be less than all of it.
func (b *Sums) reply(r reply) {
	switch i, known := b.known[r.Key]; {
	case !known:
		b.known[r.Key] = len(b.replies)
		b.replies = append(b.replies, r)
	case r.of == b.replies[i].of:
		b.replies[i].Spent = r.Spent
	case r.Out > b.replies[i].Out:
		b.replies[i] = r
	}
}

// count counts a thing in each sum that it belongs to, but for that of a model.
func (b *Sums) count(at time.Time, agent string, whole *reader.Entry, count func(*Sum)) {
	key, name := b.step(at)
	step := named(&b.Times, name)
	step.Key = key
	alone := named(&b.Sessions, whole.Agent+" "+mark.Name(whole.Name()))
	alone.Of, alone.Agent, alone.Key = whole, whole.Agent, mark.Name(whole.Name())
	for _, one := range []*Sum{b.Total, step, alone, named(&b.Projects, cmp.Or(whole.Kept.Cwd, "(unknown)")), named(&b.Agents, agent)} {
		if one.sessions[whole.Key] = true; one.first.IsZero() || at.Before(one.first) {
			one.first = at
		}
		count(one)
	}
}

// spend adds what the replies cost.
func (b *Sums) spend(w Wanted) {
	for _, r := range b.replies {
		if !w.In(r.Time()) {
			continue
		}
		price, priced := w.Models.Price(r.Name)
		cost := (float64(r.In)*price[0] + float64(r.Cached)*price[1] + float64(r.Written)*price[2] + float64(r.Out)*price[3]) / 1e6
		add := func(one *Sum) {
			one.In, one.Cached, one.Written, one.Out = one.In+r.In, one.Cached+r.Cached, one.Written+r.Written, one.Out+r.Out
			one.Begun, one.Replies = one.Begun+r.Begun, one.Replies+1
			if one.free = one.free || !priced; one.Cost == nil {
				one.Cost = new(float64)
			}
			*one.Cost += cost
		}
		b.count(r.Time(), r.of.Agent, r.whole, add)
		one := named(&b.Models, cmp.Or(r.Name, "(unknown)"))
		one.sessions[r.whole.Key] = true
		add(one)
	}
}

// The longest times of which each day, and each week, is told.
const (
	mostDays  = 14
	mostWeeks = 120
)

// Unit is what the times of the sums are, as the whole time needs it: a day, a week or a month.
func (b *Sums) Unit() string {
	switch days := int(b.Until.Sub(b.Since).Hours() / 24); {
	case days <= mostDays:
		return "day"
	case days <= mostWeeks:
		return "week"
	}
	return "month"
}

// step names the unit of a time: for programs and for people.
func (b *Sums) step(t time.Time) (key, name string) {
	t = t.Local()
	switch b.Unit() {
	case "day":
		return t.Format(time.DateOnly), t.Format("Mon 2 Jan")
	case "week":
		monday := t.AddDate(0, 0, -(int(t.Weekday())+6)%7)
		return monday.Format(time.DateOnly), monday.Format("week of 2 Jan")
	}
	return t.Format("2006-01"), t.Format("Jan 2006")
}

func named(list *[]*Sum, name string) *Sum {
	if i := slices.IndexFunc(*list, func(one *Sum) bool { return one.Name == name }); i >= 0 {
		return (*list)[i]
	}
	one := newSum(name)
	*list = append(*list, one)
	return one
}

// end counts what is different, and puts the lists in order.
func (b *Sums) end(priced bool) {
	for _, list := range [][]*Sum{{b.Total}, b.Times, b.Sessions, b.Projects, b.Agents, b.Models} {
		for _, one := range list {
			if one.Sessions, one.Files = len(one.sessions), len(one.files); one.free || !priced {
				one.Cost = nil
			}
		}
	}
	names := map[string]int{}
	for _, one := range b.Sessions {
		names[one.Key]++
	}
	for _, one := range b.Sessions {
		if names[one.Key] == 1 {
			one.Name = one.Key
		}
	}
	for _, list := range []*[]*Sum{&b.Times, &b.Sessions, &b.Projects, &b.Agents, &b.Models} {
		if *list == nil {
			*list = []*Sum{}
		}
		slices.SortFunc(*list, func(x, y *Sum) int {
			return cmp.Or(cmp.Compare(y.Tokens(), x.Tokens()), strings.Compare(x.Name, y.Name))
		})
	}
	slices.SortStableFunc(b.Times, func(x, y *Sum) int { return x.first.Compare(y.first) })
	for _, one := range b.Models {
		if priced && one.Cost == nil {
			b.Unpriced = append(b.Unpriced, one.Name)
		}
	}
}

// Tokens is how many tokens there are, whatever they cost.
func (s *Sum) Tokens() int64 { return s.In + s.Cached + s.Written + s.Out }

// Input is how many tokens the replies had as their context, from a cache or not.
func (s *Sum) Input() int64 { return s.In + s.Written + s.Cached }

// Caveat says what makes Out too low, "" if nothing does.
func (s *Sum) Caveat() string {
	if s.Begun == 0 {
		return ""
	}
	return fmt.Sprintf("Output tokens are too low: of %d of %d replies, the transcript has only the count that the stream began with", s.Begun, s.Replies)
}

// Dollars is the cost, "" if a price is missing.
func (s *Sum) Dollars() string {
	if s.Cost == nil {
		return ""
	}
	return fmt.Sprintf("$%.2f", *s.Cost)
}
