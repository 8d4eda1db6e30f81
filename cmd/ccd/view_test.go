package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/view"
	"ccd/internal/testkit"
)

// libraryIn loads the archive of a home.
func libraryIn(t *testing.T, home string) *reader.Library {
	t.Helper()
	p, err := account.Env{Vars: []string{"HOME=" + home, "USERPROFILE=" + home}}.Place(true)
	must(t, err)
	l, err := reader.Open(p, false)
	must(t, err)
	must(t, l.Load(context.Background()))
	return l
}

func lifeOf(t *testing.T, l *reader.Library, e *reader.Entry) *view.Index {
	t.Helper()
	life := &view.Index{}
	must(t, life.Grow(context.Background(), l, e))
	return life
}

// ledgerHome is a home with the invented session of testdata, which its agent has compacted, archived.
func ledgerHome(t *testing.T) (home, id string) {
	t.Helper()
	home, id = t.TempDir(), "5d2f7a1e-90c4-4a1b-8a53-0c1d2e3f4a5b"
	var all []byte
	for _, name := range []string{"ledger.jsonl", "compaction.jsonl"} {
		b := read(t, filepath.Join("story", name))
		all = append(all, b...)
	}
	path := filepath.Join(home, ".claude", "projects", "-home-me-ledger", id+".jsonl")
	put(t, path, string(all))
	command(t, home, "run", "--once", "-q")
	return home, id
}

