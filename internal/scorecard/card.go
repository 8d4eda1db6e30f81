package scorecard

import (
	"fmt"
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

// What a card must reach. Shares are of visible facts.
const (
	defaultShare = 0.98 // in the companion as ccd makes it by default
	sizedShare   = 0.95 // at the size of the agent's own summary
	halfShare    = 0.80
	savedPercent = 70.0 // of a tool-heavy session, by the default companion
	roomy        = 5    // times the companion's size that such a session has at the least, so that it can be saved
)

// Red tells what the card does not reach, one line each; none where all is well.
func (c *Card) Red() (red []string) {
	say := func(format string, args ...any) { red = append(red, fmt.Sprintf(format, args...)) }
	if c.Companion.Mean < defaultShare {
		say("companion shows %.3f, want %.2f", c.Companion.Mean, defaultShare)
	}
	if c.Companion.All.Lost > 0 {
		say("companion lost %d", c.Companion.All.Lost)
	}
	for _, class := range []Class{Asked, Edited, OpenErrors} {
		if n := c.Companion.Classes[class]; c.Companion.Must && n.Visible < n.Facts {
			say("companion shows %d of %d %s", n.Visible, n.Facts, class)
		}
	}
	if c.ToolHeavy && c.Saved < savedPercent {
		say("companion saves %.1f %%, want %.0f", c.Saved, savedPercent)
	}
	for _, s := range c.Stretches {
		for name, want := range map[string]float64{"ccd": sizedShare, "half": halfShare} {
			g := s.Texts[name]
			if g.Mean < want {
				say("%d chars (%s) show %.3f, want %.2f", s.Size, name, g.Mean, want)
			}
			if g.All.Lost > 0 {
				say("%d chars (%s) lost %d", s.Size, name, g.All.Lost)
			}
		}
	}
	return red
}

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
	Texts     map[string]Spread `json:"texts"` // over all stretches
	Saved     float64           `json:"saved_percent_median"`
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
	if slices.Sort(saved); len(saved) > 0 {
		t.Saved = saved[len(saved)/2]
	}
	return t
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
