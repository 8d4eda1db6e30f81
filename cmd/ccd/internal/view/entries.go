package view

import (
	"slices"
	"strings"
	"unicode/utf8"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// How much of a text an Entry has, in characters.
const (
	askChars     = 20000
	textChars    = 8000
	thoughtChars = 600
	callChars    = 500
	headChars    = 1200 // of an output
	tailChars    = 800
)

// writer makes the entries of records first to last. Records before them tell the tools of results, records behind them
// complete calls.
type writer struct {
	first, last int
	cwd         string
	queued      map[int64]bool // offsets of messages that a person typed while the agent worked
	calls       map[string]pending
	far         bool // there may be results of calls far before them
	entries     []Entry
}

// pending is a call without a result yet.
type pending struct {
	at   int // index of its entry, -1 if it is before the first record
	tool string
	op   transcript.Op
}

// ops names what a call does.
var ops = map[transcript.Op]string{
	transcript.Command: "command", transcript.Read: "read", transcript.Write: "write", transcript.Edit: "edit", transcript.Delete: "edit",
	transcript.Rename: "edit", transcript.Revert: "edit", transcript.Touch: "edit", transcript.Search: "search", transcript.Web: "web",
	transcript.Plan: "plan", transcript.Ask: "ask", transcript.Agent: "agent",
}

func (w *writer) add(r *transcript.Record) {
	if r.Cwd != "" {
		w.cwd = strings.Clone(r.Cwd)
	}
	in := r.N >= w.first && r.N <= w.last
	line := mark.Combine([]mark.ID{r.Hash.ID()}).ID()
	if in && (r.Long || r.Broken || r.Unknown && len(r.Items) > 0) {
		w.put(r, Entry{Kind: Unparsed, ID: line, Chars: int(r.Span.Len), Cut: true})
	}
	if in && r.Boundary != nil {
		w.put(r, Entry{Kind: Compacted, ID: line, Text: r.Boundary.Trigger, Chars: int(r.Boundary.Before)})
	}
	for i := range r.Items {
		w.item(r, &r.Items[i], in)
	}
}

func (w *writer) put(r *transcript.Record, e Entry) int {
	e.Record, e.Time = r.N, r.Time
	w.entries = append(w.entries, e)
	return len(w.entries) - 1
}

func (w *writer) item(r *transcript.Record, it *transcript.Item, in bool) {
	switch it.Kind {
	case transcript.Call:
		w.call(r, it, in)
		return
	case transcript.Result:
		w.result(r, it, in)
		return
	case transcript.Human:
		if it.Call != "" {
			w.complete(it)
		}
	}
	if !in {
		return
	}
	kind, most := kindOf(it)
	if w.queued[it.Span.Off] {
		kind, most = Asked, askChars
	}
	e := Entry{Kind: kind, ID: it.Sum().ID(), Side: it.Side}
	if kind != Pictured {
		text := string(transcript.Original(it.Kind, it.Raw))
		if it.Kind == transcript.Human {
			text, _ = it.Said()
		}
		e.Text, e.Chars, e.Cut = head(text, most)
	}
	w.put(r, e)
}

func kindOf(it *transcript.Item) (kind string, most int) {
	switch it.Kind {
	case transcript.Human:
		return Asked, askChars
	case transcript.Text:
		return Said, textChars
	case transcript.Thinking:
		return Thought, thoughtChars
	case transcript.Summary:
		return Summarized, textChars
	case transcript.Image:
		return Pictured, 0
	}
	return Added, thoughtChars
}

func (w *writer) call(r *transcript.Record, it *transcript.Item, in bool) {
	a := it.Understand()
	a.Resolve(w.cwd)
	p := pending{at: -1, tool: strings.Clone(it.Tool), op: a.Op}
	if in {
		e := Entry{Kind: Called, ID: it.Sum().ID(), Tool: p.tool, Op: ops[a.Op], Side: it.Side, Waiting: it.Call != ""}
		if e.Op == "" {
			e.Op = "other"
		}
		for _, f := range a.Files {
			if name := strings.Clone(f.Path); !slices.Contains(e.Files, name) {
				e.Files = append(e.Files, name)
			}
		}
		what := a.Query
		switch {
		case a.Command != "":
			what = a.Command
		case len(e.Files) > 0:
			what = e.Files[0]
		}
		e.Text, e.Chars, e.Cut = head(strings.Clone(what), callChars)
		p.at = w.put(r, e)
	}
	if it.Call != "" {
		w.calls[strings.Clone(it.Call)] = p
	}
}

func (w *writer) result(r *transcript.Record, it *transcript.Item, in bool) {
	p, known := w.calls[it.Call]
	if w.complete(it) || !in || known || w.far && it.Call != "" {
		return // the entry of its call shows it
	}
	if p.tool == "" {
		p.tool = strings.Clone(it.Tool)
	}
	e := Entry{Kind: Resulted, ID: it.Sum().ID(), Tool: p.tool, Op: ops[p.op], Side: it.Side}
	e.outcome(it, p)
	e.Result = ""
	w.put(r, e)
}

// complete adds a result to the entry of its call, if that is among the entries.
func (w *writer) complete(it *transcript.Item) bool {
	p, ok := w.calls[it.Call]
	if !ok || p.at < 0 {
		return false
	}
	delete(w.calls, it.Call)
	w.entries[p.at].outcome(it, p)
	return true
}

// outcome sets what a result says.
func (e *Entry) outcome(it *transcript.Item, p pending) {
	out := it.Explain(p.tool, p.op)
	e.Waiting, e.Result = false, it.Sum().ID()
	e.Failed, e.Refused = out.Failed || it.Failed, out.Rejected || it.Refused
	if out.HasExit {
		code := out.Exit
		e.Exit = &code
	}
	e.Agent = strings.Clone(out.AgentID)
	e.OutSize = utf8.RuneCountInString(out.Text)
	e.Output = bothEnds(out.Text)
}

// head returns the first characters of a text, its length, and whether that is not all.
func head(text string, most int) (short string, chars int, cut bool) {
	chars = utf8.RuneCountInString(text)
	if chars <= most {
		return strings.Clone(text), chars, false
	}
	return strings.Clone(firstChars(text, most)), chars, true
}

func firstChars(text string, most int) string {
	for i := range text {
		if most == 0 {
			return text[:i]
		}
		most--
	}
	return text
}

// bothEnds returns the beginning and the end of an output.
func bothEnds(text string) string {
	if utf8.RuneCountInString(text) <= headChars+tailChars {
		return strings.Clone(text)
	}
	end := len(text)
	for range tailChars {
		_, n := utf8.DecodeLastRuneInString(text[:end])
		end -= n
	}
	return firstChars(text, headChars) + "\n…\n" + text[end:]
}
