package compactor

import (
	"math"
	"sort"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Compaction is what the compactor has to say in a companion.
type Compaction struct {
	Header   Header
	Sections []Section            // State, Earlier, Files, Recent; empty ones are left out
	Pointers []transcript.Pointer // one for every ID in the bodies, each exactly once
	Wanted   []Input              // whose summaries would be taken if they were kept, newest first; at most 16
	Verbatim Verbatim
}

// Section is one part of a companion, below its `## Name` heading.
type Section struct {
	Name string
	Body string // finished Markdown: whole lines, quoted and escaped, each of at most 2000 chars
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
	Verified       bool
	Reason         string     // why not Verified, "" otherwise
	Saved          []Saving   // by kind, in a fixed order; kinds that saved nothing are left out
	Fallbacks      []Fallback // by kind, in a fixed order; kinds that were not taken are left out
}

// Tokens compares sizes, in tokens.
type Tokens struct {
	Original     int64   // estimated, of all items that the agent saw
	Companion    int64   // estimated, of the sections and the lead
	Reported     int64   // real ones, of the context as the transcript reports it; 0 where it does not
	SavedPercent float64 // of Original, one decimal; negative where the companion is longer
}

// KeyInformation counts key facts: human messages, edited paths, open errors, commands, plan items, decisions and the
// last answer. Lost ones neither stand in the companion nor below any of its IDs.
type KeyInformation struct{ Visible, Recoverable, Lost int }

// Saving tells what replacing items of one kind saved.
type Saving struct {
	// Kind is the form that stands for the items: "file", "output", "result", "talk", "code", "kept", "cut", "dup",
	// "near-dup", "superseded" or "image" of a line in Earlier; "range" of what no line stands for; "recent" of what the
	// verbatim part shows shortened or not at all, as thinking.
	Kind   string
	Items  int
	Tokens int64 // estimated
}

// Compaction chooses what the companion shows and renders it. Text gives the bytes of a span of the transcript, valid
// until its next call; only spans that are printed or summarised are asked for. Equal records, options and text give
// equal results. It fails with text's error, or where a span's bytes are not those that were folded.
func (c *Compactor) Compaction(text func(transcript.Span) ([]byte, error)) (*Compaction, error) {
	return c.compaction(text, nil, 0)
}

// Beside is Summarized for a reader who is given the records from number first on otherwise, word by word: Recent only
// names them, for what such a reader is not shown of them, and Earlier ends before them. A first beyond the last record
// is one of none. MaxTokens takes the place of that of the options, and no room is kept for a lead.
func (c *Compactor) Beside(first, maxTokens int, text func(transcript.Span) ([]byte, error), kept Summaries) (*Compaction, error) {
	within := *c // a compaction changes nothing of what it is made from
	within.o.MaxTokens, within.o.LeadChars = maxTokens, 0
	return within.compaction(text, kept, max(1, first))
}

func (c *Compactor) compaction(text func(transcript.Span) ([]byte, error), kept Summaries, beside int) (*Compaction, error) {
	d := newDraft(c, text)
	d.modelled.ask, d.beside = kept, beside
	p := d.fitted()
	if beside > 0 { // what is left out here stands there, so that nothing is gained by another form
		if d.err != nil {
			return nil, d.err
		}
		return d.finish(p), nil
	}
	if small := d.tiny(p); small != nil {
		d.fell.add(FallbackSize, len(p.sections()))
		p = small
	}
	if d.err != nil {
		return nil, d.err
	}
	return d.finish(p), nil
}

// page is a companion's text in the making.
type page struct {
	state, files string
	earlier      earlierPart
	recent       recentPart
	ranges       string // of the records of Recent, for what is not shown there
}

// headings are the chars of the four section headings with their blank lines.
const headings = len("\n## State\n\n\n## Earlier\n\n\n## Files\n\n\n## Recent\n\n")

func (p *page) sections() []Section {
	var all []Section
	for _, s := range []Section{
		{"State", p.state},
		{"Earlier", p.earlier.text},
		{"Files", p.files},
		{"Recent", p.recent.text + p.ranges},
	} {
		if s.Body != "" {
			all = append(all, s)
		}
	}
	return all
}

func (p *page) runes() int {
	n := 0
	for _, s := range p.sections() {
		n += lexicon.Chars(s.Body) + len("\n##  \n\n") + len(s.Name)
	}
	return n
}

// maxLines is how many lines a text may have: agents' reading tools stop at 2,000 by default, and the front matter and
// the lead stand before it.
const maxLines = 1900

// excess is how many chars the text is over a budget, or over the lines that one call of a reading tool shows.
func (p *page) excess(budget int) int {
	n, lines := p.runes(), 0
	for _, s := range p.sections() {
		lines += strings.Count(s.Body, "\n") + 3
	}
	return max(n-budget, (lines-maxLines)*n/max(1, lines))
}

// fitted composes until the text is within the budget: escapes and the last lines of lists can take a little more than
// was planned for them, and short lines add up to too many.
func (d *draft) fitted() *page {
	whole := d.c.o.budget()
	room := whole
	for range mostTries {
		p := d.compose(room)
		over := p.excess(whole)
		if over <= 0 || d.err != nil {
			return p
		}
		room = max(0, min(room, p.runes())-over-whole/50)
	}
	return d.compose(0)
}

// mostTries bounds how often a text is composed: each try has a smaller budget, and less than the one before took.
const mostTries = 12

// compose fills the budget of whole chars: State first, as much as it needs within its share; then Recent what it must
// have, Files their share, Earlier what its level leaves, and Recent again whatever then is free.
func (d *draft) compose(whole int) *page {
	sh := divided(whole)
	d.notes = notes{answer: -1}
	d.fell = fallbacks{}
	d.most = oneMost(min(whole, max(int(d.c.held.total*6/10), roomy)))
	wanted := d.recentStart(d.most)
	text := d.c.held.total
	d.narrow = whole < roomy/2
	d.least = block
	if d.narrow {
		d.least = narrowest
	}
	d.ranges = max(minRanges, whole/20/rangeCost)
	markers := rangeCost * len(d.stretches(d.last, d.ranges))
	free := max(0, sh.whole-headings-markers)
	p := &page{}
	d.recent = d.last
	parts := d.state(min(sh.state, free))
	p.state = joined(parts)
	free = min(free, int(text*6/10)) + markers - lexicon.Chars(p.state) - d.reserve(parts)
	filesMost := max(0, free*sh.files/100)
	p.files = d.filesSection(filesMost, nil)
	room := free - lexicon.Chars(p.files)
	if d.beside > 0 {
		d.settle(p, recentPart{start: min(max(d.beside-1, d.c.records.from), d.last)}, filesMost)
		d.fill(p, free-lexicon.Chars(p.files))
		return p
	}
	least := d.recentUnits(wanted, max(0, free*sh.recent/100), d.most)
	if least.start > wanted {
		least = d.recentUnits(wanted, max(free*sh.recent/100, room-d.claim(p, least, room)), d.most)
	}
	d.settle(p, least, filesMost)
	d.fill(p, free-lexicon.Chars(p.files))
	return p
}

// reserve is the room that a longer answer than the last one would take: short and long ones follow each other, and
// what stands behind State must not come and go with them.
func (d *draft) reserve(parts []*part) int {
	for _, p := range parts {
		if p.name == "answer" && p.text != "" && d.narrow {
			return max(0, d.most-lexicon.Chars(p.text))
		}
	}
	return 0
}

// claim is how many chars of the room the ranges and the short forms take of what stands before Recent. What they leave
// is Recent's; whole content in Earlier comes after that.
func (d *draft) claim(p *page, r recentPart, room int) int {
	d.recent = r.start
	d.before(p, r)
	n := lexicon.Chars(d.tailRanges((r.start + d.least - 1) / d.least * d.least))
	return n + d.shortForms(r.start, min(d.need(r.start), room-lexicon.Chars(r.text)-n))
}

const (
	minRanges = 8  // ranges that Earlier may always have
	rangeCost = 75 // chars of a range's marker, about
)

// settle takes the verbatim part, and leaves the content that stands whole in it out of Files.
func (d *draft) settle(p *page, r recentPart, filesMost int) {
	p.recent, d.recent = r, r.start
	p.state = d.brieflyAnswered(p.state, r)
	if len(r.files) > 0 {
		p.files = d.filesSection(filesMost, r.files)
	}
}

// fill renders what Recent leaves: the ranges of its own records and Earlier, in at most rest chars with Recent.
func (d *draft) fill(p *page, rest int) {
	d.before(p, p.recent)
	p.ranges = d.tailRanges((p.recent.start + d.least - 1) / d.least * d.least)
	p.earlier = d.earlierLines(p.recent.start, max(0, min(d.need(p.recent.start), rest-lexicon.Chars(p.recent.text)-lexicon.Chars(p.ranges))))
}

// before notes what the companion shows by the time that Earlier is made.
func (d *draft) before(p *page, r recentPart) {
	d.newest = map[uint64]int32{}
	for _, i := range r.shown {
		d.show(i)
	}
	d.said = p.state
}

// need is what the level leaves of the compression zone before record end, in chars.
func (d *draft) need(end int) int { return int((1 - d.level.off()) * float64(d.zoneChars(end))) }

// tailRanges names the records from first on, which stand under Recent: for what is not shown there.
func (d *draft) tailRanges(first int) string {
	if first >= d.last {
		return ""
	}
	var marks []string
	for from := first; from < d.last; from += d.least {
		if a, _ := d.c.items(from); a == d.c.rows.n {
			break
		}
		marks = append(marks, d.rangeMarker(stretch{from, min(from+d.least, d.last)}))
	}
	var b strings.Builder
	for n := 0; n < len(marks); n += 16 {
		b.WriteString("Whole, with what is not shown here: " + strings.Join(marks[n:min(n+16, len(marks))], " ") + "\n")
	}
	return b.String()
}

// finish counts, collects the pointers of what was printed, and verifies.
func (d *draft) finish(p *page) *Compaction {
	c := d.c
	s := c.Status()
	wanted, refused := d.modelled.lacking(p.earlier.text)
	d.fell.add(FallbackSummarizer, refused)
	out := &Compaction{Sections: p.sections(), Wanted: wanted, Verbatim: p.verbatim()}
	var body strings.Builder
	for _, sec := range out.Sections {
		body.WriteString(sec.Body)
	}
	for _, id := range mark.IDs(body.String()) {
		if ptr, ok := d.known[id]; ok {
			out.Pointers = append(out.Pointers, ptr)
		}
	}
	out.Header = Header{
		Model: s.Model, Window: s.Window, Assumed: s.Assumed, Outliers: s.Outliers, Pressure: s.Pressure, Level: d.level,
		Tokens: Tokens{Original: s.Total, Companion: tokens(int64(p.runes() + c.o.LeadChars)), Reported: s.Reported},
		Saved:  d.savings(p),
	}
	out.Header.Fallbacks = d.fell.all()
	if s.Total > 0 {
		part := 1 - float64(out.Header.Tokens.Companion)/float64(s.Total)
		out.Header.Tokens.SavedPercent = math.Round(part*1000) / 10
	}
	d.verify(out, body.String(), p)
	return out
}

// savings adds up what the short forms saved, and what stands under ranges only.
func (d *draft) savings(p *page) []Saving {
	sums := map[string]*Saving{}
	add := func(kind string, items int, chars int64) {
		if kind == "" || chars <= 0 {
			return
		}
		if sums[kind] == nil {
			sums[kind] = &Saving{Kind: kind}
		}
		sums[kind].Items += items
		sums[kind].Tokens += tokens(chars)
	}
	var lined int64
	for _, c := range p.earlier.lines {
		if c.form.kind == "cut" && d.row(c.unit.first).kind == transcript.Text {
			d.fell.add(FallbackFit, 1)
		}
		add(c.form.kind, 1, c.form.saved)
		lined += c.chars
	}
	if start := min(p.recent.start, d.last-1); start > 0 {
		from, _ := d.c.items(start)
		add("range", max(1, from-len(p.earlier.lines)), d.zoneChars(p.recent.start)-lined)
	}
	add("recent", len(p.recent.shown), d.verbatimChars(p.recent.start)-int64(lexicon.Chars(p.recent.text)))
	all := make([]Saving, 0, len(sums))
	for _, s := range sums {
		all = append(all, *s)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Kind < all[j].Kind })
	return all
}
