package archive

import (
	"context"
	"errors"
	"testing"

	"ccd/internal/transcript"
)

// What is not damaged is given, in its place, and what is damaged is told: together they are the whole.
func TestSoundGoesPastDamage(t *testing.T) {
	ro := newRotten(t)
	gaps, rests := 0, 0
	look := func(at int64) {
		a := openAt(t, ro.path, Options{ReadOnly: true})
		for i, want := range ro.data {
			next := int64(0)
			for seg, err := range a.Reader(session("r"+string(rune('0'+i))).Key, 1).SegmentsPastDamage(context.Background()) {
				if err != nil && !errors.As(err, new(*DamageError)) {
					t.Fatalf("a flipped bit at %d: %v", at, err)
				}
				if err != nil && seg.End.Offset == 0 {
					break // nothing is known of this generation
				}
				if seg.Start.Offset != next || err == nil && string(seg.Data) != string(want[next:seg.End.Offset]) {
					t.Fatalf("a flipped bit at %d: from %d to %d, want the bytes from %d on", at, seg.Start.Offset, seg.End.Offset, next)
				}
				if next = seg.End.Offset; err != nil {
					gaps++
				} else if gaps > 0 && len(seg.Data) > 0 {
					rests++
				}
				if next == int64(len(want)) && seg.Rest {
					break
				}
			}
		}
	}
	for n := flipCount() / 4; (gaps == 0 || rests == 0) && n < 1000; n *= 2 { // few flips may all miss what is stored
		ro.flips(t, n, look)
	}
	if gaps == 0 || rests == 0 {
		t.Errorf("%d gaps and %d sound segments behind one: the test sees nothing", gaps, rests)
	}
}

func TestPublished(t *testing.T) {
	ro := newRotten(t)
	a := openAt(t, ro.path, Options{})
	got, err := a.Pointers(context.Background(), session("r0").Key, 1)
	if err != nil || len(got) != len(ro.pointers) {
		t.Errorf("%d pointers, %v; want %d", len(got), err, len(ro.pointers))
	}
	for _, k := range []transcript.Key{session("r1").Key, session("none").Key} {
		if got, err := a.Pointers(context.Background(), k, 1); err != nil || len(got) != 0 {
			t.Errorf("of %v: %v, %v", k, got, err)
		}
	}
}
