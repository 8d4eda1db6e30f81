package resume

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"ccd/compactor"
	"ccd/compactor/sidecar"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// Source is an archived session that a copy is made from.
type Source struct {
	Session   transcript.Session
	Options   compactor.Options // of its companion
	Records   iter.Seq2[*transcript.Record, error]
	Text      func(transcript.Span) ([]byte, error)
	Summaries compactor.Summaries
	Tell      func(*compactor.Compaction) error // changes what the compaction says; may be nil
	Resumed   transcript.Resumed                // what it is a copy of itself; zero where that is not archived, or where it is none
	Until     int                               // only the records up to this number; 0 for all
	Before    string                            // ID of the session that it goes on from where that is not among the sources
}

// ErrNoFormat is of an agent whose sessions ccd reads and does not write.
var ErrNoFormat = errors.New("ccd does not write its format")

// Request is what a copy is to be.
type Request struct {
	Agent     string    // whose session it becomes
	ID        string    // of the new session
	MaxTokens int       // estimated, of all that the model sees of it; 0 for what fits the source
	Now       time.Time // stands for when a source began that tells no time
	Dir       string    // stands for where a source worked that tells no directory; absolute
}

// Copy is a new session as it is to be written.
type Copy struct {
	ID       string
	Lines    [][]byte
	Place    string // path of its file below a root of the agent, with slashes
	Cwd      string // where it is to be resumed
	Title    string
	Before   int64                  // estimated tokens that the source's agent holds
	After    int64                  // estimated tokens of the copy
	PerToken float64                // chars that a real token of the source has
	Verbatim int                    // messages that stand word by word
	Pointers [][]transcript.Pointer // what its IDs stand for: of each source, in their order
}

// LeastTokens is the smallest budget of a copy.
const LeastTokens = 4000

// The default budget is a share of what the agent holds: with the overhead of messages it stays below half of that.
const (
	usualShare  = 0.40
	usualLeast  = 16000  // estimated tokens; a session that holds less is copied whole
	usualMost   = 144000 // estimated tokens, about 30,000 real ones
	summaryMost = 72000  // estimated tokens of the first message, as a companion has
)

// ErrTooSmall tells that a budget does not hold what a copy must say.
var ErrTooSmall = errors.New("the budget is too small")

// ErrNothing tells that nobody said anything in a session.
var ErrNothing = errors.New("nothing is said in it")

// Make makes the copy of the first source. The others are the sessions that it is a copy of, each of the one behind it:
// what they held is told by their own summaries, not by a summary of a summary. It writes nothing.
func Make(sources []Source, want Request) (Copy, error) {
	m := maker{sources: sources, want: want}
	if err := m.read(); err != nil {
		return Copy{}, err
	}
	if m.talk.n == 0 && len(sources) == 1 && len(m.lead.parts) == 0 {
		return Copy{}, fmt.Errorf("make a copy of session %s: %w", sources[0].Session.ID, ErrNothing)
	}
	chars := m.budget() * 3 / 4
	for share := 2; ; share++ { // of the budget that the newest part may take: 1/2, 1/3, ...
		room := max(chars/share, chars-summaryMost*3/4*share/2)
		c, err := m.compose(m.talk.tail(room), chars)
		if !errors.Is(err, ErrTooSmall) || share > 6 {
			return m.filled(c, err, room, chars)
		}
	}
}

// filled gives the newest part what the summary has left of the budget, where that is worth it.
func (m *maker) filled(c Copy, err error, room, chars int) (Copy, error) {
	left := chars - int(c.After)*3/4
	if err != nil || left < chars/8 {
		return c, err
	}
	if more, err := m.compose(m.talk.tail(room+left), chars); err == nil && more.After > c.After {
		return more, nil
	}
	return c, nil
}

// maker is a copy in the making.
type maker struct {
	sources []Source
	want    Request
	folds   []*compactor.Compactor
	talk    *talk
	lead    lead  // of the last source
	said    []int // chars that each source needed for what was said of it the last time; nil before
}

