package install

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"ccd/internal/words"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// document is a JSON text that is edited in place: all other bytes stay as they are.
type document struct {
	path string // for messages
	text []byte // as it was parsed
	mark []byte // its byte order mark
	root *hujson.Value
}

// parse reads a JSON text, in which there may be comments if the agent accepts them. An error names the file and the line. A text that
// is only white space has no root.
func parse(path string, text []byte, comments bool) (*document, error) {
	d := &document{path: path, text: text}
	rest, marked := bytes.CutPrefix(text, byteOrderMark)
	if marked {
		d.mark = byteOrderMark
	}
	if len(bytes.Trim(rest, " \t\r\n")) == 0 {
		return d, nil
	}
	// hujson takes more than JSON: comments, and commas at the end.
	plain := rest
	if comments {
		plain = uncommented(rest)
	}
	if len(bytes.TrimSpace(plain)) == 0 {
		return d, d.bad(errors.New("comments only"), 0)
	}
	strict := jsontext.NewDecoder(bytes.NewReader(plain), jsontext.AllowInvalidUTF8(true))
	_, err := strict.ReadValue()
	if err == nil {
		if _, err = strict.ReadToken(); err == nil {
			err = errors.New("more text after the value")
		}
	}
	if err != io.EOF {
		return d, d.bad(err, int(strict.InputOffset()))
	}
	root, err := hujson.Parse(bytes.Clone(rest))
	if err != nil {
		return d, d.bad(err, 0)
	}
	d.root = &root
	return d, nil
}

// uncommented returns a text with blanks in place of its comments.
func uncommented(text []byte) []byte {
	text = bytes.Clone(text)
	for i := 0; i < len(text); i++ {
		end := 0
		switch rest := text[i:]; {
		case rest[0] == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			continue
		case bytes.HasPrefix(rest, []byte("//")):
			if end = bytes.IndexByte(rest, '\n'); end < 0 {
				end = len(rest)
			}
		case bytes.HasPrefix(rest, []byte("/*")):
			if end = bytes.Index(rest, []byte("*/")) + 2; end < 2 {
				return text
			}
		}
		for ; end > 0; end-- {
			if text[i] != '\n' {
				text[i] = ' '
			}
			i++
		}
	}
	return text
}

// bytes returns the text with all edits.
func (d *document) bytes() []byte {
	if d.root == nil {
		return d.text
	}
	return slices.Concat(d.mark, d.root.Pack())
}

// bad adds the line to an error of the parser.
func (d *document) bad(err error, at int) error {
	cause := err.Error()
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		at = int(syntax.ByteOffset)
		if syntax.Err != nil {
			cause = syntax.Err.Error()
		}
	}
	if errors.Is(err, jsontext.ErrDuplicateName) { // which of them the agent reads is not known
		cause = string(syntax.JSONPointer.LastToken()) + " appears twice"
	}
	err = fmt.Errorf("read %s:%d: %s", d.path, d.line(at), strings.TrimPrefix(cause, "jsontext: "))
	if rest := bytes.TrimLeft(d.text[min(len(d.mark)+at, len(d.text)):], " \t\r\n"); bytes.HasPrefix(rest, []byte("//")) || bytes.HasPrefix(rest, []byte("/*")) {
		return words.Hint(err, "remove the comment: JSON has none")
	}
	return words.Hint(err, "fix the file, then try again")
}

// line returns the line of an offset behind the byte order mark.
func (d *document) line(at int) int {
	return 1 + bytes.Count(d.text[:min(len(d.mark)+at, len(d.text))], []byte("\n"))
}

// wrong is an error about a value.
func (d *document) wrong(v *hujson.Value, format string, args ...any) error {
	return words.Hint(fmt.Errorf("read %s:%d: %s", d.path, d.line(v.StartOffset), fmt.Sprintf(format, args...)), "fix the file, then try again")
}

// check fails if the value at path, which ccd will edit, is not of that kind. It may be missing.
func (d *document) check(kind hujson.Kind, path ...string) error {
	for i, v := 0, d.root; v != nil; i++ {
		want := hujson.Kind('{')
		if i == len(path) {
			want = kind
		}
		if got := v.Value.Kind(); got != want {
			where := "the whole"
			if i > 0 {
				where = strings.Join(path[:i], ".")
			}
			return d.wrong(v, "%s is %s, expected %s", where, kinds[got], kinds[want])
		}
		if i == len(path) {
			return nil
		}
		v = get(v, path[i])
	}
	return nil
}

