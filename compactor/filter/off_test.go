package prose

import (
	"fmt"
	"strings"
	"testing"
)

// TestPartsOfAListAreSwitched has each part of the rules do its work, and leave it where it is switched off.
func TestPartsOfAListAreSwitched(t *testing.T) {
	code := strings.Repeat(orchard("door"), 3) + "\n```go\nfunc door() bool { return open }\n```\n" + orchard("roof")
	var gates strings.Builder
	for i := range 30 {
		fmt.Fprintf(&gates, "Nobody at all was standing beside openGate_%d when we walked by it on our way home in the evening. ", i)
	}
	list := listed(message("a", gates.String()), message("a", strings.Repeat(orchard("mill"), 3)), message("b", code))
	has := func(off string) (merged, entities, split bool) {
		o := filterOptions(nil)
		if off != "" {
			o.Off = []string{off}
		}
		f := Filter(list, o)
		merged, split = f[1].Into == 0, f[2].Text != ""
		for _, x := range f {
			entities = entities || strings.Contains(x.Text, " | entities: ")
		}
		return merged, entities, split
	}
	for off, want := range map[string][3]bool{
		"": {true, true, true}, "merge": {false, true, true}, "entities": {true, false, true}, "code-split": {true, true, false}, "talk": {true, true, true},
	} {
		if a, b, c := has(off); [3]bool{a, b, c} != want {
			t.Errorf("off %q: merged, entities, split: %v %v %v, want %v", off, a, b, c, want)
		}
	}
}
