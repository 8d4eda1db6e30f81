package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

var errUnknown = errors.New("unknown key")

// unknown names the key that was most likely meant, if one is near enough. It does not repeat the name, which may come
// from any file that somebody named as the configuration.
func unknown(name string, known []string) error {
	best, least := "", len(name)/2+1
	for _, k := range known {
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return errUnknown
	}
	return fmt.Errorf("%w, the nearest is %q", errUnknown, best)
}

// unknownKey is unknown for a full name: a key of that name in another section is nearer than any other.
func unknownKey(name string) error {
	_, last, _ := strings.Cut(name, ".")
	for _, s := range sections() {
		for _, k := range s.keys {
			if k.name == last {
				return fmt.Errorf("%w, the nearest is %q", errUnknown, s.name+"."+k.name)
			}
		}
	}
	return unknown(name, allKeys())
}

// distance is the number of characters to insert, delete, replace or swap with their neighbour.
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
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
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

func keysOf(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
