// Package prose filters lists of messages: it classifies texts, chooses which to keep, and shortens the others. The fold uses
// it to classify the wording of a message.
//
// It is deterministic and, except for sorting, linear in the text. It knows nothing of transcripts, records and archives.
package prose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
)

// Message is one message of a list, as the filter reads it.
type Message struct {
	Role  string
	ID    string  // for markers; "" if it has none
	Calls bool    // it calls tools, so it is left as it is
	Lone  bool    // it has several texts or is a tool's result, so it is never merged with its neighbours
	Texts []Piece // the texts that may be shortened
}

// Piece is one text of a message.
type Piece struct {
	Text string
	ID   mark.ID // of its original
}

// ListOptions are the options of Filter.
type ListOptions struct {
	Options
	KeepRoles []string // messages of these roles are kept
	Off       []string // disabled parts: "merge", "entities" and "code-split"
	Recent    int      // newest messages that are kept
	Budget    int      // maximum chars of all texts; no more is shortened than needed; 0 for no budget
	Least     int      // with a budget: newest messages that are always kept
	Percent   int      // length of a summary in percent of its text; the default is 30
	Focus     []string // lower case: texts with one of these are kept
	// Summarize, if not nil, returns another summary of a text, "" if there is none. It is used if it fits.
	Summarize func(text string) string
}

// Fate is what Filter did to one text of a list.
type Fate struct {
	Decision           // Of is the index of a message
	Importance float64 // 0..1
	Text       string  // its replacement, also for texts merged with it; "" if it is unchanged or was merged
	Into       int     // index of the message that it was merged into, -1 if none
	Merged     []mark.ID
}

// Filter decides about the texts of a list, in the order of the messages: each is kept or replaced by a shorter one that begins
// with a marker. No text grows, in chars or as JSON. Filtering the result again with the same options changes nothing.
func Filter(list []Message, o ListOptions) []Fate {
	if o.Budget <= 0 {
		return filtered(list, o, o.Recent).fates()
	}
	if f := newFilter(list, o, len(list)); f.chars() <= o.Budget {
		return f.fates()
	}
	fewest, most := min(o.Least, len(list)), len(list)
	best := filtered(list, o, fewest)
	if best.chars() > o.Budget {
		for best.chars() > o.Budget && (best.fit() || best.round()) {
		}
		return best.fates()
	}
	for fewest+1 < most { // the largest window that fits
		at := (fewest + most) / 2
		if f := filtered(list, o, at); f.chars() <= o.Budget {
			best, fewest = f, at
		} else {
			most = at
		}
	}
	return best.fates()
}

// filter is the state of a list.
type filter struct {
	o     ListOptions
	list  []Message
	gone  []bool // messages that were merged into another
	texts []*entry
	live  []*entry       // in a round: the remaining texts
	place []int          // in a round: index of each message among the remaining ones
	named map[string]int // how many messages have an id
}

func newFilter(list []Message, o ListOptions, window int) *filter {
	o.Recent = window
	f := &filter{o: o, list: list, gone: make([]bool, len(list)), place: make([]int, len(list)), named: map[string]int{}}
	for i, m := range list {
		f.named[m.ID]++
		for _, p := range m.Texts {
			f.texts = append(f.texts, &entry{Piece: p, msg: i, role: m.Role, fate: Fate{Decision: keptBecause("within the budget"), Into: -1}, chars: lexicon.Chars(p.Text)})
		}
	}
	return f
}

// rounds is the maximum number of passes over a list. A shortened text may change how the rules rate the rest; nearly always the
// second pass changes nothing.
const rounds = 64

func filtered(list []Message, o ListOptions, window int) *filter {
	f := newFilter(list, o, window)
	for n := 0; n < rounds && f.round(); n++ {
	}
	return f
}

func (f *filter) fates() (all []Fate) {
	for _, t := range f.texts {
		all = append(all, t.fate)
	}
	return all
}

// chars returns the current length of all texts.
func (f *filter) chars() (n int) {
	for _, t := range f.texts {
		if t.fate.Into < 0 {
			n += t.chars
		}
	}
	return n
}

// round applies the rules once and reports whether that changed anything.
func (f *filter) round() bool {
	f.look()
	changed := false
	for n := 0; n < len(f.live); {
		took, done := f.apply(n)
		n += took
		changed = changed || done
	}
	return changed
}

