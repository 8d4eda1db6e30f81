package web

import (
	"context"
	"slices"
	"strings"
	"time"

	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/view"
	"ccd/cmd/ccd/internal/work"
	"ccd/daemon"
	"ccd/internal/transcript"
)

const (
	mostCards   = 6                      // sessions on the board
	glanceTime  = 120 * time.Millisecond // then the other cards wait for the next time
	glanceBack  = 40                     // entries
	saidBytes   = 400                    // of the last words
	askBytes    = 2000                   // of a question
	glanceLines = 3                      // of a diff
)

// board is what the agents do now, above the list of sessions.
type board struct {
	Cards []card // the sessions in which an agent works or waits
	More  int
	Today int
	Week  *weekly // nil in what an open page asks for again
	Still bool    // nothing new is archived
}

// card is a session of the board.
type card struct {
	row
	glance
}

// glance is what the last records of a session show.
type glance struct {
	Asked   string // the last request
	Said    string // the agent's last words, or the question that it waits with
	Asks    bool   // it is that question
	Doing   string // its last call
	Tool    string
	File    string // with its last change that still stands
	Plus    int
	Minus   int
	Record  int // of that change
	Lines   string
	Done    int
	Planned int

	offset int64 // archived when it was taken
}

func (r *request) board(ctx context.Context, all []status.Session, now time.Time) *board {
	b := &board{Still: still(r.library.StateDir)}
	var active []status.Session
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	for _, s := range all {
		if s.SubAgent() || s.Aside() || s.Apart() != "" || s.Records == 0 { // without a record that could be read it has nothing to show
			continue
		}
		if s.LastAt().After(midnight) {
			b.Today++
		}
		if s.Active() {
			active = append(active, s)
		}
	}
	slices.SortStableFunc(active, func(a, b status.Session) int { return min(1, len(b.Attention)) - min(1, len(a.Attention)) }) // who needs attention comes first
	for _, s := range active {
		if len(b.Cards) == mostCards {
			b.More++
			continue
		}
		c := card{row: newRow(s)}
		if time.Since(now) < glanceTime {
			c.glance = r.cache.glance(ctx, r.library, s.Entry)
		}
		b.Cards = append(b.Cards, c)
	}
	return b
}

// still reports whether no daemon runs, so that a page does not change.
func still(stateDir string) bool {
	_, running, _ := daemon.ReadRun(stateDir) // valid in any case
	return !running
}

// glance reads the end of a session, once for each of its lengths. What cannot be read is not shown.
func (s *cache) glance(ctx context.Context, l *reader.Library, e *reader.Entry) (out glance) {
	s.mu.Lock()
	out, known := s.glances[e.Key]
	s.mu.Unlock()
	if known && out.offset == e.Tip().Offset {
		return out
	}
	out = glance{offset: e.Tip().Offset}
	end, err := view.End(ctx, l, e)
	if end == nil || err != nil {
		return out
	}
	entries, _, err := end.Page(ctx, end.Records, -glanceBack)
	if err != nil {
		return out
	}
	before := max(0, e.Kept.Records-end.Records) // records that are not read
	for _, one := range entries {
		one.Record += before
		out.add(one, e.Kept.Cwd)
	}
	if n := len(end.Turns); n > 0 {
		out.Asked = end.Turns[n-1].Asked
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.glances == nil || len(s.glances) > 10*mostCards {
		s.glances = map[transcript.Key]glance{}
	}
	s.glances[e.Key] = out
	return out
}

func (g *glance) add(e view.Entry, dir string) {
	switch {
	case e.Kind == view.Asked, e.Ask && e.Waiting: // what was done before it is over
		g.Said, g.Doing, g.Tool, g.File, g.Lines = "", "", "", "", ""
		if g.Asks = e.Ask; g.Asks {
			g.Said = strings.ToValidUTF8(e.Text[:min(len(e.Text), askBytes)], "")
		}
	case e.Kind == view.Said && !e.Side:
		g.Said = lastWords(e.Text)
	case e.Kind == view.Called:
		g.Tool, g.Doing = e.Tool, below(dir, e.Text)
	}
	if len(e.Plan) > 1 {
		g.Planned, g.Done = len(e.Plan), 0
		for _, p := range e.Plan {
			if p.Status == "completed" {
				g.Done++
			}
		}
	}
	if e.Diff != "" && len(e.Files) > 0 && !e.Failed {
		g.File, g.Plus, g.Minus, g.Record = below(dir, e.Files[0]), e.Plus, e.Minus, e.Record
		lines := slices.Collect(strings.Lines(e.Diff))
		from := max(0, slices.IndexFunc(lines, func(line string) bool { kind := diffKind(line); return kind == "add" || kind == "del" }))
		g.Lines = strings.Join(lines[from:min(len(lines), from+glanceLines)], "")
	}
}

// lastWords is the end of a text, where a question is, from the beginning of a paragraph on.
func lastWords(text string) string {
	if len(text) <= saidBytes {
		return text
	}
	text = text[len(text)-saidBytes:]
	if _, after, ok := strings.Cut(text, "\n\n"); ok {
		return after
	}
	_, after, _ := strings.Cut(text, " ")
	return "…" + after
}

// diffKind is what a line of a diff is: "add", "del", "hunk" or "".
func diffKind(line string) string {
	switch {
	case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "***"):
		return "hunk"
	case strings.HasPrefix(line, "+"):
		return "add"
	case strings.HasPrefix(line, "-"):
		return "del"
	}
	return ""
}

const (
	mostEdits = 8 // on the board
	mostSums  = 6 // projects there
	weekDays  = 7 // of the strip
)

// weekly is what was done in the last 7 days: the numbers of `ccd week`, and the files that were changed last.
type weekly struct {
	Sums  *work.Sums
	Days  []day
	Most  int // projects in sight
	Edits []*work.File
	Taken time.Time
}

// day is one of the strip.
type day struct {
	*work.Sum
	Share float64 // of the day with the most tokens
}

// weekly returns the numbers of the week, nil where some of the archive must be read and that takes longer than searchTime.
func (r *request) weekly(ctx context.Context, now time.Time) *weekly {
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	w := &weekly{Taken: now}
	from := time.Date(now.Year(), now.Month(), now.Day()-weekDays+1, 0, 0, 0, 0, now.Location())
	since := reader.Choice{Since: from, Until: now, Session: func(*reader.Entry) bool { return true }}
	sums, err := work.Of(ctx, r.library, work.Wanted{Choice: since, Models: r.library.Config.Models})
	if err == nil {
		w.Edits, _, err = work.Files(ctx, r.library, since, mostEdits, func(string) bool { return true }, "")
	}
	if err != nil {
		return nil
	}
	most := int64(1)
	for _, one := range sums.Times {
		most = max(most, one.Tokens())
	}
	for n := range weekDays {
		d := day{Sum: &work.Sum{Name: from.AddDate(0, 0, n).Format("Mon 2 Jan")}}
		if i := slices.IndexFunc(sums.Times, func(one *work.Sum) bool { return one.Name == d.Name }); i >= 0 {
			d.Sum, d.Share = sums.Times[i], float64(sums.Times[i].Tokens())/float64(most)
		}
		w.Days = append(w.Days, d)
	}
	w.Sums, w.Most = sums, min(len(sums.Projects), mostSums)
	return w
}
