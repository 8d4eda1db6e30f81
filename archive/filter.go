package archive

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// A filter shows that a block does not contain a word, so that a search need not decode it. It has the grams, which are three
// successive gramCodes, of the text and of the text without JSON escapes, in a bitmap. It precedes the block's zstd frame as a
// skippable frame, which every decoder ignores. A block with much base64 has nearly all grams, and is decoded.
type filter struct {
	lines int  // in the block
	ended bool // the block ends with a newline
	text  bitmap
}

const (
	filterMagic = 0x184d2a5c // one of the magic numbers of skippable frames
	gramBits    = 18
	gramsAByte  = 4  // grams for a byte of the bitmap: about half of the bits are set
	noGram      = -1 // the code of characters that are in no gram: JSON may escape them
)

// gramCodes maps ASCII characters to 6 bits. ~ and ^ are the same, as are both cases of a letter.
var gramCodes = func() (codes [256]int8) {
	n := int8(0)
	for c := range codes {
		codes[c] = noGram
		if c > ' ' && c < '~' && c != '"' && c != '\\' && c != '/' && (c < 'A' || c > 'Z') {
			codes[c] = n
			n++
		}
	}
	codes['/'], codes['~'] = noGram, codes['^']
	for c := 'A'; c <= 'Z'; c++ {
		codes[c] = codes[c+'a'-'A']
	}
	return codes
}()

// folded returns text with the other cases of ASCII letters replaced: an i with a dot, the capital i with a dot, the long s, the
// Kelvin sign.
func folded(text []byte) []byte {
	for _, r := range "\u0307\u0130\u017f\u212a" {
		if bytes.ContainsRune(text, r) {
			return []byte(strings.NewReplacer("\u0307", "", "\u0130", "i", "\u017f", "s", "\u212a", "k").Replace(string(text)))
		}
	}
	return text
}

// bitmap is a set of grams by their hashes.
type bitmap []byte

func (m bitmap) at(gram uint32) (i int, bit byte) {
	gram *= 0x9e3779b1
	gram = (gram ^ gram>>15) * 0x85ebca77
	gram ^= gram >> 13
	at := uint64(gram) * uint64(len(m)*8) >> 32
	return int(at / 8), 1 << (at % 8)
}

func (m bitmap) add(gram uint32) {
	i, bit := m.at(gram)
	m[i] |= bit
}

// hasAll reports whether all grams may be in the set.
func (m bitmap) hasAll(grams []uint32) bool {
	for _, gram := range grams {
		if i, bit := m.at(gram); m[i]&bit == 0 {
			return false
		}
	}
	return true
}

// grams collects the grams of a text.
type grams [1 << gramBits / 64]uint64

// add adds the grams of a text. It has no branches, which text makes unpredictable.
func (g *grams) add(text []byte) {
	gram, gaps := uint32(0), uint32(1<<(gramBits/6)-1) // a bit for each of the last characters that is in no gram
	for _, c := range folded(text) {
		code := gramCodes[c]
		gram, gaps = gram<<6|uint32(code)&63, gaps<<1|uint32(code)>>31
		whole := (uint64(gaps&(1<<(gramBits/6)-1)) - 1) >> 63
		g[gram/64%uint32(len(g))] |= whole << (gram % 64)
	}
}

// each calls fn with each gram.
func (g *grams) each(fn func(gram uint32)) {
	for i, word := range g {
		for ; word != 0; word &= word - 1 {
			fn(uint32(i*64 + bits.TrailingZeros64(word)))
		}
	}
}

// encodeFilter returns the skippable frame with the filter of a block with this hash.
func encodeFilter(raw []byte, sum mark.Hash) []byte {
	var g grams
	g.add(raw)
	for _, line := range transcript.Spelled(raw) {
		text := raw[line.Off:line.End()]
		for range 2 { // a string may be JSON with strings
			text = transcript.Unescaped(text)
			g.add(text)
		}
	}
	n := 0
	for _, word := range g {
		n += bits.OnesCount64(word)
	}
	text := make(bitmap, n/gramsAByte+1)
	g.each(text.add)
	lines := uint64(bytes.Count(raw, []byte("\n"))) << 1
	if !bytes.HasSuffix(raw, []byte("\n")) {
		lines |= 1
	}
	record := appendUints(nil, lines)
	record = append(record, text...)
	frame := binary.LittleEndian.AppendUint32(nil, filterMagic)
	frame = binary.LittleEndian.AppendUint32(frame, uint32(sealSize+len(record)))
	seal := sealOf(sum[:], record)
	return append(append(frame, seal[:]...), record...)
}

