package daemon

import (
	"bytes"
	"testing"
)

func FuzzDecodeState(f *testing.F) {
	raw := State{Companion: "/a\xff", Source: Stat{Inode: 1<<64 - 1}, Labels: Labels{Name: "n", Tags: []string{"t"}}}.Encode()
	for n := range raw {
		f.Add(raw[:n])
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := DecodeState(raw)
		if err != nil {
			return
		}
		stored := s.Encode()
		if again, err := DecodeState(stored); err != nil || !bytes.Equal(again.Encode(), stored) {
			t.Fatalf("%q\nbecame %+v, %v", stored, again, err)
		}
	})
}
