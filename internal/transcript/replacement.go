package transcript

// Replacement returns the items of the new context in a boundary record (Boundary.Replaced): copies of earlier items,
// instructions, the summary. Their spans are inside the record. It is empty for other records.
func Replacement(r *Record) []Item {
	if r.Boundary == nil || !r.Boundary.Replaced || !Valid(r.Raw) || r.client == nil || r.client.Replacement == nil {
		return nil
	}
	held := Record{Span: r.Span, Marks: r.Marks, client: r.client, exact: r.exact}
	r.client.Replacement(NewDecoder(Format{Client: r.client}, Main), &held, Node{r.Raw, r.Span.Off})
	return held.Items
}
