package install

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"ccd/internal/words"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// document is a JSON text that is edited in place: all other bytes stay as they are. Offsets are in bytes. A text that is
// only white space has no root.
type document struct {
	path string // for messages
	text []byte
	root *node
}

// node is a value and its place.
type node struct {
	kind    jsontext.Kind
	at, end int
	names   []name // of an object, one for each of its values
	values  []*node
}

// name is the name of an object's member and its place.
type name struct {
	text    string
	at, end int
}

// parse reads a JSON text. An error names the file and the line.
func parse(path string, text []byte) (*document, error) {
	d := &document{path: path, text: text}
	return d, d.parse()
}

func (d *document) parse() error {
	d.root = nil
	skip := 0
	if bytes.HasPrefix(d.text, byteOrderMark) {
		skip = len(byteOrderMark)
	}
	if len(bytes.Trim(d.text[skip:], " \t\r\n")) == 0 {
		return nil
	}
	p := parser{jsontext.NewDecoder(bytes.NewReader(d.text[skip:]), jsontext.AllowInvalidUTF8(true)), skip}
	root, err := p.value()
	if err == nil {
		if _, err = p.ReadToken(); err == io.EOF {
			d.root = root
			return nil
		} else if err == nil {
			err = errors.New("more text after the value")
		}
	}
	return d.bad(err, p)
}

// bad adds the line to an error of the parser.
func (d *document) bad(err error, p parser) error {
	at := p.offset()
	cause := err.Error()
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		at = p.skip + int(syntax.ByteOffset)
		if syntax.Err != nil {
			cause = syntax.Err.Error()
		}
	}
	if errors.Is(err, jsontext.ErrDuplicateName) { // which of them the agent reads is not known
		cause = string(syntax.JSONPointer.LastToken()) + " appears twice"
	}
	err = fmt.Errorf("read %s:%d: %s", d.path, d.line(min(at, len(d.text))), strings.TrimPrefix(cause, "jsontext: "))
	if rest := bytes.TrimLeft(d.text[min(at, len(d.text)):], " \t\r\n"); bytes.HasPrefix(rest, []byte("//")) || bytes.HasPrefix(rest, []byte("/*")) {
		return words.Hint(err, "remove the comment: JSON has none")
	}
	return words.Hint(err, "fix the file, then try again")
}

func (d *document) line(at int) int { return 1 + bytes.Count(d.text[:at], []byte("\n")) }

// wrong is an error about the value at n.
func (d *document) wrong(n *node, format string, args ...any) error {
	return words.Hint(fmt.Errorf("read %s:%d: %s", d.path, d.line(n.at), fmt.Sprintf(format, args...)), "fix the file, then try again")
}

type parser struct {
	*jsontext.Decoder
	skip int // bytes before the decoder's first
}

func (p parser) offset() int { return p.skip + int(p.InputOffset()) }

func (p parser) value() (*node, error) {
	n := &node{kind: p.PeekKind()}
	if n.kind != '{' && n.kind != '[' {
		raw, err := p.ReadValue()
		n.end = p.offset()
		n.at = n.end - len(raw)
		return n, err
	}
	if _, err := p.ReadToken(); err != nil {
		return nil, err
	}
	n.at = p.offset() - 1
	for last := n.kind + 2; p.PeekKind() != last; { // '{' + 2 is '}', '[' + 2 is ']'
		if n.kind == '{' {
			raw, err := p.ReadValue()
			if err != nil {
				return nil, err
			}
			text, err := jsontext.AppendUnquote(nil, raw)
			if err != nil && !strings.Contains(err.Error(), "UTF-8") {
				return nil, err
			}
			n.names = append(n.names, name{string(text), p.offset() - len(raw), p.offset()})
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		n.values = append(n.values, v)
	}
	_, err := p.ReadToken()
	n.end = p.offset()
	return n, err
}

// string returns the text of a string value, "" for any other.
func (d *document) string(n *node) string {
	if n == nil || n.kind != '"' {
		return ""
	}
	s, err := jsontext.AppendUnquote(nil, d.text[n.at:n.end])
	if err != nil {
		return ""
	}
	return string(s)
}

// strings returns the strings of an array, false for any other value.
func (d *document) strings(n *node) (all []string, ok bool) {
	if n == nil || n.kind != '[' {
		return nil, false
	}
	for _, v := range n.values {
		if v.kind != '"' {
			return nil, false
		}
		all = append(all, d.string(v))
	}
	return all, true
}

// index returns the index of a member, -1 if there is none.
func (n *node) index(name string) int {
	if n == nil || n.kind != '{' {
		return -1
	}
	for i, m := range n.names {
		if m.text == name {
			return i
		}
	}
	return -1
}

// get returns the value at a path of names, nil if there is none.
func (n *node) get(path ...string) *node {
	for _, p := range path {
		i := n.index(p)
		if i < 0 {
			return nil
		}
		n = n.values[i]
	}
	return n
}

// check fails if the value at path, which ccd will edit, is not of that kind. It may be missing.
func (d *document) check(kind jsontext.Kind, path ...string) error {
	n := d.root
	for i := 0; n != nil; i++ {
		want := jsontext.Kind('{')
		if i == len(path) {
			want = kind
		}
		if n.kind != want {
			return d.wrong(n, "%s is %s, expected %s", where(path[:i]), kinds[n.kind], kinds[want])
		}
		if i == len(path) {
			return nil
		}
		n = n.get(path[i])
	}
	return nil
}

var kinds = map[jsontext.Kind]string{'{': "an object", '[': "an array", '"': "a string", '0': "a number", 't': "true", 'f': "false", 'n': "null"}

func where(path []string) string {
	if len(path) == 0 {
		return "the whole"
	}
	return strings.Join(path, ".")
}
