package filter

import (
	"cmp"
	"fmt"
	"regexp"
)

// Options are the limits and switches of the rules. Start from those of the configuration: a zero limit means zero.
type Options struct {
	KeepRoles      []string // messages of these roles are kept; with Human in it, so is what a person's message answers
	KeepPatterns   []*regexp.Regexp
	Focus          []string // lower case: texts with one of these are kept
	Recent         int      // newest messages that are kept
	Least          int      // of them, those that are kept even if the budget is exceeded
	Budget         int      // maximum chars of all messages; no more is shortened than needed; 0 for no budget
	Dedup          bool     // replace exact copies by references to the newest one
	NearDedup      bool     // the same for near copies
	Contradictions bool     // mark texts that a later text corrects
	KeepImportance float64  // keep texts of this importance or more, 0..1; 0 keeps none
	SummaryChars   int      // maximum length of a summary
	LongCap        string   // "log": that limit grows with texts beyond 5000 chars
	Percent        int      // length of a summary in percent of its text; the default is 30
	OldResult      int      // chars of a result of a tool, but the newest, from which it has its short form, whatever it is
	Large          int      // chars of any one from which it has; 0: never
	// Summarize, if not nil, returns another summary of a text, "" if there is none. It is used if it fits.
	Summarize func(text string) string
}

const (
	shortText    = 120  // chars; shorter texts are kept
	shortResult  = 1000 // chars; shorter tool results are kept, if messages of persons are
	keptResults  = 3    // newest results of tools that stay as they are
	proseToSplit = 80   // chars of prose beside a fence from which a text is split
)

// Action is what to do with a text.
type Action uint8

// The actions. What is split keeps its fences and loses prose; what is compressed is merged with its neighbours of the
// same role and summarized.
const (
	Preserved Action = iota
	Compressed
	Deduped
	NearDuped
	Split
	Contradicted
	Cut
	Dropped // the whole message, with its neighbours
)

var actionNames = [...]string{"preserved", "compressed", "deduped", "near-duped", "split", "contradicted", "cut", "dropped"}

// String returns the name of the action.
func (a Action) String() string { return actionNames[a] }

// Decision is the decision of the rules about one text.
type Decision struct {
	Action Action
	Reason string  // of a superseded text: how the correction says so
	Of     int     // index of the newer copy or of the correction, -1 if there is none
	Like   float64 // of a near copy: how alike, 0..1
}

// entry is one text of a list with its state.
type entry struct {
	Piece
	msg        int    // its message
	role       string // "tool" or "call" of what is no one's words
	replied    bool   // a person replies to it
	old        bool   // a result that has its short form, whatever it is
	fate       Fate
	chars      int    // of its current text
	*shape            // shape of the current text; nil before it was computed
	kept       string // why no rule applies and it is kept; "" if the rules decide
	brief      bool   // a tool's result that is too short to be shortened
	importance float64
	done       bool // a marker already names it as a correction
}

// now returns the current text.
func (t *entry) now() string { return cmp.Or(t.fate.Text, t.Text) }

// early says why a text is kept before any rule about its content; "" if those rules decide.
func (t *entry) early(o *Options) string {
	switch {
	case t.kept != "":
		return t.kept
	case t.chars < shortText:
		return "short"
	case t.why&isMarker != 0:
		return "marker"
	case o.KeepImportance > 0 && t.importance >= o.KeepImportance:
		return fmt.Sprintf("importance %.2f", t.importance)
	}
	return ""
}

// decide applies the rules in order to each text. The first rule that matches decides.
func decide(all []*entry, o Options) []Decision {
	newest := map[string]int{} // index of the newest copy of each content
	for i := range all {
		if o.Dedup && all[i].chars >= DupChars {
			newest[all[i].now()] = i
		}
	}
	var near, wrong map[int]Decision
	if o.NearDedup {
		near = nearCopies(all, newest, o)
	}
	if o.Contradictions {
		wrong = superseded(all)
	}
	ds := make([]Decision, len(all))
	right := map[int]bool{} // texts that supersede others
	for i := range all {
		m := all[i]
		at, copied := newest[m.now()]
		nearly, like := near[i]
		if copied && at > i && !like {
			nearly, like = near[at] // the newest copy is itself replaced: refer to what stays
		}
		switch kept, corrected := m.early(&o), wrong[i]; {
		case kept != "":
			ds[i] = keptBecause(kept)
		case like:
			ds[i] = nearly
		case copied && at > i:
			ds[i] = Decision{Action: Deduped, Reason: "duplicate", Of: at}
		case corrected.Action == Contradicted:
			ds[i], right[corrected.Of] = corrected, true
		default:
			ds[i] = byLook(m, o.KeepPatterns, o.Budget > 0)
		}
	}
	for i := range ds {
		if (right[i] || all[i].done) && (ds[i].Action == Compressed || ds[i].Action == Split) {
			ds[i] = keptBecause("correction")
		}
	}
	return ds
}

// byLook returns the decision for a text by itself. limited says that there is a budget.
func byLook(m *entry, patterns []*regexp.Regexp, limited bool) Decision {
	for _, p := range patterns {
		if p.MatchString(m.now()) {
			return keptBecause("pattern " + p.String())
		}
	}
	fenced, hard := m.why&hasFence != 0, m.why.hard()
	switch {
	case m.brief:
		return keptBecause("short result")
	case m.old || limited && m.isTool():
		return Decision{Action: Compressed, Reason: "output", Of: -1}
	case fenced && m.prose < proseToSplit:
		return keptBecause("code")
	case fenced && m.why&hasSecret == 0:
		return Decision{Action: Split, Reason: "code", Of: -1}
	case hard != "":
		return keptBecause("hard: " + hard)
	}
	return Decision{Action: Compressed, Reason: "prose", Of: -1}
}

func keptBecause(reason string) Decision { return Decision{Action: Preserved, Reason: reason, Of: -1} }

// The parts of importance.
const (
	referenceShare  = 0.5
	decisionShare   = 0.15
	correctionShare = 0.25
	constraintShare = 0.10
	wordShare       = 0.4 // of decision, correction and constraint together, at most
	recencyShare    = 0.1
	termsOfOne      = 256 // names of one text that are counted as references
)

// weigh sets the importance of the texts of a list by how many later texts contain the names in them. It counts from the end,
// in linear time.
func weigh(all []*entry) {
	refs, most := make([]int, len(all)), 0
	later := map[string]int{} // number of texts with a name
	for i := len(all) - 1; i >= 0; i-- {
		for _, term := range all[i].terms {
			refs[i] += later[term]
			later[term]++
		}
		most = max(most, refs[i])
	}
	for i := range all {
		sum := recencyShare * float64(i) / float64(max(1, len(all)-1))
		if most > 0 {
			sum += referenceShare * float64(refs[i]) / float64(most)
		}
		all[i].importance = sum + all[i].told()
	}
}

// told returns what its words add to the importance of a text.
func (s *shape) told() (sum float64) {
	if s.all&choice != 0 {
		sum += decisionShare
	}
	if s.how != "" {
		sum += correctionShare
	}
	if s.all&constraint != 0 {
		sum += constraintShare
	}
	return min(sum, wordShare)
}
