package form

import (
	"bytes"
	"strings"
)

// message is one message of the list.
type message struct {
	role    string
	blocks  []block
	limit   int      // chars of each block at the most
	element *element // of a plain list: how it stood there
}

// element is a message of a plain list as it stood: its members in order.
type element struct {
	raw     []byte
	members []member
}

type member struct {
	name  string
	value []byte
	part  int
}

// The members of a message that hold blocks.
const (
	noPart      = iota
	wholePart   // content that is one string
	contentPart // content that is a list
	callsPart   // tool_calls
)

// ofList takes a message of a plain list apart. A value that is no message is none.
func ofList(raw []byte) (message, bool) {
	raw = bytes.TrimSpace(raw)
	if !is(raw, '{') || !valid(raw) {
		return message{}, false
	}
	f := object(raw)
	m := message{role: text(f["role"]), element: &element{raw: utf(raw)}}
	if m.role == "" {
		return m, false
	}
	for name, value := range members(raw) {
		part := noPart
		switch {
		case name == "content" && is(value, 'n'):
			part = contentPart
		case name == "content" && is(value, '['):
			part = contentPart
			for e := range elements(value) {
				m.blocks = append(m.blocks, listBlock(e))
			}
		case name == "content" && is(value, '"'):
			part = wholePart
			b := newBlock(isText, value)
			b.part = wholePart
			if m.role == "tool" {
				b.kind, b.call = isResult, text(f["tool_call_id"])
			}
			m.blocks = append(m.blocks, b)
		case name == "tool_calls" && is(value, '['):
			part = callsPart
			for e := range elements(value) {
				m.blocks = append(m.blocks, askedBlock(e))
			}
		}
		m.element.members = append(m.element.members, member{name, value, part})
	}
	return m, true
}

// listBlock is a block of a content list, in Anthropic's form.
func listBlock(raw []byte) block {
	if is(raw, '"') {
		b := newBlock(isText, raw)
		b.part = contentPart
		return b
	}
	f := object(raw)
	kind := text(f["type"])
	b := block{kind: isOther, value: utf(raw)}
	switch {
	case strings.HasSuffix(kind, "thinking"):
		b = block{dropped: true}
	case is(f["text"], '"'):
		b = within(raw, "text", isText)
	case strings.HasSuffix(kind, "tool_use") && f["input"] != nil:
		b = within(raw, "input", isCall)
		b.call, b.tool = text(f["id"]), text(f["name"])
	case strings.HasSuffix(kind, "tool_use"):
		b.kind, b.call, b.tool = isCall, text(f["id"]), text(f["name"])
	case strings.HasSuffix(kind, "tool_result"):
		b = block{kind: isResult, value: utf(raw)}
		if f["content"] != nil {
			b = within(raw, "content", isResult)
			b.pictures = holdsPictures(f["content"])
		}
		b.call = text(f["tool_use_id"])
	case strings.Contains(kind, "image") || kind == "document":
		b = newBlock(isImage, raw)
	}
	b.part = contentPart
	return b
}

// askedBlock is a call in the other common form: {"id", "function": {"name", "arguments"}}.
func askedBlock(raw []byte) block {
	f := object(raw)
	inner := object(f["function"])
	b := block{kind: isCall, value: utf(raw)}
	if is(inner["arguments"], '"') {
		b = within(f["function"], "arguments", isCall)
		b.argument = true
		before, behind := around(raw, "function")
		b.around[0], b.around[1] = append(before, b.around[0]...), append(b.around[1], behind...)
	}
	b.call, b.tool, b.part = text(f["id"]), text(inner["name"]), callsPart
	return b
}

func holdsPictures(content []byte) bool {
	for e := range elements(content) {
		if kind := text(object(e)["type"]); strings.Contains(kind, "image") || kind == "document" {
			return true
		}
	}
	return false
}

// within is the block whose value is one member of an object.
func within(raw []byte, name string, kind sort) block {
	f := object(raw)
	b := newBlock(kind, f[name])
	b.around[0], b.around[1] = around(raw, name)
	return b
}

// around gives an object without the value of one member: what stands before it and what behind. Of a name that stands
// twice only the last one is kept.
func around(raw []byte, name string) (before, behind []byte) {
	var first, second [][]byte
	for key, value := range members(raw) {
		pair := append([]byte(quoted(key)+":"), utf(value)...)
		switch {
		case key == name:
			first, second = append(first, second...), nil
			before = []byte(quoted(key) + ":")
		case before == nil:
			first = append(first, pair)
		default:
			second = append(second, pair)
		}
	}
	comma := []byte{','}
	before = append([]byte{'{'}, bytes.Join(append(first, before), comma)...)
	if len(second) > 0 {
		behind = append(comma, bytes.Join(second, comma)...)
	}
	return before, append(behind, '}')
}

// cost is how many chars of text a message has whose blocks may have about most each.
func (m *message) cost(most int) int {
	n := 0
	for i := range m.blocks {
		n += m.blocks[i].cost(most)
	}
	return n
}

// says reports whether anything is left of a message. One that never held a block stands as it was.
func (m *message) says() bool {
	for _, b := range m.blocks {
		if !b.dropped {
			return true
		}
	}
	return len(m.blocks) == 0 && m.element != nil
}

// json is the message as it is given: one of a plain list as it stood where nothing of it had to be left out.
func (m *message) json(most int, pictures bool) []byte {
	if m.element == nil {
		return m.built(most, pictures)
	}
	same := true
	for _, b := range m.blocks {
		if b.dropped || b.told || b.chars > most && b.kind != isOther || b.giant || !pictures && (b.pictures || b.kind == isImage) {
			same = false
		}
	}
	if same {
		return m.element.raw
	}
	var parts []string
	for _, e := range m.element.members {
		value := string(utf(e.value))
		if e.part != noPart {
			value = m.part(e.part, most, pictures)
			if value == `""` && is(e.value, 'n') {
				value = "null"
			}
		}
		if value != "" {
			parts = append(parts, quoted(e.name)+":"+value)
		}
	}
	return []byte("{" + strings.Join(parts, ",") + "}")
}

// part is the content or the calls of a message as they are given, "" where nothing is left of them.
func (m *message) part(which, most int, pictures bool) string {
	var all []string
	for i := range m.blocks {
		b := &m.blocks[i]
		if b.part != which || b.dropped {
			if b.told && b.part == callsPart && which != callsPart && !b.dropped {
				all = append(all, string(textBlock([]byte(quoted(b.words())))))
			}
			continue
		}
		if which == callsPart && b.told {
			continue
		}
		all = append(all, string(b.json(most, pictures)))
	}
	switch {
	case which == wholePart && len(all) == 1:
		return all[0]
	case len(all) == 0 && which == callsPart:
		return ""
	case len(all) == 0:
		return `""`
	case which == wholePart: // its text, and calls told in words behind it
		all[0] = string(textBlock([]byte(all[0])))
	}
	return "[" + strings.Join(all, ",") + "]"
}
