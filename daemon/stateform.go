package daemon

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"time"
)

// stateForm is the first byte of a stored State.
const stateForm = 5

// fields returns what is stored of a state. A field is stored as its number and its value; a zero one is left out. The numbers
// are the places in this list: a new field comes last. Lists of sessions decode thousands of states, so there is no reflection.
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
	out := []byte{stateForm}
	for i, field := range s.fields() {
		n, v := byte(i+1), int64(0)
		switch f := field.(type) {
		case *int:
			v = int64(*f)
		case *int64:
			v = *f
		case *uint64:
			v = int64(*f)
		case *float64:
			v = int64(bits.ReverseBytes64(math.Float64bits(*f)))
		case *bool:
			if *f {
				out = append(out, n)
			}
		case *string:
			if *f != "" {
				out = appendText(append(out, n), *f)
			}
		case *[]string:
			if len(*f) > 0 {
				out = binary.AppendVarint(append(out, n), int64(len(*f)))
			}
			for _, text := range *f {
				out = appendText(out, text)
			}
		case *time.Time:
			if !f.IsZero() {
				out = binary.AppendVarint(append(out, n), f.Unix())
				out = binary.AppendVarint(out, int64(f.Nanosecond()))
			}
		}
		if v != 0 {
			out = binary.AppendVarint(append(out, n), v)
		}
	}
	return out
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendVarint(to, int64(len(text))), text...)
}

// DecodeState decodes a stored state. Empty input is the zero State.
func DecodeState(b []byte) (s State, err error) {
	if len(b) == 0 {
		return s, nil
	}
	if b[0] != stateForm {
		return s, errors.New("decode session state: of another version")
	}
	in := fieldReader{rest: string(b[1:])} // texts are parts of it
	fields := s.fields()
	for i, field := range fields {
		if in.rest == "" || in.rest[0] != byte(i+1) {
			continue
		}
		in.rest = in.rest[1:]
		switch f := field.(type) {
		case *int:
			*f = int(in.number())
		case *int64:
			*f = in.number()
		case *uint64:
			*f = uint64(in.number())
		case *float64:
			*f = math.Float64frombits(bits.ReverseBytes64(uint64(in.number())))
		case *bool:
			*f = true
		case *string:
			*f = in.text()
		case *[]string:
			for n := in.number(); n > 0 && in.err == nil; n-- {
				*f = append(*f, in.text())
			}
		case *time.Time:
			*f = time.Unix(in.number(), in.number()).UTC()
		}
	}
	if in.err == nil && in.rest != "" && int(in.rest[0]) <= len(fields) { // a later version has more
		in.err = errors.New("its fields are out of order")
	}
	if in.err != nil {
		return s, fmt.Errorf("decode session state: %w", in.err)
	}
	return s, nil
}

// fieldReader reads the values of fields.
type fieldReader struct {
	rest string
	err  error
}

func (r *fieldReader) fail() {
	r.rest, r.err = "", errors.New("it is truncated")
}

func (r *fieldReader) number() int64 {
	var u uint64
	for i := 0; i < len(r.rest) && i < binary.MaxVarintLen64; i++ {
		u |= uint64(r.rest[i]&0x7f) << (7 * i)
		if r.rest[i] < 0x80 {
			r.rest = r.rest[i+1:]
			return int64(u>>1) ^ -int64(u&1)
		}
	}
	r.fail()
	return 0
}

func (r *fieldReader) text() (text string) {
	n := r.number()
	if n < 0 || n > int64(len(r.rest)) {
		r.fail()
		return ""
	}
	text, r.rest = r.rest[:n], r.rest[n:]
	return text
}
