package work

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/config"
	"ccd/internal/transcript"
)

// Sum is what was done in a time, in a project, by an agent or by a model. Of a model only sessions and tokens are counted: what else was
// done, no record ascribes to one.
type Sum struct {
	Name      string   `json:"name"`
	Sessions  int      `json:"sessions"` // with their sub-agents
	Requests  int      `json:"requests"`
	Files     int      `json:"files"` // different ones that were changed
	Commits   int      `json:"commits"`
	Compacted int      `json:"compactions"`
	In        int64    `json:"input_tokens"`
	Cached    int64    `json:"cache_read_tokens"`
	Written   int64    `json:"cache_write_tokens"`
	Out       int64    `json:"output_tokens"`
	Replies   int      `json:"replies"`
	Begun     int      `json:"replies_begun"` // those of which the client wrote only the count that the stream began with
	Cost      *float64 `json:"cost_usd"`      // null if a price is not configured

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
	Projects []*Sum          `json:"by_project"`
	Agents   []*Sum          `json:"by_agent"`
	Models   []*Sum          `json:"by_model"`
	Unpriced []string        `json:"unpriced"` // models without a price; none if no price is configured
	Damage   []reader.Damage `json:"damage"`

	seen    map[string]bool
	replies []reply
	known   map[string]int // index of a reply by its key
}

// reply is a reply of a session, which is one with whole.
type reply struct {
	Reply
	agent string
	whole *reader.Entry
}

// Wanted is what is added up, with both limits of time.
type Wanted struct {
	reader.Choice
	Models   config.Models // with their prices
	Progress func(done, total int64)
	Each     func(*Session) // gets each session that was read; may be nil
}

// Of adds up the sessions of a library.
func Of(ctx context.Context, l *reader.Library, w Wanted) (*Sums, error) {
	b := &Sums{Since: w.Since, Until: w.Until, Total: newSum("total"), Unpriced: []string{}, seen: map[string]bool{}, known: map[string]int{}}
	for s, err := range Each(ctx, l, w.Choice, w.Progress) {
		if err != nil {
			return nil, err
		}
		whole := cmp.Or(l.Parent(s.Entry), s.Entry)
		b.add(s, whole, w)
		b.reply(s, whole)
		if w.Each != nil {
			w.Each(s)
		}
	}
	b.spend(w)
	b.Damage = reader.DamagesOf(l.Damage)
	b.end(len(w.Models.Prices) > 0)
	return b, nil
}

func newSum(name string) *Sum {
	return &Sum{Name: name, sessions: map[transcript.Key]bool{}, files: map[string]bool{}}
}

// add adds a session, which is one with whole.
func (b *Sums) add(s *Session, whole *reader.Entry, w Wanted) {
	each := func(m Moment, count func(*Sum)) {
		if w.In(m.Time) && !b.seen[m.Key] {
			b.seen[m.Key] = true
			b.count(m.Time, s.Agent, whole, count)
		}
	}
	for _, m := range s.Asked {
		each(m, func(one *Sum) { one.Requests++ })
	}
	for _, m := range s.Commits {
		each(m, func(one *Sum) { one.Commits++ })
	}
	for _, m := range s.Compacted {
		each(m, func(one *Sum) { one.Compacted++ })
	}
	for _, e := range s.Edits {
		each(e.Moment, func(one *Sum) { one.files[e.Path] = true })
	}
}

// reply takes the replies of a session. What another session repeats of a reply may be less than all of it.
func (b *Sums) reply(s *Session, whole *reader.Entry) {
	for _, r := range s.Replies {
		i, known := b.known[r.Key]
		switch {
		case !known:
			b.known[r.Key] = len(b.replies)
			b.replies = append(b.replies, reply{r, s.Agent, whole})
		case r.Out > b.replies[i].Out:
			b.replies[i] = reply{r, s.Agent, whole}
		}
	}
}

// count counts a thing in each sum that it belongs to, but for that of a model.
func (b *Sums) count(at time.Time, agent string, whole *reader.Entry, count func(*Sum)) {
	for _, one := range []*Sum{b.Total, named(&b.Times, b.step(at)), named(&b.Projects, cmp.Or(whole.Kept.Cwd, "(unknown)")), named(&b.Agents, agent)} {
		if one.sessions[whole.Key] = true; one.first.IsZero() || at.Before(one.first) {
			one.first = at
		}
		count(one)
	}
}

// spend adds what the replies cost.
func (b *Sums) spend(w Wanted) {
	for _, r := range b.replies {
		if !w.In(r.Time) {
			continue
		}
		price, priced := w.Models.Price(r.Model, r.Time)
		cost := (float64(r.In)*price.In + float64(r.Cached)*price.Cached + float64(r.Written)*price.Written + float64(r.Out)*price.Out) / 1e6
		add := func(one *Sum) {
			one.In, one.Cached, one.Written, one.Out, one.Replies = one.In+r.In, one.Cached+r.Cached, one.Written+r.Written, one.Out+r.Out, one.Replies+1
			if r.Begun {
				one.Begun++
			}
			if one.free = one.free || !priced; one.Cost == nil {
				one.Cost = new(float64)
			}
			*one.Cost += cost
		}
		b.count(r.Time, r.agent, r.whole, add)
		one := named(&b.Models, cmp.Or(r.Model, "(unknown)"))
		one.sessions[r.whole.Key] = true
		add(one)
	}
}

// The longest times of which each day, and each week, is told.
const (
	mostDays  = 14
	mostWeeks = 120
)

// step names the day, the week or the month of a time, as the whole time needs it.
func (b *Sums) step(t time.Time) string {
	t = t.Local()
	switch days := int(b.Until.Sub(b.Since).Hours() / 24); {
	case days <= mostDays:
		return t.Format("Mon 2 Jan")
	case days <= mostWeeks:
		return t.AddDate(0, 0, -(int(t.Weekday())+6)%7).Format("week of 2 Jan")
	}
	return t.Format("Jan 2006")
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
	for _, list := range [][]*Sum{{b.Total}, b.Times, b.Projects, b.Agents, b.Models} {
		for _, one := range list {
			if one.Sessions, one.Files = len(one.sessions), len(one.files); one.free || !priced {
				one.Cost = nil
			}
		}
	}
	for _, list := range []*[]*Sum{&b.Times, &b.Projects, &b.Agents, &b.Models} {
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

// Dollars is the cost, "" if a price is missing.
func (s *Sum) Dollars() string {
	if s.Cost == nil {
		return ""
	}
	return fmt.Sprintf("$%.2f", *s.Cost)
}
