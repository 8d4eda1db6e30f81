package watcher

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestWholeFrames: wherever a write is cut short, what is whole ends with a frame.
func TestWholeFrames(t *testing.T) {
	random := make([]byte, 300<<10)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	var file []byte
	ends := map[int]bool{}
	for _, content := range [][]byte{[]byte("a line\n"), random, make([]byte, 400<<10), bytes.Repeat([]byte("words and words\n"), 9000)} {
		for _, checksum := range []bool{true, false} {
			e, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(checksum))
			must(t, err)
			file = e.EncodeAll(content, file)
			ends[len(file)] = true
		}
		file = append(file, 0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3) // a frame that is skipped
		ends[len(file)] = true
	}
	want := int64(0)
	for n := range len(file) + 1 {
		if ends[n] {
			want = int64(n)
		}
		near := false // each cut near an end of a frame, and some others
		for d := -20; d <= 20; d++ {
			near = near || ends[n+d]
		}
		if !near && n%997 != 0 {
			continue
		}
		expected := want
		if want == 0 {
			expected = int64(n) // reading it tells
		}
		if got := wholeFrames(bytes.NewReader(file[:n]), int64(n)); got != expected {
			t.Fatalf("of %d bytes, %d are whole frames, not %d", n, got, expected)
		}
	}
}