// TestPagesOfRealSessions: whatever page is asked for, its entries are those of one page of the whole session; a life that
// grew in pieces is that of one pass; turns and IDs are those of timeline and restore.
func TestPagesOfRealSessions(t *testing.T) {
	home := t.TempDir()
	layOut(t, home, 1)
	command(t, home, "run", "--once", "-q")
	l := libraryIn(t, home)
	ctx := context.Background()
	pages, entries := 0, 0
	for _, e := range l.Sessions {
		if e.Class != 0 || len(e.Generations) == 0 {
			continue
		}
		life, part, pieces := lifeOf(t, l, e), *e, view.Index{}
		part.Generations = slices.Clone(e.Generations)
		tip := &part.Generations[len(part.Generations)-1].Tip
		for tip.Offset = 1; tip.Offset < e.Tip().Offset; tip.Offset += 1 + e.Tip().Offset/3 {
			must(t, pieces.Grow(ctx, l, &part))
		}
		must(t, pieces.Grow(ctx, l, e))
		if !reflect.DeepEqual(pieces.Turns, life.Turns) || !reflect.DeepEqual(pieces.Compactions, life.Compactions) || !reflect.DeepEqual(pieces.Files(), life.Files()) ||
			!reflect.DeepEqual(pieces.Commands(), life.Commands()) {
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
					t.Errorf("%s: page of %d from #%d:\n%s\nwant\n%s", e.ID, n, from, jsonOf(got), jsonOf(want))
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
		for _, one := range sample(all, 4) {
			f, err := life.Original(ctx, one.Record, one.ID)
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

func sample(all []view.Entry, n int) (some []view.Entry) {
	for i := 0; i < len(all); i += max(1, len(all)/n) {
		some = append(some, all[i])
	}
	return some
}

func jsonOf(v any) string {
	b, _ := json.MarshalIndent(v, "", " ")
	return string(b)
}

// TestDroppedOnAPage: the ledger has what ccd diff lists, and each of its lines is restorable and, where it claims so, told.
func TestDroppedOnAPage(t *testing.T) {
	home, id := ledgerHome(t)
	l := libraryIn(t, home)
	e, err := l.Find(id, "")
	must(t, err)
	life := lifeOf(t, l, e)
	if len(life.Compactions) != 1 || life.Compactions[0].Before != 33256 || life.Compactions[0].Trigger != "manual" {
		t.Errorf("compactions: %+v", life.Compactions)
	}
	got, err := life.Forgotten(context.Background(), dropped.Choice{Boundary: life.Compactions[0].N})
	must(t, err)
	var want struct {
		Dropped int
		Record  int
	}
	must(t, json.Unmarshal(command(t, home, "diff", "--json", "--all", id), &want))
	if got.Dropped != want.Dropped || got.Record != want.Record || want.Dropped == 0 {
		t.Errorf("%d dropped at #%d; diff has %+v", got.Dropped, got.Record, want)
	}
	if !strings.Contains(got.Own, "Primary Request and Intent") || !strings.Contains(got.Told, "integer cents") {
		t.Errorf("own summary %.200q, told %.200q", got.Own, got.Told)
	}
	if got.InTold == 0 {
		t.Errorf("of %d lines none is told", got.Dropped)
	}
	for _, class := range got.Classes {
		for _, line := range class.List {
			if _, err := l.Original(context.Background(), reader.Wanted{Name: string(line.ID)}, nil); err != nil {
				t.Errorf("%s #%d: %v", class.Class, line.Record, err)
			}
		}
	}
}

// TestVersionsOfAFile: each version is what ccd restore --file prints at its time.
func TestVersionsOfAFile(t *testing.T) {
	home, id := t.TempDir(), "0a1b2c3d-0000-4000-8000-000000000002"
	var b bytes.Buffer
	n := 0
	call := func(tool, input string) {
		n++
		fmt.Fprintf(&b, `{"type":"assistant","uuid":"a%d","cwd":"/w","timestamp":"2026-11-20T09:%02d:00Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":%q,"input":%s}]}}`+"\n", n, n, n, tool, input)
		fmt.Fprintf(&b, `{"type":"user","uuid":"r%d","cwd":"/w","timestamp":"2026-11-20T09:%02d:30Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"done"}]}}`+"\n", n, n, n)
	}
	call("Write", `{"file_path":"/w/src/mill.go","content":"one\ntwo\nthree\n"}`)
	call("Edit", `{"file_path":"/w/src/mill.go","old_string":"two","new_string":"2"}`)
	call("Write", `{"file_path":"/w/other.go","content":"other"}`)
	call("Edit", `{"file_path":"/w/src/mill.go","old_string":"three\n","new_string":""}`)
	call("Bash", `{"command":"rm src/mill.go"}`)
	path := filepath.Join(home, ".claude", "projects", "-w", id+".jsonl")
	put(t, path, b.String())
	command(t, home, "run", "--once", "-q")
	l := libraryIn(t, home)
	e, err := l.Find(id, "")
	must(t, err)
	whole, all, err := l.Changes(context.Background(), e, "mill.go")
	must(t, err)
	if whole != "/w/src/mill.go" || len(all) != 4 {
		t.Fatalf("%s: %s", whole, jsonOf(all))
	}
	for i, want := range []struct{ text, how string }{
		{"one\ntwo\nthree\n", "written"}, {"one\n2\nthree\n", "edited"}, {"one\n2\n", "edited"}, {"", "deleted"},
	} {
		v := all[i]
		if v.Text != want.text || v.How != want.how || !v.Known {
			t.Errorf("version %d: %s", i, jsonOf(v))
		}
		if at := v.Time.Format(time.RFC3339Nano); i < 3 && string(command(t, home, "restore", "--file", "mill.go", "--at", at, id)) != v.Text {
			t.Errorf("version %d differs from restore --file --at %s", i, at)
		}
	}
	life := lifeOf(t, l, e)
	if files := life.Files(); len(files) != 2 || files[0].Path != whole || files[0].Edits != 4 || files[0].Change != "deleted" {
		t.Errorf("files: %s", jsonOf(files))
	}
}

// TestPagesHideSecrets: no part of a secret is on a page, in an original or in a file, the numbers are those of the session,
// and only Exact has them.
func TestPagesHideSecrets(t *testing.T) {
	home := t.TempDir()
	secret, other := "AKIA"+"Z7QX4MB2NTRP5WLK", "AKIA"+"K3VD6HJ5QYWM2XRN"
	var b bytes.Buffer
	line := func(kind, text string) {
		fmt.Fprintf(&b, `{"type":%q,"uuid":"u%d","cwd":"/w","timestamp":"2026-11-20T09:00:00Z","message":{"role":%q,"content":%q}}`+"\n", kind, b.Len(), kind, text)
	}
	line("user", "deploy with "+secret)
	for range 200 { // other chunks
		line("assistant", "still at work")
	}
	line("assistant", "now with "+other+" and "+secret)
	id := "0a1b2c3d-0000-4000-8000-000000000001"
	path := filepath.Join(home, ".claude", "projects", "-w", id+".jsonl")
	put(t, path, b.String())
	command(t, home, "run", "--once", "-q")
	l := libraryIn(t, home)
	e, err := l.Find(id, "")
	must(t, err)
	life := lifeOf(t, l, e)
	last, _, err := life.Page(context.Background(), life.Records, -1)
	must(t, err)
	if len(last) != 1 || last[0].Text != "now with [redacted aws-key 2] and [redacted aws-key 1]" {
		t.Errorf("last entry: %s", jsonOf(last))
	}
	f, err := l.Original(context.Background(), reader.Wanted{Name: string(last[0].ID)}, nil)
	must(t, err)
	o, err := view.Show(context.Background(), f)
	must(t, err)
	if text := jsonOf(life.Turns) + jsonOf(o); strings.Contains(text, secret[4:]) || strings.Contains(text, other[4:]) || o.Secrets == "" {
		t.Errorf("a secret is shown: %s", text)
	}
	var exact bytes.Buffer
	must(t, f.Exact().Write(context.Background(), &exact))
	if !strings.Contains(exact.String(), secret) || !strings.Contains(exact.String(), other) {
		t.Errorf("exact: %q", exact.String())
	}
}
