package config

import (
	_ "embed"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"ccd/internal/lazy"
)

//go:embed default.toml
var example string

// Example returns the text of config.toml.example: every key with its default, its unit and its meaning.
func Example() string { return example }

// fault is what is wrong with a text: the form of a line, or the value of a key.
type fault struct {
	line int
	key  string // "" for the form
	err  error
}

// Error names the line and the key, and nothing else of what is there: the file may be any that the user or an agent named.
func (f *fault) Error() string {
	if f.key == "" {
		return fmt.Sprintf("line %d: %v", f.line, f.err)
	}
	return fmt.Sprintf("line %d: %s: %v", f.line, f.key, f.err)
}

// decode applies the text of the file at path, "" for the defaults and for a variable. If there are several faults, it returns one.
func (c *Config) decode(text, path string) error {
	if i := slices.IndexFunc(strings.Split(text, "\n"), func(line string) bool { return len(line) > longest }); i >= 0 {
		return &fault{1 + i, "", fmt.Errorf("over %d bytes", longest)}
	}
	md, err := toml.Decode(text, c)
	if err != nil {
		return c.refused(err, text)
	}
	all := c.keys()
	unknown := slices.Concat(md.Undecoded(), slices.DeleteFunc(md.Keys(), func(file toml.Key) bool { // the library takes a name in any case
		name := file[:min(2, len(file))].String()
		return slices.ContainsFunc(all, func(k key) bool { return name == k.section || name == k.String() })
	}))
	if len(unknown) > 0 {
		return &fault{lines(text).of(unknown[0].String()), "", c.unknownKey(unknown[0])}
	}
	if path != "" {
		at := lines(text)
		for _, k := range all {
			if md.IsDefined(k.section, k.name) {
				c.sources[k.String()] = fmt.Sprintf("%s:%d", path, at.of(k.String()))
			}
		}
	}
	if wrong := c.wrong(); len(wrong) > 0 {
		name := wrong[0].key.String()
		return &fault{lines(text).of(name), name, wrong[0].err}
	}
	return nil
}

// longest is how many bytes a line may have: the library's time grows with the square of the tables within each other.
const longest = 4096

// mistyped is how the library reports a value of another type than its key's.
var mistyped = lazy.Regexp(`^toml: (?:line \d+ )?\(last key "(.*)"\): .*(?:destination has type|expected) (\w+)`)

// refused returns the fault that the library has found.
func (c *Config) refused(err error, text string) error {
	var p toml.ParseError
	if _, syntax := toml.Decode(text, new(map[string]any)); errors.As(syntax, &p) {
		if p.Position.Line == 0 { // at the end of the file
			p.Position.Line = 1 + strings.Count(text, "\n")
		}
		if !slices.ContainsFunc(c.keys(), func(k key) bool { return k.String() == p.LastKey }) {
			p.LastKey = "" // it may be any word of any file
		}
		return &fault{p.Position.Line, p.LastKey, errors.New("not valid TOML, or set twice")}
	}
	if errors.As(err, &p) { // of a type that decodes itself
		return &fault{p.Position.Line, p.LastKey, errors.New(p.Message)}
	}
	m := mistyped().FindStringSubmatch(err.Error())
	if m == nil {
		return &fault{1, "", err}
	}
	name := strings.ReplaceAll(m[1], `\"`, `"`)
	return &fault{lines(text).of(name), name, fmt.Errorf("expected %s", strings.NewReplacer("slice", "list", "array", "three numbers", "primitive", "one value").Replace(m[2]))}
}

// places are the lines that set keys and begin tables, by their names without quotes.
type places map[string]int

// setting matches such a line.
var setting = lazy.Regexp(`^\s*(\[*)\s*([^\[\]=#]+?)\s*[\]=]`)

var unquoted = strings.NewReplacer(`"`, "", "'", "", " ", "")

// lines finds the places in a text. A table that no line begins is where it is first named.
func lines(text string) places {
	all, table, n := places{}, "", 0
	for line := range strings.Lines(text) {
		n++
		m := setting().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := unquoted.Replace(m[2])
		if m[1] != "" {
			table = name + "."
		} else {
			name = table + name
		}
		for end, r := range name + "." {
			if _, known := all[name[:end]]; r == '.' && !known {
				all[name[:end]] = n
			}
		}
	}
	return all
}

// of returns the line of a key, else that of the nearest table around it, else the first.
func (p places) of(key string) int {
	for name := unquoted.Replace(key); name != ""; name = name[:max(0, strings.LastIndexByte(name, '.'))] {
		if n, ok := p[name]; ok {
			return n
		}
	}
	return 1
}

// key is one field of a Config: its name, its section's name and its value.
type key struct {
	section, name string
	field         reflect.Value
}

// String returns the full name: "section.name".
func (k key) String() string { return k.section + "." + k.name }

// keys lists the fields of a Config in the order of the example.
func (c *Config) keys() []key {
	var all []key
	config := reflect.ValueOf(c).Elem()
	for i, section := range named(config.Type()) {
		for j, name := range named(config.Field(i).Type()) {
			all = append(all, key{section, name, config.Field(i).Field(j)})
		}
	}
	return all
}

// named lists the keys that a table has, in the order of its fields. Fields without a key are behind all others.
func named(table reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(table) {
		if name := f.Tag.Get("toml"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// inTOML returns the value of a variable as TOML has it for a key: a list without its brackets, a text without its quotes. It is one
// value, whatever the variable has.
func (k key) inTOML(value string) string {
	_, itself := k.field.Addr().Interface().(encoding.TextUnmarshaler)
	plain := value
	switch kind := k.field.Kind(); {
	case kind == reflect.Slice:
		var all []string
		for one := range strings.SplitSeq(value, ",") {
			all = append(all, quoted(strings.TrimSpace(one)))
		}
		return "[" + strings.Join(all, ", ") + "]"
	case kind == reflect.Array:
		plain = "[" + value + "]"
	}
	if itself || k.field.Kind() == reflect.String || !json.Valid([]byte(plain)) {
		return quoted(value)
	}
	return plain
}

// quoted is a text as a string of JSON, which is one of TOML.
func quoted(text string) string {
	b, _ := json.Marshal(text) // cannot fail for a string
	return string(b)
}

// shown returns a value as in TOML, durations and sizes as strings.
func shown(field reflect.Value) any {
	switch v := field.Interface().(type) {
	case interface{ shown() any }:
		return v.shown()
	case int:
		return int64(v)
	default:
		return v
	}
}
