package compactor

import (
	"math"
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

// Compaction is what the compactor has to say.
type Compaction struct {
	Header   Header
	Sections []Section            // in their order; empty ones are left out
	Pointers []transcript.Pointer // one for every ID in the bodies, each exactly once
	Wanted   []Input              // whose summaries would be taken if they were kept, newest first; at most 16
	Verbatim int                  // number of the first record that stands under Recent; one more than there are where none does
}

// Header holds the numbers of the front matter that are the compactor's.
type Header struct {
	Model          string
	Window         int64 // context window, real tokens
	Assumed        bool  // the window is assumed
	Outliers       Outliers
	Pressure       float64 // part of the window in use, 0..
	Level          Level   // never ByPressure
	Tokens         Tokens
	KeyInformation KeyInformation
	Missing        []Missing // key facts that are not visible, by kind, in a fixed order
	Verified       bool
	Reason         string     // why not Verified, "" otherwise
	Saved          []Saving   // by kind, in a fixed order; kinds that saved nothing are left out
	Fallbacks      []Fallback // by kind, in a fixed order; kinds that were not taken are left out
}

// Tokens compares sizes, in tokens.
type Tokens struct {
	Original      int64   // estimated, of all items that the agent saw
	Companion     int64   // estimated, of the sections and the lead
	Reported      int64   // real ones, of the context as the transcript reports it; 0 where it does not
	SavedPercent  float64 // of Original, one decimal; negative where the companion is longer
	CharsPerToken float64 // by what the session itself reported, else by its scripts
}

// KeyInformation counts key facts: messages of the human, answers, edited paths, open problems, rules, decisions,
// commands and the plan. Lost counts records that neither stand in the text nor under any of its IDs.
type KeyInformation struct{ Visible, Recoverable, Lost int }

// Missing counts the key facts of a kind that are not visible.
type Missing struct {
	Kind  string
	Facts int
}

// Saving tells what replacing items of one kind saved.
type Saving struct {
	// Kind is the form that stands for the items: "file", "output", "result", "talk", "code", "kept", "cut", "dup",
	// "near-dup", "superseded" or "image" of a line; "range" of what no line stands for; "recent" of what the verbatim part
	// shows shortened or not at all, as thinking.
	Kind   string
	Items  int
	Tokens int64 // estimated
}

// Fallback counts how often a compaction took a second way because the first would not do.
type Fallback struct {
	Kind  string // one of the Fallback constants
	Items int    // how many items, sections or lines
}

// The kinds of Fallback.
const (
	FallbackVerify     = "verification" // an item failed its check and stands as it was
	FallbackSize       = "size guard"   // what was to replace is not shorter than what it replaces
	FallbackFit        = "forced fit"   // planned once more in less room
	FallbackSummarizer = "summarizer"   // the command gave no summary that would do
)

// Text gives the bytes of a span of the transcript, valid until its next call.
type Text = func(transcript.Span) ([]byte, error)

// Compaction chooses what a companion says and prints it. Only spans that are shown are asked for. Equal records, options
// and text give equal results. It fails with text's error, or where a span's bytes are not those that were folded.
func (c *Compactor) Compaction(text Text) (*Compaction, error) { return c.Summarized(text, nil) }

// Summarized is Compaction with the summaries that the options' summarizer has written. What it would need and is not
// kept stands in Wanted; until then, and where it was refused, the summaries are Compaction's own.
func (c *Compactor) Summarized(text Text, kept Summaries) (*Compaction, error) {
	return c.draft(unit.Reader{Room: c.o.Budget(), Size: lexicon.Chars}, text, kept).made()
}

// Beside is Summarized for a reader who also gets the records from number first on in full. If first is past the last
// record, the reader gets none. maxTokens (estimated) replaces the options' limit, and no room is kept for a lead.
func (c *Compactor) Beside(first, maxTokens int, text Text, kept Summaries) (*Compaction, error) {
	room := max(0, maxTokens*3/4)
	return c.draft(unit.Reader{Room: room, First: max(1, first), Size: lexicon.Chars}, text, kept).made()
}

// Injection makes the text that a hook adds, of at most room as size counts. If holds, it leaves out what the agent still
// has in its context or in its own summary. It fails as Compaction does.
func (c *Compactor) Injection(room int, holds bool, size func(string) int, text Text) (*Compaction, error) {
	return c.draft(unit.Reader{Room: room, Holds: holds, Brief: true, Size: size}, text, nil).made()
}

// draft is a compaction in the making.
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
	return &draft{c: c, source: unit.NewSource(c.Fold, c.o, text), reader: r, kept: kept, fell: map[string]int{}}
}

