package transcript

import "bytes"

// Readable returns the text that a person finds in an item: of a string its text, of a list the texts of its blocks
// joined by newline, of a call's input or a result that is a JSON object (also one in a string) that JSON with the
// escapes in its strings undone. Images, and reasoning that is kept encrypted, have none. same tells that the text is
// what Original gives. The result may be a view of raw.
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
	if kind == Thinking && !bytes.ContainsAny(text, " \n") {
		return nil, false // no language is written so: it is encrypted, or a signature
	}
	if (kind == Call || kind == Result) && len(text) > 1 && text[0] == '{' && Valid(text) {
		return unescapedJSON(text), false
	}
	return text, true
}

func readableList(n Node) (text []byte, same bool) {
	same = true
	count := 0
	for block := range n.Elements() {
		t := blockText(block)
		if !t.Is('"') {
			same = false
			if isImage(block) {
				continue
			}
		}
		if count++; count > 1 {
			text = append(text, '\n')
		}
		if t.Is('"') {
			text = unquote(text, t.Raw)
		} else {
			text = append(text, unescapedJSON(block.Raw)...)
		}
	}
	return text, same && count > 0
}

// unescapedJSON returns a valid JSON value with the escapes in its strings undone, or the value itself where it has
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

// Forget makes the decoder forget which tools the calls named that it has seen, so that lines which do not follow each
// other in the file may be decoded with it.
func (d *Decoder) Forget() {
	if len(d.tools.tools) > 0 {
		d.tools = newCallTable()
	}
	d.State = nil
}