var kinds = map[hujson.Kind]string{'{': "an object", '[': "an array", '"': "a string", '0': "a number", 't': "true", 'f': "false", 'n': "null"}

// get returns the value at a path of names, nil if there is none.
func (d *document) get(path ...string) *hujson.Value { return get(d.root, path...) }

func get(v *hujson.Value, path ...string) *hujson.Value {
	for _, name := range path {
		i := index(v, name)
		if i < 0 {
			return nil
		}
		v = &v.Value.(*hujson.Object).Members[i].Value
	}
	return v
}

// index returns the index of a member, -1 if there is none.
func index(v *hujson.Value, name string) int {
	if v == nil {
		return -1
	}
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return -1
	}
	return slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return stringOf(&m.Name) == name })
}

// stringOf returns the text of a string value, "" for any other.
func stringOf(v *hujson.Value) string {
	if v == nil || v.Value.Kind() != '"' {
		return ""
	}
	return v.Value.(hujson.Literal).String()
}

// elements returns the elements of an array, none for any other value.
func elements(v *hujson.Value) []hujson.Value {
	if v != nil {
		if a, ok := v.Value.(*hujson.Array); ok {
			return a.Elements
		}
	}
	return nil
}

// stringsOf returns the strings of an array, false for any other value.
func stringsOf(v *hujson.Value) (all []string, ok bool) {
	for _, e := range elements(v) {
		if e.Value.Kind() != '"' {
			return nil, false
		}
		all = append(all, stringOf(&e))
	}
	return all, v != nil && v.Value.Kind() == '['
}

// count returns the number of members or elements.
func count(v *hujson.Value) int {
	if o, ok := v.Value.(*hujson.Object); ok {
		return len(o.Members)
	}
	return len(elements(v))
}

// around returns the white space before and behind a member or an element.
func around(v *hujson.Value, i int) (before, after *hujson.Extra) {
	if o, ok := v.Value.(*hujson.Object); ok {
		return &o.Members[i].Name.BeforeExtra, &o.Members[i].Value.AfterExtra
	}
	e := &elements(v)[i]
	return &e.BeforeExtra, &e.AfterExtra
}

// style is how a text is laid out, so that what ccd adds looks like the rest.
type style struct {
	eol, unit string
	space     bool // after colons and commas
	lines     bool // each member is on its own line
}

