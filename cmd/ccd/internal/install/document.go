package install

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
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
	p := parser{jsontext.NewDecoder(bytes.NewReader(d.text[skip:]), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), skip}
	root, err := p.value(true)
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

// leaf reads a value without its members.
func (p parser) leaf() (*node, error) {
	n := &node{kind: p.PeekKind()}
	raw, err := p.ReadValue()
	n.end = p.offset()
	n.at = n.end - len(raw)
	return n, err
}

// edited returns the top-level members that ccd edits. The others, most of an agent's state, are not parsed, because each
// edit parses the text again.
func edited() []string { return append([]string{"hooks", "permissions", statusLine}, serverNames()...) }

// serverNames returns the members with the agents' MCP servers.
func serverNames() (names []string) {
	for _, f := range connectable() {
		if at := f.Connect.Member; at != "" && !slices.Contains(names, at) {
			names = append(names, at)
		}
	}
	return names
}

func (p parser) value(top bool) (*node, error) {
	n := &node{kind: p.PeekKind()}
	if n.kind != '{' && n.kind != '[' {
		return p.leaf()
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
		read := p.leaf
		if !top || n.kind == '{' && slices.Contains(edited(), n.names[len(n.names)-1].text) {
			read = func() (*node, error) { return p.value(false) }
		}
		v, err := read()
		if err != nil {
			return nil, err
		}
		n.values = append(n.values, v)
	}
	_, err := p.ReadToken()
	n.end = p.offset()
	return n, err
}

// raw returns the text of a value.
func (d *document) raw(n *node) []byte { return d.text[n.at:n.end] }

// string returns the text of a string value, "" for any other.
func (d *document) string(n *node) string {
	if n == nil || n.kind != '"' {
		return ""
	}
	s, err := jsontext.AppendUnquote(nil, d.raw(n))
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

// check fails if the value at path, which ccd will edit, is not of that kind or its name is ambiguous. It may be missing.
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
		for j, m := range n.names {
			if m.text == path[i] && n.index(path[i]) != j {
				return d.wrong(n.values[j], "%s appears twice", where(path[:i+1]))
			}
		}
		n = n.get(path[i])
	}
	return nil
}

// single fails if a name that ccd looks for appears twice in an object, because it is not known which one the agent reads.
func (d *document) single() error {
	hooks, permissions := d.root.get("hooks"), d.root.get("permissions")
	all := []error{d.once(d.root, "", edited()...), d.once(hooks, "hooks."), d.once(permissions, "permissions.", allow), d.once(d.root.get(statusLine), statusLine+".")}
	for _, at := range serverNames() {
		all = append(all, d.once(d.root.get(at), at+".", "ccd"), d.once(d.root.get(at, "ccd"), at+".ccd."))
	}
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	for _, groups := range hooks.all() {
		for _, group := range groups.all() {
			if err := d.once(group, "hooks: "); err != nil {
				return err
			}
			for _, hook := range group.get("hooks").all() {
				if err := d.once(hook, "hooks: "); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// once fails if one of these names, or any name if none is given, appears twice in an object.
func (d *document) once(n *node, prefix string, only ...string) error {
	seen := map[string]bool{}
	for i, v := range n.all() {
		if n.kind != '{' {
			return nil
		}
		name := n.names[i].text
		if len(only) > 0 && !slices.Contains(only, name) {
			continue
		}
		if seen[name] {
			return d.wrong(v, "%s%s appears twice", prefix, name)
		}
		seen[name] = true
	}
	return nil
}

// certain is single, but accepts a document without a value of ccd's, because nothing in it is edited.
func (d *document) certain(ours func(*node) bool) error {
	if d.root == nil || !d.root.any(ours) {
		return nil
	}
	return d.single()
}

// holdsCall reports whether a value is the command line of one of ccd's hooks or of its status line.
func (d *document) holdsCall(n *node) bool {
	_, hook := binaryOf(d.string(n), "")
	_, line := lineOf(d.string(n))
	return hook || line
}

// any reports whether is accepts a value or one in it.
func (n *node) any(is func(*node) bool) bool {
	return is(n) || slices.ContainsFunc(n.values, func(v *node) bool { return v.any(is) })
}

// all returns the values of a container, nil for nil.
func (n *node) all() []*node {
	if n == nil {
		return nil
	}
	return n.values
}

var kinds = map[jsontext.Kind]string{'{': "an object", '[': "an array", '"': "a string", '0': "a number", 't': "true", 'f': "false", 'n': "null"}

func where(path []string) string {
	if len(path) == 0 {
		return "the whole"
	}
	return strings.Join(path, ".")
}
