package config

import (
	_ "embed"
	"encoding"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

//go:embed default.toml
var example string

// Example returns the text of config.toml.example: every key with its default, its unit and its meaning.
func Example() string { return example }

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
	for _, section := range named(config.Type()) {
		for _, name := range named(child(config, section).Type()) {
			all = append(all, key{section, name, child(child(config, section), name)})
		}
	}
	return all
}

// named lists the keys that a table has, in their order.
func named(table reflect.Type) (names []string) {
	if table.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(table) {
		if name := f.Tag.Get("toml"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// child returns the value of a key in a table, the zero Value if there is none. An entry of a map is a new one.
func child(table reflect.Value, name string) reflect.Value {
	switch table.Kind() {
	case reflect.Map:
		return reflect.New(table.Type().Elem()).Elem()
	case reflect.Struct:
		for i := range table.NumField() {
			if table.Type().Field(i).Tag.Get("toml") == name {
				return table.Field(i)
			}
		}
	}
	return reflect.Value{}
}

// field returns the value that a key of a file is for, the zero Value if there is none.
func (c *Config) field(key toml.Key) reflect.Value {
	v := reflect.ValueOf(c).Elem()
	for _, name := range key {
		v = child(v, name)
	}
	return v
}

// kinds are what the values of Go's own types have to be: in TOML, and as an error says it. Other types decode themselves.
var kinds = map[reflect.Kind]struct{ toml, must string }{
	reflect.Bool:    {"Bool", "must be true or false"},
	reflect.Int:     {"Integer", "must be a whole number"},
	reflect.Int64:   {"Integer", "must be a whole number"},
	reflect.Float64: {"Float Integer", "must be a number"},
	reflect.String:  {"String", "must be a string"},
	reflect.Slice:   {"Array", `must be a list such as ["a", "b"]`},
	reflect.Array:   {"Array", "must be three whole numbers from 0 to 100, such as [50, 30, 10]"},
	reflect.Map:     {"Hash", "must be a table"},
	reflect.Struct:  {"Hash", "must be a table"},
}

// mismatch returns the error for a value of another type than a field has, nil if it has that type.
func mismatch(field reflect.Value, tomlType string) error {
	_, itself := field.Addr().Interface().(encoding.TextUnmarshaler)
	_, also := field.Addr().Interface().(toml.Unmarshaler)
	switch kind := kinds[field.Kind()]; {
	case itself && strings.Contains("Array ArrayHash Hash", tomlType):
		return errors.New("must be one value")
	case !itself && !also && !strings.Contains(kind.toml, tomlType):
		return errors.New(kind.must)
	}
	return nil
}

// setText sets a field from the text of a variable.
func setText(field reflect.Value, text string) (err error) {
	switch p := field.Addr().Interface().(type) {
	case encoding.TextUnmarshaler:
		return p.UnmarshalText([]byte(text))
	case *string:
		*p = text
	case *bool:
		*p, err = strconv.ParseBool(text)
	case *[]string:
		*p = nil
		for one := range strings.SplitSeq(text, ",") {
			*p = append(*p, strings.TrimSpace(one))
		}
	case *[3]int:
		var list []int
		if err = json.Unmarshal([]byte("["+text+"]"), &list); copy(p[:], list) != len(p) || len(list) != len(p) {
			err = errors.New("another number of them")
		}
	default:
		err = json.Unmarshal([]byte(text), p)
	}
	if err != nil {
		return errors.New(kinds[field.Kind()].must)
	}
	return nil
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
