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
	"ccd/compactor/companion"
	"ccd/compactor/limits"
	"ccd/internal/agent/registry"
	"ccd/internal/mark"
	"ccd/internal/project"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// Source is an archived session that a copy is made from.
type Source struct {
	Session   transcript.Session
	Options   compactor.Options // the options of its companion
	Records   iter.Seq2[*transcript.Record, error]
	Text      func(transcript.Span) ([]byte, error)
	Summaries compactor.Summaries
	Tell      func(*compactor.Compaction) // adjusts the compaction; may be nil
	Before    string                      // ID of the session that it is a copy of, "" for none
}

// ErrNoFormat is returned for an agent whose sessions ccd can read but not write.
var ErrNoFormat = errors.New("ccd does not write its format")

// Request describes the copy to make.
type Request struct {
	Agent     string    // the agent that shall resume it
	Title     string    // of the copy, "" for one from the source's records
	Root      string    // the directory of that agent to write it to
	Provider  string    // of the models that it is configured for, "" if unknown
	ID        string    // of the new session
	MaxTokens int       // estimated, of all that the model sees; 0 for a default by the source's size
	Now       time.Time // used as start time if the source has none
	Dir       string    // used as working directory if the source has none; absolute
	Move      bool      // the source is another machine's: use the matching directory in the repository of Dir, else Dir
}

// Copy is a new session, ready to be written.
type Copy struct {
	ID       string
	Lines    [][]byte
	Place    string // path of its file below a root of the agent, slash-separated
	Cwd      string // the directory to resume it in
	Gone     string // the session's directory, if that is gone and Cwd is the main one of its repository
	Moved    *Moved // how Cwd was found if the source is another machine's, else nil
	Title    string
	Before   int64                // estimated tokens in the context of the source's agent
	After    int64                // estimated tokens of the copy
	PerToken float64              // chars per real token in the source
	Reported int64                // real tokens in that context as last reported, 0 if none are
	Verbatim int                  // number of messages kept verbatim
	Pointers []transcript.Pointer // the originals of its IDs
}

// Moved is how a session of another machine gets its working directory here.
type Moved struct {
	From string `json:"from"` // the directory on the other machine
	To   string `json:"to"`   // what it is here
}

// LeastTokens is the smallest budget of a copy.
const LeastTokens = 4000

// The default budget is a share of the agent's context. With the overhead of messages it stays below half of it.
const (
	usualShare  = 0.40
	usualLeast  = 16000  // estimated tokens; a smaller session is copied whole
	usualMost   = 144000 // estimated tokens, about 30,000 real ones
	summaryMost = 72000  // estimated tokens of the first message, as a companion has
)

// ErrTooSmall reports that a budget is too small for what a copy must contain.
var ErrTooSmall = errors.New("the budget is too small")

// ErrNothing reports that a session has no messages.
var ErrNothing = errors.New("it has no messages")

// Make makes a copy of a session. A summary that the session begins with, as a copy does, is quoted, so that no summary is summarized
// again. Make writes nothing. It fails with ErrNothing, ErrTooSmall or ErrNoFormat, or as reading does.
func Make(of Source, want Request) (Copy, error) {
	m := maker{Source: of, want: want}
	if err := m.read(); err != nil {
		return Copy{}, err
	}
	if m.talk.n == 0 && m.talk.lead.text == "" {
		return Copy{}, fmt.Errorf("make a copy of session %s: %w", of.Session.ID, ErrNothing)
	}
	chars := limits.Chars(m.budget())
	if t := m.talk.tail(3 * chars); m.complete(t, chars) {
		return m.compose(t, chars)
	}
	for share := 2; ; share++ { // the newest part may take 1/2, 1/3, ... of the budget
		room := max(chars/share, chars-limits.Chars(summaryMost)*share/2)
		c, err := m.compose(m.talk.tail(room), chars)
		if !errors.Is(err, ErrTooSmall) || share > 6 {
			return m.filled(c, err, room, chars)
		}
	}
}

