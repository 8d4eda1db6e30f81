package history

import (
	"iter"
	"slices"
	"strings"
	"time"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// How much a turn lists. The rest is counted.
const (
	maxAsked    = 2000 // characters
	maxFiles    = 50
	maxCommands = 200
)

// Turn is one human message and what followed it, up to the next one. Asked is empty for records before the first message.
type Turn struct {
	Record      int       `json:"record"` // of the human message, or the first record
	Last        int       `json:"last"`   // last record of the turn
	Time        time.Time `json:"time,omitzero"`
	End         time.Time `json:"end,omitzero"`
	Asked       string    `json:"asked"`           // what the person wrote, at most 2000 characters
	Added       int       `json:"added,omitempty"` // characters that the agent's client added to it
	ID          mark.ID   `json:"id"`              // of the human message
	Tools       []Tool    `json:"tools"`           // in the order of their first call
	Files       []string  `json:"files"`           // written, edited, deleted or renamed with success, at most 50
	MoreFiles   int       `json:"more_files"`
	Commands    []Command `json:"commands"` // at most 200
	MoreCommand int       `json:"more_commands"`
	Failed      int       `json:"failed"`      // failed tool results, including refused calls
	Refused     int       `json:"refused"`     // calls that the person or a rule did not allow
	Compactions int       `json:"compactions"` // times the agent compacted its own context
	TooLong     int       `json:"too_long"`    // records of over 16 MB, which are archived but not parsed
	Agents      int       `json:"agents"`      // calls that started or asked a sub-agent
}

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

// Turns splits a conversation into turns, without inline sub-agents. It yields a turn when the turn has ended. An error of
// records ends the sequence.
func Turns(records iter.Seq2[*transcript.Record, error]) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		var b Turner
		for r, err := range records {
			if err != nil {
				yield(Turn{}, err)
				return
			}
			if done, ok := b.Add(r); ok && !yield(done, nil) {
				return
			}
		}
		if last, ok := b.Current(); ok {
			yield(last, nil)
		}
	}
}

// Turner splits records into turns as they come.
type Turner struct {
	// Touched, if set, is called for each file that a call has read or changed with success; r is the record of its result.
	Touched func(r *transcript.Record, f transcript.FileChange)

	turn  Turn
	begun bool
	cwd   string          // the session's working directory
	calls map[string]call // by call ID, of this turn
	names map[string]int  // tool name to its index in turn.Tools

	record *transcript.Record // that is added
}

type call struct {
	op      transcript.Op
	tool    string
	command int               // index in turn.Commands, -1 if it is no command
	action  transcript.Action // its file changes count once the result confirms them
}

// Current returns the turn that has not ended yet, if there is one.
func (b *Turner) Current() (Turn, bool) { return b.turn, b.begun }

// Add adds a record and returns the turn that it ends, if it ends one.
func (b *Turner) Add(r *transcript.Record) (done Turn, ok bool) {
	if r.Cwd != "" && r.Cwd != b.cwd {
		b.cwd = strings.Clone(r.Cwd)
	}
	b.record = r
	if slices.ContainsFunc(r.Items, isAsked) {
		b.answered(r)
		done, ok = b.turn, b.begun
		b.begin(r)
		b.ask(r)
	}
	if !b.begun && (r.Long || slices.ContainsFunc(r.Items, isDone)) {
		b.begin(r)
	}
	if !b.begun {
		return done, ok
	}
	b.turn.Last = r.N
	if r.Long {
		b.turn.TooLong++
	}
	if !r.Time.IsZero() {
		b.turn.End = r.Time
	}
	if r.Boundary != nil {
		b.turn.Compactions++
	}
	for i := range r.Items {
		b.item(r, &r.Items[i])
	}
	return done, ok
}

// answered completes the calls that the person answered or refused with the message that begins the next turn, because a
// refusal belongs to the turn of its call.
func (b *Turner) answered(r *transcript.Record) {
	for i := range r.Items {
		if it := &r.Items[i]; isAsked(*it) && b.begun && it.Call != "" {
			b.result(it)
		}
	}
}

