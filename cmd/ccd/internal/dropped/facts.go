package dropped

import (
	"cmp"
	"slices"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// Class is a kind of fact. Its value is the name in tables and JSON.
type Class string

// The classes of facts.
const (
	Asked     Class = "asked"     // messages that a person typed
	Decisions Class = "decisions" // a person's answers, refusals and approvals
	Files     Class = "files"     // changed files
	Failures  Class = "failures"  // what failed last and did not succeed since
	Checks    Class = "checks"    // builds, tests and checks, as last run, unless that failed
	Commits   Class = "commits"
)

// Classes returns the classes, the most important first.
func Classes() []Class {
	return []Class{Asked, Decisions, Files, Failures, Checks, Commits}
}

// Fact is one fact, with the ID of its original.
type Fact struct {
	Class  Class   `json:"-"`
	Text   string  `json:"text"`        // on one line, not escaped; of a long text the beginning
	Status string  `json:"status"`      // how a call ended, what became of a file or a commit, what was decided; or ""
	Record int     `json:"record"`      // number of the newest record with it
	ID     mark.ID `json:"id"`          // of the original in that record
	Output mark.ID `json:"output_id"`   // of a command: its result, or ""
	InTold bool    `json:"handed_over"` // what ccd's hook adds tells it
	Line   int     `json:"-"`           // the line of it that does, from 1

	event int32
	ref   session.Ref
	call  *session.Call // whose result is the output
	words session.Ref   // of a person's text, which is read when it is needed
	name  string        // what a text must contain to show the fact, "" if its words decide
	said  string        // what is searched in a text
}

const (
	maxSaid  = 4000 // chars of a fact that are compared
	maxText  = 600  // chars of Text
	maxAbout = 80   // chars of a call in front of what a person said about it
)

// facts returns the facts of the events before end as they were then, each once, in the order of the newest event with it.
func facts(s *session.Session, src *session.Source, end int32) (all []Fact) {
	newest, passed := map[string]int{}, []*session.Call{} // passed: checks that went well
	add := func(key string, one Fact) {
		if i, ok := newest[key]; ok && key != "" {
			all[i] = one
			return
		}
		newest[key], all = len(all), append(all, one)
	}
	for i := range s.Events[:end] {
		e := &s.Events[i]
		one := Fact{event: int32(i), ref: e.Ref}
		switch e.Kind {
		case session.Asked, session.Queued:
			if one.Class, one.words = Asked, e.Ref; !e.Back && e.Chars > 0 {
				add("", one)
			}
		case session.Reason, session.Answer:
			one.Class, one.Text, one.words, one.Status = Decisions, mark.Inline(about(e.Call), maxAbout), e.Ref, "answered"
			if e.Kind == session.Reason {
				one.Status = "refused"
			} else if transcript.Approves(src.Text(e.Ref)) { // the words are the client's
				one.Text, one.words, one.Status = about(e.Call), session.Ref{}, "approved"
			}
			add("", one)
		case session.Did:
			call := e.Call
			one.Text, one.said, one.Status, one.call = cmp.Or(call.Command, about(call)), about(call), call.Ending(), call
			switch {
			case call.State == session.Refused && call.Words.Zero():
				one.Class = Decisions
				add("", one)
			case call.State == session.Failed && !call.Aborted && !call.LookUp:
				one.Class = Failures
				add("ran "+one.said, one)
			case call.State == session.Done && call.Checks():
				one.Class = Checks
				add("ran "+one.said, one)
				passed = append(passed, call)
			}
		}
	}
	all = slices.DeleteFunc(all, func(f Fact) bool {
		return f.Class == Failures && slices.ContainsFunc(passed, func(c *session.Call) bool { return c.Index > f.event && c.Covers(f.call) })
	})
	for _, f := range s.Files {
		n, _ := slices.BinarySearchFunc(f.Edits, end, func(e session.Edit, end int32) int { return cmp.Compare(e.Event, end) })
		if n == 0 {
			continue
		}
		e := f.Edits[n-1]
		one := Fact{Class: Files, event: e.Event, ref: s.Events[e.Event].Ref, Text: f.Path, name: transcript.Base(f.Path)}
		if rest, ok := transcript.Below(f.Path, s.Root()); ok && s.Root() != "" && rest != "" {
			one.Text = rest
		}
		switch {
		case e.Gone:
			one.Status = "deleted"
		case f.Created:
			one.Status = "created"
		}
		add("", one)
	}
	for _, k := range s.Commits {
		if k.Event < end {
			call := s.Events[k.Event].Call
			one := Fact{Class: Commits, event: k.Event, ref: call.Result, Text: k.Hash + " " + k.Subject, said: k.Subject, name: k.Hash}
			if k.Hash == "" {
				one.Text = about(call)
			}
			if k.Pushed >= 0 && k.Pushed < end {
				one.Status = "pushed"
			}
			add("", one)
		}
	}
	return all
}

// about says what a call is about.
func about(c *session.Call) string {
	switch {
	case c == nil:
		return ""
	case c.Command != "":
		return transcript.NormalizeRun("", c.Command).Command
	case c.Query != "":
		return c.Query
	case len(c.Files) > 0:
		return c.Tool + " " + c.Files[0].File.Path
	}
	return c.Tool
}

// fill reads the text of a fact and makes its IDs.
func (f *Fact) fill(src *session.Source) {
	if !f.words.Zero() {
		if f.said = strings.TrimSpace(src.Text(f.words)); f.Text != "" {
			f.Text = "\"" + f.Text + "\": "
		}
		f.Text += f.said
	}
	f.said = lexicon.Head(cmp.Or(f.said, f.Text), maxSaid)
	f.Text = lexicon.Head(strings.Join(strings.Fields(lexicon.Head(f.Text, maxSaid)), " "), maxText)
	f.Record, f.ID = f.ref.N(), src.ID(f.ref)
	if f.call != nil && !f.call.Result.Zero() {
		f.Output = src.ID(f.call.Result)
	}
}

// key is what a text must have to tell a file or a commit, "" if the fact's words decide.
func (f *Fact) key() string {
	if f.Class == Commits {
		return f.name[:min(len(f.name), 7)]
	}
	return f.name
}

// told returns the first line of ccd's text that tells a fact, 0 if none does: that names a file, or the record of what it tells.
func told(text string, lines map[int]int, f *Fact) int {
	if f.Class == Files {
		n := 0
		for line := range strings.Lines(text) {
			if n++; !strings.HasPrefix(line, ">") && strings.Contains(line, f.name) {
				return n
			}
		}
		return 0
	}
	if n := lines[f.ref.N()]; n > 0 || f.call == nil || f.call.Result.Zero() {
		return n
	}
	return lines[f.call.Result.N()]
}