// filled extends the newest part by what the summary left of the budget, if that is worth it.
func (m *maker) filled(c Copy, err error, room, chars int) (Copy, error) {
	left := chars - limits.Chars(int(c.After))
	if err != nil || left < chars/8 {
		return c, err
	}
	if more, err := m.compose(m.talk.tail(room+left), chars); err == nil && more.After > c.After {
		return more, nil
	}
	return c, nil
}

// maker builds a copy.
type maker struct {
	Source
	want  Request
	model *compactor.Compactor
	talk  *talk
	moved *Moved
}

// read reads the source and keeps its newest records verbatim.
func (m *maker) read() error {
	m.talk = newTalk(m.Session.Agent, m.want.Agent, limits.Chars(cmp.Or(m.want.MaxTokens, usualMost)))
	m.model = compactor.New(m.Options, m.Session)
	for r, err := range m.Records {
		if err != nil {
			return err
		}
		m.talk.add(r)
		m.model.Add(r)
	}
	return nil
}

// budget returns the estimated tokens of the whole copy.
func (m *maker) budget() int {
	if m.want.MaxTokens > 0 {
		return m.want.MaxTokens
	}
	s := m.model.Status()
	most := usualMost
	if s.Window > 0 {
		most = min(most, int(s.Window))
	}
	return max(usualLeast, min(most, int(float64(s.Context)*usualShare)))
}

// complete reports whether a tail is the whole conversation and fits, so that the copy needs no summary.
func (m *maker) complete(t tail, chars int) bool {
	return t.whole && t.chars <= chars && len(t.messages) > 0 && !t.messages[0].Assistant
}

// compose makes the copy: a summary of everything before the tail, then the tail.
func (m *maker) compose(t tail, chars int) (Copy, error) {
	s := m.model.Status()
	cwd := m.cwd()
	if m.want.Move {
		m.moved, cwd = m.move(cwd)
	}
	d := transcript.Draft{
		ID: m.want.ID, Made: m.want.Now, Title: m.title(), Cwd: cwd, Branch: s.Branch, Start: s.First, Provider: m.want.Provider,
		Resumed: transcript.Resumed{ID: m.Session.ID, Covers: s.Records, Made: words.Format(m.want.Now.UTC(), time.RFC3339)}, Messages: t.messages,
	}
	if m.want.Agent == m.Session.Agent {
		d.Version = m.talk.version
	}
	if d.Start.IsZero() || !m.want.Now.IsZero() && d.Start.After(m.want.Now) { // no session begins in the future
		d.Start = m.want.Now
	}
	c := Copy{ID: m.want.ID, Cwd: d.Cwd, Moved: m.moved, Title: transcript.TitlePrefix + d.Title, Before: s.Context, Reported: s.Reported, PerToken: m.model.PerToken(), Verbatim: len(t.messages)}
	if !m.complete(t, chars) {
		said, pointers, err := m.summary(t, chars-t.chars)
		if err != nil {
			return c, err
		}
		t.chars += utf8.RuneCountInString(said)
		if t.chars > chars {
			return c, fmt.Errorf("make a copy of session %s: %w", m.Session.ID, ErrTooSmall)
		}
		c.Pointers = pointers
		d.Messages = withSummary(said, d)
	} else if note := m.notes(); note != "" {
		note = transcript.TitlePrefix + m.title() + "\n\n" + note
		t.chars += utf8.RuneCountInString(note)
		d.Messages = withSummary(note, d)
	}
	c.Pointers = append(c.Pointers, t.pointers...)
	c.After = int64(t.chars) * 4 / 3
	f, ok := registry.Table{}.Lookup(m.want.Agent)
	if !ok || f.Write == nil {
		return c, fmt.Errorf("write a session of %s: %w", m.want.Agent, ErrNoFormat)
	}
	if len(d.Messages) == 0 {
		return c, fmt.Errorf("make a copy of session %s: %w", m.Session.ID, ErrNothing)
	}
	c.Lines, c.Place = f.Write(d), f.Place(&d, m.want.Root)
	return c, nil
}

