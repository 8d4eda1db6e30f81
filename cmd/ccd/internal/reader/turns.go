package reader

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// How much a turn lists. The rest is counted.
const (
	maxAsked    = 2000 // characters
	maxFiles    = 50
	maxCommands = 200
)

// Turn is an item of a session's model: a message that a person typed and what followed it, up to the next one. Asked is empty
// if the session begins without one.
type Turn struct {
	N            int       `json:"-"`      // from 1
	Record       int       `json:"record"` // of the message, or the first record
	Last         int       `json:"last"`   // last record of the turn
	Time         time.Time `json:"time,omitzero"`
	End          time.Time `json:"end,omitzero"`
	Asked        string    `json:"asked"`                // what the person wrote, at most 2000 characters
	Added        int       `json:"added,omitempty"`      // characters that the agent's client added to it
	ID           mark.ID   `json:"id"`                   // of the message
	Back         bool      `json:"taken_back,omitempty"` // the person took the message back
	Task         bool      `json:"task,omitempty"`       // the message is the task that another session gave a sub-agent
	Words        []Words   `json:"words,omitempty"`      // what the person said while the agent worked
	Tools        []Tool    `json:"tools"`                // in the order of their first call
	Files        []string  `json:"files"`                // written, edited, deleted or renamed with success, at most 50
	MoreFiles    int       `json:"more_files"`
	Commands     []Command `json:"commands"` // at most 200
	MoreCommand  int       `json:"more_commands"`
	Failed       int       `json:"failed"`      // calls
	Refused      int       `json:"refused"`     // calls that the person or a rule did not allow
	FirstRefused int       `json:"-"`           // record of the first of them
	Compactions  int       `json:"compactions"` // times the agent compacted its own context
	Bounds       []Bound   `json:"-"`           // these
	TooLong      int       `json:"too_long"`    // records of over 16 MB, which are archived but not parsed
	Agents       int       `json:"agents"`      // calls that started or asked a sub-agent, without those that failed to

	Failures []*session.Call `json:"-"` // the calls that Failed counts, at most 200
}

// Bound is a compaction by the agent.
type Bound struct {
	Record int
	Time   time.Time
	Before int64 // tokens in the context, 0 if unknown
}

// Calls counts the calls of all tools.
func (t *Turn) Calls() (n int) {
	for _, tool := range t.Tools {
		n += tool.Calls
	}
	return n
}

// Edits counts the changed files.
func (t *Turn) Edits() int { return len(t.Files) + t.MoreFiles }

// Words is what a person said within a turn.
type Words struct {
	Record int       `json:"record"`
	How    string    `json:"how"`  // "queued" while the agent worked, "refusal" of a call, "answer" to it, or a command in the client's "shell"
	Text   string    `json:"text"` // at most 2000 characters
	Added  int       `json:"added,omitempty"`
	ID     mark.ID   `json:"id"`
	Time   time.Time `json:"time,omitzero"`
}

// The ways in which a person speaks within a turn.
const (
	Queued  = "queued"
	Refusal = "refusal"
	Answer  = "answer"
	Shell   = "shell"
)

var ways = map[session.Kind]string{session.Queued: Queued, session.Reason: Refusal, session.Answer: Answer, session.Shell: Shell}

// Tool counts the calls of one tool.
type Tool struct {
	Name  string `json:"name"`
	Calls int    `json:"calls"`
}

// Command is one shell command of a turn.
type Command struct {
	Record int     `json:"record"`  // of its call
	Line   string  `json:"command"` // one line, at most 200 characters
	Exit   *int    `json:"exit"`    // nil if unknown
	ID     mark.ID `json:"id"`      // of its output; "" if there is none yet
}

// Said returns what a person typed, or its beginning, and how many characters the client added to it.
type Said func(session.Ref) (text string, added int)

// Turns returns the items of a session as turns, without those before the first message in which the agent did nothing, and
// without the commands that only the client took.
func Turns(s *session.Session, said Said) (all []Turn) {
	for i := range s.Items {
		if t, ok := (turns{s, said}).turn(i); ok {
			t.N = len(all) + 1
			all = append(all, t)
		}
	}
	return all
}

type turns struct {
	*session.Session
	said Said
}

func (m turns) text(r session.Ref) (string, int) {
	text, added := m.said(r)
	return strings.Clone(lexicon.Head(text, maxAsked)), added
}

