package web

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"ccd/archive"
	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/view"
	"ccd/internal/agent/registry"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

const perLife = 48 // entries of a page

// head is what every page of a session shows above.
type head struct {
	Session row
	Tab     string
	Parent  string // the ID of the session that started it
	Shared  bool   // another agent's session has its ID
	Kids    []row  // its sub-agents
	Still   bool   // somebody works in it, and nothing new is archived
	Seen    string // what the page shows of the session's state, see seen

	Failures []int // see view.Index, of the conversation alone
}

// seen is what changes when an open page of a session has to change.
func seen(e *reader.Entry, stateDir string) string {
	return fmt.Sprint(e.Kept.Records, status.Of(e).State, still(stateDir))
}

// Resume continues the session: in Claude Code if ccd writes no sessions of its agent; "" for a sub-agent's.
func (h head) Resume() string {
	if h.Session.SubAgent() {
		return ""
	}
	command := "ccd resume " + words.Argument(h.Session.Session.Session)
	if h.Shared {
		command += " --agent " + h.Session.Agent
	}
	if f, _ := (registry.Table{}).Lookup(h.Session.Agent); f.Write == nil {
		command += " --as claude"
	}
	return command + " --run"
}

func (r *request) head(tab string) head {
	h := head{Session: newRow(status.Of(r.entry)), Tab: tab, Parent: r.entry.Parent}
	h.Still, h.Seen = h.Session.Active() && still(r.library.StateDir), seen(r.entry, r.library.StateDir)
	for _, e := range r.library.Sessions {
		h.Shared = h.Shared || e.ID == r.entry.ID && e.Agent != r.entry.Agent
		if e.Agent == r.entry.Agent && e.Parent == r.entry.ID && e.Class == transcript.SubAgent && len(h.Kids) < maxChoices {
			h.Kids = append(h.Kids, newRow(status.Of(e)))
		}
	}
	return h
}

// lifeData is the page of a session's life.
type lifeData struct {
	head
	State       []block // the handover
	Chart       chart
	Filled      []view.Part
	Total       int64 // tokens of these
	Compactions []dropped.Compaction
	Steps       []view.Step // see view.Index.Steps
	StepTokens  int64
	Turns       []reader.Turn
	Entries     []entry
	Place       view.Place
	Records     int
	Older       int // last record of the page before, 0 if there is none
	Newer       int // first record of the page after, 0 if there is none
	After       int // what is newer than this record replaces the end of the page when the session grows
}

// pending is what ccd knows of a call without a result, by the session's state. In one that is quiet a long build and a question of the
// client, which is in no transcript, look the same.
var pending = map[string]string{status.Working: "running", status.Quiet: "it runs, or waits for your permission"}

// entry is one thing that happened, with its surroundings.
type entry struct {
	view.Entry
	Boundary *dropped.Compaction
	Turn     int    // number of the request
	How      string // within a request, did the person say it, see reader.Words
	Anchor   bool   // the first entry of its record
	Home     string // address of the session
	Dir      string // of the session, which paths below it leave out
}

// File reports whether the call names only a file, of which a page may show versions.
func (e entry) File() bool {
	return len(e.Files) > 0 && e.Files[0] == e.Text && !e.Failed
}

func lifePage(ctx context.Context, r *request) (answer, error) {
	at := r.number("at", 0)
	d, err := r.life(ctx, at, r.number("to", 0))
	if err == nil && at != 0 && len(d.Entries) == 0 { // there is none from there on
		d, err = r.life(ctx, 0, at)
	}
	return answer{template: "life", data: d}, err
}

// partPage is the end of a session behind a record, of which an open page takes what is new when the session has grown.
func partPage(ctx context.Context, r *request) (answer, error) {
	if r.URL.Query().Get("seen") == seen(r.entry, r.library.StateDir) {
		return answer{}, nil
	}
	d, err := r.life(ctx, r.number("after", 0)+1, 0)
	return answer{template: "life", data: d}, err
}

// life returns the page that begins with record at, or that ends with record to. Without either, it is the newest one.
func (r *request) life(ctx context.Context, at, to int) (d lifeData, err error) {
	d = lifeData{head: r.head("life")}
	if r.entry.Class == transcript.Attachment {
		return d, words.Hint(archive.ErrNotFound, "ccd restore --session %s", words.Shell(r.entry.ID))
	}
	err = r.cache.use(ctx, r.library, r.entry, func(one *view.Index) error {
		if err := d.overview(ctx, one); err != nil {
			return err
		}
		d.Steps, d.StepTokens = one.Steps()
		d.Filled, d.Total = one.Filled(d.StepTokens, d.Chart.Last)
		from, n := at, perLife
		if at == 0 {
			to = cmp.Or(to, one.Records)
			from, n = min(to, one.Records), -perLife
		}
		if n > 0 && !r.URL.Query().Has("after") { // a page that has grown shows that call already
			from = one.Shown(from)
		}
		entries, place, err := one.Page(ctx, from, n)
		if err != nil {
			return err
		}
		if n > 0 && len(entries) < n || n < 0 && to >= one.Records { // what is beyond the page has no entries
			place.Last = d.Records
		}
		if n < 0 && len(entries) < -n || n > 0 && from <= max(one.First, 1) {
			place.First = one.First
		}
		place.First = r.number("first", place.First) // of the page that has grown
		d.Place = place
		d.fill(one, entries)
		for i := range d.Entries { // a session that is not archived cannot be opened
			e, key := &d.Entries[i], transcript.Key{Agent: d.Session.Agent}
			named := func(id string) *reader.Entry { key.ID = id; return r.library.Entry(key) }
			kid := cmp.Or(named(e.Agent), named("agent-"+e.Agent)) // Claude Code's results leave out the prefix
			if e.Agent = ""; kid != nil {
				e.Agent = kid.ID
			}
		}
		return nil
	})
	return d, err
}

