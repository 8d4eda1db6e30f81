package form

import (
	"bytes"
	"iter"

	"github.com/go-json-experiment/json/jsontext"

	"ccd/internal/transcript"
)

// reading accepts what agents write: duplicate names, bytes that are not UTF-8.
func reading(raw []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

func valid(raw []byte) bool {
	return jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// members gives the members of a JSON object in order; none of another value. A value that is not valid ends it.
func members(raw []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		d := reading(raw)
		if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
			return
		}
		for d.PeekKind() == '"' {
			name, err := d.ReadToken()
			if err != nil {
				return
			}
			key := name.String()
			value, err := d.ReadValue()
			if err != nil || !yield(key, bytes.Clone(value)) {
				return
			}
		}
	}
}

// elements gives the elements of a JSON array in order; none of another value.
func elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		d := reading(raw)
		if t, err := d.ReadToken(); err != nil || t.Kind() != '[' {
			return
		}
		for d.PeekKind() != ']' {
			value, err := d.ReadValue()
			if err != nil || !yield(bytes.Clone(value)) {
				return
			}
		}
	}
}

// object is the members of an object that are asked for by name; the last of a name wins.
func object(raw []byte) map[string][]byte {
	all := map[string][]byte{}
	for name, value := range members(raw) {
		all[name] = value
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
	for e := range elements(raw) {
		if f := object(e); is(f["text"], '"') {
			parts = append(parts, e)
		}
	}
	if len(parts) == 0 {
		return []byte(`""`)
	}
	return append(append([]byte{'['}, bytes.Join(parts, []byte{','})...), ']')
}

// utf is a copy of a value that is UTF-8: what is not becomes U+FFFD.
func utf(raw []byte) []byte { return bytes.ToValidUTF8(bytes.Clone(raw), []byte("\ufffd")) }
