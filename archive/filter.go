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

// A filter shows that a block does not contain a word, so that a search need not decode it. It has the grams, which are
// successive gramCodes, of the text and of the text without JSON escapes, in two bitmaps: those of three in usual text, and
// those of four in long runs without spaces or quotes, such as base64, which would fill the first one. It precedes the
// block's zstd frame as a skippable frame, which every decoder ignores.
type filter struct {
	lines int  // in the block
	ended bool // the block ends with a newline
	text  bitmap
	dense bitmap // nil for no such run; empty for too many
}

const (
	filterMagic = 0x184d2a5c // one of the magic numbers of skippable frames
	gramBits    = 18         // three codes
	denseBits   = 24         // four codes
	denseRun    = 100        // size of a run in characters from which it is dense
	denseShare  = 20         // part of the block's size that the bitmap for dense runs may have
)

// How many grams of each kind take a byte of their bitmap. About half of the bits are set.
const (
	textGrams  = 4
	denseGrams = 6
)

// The codes of characters that are in no gram: JSON may escape them.
const (
	noGram = -1
	noRun  = -2 // ends a run too
)

// gramCodes maps ASCII characters to 6 bits. ~ and ^ are the same, as are both cases of a letter.
var gramCodes = func() (codes [256]int8) {
	n := int8(0)
	for c := range codes {
		codes[c] = noRun
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

// runs calls dense with each run of at least denseRun characters in a text, and short with the stretches between them.
// Other characters than ASCII separate runs, unless they are a case of an ASCII letter.
func runs(text []byte, short, dense func(run []byte)) {
	for _, r := range "\u0307\u0130\u017f\u212a" {
		if bytes.ContainsRune(text, r) {
			// the dot of an i, the capital i with a dot, the long s, the Kelvin sign
			text = []byte(strings.NewReplacer("\u0307", "", "\u0130", "i", "\u017f", "s", "\u212a", "k").Replace(string(text)))
			break
		}
	}
	done := 0
	for end := denseRun; end <= len(text); {
		from := end
		for from > done && gramCodes[text[from-1]] != noRun {
			from--
		}
		if end-from < denseRun {
			end = from + denseRun
			continue
		}
		for end < len(text) && gramCodes[text[end]] != noRun {
			end++
		}
		short(text[done:from])
		dense(text[from:end])
		done, end = end, end+denseRun
	}
	short(text[done:])
}

// appendGrams appends the grams of a run, of size bits each.
func appendGrams(grams []uint32, run []byte, size int) []uint32 {
	gram, n, mask := uint32(0), 0, uint32(1)<<size-1
	for _, c := range run {
		code := gramCodes[c]
		if code < 0 {
			n = 0
			continue
		}
		gram = (gram<<6 | uint32(code)) & mask
		if n += 6; n >= size {
			grams = append(grams, gram)
		}
	}
	return grams
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
		if len(m) == 0 {
			return false
		}
		if i, bit := m.at(gram); m[i]&bit == 0 {
			return false
		}
	}
	return true
}

// gramsIn collects the grams of a block.
type gramsIn struct {
	text  [1 << gramBits / 64]uint64
	dense []uint32
	any   bool // there is a dense run
	room  int  // for how many grams the bitmap of dense runs has room
}

func (g *gramsIn) add(text []byte) {
	runs(text, g.addText, func(run []byte) {
		if g.any = true; len(g.dense) <= g.room {
			g.dense = appendGrams(g.dense, run, denseBits)
		}
	})
}

// addText adds the grams of a text as appendGrams would, but without branches, which text makes unpredictable.
func (g *gramsIn) addText(text []byte) {
	gram, gaps := uint32(0), uint32(1<<(gramBits/6)-1) // a bit for each of the last characters that is in no gram
	for _, c := range text {
		code := gramCodes[c]
		gram, gaps = gram<<6|uint32(code)&63, gaps<<1|uint32(code)>>31
		whole := (uint64(gaps&(1<<(gramBits/6)-1)) - 1) >> 63
		g.text[gram/64%uint32(len(g.text))] |= whole << (gram % 64)
	}
}

// encodeFilter returns the skippable frame with the filter of a block with this hash.
func encodeFilter(raw []byte, sum mark.Hash) []byte {
	g := gramsIn{room: len(raw) / denseShare * denseGrams}
	g.add(raw)
	for _, line := range transcript.Spelled(raw) {
		text := raw[line.Off:line.End()]
		for range 2 { // a string may be JSON with strings
			text = transcript.Unescaped(text)
			g.add(text)
		}
	}
	n := 0
	for _, word := range g.text {
		n += bits.OnesCount64(word)
	}
	text, dense := make(bitmap, n/textGrams+1), bitmap(nil)
	for i, word := range g.text {
		for ; word != 0; word &= word - 1 {
			text.add(uint32(i*64 + bits.TrailingZeros64(word)))
		}
	}
	if len(g.dense) <= g.room {
		dense = make(bitmap, len(g.dense)/denseGrams+1)
		for _, gram := range g.dense {
			dense.add(gram)
		}
	}
	lines := uint64(bytes.Count(raw, []byte("\n"))) << 1
	if !bytes.HasSuffix(raw, []byte("\n")) {
		lines |= 1
	}
	record := binary.AppendUvarint(binary.AppendUvarint(nil, lines), uint64(len(text)))
	record = append(record, text...)
	if g.any {
		record = append(append(record, 1), dense...)
	}
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
	lines, text := d.uint(), []byte(d.string())
	f = filter{lines: int(lines>>1 + lines&1), ended: lines&1 == 0, text: text}
	if len(d.b) > 0 {
		f.dense = d.b[1:]
	}
	return f, d.err
}

// word is a text without characters that may be escaped.
type word struct{ text, dense []uint32 }

// lacks reports whether the block does not contain one of the words.
func (f filter) lacks(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool {
		return !f.text.hasAll(w.text) && (f.dense == nil || len(f.dense) > 0 && !f.dense.hasAll(w.dense))
	})
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
		add := func(run []byte) {
			r.only = append(r.only, word{appendGrams(nil, run, gramBits), appendGrams(nil, run, denseBits)})
		}
		runs([]byte(text), func(stretch []byte) {
			for run := range bytes.FieldsFuncSeq(stretch, func(c rune) bool { return c >= 256 || gramCodes[c] == noRun }) {
				add(run)
			}
		}, add)
	}
}

// LeftOut reports for each reader whether Only leaves out its whole generation. It fails only if ctx has ended; what cannot
// be read, is large or was edited is not. It takes one locked read for many generations.
func (a *Archive) LeftOut(ctx context.Context, readers []*Reader) ([]bool, error) {
	out := make([]bool, len(readers))
	_ = a.viewEach(ctx, len(readers), func(tx *bolt.Tx, i int) {
		_ = a.guard(func() error {
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
	err := r.a.guard(func() (err error) { // what a damaged page means shows when the block is read
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
