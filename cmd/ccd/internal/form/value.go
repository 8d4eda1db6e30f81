package form

import (
	"bytes"
	"iter"

	"github.com/go-json-experiment/json/jsontext"

	"ccd/internal/transcript"
)

// reading accepts what agents write: duplicate names, bytes that are not UTF-8.
func reading(raw []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

func valid(raw []byte) bool {
	return jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// value is a JSON value and where it begins.
type value struct {
	raw []byte
	off int
}

// members gives the members of a JSON object in order; none of another value. A value that is not valid ends it.
func (v value) members() iter.Seq2[string, value] {
	return func(yield func(string, value) bool) {
		d := reading(v.raw)
		if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
			return
		}
		for d.PeekKind() == '"' {
			name, err := d.ReadToken()
			if err != nil {
				return
			}
			key := name.String()
			member, err := v.next(d)
			if err != nil || !yield(key, member) {
				return
			}
		}
	}
}

// elements gives the elements of a JSON array in order; none of another value.
func (v value) elements() iter.Seq[value] {
	return func(yield func(value) bool) {
		d := reading(v.raw)
		if t, err := d.ReadToken(); err != nil || t.Kind() != '[' {
			return
		}
		for d.PeekKind() != ']' {
			e, err := v.next(d)
			if err != nil || !yield(e) {
				return
			}
		}
	}
}

// next reads the next value within v: a part of its bytes.
func (v value) next(d *jsontext.Decoder) (value, error) {
	raw, err := d.ReadValue()
	end := int(d.InputOffset())
	return value{v.raw[end-len(raw) : end : end], v.off + end - len(raw)}, err
}

// object is the members of an object that are asked for by name; the last of a name wins.
func object(raw []byte) map[string][]byte {
	all := map[string][]byte{}
	for name, member := range (value{raw: raw}).members() {
		all[name] = member.raw
	}
	return all
}

func is(raw []byte, kind byte) bool { return len(raw) > 0 && raw[0] == kind }

// text is the text of a JSON string, "" of any other value.
func text(raw []byte) string {
	if !is(raw, '"') {
		return ""
	}
	return string(transcript.Original(transcript.Text, raw))
}

// textsOf is the text blocks of a result's content, without its images.
func textsOf(raw []byte) []byte {
	var parts [][]byte
	for e := range (value{raw: raw}).elements() {
		if f := object(e.raw); is(f["text"], '"') {
			parts = append(parts, e.raw)
		}
	}
	if len(parts) == 0 {
		return []byte(`""`)
	}
	return append(append([]byte{'['}, bytes.Join(parts, []byte{','})...), ']')
}

// utf is a copy of a value that is UTF-8: what is not becomes U+FFFD.
func utf(raw []byte) []byte { return bytes.ToValidUTF8(bytes.Clone(raw), []byte("\ufffd")) }
