package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/view"
	"ccd/internal/words"
)

// mostLines is how many facts of a class a page lists.
const mostLines = 500

// compactionData is the page of one compaction.
type compactionData struct {
	head
	dropped.Report
	Unused bool // ccd could act at the compaction and is not set up to
}

func compactionPage(ctx context.Context, r *request) (answer, error) {
	n, err := strconv.Atoi(cmp.Or(r.PathValue("n"), "0")) // without a number, the last one
	if err != nil || n < 0 {
		return answer{}, none(inline(r.PathValue("n")) + " is not the number of a compaction.")
	}
	var d compactionData
	err = r.cache.use(ctx, r.library, r.entry, func(one *view.Index) error {
		f, err := one.Forgotten(ctx, dropped.Choice{Boundary: n, Most: mostLines})
		if errors.As(err, new(*dropped.NoneError)) {
			return none(fmt.Sprintf("This session has %s.", words.Count(len(one.Compactions), "compaction")))
		}
		if err != nil {
			return err
		}
		d = newCompaction(r.head("compactions"), f)
		d.Unused = d.Unused && r.Unused(r.entry.Agent)
		return nil
	})
	return answer{template: "compaction", data: d}, err
}

// newCompaction shows what was dropped, and what was kept. That ccd is set up, it does not say.
func newCompaction(h head, f *dropped.Report) compactionData {
	d := compactionData{head: h, Report: *f, Unused: !f.ByCCD}
	d.Own = clip(f.Own)
	return d
}

// clip bounds a text on a page.
func clip(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), view.MaxShown)], "")
}
