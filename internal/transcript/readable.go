package transcript

import (
	"bytes"
	"strings"
)

// Readable returns an item's text for a person: a string's text, the joined texts of a list, or, for a call's input or
// a result that is a JSON object (possibly in a string), the JSON with the escapes in its strings decoded. Images and
// encrypted reasoning have none. same means that the text equals the result of Original. The result may be a view of
// raw.
func Readable(kind Kind, raw []byte) (text []byte, same bool) {
	switch {
	case kind == Image:
		return nil, false
	case kind == File:
		return raw, true
	case quoted(raw):
		return readableText(kind, unquote(nil, raw))
	case !Valid(raw):
		return raw, true
	}
	n := Node{Raw: bytes.Trim(raw, " \t\r\n")}
	switch {
	case isImage(n):
		return nil, false
	case n.Is('['):
		return readableList(n)
	case n.Is('{'):
		return unescapedJSON(n.Raw), false
	}
	return raw, true
}

func readableText(kind Kind, text []byte) ([]byte, bool) {
	if kind == Thinking && !bytes.ContainsFunc(text, notBase64) {
		return nil, false // one word of nothing else: encrypted, or a signature
	}
	if (kind == Call || kind == Result) && len(text) > 1 && text[0] == '{' && Valid(text) {
		return unescapedJSON(text), false
	}
	return text, true
}

func notBase64(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("+/-_=", r)
}

func readableList(n Node) (text []byte, same bool) {
	same = true
	text, count := joined(n, func(block Node) []byte {
		same = false
		if isImage(block) {
			return nil
		}
		return unescapedJSON(block.Raw)
	})
	return text, same && count > 0
}

// unescapedJSON returns a valid JSON value with the escapes in its strings decoded, or the value itself if there are
// none.
func unescapedJSON(value []byte) []byte {
	if bytes.IndexByte(value, '\\') < 0 {
		return value
	}
	text := make([]byte, 0, len(value))
	for {
		i := bytes.IndexByte(value, '"')
		if i < 0 {
			return append(text, value...)
		}
		end := skipString(value, i)
		text = append(text, value[:i+1]...)
		text = append(unquote(text, value[i:end]), '"')
		value = value[end:]
	}
}

// Forget drops the tools of earlier calls, so that the decoder can be used for lines that are not consecutive.
func (d *Decoder) Forget() {
	d.tools, d.State = recent[string]{}, nil
}
