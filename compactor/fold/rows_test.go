package fold

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
)

func TestRowsAreSmall(t *testing.T) {
	if n := reflect.TypeFor[Row]().Size(); n > 40 {
		t.Errorf("an item's row takes %d bytes", n)
	}
	if n := reflect.TypeFor[recordRow]().Size(); n > 40 {
		t.Errorf("a record's row takes %d bytes", n)
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
