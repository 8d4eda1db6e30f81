package compactor

import (
	"fmt"
	"math/bits"

	"ccd/internal/transcript"
)

// talk is one item of the compression zone, or one message of a plain list, as the rules look at it.
type talk struct {
	role       string
	row        int32 // of a session; -1 in a plain list
	kind       transcript.Kind
	text       string         // may be left out where chars, key and shape are given: then no correction of it is looked for
	chars      int            // of the text; 0: counted
	key        uint64         // names the content, 0: hashed here; equal keys are equal contents
	shape      shape          // as shapeOfText gives it
	near       *nearSignature // nil: taken from the text
	references int            // later ones to what it names, where the text is left out
	recent     bool           // in the recent zone
	toolCall   bool           // holds tool calls
	plain      bool           // of a plain message list: a text that is a marker of ours is one
	importance float64
}

// action is what is to be done with an item.
type action uint8

// The actions. What is split keeps its fences and loses prose; what is compressed is merged with its neighbours of the
// same role and summarised.
const (
	preserved action = iota
	compressed
	deduped
	nearDuped
	split
	contradicted
)

var actionNames = [...]string{"preserved", "compressed", "deduped", "near-duped", "split", "contradicted"}

// String names the action.
func (a action) String() string { return actionNames[a] }

// decision is what the rules say of one item.
type decision struct {
	action action
	reason string
	of     int     // index of the newer copy, or of the correction; -1 where there is none
	like   float64 // of a near copy: how alike, 0..1
	signal signal  // of a correction: its kind
}

// decide applies the rules in their order to items in theirs: the first that holds decides. Texts of which only shape,
// chars and key are given are decided from these.
func decide(all []talk, o *Options) []decision {
	return (&rules{o: o, all: all, overlaps: overlaps{topic: topicOverlap, near: nearLike}}).decide()
}

// rules are the thirteen rules at work on one list.
type rules struct {
	o   *Options
	all []talk
	overlaps
	newest map[uint64]int     // index of the newest copy of each content
	near   map[int]nearCopy   // by index of the older text
	wrong  map[int]correction // by index of what is superseded
	right  map[int]bool       // corrections of those
}

type nearCopy struct {
	of   int
	like float64
}

func (r *rules) decide() []decision {
	r.measure()
	if r.o.Dedup {
		r.newest = map[uint64]int{}
		for i := range r.all {
			if r.all[i].chars >= dupChars {
				r.newest[r.all[i].key] = i
			}
		}
	}
	if r.o.NearDedup {
		r.findNear()
	}
	if r.o.Contradictions {
		r.wrong, r.right = superseded(r.all, &r.overlaps), map[int]bool{}
	}
	ds := make([]decision, len(r.all))
	for i := len(r.all) - 1; i >= 0; i-- {
		ds[i] = r.one(i)
		if ds[i].action == contradicted {
			r.right[ds[i].of] = true
		}
	}
	for by := range r.right {
		if ds[by].action == compressed || ds[by].action == split {
			ds[by] = keptBecause("correction")
		}
	}
	return ds
}

// measure fills in what a talk leaves to be learnt from its text.
func (r *rules) measure() {
	for i := range r.all {
		m := &r.all[i]
		if m.chars == 0 {
			m.chars = runes(m.text)
		}
		if m.key == 0 && m.chars >= dupChars {
			m.key = contentKey(m.text)
		}
		if m.shape == (shape{}) && m.chars >= shortText {
			m.shape = shapeOfText(m.text)
		}
	}
}

// contentKey names a content within one list, eight bytes at a time.
func contentKey(text string) uint64 {
	h := uint64(len(text)) * 0x9e3779b97f4a7c15
	for ; len(text) >= 8; text = text[8:] {
		hi, lo := bits.Mul64(h^eight(text), 0xa0761d6478bd642f)
		h = hi ^ lo + 0xe7037ed1a0b428db
	}
	return max(1, hashOf(text)^h*1099511628211)
}

// findNear looks for near copies, newest texts first; exact ones are no matter of its.
func (r *rules) findNear() {
	r.near = map[int]nearCopy{}
	f := newNearFinder(r.all, r.overlaps.near)
	for i := len(r.all) - 1; i >= 0; i-- {
		if at, ok := r.newest[r.all[i].key]; r.all[i].chars < dupChars || ok && at > i {
			continue
		}
		if of, like := f.find(i); of >= 0 {
			r.near[i] = nearCopy{of, like}
		}
	}
}

// one is the decision on the item at i.
func (r *rules) one(i int) decision {
	m := &r.all[i]
	switch {
	case m.role == "system" || m.kind == transcript.System:
		return keptBecause("role")
	case m.recent:
		return keptBecause("recent")
	case m.toolCall:
		return keptBecause("tool call")
	case m.kind == transcript.Human:
		return keptBecause("human")
	case m.chars < shortText:
		return keptBecause("short")
	case m.plain && m.shape.why&isMarker != 0:
		return keptBecause("marker")
	case r.o.KeepImportance > 0 && m.importance >= r.o.KeepImportance:
		return keptBecause(fmt.Sprintf("importance %.2f", m.importance))
	}
	if d, ok := r.copyOf(i); ok {
		return d
	}
	if c, ok := r.wrong[i]; ok {
		return decision{action: contradicted, reason: c.signal.String(), of: c.by, signal: c.signal}
	}
	return byShape(m.shape)
}

// copyOf is the decision on an item of which there is a newer copy, or one that is nearly one.
func (r *rules) copyOf(i int) (decision, bool) {
	if at, ok := r.newest[r.all[i].key]; ok && at > i && r.all[i].chars >= dupChars {
		return decision{action: deduped, reason: "duplicate", of: at}, true
	}
	if n, ok := r.near[i]; ok {
		return decision{action: nearDuped, reason: "near duplicate", of: n.of, like: n.like}, true
	}
	return decision{}, false
}

// byShape is the decision that a text's shape leads to.
func byShape(s shape) decision {
	hard := s.hard()
	switch {
	case s.why&hasFence != 0 && s.prose() < proseToSplit:
		return keptBecause("code")
	case s.why&hasFence != 0 && hard&hasSecret != 0:
		return keptBecause("hard: " + hasSecret.String())
	case s.why&hasFence != 0:
		return decision{action: split, reason: "code", of: -1}
	case hard != 0:
		return keptBecause("hard: " + hard.String())
	case s.why&isJSON != 0:
		return keptBecause("json")
	}
	return decision{action: compressed, reason: "prose", of: -1}
}

func keptBecause(reason string) decision { return decision{action: preserved, reason: reason, of: -1} }

// runsOf gives the runs of consecutive items of one role that are compressed, as first index and index behind the last:
// they are merged, and summarised as one. All that is kept, split or replaced otherwise breaks a run.
func runsOf(all []talk, ds []decision) [][2]int {
	var runs [][2]int
	for i := 0; i < len(all); i++ {
		if ds[i].action != compressed {
			continue
		}
		from := i
		for i+1 < len(all) && ds[i+1].action == compressed && all[i+1].role == all[from].role {
			i++
		}
		runs = append(runs, [2]int{from, i + 1})
	}
	return runs
}
