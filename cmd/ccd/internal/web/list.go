package web

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/search"
	"ccd/cmd/ccd/internal/status"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

const (
	perPage    = 50              // sessions
	mostHits   = 200             // of a search
	searchTime = 8 * time.Second // of a search, then it shows what it has found
	maxChoices = 200             // of a filter
)

// listData is the page of the sessions.
type listData struct {
	Query    string
	Filter   filter
	Now      *board // above the first page of all sessions
	Rows     []row
	Total    int
	All      int
	Page     int // from 1
	Pages    int
	Found    *found
	Agents   []string
	Projects []string
	Names    map[string]string // of the directories of all sessions
	Only     string            // how the only session is called, of which the filter is, escaped
	Damage   []reader.Damage
	Next     string
	Before   string
}

// row is a session in a list.
type row struct {
	status.Session
	ID    string // as addresses have it
	Label string // on one line, escaped
	Spark chart
}

// ID is the query, if it may be the ID of an original: as good as every one has a digit, which no word has.
func (d listData) ID() string {
	if mark.IsID(d.Query) && strings.ContainsAny(d.Query, "0123456789") {
		return d.Query
	}
	return ""
}

// Title is the name of the page.
func (d listData) Title() string {
	switch {
	case d.Query != "":
		return cut(d.Query, 60) + " · search"
	case d.Now != nil:
		return "Now"
	}
	return "Sessions"
}

func newRow(s status.Session) row {
	unnamed := map[bool]string{true: inline(transcript.Base(s.Path)), false: "untitled"}[s.Foreign]
	return row{Session: s, ID: mark.Unname(s.Session), Label: cmp.Or(s.Labelled(), unnamed), Spark: newChart(s, nil)}
}

// Share is the part of the context that the session takes, 1 at most.
func (r row) Share() float64 { return min(1, max(0, r.Size().Share())) }

// Fills reports whether the session takes a share of its agent's context that is worth a figure.
func (r row) Fills() bool {
	return r.Tokens > 0 && (r.Window <= 0 || r.Share() >= 0.005)
}

// filter is what a list shows. Its zero value shows every main session.
type filter struct {
	Agent   string
	Project string
	State   string // a state, or "attention"
	Kind    string // of what a search finds, see search.Search
	Within  string // the ID of the only session
	Subs    bool
}

func (f filter) passes(s status.Session) bool {
	switch {
	case f.Within != "":
		return mark.Unname(s.Session) == f.Within
	case (s.SubAgent() || s.Aside()) && !f.Subs:
		return false
	case f.Agent != "" && s.Agent != f.Agent, f.Project != "" && s.Project != f.Project:
		return false
	case f.State == "attention":
		return s.Attention != ""
	}
	return f.State == "" || s.State == f.State
}

func listPage(ctx context.Context, r *request) (answer, error) {
	now := time.Now()
	q := r.URL.Query()
	d := listData{Query: strings.TrimSpace(q.Get("q")), Filter: filter{Agent: q.Get("agent"), Project: q.Get("project"), State: q.Get("state"), Kind: q.Get("kind"), Within: q.Get("within"), Subs: q.Get("all") != ""}, Damage: reader.DamagesOf(r.library.Damage)}
	all := status.Rows(status.Families(r.library.Sessions, true))
	d.Names, d.Only = r.library.Projects, inline(d.Filter.Within)
	d.choices(all)
	d.fill(all, max(1, r.number("page", 1)))
	if d.Query == "" && d.Page == 1 && d.Filter == (filter{}) {
		if d.Now = r.board(ctx, all, now); q.Get("part") == "" {
			d.Now.Week = r.weekly(ctx, now)
		}
	}
	d.link(r.URL.Query())
	if d.Query != "" && q.Get("titles") == "" { // with titles, the page asks again while a person types
		d.Found = r.search(ctx, d.Query, d.Filter)
	}
	switch q.Get("part") {
	case "":
		return answer{template: "list", data: d}, nil
	case "now":
		return answer{template: "front", data: d}, nil
	}
	return answer{template: "rows", data: d}, nil
}

// choices collects what the filters offer.
func (d *listData) choices(all []status.Session) {
	agents, projects := map[string]bool{}, map[string]bool{}
	for _, s := range all {
		if mark.Unname(s.Session) == d.Filter.Within {
			d.Only = cmp.Or(s.Called(), d.Only)
		}
		if s.SubAgent() {
			continue
		}
		d.All++
		agents[s.Agent] = true
		if s.Project != "" && len(projects) < maxChoices {
			projects[s.Project] = true
		}
	}
	d.Agents, d.Projects = slices.Sorted(maps.Keys(agents)), slices.Sorted(maps.Keys(projects))
}

