package scorecard

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

const (
	longMessage = 2000 // chars up to which a human message must stand whole
	headChars   = 200  // of a longer one
	tailChars   = 100
	lineChars   = 120   // of an error line or a decision
	cmdChars    = 100   // of a command
	maxFacts    = 20000 // of one class; what comes later is not graded
	maxSources  = 8     // places that are remembered of a fact
	maxErrors   = 20    // error lines of one result
)

// fact is one key fact: what must stand in a text, and where it comes from.
type fact struct {
	text    string   // normalised
	tail    string   // must stand too
	forms   []string // other ways to write it, of a path
	status  string   // must stand beside it: an exit status, or a state of the plan
	id      mark.ID  // must stand too
	strong  bool
	times   int
	sources []source
	gone    bool // no fact any more
}

// source is a place that holds a fact: an item and its record, by their hashes.
type source struct{ item, seen, line uint64 }

// Facts gathers the key facts of a stretch of records. It is not safe for concurrent use.
type Facts struct {
	dirs    []string // working directories
	classes map[Class]*list
	calls   map[string]call // not answered yet, by their ID
	paths   map[string]*pathState
	open    map[string]*fact
	plan    []planItem
	answer  *fact
	at      source
	content int64
	results int64
}

// list holds the facts of a class by what makes them distinct, in order of appearance.
type list struct {
	by  map[string]*fact
	all []*fact
}

type call struct {
	tool   string
	action transcript.Action
	at     source
}

type pathState struct {
	class   Class
	sources []source
}

type planItem struct {
	transcript.PlanItem
	at source
}

// New returns an empty collection.
func New() *Facts {
	f := &Facts{classes: map[Class]*list{}, calls: map[string]call{}, paths: map[string]*pathState{}, open: map[string]*fact{}}
	for _, c := range Classes() {
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
	if r.Cwd != "" && !slices.Contains(f.dirs, r.Cwd) && len(f.dirs) < 16 {
		f.dirs = append(f.dirs, strings.Clone(r.Cwd))
	}
	for i := range r.Items {
		it := &r.Items[i]
		if it.Side {
			continue
		}
		f.at = source{mark.Sum(it.Raw).Key(), 0, r.Hash.Key()}
		f.item(it)
	}
}

func (f *Facts) item(it *transcript.Item) {
	n := int64(transcript.Chars(it.Raw))
	switch it.Kind {
	case transcript.Human:
		f.content += n
		f.human(transcript.HumanText(f.original(it)), mark.Sum(it.Raw).ID())
	case transcript.Text:
		f.content += n
		f.said(f.original(it))
	case transcript.Call:
		f.content += n
		f.called(it)
	case transcript.Result:
		f.content += n
		f.results += n
		f.answered(it)
	}
}

// original is the item's text; its hash is noted as what a restore of the item gives.
func (f *Facts) original(it *transcript.Item) string {
	text := transcript.Original(it.Kind, it.Raw)
	f.at.seen = mark.Sum(text).Key()
	return string(text)
}

// note adds a fact, or one more place of a known one.
func (f *Facts) note(class Class, key string, make func() fact) *fact {
	l := f.classes[class]
	known, ok := l.by[key]
	if !ok {
		if len(l.all) >= maxFacts {
			return nil
		}
		one := make()
		known = &one
		l.by[strings.Clone(key)] = known
		l.all = append(l.all, known)
	}
	known.gone = false
	known.times++
	known.sources = seen(known.sources, f.at)
	return known
}

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
	f.note(Asked, whole, func() fact {
		one := fact{text: whole, strong: true}
		if long(text, longMessage) {
			one.text, one.tail, one.id = head(whole, headChars), tail(whole, tailChars), id
		}
		return one
	})
	if long(text, longMessage) { // of a paste only what is certain to have been read
		text = head(text, longMessage/2) + "\n" + tail(text, longMessage/4)
	}
	f.words(text, true)
}

func (f *Facts) said(text string) {
	f.words(text, false)
	for s := range decisions(text) {
		f.note(Decisions, s, func() fact { return fact{text: s} })
	}
	if whole := normal(text); whole != "" {
		f.answer = &fact{text: whole, sources: []source{f.at}}
	}
}

// words takes the facts that are words.
func (f *Facts) words(text string, human bool) {
	for class, w := range words(text) {
		one := f.note(class, w, func() fact { return fact{text: strings.Clone(w)} })
		if one != nil {
			one.strong = one.strong || human || one.times > 1
		}
	}
}