// read folds the sources; of the first one the newest records are kept word by word.
func (m *maker) read() error {
	m.talk = newTalk(m.sources[0].Session.Agent, m.want.Agent, cmp.Or(m.want.MaxTokens, usualMost)*3/4)
	for i := range m.sources {
		s := &m.sources[i]
		fold := compactor.New(s.Options, s.Session)
		for r, err := range s.Records {
			if err != nil {
				return err
			}
			if s.Until > 0 && r.N > s.Until {
				break
			}
			if i == 0 {
				m.talk.add(r)
			}
			if i == len(m.sources)-1 && m.lead.add(r) {
				r = withoutSummary(r)
			}
			if r.N <= s.Resumed.Records { // copies of what another source tells
				fold.Add(&transcript.Record{
					N: r.N, Span: r.Span, Hash: r.Hash, Time: r.Time, Cwd: r.Cwd, Branch: r.Branch, Model: r.Model,
					Version: r.Version, Title: r.Title, Resumed: r.Resumed, UI: true,
				})
				continue
			}
			fold.Add(r)
		}
		m.folds = append(m.folds, fold)
	}
	return nil
}

// budget is the estimated tokens of the whole copy.
func (m *maker) budget() int {
	if m.want.MaxTokens > 0 {
		return m.want.MaxTokens
	}
	s := m.folds[0].Status()
	most := usualMost
	if s.Window > 0 {
		most = min(most, int(s.Window))
	}
	return max(usualLeast, min(most, int(float64(s.Context)*usualShare)))
}

// compose puts the copy together: the summary of what the tail leaves out, then the tail.
func (m *maker) compose(t tail, chars int) (Copy, error) {
	s := m.folds[0].Status()
	d := transcript.Draft{
		ID: m.want.ID, Title: m.title(), Cwd: m.cwd(), Branch: s.Branch, Start: s.First,
		Resumed: transcript.Resumed{ID: m.sources[0].Session.ID, Covers: s.Records}, Messages: t.messages,
	}
	if m.want.Agent == m.sources[0].Session.Agent {
		d.Version = m.talk.version
	}
	if d.Start.IsZero() || !m.want.Now.IsZero() && d.Start.After(m.want.Now) { // no session begins in time to come
		d.Start = m.want.Now
	}
	c := Copy{ID: m.want.ID, Cwd: d.Cwd, Title: transcript.TitlePrefix + d.Title, Before: s.Context, PerToken: m.folds[0].PerToken(), Verbatim: len(t.messages)}
	if whole := t.whole && len(t.messages) > 0 && !t.messages[0].Assistant && len(m.sources) == 1; !whole || t.chars > chars {
		said, pointers, err := m.summary(t, chars-t.chars)
		if err != nil {
			return c, err
		}
		t.chars += utf8.RuneCountInString(said)
		if t.chars > chars {
			return c, fmt.Errorf("make a copy of session %s: %w", m.sources[0].Session.ID, ErrTooSmall)
		}
		c.Pointers = pointers
		d.Messages = withSummary(said, d)
	} else {
		c.Pointers = make([][]transcript.Pointer, 1)
	}
	c.Pointers[0] = append(c.Pointers[0], t.pointers...)
	c.After = int64(t.chars) * 4 / 3
	f, ok := registry.Lookup(m.want.Agent)
	if !ok || f.Write == nil {
		return c, fmt.Errorf("write a session of %s: %w", m.want.Agent, ErrNoFormat)
	}
	c.Lines, c.Place = f.Write(d), f.Place(&d)
	return c, Check(m.want.Agent, c.Place, c.Lines)
}

// withSummary puts the summary before everything.
func withSummary(said string, d transcript.Draft) []transcript.Message {
	block := transcript.Block{Kind: transcript.Summary, Raw: transcript.Quote(said)}
	at := d.Start
	if len(d.Messages) > 0 && !d.Messages[0].Assistant {
		first := d.Messages[0]
		first.Blocks = append([]transcript.Block{block}, first.Blocks...)
		return append([]transcript.Message{first}, d.Messages[1:]...)
	}
	if len(d.Messages) > 0 {
		at = d.Messages[0].Time
	}
	return append([]transcript.Message{{Time: at, Blocks: []transcript.Block{block}}}, d.Messages...)
}

// titleChars is how long a copy's title may be.
const titleChars = 60

