package archive

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"slices"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/grams"
)

// The index of words. Each block has with its envelope a filter of its letters (package grams), so that a search passes by what
// certainly lacks a word. It is made when the block is packed, from the bytes that are stored: whatever copies, heals, forgets or
// removes blocks does so with their filters. It has a check sum of its own, because a search does not read the rest.

// filterOf returns the filter of a block's bytes: whether they end with a line, the filter, its check sum.
func filterOf(raw []byte, packed int) []byte {
	whole := byte(0)
	if raw[len(raw)-1] == '\n' {
		whole = 1
	}
	b := append([]byte{whole}, grams.New(raw, packed/filterShare)...)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// filterShare is how many times smaller a filter is than its block as it is stored.
const filterShare = 16

// wordsOf returns the filter in the stored value of a block, and whether its bytes end with a line. ok is false if there is none.
func wordsOf(value []byte) (f grams.Filter, whole, ok bool) {
	h, ok := parseHeader(value)
	if !ok || h.value() != len(value) {
		return nil, false, false
	}
	e, _, err := parseEnvelope(value[h.size+sealSize:])
	n := len(e.Words) - crc32.Size
	if err != nil || n < 2 || binary.BigEndian.Uint32(e.Words[n:]) != crc32.Checksum(e.Words[:n], castagnoli) {
		return nil, false, false
	}
	return grams.Filter(e.Words[1:n]), e.Words[0] == 1, true
}

// Lacking reports of each generation of the sessions whether its bytes certainly lack one of the words. What cannot be read may have them.
func (a *Archive) Lacking(ctx context.Context, sessions []Session, all []grams.Word) [][]bool {
	lacking := make([][]bool, len(sessions))
	for i, s := range sessions {
		lacking[i] = make([]bool, len(s.Generations))
	}
	all = slices.DeleteFunc(slices.Clone(all), func(w grams.Word) bool { return len(w) == 0 })
	if len(all) == 0 {
		return lacking
	}
	_ = a.view(ctx, func(tx *bolt.Tx) error { // a search tells of damage where it reads
		for i, s := range sessions {
			for n, one := range s.Generations {
				g, err := getGeneration(tx, generationOf{s.Key, one.N})
				lacking[i][n] = err == nil && g.lacks(tx, all)
			}
		}
		return nil
	})
	return lacking
}

// lacks reports whether the generation certainly lacks one of the words.
func (g generationRecord) lacks(tx *bolt.Tx, all []grams.Word) bool {
	missing := slices.Clone(all)
	var before grams.Filter // of the block before, if its last line goes on
	for _, b := range g.Blocks {
		value, err := getBlock(tx, b.ID)
		if err != nil {
			return false
		}
		f, whole, ok := wordsOf(value)
		if !ok || before != nil && b.Len < leastCrossed {
			return false
		}
		missing = slices.DeleteFunc(missing, func(w grams.Word) bool { return f.May(w) || before != nil && before.MayCross(f, w) })
		if len(missing) == 0 {
			return false
		}
		if before = nil; !whole {
			before = f
		}
	}
	return len(g.Blocks) > 0
}

// leastCrossed is the size in bytes of a block that no word crosses: of a long one only the beginning counts (grams.NewWord).
const leastCrossed = 1 << 10