// withSummary puts the summary before all messages.
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

// notes returns what an agent must know of paths of another machine, "" if there is nothing.
func (m *maker) notes() (text string) {
	if m.moved != nil && m.moved.From != m.moved.To {
		text = fmt.Sprintf("The session began on another machine. What is in `%s` in its messages is in `%s` here; files may differ: read them again.\n",
			mark.Inline(m.moved.From, 400), mark.Inline(m.moved.To, 400))
	}
	return text
}

// move returns where the working directory of a session of another machine is here: in the repository of the same name, else it is the
// current directory.
func (m *maker) move(cwd string) (*Moved, string) {
	if from, to, here := project.Find(m.want.Dir, cwd); here != "" {
		return &Moved{from, to}, here
	}
	return &Moved{cwd, m.want.Dir}, m.want.Dir
}

// TitleChars is the maximum length of a copy's title, in chars.
const TitleChars = 60

// title returns the source's title, or the first words of the first request.
func (m *maker) title() string {
	for _, t := range []string{m.want.Title, m.model.Status().Title, m.talk.asked} {
		for strings.HasPrefix(t, transcript.TitlePrefix) {
			t = strings.TrimPrefix(t, transcript.TitlePrefix)
		}
		if t = mark.Inline(strings.TrimSpace(t), TitleChars); t != "" {
			return t
		}
	}
	return mark.Inline(m.Session.ID, TitleChars)
}

// cwd returns where to resume the session: the directory that its transcript's folder is named after, else the first one
// that it worked in.
func (m *maker) cwd() string {
	dirs := m.talk.dirs
	row, _ := registry.Table{}.Lookup(m.Session.Agent)
	for _, dir := range dirs {
		if row.Project != nil && strings.Contains("/"+m.Session.Source, "/"+row.Project(dir)+"/") {
			return dir
		}
	}
	if len(dirs) > 0 {
		return dirs[0]
	}
	return cmp.Or(m.want.Dir, "/")
}

// summary returns the copy's first message in at most chars: the title, an introduction, then the sections of the source.
func (m *maker) summary(t tail, chars int) (string, []transcript.Pointer, error) {
	var b strings.Builder
	b.WriteString(transcript.TitlePrefix + m.title() + "\n\n" + companion.Lead(m.Options.Host, m.Session.ID, 0))
	fmt.Fprintf(&b, "It is session %s of %s, made smaller: the messages that follow this one are its newest part as it was. "+
		"What is marked \"elided\" there was left out: read it again before editing.\n", mark.Inline(m.Session.ID, 100), m.Session.Agent)
	b.WriteString(m.notes())
	if m.Before != "" {
		fmt.Fprintf(&b, "Made from session %s; that session's companion: ccd agent show %[1]s\n", mark.Inline(m.Before, 100))
	}
	room, began := min(chars, limits.Chars(summaryMost))-utf8.RuneCountInString(b.String()), ""
	if m.talk.lead.text != "" {
		began = m.talk.lead.quoted(room / 2)
		room -= utf8.RuneCountInString(began)
	}
	c, err := m.model.Compact(compactor.Audience{Room: max(0, room), First: max(1, t.first)}, m.Text, m.Summaries)
	if err != nil {
		return "", nil, fmt.Errorf("compact session %s: %w", m.Session.ID, err)
	}
	if m.Tell != nil {
		m.Tell(c)
	}
	if b.WriteString(began); began != "" {
		c.Pointers = append(c.Pointers, m.talk.lead.pointer)
	}
	for _, s := range c.Sections {
		b.WriteString("\n## " + s.Name + "\n" + s.Body)
	}
	return b.String(), c.Pointers, nil
}
