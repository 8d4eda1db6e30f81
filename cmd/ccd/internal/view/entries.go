package view

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
)

// How much of a text an Entry has, in characters.
const (
	askChars     = 20000
	textChars    = 8000
	thoughtChars = 600
	callChars    = 500
	rawChars     = 2000
	diffChars    = 6000
	headChars    = 1200 // of an output
	tailChars    = 800
)

// Page returns up to n entries from a record on, or, with n < 0, up to -n entries that end with that record, and which
// records they are from. There are none from a record on that is not there yet.
func (l *Index) Page(ctx context.Context, record, n int) (all []Entry, p Place, err error) {
	record = max(l.First, record)
	first, last := record, l.Records
	for back := -4 * n; ; back *= 8 { // most records have an entry
		if n < 0 {
			first, last = max(l.First, min(record, l.Records)-back), record
		}
		all = all[:0]
		for e, err := range l.Entries(ctx, first, last) {
			if err != nil {
				return nil, Place{}, err
			}
			if all = append(all, e); len(all) == n {
				break
			}
		}
		if n > 0 || len(all) >= -n || first == l.First {
			break
		}
	}
	if n < 0 {
		all = all[max(0, len(all)+n):]
	}
	if len(all) == 0 {
		return nil, Place{}, nil
	}
	return all, Place{all[0].Record, all[len(all)-1].Record}, nil
}

