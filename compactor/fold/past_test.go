package fold

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"ccd/compactor/limits"
	"ccd/internal/mark"
	"ccd/internal/testkit"
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

// TestPastRangesAreThose has ranges of a session whose first records are past, against those of one that keeps all.
func TestPastRangesAreThose(t *testing.T) {
	testkit.Long(t, "every size of range over a past")
	all := New(limits.Defaults(), transcript.Session{})
	all.reach = 1 << 30
	some := New(limits.Defaults(), transcript.Session{})
	some.reach = pastStep
	n := largest + largest/2 + 777
	for i := range n {
		r := plainRecord(i, int64(i)*100, i%3)
		all.Add(r)
		some.Add(r)
	}
	here, _ := some.Records()
	if from, _ := all.Records(); from != 0 || here <= largest || here%pastStep != 0 {
		t.Fatalf("%d and %d records are past", from, here)
	}
	for size := block; size <= largest; size *= blockRatio {
		for _, from := range []int{0, size, here/size*size - size, here / size * size, (n - 1) / size * size} {
			if from < 0 || from >= n {
				continue
			}
			to := min(from+size, n)
			h, a, b := some.Range(from, to)
			if want, _, _ := all.Range(from, to); h != want || a != from || b != to {
				t.Errorf("[%d, %d) is answered by [%d, %d), %s, want %s", from, to, a, b, h.ID(), want.ID())
			}
		}
	}
	// What is no range of ours is answered by the next larger one that is.
	if h, from, to := some.Range(100, 130); (from != 64 || to != 128) && (from != 0 || to != 512) || h == (mark.Hash{}) {
		t.Errorf("an odd range is answered by [%d, %d)", from, to)
	}
	var chars int64
	for i := range some.rows.from {
		chars += int64(all.Row(int32(i)).Chars)
	}
	if got := some.PastChars(); got != chars {
		t.Errorf("%d chars are past, want %d", got, chars)
	}
	if row := some.Row(1000); !row.Gone() || row.Record()%block != 1 {
		t.Errorf("a row that is gone says %+v", row)
	}
	if from, to := some.Items(500); from != to || !some.HasItems(500) {
		t.Errorf("a record that is gone has the items [%d, %d)", from, to)
	}
	if some.Size() >= all.Size() {
		t.Errorf("%d bytes are held, %d without a past", some.Size(), all.Size())
	}
}

// TestHugeSessionsStaySmall has millions of short records: memory does not grow with them.
func TestHugeSessionsStaySmall(t *testing.T) {
	n := testkit.Cases(t, 60000, 300000)
	kinds := map[string]transcript.Kind{"remarks": transcript.Text, "messages": transcript.Human, "blank": 0}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.GC()
			runtime.ReadMemStats(&before)
			f := New(limits.Defaults(), transcript.Session{})
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
				f.Add(r)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			held := int64(after.HeapAlloc) - int64(before.HeapAlloc)
			t.Logf("%d records: %d KB of heap, Size says %d KB", n, held>>10, f.Size()>>10)
			if held > 16<<20 {
				t.Errorf("%d bytes are held", held)
			}
		})
	}
}
