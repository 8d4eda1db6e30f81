package prose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
)

// Message is one message of a list as the filter looks at it.
type Message struct {
	Role  string
	ID    string  // by which markers may name it; "" where it has none
	Calls bool    // it calls tools: it stays as it is
	Lone  bool    // it says more than one text, or is a tool's result: it is never merged with its neighbours
	Texts []Piece // that may be shortened
}

// Piece is one text of a message.
type Piece struct {
	Text string
	ID   mark.ID // of its original
}

// ListOptions are the options of Filter.
type ListOptions struct {
	Options
	KeepRoles []string // messages of these roles stay
	Off       []string // what is switched off of "merge", "entities" and "code-split"
	Recent    int      // newest messages that stay
	Budget    int      // chars of all texts: shorten no more than they need, and as much; 0: there is no budget
	Least     int      // with a budget: newest messages that stay whatever it is
	Percent   int      // of a text, that its summary has; 30 is the shipped share
	Focus     []string // small letters: texts that hold one of these stay
	// Summarize, if not nil, gives another summary of a text, "" where it has none; it is taken where it fits.
	Summarize func(text string) string
}

// Fate is what became of one text of a list.
type Fate struct {
	Decision           // Of is the index of a message
	Importance float64 // 0..1
	Text       string  // that stands for it, or for it and those merged with it; "" where it is as it was, or merged
	Into       int     // index of the message that it was merged into, -1 where it was not
	Merged     []mark.ID
}

// Filter decides what becomes of the texts of a list, in the order of the messages: each stays, or a shorter one that
// begins with a marker stands for it. No text grows, in chars or as JSON. What comes back is filtered no further: with
// the same options a second time changes nothing.
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
	texts []listText
	live  []Text         // in a round: the texts that are left
	at    []int          // their indices in texts
	place []int          // in a round: of each message among those that are left
	named map[string]int // how many messages have an id
}

type listText struct {
	Piece
	fate  Fate
	msg   int
	shape Shape // of what stands for it
}

func newFilter(list []Message, o ListOptions, window int) *filter {
	o.Recent = window
	f := &filter{o: o, list: list, gone: make([]bool, len(list)), place: make([]int, len(list)), named: map[string]int{}}
	for i, m := range list {
		f.named[m.ID]++
		for _, p := range m.Texts {
			f.texts = append(f.texts, listText{Piece: p, msg: i, fate: Fate{Decision: keptBecause("within the budget"), Into: -1}})
		}
	}
	return f
}

// rounds bounds how often a list is looked at. What is shortened in one round may change what the rules say of the
// rest, as with importance; nearly always the second round changes nothing.
const rounds = 64

func filtered(list []Message, o ListOptions, window int) *filter {
	f := newFilter(list, o, window)
	for n := 0; n < rounds && f.round(); n++ {
	}
	return f
}

func (f *filter) fates() (all []Fate) {
	for i := range f.texts {
		all = append(all, f.texts[i].fate)
	}
	return all
}

// text is what stands for a text now.
func (t *listText) text() string {
	return cmp.Or(t.fate.Text, t.Text)
}

// chars is what all texts have now.
func (f *filter) chars() int {
	n := 0
	for i := range f.texts {
		if t := &f.texts[i]; t.fate.Into < 0 {
			n += lexicon.Chars(t.text())
		}
	}
	return n
}

// round applies the rules once; it reports whether that changed anything.
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

// look decides on the texts that are left.
func (f *filter) look() {
	f.live, f.at = f.live[:0], f.at[:0]
	left := 0
	for i := range f.list {
		if f.place[i] = left; !f.gone[i] {
			left++
		}
	}
	for i := range f.texts {
		t := &f.texts[i]
		if f.gone[t.msg] {
			continue
		}
		f.at = append(f.at, i)
		if t.shape == (Shape{}) {
			t.shape = ShapeOf(t.text())
		}
		f.live = append(f.live, Text{Role: f.list[t.msg].Role, Text: t.text(), Shape: t.shape, Marker: true, Kept: f.kept(t, left)})
	}
	weigh(f.live)
	f.corrections()
	for n, d := range Decide(f.live, f.o.Options) {
		t := &f.texts[f.at[n]]
		if t.fate.Text != "" {
			continue
		}
		if d.Of >= 0 {
			d.Of = f.at[d.Of]
		}
		t.fate.Decision, t.fate.Importance = d, min(1, f.live[n].Importance)
	}
}

