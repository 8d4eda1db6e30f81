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
	assumed  bool
	name     uint64 // hash of the model's name
	named    int64  // window by that name
	listed   bool   // the table of windows has that name
	marked   bool   // the model was chosen with the mark of a large window
	proven   int64  // window that reports proved, 0 where none did
	claim    claim
	ignored  Outliers
	last     uint64 // reply whose report was ignored last
	pressure float64
	highest  float64
}

// claim is a larger window that reports speak for, but too few yet.
type claim struct {
	window  int64 // 0 where nothing is claimed
	context int64 // as reported last
	reply   uint64
	replies int
}

// Outliers are reports of a context that cannot be: it is larger than any window that the model is known to have, or the
// next report contradicts it. They are ignored.
type Outliers struct {
	Reports int   `json:"reports"`
	Tokens  int64 `json:"tokens"` // what the last of them said
}

func (o *Outliers) add(reports int, tokens int64) { o.Reports, o.Tokens = o.Reports+reports, tokens }

const (
	provingReplies = 3         // consecutive replies that prove a larger window
	maxStated      = 100000000 // a transcript that states a larger window is not believed, tokens
)

func newGauge(o Options) gauge { return gauge{window: o.Window, named: o.Window, assumed: true} }

// size is the window that the pressure is measured against, assumed whether nothing makes it certain.
func (g *gauge) size() (window int64, assumed bool) {
	if g.claim.window > 0 {
		return g.claim.window, true
	}
	return g.window, g.assumed
}

// cut forgets what was reported of a context that is no longer held. A compaction ends a claim: the size of the context
// that it replaced tells whether it was true.
func (g *gauge) cut(b *transcript.Boundary) {
	g.reported = 0
	switch {
	case g.claim.window == 0:
	case b.Before > 0 && b.Before <= g.window:
		g.withdraw()
	default:
		g.prove()
	}
}

// take follows one record. Usage of one reply comes several times, the last one wins: as it replaces what was reported
// before, nothing has to be remembered of it.
func (g *gauge) take(o Options, r *transcript.Record, chars int64) {
	if r.Chosen != "" {
		g.marked = isLarge(r.Chosen)
		g.lookUp(o)
	}
	if n := modelOf(r); n != "" && hashOf(n) != g.name {
		g.name = hashOf(n)
		g.model(o, n)
	}
	if u := r.Usage; u != nil && !u.Side {
		if u.Window > 0 && u.Window <= maxStated {
			g.window, g.assumed, g.stated, g.claim = u.Window, false, true, claim{}
		}
		g.report(o, u)
	}
	used := g.reported
	if !g.reports {
		used = tokens(chars)
	}
	g.pressure = 0
	if window, _ := g.size(); window > 0 {
		g.pressure = float64(used) / float64(window)
	}
	if g.claim.window == 0 {
		g.highest = max(g.highest, g.pressure)
	}
}

// report takes what a reply says of the context.
func (g *gauge) report(o Options, u *transcript.Usage) {
	most := g.window
	if !g.stated {
		most = max(most, o.LargeWindow)
	}
	reply := hashOf(u.ID)
	switch {
	case u.Context <= 0:
		return
	case !Plausible(u.Context, most):
		if u.ID == "" || reply != g.last {
			g.ignored.add(1, u.Context)
		}
		g.last = reply
		return
	case u.Context > g.window && !g.stated && g.window < o.LargeWindow:
		g.claimed(o.LargeWindow, u, reply)
	default:
		g.withdraw()
	}
	g.reported, g.reports = u.Context, true
}

// Plausible reports whether a context of so many tokens can be held in a window. A few more than the window are: agents
// keep some of it back.
func Plausible(context, window int64) bool { return context > 0 && context <= window+window/8 }

// claimed counts a report above the known window.
func (g *gauge) claimed(window int64, u *transcript.Usage, reply uint64) {
	if u.ID == "" || reply != g.claim.reply {
		g.claim.replies++
	}
	g.claim.window, g.claim.context, g.claim.reply = window, u.Context, reply
	if g.claim.replies >= provingReplies {
		g.prove()
	}
}

// withdraw ends a claim that turned out to be false.
func (g *gauge) withdraw() {
	if g.claim.window > 0 {
		g.ignored.add(g.claim.replies, g.claim.context)
		g.claim = claim{}
	}
}

// prove ends a claim that turned out to be true. The highest pressure was measured against the smaller window, and falls
// with it.
func (g *gauge) prove() {
	g.highest *= float64(g.window) / float64(g.claim.window)
	g.window, g.proven, g.assumed = g.claim.window, g.claim.window, false
	g.claim = claim{}
}

// modelOf is the model that answers this session itself: an inline sub-agent may have another.
func modelOf(r *transcript.Record) string {
	if (r.Usage != nil && r.Usage.Side) || (len(r.Items) > 0 && r.Items[0].Side) {
		return ""
	}
	return r.Model
}

// model looks the window up by the name of the model.
func (g *gauge) model(o Options, model string) {
	best := -1
	g.named = o.Window
	for prefix, w := range o.Windows {
		if len(prefix) > best && w > 0 && strings.HasPrefix(model, prefix) {
			best, g.named = len(prefix), w
		}
	}
	g.listed = best >= 0
	if isLarge(model) {
		g.named, g.listed = max(g.named, o.LargeWindow), true
	}
	g.lookUp(o)
}

// isLarge reports whether a model's name has the mark of a large window.
func isLarge(model string) bool {
	return strings.Contains(model, "[1m]") || strings.Contains(model, "1M context")
}

// lookUp sets the window that the model and the reports so far tell. One that the transcript states stays, and so does
// one that was proven.
func (g *gauge) lookUp(o Options) {
	if g.stated {
		return
	}
	g.window, g.claim = max(g.named, g.proven), claim{}
	if g.marked {
		g.window = max(g.window, o.LargeWindow)
	}
	g.assumed = !g.listed && !g.marked && g.proven == 0
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
	window, _ := c.gauge.size()
	saves := tokens(c.held.chars-c.held.newest()) >= c.o.MinSavings
	switch {
	case boundary:
		s.Trigger = "boundary"
	case saves && tokens(c.held.chars) > c.o.limit(window):
		s.Trigger = "threshold"
	case saves && c.gauge.claim.window == 0 && c.gauge.pressure >= c.o.Pressure:
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