func isAsked(it transcript.Item) bool { return it.Kind == transcript.Human && !it.Side }

// isDone reports whether the agent said or did the item. Items that a program added before it begin no turn.
func isDone(it transcript.Item) bool {
	return !it.Side && (it.Kind == transcript.Text || it.Kind == transcript.Call)
}

func (b *Turner) begin(r *transcript.Record) {
	b.begun = true
	b.calls, b.names = map[string]call{}, map[string]int{}
	b.turn = Turn{Record: r.N, Time: r.Time, Tools: []Tool{}, Files: []string{}, Commands: []Command{}}
}

func (b *Turner) ask(r *transcript.Record) {
	for _, it := range r.Items {
		if !isAsked(it) {
			continue
		}
		said, added := it.Said()
		b.turn.Added += added
		if b.turn.Asked != "" {
			b.turn.Asked += "\n"
		} else {
			b.turn.ID = it.Sum().ID()
		}
		b.turn.Asked = lexicon.Head(b.turn.Asked+said, maxAsked)
	}
}

func (b *Turner) item(r *transcript.Record, it *transcript.Item) {
	switch {
	case it.Side:
	case it.Kind == transcript.Call:
		b.call(r, it)
	case it.Kind == transcript.Result:
		b.result(it)
	}
}

func (b *Turner) call(r *transcript.Record, it *transcript.Item) {
	i, known := b.names[it.Tool]
	if !known {
		i = len(b.turn.Tools)
		b.names[it.Tool] = i
		b.turn.Tools = append(b.turn.Tools, Tool{Name: it.Tool})
	}
	b.turn.Tools[i].Calls++
	action := it.Understand()
	action.Resolve(b.cwd)
	if action.Op == transcript.Agent {
		b.turn.Agents++
	}
	c := call{op: action.Op, tool: it.Tool, command: -1, action: transcript.Action{Op: action.Op, Files: action.Files}}
	if action.Op == transcript.Command && !action.Stdin {
		if len(b.turn.Commands) < maxCommands {
			c.command = len(b.turn.Commands)
			b.turn.Commands = append(b.turn.Commands, Command{Record: r.N, Line: mark.Inline(action.Command, 200)})
		} else {
			b.turn.MoreCommand++
		}
	}
	if it.Call != "" && len(b.calls) < 4*maxCommands {
		b.calls[it.Call] = c
		return
	}
	b.changed(&c.action, &transcript.Outcome{}) // its result will not be recognized
}

func (b *Turner) changed(a *transcript.Action, out *transcript.Outcome) {
	for _, f := range a.Changes(out) {
		if b.Touched != nil {
			b.Touched(b.record, f)
		}
		b.file(f)
	}
}

func (b *Turner) file(f transcript.FileChange) {
	name := f.Path
	if f.Op == transcript.Rename {
		name = f.To
	}
	switch {
	case f.Op == transcript.Read, f.Op == transcript.Other, holds(b.turn.Files, name):
	case len(b.turn.Files) < maxFiles:
		b.turn.Files = append(b.turn.Files, name)
	default:
		b.turn.MoreFiles++
	}
}

func (b *Turner) result(it *transcript.Item) {
	c, ok := b.calls[it.Call]
	if !ok {
		c = call{tool: it.Tool, command: -1}
	}
	delete(b.calls, it.Call)
	out := it.Explain(c.tool, c.op)
	if out.Rejected || it.Refused {
		b.turn.Refused++
	}
	if out.Failed || out.Rejected || it.Failed {
		b.turn.Failed++
	} else {
		b.changed(&c.action, &out)
	}
	if c.command < 0 {
		return
	}
	cmd := &b.turn.Commands[c.command]
	cmd.ID = it.Sum().ID()
	if out.HasExit {
		cmd.Exit = &out.Exit
	}
}
