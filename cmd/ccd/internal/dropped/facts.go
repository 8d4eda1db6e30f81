package dropped

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

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
	Checks    Class = "checks"    // builds, tests and checks that passed
	Commits   Class = "commits"
	Answers   Class = "answers" // the agent's last text for each message
	Values    Class = "values"  // hashes, ids, paths and numbers of outputs that later messages or calls use
)

// Classes returns the classes, the most important first.
func Classes() []Class {
	return []Class{Asked, Decisions, Files, Failures, Checks, Commits, Answers, Values}
}

// Fact is one fact, with the ID of its original.
type Fact struct {
	Class       Class   `json:"-"`
	Text        string  `json:"text"`         // on one line, not escaped; of a long text the beginning
	Status      string  `json:"status"`       // how a call ended, what became of a file or a commit, what was decided; or ""
	Record      int     `json:"record"`       // number of the newest record with it
	ID          mark.ID `json:"id"`           // of the original in that record
	Output      mark.ID `json:"output_id"`    // of a command: its result, or ""
	InCompanion bool    `json:"in_companion"` // the companion shows it
	InTold      bool    `json:"handed_over"`  // what ccd's hook adds shows it

	event int32
	ref   session.Ref
	call  *session.Call // whose result is the output
	words session.Ref   // of the text, which is read when it is needed
	name  string        // what a text must contain to show the fact, "" if its words decide
	said  string        // what is searched in a text
}

const (
	maxSaid = 4000 // chars of a fact that are compared
	maxText = 600  // chars of Text

	leastValue = 5 // bytes of a value
)

// facts returns the facts of the events before end as they were then, each once, in the order of the newest event with it; of
// values only those since from.
func facts(s *session.Session, src *session.Source, from, end int32) (all []Fact) {
	newest := map[string]int{}
	add := func(key string, one Fact) {
		if i, ok := newest[key]; ok && key != "" {
			all[i] = one
			return
		}
		newest[key], all = len(all), append(all, one)
	}
	for i := range s.Events[:end] {
		e := &s.Events[i]
		one := Fact{event: int32(i), ref: e.Ref, words: e.Ref}
		switch e.Kind {
		case session.Asked, session.Queued:
			if one.Class = Asked; !e.Back && e.Chars > 0 {
				add("", one)
			}
		case session.Reason, session.Answer:
			one.Class, one.Text, one.Status = Decisions, about(e.Call), "answered"
			if e.Kind == session.Reason {
				one.Status = "refused"
			} else if transcript.Approves(src.Text(e.Ref)) {
				one.Status = "approved"
			}
			add("", one)
		case session.Said:
			if one.Class = Answers; answers(s, int32(i), end) {
				add("", one)
			}
		case session.Did:
			call := e.Call
			one.Text, one.Status, one.words, one.call = about(call), ended(call), session.Ref{}, call
			switch {
			case call.State == session.Refused && call.Words.Zero():
				one.Class = Decisions
				add("", one)
			case call.Unresolved() || call.State == session.Failed && call.Fixed >= end:
				one.Class = Failures
				add("ran "+one.Text, one)
			case call.State == session.Done && call.Checks():
				one.Class = Checks
				add("ran "+one.Text, one)
			}
		}
	}
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
	return append(all, values(s, src, from, end)...)
}

// values returns the values in outputs of these events that a later message or call uses, the files apart.
func values(s *session.Session, src *session.Source, from, end int32) (all []Fact) {
	seen := map[string]bool{}
	for i := end - 1; i >= from; i-- {
		e := &s.Events[i]
		if e.Kind != session.Did || e.Call.Op == transcript.Read || e.Call.Result.Zero() {
			continue
		}
		lexicon.Terms(lexicon.Head(src.Outcome(e.Call).Text, lexicon.Searched), func(term string) bool {
			if !seen[term] && len(term) >= leastValue && strings.ContainsAny(term, "0123456789/") && s.UsedAfter(term, end-1) && s.File(term) == nil {
				seen[term] = true
				all = append(all, Fact{Class: Values, event: i, ref: e.Call.Result, Text: strings.Clone(term), name: strings.Clone(term), said: strings.Clone(term)})
			}
			return true
		})
	}
	return all
}

