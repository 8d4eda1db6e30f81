package scorecard

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"ccd/internal/transcript"
)

// Card is what is measured of one session. Its JSON form is documented in docs/SCORE.md.
type Card struct {
	Agent     string        `json:"agent"`
	Session   string        `json:"session"`
	Chars     int64         `json:"chars"`           // of text, calls and results
	Original  int64         `json:"original_tokens"` // estimated
	ToolHeavy bool          `json:"tool_heavy"`      // results are more than half of Chars
	Saved     float64       `json:"saved_percent"`   // of Original, by Companion
	Took      time.Duration `json:"took_ns"`         // to fold the records and to make Companion
	Companion Grade         `json:"companion"`       // as ccd makes it by default
	Stretches []Stretch     `json:"stretches"`
}

// Stretch compares texts that stand for the same records: those that the agent summarized itself, or the whole session.
type Stretch struct {
	Summary int              `json:"summary_record"` // record of the agent's own summary, 0 where there is none
	Size    int              `json:"size"`           // chars that CCD may have; Half half of it
	Texts   map[string]Grade `json:"texts"`          // by the names below; Agent and Both where Summary is not 0
}

// The texts that are graded.
const (
	Companion = "companion" // as ccd makes it by default, of the whole session
	CCD       = "ccd"       // a companion of the stretch, of the size
	Half      = "half"      // one of half the size
	Agent     = "agent"     // the agent's own summary
	Injection = "injection" // what the hook adds after a compaction
	Both      = "both"      // the agent's own summary and what the hook adds
)

// Texts returns the names of a stretch's texts, in the order in which tables show them.
func Texts() []string { return []string{CCD, Half, Agent, Injection, Both} }

// ours are the texts that ccd answers for; Agent is not one.
func ours() []string { return []string{Companion, CCD, Half, Injection, Both} }

// Target is what a card must reach. Shares are visible parts, 0..1.
type Target struct {
	Means  map[string]float64 // by the names of texts; of several stretches the worst
	Traces map[Class]float64  // share of each class of traces, over the companions
	Saved  float64            // percent that the default companion saves
}

// Due is what every card must reach: what the worst of the measured sessions did. Of a tool-heavy session 40 percent are
// saved at the least; how much more depends on how many times the companion's size it has.
func (c *Card) Due() Target {
	t := Target{Means: worst, Saved: math.Inf(-1)}
	if c.ToolHeavy {
		t.Saved = 40
	}
	return t
}

// Reached is what this card reaches: another card of the same session can be held against it.
func (c *Card) Reached() Target {
	t := Target{Means: map[string]float64{}, Traces: map[Class]float64{}, Saved: c.Saved}
	for _, name := range ours() {
		if means := c.means(name); len(means) > 0 {
			t.Means[name] = slices.Min(means)
		}
	}
	for class, n := range c.traces() {
		t.Traces[class] = n.Share()
	}
	return t
}

// means are those of a text, of each stretch.
func (c *Card) means(name string) (all []float64) {
	for g := range c.grades(name) {
		all = append(all, g.Mean)
	}
	return all
}

// grades yields the grades of a text: of Companion one, else of each stretch that has it.
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

// Count returns what a text shows of a class, in all stretches together.
func (c *Card) Count(name string, class Class) (n Count) {
	for g := range c.grades(name) {
		n.Add(g.Count(class))
	}
	return n
}

