package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/view"
	"ccd/internal/testkit"
)

// TestPagesOfRealSessions: whatever page is asked for, its entries are those of one page of the whole session; a life that
// grew in pieces is that of one pass; turns and IDs are those of timeline and restore.
func TestPagesOfRealSessions(t *testing.T) {
	home := t.TempDir()
	layOut(t, home, 1)
	command(t, home, "run", "--once", "-q")
	ctx := t.Context()
	p, err := account.Env{Vars: homeEnv(home)}.Place(true)
	must(t, err)
	l, err := reader.Open(p, false)
	must(t, err)
	must(t, l.Load(ctx))
	pages, entries := 0, 0
	for _, e := range l.Sessions {
		if e.Class != 0 || len(e.Generations) == 0 {
			continue
		}
		life, part, pieces := view.Index{}, *e, view.Index{}
		must(t, life.Grow(ctx, l, e))
		part.Generations = slices.Clone(e.Generations)
		tip := &part.Generations[len(part.Generations)-1].Tip
		for tip.Offset = 1; tip.Offset < e.Tip().Offset; tip.Offset += 1 + e.Tip().Offset/3 {
			must(t, pieces.Grow(ctx, l, &part))
			_, err := pieces.State(ctx)
			must(t, err)
		}
		must(t, pieces.Grow(ctx, l, e))
		state, err := pieces.State(ctx)
		must(t, err)
		whole, err := life.State(ctx)
		must(t, err)
		if state != whole || !reflect.DeepEqual(pieces.Turns, life.Turns) || !reflect.DeepEqual(pieces.Compactions, life.Compactions) || !reflect.DeepEqual(pieces.Files(), life.Files()) {
			t.Errorf("%s: grown in pieces, it differs", e.ID)
		}
		all, _, err := life.Page(ctx, 1, 1<<30)
		must(t, err)
		entries += len(all)
		for from := 1; from <= life.Records; from += max(1, life.Records/5) {
			for _, n := range []int{1, 20, -1, -20} {
				got, _, err := life.Page(ctx, from, n)
				must(t, err)
				if want := pageOf(all, from, n); !reflect.DeepEqual(got, want) && len(got)+len(want) > 0 {
					t.Errorf("%s: page of %d from #%d:\n%+v\nwant\n%+v", e.ID, n, from, got, want)
				}
				pages++
			}
		}
		end, err := view.End(ctx, l, e)
		must(t, err)
		last, _, err := end.Page(ctx, end.Records, -5)
		must(t, err)
		for i, want := range pageOf(all, life.Records, -5) {
			if got := last[i]; got.ID != want.ID || got.Text != want.Text {
				t.Errorf("%s: at the end is %s %q, want %s %q", e.ID, got.ID, got.Text, want.ID, want.Text)
			}
		}
		var turns []struct{ Record, Last, Failed int }
		must(t, json.Unmarshal(command(t, home, "timeline", "--json", "--agent", e.Agent, "--", e.ID), &turns))
		if len(turns) != len(life.Turns) {
			t.Errorf("%s: %d turns, timeline has %d", e.ID, len(life.Turns), len(turns))
			continue
		}
		for i, want := range turns {
			if got := life.Turns[i]; got.Record != want.Record || got.Last != want.Last || got.Failed != want.Failed || got.N != i+1 || life.TurnOf(want.Last) != i {
				t.Errorf("%s: turn %+v, timeline has %+v", e.ID, got, want)
			}
		}
		for i := 0; i < len(all); i += max(1, len(all)/4) {
			one := all[i]
			f, err := l.Original(ctx, reader.Wanted{Name: string(one.ID), In: e}, nil)
			must(t, err)
			var exact bytes.Buffer
			must(t, f.Exact().Write(ctx, &exact))
			o, err := view.Show(ctx, f)
			if err != nil || len(o.SHA256) != 64 || o.ID != one.ID || o.Secrets == "" && o.MediaType == "" && exact.String() != o.Text {
				t.Errorf("%s #%d %s: %+v, %v; the record is %q", e.ID, one.Record, one.Kind, o, err, exact.String())
			}
		}
	}
	if pages == 0 || testkit.Full() && (pages < 500 || entries < 1000) {
		t.Errorf("only %d pages of %d entries were compared", pages, entries)
	}
}

// pageOf is what Page promises, of all entries. Calls are completed by results, so only those are compared that a page can
// complete: the entries themselves are the same.
func pageOf(all []view.Entry, record, n int) []view.Entry {
	if n > 0 {
		all = slices.DeleteFunc(slices.Clone(all), func(e view.Entry) bool { return e.Record < record })
		return all[:min(n, len(all))]
	}
	all = slices.DeleteFunc(slices.Clone(all), func(e view.Entry) bool { return e.Record > record })
	return all[max(0, len(all)+n):]
}
