package compactor

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// plainRecord is a record with so many items, none of which has text that is ever read.
func plainRecord(n int, off int64, items int) *transcript.Record {
	r := &transcript.Record{N: n + 1, Span: transcript.Span{Off: off, Len: 99}, Hash: mark.Sum(fmt.Append(nil, n)), Time: time.UnixMilli(1772600000000 + int64(n))}
	for i := range items {
		r.Items = append(r.Items, transcript.Item{Kind: transcript.Thinking, Raw: []byte(`"x"`), Span: transcript.Span{Off: off + int64(i)*4, Len: 3}})
	}
	return r
}

// TestPastRangesAreThose has every range that a companion may name, of a session whose first records are past, against
// those of one that keeps all.
func TestPastRangesAreThose(t *testing.T) {
	all := New(Defaults(), transcript.Session{})
	all.reach = 1 << 30
	some := New(Defaults(), transcript.Session{})
	some.reach = pastStep
	n := largest + largest/2 + 777
	for i := range n {
		r := plainRecord(i, int64(i)*100, i%3)
		all.Add(r)
		some.Add(r)
	}
	if all.records.from != 0 || some.records.from <= largest || some.records.from%pastStep != 0 {
		t.Fatalf("%d and %d records are past", all.records.from, some.records.from)
	}
	want, got := newDraft(all, nil), newDraft(some, nil)
	for _, to := range []int{block, 512, 4096, some.records.from - 4096, some.records.from, some.records.from + 64, n - 777, n} {
		for _, most := range []int{8, 40, 200} {
			for _, s := range want.stretches((to+block-1)/block*block, most) {
				s.to = min(s.to, n)
				a, b := want.rangeMarker(s), got.rangeMarker(s)
				if a != b {
					t.Fatalf("%v of %d: %s, want %s", s, to, b, a)
				}
			}
		}
	}
	for id, p := range want.known {
		if q := got.known[id]; q.Parts[0] != p.Parts[0] || q.Hash != p.Hash || !q.Time.Equal(p.Time) || q.Record != p.Record || q.Last != p.Last {
			t.Fatalf("the pointer %+v, want %+v", q, p)
		}
	}
	if a, b := want.zoneChars(n), got.zoneChars(n); a != b {
		t.Errorf("the zone has %d chars, want %d", b, a)
	}
	// What is no range of ours is answered by the next larger one that is.
	if h, s := some.rangeHash(stretch{100, 130}); s != (stretch{64, 128}) && s != (stretch{0, 512}) || h == (mark.Hash{}) {
		t.Errorf("an odd range is answered by %v", s)
	}
}

// TestPastStaysTold has sessions whose first records are past: what State tells of them is as if they were not, and
// what a companion names resolves.
func TestPastStaysTold(t *testing.T) {
	data := day(900).buf.Bytes()
	all := fold(t, data, Defaults())
	some := &folded{Compactor: New(Defaults(), transcript.Session{}), data: data}
	some.reach = pastStep
	for r := range transcript.NewDecoder("claude-code", transcript.Main).Records(transcript.Segment{Data: data, Rest: true}) {
		some.Add(r)
	}
	if some.records.from == 0 || all.records.from != 0 {
		t.Fatalf("%d and %d of %d records are past", some.records.from, all.records.from, some.records.n)
	}
	want, got := all.compact(t), some.compact(t)
	all.check(t, want)
	some.check(t, got)
	if a, b := want.section("State"), got.section("State"); a != b {
		t.Errorf("State is\n%s\nwant\n%s", firstDifference(b, a), firstDifference(a, b))
	}
	if some.Size() >= all.Size() {
		t.Errorf("%d bytes are held, %d without a past", some.Size(), all.Size())
	}
}

// firstDifference is the first line of a that differs from b's.
func firstDifference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range as {
		if i >= len(bs) || as[i] != bs[i] {
			return as[i]
		}
	}
	return ""
}

// TestPastIsNeverRead has rows that are gone asked for all the same, as by a table that forgot to name them.
func TestPastIsNeverRead(t *testing.T) {
	c := New(Defaults(), transcript.Session{})
	c.reach = pastStep
	off := int64(0)
	for i := range 3 * pastStep {
		c.Add(plainRecord(i, off, 1))
		off += 100
	}
	d := newDraft(c, func(s transcript.Span) ([]byte, error) { t.Errorf("%v was read", s); return make([]byte, s.Len), nil })
	row := d.row(1000)
	if !row.gone() || row.record() != 1000/block*block+1 {
		t.Errorf("a row that is gone says %+v", row)
	}
	if text := d.text(1000); text != "" {
		t.Errorf("its text is %q", text)
	}
	if id := d.id(1000); d.known[id].Record > 1001 || d.known[id].Last < 1001 {
		t.Errorf("its ID stands for %+v", d.known[id])
	}
	d.list([]int32{1000, 1001}, "list")
	if d.err != nil {
		t.Error(d.err)
	}
}

// TestHugeSessionsStaySmall has millions of short records: memory does not grow with them.
func TestHugeSessionsStaySmall(t *testing.T) {
	n := 600000
	if testing.Short() || raceEnabled {
		n = 300000
	}
	kinds := map[string]transcript.Kind{"remarks": transcript.Text, "messages": transcript.Human, "blank": 0}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.GC()
			runtime.ReadMemStats(&before)
			c := New(Defaults(), transcript.Session{})
			raw := []byte(`"go on"`)
			r := &transcript.Record{}
			if name != "blank" {
				r.Items = make([]transcript.Item, 1)
			}
			for i := range n {
				r.N, r.Span = i+1, transcript.Span{Off: int64(i) * 20, Len: 7}
				r.Hash[0], r.Hash[1], r.Hash[2] = byte(i), byte(i>>8), byte(i>>16)
				if name != "blank" {
					r.Items[0] = transcript.Item{Kind: kind, Raw: raw, Span: r.Span}
				}
				c.Add(r)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			held := int64(after.HeapAlloc) - int64(before.HeapAlloc)
			begin := time.Now()
			if _, err := c.Compaction(func(transcript.Span) ([]byte, error) { return raw, nil }); err != nil {
				t.Fatal(err)
			}
			took := time.Since(begin)
			t.Logf("%d records: %d KB of heap, Size says %d KB, compaction %v", n, held>>10, c.Size()>>10, took)
			if held > 16<<20 {
				t.Errorf("%d bytes are held", held)
			}
			if took > 5*time.Second && !raceEnabled {
				t.Errorf("a compaction took %v", took)
			}
		})
	}
}