// look decides about the remaining texts.
func (f *filter) look() {
	f.live = f.live[:0]
	left := 0
	for i := range f.list {
		if f.place[i] = left; !f.gone[i] {
			left++
		}
	}
	for _, t := range f.texts {
		if f.gone[t.msg] {
			continue
		}
		if t.shape == nil {
			t.shape = shapeOf(t.now())
		}
		t.kept = f.kept(t, left)
		f.live = append(f.live, t)
	}
	weigh(f.live)
	f.corrections()
	for n, d := range decide(f.live, f.o.Options) {
		if t := f.live[n]; t.fate.Text == "" {
			t.fate.Decision, t.fate.Importance = d, min(1, t.importance)
		}
	}
}

// kept says why no rule applies to a text.
func (f *filter) kept(t *entry, left int) string {
	switch {
	case slices.Contains(f.o.KeepRoles, t.role):
		return "role"
	case f.place[t.msg] >= left-f.o.Recent:
		return "recent"
	case f.list[t.msg].Calls:
		return "tool call"
	case lexicon.HoldsOne(t.now(), f.o.Focus):
		return "focus"
	}
	return ""
}

// superseding begins the part of a marker that names a correction.
const superseding = "superseded by "

// corrections finds the texts that markers already name as corrections.
func (f *filter) corrections() {
	if !f.o.Contradictions {
		return
	}
	names := map[string]bool{}
	for _, t := range f.live {
		rest, ok := strings.CutPrefix(afterID(t.now()), " "+superseding)
		if name, _, end := strings.Cut(rest, " ("); ok && end {
			names[name] = true
		}
	}
	for _, t := range f.live {
		t.done = names[string(t.ID)] || f.list[t.msg].ID != "" && names[f.list[t.msg].ID]
	}
}

// name returns how a marker names the message of a text: its id if that is unique, else other.
func (f *filter) name(t *entry, other string) string {
	id := f.list[t.msg].ID
	if id == "" || f.named[id] > 1 || len(id) > 40 || strings.ContainsAny(id, "()[]") || mark.Inline(id, 0) != id {
		return other
	}
	return id
}

// apply carries out the decision about the text at n. It returns how many texts it handled and whether one was replaced.
func (f *filter) apply(n int) (took int, changed bool) {
	t := f.live[n]
	if t.fate.Text != "" {
		return 1, false
	}
	d, chars, note := t.fate.Decision, t.chars, ""
	var by *entry
	if d.Of >= 0 {
		by = f.live[d.Of]
		t.fate.Of = by.msg
	}
	switch d.Action {
	case Deduped:
		note = fmt.Sprintf("dup of %s, %d chars", f.name(by, fmt.Sprintf("#%d", by.msg+1)), chars)
	case NearDuped:
		note = fmt.Sprintf("near-dup of %s, %d chars, ~%d%%", f.name(by, fmt.Sprintf("#%d", by.msg+1)), chars, int(100*d.Like))
	case Contradicted:
		note = fmt.Sprintf("%s%s (%s)", superseding, f.name(by, string(by.ID)), d.Reason)
		if said := mark.Inline(t.Text, shortText); lexicon.Chars(note)+lexicon.Chars(said) < chars-20 {
			note += ": " + said
		}
	case Split:
		if f.off("code-split") {
			t.fate.Decision = keptBecause("code")
			return 1, false
		}
		return 1, f.replace(t, f.split(t))
	case Compressed:
		return f.compress(n)
	default:
		return 1, false
	}
	return 1, f.replace(t, mark.New(t.ID, note))
}

// off reports whether a part of the rules is disabled.
func (f *filter) off(name string) bool { return slices.Contains(f.o.Off, name) }

// replace replaces a text if the new one has fewer chars and is not longer as JSON, and reports whether it did. Otherwise the
// text is kept.
func (f *filter) replace(t *entry, text string) bool {
	was := strings.ToValidUTF8(t.Text, "?") // a lone surrogate counts as one character, whatever its bytes
	if text == "" || lexicon.Chars(text) >= lexicon.Chars(was) || jsonSize(text) > jsonSize(was) {
		t.fate.Decision = keptBecause("reverted")
		return false
	}
	t.fate.Text, t.chars, t.shape = text, lexicon.Chars(text), nil
	return true
}

// split returns a text with its fences unchanged and its prose shortened. A text with something like a marker in a fence, or
// with invalid UTF-8, is kept whole.
func (f *filter) split(t *entry) string {
	if strings.Contains(t.Text, "[ccd") || strings.ToValidUTF8(t.Text, "") != t.Text {
		return ""
	}
	body := splitCode(t.Text, func(part string) string { return f.summary([]string{part}, f.budget(lexicon.Chars(part))) })
	return mark.New(t.ID, fmt.Sprintf("summary: the prose of %d chars, the code as it stands", lexicon.Chars(t.Text))) + "\n" + body
}

const (
	// mergedFrame is the maximum length of the marker of merged messages without their summary, in chars.
	mergedFrame = len("[ccd 0123456789ab summary:  (1000000 messages merged)]")
	namesFrame  = 80 // chars reserved for names in them, if there is room
)