func (f *Facts) called(it *transcript.Item) {
	c := call{tool: strings.Clone(it.Tool), action: transcript.Understand(it.Tool, it.Raw), at: f.at}
	c.at.seen = mark.Sum(transcript.Original(it.Kind, it.Raw)).Key()
	if c.action.Op == transcript.Plan {
		f.planned(c)
	}
	if it.Call != "" {
		f.calls[strings.Clone(it.Call)] = c
	} else {
		f.done(c, transcript.Outcome{})
	}
}

func (f *Facts) answered(it *transcript.Item) {
	c := f.calls[it.Call]
	delete(f.calls, it.Call)
	tool := cmp.Or(c.tool, it.Tool)
	out := transcript.Explain(tool, c.action.Op, it.Raw, it.Failed)
	f.original(it)
	if c.action.Op == transcript.Plan && out.PlanID != "" && len(f.plan) > 0 && len(c.action.Plan) == 1 {
		f.plan[len(f.plan)-1].Key = strings.Clone(out.PlanID)
	}
	failed := out.Failed || out.HasExit && out.Exit != 0
	var lines []string
	if failed && !out.Rejected {
		lines = f.failed(out.Text)
	}
	f.done(c, out)
	if c.action.Op == transcript.Command && !c.action.Stdin && !out.Running && !out.Rejected {
		f.opened(c, out, failed, lines)
	}
}

// failed takes the error lines of a failed result.
func (f *Facts) failed(text string) (lines []string) {
	for l := range errorLines(text) {
		lines = append(lines, l)
		f.note(Errors, l, func() fact { return fact{text: l} })
		if len(lines) == maxErrors {
			break
		}
	}
	return lines
}

// opened opens the error of a command, or closes it.
func (f *Facts) opened(c call, out transcript.Outcome, failed bool, lines []string) {
	key := normal(c.action.Command)
	if key == "" {
		return
	}
	if !failed {
		delete(f.open, key)
		return
	}
	one := &fact{text: head(key, cmdChars), status: status(out), strong: true, sources: []source{c.at, f.at}}
	if len(lines) > 0 {
		one.text, one.status = lines[0], ""
	}
	f.open[key] = one
}

// status is how a command ended: its number, "failed", or "" where that is not told.
func status(out transcript.Outcome) string {
	switch {
	case out.HasExit:
		return strconv.Itoa(out.Exit)
	case out.Failed:
		return "failed"
	}
	return ""
}

// done takes what a call that has its result did.
func (f *Facts) done(c call, out transcript.Outcome) {
	if out.Rejected {
		return
	}
	at := f.at
	f.at = c.at
	defer func() { f.at = at }()
	if c.action.Op == transcript.Command && !c.action.Stdin {
		f.ran(c.action.Command, status(out))
	}
	if out.Failed || out.HasExit && out.Exit != 0 {
		return
	}
	for _, file := range c.action.Files {
		switch file.Op {
		case transcript.Read:
			f.path(file.Path, Read)
		case transcript.Write, transcript.Edit:
			f.path(file.Path, Edited)
		case transcript.Delete:
			f.path(file.Path, Deleted)
		case transcript.Rename:
			f.path(file.Path, Deleted)
			f.path(file.To, Edited)
		}
	}
	if c.action.Op == transcript.Command && out.HasExit {
		for _, p := range removed(c.action.Command) {
			f.path(p, Deleted)
		}
	}
}

func (f *Facts) ran(command, status string) {
	whole := normal(command)
	if whole == "" {
		return
	}
	if one := f.note(Commands, whole, func() fact { return fact{text: head(whole, cmdChars)} }); one != nil {
		one.status, one.strong = status, true
	}
}

// path notes what happened to a file last; a change outweighs a read.
func (f *Facts) path(path string, class Class) {
	if path == "" {
		return
	}
	p := f.paths[path]
	if p == nil {
		if len(f.paths) >= maxFacts {
			return
		}
		p = &pathState{class: class}
		f.paths[strings.Clone(path)] = p
	}
	if class != Read || p.class == Read {
		p.class = class
	}
	p.sources = seen(p.sources, f.at)
}

func (f *Facts) planned(c call) {
	if c.action.Replace {
		f.plan = nil
	}
	for _, p := range c.action.Plan {
		i := slices.IndexFunc(f.plan, func(q planItem) bool { return p.Key != "" && q.Key == p.Key })
		if i < 0 || c.action.Replace {
			if p.Text != "" && len(f.plan) < maxFacts {
				f.plan = append(f.plan, planItem{p, c.at})
			}
			continue
		}
		f.plan[i].Text, f.plan[i].Status = cmp.Or(p.Text, f.plan[i].Text), cmp.Or(p.Status, f.plan[i].Status)
	}
}