// answers reports whether a text of the agent is the last thing of its item.
func answers(s *session.Session, i, end int32) bool {
	for _, e := range s.Events[i+1 : min(end, s.Items[s.Events[i].Item].To)] {
		if e.Kind == session.Said || e.Kind == session.Did {
			return false
		}
	}
	return true
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

// ended says how a call ended.
func ended(c *session.Call) string {
	switch {
	case c.State == session.Refused:
		return "refused"
	case c.HasExit:
		return strconv.Itoa(c.Exit)
	case c.State == session.Failed:
		return "failed"
	}
	return ""
}

// fill reads the text of a fact and makes its IDs.
func (f *Fact) fill(src *session.Source) {
	if !f.words.Zero() {
		text := strings.TrimSpace(src.Text(f.words))
		if f.Text != "" {
			text = f.Text + ": " + text
		}
		f.Text = text
	}
	if f.said == "" {
		f.said = lexicon.Head(f.Text, maxSaid)
	}
	f.Text = lexicon.Head(strings.Join(strings.Fields(lexicon.Head(f.Text, maxSaid)), " "), maxText)
	f.Record, f.ID = f.ref.N(), src.ID(f.ref)
	if f.call != nil && !f.call.Result.Zero() {
		f.Output = src.ID(f.call.Result)
	}
}

// Text is a text in which facts are searched.
type Text struct {
	plain string
	words map[string][]int32 // the sentences with a word, ascending
}

// NewText returns a text.
func NewText(text string) *Text {
	t := &Text{plain: lexicon.Plain(text), words: map[string][]int32{}}
	n := int32(0)
	for _, sentence := range lexicon.Sentences(text) {
		for word := range lexicon.WordSet(sentence) {
			t.words[word] = append(t.words[word], n)
		}
		n++
	}
	return t
}

const (
	enough   = 60 // percent of the words of a sentence that one of the text must have to say the same
	mostHash = 7  // chars of a commit's hash that a text must have
)

// Shows reports whether the text names a fact: a file by its base name, a commit by its hash; else half of the fact's
// sentences stand in it or have most of their words in one sentence of it.
func (t *Text) Shows(f *Fact) bool {
	if t.plain == "" {
		return false
	}
	name := lexicon.Lower(f.name)
	if f.Class == Commits {
		name = name[:min(len(name), mostHash)]
	}
	if named := name != "" && t.has(name); named || f.Class == Files || f.Class == Values {
		return named
	}
	all, same := 0, 0
	for _, sentence := range lexicon.Sentences(f.said) {
		n := lexicon.Width(sentence)
		if all += n; t.says(sentence) {
			same += n
		}
	}
	return all > 0 && same*2 >= all
}

// has reports whether a name stands in the text and is not a part of a longer one.
func (t *Text) has(name string) bool {
	inside := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' }
	for at := 0; ; {
		i := strings.Index(t.plain[at:], name)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(t.plain[:at+i])
		at += i + len(name)
		if after, _ := utf8.DecodeRuneInString(t.plain[at:]); !inside(before) && !inside(after) {
			return true
		}
	}
}

// says reports whether the text has a sentence, or one with most of its words.
func (t *Text) says(sentence string) bool {
	if strings.Contains(t.plain, lexicon.Plain(sentence)) {
		return true
	}
	words, hits, most := lexicon.WordSet(sentence), map[int32]int{}, 0
	for word := range words {
		for _, n := range t.words[word] {
			hits[n]++
			most = max(most, hits[n])
		}
	}
	return len(words) > 2 && most*100 >= enough*len(words)
}