// headings is the room that the headings of the sections take, with the lines for what is not said.
const headings = 300

// maxLines is how many lines a text may have: agents' reading tools stop at 2,000 by default, and the front matter and
// the lead stand before it.
const maxLines = 1900

// mostTries bounds how often a text is planned again: where it does not fit, or says a long text twice.
const mostTries = 8

// mayRepeat reports whether a unit may say a line that another says.
func mayRepeat(u *plan.Unit) bool {
	return u.Section == unit.Now || u.Section == unit.Rules || u.Section == unit.Commands || u.Section == unit.Rest
}

// stays reports whether a unit keeps its text where another says it too.
func stays(u *plan.Unit) bool { return u.Section == unit.Recent || u.Kind == unit.Asked }

// made plans the text for its room; where what was planned does not fit after all, once more for less.
func (d *draft) made() (*Compaction, error) {
	d.set = unit.All(d.source, d.reader, d.kept)
	room := d.reader.Room
	for tries := 0; ; tries++ {
		d.chosen = plan.Choose(d.set.Units, plan.Room{Most: room, Frame: headings, Excerpts: int(d.c.HeldTotal() * 6 / 10)}, d.reader.Size)
		d.sections = render.Sections(d.chosen, d.set)
		over := max(d.length()-d.reader.Room, d.lines()-maxLines)
		if tries == mostTries || d.source.Err != nil {
			break
		}
		if begins := d.recentBegins(); d.reader.First == 0 && begins > d.set.Until { // what Recent has no room for gets a line each
			d.reader.Begin = begins
			d.set = unit.All(d.source, d.reader, d.kept)
			continue
		}
		if !plan.DropRepeats(d.chosen, mayRepeat, stays) && over <= 0 {
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
	return d.finish(), nil
}

// recentBegins is the first record that the chosen level of Recent shows.
func (d *draft) recentBegins() int {
	level := -1
	for _, one := range d.chosen.Chosen {
		if one.Section == unit.Recent {
			level = one.Level
		}
	}
	return d.set.Begins(level)
}

// lines is how many lines the sections have.
func (d *draft) lines() int {
	n := 0
	for _, s := range d.sections {
		n += strings.Count(s.Body, "\n") + 2
	}
	return n
}

// length is what the sections take with their headings.
func (d *draft) length() int {
	n := 0
	for _, s := range d.sections {
		n += d.reader.Size(s.Body) + len("\n## \n") + len(s.Name)
	}
	return n
}

// whole gives the items as they are under Recent where a compaction would not be shorter than that.
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

// finish counts, collects the pointers of what was printed, and verifies.
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
			Original: s.Total, Companion: limits.Tokens(int64(d.length() + d.c.o.LeadChars)), Reported: s.Reported, CharsPerToken: d.c.PerToken(),
		},
		Saved: d.savings(),
	}
	for _, kind := range []string{FallbackVerify, FallbackSize, FallbackFit, FallbackSummarizer} {
		if n := d.fell[kind]; n > 0 {
			out.Header.Fallbacks = append(out.Header.Fallbacks, Fallback{kind, n})
		}
	}
	if s.Total > 0 {
		part := 1 - float64(out.Header.Tokens.Companion)/float64(s.Total)
		out.Header.Tokens.SavedPercent = math.Round(part*1000) / 10
	}
	d.verify(out, body.String())
	return out
}

// Chars that a token has, about, where a session reports too little to tell.
const (
	latinToken = 3.2
	wideToken  = 1.0
)

// PerToken is how many chars of this session a token has: by its own reports, else by its scripts.
func (c *Compactor) PerToken() float64 {
	if n := c.CharsPerToken(); n > 0 {
		return n
	}
	wide := c.WideShare()
	return 1 / (wide/wideToken + (1-wide)/latinToken)
}

// savings adds up what the short forms saved, and what stands under ranges only.
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
