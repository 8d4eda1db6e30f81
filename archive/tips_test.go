package archive

import (
	"fmt"
	"os"
	"testing"
)

// The tips are rewritten when they have doubled, and not before, also if their size is just below a power of two, as here.
func TestTipsAreRarelyRewritten(t *testing.T) {
	t.Parallel()
	a, text := open(t), talk(70, 100<<10)
	grow := func(sessions int, from, to int64) os.FileInfo {
		var all []Addition
		for n := range sessions {
			s := session(fmt.Sprintf("%08d-0000-4000-8000-000000000000", n))
			all = append(all, Addition{s, segment(1, from, text[from:to])})
		}
		_, err := a.Save(t.Context(), all, nil)
		must(t, err)
		tips, err := os.Stat(tipsPath(a.Path()))
		must(t, err)
		return tips
	}
	first := grow(2220, 0, 300)
	for n := range int64(20) {
		if now := grow(1, 300+n, 301+n); !os.SameFile(first, now) || now.Size() == first.Size() {
			t.Fatalf("append %d: the tips are rewritten, or nothing is noted: %d bytes, then %d", n, first.Size(), now.Size())
		}
	}
	grow(2220, 300, 340) // all but the first session, which is at 320
	if now := grow(1, 320, 321); os.SameFile(first, now) || now.Size() > first.Size()+100 {
		t.Errorf("the tips have doubled and are not rewritten: %d bytes, then %d", first.Size(), now.Size())
	}
	if _, ends := a.readTips(); len(ends) != 2220 || ends[generationOf{session("00000000-0000-4000-8000-000000000000").Key, 1}] != 321 {
		t.Errorf("%d tips are read", len(ends))
	}
}
