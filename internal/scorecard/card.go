package scorecard

import (
	"fmt"
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

// Stretch compares texts of one size that stand for the same records: those that the agent summarised itself, or the
// whole session.
type Stretch struct {
	Summary int              `json:"summary_record"` // record of the agent's own summary, 0 where there is none
	Size    int              `json:"size"`           // chars that each text may have; "half" half of it
	Texts   map[string]Grade `json:"texts"`          // "ccd", "half", "agent" (where Summary is not 0), "tail", "head_tail", "stub"
}

// Target is what a card must reach. Shares are visible parts, 0..1.
type Target struct {
	Default float64           // mean share of the default companion
	Sized   float64           // of "ccd"
	Half    float64           // of "half"
	Traces  map[Class]float64 // share of each class of traces, over all texts of ccd
	Saved   float64           // percent that the default companion saves
}

// Due is what every card must reach. Of a tool-heavy session 40 percent are saved at the least; how much more depends on
// how many times the companion's size it has.
func (c *Card) Due() Target {
	t := Target{Default: 0.98, Sized: 0.95, Half: 0.80, Saved: math.Inf(-1)}
	if c.ToolHeavy {
		t.Saved = 40
	}
	return t
}

// Reached is what this card reaches: another card of the same session can be held against it.
func (c *Card) Reached() Target {
	t := Target{Default: c.Companion.Mean, Sized: 1, Half: 1, Traces: c.traces(), Saved: c.Saved}
	for _, s := range c.Stretches {
		t.Sized, t.Half = min(t.Sized, s.Texts["ccd"].Mean), min(t.Half, s.Texts["half"].Mean)
	}
	return t
}

// Red tells where the card does not reach the target, one line each; none where all is well. Nothing may be lost, and
// messages, edited paths and open errors must all stand in the default companion, unless they would fill more than half
// of it.
func (c *Card) Red(t Target) (red []string) {
	say := func(format string, args ...any) { red = append(red, fmt.Sprintf(format, args...)) }
	below := func(what string, got, want float64) {
		if got < want-rounding {
			say("%s: %.3f, want %.3f", what, got, want)
		}
	}
	below("default companion", c.Companion.Mean, t.Default)
	traces := c.traces()
	for _, class := range Traces() {
		if got, ok := traces[class]; ok {
			below(string(class), got, t.Traces[class])
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
	for _, s := range c.Stretches {
		below(fmt.Sprintf("%d characters", s.Size), s.Texts["ccd"].Mean, t.Sized)
		below(fmt.Sprintf("%d characters", s.Size/2), s.Texts["half"].Mean, t.Half)
	}
	if n := c.Lost(); n > 0 {
		say("lost: %d", n)
	}
	return red
}

// traces is the share of each class of traces that the default companion and the sized ones show together.
func (c *Card) traces() map[Class]float64 {
	sum := map[Class]Count{}
	add := func(g Grade) {
		for class, n := range g.Traces {
			n.add(sum[class])
			sum[class] = n
		}
	}
	add(c.Companion)
	for _, s := range c.Stretches {
		add(s.Texts["ccd"])
		add(s.Texts["half"])
	}
	shares := map[Class]float64{}
	for class, n := range sum {
		shares[class] = n.Share()
	}
	return shares
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
func (c *Card) Lost() int {
	n := c.Companion.All.Lost
	for _, s := range c.Stretches {
		n += s.Texts["ccd"].All.Lost + s.Texts["half"].All.Lost
	}
	return n
}

// Spread is a mean and the worst of it.
type Spread struct {
	Mean  float64 `json:"mean"`
	Worst float64 `json:"worst"`
}

// Total sums up cards: visible shares by text, the median saved of tool-heavy sessions, what is lost.
type Total struct {
	Sessions  int               `json:"sessions"`
	Companion Spread            `json:"companion"`
	Texts     map[string]Spread `json:"texts"`                // over all stretches
	Saved     float64           `json:"saved_percent_median"` // of tool-heavy sessions; 100 where there are none
	Lost      int               `json:"lost"`
}

// Sum sums up cards.
func Sum(cards []*Card) Total {
	t := Total{Sessions: len(cards), Texts: map[string]Spread{}}
	var companions, saved []float64
	texts := map[string][]float64{}
	for _, c := range cards {
		companions = append(companions, c.Companion.Mean)
		t.Lost += c.Lost()
		if c.ToolHeavy {
			saved = append(saved, c.Saved)
		}
		for _, s := range c.Stretches {
			for name, g := range s.Texts {
				texts[name] = append(texts[name], g.Mean)
			}
		}
	}
	t.Companion = spread(companions)
	for name, all := range texts {
		t.Texts[name] = spread(all)
	}
	t.Saved = 100
	if slices.Sort(saved); len(saved) > 0 {
		t.Saved = (saved[len(saved)/2] + saved[(len(saved)-1)/2]) / 2
	}
	return t
}

// Red tells where the sessions together do not reach what is due of them, one line each: means over sessions, the median
// that tool-heavy ones save, and what is lost.
func (t Total) Red() (red []string) {
	for _, one := range []struct {
		what      string
		got, want float64
	}{
		{"default companion", t.Companion.Mean, 0.98},
		{"ccd", t.Texts["ccd"].Mean, 0.95},
		{"half", t.Texts["half"].Mean, 0.80},
		{"median saved of tool-heavy sessions", t.Saved, 70},
	} {
		if t.Sessions > 0 && one.got < one.want-rounding {
			red = append(red, fmt.Sprintf("%s: %.3f, want %.3f", one.what, one.got, one.want))
		}
	}
	if t.Lost > 0 {
		red = append(red, fmt.Sprintf("lost: %d", t.Lost))
	}
	return red
}

func spread(all []float64) (s Spread) {
	if len(all) == 0 {
		return s
	}
	for _, x := range all {
		s.Mean += x / float64(len(all))
	}
	s.Worst = slices.Min(all)
	return s
}
