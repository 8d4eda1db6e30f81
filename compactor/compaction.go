package compactor

import (
	"slices"
	"strings"

	"ccd/compactor/lexicon"
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
	Events   []Told               // all events, in order: what the text has of each, and why
}

// The sections of a text.
const (
	Handover = "Handover" // the state of the work
	Record   = "Record"   // what happened, in order
	Files    = "Files"    // files that were used, by directory
)

// Section is one part of a text, below its `## Name` heading.
type Section struct {
	Name string `json:"name"`
	Body string `json:"body"` // finished Markdown: whole lines, quoted and escaped, each of at most 2000 chars
}

// Header holds the figures that the compactor contributes to the front matter (docs/FORMAT.md).
type Header struct {
	Model          string         `json:"model"`
	Window         int64          `json:"context_window"` // real tokens
	Assumed        bool           `json:"context_window_assumed"`
	Pressure       float64        `json:"pressure"` // share of the window in use, from 0
	Level          Level          `json:"level"`    // by the highest pressure
	Tokens         Tokens         `json:"tokens"`
	KeyInformation KeyInformation `json:"key_information"`
	Redacted       map[string]int `json:"redacted"` // different secrets, by kind, that the session has and the text does not show
	Verified       bool           `json:"verified"`
	Reason         string         `json:"reason"` // why not Verified, "" otherwise
}

// Tokens compares sizes, in tokens. What the file says of its own size is 0 before that is written.
type Tokens struct {
	Original      int64   `json:"original"`      // estimated, of all items that the agent saw
	Companion     int64   `json:"companion"`     // estimated, of the text after the front matter
	Saved         float64 `json:"saved_percent"` // of Original, one decimal; negative if the text is longer
	Estimator     string  `json:"estimator"`
	About         int64   `json:"about"`    // of the same text, by CharsPerToken; 0 in a companion written by an older ccd
	Reported      int64   `json:"reported"` // real tokens of the context as the transcript reports them, 0 if it does not
	Context       int64   `json:"-"`        // estimated, of the agent's context
	CharsPerToken float64 `json:"-"`        // from the session's own reports, else from its scripts
}

// KeyInformation counts key facts: messages of the human, edited paths, decisions, answers, failures. A fact that is not
// visible is recoverable by its record; none is ever lost.
type KeyInformation struct {
	Visible     int `json:"visible"`
	Recoverable int `json:"recoverable"`
	Lost        int `json:"lost"`
}

// Text returns the bytes of a span of the transcript, valid until its next call.
type Text = func(transcript.Span) ([]byte, error)

// Audience is who reads a text, and what of the session the reader has besides.
type Audience struct {
	Room  int              // chars of the sections with their headings
	Size  func(string) int // how the reader's client counts; nil: chars
	First int              // number of the first record that the reader gets in full, 0 if none; past the last one: none
	Holds bool             // the reader has its own summary and what came since its last compaction
}

// Companion is the reader of a companion, by the options. A share that a person asks for makes it no larger than it is without.
func (c *Compactor) Companion() Audience {
	o := c.o.Part(c.Chars())
	if o.Manual.Ratio > 0 {
		o.MaxTokens = min(o.MaxTokens, c.o.MaxTokens)
	}
	return Audience{Room: o.Budget(c.name)}
}

// Compact makes the text for a reader, with the summaries that the options' summarizer has written, if kept is not nil. It
// lists missing ones in Wanted. It reads only the spans that it needs. Equal records, options, texts and summaries give equal
// results. It fails with text's error, or if the bytes of a span are not those that were read.
func (c *Compactor) Compact(a Audience, text Text, kept Summaries) (*Compaction, error) {
	return c.draft(a, text, kept).made()
}

func (c *Compactor) draft(a Audience, text Text, kept Summaries) *draft {
	d := &draft{
		c: c, s: c.Session, src: session.NewSource(c.Session, text), reader: a, models: summaries{ask: kept}, words: newVocabulary(),
		formula: standard(),
		roots:   rootsOf(c.Session),
	}
	if keep := c.o.KeepImportance; keep > 0 {
		d.formula.whole = 1 + 4*keep
	}
	if a.Size == nil {
		d.reader.Size = lexicon.Chars
	}
	if a.First == 0 && !a.Holds { // a text is not longer than what it stands for
		d.reader.Room = min(a.Room, max(shortest, int(c.Chars())))
	}
	return d
}

