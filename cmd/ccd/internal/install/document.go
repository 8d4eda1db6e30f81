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
		var err error
		if plain, err = hujson.Standardize(bytes.Clone(rest)); err != nil {
			return d, words.Hint(fmt.Errorf("read %s: %s", path, strings.TrimPrefix(err.Error(), "hujson: ")), "fix the file, then try again")
		}
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

// render lays out a value at a depth in the text.
func (d *document) render(value any, depth int) (hujson.Value, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return hujson.Value{}, err
	}
	text := jsontext.Value(raw)
	unit := d.unit()
	if err := text.Format(jsontext.SpaceAfterColon(true), jsontext.WithIndentPrefix(strings.Repeat(unit, depth)), jsontext.WithIndent(unit)); err != nil {
		return hujson.Value{}, err
	}
	return hujson.Parse(bytes.ReplaceAll(text, []byte("\n"), []byte(lineEnd(d.text))))
}

// unit returns the indentation of the text.
func (d *document) unit() string {
	if d.root != nil && count(d.root) > 0 {
		if first, _ := around(d.root, 0); lastLine(*first) != "" && bytes.Contains(*first, []byte("\n")) {
			return lastLine(*first)
		}
	}
	return "  "
}

// put adds value at the path, which must be free, as the last member of its object, and makes the objects on the way.
func (d *document) put(value any, path ...string) error {
	for i := len(path) - 1; i >= 0; i-- {
		if in := d.get(path[:i]...); in != nil {
			if err := d.check('{', path[:i]...); err != nil {
				return err
			}
			return d.insert(in, i, path[i], value)
		}
		value = map[string]any{path[i]: value}
	}
	root, err := d.render(value, 0)
	root.AfterExtra = hujson.Extra(lineEnd(d.text))
	d.root = &root
	return err
}

// push adds value as the last element of the array at path.
func (d *document) push(value any, path ...string) error {
	if in := d.get(path...); in != nil {
		return d.insert(in, len(path), "", value)
	}
	return d.put([]any{value}, path...)
}

// insert adds value at the end of the container at a depth, an object if a name is given, on lines of its own.
func (d *document) insert(in *hujson.Value, depth int, name string, value any) error {
	v, err := d.render(value, depth+1)
	if err != nil {
		return err
	}
	end := lineEnd(d.text) + strings.Repeat(d.unit(), depth)
	lead := hujson.Extra(end + d.unit())
	if count(in) == 0 && hasComment(*inside(in)) {
		lead = append(slices.Clone(*inside(in)), lead...)
	}
	if count(in) == 0 {
		*inside(in) = hujson.Extra(end)
	}
	switch c := in.Value.(type) {
	case *hujson.Object:
		v.BeforeExtra = hujson.Extra(" ")
		c.Members = append(c.Members, hujson.ObjectMember{Name: hujson.Value{BeforeExtra: lead, Value: hujson.String(name)}, Value: v})
	case *hujson.Array:
		v.BeforeExtra = lead
		c.Elements = append(c.Elements, v)
	}
	return nil
}

// inside returns what is before the end of a container: all that is in it, if it is empty.
func inside(v *hujson.Value) *hujson.Extra {
	if o, ok := v.Value.(*hujson.Object); ok {
		return &o.AfterExtra
	}
	return &v.Value.(*hujson.Array).AfterExtra
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
		c.Members = slices.Delete(c.Members, i, i+1)
	case *hujson.Array:
		c.Elements = slices.Delete(c.Elements, i, i+1)
	}
	if count(v) == 0 {
		*inside(v) = rest
	}
}

// prune removes the container at path if it is empty, then its parents, but not the root.
func (d *document) prune(path ...string) {
	for i := len(path); i > 0; i-- {
		v, parent := d.get(path[:i]...), d.get(path[:i-1]...)
		if v == nil || count(v) > 0 || hasComment(*inside(v)) || v.Value.Kind() != '{' && v.Value.Kind() != '[' {
			return
		}
		cut(parent, index(parent, path[i-1]))
	}
}