// compress summarizes the text at n together with those of the following messages. The first one gets the summary and must not
// grow; if it is too short for that, it is summarized by itself.
func (f *filter) compress(n int) (took int, changed bool) {
	first := f.live[n]
	texts, ids, chars := []string{first.Text}, []mark.ID{first.ID}, lexicon.Chars(first.Text)
	room := chars - mergedFrame
	for m := n + 1; !f.off("merge") && room >= f.budget(0) && m < len(f.live) && f.follows(m); m++ {
		t := f.live[m]
		texts, ids, chars = append(texts, t.Text), append(ids, t.ID), chars+lexicon.Chars(t.Text)
	}
	if len(texts) == 1 {
		return 1, f.replace(first, f.summed(first, first.ID, texts, f.budget(chars), ""))
	}
	tail := fmt.Sprintf(" (%d messages merged)", len(texts))
	room = min(f.budget(chars), max(f.budget(0), room-namesFrame))
	changed = f.replace(first, f.summed(first, mark.Combine(ids).ID(), texts, room, tail))
	for _, t := range f.live[n+1 : n+len(texts)] {
		if changed {
			t.fate.Into, f.gone[t.msg] = first.msg, true
		} else {
			t.fate.Decision = keptBecause("reverted")
		}
	}
	if changed {
		first.fate.Merged = ids
	}
	return len(texts), changed
}

// follows reports whether the text at m can be merged with the one before it.
func (f *filter) follows(m int) bool {
	a, b := f.live[m-1], f.live[m]
	return b.fate.Text == "" && b.fate.Action == Compressed && !f.list[a.msg].Lone && !f.list[b.msg].Lone && a.role == b.role &&
		f.place[b.msg] == f.place[a.msg]+1
}

// budget returns how many chars the summary of a text may have.
func (f *filter) budget(chars int) int {
	return Budget(chars, f.o.SummaryChars, f.o.LongCap) * f.o.Percent / 30
}

// summed returns the marker with the summary of texts and, if there is room, further names in them.
func (f *filter) summed(first *entry, id mark.ID, texts []string, room int, tail string) string {
	s := f.summary(texts, room)
	if s == "" {
		return ""
	}
	note, sep := "summary: "+mark.Inline(s, 0)+tail, " | entities: "
	if f.off("entities") {
		return mark.New(id, note)
	}
	for _, e := range entities(strings.Join(texts, "\n"), 0) {
		if named := note + sep + mark.Inline(e, 60); !strings.Contains(s, e) && lexicon.Chars(mark.New(id, named)) < lexicon.Chars(first.Text) {
			note, sep = named, ", "
		}
	}
	return mark.New(id, note)
}

// summary returns the summary from the option if it is usable, else prose's own.
func (f *filter) summary(texts []string, room int) string {
	all := strings.Join(texts, "\n\n")
	if f.o.Summarize != nil && !isStructured(all, lexicon.Chars(all)) {
		if s := f.o.Summarize(all); s != "" && lexicon.Chars(s) < lexicon.Chars(all) && lexicon.Chars(s) <= room {
			return s
		}
	}
	return summarize(texts, room)
}

// fit cuts texts that the rules have left whole to their beginning, the longest first, until all texts fit the budget. It does
// not cut messages that call tools, nor what roles, recency or focus protect.
func (f *filter) fit() (changed bool) {
	var order []*entry
	for _, t := range f.live {
		if t.fate.Text == "" && !f.gone[t.msg] && t.kept == "" && t.chars > maxCut && !startsWithMarker(t.Text) {
			order = append(order, t)
		}
	}
	slices.SortStableFunc(order, func(a, b *entry) int { return cmp.Compare(b.chars, a.chars) })
	over := f.chars() - f.o.Budget
	for _, t := range order {
		chars := t.chars
		note := fmt.Sprintf("cut, %d chars: %s", chars, mark.Inline(t.Text, maxCut))
		if over <= 0 || !f.replace(t, mark.New(t.ID, note)) {
			continue
		}
		over -= chars - t.chars
		t.fate.Decision, changed = Decision{Action: Cut, Reason: "the budget", Of: -1}, true
	}
	return changed
}

// maxCut is how much is kept of a text that is cut to fit the budget, in chars.
const maxCut = 512

// jsonSize returns the length of a text as a JSON string in bytes, without its quotes.
func jsonSize(s string) int {
	n := len(s)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"', c == '\\', c == '\n', c == '\r', c == '\t', c == '\b', c == '\f':
			n++
		case c < ' ':
			n += len(`\u0000`) - 1
		}
	}
	return n
}