func (d *document) style() style {
	s := style{eol: lineEnd(d.text), unit: "  ", space: true, lines: true}
	if d.root == nil || count(d.root) == 0 {
		return s
	}
	lead, _ := around(d.root, 0)
	if s.lines = bytes.Contains(*lead, []byte("\n")); s.lines && lastLine(*lead) != "" {
		s.unit = lastLine(*lead)
	}
	if o, ok := d.root.Value.(*hujson.Object); ok {
		s.space = len(o.Members[0].Name.AfterExtra)+len(o.Members[0].Value.BeforeExtra) > 0
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

// lastLine returns the blanks and tabs at the beginning of the last line of white space and comments.
func lastLine(extra hujson.Extra) string {
	line := extra[bytes.LastIndexByte(extra, '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// hasComment reports whether white space has a comment in it.
func hasComment(extra hujson.Extra) bool { return bytes.IndexByte(extra, '/') >= 0 }

// render lays out a value; indent is that of the line where it begins.
func (s style) render(value any, indent string, lines bool) (hujson.Value, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return hujson.Value{}, err
	}
	text := jsontext.Value(raw)
	layout := []jsontext.Options{jsontext.SpaceAfterColon(s.space), jsontext.SpaceAfterComma(s.space)}
	if lines {
		layout = []jsontext.Options{jsontext.SpaceAfterColon(s.space), jsontext.WithIndentPrefix(indent), jsontext.WithIndent(s.unit)}
	}
	if err := text.Format(layout...); err != nil {
		return hujson.Value{}, err
	}
	return hujson.Parse(bytes.ReplaceAll(text, []byte("\n"), []byte(s.eol)))
}

// put adds value at the path, which must be free, as the last member of its object, and makes the objects on the way.
func (d *document) put(value any, path ...string) error {
	for i := len(path) - 1; i >= 0; i-- {
		if in := d.get(path[:i]...); in != nil {
			return errors.Join(d.check('{', path[:i]...), d.insert(in, path[:i], path[i], value))
		}
		value = map[string]any{path[i]: value}
	}
	s := d.style()
	root, err := s.render(value, "", true)
	root.AfterExtra = hujson.Extra(s.eol)
	d.root = &root
	return err
}

// push adds value as the last element of the array at path.
func (d *document) push(value any, path ...string) error {
	if in := d.get(path...); in != nil {
		return d.insert(in, path, "", value)
	}
	return d.put([]any{value}, path...)
}

// insert adds value at the end of the container at path, an object if a name is given. Only the white space in an empty
// container without comments is lost; otherwise cut restores the text.
func (d *document) insert(in *hujson.Value, path []string, name string, value any) error {
	s := d.style()
	indent := d.indent(path)
	lead, end, inner, lines := "", "", indent+s.unit, s.lines
	switch empty := count(in) == 0; {
	case empty && hasComment(inside(in)): // it may end the line
		lead, end = string(inside(in))+s.eol+inner, s.eol+indent
	case empty && lines:
		lead, end = s.eol+inner, s.eol+indent
	case !empty:
		first, _ := around(in, 0)
		if lines = bytes.Contains(*first, []byte("\n")); lines {
			inner = lastLine(*first)
			lead = s.eol + inner
		} else if s.space {
			lead = " "
		}
	}
	v, err := s.render(value, inner, lines)
	if err != nil {
		return err
	}
	switch c := in.Value.(type) {
	case *hujson.Object:
		if len(c.Members) == 0 {
			c.AfterExtra = hujson.Extra(end)
		}
		if s.space {
			v.BeforeExtra = hujson.Extra(" ")
		}
		c.Members = append(c.Members, hujson.ObjectMember{Name: hujson.Value{BeforeExtra: hujson.Extra(lead), Value: hujson.String(name)}, Value: v})
	case *hujson.Array:
		if len(c.Elements) == 0 {
			c.AfterExtra = hujson.Extra(end)
		}
		v.BeforeExtra = hujson.Extra(lead)
		c.Elements = append(c.Elements, v)
	}
	return nil
}

// inside returns what is in an empty container.
func inside(v *hujson.Value) hujson.Extra {
	if o, ok := v.Value.(*hujson.Object); ok {
		return o.AfterExtra
	}
	return v.Value.(*hujson.Array).AfterExtra
}

// indent returns the white space at the start of the line where the value at path begins.
func (d *document) indent(path []string) string {
	indent := lastLine(d.root.BeforeExtra)
	for i := range path {
		before, _ := around(d.get(path[:i]...), index(d.get(path[:i]...), path[i]))
		for _, extra := range []hujson.Extra{*before, d.get(path[:i+1]...).BeforeExtra} {
			if bytes.Contains(extra, []byte("\n")) {
				indent = lastLine(extra)
			}
		}
	}
	return indent
}

// set replaces a value.
func (d *document) set(v *hujson.Value, value any) error {
	now, err := d.style().render(value, "", false)
	v.Value = now.Value
	return err
}

// setText replaces a text if it differs.
func (d *document) setText(v *hujson.Value, now string) error {
	if stringOf(v) == now {
		return nil
	}
	return d.set(v, now)
}

// cut removes member or element i from a container, with its comma.
func cut(v *hujson.Value, i int) {
	before, after := around(v, i)
	var rest hujson.Extra // comments
	switch {
	case i > 0:
		_, last := around(v, i-1)
		if *last = *after; hasComment(*before) {
			*last = append(slices.Clone(*before), *after...)
		}
	case count(v) > 1:
		next, _ := around(v, 1)
		*next = *before
	case hasComment(*before):
		if j := bytes.LastIndexByte(*before, '\n'); j >= 0 {
			rest = (*before)[:j]
		}
	}
	switch c := v.Value.(type) {
	case *hujson.Object:
		if c.Members = slices.Delete(c.Members, i, i+1); len(c.Members) == 0 {
			c.AfterExtra = rest
		}
	case *hujson.Array:
		if c.Elements = slices.Delete(c.Elements, i, i+1); len(c.Elements) == 0 {
			c.AfterExtra = rest
		}
	}
}

// prune removes the container at path if it is empty, then its parents, but not the root.
func (d *document) prune(path ...string) {
	for i := len(path); i > 0; i-- {
		v, parent := d.get(path[:i]...), d.get(path[:i-1]...)
		if v == nil || count(v) > 0 || hasComment(inside(v)) || v.Value.Kind() != '{' && v.Value.Kind() != '[' {
			return
		}
		cut(parent, index(parent, path[i-1]))
	}
}
