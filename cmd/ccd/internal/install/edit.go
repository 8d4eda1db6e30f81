package install

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// object, list, string, int: what ccd writes into a JSON text.
type (
	object []member
	list   []any
	member struct {
		name  string
		value any
	}
)

func listOf(texts ...string) (all list) {
	for _, t := range texts {
		all = append(all, t)
	}
	return all
}

// style is how a text is laid out, so that what ccd adds looks like the rest.
type style struct {
	eol, unit string
	colon     string // after a name: ": " or ":"
	lines     bool   // each member is on its own line
}

func (d *document) style() style {
	s := style{eol: lineEnd(d.text), unit: "  ", colon: ": ", lines: true}
	if d.root == nil || len(d.root.values) == 0 {
		return s
	}
	lead := string(d.text[d.root.at+1 : d.root.first(0)])
	if s.lines = strings.Contains(lead, "\n"); s.lines {
		if unit := lead[strings.LastIndex(lead, "\n")+1:]; unit != "" {
			s.unit = unit
		}
	}
	if d.root.kind == '{' && d.root.names[0].end+1 == d.root.values[0].at {
		s.colon = ":"
	}
	return s
}

// lineEnd returns the line end of a text.
func lineEnd(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// first returns the offset of member or element i.
func (n *node) first(i int) int {
	if n.kind == '{' {
		return n.names[i].at
	}
	return n.values[i].at
}

// splice replaces text[from:to] and parses the document again. Earlier nodes are invalid then.
func (d *document) splice(from, to int, with string) error {
	text := make([]byte, 0, len(d.text)+len(with))
	text = append(append(append(text, d.text[:from]...), with...), d.text[to:]...)
	d.text = text
	return d.parse()
}

// add adds value at the path, which must be free, as the last member of its object, and makes the objects on the way.
func (d *document) add(value any, path ...string) error {
	s := d.style()
	if d.root == nil {
		return d.splice(len(d.text)-len(bytes.TrimLeft(d.text, string(byteOrderMark))), len(d.text), s.render(nest(value, path), "", true)+s.eol)
	}
	n := d.root
	for i, p := range path {
		if n.index(p) < 0 {
			return d.insert(n, member{p, nest(value, path[i+1:])})
		}
		n = n.get(p)
	}
	return d.wrong(n, "%s already exists", where(path))
}

// nest wraps value in objects, one for each name of path.
func nest(value any, path []string) any {
	for i := len(path) - 1; i >= 0; i-- {
		value = object{{path[i], value}}
	}
	return value
}

// insert adds item, a member or an element, at the end of a container. Only the white space in an empty container is lost;
// otherwise cut restores the text.
func (d *document) insert(n *node, item any) error {
	s := d.style()
	count := len(n.values)
	if count == 0 {
		indent := d.indent(n.at)
		inner := s.render(item, indent+s.unit, s.lines)
		if s.lines {
			inner = s.eol + indent + s.unit + inner + s.eol + indent
		}
		return d.splice(n.at+1, n.end-1, inner)
	}
	lead := string(d.text[n.at+1 : n.first(0)])
	between := "," + strings.TrimPrefix(s.colon, ":")
	if i := strings.LastIndex(lead, "\n"); i >= 0 {
		between = "," + s.eol + lead[i+1:]
		return d.splice(n.values[count-1].end, n.values[count-1].end, between+s.render(item, lead[i+1:], true))
	}
	return d.splice(n.values[count-1].end, n.values[count-1].end, between+s.render(item, "", false))
}

// indent returns the white space at the start of an offset's line.
func (d *document) indent(at int) string {
	line := d.text[bytes.LastIndexByte(d.text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// cut removes member or element i from a container, with its comma.
func (d *document) cut(n *node, i int) error {
	switch {
	case i > 0:
		return d.splice(n.values[i-1].end, n.values[i].end, "")
	case len(n.values) > 1:
		return d.splice(n.first(0), n.first(1), "")
	}
	return d.splice(n.at+1, n.end-1, "")
}

// set replaces a value.
func (d *document) set(n *node, value any) error {
	return d.splice(n.at, n.end, d.style().render(value, d.indent(n.at), false))
}

// render formats a value; indent is that of the line where it begins.
func (s style) render(v any, indent string, lines bool) string {
	switch v := v.(type) {
	case member:
		return quote(v.name) + s.colon + s.render(v.value, indent, lines)
	case object:
		items := make([]any, len(v))
		for i, m := range v {
			items[i] = m
		}
		return "{" + s.items(items, indent, lines) + "}"
	case list:
		return "[" + s.items(v, indent, lines) + "]"
	case int:
		return strconv.Itoa(v)
	default:
		return quote(v.(string))
	}
}

func (s style) items(all []any, indent string, lines bool) string {
	if len(all) == 0 {
		return ""
	}
	parts := make([]string, len(all))
	for i, v := range all {
		parts[i] = s.render(v, indent+s.unit, lines)
	}
	if !lines {
		return strings.Join(parts, ","+strings.TrimPrefix(s.colon, ":"))
	}
	begin := s.eol + indent + s.unit
	return begin + strings.Join(parts, ","+begin) + s.eol + indent
}

func quote(text string) string {
	b, err := jsontext.AppendQuote(nil, text)
	if err != nil { // not UTF-8: New refuses such a path
		return strconv.Quote(text)
	}
	return string(b)
}

// prune removes the container at path if it is empty, then its parents, but not the root.
func (d *document) prune(path ...string) error {
	for i := len(path); i > 0; i-- {
		n, parent := d.root.get(path[:i]...), d.root.get(path[:i-1]...)
		if n == nil || len(n.values) > 0 || n.kind != '{' && n.kind != '[' {
			return nil
		}
		if err := d.cut(parent, parent.index(path[i-1])); err != nil {
			return err
		}
	}
	return nil
}
