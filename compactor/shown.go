package compactor

// Verbatim tells what the sections say of the verbatim part, for the forms of a companion that give it otherwise than
// as Markdown.
type Verbatim struct {
	First  int    // number of the first record that stands under Recent; one more than there are where none does
	Ranges string // the lines at the end of Recent that point at its records whole; "" where nothing is left out
}

func (p *page) verbatim() Verbatim { return Verbatim{First: p.recent.start + 1, Ranges: p.ranges} }

// Fallback counts how often a compaction took a second way because the first would not do.
type Fallback struct {
	Kind  string // one of the Fallback constants
	Items int    // how many items, sections or, of FallbackFit, lines
}

// The ways out.
const (
	FallbackVerify     = "verification" // an item failed its check and stands as it was
	FallbackSize       = "size guard"   // what was to replace is not shorter than what it replaces
	FallbackFit        = "forced fit"   // cut to its first 512 chars so that the budget holds
	FallbackSummarizer = "summarizer"   // the command gave no summary that would do
)

// fallbacks counts what is met; the zero value is ready.
type fallbacks struct{ n map[string]int }

func (f *fallbacks) add(kind string, items int) {
	if items <= 0 {
		return
	}
	if f.n == nil {
		f.n = map[string]int{}
	}
	f.n[kind] += items
}

// all gives the counts in the order of the constants; those of nothing are left out.
func (f *fallbacks) all() (list []Fallback) {
	for _, kind := range []string{FallbackVerify, FallbackSize, FallbackFit, FallbackSummarizer} {
		if n := f.n[kind]; n > 0 {
			list = append(list, Fallback{kind, n})
		}
	}
	return list
}
