package config

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"ccd/internal/lazy"
)

type decoder struct {
	c      *Config
	md     *toml.MetaData
	text   string
	keys   []key // of c
	faults []fault
}

// fault is an error at one place of the file.
type fault struct {
	line int
	err  error
}

// decode applies a file's text. If there are several faults, it returns the first one in the file.
func (c *Config) decode(text string) error {
	if len(text) > maxText {
		return fmt.Errorf("line 1: the file has more than %d KiB", maxText>>10)
	}
	if n := tooDeep(text); n > 0 {
		return fmt.Errorf("line %d: more than %d parts of a key, or tables within each other", n, maxDepth)
	}
	var sections map[string]toml.Primitive
	md, err := toml.Decode(text, &sections)
	if err != nil {
		return c.syntax(err, text)
	}
	d := decoder{c: c, md: &md, text: text, keys: c.keys()}
	for name, prim := range sections {
		d.section(name, prim)
	}
	if len(d.faults) == 0 {
		return nil
	}
	first := slices.MinFunc(d.faults, func(a, b fault) int { return a.line - b.line })
	return fmt.Errorf("line %d: %w", first.line, first.err)
}

// maxText is the size of the longest configuration, in bytes.
const maxText = 64 << 10

// mostFaults is how many faults are placed: each costs a look through the text.
const mostFaults = 100

// maxDepth is how many parts a key may have, and how many lists and tables may be within each other. The library's time grows with the square of them.
const maxDepth = 32

// silent are strings and comments: brackets in them are none.
var silent = lazy.Regexp(`(?s)"""(?:\\.|[^\\])*?"""|'''.*?'''|"(?:\\.|[^"\\\n])*"?|'[^'\n]*'?|#[^\n]*`)

// tooDeep returns the number of the first line with more, 0 if there is none.
func tooDeep(text string) int {
	text = silent().ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
	n, open := 0, 0 // lists and tables that are open
	for line := range strings.Lines(text) {
		n++
		for _, c := range line {
			switch c {
			case '{', '[':
				open++
			case '}', ']':
				open = max(0, open-1)
			}
			if open > maxDepth {
				return n
			}
		}
		if strings.Count(line, ".") >= maxDepth {
			return n
		}
	}
	return 0
}

// syntax returns only the place of a fault: the library's error quotes the file, which may be any file that the user
// named by mistake.
func (c *Config) syntax(err error, text string) error {
	line := 1 + strings.Count(text, "\n") // the library has no position for a fault at the end of the file
	var p toml.ParseError
	if errors.As(err, &p) && p.Position.Line > 0 {
		line = p.Position.Line
	}
	if _, ok := find(c.keys(), p.LastKey); ok {
		return fmt.Errorf("line %d: %s: not valid TOML", line, p.LastKey)
	}
	return fmt.Errorf("line %d: not valid TOML", line)
}

func (d *decoder) section(name string, prim toml.Primitive) {
	if !slices.ContainsFunc(d.keys, func(k key) bool { return k.section == name }) {
		d.fault(prim, d.c.unknownKey(name))
		return
	}
	entries := d.table(prim)
	if entries == nil {
		d.fault(prim, fmt.Errorf("%s: must be a section, [%s]", name, name))
	}
	for k, prim := range entries {
		d.key(name+"."+k, prim)
	}
}

func (d *decoder) key(name string, prim toml.Primitive) {
	k, ok := find(d.keys, name)
	if !ok {
		d.fault(prim, d.c.unknownKey(name))
		return
	}
	source := fmt.Sprintf("%s:%d", d.c.path, d.line(prim))
	if k.field.Kind() != reflect.Map {
		if err := d.set(k, k.field, prim); err != nil {
			d.fault(prim, fmt.Errorf("%s: %w", name, err))
			return
		}
		d.c.sources[name] = source
		return
	}
	entries := d.table(prim)
	if entries == nil {
		d.fault(prim, fmt.Errorf("%s: must be a table", name))
		return
	}
	for entry, prim := range entries {
		v := reflect.New(k.field.Type().Elem()).Elem()
		if v.Kind() == reflect.Struct {
			d.named(name, entry, v, prim)
			k.field.SetMapIndex(reflect.ValueOf(entry), v)
			continue
		}
		switch err := d.set(k, v, prim); {
		case name == "watch.roots" && !slices.Contains(agents(), entry):
			d.fault(prim, fmt.Errorf("%s: %w", name, unknown("agent", entry, agents())))
		case name == "redact.rules" && !userName().MatchString(entry):
			d.fault(prim, fmt.Errorf("%s: a kind must be lower-case letters, digits and hyphens", name))
		case err != nil:
			d.fault(prim, fmt.Errorf("%s: %w", name, err))
		default:
			k.field.SetMapIndex(reflect.ValueOf(entry), v)
		}
	}
	d.c.sources[name] = source
}

// named decodes a table with a name chosen by the user. Its keys are the fields of v.
func (d *decoder) named(section, name string, v reflect.Value, prim toml.Primitive) {
	if !userName().MatchString(name) || slices.Contains(append(agents(), "messages", "all"), name) {
		d.fault(prim, fmt.Errorf("%s: the name must be lower-case letters, digits and hyphens, and not the name of another agent", section))
		return
	}
	section += "." + name
	entries, all := d.table(prim), keysOf(section, v, d.c.home)
	var names []string
	for _, k := range all {
		names = append(names, k.name)
		value, ok := entries[k.name]
		if !ok && k.need {
			d.fault(prim, fmt.Errorf("%s is missing", k))
		}
		if !ok {
			continue
		}
		if err := d.set(k, k.field, value); err != nil {
			d.fault(value, fmt.Errorf("%s: %w", k, err))
		}
	}
	for entry, prim := range entries {
		if !slices.Contains(names, entry) {
			d.fault(prim, fmt.Errorf("%s: %w", section, unknown("key", entry, names)))
		}
	}
}

var userName = lazy.Regexp(`^[a-z0-9][a-z0-9-]{0,39}$`)

func (d *decoder) set(k key, field reflect.Value, prim toml.Primitive) error {
	var v any
	if d.md.PrimitiveDecode(prim, &v) != nil {
		return errors.New("not valid TOML")
	}
	return k.set(field, v)
}

// table returns the entries of a table, nil for other values.
func (d *decoder) table(prim toml.Primitive) (entries map[string]toml.Primitive) {
	if d.md.PrimitiveDecode(prim, &entries) != nil {
		return nil
	}
	return entries
}

func (d *decoder) fault(at toml.Primitive, err error) {
	if len(d.faults) == mostFaults {
		return
	}
	d.faults = append(d.faults, fault{d.line(at), err})
}

// line finds the line of a value, with the error of a type that refuses everything. The library has no position for
// implied tables (a.b = 1, [a.b]): those begin where their name first occurs.
func (d *decoder) line(at toml.Primitive) int {
	var p toml.ParseError
	if errors.As(d.md.PrimitiveDecode(at, &refuser{}), &p) && p.Position.Line > 0 {
		return p.Position.Line
	}
	name := p.LastKey[strings.LastIndexByte(p.LastKey, '.')+1:]
	found := regexp.MustCompile(`(?m)^[^#\n]*` + regexp.QuoteMeta(name)).FindStringIndex(d.text)
	if found == nil {
		return 1
	}
	return 1 + strings.Count(d.text[:found[1]], "\n")
}

type refuser struct{}

// UnmarshalTOML implements toml.Unmarshaler.
func (*refuser) UnmarshalTOML(any) error { return errors.New("refused") }
