package archive

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ccd/internal/transcript"
)

// backwards joins what Backward gives, and checks that the segments meet and begin at line starts.
func backwards(t *testing.T, r *Reader, end int64) (text []byte, lines int) {
	t.Helper()
	next := end
	var parts [][]byte
	for seg, err := range r.Backward(context.Background(), end) {
		if err != nil {
			t.Fatal(err)
		}
		if seg.End.Offset != next {
			t.Fatalf("a segment ends at %d, the one behind it begins at %d", seg.End.Offset, next)
		}
		next = seg.Start.Offset
		data := bytes.Clone(seg.Data)
		if data == nil {
			data = bytes.Repeat([]byte("L"), int(seg.End.Offset-seg.Start.Offset))
		}
		parts = append(parts, data)
		if next > 0 {
			lines++
		}
	}
	if next != 0 {
		t.Fatalf("nothing is given before %d", next)
	}
	slices.Reverse(parts)
	return bytes.Join(parts, nil), lines
}

func TestBackwardGivesWhatSegmentsGives(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	long := strings.Repeat("0123456789", 700_000) // over several blocks, and no cut in it
	for name, data := range map[string][]byte{
		"lines":        talk(1, 6<<20),
		"no last end":  append(talk(2, 3<<20), "the end"...),
		"short":        []byte("a\n"),
		"blank":        bytes.Repeat([]byte("\n"), 3<<20),
		"a long line":  append(append(talk(3, 1<<20), long...), append([]byte("\n"), talk(4, 1<<20)...)...),
		"only a line":  []byte(long),
		"long at last": append(talk(5, 1<<20), long...),
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t)
			s := session("s")
			fill(t, a, s, 1, data, func() int { return 1 + rng.IntN(900_000) })
			for _, end := range []int{len(data), bytes.LastIndexByte(data[:len(data)-1], '\n') + 1, 0} {
				got, _ := backwards(t, a.Reader(s.Key, 1), int64(end))
				if !bytes.Equal(got, data[:end]) {
					t.Errorf("to %d: %d bytes, not those", end, len(got))
				}
			}
		})
	}
}

func TestBackwardGivesWholeLines(t *testing.T) {
	a := open(t)
	s := session("s")
	data := talk(7, 5<<20)
	fill(t, a, s, 1, data, func() int { return 333_333 })
	segments := 0
	for seg, err := range a.Reader(s.Key, 0).Backward(context.Background(), int64(len(data))) {
		if err != nil {
			t.Fatal(err)
		}
		segments++
		if at := seg.Start.Offset; at > 0 && data[at-1] != '\n' {
			t.Errorf("a segment begins at %d, within a line", at)
		}
		if len(seg.Data) > 4<<20 {
			t.Errorf("a segment of %d bytes", len(seg.Data))
		}
	}
	if segments < 3 {
		t.Errorf("%d segments: the test sees nothing", segments)
	}
}

func TestBackwardPassesALineThatIsTooLong(t *testing.T) {
	a := open(t)
	s := session("s")
	head, tail := talk(8, 1<<20), talk(9, 1<<20)
	long := append(bytes.Repeat([]byte("L"), transcript.MaxLine+3<<20), '\n')
	data := slices.Concat(head, long, tail)
	fill(t, a, s, 1, data, whole)
	got, _ := backwards(t, a.Reader(s.Key, 1), int64(len(data)))
	want := slices.Concat(head, bytes.Repeat([]byte("L"), len(long)), tail)
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes, not those", len(got))
	}
}

func TestBackwardNeedsTheEnd(t *testing.T) {
	a := open(t)
	fill(t, a, session("s"), 1, []byte("a\nb\n"), whole)
	for _, end := range []int64{5, -1} {
		for _, err := range a.Reader(session("s").Key, 1).Backward(context.Background(), end) {
			if !errors.Is(err, ErrNotFound) {
				t.Errorf("to %d: %v, want ErrNotFound", end, err)
			}
		}
	}
}

// What is not damaged is given, in its place, and what is damaged is told, also from the end.
func TestBackwardGoesPastDamage(t *testing.T) {
	ro := newRotten(t)
	gaps, rests := 0, 0
	look := func(at int64) {
		a := openAt(t, ro.path, Options{ReadOnly: true})
		for i, want := range ro.data {
			next, gap := int64(len(want)), false
			for seg, err := range a.Reader(session("r"+string(rune('0'+i))).Key, 1).Backward(context.Background(), next) {
				if err != nil && !errors.As(err, new(*DamageError)) {
					t.Fatalf("a flipped bit at %d: %v", at, err)
				}
				if err != nil && seg.End.Offset == 0 {
					break // nothing is known of this generation
				}
				if seg.End.Offset != next || err == nil && string(seg.Data) != string(want[seg.Start.Offset:next]) {
					t.Fatalf("a flipped bit at %d: from %d to %d, want the bytes before %d", at, seg.Start.Offset, seg.End.Offset, next)
				}
				next = seg.Start.Offset
				if err != nil {
					gap = true
					gaps++
				} else if gap && len(seg.Data) > 0 {
					rests++
				}
			}
		}
	}
	for n := flipCount() / 4; (gaps == 0 || rests == 0) && n < 1000; n *= 2 { // few flips may all miss what is stored
		ro.flips(t, n, look)
	}
	if gaps == 0 || rests == 0 {
		t.Errorf("%d gaps and %d sound segments before one: the test sees nothing", gaps, rests)
	}
}
