package daemon

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"time"
	"unicode/utf8"
)

// stateForm is the first byte of a stored State.
const stateForm = 3

// stateCodec encodes or decodes the fields of a State, always in the same order. A field is its number and its value; a
// zero field is left out. A list of all sessions decodes thousands of states, so there is no reflection here.
type stateCodec struct {
	decode bool
	n      byte   // number of the last field
	out    []byte // encoded
	in     string // to be decoded; texts are parts of it
	err    error
}

// all visits every field. The numbers are stored: a new field comes last, and a removed one leaves its number unused.
func (c *stateCodec) all(s *State) {
	c.stat(&s.Source)
	c.place(&s.At)
	number(c, &s.Torn)
	c.time(&s.Checked)
	c.time(&s.Rewritten)
	c.text(&s.Trigger)
	c.text(&s.SkipReason)
	c.flag(&s.Gone)
	c.time(&s.GoneAt)
	c.path(&s.Companion)
	c.texts(&s.Earlier)
	c.stat(&s.Written)
	c.place(&s.Covers)
	c.text(&s.Options)
	c.texts(&s.Manual.Focus)
	number(c, &s.Manual.Level)
	number(c, &s.Manual.MaxTokens)
	c.flag(&s.Labels.Pinned)
	c.text(&s.Labels.Name)
	c.texts(&s.Labels.Tags)
	number(c, &s.Work.Compactions)
	number(c, &s.Work.Microseconds)
	number(c, &s.Records)
	number(c, &s.Broken)
	number(c, &s.Unknown)
	c.flag(&s.UnknownFormat)
	c.time(&s.First)
	c.time(&s.Last)
	c.time(&s.Boundary)
	number(c, &s.Items)
	c.text(&s.Model)
	c.text(&s.Start)
	c.text(&s.Cwd)
	c.text(&s.Title)
	c.text(&s.Ask)
	c.path(&s.Parent)
	c.text(&s.Resumed.ID)
	number(c, &s.Resumed.Records)
	number(c, &s.Resumed.Covers)
	number(c, &s.Estimate)
	number(c, &s.About)
	number(c, &s.Reported)
	number(c, &s.Window)
	c.flag(&s.Assumed)
	number(c, &s.Outliers.Reports)
	number(c, &s.Outliers.Tokens)
	c.float(&s.Pressure)
	c.text(&s.Level)
	number(c, &s.Original)
	number(c, &s.Compacted)
	number(c, &s.Real)
	c.float(&s.Saved)
	c.flag(&s.Verified)
	c.text(&s.Reason)
	number(c, &s.Lost)
	number(c, &s.MissingSummaries)
	c.text(&s.Curve)
	c.flag(&s.Waiting)
	number(c, &s.Unread)
	number(c, &s.FirstUnread)
}

// next begins the next field, and reports whether it has a value.
func (c *stateCodec) next(zero bool) bool {
	c.n++
	switch {
	case c.decode && (c.in == "" || c.in[0] != c.n):
		return false
	case c.decode:
		c.in = c.in[1:]
		return true
	case !zero:
		c.out = append(c.out, c.n)
	}
	return !zero
}

func (c *stateCodec) fail() {
	c.in, c.err = "", errors.New("it is truncated")
}

// end returns the error of a decoded state. What is left are fields of a later version, which have higher numbers.
func (c *stateCodec) end() error {
	if c.err == nil && c.in != "" && c.in[0] <= c.n {
		c.err = errors.New("its fields are out of order")
	}
	return c.err
}

// int encodes or decodes a varint.
func (c *stateCodec) int(v int64) int64 {
	if !c.decode {
		c.out = binary.AppendVarint(c.out, v)
		return v
	}
	var u uint64
	for i := 0; i < len(c.in) && i < binary.MaxVarintLen64; i++ {
		u |= uint64(c.in[i]&0x7f) << (7 * i)
		if c.in[i] < 0x80 {
			c.in = c.in[i+1:]
			return int64(u>>1) ^ -int64(u&1)
		}
	}
	c.fail()
	return 0
}

func (c *stateCodec) string(s string) string {
	n := c.int(int64(len(s)))
	if !c.decode {
		c.out = append(c.out, s...)
		return s
	}
	if n < 0 || n > int64(len(c.in)) {
		c.fail()
		return ""
	}
	s, c.in = c.in[:n], c.in[n:]
	return s
}

func value[T ~int | ~int64 | ~uint64 | ~uint8](c *stateCodec, p *T) { *p = T(c.int(int64(*p))) }

func number[T ~int | ~int64 | ~uint64 | ~uint8](c *stateCodec, p *T) {
	if c.next(*p == 0) {
		value(c, p)
	}
}

func (c *stateCodec) flag(p *bool) {
	if c.next(!*p) {
		*p = true
	}
}

func (c *stateCodec) float(p *float64) {
	if c.next(*p == 0) {
		*p = math.Float64frombits(bits.ReverseBytes64(uint64(c.int(int64(bits.ReverseBytes64(math.Float64bits(*p)))))))
	}
}

// path is a text that need not be UTF-8.
func (c *stateCodec) path(p *string) {
	if c.next(*p == "") {
		*p = c.string(*p)
	}
}

// text is UTF-8; each other byte becomes U+FFFD.
func (c *stateCodec) text(p *string) {
	if !c.decode && !utf8.ValidString(*p) {
		valid := string([]rune(*p))
		p = &valid
	}
	c.path(p)
}

func (c *stateCodec) texts(p *[]string) {
	if !c.next(len(*p) == 0) {
		return
	}
	for i := range c.entries(len(*p)) {
		if c.decode {
			*p = append(*p, "")
		}
		(*p)[i] = c.string((*p)[i])
	}
}

// entries encodes or decodes the length of a list. Each entry takes a byte or more.
func (c *stateCodec) entries(n int) int {
	n = int(c.int(int64(n)))
	if c.decode && (n < 0 || n > len(c.in)) {
		c.fail()
		return 0
	}
	return n
}

func (c *stateCodec) time(p *time.Time) {
	if !c.next(p.IsZero()) {
		return
	}
	*p = time.Unix(c.int(p.Unix()), c.int(int64(p.Nanosecond()))).UTC()
}

func (c *stateCodec) stat(p *Stat) {
	number(c, &p.Size)
	number(c, &p.ModTime)
	number(c, &p.Inode)
}

func (c *stateCodec) place(p *Place) {
	number(c, &p.Generation)
	number(c, &p.Offset)
}
