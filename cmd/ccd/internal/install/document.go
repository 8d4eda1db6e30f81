package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"ccd/internal/words"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// document is a JSON text that is edited in place: comments, and what others wrote, stay.
type document struct {
	path string // for messages
	text []byte // without its byte order mark, as it was parsed
	root hujson.Value
}

// parse reads a JSON text, in which there may be comments if the agent accepts them. An error names the file and the line. A text that
// is only white space is an empty object.
func parse(path string, text []byte, comments bool) (*document, error) {
	d := &document{path: path, text: bytes.TrimPrefix(text, byteOrderMark)}
	if len(bytes.Trim(d.text, " \t\r\n")) == 0 {
		d.text = []byte("{}\n")
	}
	plain := append(bytes.Clone(d.text), '\n') // a comment in the last line needs its end
	var err error
	if d.root, err = hujson.Parse(bytes.Clone(plain)); err != nil {
		return d, words.Hint(fmt.Errorf("read %s: %s", path, strings.TrimPrefix(err.Error(), "hujson: ")), "fix the file, then try again")
	}
	if comments {
		plain, _ = hujson.Standardize(plain) // white space in their place
	}
	// hujson takes more than JSON: comments, commas at the end, a name twice.
	strict := jsontext.NewDecoder(bytes.NewReader(plain), jsontext.AllowInvalidUTF8(true))
	if _, err := strict.ReadValue(); err != nil {
		return d, d.bad(err, int(strict.InputOffset()))
	}
	return d, nil
}

// bytes returns the text with all edits, without a byte order mark.
func (d *document) bytes() []byte { return bytes.TrimSuffix(d.root.Pack(), []byte("\n")) }

// bad adds the line to an error of the parser.
func (d *document) bad(err error, at int) error {
	cause := err.Error()
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		at, cause = int(syntax.ByteOffset), fmt.Sprint(syntax.Err)
	}
	if errors.Is(err, jsontext.ErrDuplicateName) { // which of them the agent reads is not known
		cause = syntax.JSONPointer.LastToken() + " appears twice"
	}
	return d.wrong(at, "%s", strings.TrimPrefix(cause, "jsontext: "))
}

// line returns the line of an offset.
func (d *document) line(at int) int {
	return 1 + bytes.Count(d.text[:min(at, len(d.text))], []byte("\n"))
}

// wrong is an error about what is at an offset.
func (d *document) wrong(at int, format string, args ...any) error {
	return words.Hint(fmt.Errorf("read %s:%d: %s", d.path, d.line(at), fmt.Sprintf(format, args...)), "fix the file, then try again")
}

var kinds = map[hujson.Kind]string{'{': "an object", '[': "an array", '"': "a string", '0': "a number", 't': "true", 'f': "false", 'n': "null"}

func pointer(path ...string) (p jsontext.Pointer) {
	for _, name := range path {
		p = p.AppendToken(name)
	}
	return p
}

// get returns the value at a path of names, nil if there is none.
func (d *document) get(path ...string) *hujson.Value { return get(&d.root, path...) }

func get(v *hujson.Value, path ...string) *hujson.Value {
	if v == nil {
		return nil
	}
	return v.Find(string(pointer(path...)))
}

// stringOf returns the text of a string value, "" for any other.
func stringOf(v *hujson.Value) string {
	if v == nil || v.Value.Kind() != '"' {
		return ""
	}
	return v.Value.(hujson.Literal).String()
}

// members yields the names and values of an object, none of any other value.
func members(v *hujson.Value) iter.Seq2[string, *hujson.Value] {
	return func(yield func(string, *hujson.Value) bool) {
		if v == nil {
			return
		}
		if o, ok := v.Value.(*hujson.Object); ok {
			for i := range o.Members {
				if m := &o.Members[i]; !yield(stringOf(&m.Name), &m.Value) {
					return
				}
			}
		}
	}
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

// last returns the last value of an object or an array, and the white space before it; nil if there is none.
func last(v *hujson.Value) (value *hujson.Value, before *hujson.Extra) {
	switch c := v.Value.(type) {
	case *hujson.Object:
		if n := len(c.Members); n > 0 {
			return &c.Members[n-1].Value, &c.Members[n-1].Name.BeforeExtra
		}
	case *hujson.Array:
		if n := len(c.Elements); n > 0 {
			return &c.Elements[n-1], &c.Elements[n-1].BeforeExtra
		}
	}
	return nil, nil
}

// inside returns what is before the end of an object or an array, nil for any other value.
func inside(v *hujson.Value) *hujson.Extra {
	switch c := v.Value.(type) {
	case *hujson.Object:
		return &c.AfterExtra
	case *hujson.Array:
		return &c.AfterExtra
	}
	return nil
}

// put adds value at the path, which must be free, as the last member of its object, on lines of its own, and makes the objects on the way.
// The name - is the end of an array.
func (d *document) put(value any, path ...string) error {
	in, n := &d.root, 0
	for ; ; n++ {
		want := hujson.Kind('{')
		if path[n] == "-" {
			want = '['
		}
		if got := in.Value.Kind(); got != want {
			return d.wrong(in.StartOffset, "%s is %s, expected %s", strings.Join(append([]string{"the whole"}, path...)[min(n, 1):n+1], "."), kinds[got], kinds[want])
		}
		there := get(in, path[n])
		if there == nil {
			break
		}
		in = there
	}
	for _, name := range slices.Backward(path[n+1:]) {
		if value = map[string]any{name: value}; name == "-" {
			value = []any{value.(map[string]any)[name]}
		}
	}
	outer := "\n" + strings.Repeat("  ", n)
	text, err := json.MarshalIndent(value, outer[1:]+"  ", "  ")
	if err != nil {
		return err
	}
	first, _ := last(in)
	empty := first == nil
	if err := d.patch("add", pointer(path[:n+1]...), text); err != nil {
		return err
	}
	v, before := last(in)
	if *before = append(*before, outer+"  "...); path[n] != "-" {
		v.BeforeExtra = hujson.Extra(" ")
	}
	if extra := inside(in); empty && !bytes.Contains(*extra, []byte("\n")) {
		*extra = append(*extra, outer...)
	}
	return nil
}

// remove removes the value at a pointer, and the objects and arrays around it that are empty then, but not the root.
func (d *document) remove(at jsontext.Pointer) {
	for empty := true; empty && at != ""; at = at.Parent() {
		if d.patch("remove", at, []byte("null")) != nil { // it is not there
			return
		}
		in := d.root.Find(string(at.Parent()))
		v, _ := last(in)
		if extra := inside(in); v != nil && v.AfterExtra != nil { // otherwise it ends with a comma
			*extra, v.AfterExtra = append(slices.Clone(v.AfterExtra), *extra...), nil
		}
		empty = v == nil && !bytes.Contains(*inside(in), []byte("/"))
	}
}

func (d *document) patch(op string, at jsontext.Pointer, value []byte) error {
	return d.root.Patch([]byte(`[{"op": "` + op + `", "path": ` + string(hujson.String(string(at))) + `, "value": ` + string(value) + `}]`))
}
