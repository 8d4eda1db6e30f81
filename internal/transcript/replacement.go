package transcript

// Replacement gives the items of the new context that a boundary record carries with it (Boundary.Replaced): copies of
// what stands before, instructions, the summary. Their spans lie within the record. It is empty for any other record.
func Replacement(r *Record) []Item {
	if r.Boundary == nil || !r.Boundary.Replaced || !valid(r.Raw) {
		return nil
	}
	var held Record
	d := NewDecoder("codex", Main)
	history := node{r.Raw, r.Span.Off}.field("payload").field("replacement_history")
	for item := range history.elements() {
		p := readCodexItem(item)
		d.codexItem(&held, &p)
	}
	return held.Items
}
