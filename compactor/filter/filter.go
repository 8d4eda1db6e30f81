// Package filter shortens lists of messages: it classifies texts, chooses which to keep, and shortens the others.
//
// It is deterministic and, except for sorting, linear in the text. It knows nothing of transcripts, records and archives.
package filter

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ccd/compactor/lexicon"
	"ccd/compactor/limits"
	"ccd/internal/mark"
)

// Human is the role of a person's messages. Results of tools have it too in some lists, so they say what they are.
const Human = "user"

// Message is one message of a list, as the filter reads it.
type Message struct {
	Role    string
	ID      string   // for markers; "" if it has none
	Calls   bool     // it calls tools, so it is left as it is while there is room
	Lone    bool     // it has several texts or is a tool's result, so it is never merged with its neighbours
	Opens   []string // the calls in it
	Answers []string // the calls whose results it has
	Texts   []Piece  // the texts that may be shortened
	Rest    int      // chars of everything else in it
}

// human reports whether a person wrote something in the message.
func (m *Message) human() bool {
	return m.Role == Human && slices.ContainsFunc(m.Texts, func(p Piece) bool { return p.Kind == Said })
}

// PieceKind is what a text of a message is, whatever the message's role.
type PieceKind uint8

// The kinds of texts.
const (
	Said      PieceKind = iota
	Result              // a tool wrote it
	Failed              // the same, and the tool says that it failed
	Input               // the agent passed it to a tool
	InputJSON           // the same, all of it as JSON, which its short form must be
)

// Piece is one text of a message.
type Piece struct {
	Text string
	ID   mark.ID // of its original
	Kind PieceKind
}

func (p *Piece) isInput() bool { return p.Kind == Input || p.Kind == InputJSON }

// Fate is what Apply did to one text of a list.
type Fate struct {
	Decision           // Of is the index of a message
	Importance float64 // 0..1
	Text       string  // its replacement, also for texts merged with it; "" if it is unchanged or was merged
	Into       int     // index of the message that it was merged into, -1 if none
	Merged     []mark.ID
}

// Apply decides about the texts of a list, in the order of the messages: each is kept or replaced by a shorter one that begins
// with a marker. The list does not grow. Applied to the result with the same options, it changes nothing.
//
// dropped are the messages that a budget has no room for: each run of them becomes one marker. Calls and their results are dropped
// together.
func Apply(list []Message, o Options) (fates []Fate, dropped []Run) {
	f := newFilter(list, o)
	if o.Budget > 0 {
		f = f.fitted()
	} else {
		f.rules()
	}
	for _, t := range f.texts {
		fates = append(fates, t.fate)
	}
	return fates, f.runs()
}

// filter is the state of a list.
type filter struct {
	o       Options
	list    []Message
	gone    []bool // messages that were merged into another
	dropped []bool // messages that the budget has no room for
	texts   []*entry
	live    []*entry       // in a round: the remaining texts
	place   []int          // in a round: index of each message among the remaining ones
	named   map[string]int // how many messages have an id
}

// classify says whose text it is. replied says whether a person's message follows, which may refer to what an agent said.
func (t *entry) classify(replied bool) {
	switch {
	case t.isInput():
		t.role = "call"
	case t.Kind != Said || t.role == "function":
		t.role = "tool"
	default:
		t.replied = replied && (t.role == "assistant" || t.role == "model")
	}
}

// isTool reports whether a text is the result of a tool or what a call passes to one.
func (t *entry) isTool() bool { return t.role == "tool" || t.role == "call" }

// newFilter returns the state of a list.
func newFilter(list []Message, o Options) *filter {
	f := &filter{o: o, list: list, gone: make([]bool, len(list)), dropped: make([]bool, len(list)), place: make([]int, len(list)), named: map[string]int{}}
	for i, m := range list {
		f.named[m.ID]++
		replied := f.careful() && i+1 < len(list) && list[i+1].human()
		for _, p := range m.Texts {
			t := &entry{Piece: p, msg: i, role: m.Role, fate: Fate{Decision: keptBecause("within the budget"), Into: -1}, chars: lexicon.Chars(p.Text)}
			t.classify(replied)
			f.texts = append(f.texts, t)
		}
	}
	results := 0 // newer ones
	for _, t := range slices.Backward(f.texts) {
		if t.role == "tool" {
			t.old = o.Large > 0 && t.chars > o.Large || o.OldResult > 0 && t.chars > o.OldResult && results >= keptResults
			results++
		}
	}
	return f
}

