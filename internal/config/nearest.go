package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

var errUnknown = errors.New("unknown key")

// unknown tells of a key that there is none of, and which one was most likely meant. The key may come from any file that
// somebody named as the configuration, so it is repeated only if no more than two of its characters differ from one of ours.
func unknown(name string, known []string) error {
	best, away := nearest(name, known)
	switch {
	case best == "":
		return errUnknown
	case away > 2:
		return fmt.Errorf("%w, the nearest is %q", errUnknown, best)
	}
	return fmt.Errorf("%w %q, the nearest is %q", errUnknown, name, best)
}

// nearest returns the name that another one is most like, and how far away that is; "" if none is near enough.
func nearest(name string, known []string) (best string, away int) {
	away = len(name)/2 + 1
	for _, k := range known {
		if d := distance(name, k); d < away {
			best, away = k, d
		}
	}
	return best, away
}

// unknownKey is unknown for a full name: a key of that name in another section is nearer than any other.
func unknownKey(name string) error {
	_, last, _ := strings.Cut(name, ".")
	for _, s := range sections() {
		for _, k := range s.keys {
			if k.name == last {
				return fmt.Errorf("%w %q, the nearest is %q", errUnknown, name, s.name+"."+k.name)
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
