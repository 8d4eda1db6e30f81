package config

import (
	"fmt"
	"reflect"

	"github.com/BurntSushi/toml"
)

// unknown returns the error for an unknown name of something (a key, an agent), with the nearest known one. The name may come from any file
// that the user or an agent named, so it is only repeated if it differs from a known one by at most two characters.
func unknown(what, name string, known []string) error {
	best, away := Nearest(name, known)
	switch {
	case best == "":
		return fmt.Errorf("unknown %s", what)
	case away > 2:
		return fmt.Errorf("unknown %s; did you mean %q?", what, best)
	}
	return fmt.Errorf("unknown %s %q; did you mean %q?", what, name, best)
}

// Nearest returns the name most similar to another one, and their distance; "" if none is similar enough.
func Nearest(name string, known []string) (best string, away int) {
	away = (len(name)+1)/3 + 1
	for _, k := range known {
		if d := distance(name, k); d < away {
			best, away = k, d
		}
	}
	return best, away
}

// unknownKey is unknown for a key of a file. It prefers the same key in another section.
func (c *Config) unknownKey(key toml.Key) error {
	name := key.String()
	var known []string
	for _, k := range c.keys() {
		if k.name == key[len(key)-1] {
			return fmt.Errorf("unknown key %q; did you mean %q?", name, k)
		}
		known = append(known, k.section, k.String())
	}
	for _, of := range named(reflect.TypeFor[Lists]()) {
		known = append(known, key[:len(key)-1].String()+"."+of)
	}
	return unknown("key", name, known)
}

// distance returns the number of characters to insert, delete or replace.
func distance(a, b string) int {
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
		}
		last = row
	}
	return last[len(b)]
}
