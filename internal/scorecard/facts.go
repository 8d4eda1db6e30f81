package scorecard

import (
	"slices"
	"strings"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

const (
	longMessage = 2000 // chars up to which a human message must stand whole
	headChars   = 200  // of a longer one
	tailChars   = 100
	lineChars   = 120   // of an error line, a decision or a constraint
	cmdChars    = 100   // of a command or a plan item
	longResult  = 1000  // chars from which a result leaves a trace
	maxFacts    = 20000 // of one class; what comes later is not graded
	maxSources  = 8     // places that are remembered of a fact
	maxLines    = 20    // error lines of one result, constraints of one message
	maxCalls    = 4096  // that wait for their result
)

// fact is one key fact: what must stand in a text, and where it comes from.
type fact struct {
	text    string   // normalised
	tail    string   // must stand too; of a file's content: its beginning, which does instead
	forms   []string // the ways to write it, of a path
	status  string   // must stand beside it: an exit status, a state of the plan, a number of lines
	id      mark.ID  // must stand too
	strong  bool
	end     bool // text ends a longer one that begins as another fact does
	times   int
	sources []source
	output  source // of a command: its last result
}

// source is a place that holds a fact, by the hashes of what a restore can give back of it.
type source struct {
	raw, seen, line uint64 // the item's raw span, the item as the agent saw it, its record's line
	record          int
}

// list holds the facts of a class by what makes them distinct, in order of appearance.
type list struct {
	by  map[string]*fact
	all []*fact
}

// Facts gathers the key facts of a stretch of records. It is not safe for concurrent use.
type Facts struct {
	dirs    []string // working directories
	classes map[Class]*list
	calls   map[string]call // that wait for their result, by their ID
	paths   paths
	open    []openError
	plan    []planItem
	answer  *fact
	plain   plain
	at      source // of the item that is looked at
	content int64
	results int64
}

// New returns an empty collection.
func New() *Facts {
	f := &Facts{classes: map[Class]*list{}, calls: map[string]call{}, paths: paths{by: map[string]*file{}}}
	for _, c := range append(Classes(), Traces()...) {
		f.classes[c] = &list{by: map[string]*fact{}}
	}
	return f
}

// Chars returns the chars of what the agent saw of the records: text, calls and results.
func (f *Facts) Chars() int64 { return f.content }

// ToolHeavy reports whether tool results make up most of it.
func (f *Facts) ToolHeavy() bool { return f.results*2 > f.content }

// Add takes the facts of a record. It keeps nothing of r. What belongs to an inline sub-agent is passed over.
func (f *Facts) Add(r *transcript.Record) {
	if dir := transcript.Join("", r.Cwd); dir != "" && !slices.Contains(f.dirs, dir) && len(f.dirs) < maxSources {
		f.dirs = append(f.dirs, strings.Clone(dir))
	}
	for i := range r.Items {
		if it := &r.Items[i]; !it.Side {
			f.at = source{raw: mark.Sum(it.Raw).Key(), line: r.Hash.Key(), record: r.N}
			f.item(it)
		}
	}
}

func (f *Facts) item(it *transcript.Item) {
	switch it.Kind {
	case transcript.Human, transcript.Text, transcript.Call, transcript.Result, transcript.Image:
	default:
		return
	}
	n := int64(transcript.Chars(it.Raw))
	seen := transcript.Original(it.Kind, it.Raw)
	f.at.seen = mark.Sum(seen).Key()
	f.content += n
	switch it.Kind {
	case transcript.Human:
		f.plain.said(string(seen))
		f.human(transcript.HumanText(string(seen)), mark.Sum(it.Raw).ID())
	case transcript.Text:
		f.plain.said(string(seen))
		f.said(string(seen))
	case transcript.Call:
		f.called(it, seen)
	case transcript.Result:
		f.results += n
		f.answered(it)
	case transcript.Image:
		f.content -= n
		f.note(Images, string(mark.Sum(it.Raw).ID()), fact{id: mark.Sum(it.Raw).ID()})
	}
}

// note adds a fact, or one more place of a known one. It returns nil where the class is full.
func (f *Facts) note(class Class, key string, one fact) *fact {
	l := f.classes[class]
	known, ok := l.by[key]
	if !ok {
		if len(l.all) >= maxFacts {
			return nil
		}
		known = &one
		l.by[strings.Clone(key)] = known
		l.all = append(l.all, known)
	}
	known.times++
	known.sources = seen(known.sources, f.at)
	return known
}

// seen adds a place; of many, the first ones and the last.
func seen(sources []source, at source) []source {
	if len(sources) < maxSources {
		return append(sources, at)
	}
	sources[len(sources)-1] = at
	return sources
}

func (f *Facts) human(text string, id mark.ID) {
	whole := normal(text)
	if whole == "" {
		return
	}
	one := fact{text: whole, strong: true}
	pasted := long(text, longMessage)
	if pasted {
		one = fact{text: head(whole, headChars), tail: tail(whole, tailChars), id: id, strong: true}
	}
	f.note(Asked, whole, one)
	n := 0
	for s := range saying(text, constraint) {
		if n++; n > maxLines {
			break
		}
		f.note(Constraints, s, fact{text: s, strong: true})
	}
	if pasted { // of a paste only what was read for certain
		text = head(text, longMessage/2) + "\n" + tail(text, longMessage/4)
	}
	f.words(text, true)
}

func (f *Facts) said(text string) {
	f.words(text, false)
	for s := range saying(text, decision) {
		f.note(Decisions, s, fact{text: s})
	}
	for c := range fences(text) {
		f.note(Code, c, fact{text: c})
	}
	if whole := normal(text); whole != "" {
		f.answer = &fact{text: whole, sources: []source{f.at}}
	}
}

// words takes the facts that are words.
func (f *Facts) words(text string, human bool) {
	for class, w := range words(text) {
		if one := f.note(class, w, fact{text: w}); one != nil {
			one.strong = one.strong || human || one.times > 1
		}
	}
}

// all is every fact by class, in order of appearance.
func (f *Facts) all() map[Class][]*fact {
	all := map[Class][]*fact{}
	for class, l := range f.classes {
		all[class] = l.all
	}
	for _, p := range f.paths.all {
		forms := f.forms(p.name)
		all[p.class] = append(all[p.class], &fact{text: forms[0], forms: forms, strong: true, sources: p.sources})
	}
	for _, one := range all[Contents] {
		one.forms = f.forms(one.text)
	}
	for _, e := range f.open {
		all[OpenErrors] = append(all[OpenErrors], e.fact)
	}
	for _, p := range f.plan {
		if p.Status != "deleted" {
			all[Plan] = append(all[Plan], &fact{text: head(normal(p.Text), cmdChars), status: p.Status, strong: true, sources: []source{p.at}})
		}
	}
	all[Answer] = f.lastWords()
	return all
}

// lastWords are the beginning and the end of the last answer: whole where it is short.
func (f *Facts) lastWords() []*fact {
	if f.answer == nil {
		return nil
	}
	whole := f.answer.text
	if !long(whole, headChars+tailChars) {
		return []*fact{{text: whole, strong: true, sources: f.answer.sources}}
	}
	return []*fact{
		{text: head(whole, headChars), strong: true, sources: f.answer.sources},
		{text: tail(whole, tailChars), end: true, strong: true, sources: f.answer.sources},
	}
}
