package archive

import (
	"bytes"
	"hash/crc32"
)

// Where frames are cut is part of the file format: equal bytes must be cut alike for ever, or nothing is shared.
const (
	minFrame = 256 << 10 // bytes a frame must reach before its content may cut it
	maxFrame = 2 << 20   // bytes at which it is cut whatever it holds
	cutMask  = 1<<9 - 1  // a line whose CRC-32C has these bits zero cuts behind its line end
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// cutter finds the frame ends of a stream: behind the first line end at or past minFrame whose line (without its line
// end) has a CRC-32C with the low 9 bits zero; else, when maxFrame would be passed, behind the last line end before
// that; else, inside of a line that long, at maxFrame. It sees the stream from its beginning, in any portions, and
// cuts it the same however it was portioned. Its fields are stored with the generation.
type cutter struct {
	Start int64  // where the current frame starts
	End   int64  // behind the last line end in it; Start where there is none
	CRC   uint32 // of the current line so far
}

// cut takes the bytes at offset pos and returns the offsets at which frames end.
func (c *cutter) cut(pos int64, data []byte) []int64 {
	var cuts []int64
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
		c.CRC = crc32.Update(c.CRC, castagnoli, line)
		for pos > c.Start+maxFrame {
			cuts = append(cuts, c.force())
		}
		if ended && c.line(pos) {
			cuts = append(cuts, pos)
		}
	}
	return cuts
}

// force ends a frame that would pass maxFrame.
func (c *cutter) force() int64 {
	if c.End == c.Start {
		c.End = c.Start + maxFrame
	}
	c.Start = c.End
	return c.Start
}

// line takes the line end before pos and reports whether it ends the frame.
func (c *cutter) line(pos int64) bool {
	cut := pos-c.Start >= minFrame && c.CRC&cutMask == 0
	c.End, c.CRC = pos, 0
	if cut {
		c.Start = pos
	}
	return cut
}
