package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// windows are context windows by prefix of a model's name. What is set is added to what is there.
type windows struct{ p *map[string]int64 }

func (w windows) set(v any) error {
	table, ok := v.(map[string]any)
	if !ok {
		return wrong(v, "a table of whole numbers")
	}
	all := maps.Clone(*w.p)
	if all == nil {
		all = map[string]int64{}
	}
	for _, model := range slices.Sorted(maps.Keys(table)) {
		n, err := asInt(table[model])
		if err != nil || n <= 0 {
			return wrong(table[model], "a whole number of tokens above 0")
		}
		all[model] = n
	}
	*w.p = all
	return nil
}

func (w windows) shown() any { return *w.p }

func (w windows) toml() string {
	var b strings.Builder
	for _, model := range slices.Sorted(maps.Keys(*w.p)) {
		fmt.Fprintf(&b, "%q = %d\n", model, (*w.p)[model])
	}
	return b.String()
}
