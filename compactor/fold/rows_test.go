package fold

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

func TestRowsAreSmall(t *testing.T) {
	if n := reflect.TypeFor[Row]().Size(); n > 40 {
		t.Errorf("an item's row takes %d bytes", n)
	}
	if n := reflect.TypeFor[recordRow]().Size(); n > 24 {
		t.Errorf("a record's row takes %d bytes", n)
	}
}

// TestRecordRowsTellPlaces has records that fit into their rows and such that do not.
func TestRecordRowsTellPlaces(t *testing.T) {
	var rs recordRows
	var want []place
	var times []time.Time
	add := func(off, size int64, first int, at time.Time) {
		r := transcript.Record{Span: transcript.Span{Off: off, Len: size}, Hash: mark.Sum(fmt.Append(nil, off)), Time: at}
		if got := rs.add(&r, first); got != len(want) {
			t.Fatalf("record %d is number %d", len(want), got)
		}
		want, times = append(want, place{r.Span, first}), append(times, at.UTC())
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	off, first := int64(0), 0
	for i := range 3 * chunk {
		size, items := int64(100+i), 1
		switch i {
		case 10:
			size = math.MaxUint32 // a line whose length does not fit
		case 20:
			items = math.MaxUint16 // what follows is too far from the chunk's first item
		case chunk + 1:
			size = 1 << 33 // what follows is too far from the chunk's begin
		}
		add(off, size, first, at.Add(time.Duration(i)*time.Hour))
		off, first = off+size+1, first+items
	}
	add(off, 5, first, time.Time{})
	add(off+6, 5, first, time.UnixMilli(-1))
	add(off+12, 5, first, time.Date(1700, 1, 1, 0, 0, 0, 0, time.UTC))
	for i := range want {
		if got := rs.place(i); got != want[i] {
			t.Fatalf("record %d stands at %+v, want %+v", i, got, want[i])
		}
		if got := rs.at(i).time(); !got.Equal(times[i]) {
			t.Fatalf("record %d has the time %v, want %v", i, got, times[i])
		}
	}
	if len(rs.wide) == 0 || len(rs.wide) > 2*chunk {
		t.Errorf("%d records are kept whole", len(rs.wide))
	}
	far := recordRow{}
	far.setTime(time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC))
	if y := far.time().Year(); y < 6000 {
		t.Errorf("a time that no row holds reads as of the year %d", y)
	}
}

func TestSmallNumbers(t *testing.T) {
	for _, n := range []int64{0, 1, 255, 256, 1<<16 - 1, 1 << 16, transcript.MaxLine} {
		if got := uint24Of(n).int(); got != n {
			t.Errorf("%d reads as %d", n, got)
		}
	}
	if got := uint24Of(1 << 30).int(); got != 1<<24-1 {
		t.Errorf("a number too large reads as %d", got)
	}
}

// TestPreserved has contexts with more records than are remembered by name: the newest are found, and what one boundary
// preserved the next one may again.
func TestPreserved(t *testing.T) {
	h := held{last: make([]int64, 5)}
	uuid := func(i int) string { return fmt.Sprintf("u-%d", i) }
	n := 5 * maxNamed
	for i := range n {
		h.name(uuid(i), i)
	}
	if len(h.named) > 2*maxNamed {
		t.Errorf("%d are remembered", len(h.named))
	}
	want := []uint32{uint32(n - maxNamed), uint32(n - 7), uint32(n - 2)}
	got := h.find(n-1, []string{uuid(n - 2), uuid(n - maxNamed), uuid(n - 7), uuid(n - 1), uuid(0), "never"})
	if !slices.Equal(got, want) {
		t.Fatalf("found %v, want %v", got, want)
	}
	h.forget(n-1, got)
	h.name("", n)
	h.name(uuid(n+1), n+1)
	if got := h.find(n+2, []string{uuid(n - 7), uuid(n - 3), uuid(n - 1), uuid(n + 1)}); !slices.Equal(got, []uint32{uint32(n - 7), uint32(n - 1), uint32(n + 1)}) {
		t.Errorf("the next boundary finds %v", got)
	}
}
