package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// place is where a key stands in the file.
type place struct {
	line int
	err  error
}

// decode takes a file's text over what is there. Of several faults the first in the file is told.
func (c *Config) decode(text string) error {
	var raw map[string]toml.Primitive
	md, err := toml.Decode(text, &raw)
	if err != nil {
		return syntax(err, text)
	}
	d := decoder{c: c, md: &md, text: text}
	for name, prim := range raw {
		d.section(name, prim)
	}
	if len(d.faults) == 0 {
		return nil
	}
	slices.SortFunc(d.faults, func(a, b place) int { return a.line - b.line })
	return fmt.Errorf("line %d: %w", d.faults[0].line, d.faults[0].err)
}

// syntax tells the place of a fault and nothing else: the library's own error quotes the file, which may be any file that
// somebody named as the configuration.
func syntax(err error, text string) error {
	var p toml.ParseError
	line := 0
	if errors.As(err, &p) {
		line = p.Position.Line
	}
	if line == 0 {
		line = 1 + strings.Count(text, "\n") // the library gives no place to a fault at the end of the file
	}
	return fmt.Errorf("line %d: %w", line, known(p.LastKey, errors.New("not valid TOML")))
}

// known puts a key before what is wrong with it, if there is such a key.
func known(key string, err error) error {
	if _, ok := find(key); ok {
		return fmt.Errorf("%s: %w", key, err)
	}
	return err
}

type decoder struct {
	c      *Config
	md     *toml.MetaData
	text   string
	faults []place
}

func (d *decoder) fault(at toml.Primitive, format string, args ...any) {
	d.faults = append(d.faults, place{d.line(at), fmt.Errorf(format, args...)})
}

// line finds where a value stands: the library tells it with the error of a type that refuses everything. It does
// not know the places of tables that are only implied (a.b = 1, [a.b]): those begin where their first entry does.
func (d *decoder) line(at toml.Primitive) int {
	var p toml.ParseError
	if errors.As(d.md.PrimitiveDecode(at, &refuser{}), &p) && p.Position.Line > 0 {
		return p.Position.Line
	}
	first := 0
	for _, e := range d.entries(at) {
		if n := d.line(e); first == 0 || n < first {
			first = n
		}
	}
	if first > 0 {
		return first
	}
	last := p.LastKey[strings.LastIndexByte(p.LastKey, '.')+1:]
	before, _, _ := strings.Cut(d.text, last)
	return 1 + strings.Count(before, "\n")
}

// entries are those of a table, or of the tables of a list.
func (d *decoder) entries(at toml.Primitive) []toml.Primitive {
	var list []map[string]toml.Primitive
	var table map[string]toml.Primitive
	if d.md.PrimitiveDecode(at, &table) == nil && table != nil {
		list = append(list, table)
	} else if d.md.PrimitiveDecode(at, &list) != nil {
		return nil
	}
	var all []toml.Primitive
	for _, t := range list {
		all = slices.AppendSeq(all, maps.Values(t))
	}
	return all
}

type refuser struct{}

var errRefused = errors.New("refused")

// UnmarshalTOML is BurntSushi/toml's.
func (*refuser) UnmarshalTOML(any) error { return errRefused }

func (d *decoder) section(name string, prim toml.Primitive) {
	i := slices.IndexFunc(sections(), func(s section) bool { return s.name == name })
	if i < 0 {
		d.fault(prim, "%w", d.noSection(name))
		return
	}
	var keys map[string]toml.Primitive
	if d.md.PrimitiveDecode(prim, &keys) != nil || keys == nil { // the library leaves the map nil for what is no table
		d.fault(prim, "%s: want a section, [%s]", name, name)
		return
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		d.key(name+"."+k, keys[k])
	}
}

// noSection names the nearest section, or where the name is that of a key, the key.
func (d *decoder) noSection(name string) error {
	var names []string
	for _, s := range sections() {
		names = append(names, s.name)
		for _, k := range s.keys {
			if k.name == name {
				return fmt.Errorf("%s: %w, it belongs under [%s]", name, errUnknown, s.name)
			}
		}
	}
	return unknown(name, names)
}

func (d *decoder) key(name string, prim toml.Primitive) {
	var v any
	if d.md.PrimitiveDecode(prim, &v) != nil {
		d.fault(prim, "%w", known(name, errors.New("not valid TOML")))
		return
	}
	line := d.line(prim)
	if err := d.c.set(name, v, fmt.Sprintf("%s:%d", d.c.path, line)); err != nil {
		d.faults = append(d.faults, place{d.inner(prim, v, name, line), known(name, err)})
	}
}

// inner finds the line of the first entry of a table that is at fault, else gives the table's.
func (d *decoder) inner(prim toml.Primitive, v any, name string, line int) int {
	table, ok := v.(map[string]any)
	k, known := find(name)
	var entries map[string]toml.Primitive
	if !ok || !known || !k.table || d.md.PrimitiveDecode(prim, &entries) != nil {
		return line
	}
	scratch := defaults()
	scratch.home = d.c.home
	for _, e := range slices.Sorted(maps.Keys(table)) {
		if k.in(&scratch).set(map[string]any{e: table[e]}) != nil {
			return d.line(entries[e])
		}
	}
	return line
}