// ruled returns the list with the rules applied to its oldest messages, and summaries that are tighter by so many percent of their texts.
func (f *filter) ruled(oldest, tighter int) *filter {
	o := f.o
	o.Recent, o.Percent = len(f.list)-oldest, o.Percent-tighter
	g := newFilter(f.list, o)
	for i, t := range f.texts { // the shapes of unchanged texts are known
		if t.fate.Text == "" {
			g.texts[i].shape = t.shape
		}
	}
	g.rules()
	return g
}

// rounds is the maximum number of passes over a list. A shortened text may change how the rules rate the rest; nearly always the
// second pass changes nothing.
const rounds = 64

// rules applies the rules until they change nothing.
func (f *filter) rules() {
	for n := 0; n < rounds && f.round(); n++ {
	}
}

// chars returns the current length of all messages.
func (f *filter) chars() (n int) {
	for _, t := range f.texts {
		if t.fate.Into < 0 && !f.dropped[t.msg] {
			n += t.chars
		}
	}
	for i, m := range f.list {
		switch {
		case !f.dropped[i]:
			n += m.Rest
		case i == 0 || !f.dropped[i-1]:
			n += f.runChars(i)
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
	for i, left := 0, 0; i < len(f.list); i++ {
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
		t.kept, t.brief = f.kept(t), t.role == "tool" && t.chars < shortResult && f.careful()
		f.live = append(f.live, t)
	}
	weigh(f.live)
	f.corrections()
	for n, d := range decide(f.live, f.o) {
		if t := f.live[n]; t.fate.Text == "" {
			t.fate.Decision, t.fate.Importance = d, min(1, t.importance)
		}
	}
}

// kept says why no rule applies to a text.
func (f *filter) kept(t *entry) string {
	limited := f.o.Budget > 0
	switch {
	case slices.Contains(f.o.KeepRoles, t.role):
		return "role"
	case t.msg >= len(f.list)-f.o.Recent:
		return "recent"
	case (f.list[t.msg].Calls || t.isInput()) && !limited:
		return "tool call"
	case lexicon.HoldsOne(t.now(), f.o.Focus):
		return "focus"
	case t.replied && !limited && t.chars <= answeredChars:
		return "answered"
	}
	return ""
}

// careful reports whether people's messages are to be kept, and so what they refer to.
func (f *filter) careful() bool { return slices.Contains(f.o.KeepRoles, Human) }

const (
	answeredChars = 4000 // maximum length of a text that is kept because a person answers it, in chars
	answeredTail  = 1000 // chars of the end that stay of a longer one: "yes, the second one" means nothing without it
)

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
		note = fmt.Sprintf("%s%s (%s)", superseding, f.name(by, string(by.ID)), mark.Inline(d.Reason, shortest))
		if said := mark.Inline(t.Text, shortText); lexicon.Chars(note)+lexicon.Chars(said) < chars-2*minSaved {
			note += ": " + said
		}
	case Split:
		return 1, f.replace(t, f.split(t), 0)
	case Compressed:
		return f.compress(n)
	default:
		return 1, false
	}
	return 1, f.replace(t, mark.New(t.ID, note), 0)
}

const (
	minSaved   = 40 // chars that a replacement saves at least: for less, the original is the better text
	savedShare = 10 // and at least one part in so many
	shortest   = 60 // chars that a summary may have at least: less is no sentence

	leastOutput = 200 // chars that the short form of an output may have at least
)