// Red tells where the card does not reach the target, one line each; none where all is well. Nothing may be lost, and
// messages, edited paths and open problems must all stand in the default companion, unless they would fill more than half
// of it.
func (c *Card) Red(t Target) (red []string) {
	say := func(format string, args ...any) { red = append(red, fmt.Sprintf(format, args...)) }
	below := func(what string, got, want float64) {
		if got < want-rounding {
			say("%s: %.3f, want %.3f", what, got, want)
		}
	}
	for _, name := range ours() {
		for _, mean := range c.means(name) {
			below(name, mean, t.Means[name])
		}
	}
	traces := c.traces()
	for _, class := range Traces() {
		if n, ok := traces[class]; ok {
			below(string(class), n.Share(), t.Traces[class])
		}
	}
	for _, class := range []Class{Asked, Edited, OpenErrors} {
		if n := c.Companion.Classes[class]; c.Companion.Must && n.Visible < n.Facts {
			say("default companion: %d of %d %s", n.Visible, n.Facts, class)
		}
	}
	below("saved", c.Saved, t.Saved)
	if n := int64(c.Companion.Tokens) - c.Original; n > leadTokens {
		say("longer than its session by %d tokens", n)
	}
	if n := c.Lost(); n > 0 {
		say("lost: %d", n)
	}
	return red
}

// traces counts what the default companion and the sized ones show of each class of traces together.
func (c *Card) traces() map[Class]Count {
	sum := map[Class]Count{}
	for _, name := range []string{Companion, CCD, Half} {
		for g := range c.grades(name) {
			for class, n := range g.Traces {
				n.Add(sum[class])
				sum[class] = n
			}
		}
	}
	return sum
}

// leadTokens is what the lines that tell what a companion is may take beyond the size of its session.
const leadTokens = 600

// rounding is what two ways to add up the same shares may differ by.
const rounding = 1e-9

// Summary returns the agent's own summary that a record holds, "" where it holds none.
func Summary(r *transcript.Record) string {
	for i := range r.Items {
		if it := &r.Items[i]; it.Kind == transcript.Summary && !it.Side {
			return string(transcript.Original(it.Kind, it.Raw))
		}
	}
	return ""
}

// Lost counts the facts that no companion of the card shows or gives back.
func (c *Card) Lost() (n int) {
	for _, name := range []string{Companion, CCD, Half} {
		for g := range c.grades(name) {
			n += g.All.Lost
		}
	}
	return n
}

// Spread is a mean and the worst of it.
type Spread struct {
	Mean  float64 `json:"mean"`
	Worst float64 `json:"worst"`
}

// Total sums up cards: visible shares by text and class, the median saved of tool-heavy sessions, what is lost.
type Total struct {
	Sessions int                          `json:"sessions"`
	Texts    map[string]Spread            `json:"texts"`                // of each text, Companion among them, over all stretches
	Classes  map[Class]map[string]float64 `json:"classes"`              // of each class, by text: the mean over sessions that have such facts
	Saved    float64                      `json:"saved_percent_median"` // of tool-heavy sessions; 100 where there are none
	Lost     int                          `json:"lost"`
}

// Sum sums up cards.
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

// classes adds the shares of a text.
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

// What the measured sessions reached when the rules of this package were last changed, rounded down: the mean of all, and
// the worst.
var (
	floors = map[string]float64{Companion: 0.91, CCD: 0.76, Half: 0.59, Injection: 0.62}
	worst  = map[string]float64{Companion: 0.76, CCD: 0.58, Half: 0.29, Injection: 0.37}
)

// Red tells where the sessions together do not reach what is due of them, one line each: means over sessions, the median
// that tool-heavy ones save, and what is lost.
func (t Total) Red() (red []string) {
	if t.Sessions == 0 {
		return nil
	}
	for _, name := range ours() {
		if s, ok := t.Texts[name]; ok && s.Mean < floors[name]-rounding {
			red = append(red, fmt.Sprintf("%s: %.3f, want %.3f", name, s.Mean, floors[name]))
		}
	}
	if t.Saved < 70 {
		red = append(red, fmt.Sprintf("median saved of tool-heavy sessions: %.1f, want 70", t.Saved))
	}
	if t.Lost > 0 {
		red = append(red, fmt.Sprintf("lost: %d", t.Lost))
	}
	return red
}

func spread(all []float64) (s Spread) {
	for _, x := range all {
		s.Mean += x / float64(len(all))
	}
	s.Worst = slices.Min(all)
	return s
}