// draft is a text that is being made.
type draft struct {
	c       *Compactor
	s       *session.Session
	src     *session.Source
	reader  Audience
	models  summaries
	words   *vocabulary
	formula formula
	roots   []string // directories relative to which paths are shown

	events    []*event // in order
	bySession []*event // by the index of the session's event
	files     []*event // directories with the files in them
	pieces    []*piece
	turns     int
	effects   []effect // of each turn
	day       string   // of the newest time that was printed
	claims    []claim
	filled    fill // the last one

	sections []Section
}

const (
	shortest     = 2000 // chars of a text of any session
	headings     = 45   // chars of the headings of the sections
	headingLines = 10   // their lines, and those of the end
	maxLines     = 1900 // agents' reading tools stop at 2,000 lines, which include the front matter and the lead
)

// made makes the handover and fills the rest of the room with the record, again with another room as long as the printed text misses
// it.
func (d *draft) made() (*Compaction, error) {
	d.collect()
	d.effects = make([]effect, d.turns+2)
	d.makePieces()
	room := max(0, d.reader.Room-headings)
	end := ""
	if d.reader.First == 0 && !d.reader.Holds && room >= shortest {
		end = RestLine
	}
	part := max(min(leastHandover, room), min(mostHandover, room/handoverPart))
	state := d.makeHandover(part)
	held := d.holdings(state)
	known := make([]bool, len(d.words.seen))
	for _, n := range held {
		known[n] = true
	}
	record, files := d.fit(state, known, room-d.reader.Size(state)-lexicon.Chars(end))
	for _, one := range []Section{{Handover, state}, {Record, record}, {Files, files}} {
		if one.Body != "" {
			d.sections = append(d.sections, one)
		}
	}
	if n := len(d.sections); n > 0 {
		d.sections[n-1].Body += end
	}
	if d.src.Err != nil {
		return nil, d.src.Err
	}
	return d.finish(), nil
}

// fit returns the record that fits the goal, as the reader's client counts chars. A fill knows its pieces, not what is printed between
// them: if the text is too long, it is made again with less room.
func (d *draft) fit(state string, known []bool, goal int) (record, files string) {
	before := d.reader.Size(state)
	for chars := goal; chars > leastLeft; {
		d.fillIn(known, chars)
		record, files = d.print()
		size := d.reader.Size(state+record+files) - before
		if over := strings.Count(state+record+files, "\n") + headingLines - maxLines; over > 0 {
			size = max(size, goal+40*over)
		}
		if size <= goal {
			return record, files
		}
		chars -= (size-goal)*chars/size + max(10, goal/200)
	}
	d.fillIn(known, 0)
	return "", ""
}

// RestLine ends a companion.
const RestLine = "\nThe rest: `ccd agent restore SESSION#N`, `ccd agent search WORDS`.\n"

// fillIn takes the pieces of the record again, with room for chars.
func (d *draft) fillIn(known []bool, chars int) {
	f := fill{formula: d.formula, pieces: d.pieces, left: chars, lines: maxLines, known: slices.Clone(known)}
	for _, p := range d.pieces {
		p.taken, p.event.shown = false, 0
	}
	f.run()
	d.filled = f
}

// holdings returns the tokens that the reader has without the record: those of the handover, of its own summary, and of what it
// holds.
func (d *draft) holdings(state string) (all []int32) {
	add := func(text string) {
		t := d.words.of(text)
		all = append(append(all, t.values...), t.words...)
	}
	add(state)
	if n := len(d.s.Bounds); d.reader.Holds && n > 0 && !d.s.Bounds[n-1].Own.Zero() {
		add(d.src.Text(d.s.Bounds[n-1].Own))
	}
	for _, e := range d.events {
		if e.held {
			add(d.src.Text(e.Ref))
			if e.Call != nil {
				add(d.output(e.Call))
			}
		}
	}
	return all
}

// length returns the length of the sections with their headings.
func (d *draft) length() int {
	n := 0
	for _, s := range d.sections {
		n += d.reader.Size(s.Body) + len("\n## \n") + len(s.Name)
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
		Model: st.Model, Window: st.Window, Assumed: st.Assumed, Pressure: st.Pressure, Level: st.Level, Redacted: d.s.Secrets(),
		Tokens: Tokens{Original: st.Total, Reported: st.Reported, Context: st.Context, CharsPerToken: d.c.PerToken()},
	}
	out.Wanted = d.models.missing()
	out.Events = d.told()
	d.verify(out, body.String())
	return out
}
