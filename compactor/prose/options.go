package prose

import "regexp"

// Options are the limits and switches of the rules. Start from those of the configuration: a zero limit is one, but for
// NearLike and TopicOverlap.
type Options struct {
	Dedup          bool    // exact copies become references to the newest one
	NearDedup      bool    // so do near copies
	NearLike       float64 // how alike near copies are at least, 0..1; 0: 0.85
	Contradictions bool    // what a later text corrects is tagged
	TopicOverlap   float64 // how much the two have in common at least, 0..1; 0: 0.15
	KeepImportance float64 // texts of this importance or more are kept, 0..1; 0: none is
	KeepPatterns   []*regexp.Regexp
	SummaryChars   int    // of a summary at the most
	LongCap        string // "log": that limit grows with texts beyond 5000 chars
}

func (o Options) complete() Options {
	if o.NearLike == 0 {
		o.NearLike = nearLike
	}
	if o.TopicOverlap == 0 {
		o.TopicOverlap = topicOverlap
	}
	return o
}

// Budget is how many chars the summary of a text of so many chars may have.
func (o Options) Budget(chars int) int {
	most := max(MinBudget, o.SummaryChars)
	if o.LongCap == "log" {
		for n := chars; n >= 2*longText; n /= 2 {
			most += o.SummaryChars / 2
		}
	}
	return max(MinBudget, min((3*chars+5)/10, most))
}
