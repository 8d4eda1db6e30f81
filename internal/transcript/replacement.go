package transcript

// Replacement gives the items of the new context that a boundary record carries with it (Boundary.Replaced): copies of
// what stands before, instructions, the summary. Their spans lie within the record. It is empty for any other record.
func Replacement(r *Record) []Item {
	if r.Boundary == nil || !r.Boundary.Replaced || !Valid(r.Raw) || r.client == nil || r.client.Replacement == nil {
		return nil
	}
	held := Record{client: r.client}
	r.client.Replacement(NewDecoder(Format{Client: r.client}, Main), &held, Node{r.Raw, r.Span.Off})
	return held.Items
}