// replace replaces a text, and others that are merged into it, of so many chars together, if that is worth it. It reports whether
// it did. Otherwise the text is kept.
func (f *filter) replace(t *entry, text string, others int) bool {
	if t.Kind == InputJSON && text != "" {
		quoted, _ := json.Marshal(text) // cannot fail for a string
		text = wrapped + string(quoted) + "}"
	}
	was := lexicon.Chars(strings.ToValidUTF8(t.Text, "?")) + others // a lone surrogate counts as one character, whatever its bytes
	if chars := lexicon.Chars(text); text == "" || was-chars < max(minSaved, was/savedShare) {
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
	body := splitCode(t.Text, func(part string) string { return f.summary(part, f.budget(lexicon.Chars(part)), false) })
	return mark.New(t.ID, fmt.Sprintf("summary: the prose of %d chars, the code as it stands", lexicon.Chars(t.Text))) + "\n" + body
}

// compress summarizes the text at n together with those of the following messages.
func (f *filter) compress(n int) (took int, changed bool) {
	first := f.live[n]
	switch {
	case first.role == "tool" && first.isPrinted(), first.isInput():
		return 1, f.replace(first, f.output(first), 0)
	case first.endsInQuestion():
		end := lexicon.TailAt(first.Text, answeredTail)
		said := f.summed(first, first.ID, strings.TrimSuffix(first.Text, end), "")
		return 1, said != "" && f.replace(first, said+"\n\n"+end, 0)
	}
	texts, ids := []string{first.Text}, []mark.ID{first.ID}
	for m := n + 1; m < len(f.live) && f.follows(m); m++ {
		texts, ids = append(texts, f.live[m].Text), append(ids, f.live[m].ID)
	}
	if len(texts) == 1 {
		return 1, f.replace(first, f.summed(first, first.ID, first.Text, ""), 0)
	}
	said := f.summed(first, mark.Combine(ids).ID(), strings.Join(texts, "\n\n"), fmt.Sprintf(" (%d messages merged)", len(texts)))
	if changed = f.replace(first, said, lexicon.Chars(strings.Join(texts[1:], ""))); changed {
		first.fate.Merged = ids
	}
	for _, t := range f.live[n+1 : n+len(texts)] {
		if changed {
			t.fate.Into, f.gone[t.msg] = first.msg, true
		} else {
			t.fate.Decision = keptBecause("reverted")
		}
	}
	return len(texts), changed
}

// follows reports whether the text at m can be merged with the one before it.
func (f *filter) follows(m int) bool {
	a, b := f.live[m-1], f.live[m]
	return b.fate.Text == "" && b.fate.Action == Compressed && !f.list[a.msg].Lone && !f.list[b.msg].Lone && a.role == b.role &&
		f.place[b.msg] == f.place[a.msg]+1 && !b.endsInQuestion()
}

// endsInQuestion reports whether a person replies to a text that is longer than what is kept whole: its end stays.
func (t *entry) endsInQuestion() bool { return t.replied && t.chars > answeredChars }

// budget returns how many chars the summary of a text, of so many chars, may have.
func (f *filter) budget(chars int) int {
	return max(shortest, limits.SummaryChars(chars, f.o.SummaryChars, f.o.LongCap)*f.o.Percent/30)
}

// summed returns the marker with the summary of a text and, if there is room, further names in it.
func (f *filter) summed(first *entry, id mark.ID, text, tail string) string {
	printed, chars := first.isPrinted(), lexicon.Chars(text)
	s := f.summary(text, f.budget(chars), printed)
	if s == "" {
		return ""
	}
	note, sep := "summary: "+mark.Inline(s, 0)+tail, " | entities: "
	if printed {
		return mark.New(id, note)
	}
	for _, e := range entities(text) {
		if named := note + sep + mark.Inline(e, 60); !strings.Contains(s, e) && lexicon.Chars(named) < chars-2*minSaved {
			note, sep = named, ", "
		}
	}
	return mark.New(id, note)
}

// output returns the short form of what a tool printed or got: how much it was, then its errors, what sums it up, or its beginning.
// Of a very large one the beginning stands below the marker, as the tool printed it.
func (f *filter) output(t *entry) string {
	room := max(leastOutput, f.budget(t.chars))
	if t.isInput() {
		return mark.New(t.ID, fmt.Sprintf("cut, %d chars: %s", t.chars, mark.Inline(t.Text, min(room, leastOutput))))
	}
	said := excerpt(t.Text, room, t.Kind == Failed)
	note := fmt.Sprintf("output, %d lines, %d chars: %s", lexicon.AllLines(t.Text), t.chars, mark.Inline(said, 0))
	if f.o.Large > 0 && t.chars > f.o.Large {
		return mark.New(t.ID, note+" | it begins:") + "\n" + lexicon.Head(t.Text, limits.LargeHead)
	}
	return mark.New(t.ID, note)
}

// summary returns the summary from the option if it is usable, else the one of its best sentences.
func (f *filter) summary(text string, room int, printed bool) string {
	if f.o.Summarize != nil && !printed {
		if s := f.o.Summarize(text); s != "" && lexicon.Chars(s) < lexicon.Chars(text) && lexicon.Chars(s) <= room {
			return s
		}
	}
	return summarize(text, room, printed)
}
