package archive

import (
	"bytes"
	"hash/crc32"
)

// The frame boundaries are part of the file format: equal bytes must always be cut alike, or nothing is shared.
const (
	minFrame = 256 << 10 // minimum size before the content may cut a frame
	maxFrame = 2 << 20   // maximum size
	cutMask  = 1<<9 - 1  // a line cuts if these bits of its CRC-32C are zero

	// The same of a session without lines, whose file is rewritten at each change: small, as one change costs one frame.
	minPart = 2 << 10
	maxPart = 32 << 10
	cutPart = 19 // a byte cuts if the rolling hash has no bits above this one: one of 8 KB
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// cutter finds the frame ends of a stream. The result does not depend on how the stream is split into calls. The fields are
// stored with the generation.
type cutter struct {
	Start int64  // start of the current frame
	End   int64  // after the last newline in it, or Start
	Hash  uint32 // CRC-32C of the current line so far; without lines, the rolling hash
}

// cut processes the bytes at offset pos and returns the offsets at which frames end.
func (c *cutter) cut(pos int64, data []byte, lined bool) []int64 {
	if lined {
		return c.cutLines(pos, data)
	}
	return c.cutBytes(pos, data)
}

// cutBytes ends a frame at or beyond minPart where a hash of the last 32 bytes says so, else at maxPart.
func (c *cutter) cutBytes(pos int64, data []byte) (cuts []int64) {
	for _, b := range data {
		pos++
		c.Hash = c.Hash<<1 + castagnoli[b]
		if n := pos - c.Start; n >= minPart && c.Hash>>cutPart == 0 || n == maxPart {
			c.Start, c.End = pos, pos
			cuts = append(cuts, pos)
		}
	}
	return cuts
}

// cutLines ends a frame after the first line at or beyond minFrame whose CRC-32C (without the newline) has its low 9 bits zero;
// if maxFrame would be exceeded, after the last newline before it; inside a longer line, at maxFrame.
func (c *cutter) cutLines(pos int64, data []byte) (cuts []int64) {
	for len(data) > 0 {
		n := bytes.IndexByte(data, '\n')
		line, ended := data, n >= 0
		if ended {
			line, data = data[:n], data[n+1:]
			pos++
		} else {
			data = nil
		}
		pos += int64(len(line))
		c.Hash = crc32.Update(c.Hash, castagnoli, line)
		for pos > c.Start+maxFrame {
			if c.End == c.Start {
				c.End = c.Start + maxFrame
			}
			c.Start = c.End
			cuts = append(cuts, c.Start)
		}
		if !ended {
			break
		}
		if pos-c.Start >= minFrame && c.Hash&cutMask == 0 {
			c.Start = pos
			cuts = append(cuts, pos)
		}
		c.End, c.Hash = pos, 0
	}
	return cuts
}