// errFilter is returned for a block without an intact filter.
var errFilter = errors.New("no filter")

// readFilter returns the filter of a block. A damaged one is none.
func readFilter(tx *bolt.Tx, id uint64) (f filter, err error) {
	e, packed, err := envelopeOf(tx, id) // the filter has a seal of its own
	if err != nil || len(packed) < 2+8 || packed[0] != packedZstd || packed[1] != 0 || binary.LittleEndian.Uint32(packed[2:]) != filterMagic {
		return f, errFilter
	}
	frame := packed[2+8:]
	if size := int64(binary.LittleEndian.Uint32(packed[2+4:])); size <= int64(len(frame)) {
		return parseFilter(frame[:size], e.Sum)
	}
	return f, errFilter
}

func parseFilter(frame []byte, sum mark.Hash) (f filter, err error) {
	if len(frame) < sealSize || sealOf(sum[:], frame[sealSize:]) != [sealSize]byte(frame) {
		return f, errFilter
	}
	d := varints{b: frame[sealSize:]}
	lines := d.uint()
	return filter{lines: int(lines>>1 + lines&1), ended: lines&1 == 0, text: d.b}, d.err
}

// lacks reports whether the block does not contain one of the words, each given by its grams.
func (f filter) lacks(words [][]uint32) bool {
	return len(f.text) > 0 && slices.ContainsFunc(words, func(w []uint32) bool { return !f.text.hasAll(w) })
}

// Skipped is yielded by Backward, with a segment without data, for a stretch that Only leaves out.
type Skipped struct {
	Lines int // in the stretch
	size  int64
}

// Error says that the stretch was not read.
func (s *Skipped) Error() string { return "bytes without the words were skipped" }

// Only makes Backward leave out blocks of whole lines of which no line can contain all of the words, in any case and
// also with JSON escapes. What it does not leave out may still lack them. A word of less than three ASCII characters
// leaves out nothing.
func (r *Reader) Only(words ...string) {
	r.only = nil
	for _, text := range words {
		var g grams
		g.add([]byte(text))
		var all []uint32
		g.each(func(gram uint32) { all = append(all, gram) })
		r.only = append(r.only, all)
	}
}

// LeftOut reports for each reader whether Only leaves out its whole generation. It fails only if ctx has ended; what cannot
// be read, is large or was edited is not. It takes one locked read for many generations.
func (a *Archive) LeftOut(ctx context.Context, readers []*Reader) ([]bool, error) {
	out := make([]bool, len(readers))
	_ = a.viewEach(ctx, len(readers), func(tx *bolt.Tx, i int) {
		_ = a.recovered(func() error {
			out[i] = readers[i].leftOut(tx)
			return nil
		})
	})
	return out, ctx.Err()
}

func (r *Reader) leftOut(tx *bolt.Tx) bool {
	if r.load(tx) != nil || r.gen.Offset > fetchSize*skipCost || r.gen.Offset == 0 {
		return false
	}
	for i := range r.gen.Blocks {
		if _, ok := r.skip(tx, i); !ok {
			return false
		}
	}
	return true
}

// skip reports whether Only leaves out a block: it has whole lines, and none of the words.
func (r *Reader) skip(tx *bolt.Tx, i int) (*Skipped, bool) {
	if len(r.only) == 0 {
		return nil, false
	}
	var f, before filter
	err := r.a.recovered(func() (err error) { // what a damaged page means shows when the block is read
		if f, err = readFilter(tx, r.gen.Blocks[i].ID); err == nil && i > 0 {
			before, err = readFilter(tx, r.gen.Blocks[i-1].ID)
		}
		return err
	})
	if err != nil || !f.lacks(r.only) || i > 0 && !before.ended || i < len(r.gen.Blocks)-1 && !f.ended {
		return nil, false
	}
	return &Skipped{f.lines, r.gen.Blocks[i].Len}, true
}
