package dropped

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
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

	maxErrors = 20 // lines of a failure's output that are compared
)

// facts returns the facts of the events before end as they were then, each once, in the order of the newest event with it.
func facts(s *session.Session, src *session.Source, end int32) (all []Fact) {
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
			case call.Unresolved() || call.State == session.Failed && call.Fixed >= end:
				one.Class = Failures
				add("ran "+one.said, one)
			case call.State == session.Done && call.Checks():
				if one.Class = Checks; call.Silent && call.Errors {
					one.Status += ", error lines printed"
				}
				add("ran "+one.said, one)
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
	f.Text = lexicon.Head(oneLine(lexicon.Head(f.Text, maxSaid)), maxText)
	f.Record, f.ID = f.ref.N(), src.ID(f.ref)
	if f.call != nil && !f.call.Result.Zero() {
		f.Output = src.ID(f.call.Result)
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// errors returns the lines of a failure's output that say what failed.
func (f *Fact) errors(src *session.Source) (lines []string) {
	if f.Class != Failures || f.call == nil {
		return nil
	}
	for _, line := range lexicon.NumberedErrors(src.Outcome(f.call).Text, true) {
		if _, what, ok := strings.Cut(line, ": "); ok { // without the place
			line = what
		}
		if lines = append(lines, line); len(lines) == maxErrors {
			break
		}
	}
	return lines
}

// addition is what ccd adds, by line and without what it quotes, which tells what others said.
type addition []Text

var quotes = regexp.MustCompile(`"[^"]*"|^ *>.*`)

func newAddition(text string) (t addition) {
	for line := range strings.Lines(text) {
		t = append(t, Text{plain: lexicon.Plain(quotes.ReplaceAllString(line, ""))})
	}
	return t
}

// line returns the first line that tells a fact, from 1, 0 if none does. ccd names the records of what it tells, so a command or
// words like those of a fact may be of another one.
func (t addition) line(f *Fact) int {
	return 1 + slices.IndexFunc(t, func(line Text) bool {
		if f.name != "" {
			return line.names(f)
		}
		return line.has(fmt.Sprintf("#%d", f.ref.N())) || f.call != nil && !f.call.Result.Zero() && line.has(fmt.Sprintf("#%d", f.call.Result.N()))
	})
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
	enough    = 60 // percent of the words of a sentence that one of the text must have to say the same
	leastSaid = 3  // words of a sentence or a line that tell it from others
	mostQuote = 6  // first words of a text that make a quote of it
	mostHash  = 7  // chars of a commit's hash that a text must have
)

// Shows reports whether the text names a fact: a file by its base name, a commit by its hash, a failure also by what its
// output says; else it quotes the beginning of the fact, or says half of its sentences.
func (t *Text) Shows(f *Fact, errors ...string) bool {
	if t.plain == "" {
		return false
	}
	if named := t.names(f); named || f.Class == Files {
		return named
	}
	if t.has(beginning(f.said)) || slices.ContainsFunc(errors, t.says) {
		return true
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

// names reports whether the text has the name of a fact, of a commit its hash or the beginning of it.
func (t *Text) names(f *Fact) bool {
	if f.Class == Commits {
		return t.find(lexicon.Lower(f.name[:min(len(f.name), mostHash)]), false)
	}
	return t.has(lexicon.Lower(f.name))
}

// beginning returns the first words of a text: of its first line, if that has enough to tell it from others.
func beginning(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	words := strings.Fields(lexicon.Plain(line))
	if len(words) < leastSaid {
		words = strings.Fields(lexicon.Plain(text))
	}
	return strings.Join(words[:min(len(words), mostQuote)], " ")
}

// has reports whether some words stand in the text and are not a part of longer ones.
func (t *Text) has(words string) bool { return t.find(words, true) }

// find reports whether some words stand in the text and do not begin within a longer one, nor end within it if whole is set.
func (t *Text) find(words string, whole bool) bool {
	if words == "" {
		return false
	}
	inside := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' }
	for at := 0; ; {
		i := strings.Index(t.plain[at:], words)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(t.plain[:at+i])
		at += i + len(words)
		if after, _ := utf8.DecodeRuneInString(t.plain[at:]); !inside(before) && !(whole && inside(after)) {
			return true
		}
	}
}

// says reports whether the text has a sentence, or one with most of its words.
func (t *Text) says(sentence string) bool {
	if t.has(lexicon.Plain(sentence)) {
		return true
	}
	words, hits, most := lexicon.WordSet(sentence), map[int32]int{}, 0
	for word := range words {
		for _, n := range t.words[word] {
			hits[n]++
			most = max(most, hits[n])
		}
	}
	return len(words) >= leastSaid && most*100 >= enough*len(words)
}
