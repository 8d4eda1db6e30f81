package daemon

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"time"
)

// stateForm is the first byte of a stored State.
const stateForm = 5

// fields returns what is stored of a state. A field is stored as its number and its value; a zero one is left out. The numbers
// are the places in this list: a new field comes last. Lists of sessions decode thousands of states, so that reads without reflection.
func (s *State) fields() []any {
	return []any{
		&s.Source.Size, &s.Source.ModTime, &s.Source.Inode, &s.At.Generation, &s.At.Offset, &s.Torn, &s.Checked,
		&s.Rewritten, &s.Trigger, &s.SkipReason, &s.Gone, &s.GoneAt, &s.Companion, &s.Written.Size,
		&s.Written.ModTime, &s.Written.Inode, &s.Covers.Generation, &s.Covers.Offset, &s.Options, &s.Manual.Focus,
		&s.Manual.MaxTokens, &s.Labels.Pinned, &s.Labels.Name, &s.Labels.Tags, &s.Records, &s.Broken, &s.Unknown, &s.UnknownFormat, &s.First, &s.Last, &s.Boundary,
		&s.Items, &s.Model, &s.Start, &s.Cwd, &s.Title, &s.Ask, &s.Parent, &s.Resumed.ID, &s.Resumed.Records,
		&s.Resumed.Covers, &s.Estimate, &s.About, &s.Reported, &s.Window, &s.Assumed, &s.Outliers.Reports,
		&s.Outliers.Tokens, &s.Pressure, &s.Level, &s.Original, &s.Compacted, &s.Real, &s.Saved, &s.Verified, &s.Reason,
		&s.Lost, &s.MissingSummaries, &s.Curve, &s.Waiting, &s.Unread, &s.FirstUnread, &s.Read.Generation, &s.Read.Offset,
		&s.Joined, &s.Origin, &s.Back,
	}
}

// Encode returns the state as the archive stores it.
func (s State) Encode() []byte {
	c := stateCodec{out: []byte{stateForm}}
	for i, field := range s.fields() {
		if v := reflect.ValueOf(field).Elem(); !v.IsZero() && (v.Kind() != reflect.Slice || v.Len() > 0) {
			c.out = append(c.out, byte(i+1))
			c.value(field)
		}
	}
	return c.out
}

// DecodeState decodes a stored state. Empty input is the zero State.
func DecodeState(b []byte) (s State, err error) {
	if len(b) == 0 {
		return s, nil
	}
	if b[0] != stateForm {
		return s, errors.New("decode session state: of another version")
	}
	c := stateCodec{in: string(b[1:])} // texts are parts of it
	fields := s.fields()
	for i, field := range fields {
		if c.in != "" && c.in[0] == byte(i+1) {
			c.in = c.in[1:]
			c.value(field)
		}
	}
	if c.err == nil && c.in != "" && int(c.in[0]) <= len(fields) { // a later version has more
		c.err = errors.New("its fields are out of order")
	}
	if c.err != nil {
		return s, fmt.Errorf("decode session state: %w", c.err)
	}
	return s, nil
}

// stateCodec writes the values of fields to out, or reads them from in if out is nil.
type stateCodec struct {
	out []byte
	in  string
	err error
}

// value writes or reads the value of a field, which is not zero.
func (c *stateCodec) value(field any) {
	switch f := field.(type) {
	case *int:
		*f = int(c.number(int64(*f)))
	case *int64:
		*f = c.number(*f)
	case *uint64:
		*f = uint64(c.number(int64(*f)))
	case *float64:
		*f = math.Float64frombits(bits.ReverseBytes64(uint64(c.number(int64(bits.ReverseBytes64(math.Float64bits(*f)))))))
	case *bool:
		*f = true
	case *string:
		*f = c.text(*f)
	case *[]string:
		if n := c.number(int64(len(*f))); c.out == nil {
			*f = make([]string, max(0, min(n, int64(len(c.in))))) // each takes a byte at least
		}
		for i := range *f {
			(*f)[i] = c.text((*f)[i])
		}
	case *time.Time:
		*f = time.Unix(c.number(f.Unix()), c.number(int64(f.Nanosecond()))).UTC()
	}
}

func (c *stateCodec) fail() {
	c.in, c.err = "", errors.New("it is truncated")
}

func (c *stateCodec) number(v int64) int64 {
	if c.out != nil {
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

func (c *stateCodec) text(text string) string {
	n := c.number(int64(len(text)))
	if c.out != nil {
		c.out = append(c.out, text...)
		return text
	}
	if n < 0 || n > int64(len(c.in)) {
		c.fail()
		return ""
	}
	text, c.in = c.in[:n], c.in[n:]
	return text
}
