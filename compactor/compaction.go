package compactor

import (
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/compactor/limits"
	"ccd/compactor/plan"
	"ccd/compactor/render"
	"ccd/compactor/unit"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Compaction is the text of a compacted session with its pointers and figures.
type Compaction struct {
	Header   Header
	Sections []Section            // in their order; empty ones are left out
	Pointers []transcript.Pointer // one for every ID in the bodies, each exactly once
	Wanted   []Input              // inputs whose summaries would be used if available, newest first; at most 16
	Verbatim int                  // number of the first record under Recent; the number of records plus one if there is none
}

// Header holds the figures that the compactor contributes to the front matter.
type Header struct {
	Model          string
	Window         int64 // context window, real tokens
	Assumed        bool  // the window is assumed
	Outliers       Outliers
	Pressure       float64 // share of the window in use, from 0
	Level          Level   // never ByPressure
	Tokens         Tokens
	KeyInformation KeyInformation
	Missing        []Missing // key facts that are not visible, by kind, in a fixed order
	Verified       bool
	Reason         string     // why not Verified, "" otherwise
	Saved          []Saving   // by kind, in a fixed order; kinds that saved nothing are left out
	Secrets        []Secrets  // that the session has and the text does not, by kind; kinds without one are left out
	Fallbacks      []Fallback // by kind, in a fixed order; kinds that were not taken are left out
}

// Tokens compares sizes, in tokens.
type Tokens struct {
	Original      int64   // estimated, of all items that the agent saw
	Companion     int64   // estimated, of the sections and the lead
	Reported      int64   // real tokens of the context as the transcript reports them, 0 if it does not
	Context       int64   // estimated, of the agent's context
	SavedPercent  float64 // of Original, one decimal; negative if the companion is longer
	CharsPerToken float64 // from the session's own reports, else from its scripts
}

// KeyInformation counts key facts: messages of the human, answers, edited paths, open problems, rules, decisions,
// commands and the plan. Lost counts records that are neither in the text nor under any of its IDs.
type KeyInformation struct{ Visible, Recoverable, Lost int }

// Missing counts the key facts of a kind that are not visible.
type Missing struct {
	Kind  string
	Facts int
}

// Saving is what replacing items of one kind saved.
type Saving struct {
	// Kind is the form that replaces the items: "file", "output", "result", "talk", "code", "kept", "cut", "dup",
	// "near-dup", "superseded" or "image" for a line; "range" for items without a line; "recent" for what the verbatim part
	// shortens or omits, such as thinking.
	Kind   string `json:"kind"`
	Items  int    `json:"items"`
	Tokens int64  `json:"tokens"` // estimated
}

// Secrets counts different secrets of a kind.
type Secrets struct {
	Kind string
	N    int
}

// Fallback counts how often a compaction had to use a second method because the first one failed.
type Fallback struct {
	Kind  string // one of the Fallback constants
	Items int    // how many items, sections or lines
}

// The kinds of Fallback.
const (
	FallbackVerify     = "verification" // an item failed its check and was left unchanged
	FallbackSize       = "size guard"   // the replacement is not shorter than the original
	FallbackFit        = "forced fit"   // planned again for less room
	FallbackSummarizer = "summarizer"   // the command returned no usable summary
)

// Text returns the bytes of a span of the transcript, valid until its next call.
type Text = func(transcript.Span) ([]byte, error)

// Compaction chooses the contents of a companion and prints them. It reads only the spans that it shows. Equal records,
// options and text give equal results. It fails with text's error, or if the bytes of a span are not those that were folded.
func (c *Compactor) Compaction(text Text) (*Compaction, error) { return c.Summarized(text, nil) }

// Summarized is Compaction with the summaries that the options' summarizer has written. It lists missing ones in Wanted, and
// uses Compaction's own summaries in their place and in place of rejected ones.
func (c *Compactor) Summarized(text Text, kept Summaries) (*Compaction, error) {
	return c.draft(unit.Reader{Room: c.o.Budget(), Size: lexicon.Chars}, text, kept).made()
}

// Beside is Summarized for a reader who also gets the records from number first on in full. If first is past the last
// record, the reader gets none. maxTokens (estimated) replaces the options' limit, and no room is kept for a lead.
func (c *Compactor) Beside(first, maxTokens int, text Text, kept Summaries) (*Compaction, error) {
	room := max(0, maxTokens*3/4)
	return c.draft(unit.Reader{Room: room, First: max(1, first), Size: lexicon.Chars}, text, kept).made()
}

// Injection makes the text that a hook adds, at most room long as size counts. If holds, it leaves out what the agent still
// has in its context or in its own summary. It fails as Compaction does.
func (c *Compactor) Injection(room int, holds bool, size func(string) int, text Text) (*Compaction, error) {
	return c.draft(unit.Reader{Room: room, Holds: holds, Brief: true, Size: size}, text, nil).made()
}

// draft is a compaction that is being made.
type draft struct {
	c      *Compactor
	source *unit.Source
	reader unit.Reader
	kept   Summaries

	set      *unit.Set
	chosen   plan.Plan
	sections []Section
	fell     map[string]int
}

func (c *Compactor) draft(r unit.Reader, text Text, kept Summaries) *draft {
	return &draft{c: c, source: unit.NewSource(c.Fold, c.o, &c.memory, text), reader: r, kept: kept, fell: map[string]int{}}
}

// headings is the room for the headings of the sections and the lines about omitted messages.
const headings = 300

// maxLines is how many lines a text may have. Agents' reading tools stop at 2,000 by default, which includes the front
// matter and the lead.
const maxLines = 1900

// mostTries is how often at most a text is planned again because it does not fit or repeats a long text.
const mostTries = 8

// mayRepeat reports whether a unit may repeat a line of another unit.
func mayRepeat(u *plan.Unit) bool {
	return u.Section == unit.Now || u.Section == unit.Rules || u.Section == unit.Commands || u.Section == unit.Rest
}

// stays reports whether a unit keeps a text that another unit repeats.
func stays(u *plan.Unit) bool { return u.Section == unit.Recent || u.Kind == unit.Asked }

// made plans the text for its room, and again for less room if the printed text does not fit.
func (d *draft) made() (*Compaction, error) {
	d.set = unit.All(d.source, d.reader, d.kept)
	room := d.reader.Room
	for tries := 0; ; tries++ {
		d.set.ForgetUnstable()
		d.chosen = plan.Choose(d.set.Units, plan.Room{Most: room, Frame: headings, Excerpts: int(d.c.HeldTotal() * 6 / 10)}, d.reader.Size)
		last := tries == mostTries || d.source.Err != nil
		if begins := d.recentBegins(); !last && d.reader.First == 0 && begins > d.set.Until {
			d.beginRecent(begins) // each older item gets one line: Recent has no room for it
			continue
		}
		d.sections = render.Sections(d.chosen, d.set)
		over := max(d.length()-d.reader.Room, d.lines()-maxLines)
		if last || !plan.DropRepeats(d.chosen, mayRepeat, stays) && over <= 0 {
			break
		}
		if d.lines() > maxLines {
			room = room*maxLines/d.lines() - room/30
		} else if over > 0 {
			d.fell[FallbackFit]++
			room = max(0, room-over-room/50)
		}
	}
	if whole, ok := d.whole(); ok {
		d.sections, d.chosen, d.set.Until = whole, plan.Plan{}, 0
		d.fell[FallbackSize]++
	}
	if d.source.Err != nil {
		return nil, d.source.Err
	}
	d.source.Remember()
	return d.finish(), nil
}

// beginRecent makes the set with Recent beginning at a later record.
func (d *draft) beginRecent(rec int) {
	if next, ok := d.set.BeginRecent(rec); ok {
		d.set = next
		return
	}
	d.reader.Begin = rec
	d.set = unit.All(d.source, d.reader, d.kept)
}

// recentBegins returns the first record that the chosen level of Recent shows.
func (d *draft) recentBegins() int {
	level := -1
	for _, one := range d.chosen.Chosen {
		if one.Section == unit.Recent {
			level = one.Level
		}
	}
	return d.set.Begins(level)
}

// lines returns how many lines the sections have.
func (d *draft) lines() int {
	n := 0
	for _, s := range d.sections {
		n += strings.Count(s.Body, "\n") + 2
	}
	return n
}

// length returns the length of the sections with their headings.
func (d *draft) length() int {
	n := 0
	for _, s := range d.sections {
		n += d.reader.Size(s.Body) + len("\n## \n") + len(s.Name)
	}
	return n
}

// whole returns all items verbatim under Recent if a compaction would not be shorter.
func (d *draft) whole() ([]Section, bool) {
	if d.reader.First > 0 || d.reader.Brief || d.c.HeldTotal() > int64(d.length()) {
		return nil, false
	}
	if _, rows := d.c.Rows(); rows == 0 {
		return nil, true // nothing was said
	}
	body := unit.Whole(d.source)
	if body == "" || d.reader.Size(body) > d.reader.Room || strings.Count(body, "\n") > maxLines {
		return nil, false
	}
	return []Section{{Name: "Recent", Body: body}}, true
}

// finish counts tokens, collects the pointers of the printed IDs, and verifies the text.
func (d *draft) finish() *Compaction {
	s := d.c.Status()
	out := &Compaction{Sections: d.sections, Verbatim: d.set.Until + 1}
	var body strings.Builder
	for _, sec := range out.Sections {
		body.WriteString(sec.Body)
	}
	for _, id := range mark.IDs(body.String()) {
		if p, ok := d.source.Known[id]; ok {
			out.Pointers = append(out.Pointers, p)
		}
	}
	rows := map[int32]bool{}
	for _, one := range d.chosen.Chosen {
		for _, i := range one.Rows {
			rows[i] = true
		}
	}
	var refused int
	out.Wanted, refused = d.set.Wanted(func(i int32) bool { return !rows[i] })
	d.fell[FallbackSummarizer], d.fell[FallbackVerify] = refused, d.source.Fell
	out.Header = Header{
		Model: s.Model, Window: s.Window, Assumed: s.Assumed, Outliers: s.Outliers, Pressure: s.Pressure, Level: d.c.Level(),
		Tokens: Tokens{
			Original: s.Total, Companion: limits.Tokens(int64(d.length() + d.c.o.LeadChars)), Reported: s.Reported, Context: s.Context, CharsPerToken: d.c.PerToken(),
		},
		Saved: d.savings(),
	}
	for _, kind := range []string{FallbackVerify, FallbackSize, FallbackFit, FallbackSummarizer} {
		if n := d.fell[kind]; n > 0 {
			out.Header.Fallbacks = append(out.Header.Fallbacks, Fallback{kind, n})
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(d.c.Secrets())) {
		out.Header.Secrets = append(out.Header.Secrets, Secrets{kind, d.c.Secrets()[kind]})
	}
	if s.Total > 0 {
		part := 1 - float64(out.Header.Tokens.Companion)/float64(s.Total)
		out.Header.Tokens.SavedPercent = math.Round(part*1000) / 10
	}
	d.verify(out, body.String())
	return out
}

// Approximate chars per token, for sessions that report too little to measure it.
const (
	latinToken = 3.2
	wideToken  = 1.0
)

// PerToken returns the chars per token of this session, from its own reports or else from its scripts.
func (c *Compactor) PerToken() float64 {
	if n := c.CharsPerToken(); n > 0 {
		return n
	}
	wide := c.WideShare()
	return 1 / (wide/wideToken + (1-wide)/latinToken)
}

// savings sums what short forms saved and what only a range covers.
func (d *draft) savings() []Saving {
	sums := map[string]*Saving{}
	add := func(kind string, items int, chars int64) {
		if kind == "" || chars <= 0 {
			return
		}
		if sums[kind] == nil {
			sums[kind] = &Saving{Kind: kind}
		}
		sums[kind].Items += items
		sums[kind].Tokens += limits.Tokens(chars)
	}
	var said int64
	for _, one := range d.chosen.Chosen {
		add(one.Strategy, 1, int64(one.Saved))
		said += int64(one.Saved) + int64(lexicon.Chars(one.Text))
	}
	add("range", max(1, len(d.chosen.Left)), d.c.HeldTotal()-said)
	all := make([]Saving, 0, len(sums))
	for _, s := range sums {
		all = append(all, *s)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Kind < all[j].Kind })
	return all
}
