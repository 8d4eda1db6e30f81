package archive

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// backwards joins what Backward gives, and checks that the segments meet and begin at line starts.
func backwards(t *testing.T, r *Reader, end int64) []byte {
	t.Helper()
	next := end
	var parts [][]byte
	var starts []int64
	for seg, err := range r.Backward(context.Background(), end) {
		must(t, err)
		if seg.End.Offset != next {
			t.Fatalf("a segment ends at %d, the one behind it begins at %d", seg.End.Offset, next)
		}
		next = seg.Start.Offset
		data := bytes.Clone(seg.Data)
		if data == nil { // a line that is too long
			data = bytes.Repeat([]byte("L"), int(seg.End.Offset-next))
		}
		parts, starts = append(parts, data), append(starts, next)
	}
	if next != 0 {
		t.Fatalf("nothing is given before %d", next)
	}
	slices.Reverse(parts)
	text := bytes.Join(parts, nil)
	for _, at := range starts {
		if at > 0 && text[at-1] != '\n' && text[at-1] != 'L' {
			t.Errorf("a segment begins at %d, within a line", at)
		}
	}
	return text
}

func TestBackwardGivesWhatSegmentsGives(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	long := strings.Repeat("0123456789", 700_000) // over several blocks, and no cut in it
	type content struct {
		name string
		data []byte
	}
	for _, c := range append(testkit.Sample(t, []content{
		{"no last end", append(talk(2, 1<<20), "the end"...)},
		{"blank", bytes.Repeat([]byte("\n"), 2<<20+9)},
		{"a long line", append(append(talk(3, 1<<20), long...), append([]byte("\n"), talk(4, 1<<20)...)...)},
		{"only a line", []byte(long)},
		{"long at last", append(talk(5, 1<<20), long...)},
	}, 2), content{"lines", talk(1, 4<<20+9)}, content{"short", []byte("a\n")}) {
		name, data := c.name, c.data
		t.Run(name, func(t *testing.T) {
			a := open(t)
			s := session("s")
			fill(t, a, s, 1, data, func() int { return 1 + rng.IntN(900_000) })
			for _, end := range []int{len(data), bytes.LastIndexByte(data[:len(data)-1], '\n') + 1, 0} {
				got := backwards(t, a.Reader(s.Key, 1), int64(end))
				if !bytes.Equal(got, data[:end]) {
					t.Errorf("to %d: %d bytes, not those", end, len(got))
				}
			}
		})
	}
}

func TestBackwardPassesALineThatIsTooLong(t *testing.T) {
	t.Parallel()
	a := open(t)
	s := session("s")
	head, tail := talk(8, 1<<20), talk(9, 1<<20)
	long := append(bytes.Repeat([]byte("L"), transcript.MaxLine+3<<20), '\n')
	data := slices.Concat(head, long, tail)
	fill(t, a, s, 1, data, whole)
	got := backwards(t, a.Reader(s.Key, 1), int64(len(data)))
	want := slices.Concat(head, bytes.Repeat([]byte("L"), len(long)), tail)
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes, not those", len(got))
	}
}
