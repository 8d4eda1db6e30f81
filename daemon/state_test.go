package daemon

import (
	"bytes"
	"testing"

	"ccd/archive"
	"ccd/compactor"
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

// What was forgotten is in no state: deeds name the files that a session changed.
func TestAForgottenStateHasNoDeeds(t *testing.T) {
	raw := State{Known: compactor.Known{Deeds: []byte("\x02 /w/secret.go")}}.Encode()
	if reset := resetState(raw, archive.Removal{}); bytes.Contains(reset, []byte("secret")) || !bytes.Contains(raw, []byte("secret")) {
		t.Errorf("%q", reset)
	}
}