// kept tells why no rule applies to a text.
func (f *filter) kept(t *listText, left int) string {
	m := &f.list[t.msg]
	switch {
	case slices.Contains(f.o.KeepRoles, m.Role):
		return "role"
	case f.place[t.msg] >= left-f.o.Recent:
		return "recent"
	case m.Calls:
		return "tool call"
	case lexicon.HoldsOne(t.text(), f.o.Focus):
		return "focus"
	}
	return ""
}

// superseding opens the part of a marker that names a correction.
const superseding = "superseded by "

// corrections finds the texts that have superseded another one already: its marker names them.
func (f *filter) corrections() {
	if !f.o.Contradictions {
		return
	}
	names := map[string]bool{}
	for n := range f.live {
		rest, ok := strings.CutPrefix(afterID(f.live[n].Text), " "+superseding)
		if name, _, end := strings.Cut(rest, " ("); ok && end {
			names[name] = true
		}
	}
	for n := range f.live {
		t := &f.texts[f.at[n]]
		f.live[n].done = names[string(t.ID)] || f.list[t.msg].ID != "" && names[f.list[t.msg].ID]
	}
}

// name is what a marker calls the message of a text: its id where that names it alone, else other.
func (f *filter) name(t *listText, other string) string {
	id := f.list[t.msg].ID
	if id == "" || f.named[id] > 1 || len(id) > 40 || strings.ContainsAny(id, "()[]") || mark.Inline(id, 0) != id {
		return other
	}
	return id
}

