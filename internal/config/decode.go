package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"ccd/internal/lazy"
)

// file is a parsed text.
type file struct {
	md   toml.MetaData
	top  map[string]toml.Primitive
	text string
}

// decode applies the text of the file at path, "" for the defaults. If there are several faults, it returns one.
func (c *Config) decode(text, path string) error {
	if n := tooDeep(text); n > 0 {
		return fmt.Errorf("line %d: more than %d parts of a key, or tables within each other", n, maxDepth)
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

// syntax returns the place of a fault and, where it has no value of the file in it, the cause: the file may be any that the user named by
// mistake.
func (c *Config) syntax(err error, text string) error {
	line, cause := 1+strings.Count(text, "\n"), "not valid TOML" // the library has no position for a fault at the end of the file
	var p toml.ParseError
	if errors.As(err, &p) && p.Position.Line > 0 {
		line = p.Position.Line
	}
	switch {
	case strings.HasPrefix(p.Message, "Key '"):
		cause += ": k" + strings.TrimSuffix(p.Message[1:], ".")
	case strings.Contains(p.Message, " is out of range for "):
		cause += ": a number is out of range"
	}
	if slices.ContainsFunc(c.keys(), func(k key) bool { return k.String() == p.LastKey }) {
		cause = p.LastKey + ": " + cause
	}
	return fmt.Errorf("line %d: %s", line, cause)
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