// fill selects the sessions of a page: those whose titles, names, directories and IDs match the query's words.
func (d *listData) fill(all []status.Session, page int) {
	line := d.Query
	if strings.Count(line, `"`)%2 == 1 { // the phrase is being typed
		line += `"`
	}
	q := queryOf(line)
	var shown []status.Session
	for _, s := range all {
		about := strings.Join([]string{s.Name, s.Title, s.Asked, s.Project, s.Session, strings.Join(s.Tags, " ")}, "\n")
		if d.Filter.passes(s) && (d.Query == "" || q.In(about)) {
			shown = append(shown, s)
		}
	}
	d.Total = len(shown)
	d.Pages = max(1, (d.Total+perPage-1)/perPage)
	d.Page = min(page, d.Pages)
	for _, s := range shown[(d.Page-1)*perPage : min(d.Total, d.Page*perPage)] {
		d.Rows = append(d.Rows, newRow(s))
	}
}

// queryOf returns the words of a line. A quote or a star alone is none.
func queryOf(line string) (q search.Query) {
	q.Parse(line)
	q.Words = slices.DeleteFunc(q.Words, func(w string) bool { return strings.Trim(w, `"*`) == "" })
	return q
}

// link makes the addresses of the pages before and after this one.
func (d *listData) link(q url.Values) {
	to := func(page int) string {
		q.Set("page", strconv.Itoa(page))
		return "/?" + q.Encode()
	}
	q.Del("part")
	q.Del("titles")
	if d.Page > 1 {
		d.Before = to(d.Page - 1)
	}
	if d.Page < d.Pages {
		d.Next = to(d.Page + 1)
	}
}

// found is what a search of the archive found.
type found struct {
	Groups []hitGroup
	Hits   int
	More   bool   // there may be more
	Late   bool   // it stopped at searchTime
	Alien  int    // sessions whose format is unknown, so that nothing was searched in them
	Lag    int64  // bytes that are not archived and will not be, as no daemon runs; counted if nothing is found
	Error  string // why it could not search, or not everything
}

type hitGroup struct {
	Row  row
	Hits []*search.Hit
}

// search searches what was said, then what was thought, run and read, each with the newest sessions first.
func (r *request) search(ctx context.Context, line string, f filter) *found {
	out := &found{}
	q := queryOf(line)
	if len(q.Words)+len(q.Any) == 0 {
		out.Error = "Type a word to look for: -WORD only leaves out, and a quote or a star alone is none."
		return out
	}
	if err := q.Check(); err != nil {
		out.Error = err.Error()
		return out
	}
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	if f.Kind == transcript.File.String() { // a person means the calls that read or change one, and what these returned
		q.Path, f.Kind = "**", ""
	}
	one := search.Search{Library: r.library, Sessions: f.sources(r.library.Sessions), Query: q, Most: mostHits, Kind: f.Kind, Whole: f.Within != "" || f.Subs}
	out.Alien = len(slices.DeleteFunc(slices.Clone(one.Sessions), func(e *reader.Entry) bool { return !e.Kept.UnknownFormat }))
	found, err := one.Best(ctx)
	if out.Late = errors.Is(err, context.DeadlineExceeded); err != nil && !out.Late {
		out.Error = err.Error()
	}
	for _, err := range found.Damage {
		out.Error = err.Error()
	}
	all := found.All()
	out.More = len(all) == mostHits || found.Left > 0
	r.group(out, all)
	if out.Hits == 0 {
		out.Lag = r.library.Behind(r.library.Sessions)
	}
	return out
}

// group groups hits by their session.
func (r *request) group(out *found, hits []*search.Hit) {
	at := map[transcript.Key]int{}
	for _, h := range hits {
		e := r.library.Entry(h.Session.Key)
		whole := e.Current()
		i, ok := at[whole.Key]
		if !ok {
			i = len(out.Groups)
			at[whole.Key] = i
			out.Groups = append(out.Groups, hitGroup{Row: newRow(status.Of(whole))})
		}
		if h.Rewritten { // its number is not one of the session's
			h.Record = 0
		}
		out.Groups[i].Hits = append(out.Groups[i].Hits, h)
		out.Hits++
	}
}

// sources returns the sessions to search: the main ones that pass the filter, or all with sub-agents.
func (f filter) sources(in []*reader.Entry) []*reader.Entry {
	return slices.DeleteFunc(slices.Clone(in), func(e *reader.Entry) bool {
		if f.Within != "" {
			return e.Current().ID != f.Within
		}
		return f.Agent != "" && e.Agent != f.Agent || f.Project != "" && e.Kept.Cwd != f.Project || !f.Subs && !e.Conversation()
	})
}
