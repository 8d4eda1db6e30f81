package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/view"
	"ccd/internal/words"
)

// mostLines is how many dropped facts of a class a page lists.
const mostLines = 500

// compactionData is the page of one compaction.
type compactionData struct {
	head
	dropped.Report
	Unused bool          // ccd could act at the compaction and is not set up to
	Turns  []reader.Turn // the requests that were in the context
	Hidden int
}

func compactionPage(ctx context.Context, r *request) (answer, error) {
	n, err := strconv.Atoi(cmp.Or(r.PathValue("n"), "0")) // without a number, the last one
	if err != nil || n < 0 {
		return answer{}, none(inline(r.PathValue("n")) + " is not the number of a compaction.")
	}
	var d compactionData
	err = r.shelf.use(ctx, r.library, r.entry, func(one *view.Index) error {
		f, err := one.Forgotten(ctx, dropped.Choice{Boundary: n})
		if errors.As(err, new(*dropped.NoneError)) {
			return none(fmt.Sprintf("This session has %s.", words.Count(len(one.Compactions), "compaction")))
		}
		if err != nil {
			return err
		}
		d = newCompaction(r.head("compactions"), one, f)
		d.Unused = d.Unused && r.Unused(r.entry.Agent)
		return nil
	})
	return answer{template: "compaction", data: d}, err
}

// newCompaction shows what was dropped, and the requests after the compaction before this one. That ccd is set up, it does not say.
func newCompaction(h head, one *view.Index, f *dropped.Report) compactionData {
	d, from := compactionData{head: h, Report: *f, Unused: !f.ByCCD}, 0
	d.Own, d.Classes = clip(f.Own), ledgerOf(f.Classes)
	for _, k := range one.Compactions {
		if k.Record < d.Record {
			from = k.Record
		}
	}
	for _, t := range one.Turns {
		if t.Last >= from && t.Record < d.Record {
			d.Turns = append(d.Turns, t)
		}
	}
	if more := len(d.Turns) - maxChoices; more > 0 { // the newest are what the agent needed next
		d.Turns, d.Hidden = d.Turns[more:], more
	}
	return d
}

// ledgerOf returns the classes with dropped facts, of each the newest, in the order of their records.
func ledgerOf(all []dropped.List) (out []dropped.List) {
	for _, one := range all {
		if one.List = slices.Clone(one.List[:min(len(one.List), mostLines)]); one.Dropped > 0 {
			slices.Reverse(one.List)
			one.More = one.Dropped - len(one.List)
			out = append(out, one)
		}
	}
	return out
}

// clip bounds a text on a page.
func clip(text string) string {
	if len(text) > view.MaxShown {
		return strings.ToValidUTF8(text[:view.MaxShown], "")
	}
	return text
}
