package scorecard

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

const (
	longMessage   = 2000 // a person's message of up to so many chars must be shown whole
	headChars     = 200  // of a longer one, and of a decision
	tailChars     = 100
	lineChars     = 120   // of a sentence or an error line
	cmdChars      = 100   // of a command, an outcome or a plan item
	shortChars    = 60    // of a command shown with its outcome, and of a refused call
	longResult    = 1000  // chars from which a result leaves a trace
	maxFacts      = 20000 // of one class; later ones are not graded
	maxSources    = 8     // places stored for a fact
	maxSpots      = 4     // statements stored for a name
	maxCalls      = 4096  // that wait for their result
	leastSentence = 3     // words of a sentence of an answer
	leastDecision = 6     // words of a sentence between calls, and of one that ends in a colon
)

// fact is one key fact: what a text must show, and where it comes from.
type fact struct {
	text    string   // normalized
	tail    string   // must be shown too, for most classes near text; of a file's content: its beginning, which is enough alone
	forms   []string // of a path: the ways to write it
	spots   []spot   // of a name: the statements around it
	status  string   // must be shown beside it: an exit status, a state, a number of lines
	id      mark.ID  // must be shown too
	whole   string   // of a message: all of it, which is enough alone
	weight  float64  // 0 counts as 1
	strong  bool
	times   int
	sources []source
	output  source // of a command: its last result
}

// spot is a statement with a name. If the statement has too few words of its own, it counts together with the one
// before it, and both must be shown unchanged.
type spot struct {
	words        []string // the content words around the name; nil if there are too few
	before, self string
}

// source is a place in the transcript with a fact, by the hashes of what a restore can return of it.
type source struct {
	raw, seen, line uint64 // the item's raw span, the item as the agent saw it, its record's line
	record          int
}

// list has the facts of a class by their key, and in order of appearance.
type list struct {
	by  map[string]*fact
	all []*fact
}

// saying is a text of the agent, and where it is.
type saying struct {
	text string
	at   source
}