func (m turns) turn(i int) (t Turn, ok bool) {
	it := &m.Items[i]
	t = Turn{Last: m.Records(), Tools: []Tool{}, Files: []string{}, Commands: []Command{}}
	if i+1 < len(m.Items) {
		t.Last = int(m.Events[m.Items[i+1].Ask].Rec)
	}
	if it.Ask >= 0 {
		ask := m.Events[it.Ask].Ref
		t.Record, t.ID, t.Back, t.Task = ask.N(), ask.Sum.ID(), it.Back, ask.Kind != transcript.Human && ask.Kind != transcript.Image
		if t.Asked, t.Added = m.text(ask); ask.Kind == transcript.Image {
			t.Asked = m.Events[it.Ask].Attached()
		}
		t.Last = max(t.Last, t.Record) // the next message may be in the same record
	} else if t.Record = m.begins(it, t.Last); t.Record == 0 {
		return t, false
	}
	m.within(&t)
	files := map[*session.File]bool{}
	for e := it.From; e < it.To; e++ {
		m.event(&t, &m.Events[e], files)
	}
	t.MoreFiles = len(files) - len(t.Files)
	told := it.Command && it.To == it.From+1 && t.Compactions == 0 && i+1 < len(m.Items) // to the client, not to the agent
	return t, !told
}

// within takes what is between the first and the last record of a turn.
func (m turns) within(t *Turn) {
	t.Time = m.Time(int32(t.Record - 1))
	for n := t.Last; n >= t.Record && t.End.IsZero(); n-- {
		t.End = m.Time(int32(n - 1))
	}
	in := func(n int) bool { return n >= t.Record && n <= t.Last }
	for _, n := range m.Long {
		if in(n) {
			t.TooLong++
		}
	}
	for _, b := range m.Bounds {
		if n := int(b.Rec) + 1; n != 0 && in(n) {
			t.Compactions++
			t.Bounds = append(t.Bounds, Bound{n, m.Time(b.Rec), b.Before})
		}
	}
}

// begins returns the first record in which the agent did something before the first message, or that is too long to tell; 0 if
// there is none. What a program added begins no turn.
func (m turns) begins(it *session.Item, last int) (record int) {
	if len(m.Long) > 0 && m.Long[0] <= last {
		record = m.Long[0]
	}
	for _, e := range m.Events[it.From:it.To] {
		if (e.Kind == session.Said || e.Kind == session.Did) && (record == 0 || e.N() < record) {
			return e.N()
		}
	}
	return record
}

// event adds an event to a turn. files are those that the turn has changed.
func (m turns) event(t *Turn, e *session.Event, files map[*session.File]bool) {
	if how := ways[e.Kind]; how != "" {
		w := Words{Record: e.N(), How: how, ID: e.Sum.ID(), Time: m.Time(e.Rec)}
		if w.Text, w.Added = m.text(e.Ref); e.Kind == session.Shell {
			w.Text, w.Added = e.Call.Command, 0
		}
		t.Words = append(t.Words, w)
	}
	if e.Kind == session.Did {
		t.call(e.Call, files)
	}
}

// call adds a call to a turn.
func (t *Turn) call(c *session.Call, files map[*session.File]bool) {
	i := slices.IndexFunc(t.Tools, func(one Tool) bool { return one.Name == c.Tool })
	if i < 0 {
		i = len(t.Tools)
		t.Tools = append(t.Tools, Tool{Name: c.Tool})
	}
	t.Tools[i].Calls++
	switch {
	case c.State == session.Refused:
		t.Refused++
		t.FirstRefused = cmp.Or(t.FirstRefused, c.At.N())
	case c.State == session.Failed && !c.Aborted: // one that the person stopped did not fail
		if t.Failed++; len(t.Failures) < maxCommands {
			t.Failures = append(t.Failures, c)
		}
	}
	if c.Op == transcript.Agent && (c.Agent != "" || c.State != session.Failed && c.State != session.Refused) {
		t.Agents++
	}
	switch command := c.Op == transcript.Command && !c.Stdin; {
	case command && len(t.Commands) < maxCommands:
		t.Commands = append(t.Commands, CommandOf(c))
	case command:
		t.MoreCommand++
	}
	t.change(c.Files, files)
}

// change adds the files of a call that were changed.
func (t *Turn) change(all []session.Change, files map[*session.File]bool) {
	for _, f := range all {
		file := cmp.Or(f.To, f.File)
		if !f.Sure || f.Op == transcript.Read || files[file] {
			continue
		}
		if files[file] = true; len(t.Files) < maxFiles {
			t.Files = append(t.Files, file.Path)
		}
	}
}

// CommandOf returns a call of a shell.
func CommandOf(c *session.Call) Command {
	one := Command{Record: c.At.N(), Line: mark.Inline(c.Command, 200)}
	if c.HasExit && !(c.Silent && c.State == session.Done) { // else it is another command's
		one.Exit = &c.Exit
	}
	for _, r := range []session.Ref{c.Words, c.Result} {
		if !r.Zero() {
			one.ID = r.Sum.ID()
		}
	}
	return one
}
