package archive

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/grams"
	"ccd/internal/testkit"
	"ccd/internal/transcript"
)

// lacking reports whether the newest generation of a session certainly lacks a word.
func lacking(t *testing.T, a *Archive, k transcript.Key, word string) bool {
	t.Helper()
	s, err := a.Last(t.Context(), k)
	must(t, err)
	return a.Lacking(t.Context(), []Session{s}, []grams.Word{grams.NewWord([]rune(word))})[0][0]
}

// TestLongWords: a text without a blank that fills whole blocks of a list is not denied.
func TestLongWords(t *testing.T) {
	t.Parallel()
	a, s, r := open(t), session("list.json"), rand.New(rand.NewPCG(1, 2))
	var words []string
	var data bytes.Buffer
	for range 40 {
		word := make([]rune, 950)
		for i := range word {
			word[i] = rune(0x4e00 + r.IntN(20000))
			fmt.Fprintf(&data, `\u%04x`, word[i])
		}
		words = append(words, string(word))
		data.WriteString(`", "`)
	}
	must(t, a.Append(t.Context(), s, segment(1, 0, data.Bytes())))
	for n, word := range words {
		if lacking(t, a, s.Key, word) {
			t.Errorf("text %d is denied", n)
		}
	}
}

// TestIndexOfWords: the index never denies a word that is there, however the bytes came, where a block cuts it, and after a rebuild; it
// denies others, also one that was forgotten; and it is small.
func TestIndexOfWords(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(testkit.Seed(), 41))
	a := open(t)
	keys := []transcript.Key{}
	denied := 0
	for _, id := range []string{"lined", "list.json", "lines of any length"} {
		data := bytes.Replace(talk(7, 700<<10), []byte("server"), []byte("ZEBRAfinch"), 2)
		if id != "lined" { // the word is cut by blocks, too
			data = bytes.ReplaceAll(data, []byte("\n"), []byte("zebrafinch zebrafinch zebrafinch"))
		}
		s := session(id)
		keys = append(keys, s.Key)
		for off := 0; off < len(data); {
			n := min(len(data)-off, 1+r.IntN([]int{300, 3000, 200_000}[r.IntN(3)]))
			if id == "lined" { // as they come
				n += bytes.IndexByte(data[off+n-1:], '\n')
			}
			must(t, a.Append(t.Context(), s, segment(1, int64(off), data[off:off+n])))
			off += n
			for _, word := range []string{"zebrafinch", "goroutine", "brafin"} {
				if bytes.Contains(bytes.ToLower(data[:off]), []byte(word)) && lacking(t, a, s.Key, word) {
					t.Fatalf("%s, %d bytes: %s is denied", id, off, word)
				}
			}
			if lacking(t, a, s.Key, "quicksilver") {
				denied++
			}
		}
	}
	if denied < 10 {
		t.Errorf("a word that no session has is denied %d times", denied)
	}
	stored, filters := 0, 0
	all := func() (values [][]byte) {
		must(t, a.each(t.Context(), kindGeneration, func(tx *bolt.Tx, k, v []byte) error {
			g, err := parseGeneration(k, v)
			for _, b := range g.Blocks {
				value, got := getBlock(tx, b.ID)
				must(t, got)
				values = append(values, bytes.Clone(value))
			}
			return err
		}))
		return values
	}
	for _, value := range all() {
		f, _, ok := wordsOf(value)
		if stored, filters = stored+len(value), filters+len(f); !ok {
			t.Error("a block without a filter")
		}
	}
	if filters > stored/10 {
		t.Errorf("filters of %d bytes in blocks of %d", filters, stored)
	}
	_, err := rebuild(t.Context(), a)
	must(t, err)
	if !lacking(t, a, keys[0], "quicksilver") || lacking(t, a, keys[0], "zebrafinch") {
		t.Error("after a rebuild the index is another")
	}
	_, err = a.Forget(t.Context(), Removal{Texts: []Text{whatever("zebrafinch"), whatever("ZEBRAfinch")}, Reset: func([]byte) []byte { return nil }}, nil)
	must(t, err)
	if !lacking(t, a, keys[0], "zebrafinch") || lacking(t, a, keys[0], "goroutine") {
		t.Error("after a forget the index is another")
	}
	values := all()
	bad := slices.Clone(values[0])
	for at := range bad {
		bad[at] ^= 4
		if f, _, ok := wordsOf(bad); ok {
			was, _, _ := wordsOf(values[0])
			if !bytes.Equal(f, was) {
				t.Fatalf("a filter with a changed bit is taken for whole, at %d", at)
			}
		}
		bad[at] ^= 4
	}
}
