package compactor

import (
	"strings"

	"ccd/internal/transcript"
)

// gauge is the pressure on the context: reported tokens over the window; where nothing is ever reported, estimated ones.
type gauge struct {
	reported int64 // since the last boundary
	reports  bool  // the session reports at all
	stated   bool  // the transcript states the window
	window   int64
	proven   int64 // window that a reported context proved, 0 where none did
	assumed  bool
	name     uint64 // hash of the model's name
	pressure float64
	highest  float64
}

// cut forgets what was reported of a context that is no longer held.
func (g *gauge) cut() { g.reported = 0 }

// take follows one record. Usage of one reply comes several times, the last one wins: as it replaces what was reported
// before, nothing has to be remembered of it.
func (g *gauge) take(o Options, r *transcript.Record, chars int64) {
	if n := modelOf(r); n != "" && !g.stated && hashOf(n) != g.name {
		g.name = hashOf(n)
		g.model(o, n)
	}
	if u := r.Usage; u != nil && !u.Side {
		if u.Window > 0 {
			g.window, g.assumed, g.stated = u.Window, false, true
		}
		if u.Context > 0 {
			g.reported, g.reports = u.Context, true
		}
		if g.reported > g.window && !g.stated {
			g.prove(o)
		}
	}
	used := g.reported
	if !g.reports {
		used = tokens(chars)
	}
	g.pressure = 0
	if g.window > 0 {
		g.pressure = float64(used) / float64(g.window)
	}
	g.highest = max(g.highest, g.pressure)
}

// modelOf is the model that answers this session itself: an inline sub-agent may have another.
func modelOf(r *transcript.Record) string {
	if (r.Usage != nil && r.Usage.Side) || (len(r.Items) > 0 && r.Items[0].Side) {
		return ""
	}
	return r.Model
}

// model looks the window up by the name of the model. A window proven larger stays.
func (g *gauge) model(o Options, model string) {
	best, window := -1, o.Window
	for prefix, w := range o.Windows {
		if len(prefix) > best && w > 0 && strings.HasPrefix(model, prefix) {
			best, window = len(prefix), w
		}
	}
	if strings.HasSuffix(model, "[1m]") {
		best, window = len(model), max(window, o.LargeWindow)
	}
	g.assumed = best < 0 && g.proven == 0
	g.window = max(window, g.proven)
}

// prove takes a reported context above the window for the proof of the next larger one. The highest pressure was
// measured against the smaller one, and falls with it.
func (g *gauge) prove(o Options) {
	larger := max(o.LargeWindow, g.reported)
	g.highest *= float64(g.window) / float64(larger)
	g.window, g.proven, g.assumed = larger, larger, false
}

// limit is the estimate of the context that triggers, in tokens.
func (o Options) limit(window int64) int64 {
	if o.Threshold > 0 {
		return o.Threshold
	}
	return window - min(o.MaxOutput, 20000) - 13000
}

// trigger fires at most once; what has fired stays.
func (c *Compactor) trigger(boundary bool) {
	s := &c.status
	if s.Trigger != "" {
		return
	}
	saves := tokens(c.held.chars-c.held.newest()) >= c.o.MinSavings
	switch {
	case boundary:
		s.Trigger = "boundary"
	case saves && tokens(c.held.chars) > c.o.limit(c.gauge.window):
		s.Trigger = "threshold"
	case saves && c.gauge.pressure >= c.o.Pressure:
		s.Trigger = "pressure"
	}
}

func (c *Compactor) level() Level {
	switch h := c.gauge.highest; {
	case c.o.Level != ByPressure:
		return min(c.o.Level, Maximum)
	case h < 0.60:
		return Gentle
	case h < 0.75:
		return Standard
	case h < 0.90:
		return Aggressive
	}
	return Maximum
}