// title is the source's title, or the first words of what was asked.
func (m *maker) title() string {
	for _, t := range []string{m.folds[0].Status().Title, m.talk.asked} {
		for strings.HasPrefix(t, transcript.TitlePrefix) {
			t = strings.TrimPrefix(t, transcript.TitlePrefix)
		}
		if t = mark.Inline(strings.TrimSpace(t), titleChars); t != "" {
			return t
		}
	}
	return mark.Inline(m.sources[0].Session.ID, titleChars)
}

// cwd is where the session is resumed: the directory that its transcript's folder is named after, else the first one it
// worked in.
func (m *maker) cwd() string {
	dirs := m.talk.dirs
	row, _ := registry.Lookup(m.sources[0].Session.Agent)
	for _, dir := range dirs {
		if row.Project != nil && strings.Contains("/"+m.sources[0].Session.Source, "/"+row.Project(dir)+"/") {
			return dir
		}
	}
	if len(dirs) > 0 {
		return dirs[0]
	}
	return cmp.Or(m.want.Dir, "/")
}

// summary is the copy's first message in at most chars: the title, what it is, then the sections of the source
// and of those that it is a copy of.
func (m *maker) summary(t tail, chars int) (string, [][]transcript.Pointer, error) {
	s := &m.sources[0]
	var b strings.Builder
	b.WriteString(transcript.TitlePrefix + m.title() + "\n\n" + sidecar.Lead(s.Options.Host, s.Session.ID, 0))
	fmt.Fprintf(&b, "It is session %s of %s, made smaller: the messages that follow this one are its newest part as it was. "+
		"What is marked \"elided\" there was left out: read it again before editing.\n", mark.Inline(s.Session.ID, 100), s.Session.Agent)
	if before := m.sources[len(m.sources)-1].Before; before != "" {
		fmt.Fprintf(&b, "Made from session %s; that session's companion: ccd agent show %[1]s\n", mark.Inline(before, 100))
	}
	room := min(chars, summaryMost*3/4) - utf8.RuneCountInString(b.String())
	began, beganPointers := m.lead.quoted(room / 2)
	room -= utf8.RuneCountInString(began)
	pointers := make([][]transcript.Pointer, len(m.sources))
	texts, said := make([]string, len(m.sources)), make([]int, len(m.sources))
	for i := len(m.sources) - 1; i >= 0; i-- { // the oldest first: what it leaves is the newer ones'
		part := room
		if i > 0 {
			part = room / (i + 2)
		}
		first := t.first
		if i > 0 {
			first = m.folds[i].Status().Records + 1
		}
		if len(m.said) > i && i > 0 { // what an older one could say stays
			part = max(part, m.said[i])
		}
		c, err := m.compaction(i, first, part)
		if err != nil {
			return "", nil, err
		}
		pointers[i] = c.Pointers
		texts[i] = m.sections(i, c)
		n := utf8.RuneCountInString(texts[i])
		room -= n
		said[i] = n + mostSections*utf8.RuneCountInString(m.whose(i))
	}
	b.WriteString(began)
	for i := len(texts) - 1; i >= 0; i-- {
		b.WriteString(texts[i])
	}
	m.said = said
	last := len(pointers) - 1
	pointers[last] = append(pointers[last], beganPointers...)
	return b.String(), pointers, nil
}

// compaction is what is said of one source in at most chars.
func (m *maker) compaction(i, first, chars int) (*compactor.Compaction, error) {
	s := &m.sources[i]
	chars -= mostSections * utf8.RuneCountInString(m.whose(i))
	c, err := m.folds[i].Beside(first, max(0, chars)*4/3, s.Text, s.Summaries)
	if err == nil && s.Tell != nil {
		err = s.Tell(c)
	}
	if err != nil {
		return nil, fmt.Errorf("compact session %s: %w", s.Session.ID, err)
	}
	return c, nil
}

// mostSections is how many sections a source has at the most: each names its session.
const mostSections = 7

// whose is what the headings of a session say behind their names where another one is a copy of it.
func (m *maker) whose(i int) string {
	if i == 0 {
		return ""
	}
	return " of session " + mark.Inline(m.sources[i].Session.ID, 40) + ", which this one goes on from"
}

// sections is a compaction as text.
func (m *maker) sections(i int, c *compactor.Compaction) string {
	var b strings.Builder
	for _, s := range c.Sections {
		b.WriteString("\n## " + s.Name + m.whose(i) + "\n" + s.Body)
	}
	return b.String()
}