// Facts collects the key facts of a stretch of records. It is not safe for concurrent use.
type Facts struct {
	dirs    []string // working directories
	classes map[Class]*list
	calls   map[string]call // without a result so far, by their ID
	paths   paths
	open    []openError
	plan    []planItem
	git     git
	words   []saying // the agent's texts since its last call
	last    []saying // its texts before that call in this turn
	at      source   // of the current item
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

// Chars returns the number of characters that the agent saw in the records: text, calls and results.
func (f *Facts) Chars() int64 { return f.content }

// ToolHeavy reports whether tool results are more than half of Chars.
func (f *Facts) ToolHeavy() bool { return f.results*2 > f.content }

// Add adds the facts of a record. It keeps no reference to r. It skips items of an inline sub-agent.
func (f *Facts) Add(r *transcript.Record) {
	if dir := transcript.Join("", r.Cwd); dir != "" && !slices.Contains(f.dirs, dir) && len(f.dirs) < maxSources {
		f.dirs = append(f.dirs, strings.Clone(dir))
	}
	for i := range r.Items {
		if it := &r.Items[i]; !it.Side {
			f.at = source{raw: it.Sum().Key(), line: r.Hash.Key(), record: r.N}
			f.addItem(it)
		}
	}
}

func (f *Facts) addItem(it *transcript.Item) {
	switch it.Kind {
	case transcript.Human, transcript.Text, transcript.Call, transcript.Result, transcript.Image:
	case transcript.Meta:
		if bytes.Contains(it.Raw, []byte("task-notification")) {
			f.addNotice(string(transcript.Original(it.Kind, it.Raw)))
		}
		return
	default:
		return
	}
	n := int64(transcript.Chars(it.Raw))
	seen := transcript.Original(it.Kind, it.Raw)
	f.at.seen = mark.Sum(seen).Key()
	f.content += n
	switch it.Kind {
	case transcript.Human:
		if it.Call == "" || !f.addReply(it, string(seen)) {
			said, _ := it.Said()
			f.addHuman(said, it.Sum().ID())
		}
	case transcript.Text:
		f.words = append(f.words, saying{string(seen), f.at})
		f.addNames(string(seen), false)
		for c := range fences(string(seen)) {
			f.note(Code, c, fact{text: c})
		}
	case transcript.Call:
		f.addCall(it, seen)
	case transcript.Result:
		f.results += n
		f.addResult(it)
	case transcript.Image:
		f.content -= n
		f.note(Images, string(it.Sum().ID()), fact{id: it.Sum().ID()})
	}
}

// note adds a fact, or one more place of a known one. It returns nil if the class is full.
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

// seen adds a place. Of many places it keeps the first ones and the last.
func seen(sources []source, at source) []source {
	if len(sources) < maxSources {
		return append(sources, at)
	}
	sources[len(sources)-1] = at
	return sources
}

// addHuman adds a person's message. It ends a turn.
func (f *Facts) addHuman(text string, id mark.ID) {
	whole := normal(text)
	if whole == "" {
		return
	}
	f.endTurn()
	one := fact{text: whole, whole: whole, strong: true}
	if long(text, longMessage) { // of a long paste, use only the parts that the agent certainly read
		one = fact{text: lexicon.Head(whole, headChars), tail: lexicon.Tail(whole, tailChars), id: id, whole: whole, strong: true}
		text = lexicon.Head(text, longMessage/2) + "\n" + lexicon.Tail(text, longMessage/4)
	}
	f.note(Asked, whole, one)
	f.addNames(text, true)
}

// addNames adds the names in a text, each with the words around it. A name without such words is no fact.
func (f *Facts) addNames(text string, human bool) {
	before, whole := "", page{}
	for s := range statements(text) {
		for class, w := range names(s) {
			at := spot{words: around(s, w)}
			if len(at.words) < leastWords {
				if len(words(before)) < leastWords {
					continue
				}
				if whole.flat == "" {
					whole.flat = normal(text)
				}
				if at = (spot{before: lexicon.Head(normal(before), lineChars), self: lexicon.Head(normal(s), lineChars)}); !whole.near(at.before, at.self, spotGap) {
					continue
				}
			}
			one := f.note(class, w, fact{text: w})
			if one == nil {
				continue
			}
			one.strong = one.strong || human || one.times > 1
			if len(one.spots) == maxSpots {
				one.spots = one.spots[:maxSpots-1]
			}
			one.spots = append(one.spots, at)
		}
		before = s
	}
}

// endTurn ends a turn: the agent's last message in it is its answer.
func (f *Facts) endTurn() {
	f.addSentences(Answers, f.answer())
	f.words, f.last = nil, nil
}

// answer returns the agent's last message in the current turn.
func (f *Facts) answer() []saying {
	if len(f.words) > 0 {
		return f.words
	}
	return f.last
}

// addSentences adds the sentences of an answer or a report. Together they weigh the square root of their number, so
// that a long answer does not outweigh the others.
func (f *Facts) addSentences(class Class, said []saying) {
	var all []saying
	for _, one := range said {
		for s := range statements(one.text) {
			if n := length(s); n >= leastSentence && (n >= leastDecision || !leadsIn(s)) {
				all = append(all, saying{s, one.at})
			}
		}
	}
	if len(all) == 0 {
		all = said
	}
	at := f.at
	for _, one := range all {
		if f.at = one.at; normal(one.text) != "" {
			s := lexicon.Head(normal(one.text), lineChars)
			f.note(class, s, fact{text: s, weight: 1 / math.Sqrt(float64(len(all)))})
		}
	}
	f.at = at
}

// reason matches words that decide, reject or give a reason, in several languages. It only adds weight.
var reason = lazy(`(?i)\b(?:decid|decision|choos|chose|instead|rather than|reject|because|so that|root cause|turns out|trade-?off|recommend|weil|statt|deshalb|parce que|plut[oô]t|donc|porque|en lugar|por eso|потому|вместо|поэтому)|因为|因此|改用|决定|而不是|ため|ので|代わりに|決め`)

// leadsIn reports whether a sentence only introduces what follows it.
func leadsIn(s string) bool {
	return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：") || strings.HasSuffix(s, ":**")
}

// addDecisions adds what the agent said before a call as decisions. Before a change it weighs more, and so does a
// reason. The sentence directly before the call usually only announces it, so it weighs less.
func (f *Facts) addDecisions(changes bool) {
	if len(f.words) == 0 {
		return
	}
	at := f.at
	for i, said := range f.words {
		f.at = said.at
		all := slices.Collect(statements(said.text))
		for k, s := range all {
			if s = normal(s); length(s) < leastDecision || leadsIn(s) {
				continue
			}
			weight := 1.0
			if i == len(f.words)-1 && k == len(all)-1 {
				weight = announced
			}
			if changes {
				weight++
			}
			if reason().MatchString(s) {
				weight += 2
			}
			s = lexicon.Head(s, headChars)
			f.note(Decisions, s, fact{text: s, weight: weight})
		}
	}
	f.at = at
	f.words, f.last = nil, f.words
}

// announced is the weight of a sentence directly before a call.
const announced = 0.25

// all returns every fact by class, in order of appearance.
func (f *Facts) all() map[Class][]*fact {
	open := Facts{classes: map[Class]*list{Answers: {by: map[string]*fact{}}}}
	open.addSentences(Answers, f.answer())
	all := map[Class][]*fact{}
	for class, l := range f.classes {
		all[class] = slices.Clip(l.all)
	}
	for _, one := range open.classes[Answers].all {
		if f.classes[Answers].by[one.text] == nil {
			all[Answers] = append(all[Answers], one)
		}
	}
	for _, p := range f.paths.all {
		if p.class != "" {
			shown, forms := f.forms(p.name)
			all[p.class] = append(all[p.class], &fact{text: shown, forms: forms, strong: true, sources: p.sources})
		}
	}
	for _, one := range all[Contents] {
		_, one.forms = f.forms(one.text)
	}
	for _, e := range f.open {
		all[OpenErrors] = append(all[OpenErrors], e.fact)
	}
	for _, p := range f.plan {
		if p.Status != "deleted" {
			all[Plan] = append(all[Plan], &fact{text: lexicon.Head(normal(p.Text), cmdChars), status: p.Status, strong: true, sources: []source{p.at}})
		}
	}
	all[Git] = f.git.facts()
	return all
}
