package scorecard

import (
	"iter"
	"slices"
	"time"

	"ccd/internal/transcript"
)

// Card is the scorecard of one session. docs/SCORE.md documents its JSON form.
type Card struct {
	Agent     string        `json:"agent"`
	Session   string        `json:"session"`
	Chars     int64         `json:"chars"`           // of text, calls and results
	Original  int64         `json:"original_tokens"` // estimated
	ToolHeavy bool          `json:"tool_heavy"`      // results are more than half of Chars
	Saved     float64       `json:"saved_percent"`   // of Original, by Companion
	Took      time.Duration `json:"took_ns"`         // to read the records and to make Companion
	Companion Grade         `json:"companion"`       // with the default options
	Stretches []Stretch     `json:"stretches"`
}

// Stretch compares texts that replace the same records: those that the agent summarized itself, or the whole session.
type Stretch struct {
	Summary int              `json:"summary_record"` // record of the agent's own summary, or 0
	Size    int              `json:"size"`           // the most chars of CCD; Half may have half as many
	Texts   map[string]Grade `json:"texts"`          // by the names below; Agent and Both only if Summary is not 0
}

// The texts that are graded.
const (
	Companion = "companion" // a companion of the whole session, with the default options
	CCD       = "ccd"       // a companion of the stretch, of at most Size
	Half      = "half"      // the same of half the size
	Agent     = "agent"     // the agent's own summary
	Injection = "injection" // the text that the hook adds after a compaction
	Both      = "both"      // the agent's own summary and the hook's text
)

// Texts returns the names of a stretch's texts, in the order in which tables show them.
func Texts() []string { return []string{CCD, Half, Agent, Injection, Both} }

// means returns the means of a text, one per stretch.
func (c *Card) means(name string) (all []float64) {
	for g := range c.grades(name) {
		all = append(all, g.Mean)
	}
	return all
}

// grades yields the grades of a text: the one of Companion, or of each stretch that has the text.
func (c *Card) grades(name string) iter.Seq[*Grade] {
	return func(yield func(*Grade) bool) {
		if name == Companion {
			yield(&c.Companion)
			return
		}
		for _, s := range c.Stretches {
			if g, ok := s.Texts[name]; ok && !yield(&g) {
				return
			}
		}
	}
}

// Count returns the counts of a class in a text, over all stretches.
func (c *Card) Count(name string, class Class) (n Count) {
	for g := range c.grades(name) {
		n.Add(g.Count(class))
	}
	return n
}

// Summary returns the agent's own summary in a record, or "".
func Summary(r *transcript.Record) string {
	for i := range r.Items {
		if it := &r.Items[i]; it.Kind == transcript.Summary && !it.Side {
			return string(transcript.Original(it.Kind, it.Raw))
		}
	}
	return ""
}

// Lost returns how many facts the companions of the card neither show nor restore.
func (c *Card) Lost() (n int) {
	for _, name := range []string{Companion, CCD, Half} {
		for g := range c.grades(name) {
			n += g.All.Lost
		}
	}
	return n
}

// Spread is the mean and the smallest of some values.
type Spread struct {
	Mean  float64 `json:"mean"`
	Worst float64 `json:"worst"`
}

// Total is the sum of several cards.
type Total struct {
	Sessions int                          `json:"sessions"`
	Texts    map[string]Spread            `json:"texts"`                // of each text, including Companion, over all stretches
	Classes  map[Class]map[string]float64 `json:"classes"`              // of each class, by text: the mean over sessions with such facts
	Saved    float64                      `json:"saved_percent_median"` // of tool-heavy sessions; 100 if there are none
	Lost     int                          `json:"lost"`
}

// Sum returns the total of cards.
func Sum(cards []*Card) Total {
	t := Total{Sessions: len(cards), Texts: map[string]Spread{}, Classes: map[Class]map[string]float64{}, Saved: 100}
	for _, name := range append([]string{Companion}, Texts()...) {
		var all []float64
		for _, c := range cards {
			all = append(all, c.means(name)...)
		}
		if len(all) > 0 {
			t.Texts[name] = spread(all)
		}
		t.classes(name, cards)
	}
	var saved []float64
	for _, c := range cards {
		t.Lost += c.Lost()
		if c.ToolHeavy {
			saved = append(saved, c.Saved)
		}
	}
	if slices.Sort(saved); len(saved) > 0 {
		t.Saved = (saved[len(saved)/2] + saved[(len(saved)-1)/2]) / 2
	}
	return t
}

// classes adds the shares of a text to t.Classes.
func (t *Total) classes(name string, cards []*Card) {
	for _, class := range append(Classes(), Traces()...) {
		var all []float64
		for _, c := range cards {
			if n := c.Count(name, class); n.Facts > 0 {
				all = append(all, n.Share())
			}
		}
		if len(all) == 0 {
			continue
		}
		if t.Classes[class] == nil {
			t.Classes[class] = map[string]float64{}
		}
		t.Classes[class][name] = spread(all).Mean
	}
}

func spread(all []float64) (s Spread) {
	for _, x := range all {
		s.Mean += x / float64(len(all))
	}
	s.Worst = slices.Min(all)
	return s
}
