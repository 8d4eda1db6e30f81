package watcher

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ccd/internal/testkit"
)

func TestTailDamagedPacked(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl.zst")
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	line := make([]byte, 32<<10)
	for text.Len() < 5<<20 { // more than a segment
		for i := range line {
			line[i] = "0123456789abcdef"[r.Uint32()>>28]
		}
		text.Write(line)
		text.WriteByte('\n')
	}
	whole := pack(text.String())
	for name, data := range map[string]string{
		"cut":     whole[:len(whole)*2/3],
		"not zst": "plain text\n",
		"flipped": whole[:len(whole)*2/3] + string(whole[len(whole)*2/3]^0x55) + whole[len(whole)*2/3+1:],
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Put(t, path, data)
			f := follow(t, path)
			f.s.Packed = true
			_, err := f.try(atRest)
			if err == nil || !strings.Contains(err.Error(), path) {
				t.Fatalf("err = %v", err)
			}
			if got := f.gens[1]; !strings.HasPrefix(text.String(), string(got)) {
				t.Fatalf("wrong bytes were yielded (%d)", len(got))
			}
			// What was yielded stays valid: once the file is whole, it goes on from there.
			testkit.Put(t, path, whole)
			f.tail(atRest)
			f.want(1, []byte(text.String()))
		})
	}
}

func TestTailPackedBomb(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl.zst")
	testkit.Put(t, path, pack(strings.Repeat("\x00", 70<<20)))
	f := follow(t, path)
	f.s.Packed = true
	if _, err := f.try(atRest); err == nil || !strings.Contains(err.Error(), "exceed") {
		t.Errorf("err = %v", err)
	}
}

func pack(text string) string {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	return string(enc.EncodeAll([]byte(text), nil))
}
