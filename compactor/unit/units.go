package unit

import (
	"slices"
	"strings"

	"ccd/compactor/fold"
	"ccd/compactor/limits"
	"ccd/compactor/plan"
	"ccd/internal/transcript"
)

// The sections of a text, in their order.
const (
	Now = iota
	Rules
	Conversation
	Files
	Commands
	Problems
	Recent
	Rest
)

// Reader describes the reader of a text.
type Reader struct {
	Room  int              // chars of the text
	Size  func(string) int // the length of a text in that room
	Begin int              // the first record at which Recent may begin
	First int              // number of the first record that the reader also gets in full; 0 if none
	Brief bool             // an injection: neither Recent nor the content of files, and few ranges
	Holds bool             // the reader is the session's agent, which has its own summary and its context
}

// Set is everything that a text can contain.
type Set struct {
	Units []*plan.Unit
	Until int // the first record under Recent
	w     *writer
}

// writer makes the units of one text.
type writer struct {
	*Source
	Reader
	level   limits.Level
	most    int   // maximum chars of one thing, as lexicon.Bulk counts them
	keep    int32 // first of the newest results, which microcompact leaves alone
	until   int   // first record of Recent
	starts  []int // first records of its levels
	plainly bool  // everything is verbatim
	turns   []turn
	asks    *plan.Pool // limits the messages between the first and the last
	own     own

	units     []*plan.Unit   // where add appends
	first     []*plan.Unit   // those before the units of work, Recent first
	last      []*plan.Unit   // those after them
	agent     map[int32]bool // rows of calls that have a unit as sub-agents
	found     []candidate    // pairs that may get a line, newest first
	byScore   []int          // indexes of found, highest score first
	copies    map[uint64]int32
	summaries summaries
}

// turn is one human message and everything up to the next.
type turn struct {
	place    int   // index among the kept turns
	n        int   // number of the human message, from 1; 0 for what comes before the first
	ask      int32 // row of the message, -1 if there is none
	from, to int32 // rows [from, to)
	answer   int32 // the agent's last message, -1 if there is none
	early    bool  // calls follow the answer
	calls    int
}

// The share of a text that one thing may take, as a divisor, and its minimum. It bounds how much one more record can push out,
// so that most lines of a text stay the same when the session grows.
const (
	oneShare = 18
	oneLeast = 500
)

// All makes the units of a text for a reader.
func All(s *Source, r Reader, kept Summaries) *Set {
	w := &writer{
		Source: s, Reader: r, level: s.f.Level(), agent: map[int32]bool{},
		most: max(oneLeast, r.Room/oneShare), summaries: summaries{ask: kept},
	}
	w.keep = w.keepFrom()
	w.turns = w.divide()
	w.asks = &plan.Pool{Soft: true, Most: func(room int) int { return room * asksMost / 100 }}
	w.own = w.ownSummary()
	w.recent()
	w.now()
	w.rules()
	for n := range w.turns {
		w.turn(&w.turns[n])
	}
	w.agents()
	w.first, w.units = w.units, nil
	w.files()
	w.commands()
	w.resolved()
	w.ranges()
	w.last = w.units
	w.found = w.candidates()
	return w.set()
}

// set returns the units with those of the work before Recent.
func (w *writer) set() *Set {
	return &Set{Units: slices.Concat(w.first, w.work(), w.last), Until: w.until, w: w}
}

// BeginRecent returns the set with Recent beginning later: at a record with which one of its levels begins, or after the last
// one. It makes units only for what Recent no longer shows. ok is false if All must make the set, because forms that are made
// again may differ.
func (s *Set) BeginRecent(rec int) (next *Set, ok bool) {
	w := s.w
	if !w.stable() {
		return nil, false
	}
	w.until = rec
	if n := slices.IndexFunc(w.starts, func(start int) bool { return start < rec }); n == 0 {
		w.starts, w.first = nil, w.first[1:]
	} else if n > 0 {
		w.starts, w.first[0].Worth = w.starts[:n], w.first[0].Worth[:n]
	}
	for _, u := range s.Units {
		u.Restore()
		if u.Section == Files { // the content of a file is not under both
			u.Forget()
		}
	}
	return w.set(), true
}

// ForgetUnstable drops the forms of the units if they may differ when they are made again.
func (s *Set) ForgetUnstable() {
	if !s.w.stable() {
		for _, u := range s.Units {
			u.Forget()
		}
	}
}

// stable reports whether a form that is made again would be the same: originals are still read, none was dropped from the
// cache, and no form asks for a summary.
func (w *writer) stable() bool { return !w.spent() && !w.dropped && w.o.Summarizer == "" }

// shows returns the form of a line that is a key fact.
func shows(line string) plan.Form {
	return plan.Form{Text: line, Shows: strings.TrimSuffix(line, "\n")}
}

func (w *writer) add(u *plan.Unit) { w.units = append(w.units, u) }

// beside reports whether the reader gets a record in full beside the text.
func (w *writer) beside(rec int) bool { return w.First > 0 && rec+1 >= w.First }

// holds reports whether the reader already has a record.
func (w *writer) holds(rec int) bool {
	if w.beside(rec) {
		return true
	}
	if !w.Holds {
		return false
	}
	start, preserved := w.f.Held()
	if rec >= start {
		return true
	}
	for _, p := range preserved {
		if int(p) == rec {
			return true
		}
	}
	return false
}

// divide splits the session into turns. Of dropped human messages only the first ones are kept.
func (w *writer) divide() []turn {
	var all []turn
	begin := func(n int, ask int32, from int32) {
		if len(all) > 0 {
			all[len(all)-1].to = from
		}
		all = append(all, turn{place: len(all), n: n, ask: ask, from: from, answer: -1})
	}
	first, to := w.f.Rows()
	begin(0, -1, first)
	if g := w.f.Given(); g >= 0 {
		begin(1, g, max(g, first))
	}
	from, n := w.f.Humans()
	for i := range n {
		row := w.f.Human(i)
		if row < 0 || i < from && int(row) < 0 {
			continue
		}
		begin(i+1, row, max(row, all[len(all)-1].from))
	}
	all[len(all)-1].to = to
	for n := range all {
		w.scan(&all[n])
	}
	return all
}

// scan finds the answer of a turn and counts its calls.
func (w *writer) scan(t *turn) {
	for i := t.to - 1; i >= t.from; i-- {
		row := w.row(i)
		switch {
		case row.Has(fold.Side) || row.Gone():
		case row.Kind == transcript.Call:
			t.calls++
			t.early = t.early || t.answer < 0
		case row.Kind == transcript.Text && t.answer < 0:
			t.answer = i
		}
	}
}

// turnOf returns the turn of a row.
func (w *writer) turnOf(i int32) *turn {
	lo, hi := 0, len(w.turns)-1
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if w.turns[mid].from <= i {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return &w.turns[lo]
}

// keepFrom returns the oldest of the newest results that microcompact leaves alone.
func (w *writer) keepFrom() int32 {
	from, i := w.f.Rows()
	for left := w.o.MicroKeep; i > from && left > 0; {
		i--
		if row := w.row(i); row.Kind == transcript.Result && !row.Has(fold.Side) {
			left--
		}
	}
	return i
}
