package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// file is a parsed text.
type file struct {
	md   toml.MetaData
	top  map[string]toml.Primitive
	text string
}

// decode applies the text of the file at path, "" for the defaults. If there are several faults, it returns one.
func (c *Config) decode(text, path string) error {
	if all := strings.Split(text, "\n"); slices.ContainsFunc(all, tooLong) {
		return fmt.Errorf("line %d: over %d bytes", 1+slices.IndexFunc(all, tooLong), longest)
	}
	f := file{text: text}
	var err error
	if f.md, err = toml.Decode(text, &f.top); err != nil {
		return c.syntax(err, text)
	}
	for _, key := range f.md.Keys() {
		field := c.field(key)
		if !field.IsValid() {
			return fmt.Errorf("line %d: %w", f.line(key), c.unknownKey(key))
		}
		if err := mismatch(field, f.md.Type(key...)); err != nil {
			return fmt.Errorf("line %d: %s: %w", f.line(key), key, err)
		}
	}
	for _, k := range c.keys() {
		key := toml.Key{k.section, k.name}
		if !f.md.IsDefined(key...) {
			continue
		}
		if err := f.md.PrimitiveDecode(f.at(key), k.field.Addr().Interface()); err != nil {
			return f.refused(err, k)
		}
		if path != "" {
			c.sources[k.String()] = fmt.Sprintf("%s:%d", path, f.line(key))
		}
	}
	c.path = path
	if all := c.wrong(); len(all) > 0 {
		return fmt.Errorf("line %d: %s: %w", f.line(all[0].key), all[0].key, all[0].err)
	}
	return nil
}

// longest is how many bytes a line may have: the library's time grows with the square of the tables within each other.
const longest = 4096

func tooLong(line string) bool { return len(line) > longest }

// syntax returns the place of a fault, and nothing of what is there: the file may be any that the user or an agent named.
func (c *Config) syntax(err error, text string) error {
	line, last := 1+strings.Count(text, "\n"), "" // the library has no position for a fault at the end of the file
	var p toml.ParseError
	if errors.As(err, &p) && p.Position.Line > 0 {
		line = p.Position.Line
	}
	if slices.ContainsFunc(c.keys(), func(k key) bool { return k.String() == p.LastKey }) {
		last = p.LastKey + ": "
	}
	return fmt.Errorf("line %d: %snot valid TOML", line, last)
}

// refused returns the error of decoding a key: of a type that decodes itself, which has a place in the file, else of an entry
// of a list.
func (f *file) refused(err error, k key) error {
	var p toml.ParseError
	if errors.As(err, &p) {
		return fmt.Errorf("line %d: %s: %s", p.Position.Line, p.LastKey, p.Message)
	}
	return fmt.Errorf("line %d: %s: %s", f.line(toml.Key{k.section, k.name}), k, kinds[k.field.Kind()].must)
}

// at returns the value of a key that the file has.
func (f *file) at(key toml.Key) (value toml.Primitive) {
	table := f.top
	for _, name := range key {
		value, table = table[name], nil
		_ = f.md.PrimitiveDecode(value, &table) // nil if it is no table
	}
	return value
}

// line finds the line of a key, with the error of a type that refuses everything. The library has no position for implied tables
// (a.b = 1, [a.b]): those begin where their name first occurs.
func (f *file) line(key toml.Key) int {
	var p toml.ParseError
	if errors.As(f.md.PrimitiveDecode(f.at(key), &refuser{}), &p) && p.Position.Line > 0 {
		return p.Position.Line
	}
	found := regexp.MustCompile(`(?m)^[^#\n]*` + regexp.QuoteMeta(key[len(key)-1])).FindStringIndex(f.text)
	if found == nil {
		return 1
	}
	return 1 + strings.Count(f.text[:found[1]], "\n")
}

type refuser struct{}

// UnmarshalTOML implements toml.Unmarshaler.
func (*refuser) UnmarshalTOML(any) error { return errors.New("refused") }
