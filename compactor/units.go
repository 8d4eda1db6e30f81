package compactor

import "ccd/internal/transcript"

// unit is what is shown together: a call with its result, or an item of its own. It stands where its first item stands.
type unit struct {
	first  int32
	result int32 // of a call, -1 where there is none
}

// units gives the units of a record in order. Results whose call stands elsewhere belong to that, and items of inline
// sub-agents to none.
func (d *draft) units(rec int) []unit {
	from, to := d.c.items(rec)
	var all []unit
	for i := from; i < to; i++ {
		row := d.c.rows.at(i)
		if row.has(side) {
			continue
		}
		u := unit{first: int32(i), result: -1}
		switch row.kind {
		case transcript.Result:
			if row.pair >= 0 && d.row(row.pair).pair == u.first {
				continue
			}
		case transcript.Call:
			u.result = row.pair
		}
		all = append(all, u)
	}
	return all
}

// hidden reports whether items of this kind are never shown: they stand under their range.
func hidden(k transcript.Kind) bool {
	return k == transcript.Meta || k == transcript.Thinking || k == transcript.System || k == transcript.File
}