// overview is what the page of a session begins with.
func (d *lifeData) overview(ctx context.Context, one *view.Index) error {
	d.Records, d.Turns, d.Compactions, d.Failures = one.Records, slices.Clone(one.Turns), slices.Clone(one.Compactions), one.Failures
	d.Chart = newChart(d.Session.Session, one.Compactions)
	state, err := one.State(ctx)
	d.State = stateOf(address("s", d.Session.Agent, d.Session.ID), state, func(line string) (rest, words string) { return one.LastWords(ctx, line) })
	return err
}

func (d *lifeData) fill(one *view.Index, entries []view.Entry) {
	if d.Place.First > one.First {
		d.Older = cmp.Or(d.Place.First-1, -1) // there is no entry of record 0
	}
	if d.Place.Last != 0 && d.Place.Last < d.Records {
		d.Newer = cmp.Or(d.Place.Last+1, 1)
	}
	d.Entries, d.After = make([]entry, 0, len(entries)), d.Place.Last
	last, own := 0, map[int]bool{}
	for _, e := range entries {
		own[e.Record] = true
	}
	for _, e := range entries {
		if own[e.Answer] { // that record has more than the result
			e.Answer = 0
		}
		x := entry{Entry: e, Anchor: e.Record != last, Home: address("s", d.Session.Agent, d.Session.ID), Dir: d.Session.Project}
		last = e.Record
		switch {
		case e.Kind == view.Asked && !e.Side:
			x.request(one)
		case e.Kind == view.Compacted:
			if k := slices.IndexFunc(one.Compactions, func(k dropped.Compaction) bool { return k.Record == e.Record }); k >= 0 {
				x.Boundary = &one.Compactions[k]
			}
		case e.Waiting:
			d.After = min(d.After, e.Record-1) // its result replaces it
			if x.Ending = cmp.Or(pending[d.Session.State], "no result"); e.Ask && d.Session.State == status.Waits {
				x.Ending = "waiting for you"
			}
		}
		d.Entries = append(d.Entries, x)
	}
}

// request finds the request that the entry is, or within which the person said it.
func (e *entry) request(one *view.Index) {
	if len(one.Turns) == 0 {
		return
	}
	t := &one.Turns[one.TurnOf(e.Record)]
	if t.Record == e.Record {
		e.Turn = t.N
	}
	for _, w := range t.Words {
		if w.Record == e.Record {
			e.How = w.How
		}
	}
}

// chart is a picture of the context over a session's records. Its coordinates are of a box of chartWide by chartHigh.
type chart struct {
	Line                string      // an SVG path, "" if the agent reports no sizes
	Area                string      // below it
	Window              float64     // height of the window's line; 0: there is none
	Top                 int64       // tokens of its upper edge
	Highest, Half, Last int64       // Half of Top
	Marks               []chartMark // of the compactions
	Points              []chartMark // of the reports
	Step                float64     // between two of these
}

type chartMark struct {
	X     float64
	N     int // of the compaction, 0 if it is not known; of a report its record
	Title string
}

const (
	chartWide = 1000
	chartHigh = 180
)

// newChart draws the context of a session by its curve, and by the compactions that are given.
func newChart(s status.Session, compactions []dropped.Compaction) (c chart) {
	for _, k := range compactions { // the last report before it may be lower
		c.Highest = max(c.Highest, k.Before)
	}
	if c.Highest = slices.Max(append([]int64{c.Highest}, s.Curve...)); c.Highest == 0 || len(s.Curve) == 0 {
		return c
	}
	top := 1.04 * float64(max(c.Highest, s.Window))
	c.Top, c.Half, c.Last = int64(top), int64(top/2), s.Curve[len(s.Curve)-1]
	at := func(record int) float64 { return chartWide * float64(max(0, record-1)) / float64(max(1, s.Records-1)) }
	y := func(tokens int64) float64 { return chartHigh * (1 - float64(tokens)/top) }
	var line []string
	point := func(record int, tokens int64) { line = append(line, fmt.Sprintf("%.1f %.1f", at(record), y(tokens))) }
	left := compactions
	until := func(record int) { // at a compaction the context falls at once, not from one stretch to the next
		for ; len(left) > 0 && left[0].Record < record; left = left[1:] {
			if left[0].Before > 0 && left[0].After > 0 {
				point(left[0].Record, left[0].Before)
				point(left[0].Record, left[0].After)
			}
		}
	}
	for i, n := range s.Curve {
		begin := i*s.Step + 1
		if until(begin + 1); n > 0 {
			point(begin, n)
			c.Points = append(c.Points, chartMark{at(begin), begin, fmt.Sprintf("#%d: %s tokens", begin, words.Tokens(n))})
		}
		until(begin + s.Step)
		if compactions == nil && s.Marks()[i] > 0 {
			c.Marks = append(c.Marks, chartMark{X: at(begin)})
		}
	}
	point(s.Records, c.Last)
	c.Step = at(s.Step + 1)
	c.Line = "M" + strings.Join(line, "L")
	c.Area = fmt.Sprintf("%sV%dH0Z", c.Line, chartHigh)
	if s.Window > 0 {
		c.Window = y(s.Window)
	}
	for _, k := range compactions {
		c.Marks = append(c.Marks, chartMark{at(k.Record), k.N, compactionTitle(k)})
	}
	return c
}

func compactionTitle(k dropped.Compaction) string {
	text := fmt.Sprintf("compaction %d at #%d", k.N, k.Record)
	if k.Before > 0 && k.After > 0 {
		text += ": " + words.Tokens(k.Before) + " tokens to " + words.Tokens(k.After)
	}
	return text
}
