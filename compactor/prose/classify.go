// Package prose is the engine for running text: what a text is, which of several to keep, what to say of the others in
// short.
//
// The rules for one list of texts (Decide), summaries, entities and code splits serve companions as well as the filter for
// lists of messages (Filter). All of it is deterministic, and linear in the text. It knows nothing of transcripts, records
// and archives.
package prose

import (
	"fmt"

	"ccd/compactor/lexicon"
	"ccd/internal/mark"
)

// Text is one text as the rules look at it.
type Text struct {
	Role       string
	Text       string // may be left out where Chars, Key and Shape are given: then it is compared with no other text
	Chars      int    // of Text; 0: counted
	Key        uint64 // names the content, 0: hashed here; equal keys are equal contents
	Shape      Shape  // as ShapeOf gives it
	Kept       string // why no rule applies: the text stays as it is; "" where the rules decide
	Marker     bool   // a text that begins with a marker is one of ours: true in a list of messages, false in a transcript
	Importance float64

	done bool // a marker says that this text has superseded another one already
}

// Human is the Kept of what a person said in a transcript: it is never superseded.
const Human = "human"

// Action is what is to be done with a text.
type Action uint8

// The actions. What is split keeps its fences and loses prose; what is compressed is merged with its neighbours of the
// same role and summarized.
const (
	Preserved Action = iota
	Compressed
	Deduped
	NearDuped
	Split
	Contradicted
	Cut
)

var actionNames = [...]string{"preserved", "compressed", "deduped", "near-duped", "split", "contradicted", "cut"}

// String names the action.
func (a Action) String() string { return actionNames[a] }

// Decision is what the rules say of one text.
type Decision struct {
	Action Action
	Reason string
	Of     int     // index of the newer copy, or of the correction; -1 where there is none
	Like   float64 // of a near copy: how alike, 0..1
	Signal string  // of a superseded text: how the correction says so
}

// Decide applies the rules in their order to texts in theirs: the first that holds decides.
func Decide(all []Text, o Options) []Decision {
	return (&rules{o: o.complete(), all: all}).decide()
}

// rules are the rules at work on one list.
type rules struct {
	o      Options
	all    []Text
	newest map[uint64]int     // index of the newest copy of each content
	near   map[int]nearCopy   // by index of the older text
	wrong  map[int]correction // by index of what is superseded
}

func (r *rules) decide() []Decision {
	r.measure()
	if r.o.Dedup {
		r.newest = map[uint64]int{}
		for i := range r.all {
			if r.all[i].Chars >= DupChars {
				r.newest[r.all[i].Key] = i
			}
		}
	}
	if r.o.NearDedup {
		r.near = nearCopies(r.all, r.newest, r.o.NearLike)
	}
	right := map[int]bool{} // texts that supersede others
	if r.o.Contradictions {
		r.wrong = superseded(r.all, r.o.TopicOverlap)
	}
	ds := make([]Decision, len(r.all))
	for i := len(r.all) - 1; i >= 0; i-- {
		ds[i] = r.one(i)
		if ds[i].Action == Contradicted {
			right[ds[i].Of] = true
		}
	}
	for i := range ds {
		if (right[i] || r.all[i].done) && (ds[i].Action == Compressed || ds[i].Action == Split) {
			ds[i] = keptBecause("correction")
		}
	}
	return ds
}

// measure fills in what a text leaves to be learnt from it.
func (r *rules) measure() {
	for i := range r.all {
		m := &r.all[i]
		if m.Chars == 0 {
			m.Chars = lexicon.Chars(m.Text)
		}
		if m.Key == 0 && m.Chars >= DupChars {
			m.Key = mark.Sum([]byte(m.Text)).Key()
		}
		if m.Shape == (Shape{}) && m.Text != "" {
			m.Shape = ShapeOf(m.Text)
		}
	}
}

// one is the decision on the text at i.
func (r *rules) one(i int) Decision {
	m := &r.all[i]
	switch {
	case m.Kept != "":
		return keptBecause(m.Kept)
	case m.Chars < shortText:
		return keptBecause("short")
	case m.Marker && m.Shape.why&isMarker != 0:
		return keptBecause("marker")
	case r.o.KeepImportance > 0 && m.Importance >= r.o.KeepImportance:
		return keptBecause(fmt.Sprintf("importance %.2f", m.Importance))
	}
	if d, ok := r.copyOf(i); ok {
		return d
	}
	if c, ok := r.wrong[i]; ok {
		return Decision{Action: Contradicted, Reason: c.signal.String(), Of: c.by, Signal: c.signal.String()}
	}
	for _, p := range r.o.KeepPatterns {
		if p.MatchString(m.Text) {
			return keptBecause("pattern " + p.String())
		}
	}
	return byShape(m.Shape)
}

// copyOf is the decision on a text of which there is a newer copy, or one that is nearly one.
func (r *rules) copyOf(i int) (Decision, bool) {
	if at, ok := r.newest[r.all[i].Key]; ok && at > i && r.all[i].Chars >= DupChars {
		return Decision{Action: Deduped, Reason: "duplicate", Of: at}, true
	}
	if n, ok := r.near[i]; ok {
		return Decision{Action: NearDuped, Reason: "near duplicate", Of: n.of, Like: n.like}, true
	}
	return Decision{}, false
}

// byShape is the decision that a text's shape leads to.
func byShape(s Shape) Decision {
	hard := s.hard()
	switch {
	case s.why&hasFence != 0 && s.prose() < proseToSplit:
		return keptBecause("code")
	case s.why&hasFence != 0 && hard&hasSecret != 0:
		return keptBecause("hard: " + hasSecret.String())
	case s.why&hasFence != 0:
		return Decision{Action: Split, Reason: "code", Of: -1}
	case hard != 0:
		return keptBecause("hard: " + hard.String())
	case s.why&isJSON != 0:
		return keptBecause("json")
	}
	return Decision{Action: Compressed, Reason: s.tier(), Of: -1}
}

func keptBecause(reason string) Decision { return Decision{Action: Preserved, Reason: reason, Of: -1} }