// Entries yields the entries of the records first to last. The model knows the results of their calls.
func (l *Index) Entries(ctx context.Context, first, last int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		w := writer{
			model: l.model.Session, back: l.model.Status().Back, said: map[int64]bool{}, results: map[int64]bool{}, shells: map[int64]*session.Call{},
			src: session.NewSource(l.model.Session, l.reading.Text(ctx)), cwd: l.cwd, foreign: l.entry.Kept.UnknownFormat,
		}
		for i := range l.model.Events {
			switch e := &l.model.Events[i]; e.Kind {
			case session.Queued, session.Reason, session.Answer:
				w.said[e.Span.Off] = true
			case session.Shell:
				w.shells[e.Span.Off] = e.Call
				w.results[e.Call.Result.Span.Off] = !e.Call.Result.Zero() && e.Call.Result != e.Ref
			}
		}
		for _, c := range l.model.Calls {
			for _, r := range []session.Ref{c.Result, c.Words} {
				if !r.Zero() && (r == c.Result || c.Op == transcript.Ask) {
					w.results[r.Span.Off] = true
				}
			}
		}
		for r, err := range l.between(ctx, first, last) {
			if err == nil {
				w.entries = w.entries[:0]
				w.add(r)
				err = w.src.Err
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for _, e := range w.entries {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// between yields the records first to last. Record 0, the rewrite, is told with the record after it.
func (l *Index) between(ctx context.Context, first, last int) iter.Seq2[*transcript.Record, error] {
	return func(yield func(*transcript.Record, error) bool) {
		for r, err := range l.records(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			if r.N = cmp.Or(r.N, 1); r.N > last || r.N >= first && !yield(r, nil) {
				return
			}
		}
	}
}

// writer makes the entries of records.
type writer struct {
	model   *session.Session
	src     *session.Source
	cwd     string                  // of the newest record, if only the end of the file is read
	foreign bool                    // the format is unknown, so a record is shown as it stands
	said    map[int64]bool          // offsets of what a person said while the agent worked, or about a call, which may be before the page
	back    session.Ranges          // what the person took back
	results map[int64]bool          // offsets of results and answers that the entries of their calls show
	shells  map[int64]*session.Call // by their offsets, what a person ran in the client
	entries []Entry
}

// kinds are the kinds of entries for items; any other is Added.
var kinds = map[transcript.Kind]string{
	transcript.Human: Asked, transcript.Text: Said, transcript.Thinking: Thought, transcript.Call: Called, transcript.Result: Resulted,
	transcript.Summary: Summarized, transcript.Image: Pictured,
}

// mostChars is how much of a text an entry has, in characters.
var mostChars = map[string]int{Asked: askChars, Ahead: askChars, Said: textChars, Summarized: textChars, Thought: thoughtChars, Added: thoughtChars}

func (w *writer) add(r *transcript.Record) {
	line := mark.Combine([]mark.ID{r.Sum().ID()}).ID()
	if r.Long || r.Broken || r.Unknown && (len(r.Items) > 0 || w.foreign) {
		e := Entry{Kind: Unparsed, ID: line, Left: int(r.Span.Len)}
		if !r.Long {
			e.Text, e.Left = head(string(r.Raw), rawChars)
		}
		w.put(r, e)
	}
	if r.Boundary != nil {
		w.put(r, Entry{Kind: Compacted, ID: line, Text: r.Boundary.Trigger})
	}
	for i := range r.Items {
		it := &r.Items[i]
		if w.results[it.Span.Off] {
			continue
		}
		if e := w.entry(r, it); e.Kind != Said || strings.TrimSpace(e.Text) != "" { // Claude Code writes empty lines before it thinks
			w.put(r, e)
		}
	}
}

func (w *writer) put(r *transcript.Record, e Entry) {
	e.Record, e.Time, e.Back = r.N, r.Time, w.back.Has(r.N)
	w.entries = append(w.entries, e)
}

func (w *writer) entry(r *transcript.Record, it *transcript.Item) Entry {
	kind := cmp.Or(kinds[it.Kind], Added)
	if w.said[it.Span.Off] {
		kind = Asked
		if it.Kind == transcript.Result {
			it.Kind, it.Frame = transcript.Human, transcript.Reported
		}
	} else if r.Queue == transcript.Enqueued {
		kind = Ahead
	}
	e := Entry{Kind: kind, ID: it.Sum().ID(), Side: it.Side}
	switch kind {
	case Called:
		w.call(&e, it)
	case Resulted:
		e.resulted(it)
	case Pictured:
		m := transcript.MediumOf(it.Raw)
		if e.Text = m.String(); m.Type != "" && !strings.HasPrefix(m.Type, "image/") {
			e.Kind = Added
		}
	default:
		text := string(transcript.Original(it.Kind, it.Raw))
		if it.Kind == transcript.Human {
			text, _ = it.Said()
		} else if plain, _ := transcript.Readable(it.Kind, it.Raw); kind == Thought && plain == nil {
			e.Sealed, text = text != "", ""
		}
		switch e.Text, e.Left = head(text, mostChars[kind]); {
		case w.shells[it.Span.Off] != nil:
			w.shell(&e, w.shells[it.Span.Off], it.Client(), text)
		case kind == Added && transcript.Interrupts(text):
			e.Kind, e.Tool, e.Text, e.Left = Called, "You interrupted", "", 0
		}
	}
	return e
}

// resulted says how a call ended that is not known.
func (e *Entry) resulted(it *transcript.Item) {
	out := it.Explain(it.Tool, transcript.Other)
	e.Tool, e.Failed = strings.Clone(it.Tool), out.Failed || it.Failed
	e.shorten(out.Text)
	switch {
	case out.Rejected || it.Refused:
		e.Ending = "refused"
	case e.Failed:
		e.Ending = "failed"
	}
}

// call says what a call does and how it ended.
func (w *writer) call(e *Entry, it *transcript.Item) {
	a := it.Understand()
	e.Tool, e.Ask, e.Waiting = strings.Clone(it.Tool), a.Op == transcript.Ask, it.Call != ""
	var done *session.Call // nil if the model does not know it
	if i, known := slices.BinarySearchFunc(w.model.Calls, it.Span.Off, func(c *session.Call, off int64) int { return cmp.Compare(c.At.Span.Off, off) }); known {
		done = w.model.Calls[i]
	}
	e.Files = w.files(done, a.Files)
	what, most := cmp.Or(a.Command, a.Query), callChars
	if len(e.Files) > 0 && (a.Command == "" || a.Op != transcript.Command) { // a shell may only carry a patch
		what = e.Files[0]
	}
	e.Plan = a.Plan
	for i, p := range e.Plan { // a change of one step may name only its key
		if at := slices.IndexFunc(w.model.Plan.Steps, func(q transcript.PlanItem) bool { return q.Key == p.Key }); at >= 0 && p.Text == "" {
			e.Plan[i].Text = w.model.Plan.Steps[at].Text
		}
	}
	if done != nil {
		w.ended(e, done)
	}
	switch a.Op {
	case transcript.Ask:
		shown, rest := transcript.Question(it.Raw, e.Output)
		what, e.Output, most = cmp.Or(shown, what), rest, textChars
	case transcript.Write, transcript.Edit, transcript.Delete, transcript.Rename:
		if done != nil {
			w.change(e, done)
		}
	}
	left := e.Left
	e.Text, e.Left = head(what, most)
	e.Left += left
	e.shorten(e.Output)
}

// shell makes an entry of what a person ran in the client. Some clients write what it printed beside it.
func (w *writer) shell(e *Entry, c *session.Call, client *transcript.Client, text string) {
	e.Kind, e.Tool, e.Waiting = Called, "You ran", true
	e.Text, e.Left = head(c.Command, callChars)
	w.ended(e, c)
	if _, output, ok := client.RanBy(text); ok && output != "" {
		e.Output = output
	}
	e.shorten(strings.TrimSpace(e.Output))
}

// files returns the paths that a call names, each once: where the model knows the call, with their directory.
func (w *writer) files(c *session.Call, named []transcript.FileChange) (all []string) {
	if c != nil && len(c.Files) > 0 {
		named = nil
		for _, f := range c.Files {
			named = append(named, transcript.FileChange{Path: transcript.Join(w.cwd, f.File.Path)})
		}
	}
	for _, f := range named {
		if !slices.Contains(all, f.Path) {
			all = append(all, strings.Clone(f.Path))
		}
	}
	return all
}

// change shows what a call writes: the lines that it changes, or the whole content as added lines.
func (w *writer) change(e *Entry, c *session.Call) {
	text, whole := w.src.Patch(c)
	var b strings.Builder
	for line := range strings.Lines(text) {
		if whole {
			line = "+ " + line
		}
		switch line[0] {
		case '+':
			e.Plus++
		case '-':
			e.Minus++
		}
		b.WriteString(line)
	}
	e.Diff, e.Left = head(b.String(), diffChars)
}

// ended says how a call ended.
func (w *writer) ended(e *Entry, c *session.Call) {
	result, text := c.Result, ""
	switch {
	case !result.Zero():
		text = w.src.Outcome(c).Text
	case !c.Words.Zero():
		if result = c.Words; c.Op == transcript.Ask { // of any other call, they are an entry of their own
			text = w.src.Text(c.Words)
		}
	default:
		return
	}
	step := w.model.StepOf(c)
	e.Tokens, e.Took = step.Tokens, step.Took
	e.Waiting, e.Result, e.Answer, e.Agent = false, result.Sum.ID(), result.N(), c.Agent
	hides := hidesFailure(w.src, c)
	if e.Failed = hides || c.State == session.Failed || c.State == session.Refused; e.Failed || !c.Silent { // most commands have a hidden status
		e.Ending = c.Ending()
	}
	if hides {
		e.Ending += ", prints errors"
	}
	e.Output = text
}

// hidesFailure reports whether a command line that hides the status of a check, as a pipe does, printed errors.
func hidesFailure(src *session.Source, c *session.Call) bool {
	return c.Silent && c.State == session.Done && c.Checks() && lexicon.FirstError(ansi.Strip(src.Outcome(c).Text)) != ""
}

// head returns the first characters of a text, and how many more it has.
func head(text string, most int) (short string, left int) {
	return strings.Clone(lexicon.Head(text, most)), max(0, lexicon.Chars(text)-most)
}

// returns are ends of lines where a program writes over what it has written.
var returns = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// shorten shows an output, of a long one the beginning and the end.
func (e *Entry) shorten(text string) {
	text = returns.Replace(text)
	if e.Output, e.Hidden = head(text, headChars+tailChars); e.Hidden > 0 {
		e.Output, e.Tail = lexicon.Head(e.Output, headChars), strings.Clone(lexicon.Tail(text, tailChars))
	}
}