// apply does with the text at n what was decided. It returns how many texts that was, and whether one was replaced.
func (f *filter) apply(n int) (took int, changed bool) {
	t := &f.texts[f.at[n]]
	if t.fate.Text != "" {
		return 1, false
	}
	d, chars, note := t.fate.Decision, lexicon.Chars(t.Text), ""
	var by *listText
	if d.Of >= 0 {
		by = &f.texts[d.Of]
		t.fate.Of = by.msg
	}
	switch d.Action {
	case Deduped:
		note = fmt.Sprintf("dup of %s, %d chars", f.name(by, fmt.Sprintf("#%d", by.msg+1)), chars)
	case NearDuped:
		note = fmt.Sprintf("near-dup of %s, %d chars, ~%d%%", f.name(by, fmt.Sprintf("#%d", by.msg+1)), chars, int(100*d.Like))
	case Contradicted:
		note = fmt.Sprintf("%s%s (%s)", superseding, f.name(by, string(by.ID)), d.Signal)
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

// off reports whether a part of the rules is switched off.
func (f *filter) off(name string) bool { return slices.Contains(f.o.Off, name) }

// replace lets a text stand for another one if it is shorter.
func (f *filter) replace(t *listText, text string) bool {
	was := strings.ToValidUTF8(t.Text, "?") // a surrogate that stands alone counts once, whatever its bytes
	if text == "" || lexicon.Chars(text) >= lexicon.Chars(was) || jsonSize(text) > jsonSize(was) {
		t.fate.Decision = keptBecause("reverted")
		return false
	}
	t.fate.Text, t.shape = text, Shape{}
	return true
}

// split is a text with its fences as they stand and its prose in short. What could be taken for a marker in a fence, or
// is not UTF-8, keeps the text whole.
func (f *filter) split(t *listText) string {
	if strings.Contains(t.Text, "[ccd") || strings.ToValidUTF8(t.Text, "") != t.Text {
		return ""
	}
	body := SplitCode(t.Text, func(part string) string { return f.summary([]string{part}, f.budget(lexicon.Chars(part))) })
	return mark.New(t.ID, fmt.Sprintf("summary: the prose of %d chars, the code as it stands", lexicon.Chars(t.Text))) + "\n" + body
}

const (
	// mergedFrame is what the marker of merged messages takes beside their summary, in chars, at the most.
	mergedFrame = len("[ccd 0123456789ab summary:  (1000000 messages merged)]")
	namesFrame  = 80 // chars that are left for what they name, if there is room
)

// compress summarizes the text at n together with those of the messages that follow it. The first one carries the
// summary and must not grow: where it is too short for that, it is left to itself.
func (f *filter) compress(n int) (took int, changed bool) {
	first := &f.texts[f.at[n]]
	texts, ids, chars := []string{first.Text}, []mark.ID{first.ID}, lexicon.Chars(first.Text)
	room := chars - mergedFrame
	for m := n + 1; !f.off("merge") && room >= f.budget(0) && m < len(f.live) && f.follows(m); m++ {
		t := &f.texts[f.at[m]]
		texts, ids, chars = append(texts, t.Text), append(ids, t.ID), chars+lexicon.Chars(t.Text)
	}
	if len(texts) == 1 {
		return 1, f.replace(first, f.summed(first, first.ID, texts, f.budget(chars), ""))
	}
	tail := fmt.Sprintf(" (%d messages merged)", len(texts))
	room = min(f.budget(chars), max(f.budget(0), room-namesFrame))
	changed = f.replace(first, f.summed(first, mark.Combine(ids).ID(), texts, room, tail))
	for _, i := range f.at[n+1 : n+len(texts)] {
		if t := &f.texts[i]; changed {
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

// follows reports whether the text at m is merged with the one before it.
func (f *filter) follows(m int) bool {
	a, b := &f.texts[f.at[m-1]], &f.texts[f.at[m]]
	return b.fate.Text == "" && b.fate.Action == Compressed && !f.list[a.msg].Lone && !f.list[b.msg].Lone && f.list[a.msg].Role == f.list[b.msg].Role &&
		f.place[b.msg] == f.place[a.msg]+1
}

// budget is how many chars the summary of a text may have.
func (f *filter) budget(chars int) int { return f.o.Options.Budget(chars) * f.o.Percent / 30 }

// summed is the marker with the summary of texts, and with what they name besides where there is room for it.
func (f *filter) summed(first *listText, id mark.ID, texts []string, room int, tail string) string {
	s := f.summary(texts, room)
	if s == "" {
		return ""
	}
	note, sep := "summary: "+mark.Inline(s, 0)+tail, " | entities: "
	if f.off("entities") {
		return mark.New(id, note)
	}
	for _, e := range Entities(strings.Join(texts, "\n"), 0) {
		if named := note + sep + mark.Inline(e, 60); !strings.Contains(s, e) && lexicon.Chars(mark.New(id, named)) < lexicon.Chars(first.Text) {
			note, sep = named, ", "
		}
	}
	return mark.New(id, note)
}

// summary is what the option writes, if it is any good, else our own.
func (f *filter) summary(texts []string, room int) string {
	all := strings.Join(texts, "\n\n")
	if f.o.Summarize != nil && !isStructured(all, lexicon.Chars(all)) {
		if s := f.o.Summarize(all); s != "" && lexicon.Chars(s) < lexicon.Chars(all) && lexicon.Chars(s) <= room {
			return s
		}
	}
	return Summarize(texts, f.o.Options, room)
}

// fit cuts the longest texts that the rules have kept to their beginning, until the budget holds them.
func (f *filter) fit() (changed bool) {
	var order []*listText
	for n, i := range f.at {
		if t := &f.texts[i]; t.fate.Text == "" && !f.gone[t.msg] && f.live[n].Kept == "" && f.live[n].Chars > maxCut && !startsWithMarker(t.Text) {
			order = append(order, t)
		}
	}
	slices.SortStableFunc(order, func(a, b *listText) int { return cmp.Compare(lexicon.Chars(b.Text), lexicon.Chars(a.Text)) })
	over := f.chars() - f.o.Budget
	for _, t := range order {
		chars := lexicon.Chars(t.Text)
		note := fmt.Sprintf("cut, %d chars: %s", chars, mark.Inline(t.Text, maxCut))
		if over <= 0 || !f.replace(t, mark.New(t.ID, note)) {
			continue
		}
		over -= chars - lexicon.Chars(t.fate.Text)
		t.fate.Decision, changed = Decision{Action: Cut, Reason: "the budget", Of: -1}, true
	}
	return changed
}

// maxCut is how much stays of a text that is cut because the budget cannot hold it, in chars.
const maxCut = 512
