package redact

import "encoding/binary"

// Eight bytes are compared at once, in one uint64: the highest bit of each byte is the result. Functions that look at 64 bytes
// return a bit for each, the lowest for the first.
const (
	each = 0x0101010101010101
	high = 0x80 * each
)

// gather returns the highest bits of eight bytes as one byte.
func gather(x uint64) uint64 { return x & high * 0x0002040810204081 >> 56 }

// plain64 returns which of 64 bytes of text from byte i on are neither below '+' nor beyond ASCII, and which of those are
// digits. A '+' after a byte below it may be missing: the subtraction borrows from it.
func plain64(text []byte, i int) (plain, digits uint64) {
	if i+64 > len(text) {
		for n := 0; i+n < len(text); n++ {
			if c := text[i+n]; c >= '+' && c < 0x80 {
				plain |= 1 << n
				digits |= uint64(classes[c]&digit/digit) << n
			}
		}
		return plain, digits
	}
	at := text[i : i+64]
	for n := 0; n < 64; n += 16 {
		x, y := binary.LittleEndian.Uint64(at[n:n+8]), binary.LittleEndian.Uint64(at[n+8:n+16])
		plain = plain>>16 | gather(x|(x-'+'*each))<<48 | gather(y|(y-'+'*each))<<56
		digits = digits>>16 | gather(x^'0'*each+0x76*each)<<48 | gather(y^'0'*each+0x76*each)<<56
	}
	return ^plain, ^(digits | plain)
}

// other64 returns which of 64 bytes of text from byte i on are neither letters nor digits, and which are digits. Bytes after
// the end of text are neither.
func other64(text []byte, i int) (other, digits uint64) {
	at := block(text, i)
	for n := 0; n < 64; n += 16 {
		x, y := binary.LittleEndian.Uint64(at[n:n+8]), binary.LittleEndian.Uint64(at[n+8:n+16])
		dx, dy := digit8(x), digit8(y)
		other = other>>16 | gather(letter8(x)|dx)<<48 | gather(letter8(y)|dy)<<56
		digits = digits>>16 | gather(dx)<<48 | gather(dy)<<56
	}
	return ^other, digits
}

// letter8 returns which of eight bytes are letters, in their highest bits.
func letter8(x uint64) uint64 {
	low := x&^high | 0x20*each
	return (low + (0x80-'a')*each) & ((0x80+'z')*each - low) &^ x
}

// digit8 returns which of eight bytes are digits, in their highest bits.
func digit8(x uint64) uint64 {
	low := x &^ high
	return (low + (0x80-'0')*each) & ((0x80+'9')*each - low) &^ x
}

// block returns 64 bytes of text from byte i on, zeros after its end.
func block(text []byte, i int) *[64]byte {
	if i+64 <= len(text) {
		return (*[64]byte)(text[i:])
	}
	var end [64]byte
	copy(end[:], text[min(i, len(text)):])
	return &end
}
