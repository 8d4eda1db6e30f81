package compactor

import (
	"maps"
	"math"
	"slices"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/compactor/limits"
	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// Compaction is the text of a compacted session with its pointers and figures.
type Compaction struct {
	Header   Header
	Sections []Section            // in their order; empty ones are left out
	Pointers []transcript.Pointer // one for every ID in the bodies, each exactly once
	Wanted   []Input              // inputs whose summaries would be used if available, newest first; at most 16
}

// Section is one part of a text, below its `## Name` heading.
type Section struct {
	Name string
	Body string // finished Markdown: whole lines, quoted and escaped, each of at most 2000 chars
}

// Header holds the figures that the compactor contributes to the front matter.
type Header struct {
	Model          string
	Window         int64 // context window, real tokens
	Assumed        bool  // the window is assumed
	Outliers       Outliers
	Pressure       float64 // share of the window in use, from 0
	Level          Level   // by the highest pressure
	Tokens         Tokens
	KeyInformation KeyInformation
	Verified       bool
	Reason         string    // why not Verified, "" otherwise
	Secrets        []Secrets // that the session has and the text does not, by kind; kinds without one are left out
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

// KeyInformation counts key facts: messages of the human, edited paths, decisions, answers, failures. A fact that is not
// visible is recoverable by its record; none is ever lost.
type KeyInformation struct{ Visible, Recoverable, Lost int }

// Secrets counts different secrets of a kind.
type Secrets struct {
	Kind string
	N    int
}

// Text returns the bytes of a span of the transcript, valid until its next call.
type Text = func(transcript.Span) ([]byte, error)

// Summarized chooses the contents of a companion and prints them, with the summaries that the options' summarizer has
// written, if kept is not nil. It lists missing ones in Wanted. It reads only the spans that it shows. Equal records, options,
// texts and summaries give equal results. It fails with text's error, or if the bytes of a span are not those that were read.
func (c *Compactor) Summarized(text Text, kept Summaries) (*Compaction, error) {
	return c.draft(reader{room: c.o.Budget()}, text, kept).made()
}

// Beside is Summarized for a reader who also gets the records from number first on in full. If first is past the last
// record, the reader gets none. maxTokens (estimated) replaces the options' limit, and no room is kept for a lead.
func (c *Compactor) Beside(first, maxTokens int, text Text, kept Summaries) (*Compaction, error) {
	return c.draft(reader{room: max(0, limits.Chars(maxTokens)), first: max(1, first)}, text, kept).made()
}

// Injection makes the text that a hook adds, at most room long as size counts. If holds, it leaves out what the agent still
// has in its context or in its own summary. It fails as Summarized does.
func (c *Compactor) Injection(room int, holds bool, size func(string) int, text Text) (*Compaction, error) {
	return c.draft(reader{room: room, holds: holds, brief: true, size: size}, text, nil).made()
}

// reader is who gets a text.
type reader struct {
	room  int              // chars of the sections
	first int              // number of the first record that the reader gets in full, 0 if none
	holds bool             // the reader has its own summary and the context since
	brief bool             // the text is injected: no filling
	size  func(string) int // how the reader's client counts; nil: chars
}

// draft is a text that is being made.
type draft struct {
	c      *Compactor
	s      *session.Session
	src    *session.Source
	reader reader
	models summaries

	units    []*unit
	roots    []string         // directories relative to which paths are shown
	runs     map[string]int   // how often each command ran
	last     map[string]int32 // the event of its last run
	newest   map[string]int32 // the event of the last run of a command line, look-ups included
	worked   map[string]int32 // the newest success of each goal, nil until it is asked for
	checked  int32            // then: the newest check that did not fail
	own      own
	whole    int32                             // the text of the agent that the handover quotes whole, -1 if none
	quoted   map[int32]bool                    // messages that the handover quotes whole
	named    map[int32]bool                    // runs that the handover names
	steps    []int32                           // the calls that made the unfinished steps of the plan
	approved int32                             // the approval whose plan the handover quotes, -1 if none
	older    bool                              // messages follow it
	usage    *used                             // of the session, once it is collected
	standing map[*session.Call]map[string]bool // lines that calls wrote and that still stand
	claims   []claim
	sections []Section
}

func (c *Compactor) draft(r reader, text Text, kept Summaries) *draft {
	d := &draft{c: c, s: c.Session, src: session.NewSource(c.Session, text), reader: r, roots: rootsOf(c.Session), runs: map[string]int{}, newest: map[string]int32{}, last: map[string]int32{}, whole: -1, approved: -1, models: summaries{ask: kept}, standing: c.Session.Standing()}
	for i := range d.s.Events {
		call := d.s.Events[i].Call
		if d.s.Events[i].Kind != session.Did || call.Op != transcript.Command {
			continue
		}
		d.newest[call.Command] = int32(i)
		if !call.LookUp {
			line := d.command(call)
			d.runs[line]++
			d.last[line] = int32(i)
		}
	}
	if r.size == nil {
		d.reader.size = lexicon.Chars
	}
	if r.holds {
		d.own = d.ownSummary()
	}
	return d
}

const (
	shortest = 2000 // chars of a text of any session
	headings = 160  // chars for the headings of the sections
	maxLines = 1900 // agents' reading tools stop at 2,000 lines, which include the front matter and the lead
	maxTries = 6

	leastBeside = 14 // worth of what a reader beside a summary gets
)

// made builds the units and packs them, again for less room if the printed text does not fit.
func (d *draft) made() (*Compaction, error) {
	if !d.reader.brief && d.reader.first == 0 { // a text is not longer than what it stands for
		d.reader.room = min(d.reader.room, max(shortest, int(d.s.Chars())))
	}
	room := max(0, d.reader.room-min(headings, d.reader.room/8))
	state, claims := d.makeHandover(room)
	d.claims = claims
	left := room - lexicon.Chars(state)
	d.makeUnits(state, room, left)
	for range maxTries {
		d.print(state, left)
		length := d.length()
		over := max((length-d.reader.room)*d.chars()/max(1, length), (d.lines()-maxLines)*40) // in chars, as units are packed
		if over <= 0 || left <= 0 {
			break
		}
		left = max(0, left-over-over/20-20)
	}
	if d.length() > d.reader.room { // not even the handover fits
		d.sections = nil
		if body := fitLines(state, d.reader.room-len("\n## Handover\n"), d.reader.size); body != "" {
			d.sections = []Section{{partNames[handoverPart], body}}
		}
	}
	if d.src.Err != nil {
		return nil, d.src.Err
	}
	return d.finish(), nil
}

// fitLines returns the first lines of a text that fit into room, as size counts.
func fitLines(text string, room int, size func(string) int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if room -= size(line); room < 0 {
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// print packs the units into room chars and writes the sections.
func (d *draft) print(state string, room int) {
	fetch := d.fetchLine()
	least := 0.0
	if d.reader.brief { // no filling
		least = leastBeside
	}
	pack(d.units, max(0, room-lexicon.Chars(fetch)), least)
	bodies := make([]strings.Builder, len(partNames))
	bodies[handoverPart].WriteString(state)
	for _, u := range d.units {
		bodies[u.part].WriteString(u.shown())
	}
	d.sections = d.sections[:0]
	last := -1
	for p := range bodies {
		if bodies[p].Len() > 0 {
			d.sections = append(d.sections, Section{partNames[p], bodies[p].String()})
			last = len(d.sections) - 1
		}
	}
	if last >= 0 && lexicon.Chars(fetch) < room {
		d.sections[last].Body += fetch
	}
}

// fetchLine says how to get what is left out.
func (d *draft) fetchLine() string {
	if d.reader.brief {
		return ""
	}
	return "\nThe rest is archived, each record as #N: `ccd agent restore SESSION#N`, or `ccd agent search WORDS`.\n"
}

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
		n += d.reader.size(s.Body) + len("\n## \n") + len(s.Name)
	}
	return n
}

// chars returns the chars of the sections.
func (d *draft) chars() int {
	n := 0
	for _, s := range d.sections {
		n += lexicon.Chars(s.Body)
	}
	return n
}

// finish counts tokens, collects the pointers of the printed IDs, and verifies the text.
func (d *draft) finish() *Compaction {
	st := d.s.Status()
	out := &Compaction{Sections: d.sections}
	var body strings.Builder
	for _, sec := range out.Sections {
		body.WriteString(sec.Body)
	}
	for _, id := range mark.IDs(body.String()) {
		if p, ok := d.src.Known[id]; ok {
			out.Pointers = append(out.Pointers, p)
		}
	}
	out.Header = Header{
		Model: st.Model, Window: st.Window, Assumed: st.Assumed, Outliers: st.Outliers, Pressure: st.Pressure, Level: st.Level,
		Tokens: Tokens{
			Original: st.Total, Companion: limits.Tokens(int64(d.length() + d.c.o.LeadChars)), Reported: st.Reported, Context: st.Context,
			CharsPerToken: d.c.PerToken(),
		},
	}
	for _, kind := range slices.Sorted(maps.Keys(d.s.Secrets())) {
		out.Header.Secrets = append(out.Header.Secrets, Secrets{kind, d.s.Secrets()[kind]})
	}
	if st.Total > 0 {
		part := 1 - float64(out.Header.Tokens.Companion)/float64(st.Total)
		out.Header.Tokens.SavedPercent = math.Round(part*1000) / 10
	}
	out.Wanted = d.models.missing()
	d.verify(out, body.String())
	return out
}
