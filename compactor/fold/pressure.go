package fold

import (
	"strings"

	"ccd/compactor/limits"
	"ccd/internal/transcript"
)

// gauge is the pressure on the context: reported tokens over the window; where nothing is ever reported, estimated ones.
type gauge struct {
	reported int64 // since the last boundary
	reports  bool  // the session reports at all
	stated   int   // times that the transcript stated the window, counted up to provingReplies; 0 where it states none
	window   int64
	other    statement
	assumed  bool
	name     uint64 // hash of the model's name
	named    int64  // window by that name
	changed  bool   // the model is another than when the window was stated
	listed   bool   // the table of windows has that name
	marked   bool   // the model was chosen with the mark of a large window
	proven   int64  // window that reports proved, 0 where none did
	claim    reported
	ignored  Outliers
	last     uint64 // reply whose report was ignored last
	pressure float64
	certain  float64 // pressure that may trigger
	highest  float64
}

// statement is a window that the last reports stated and that is not believed, at least not yet.
type statement struct {
	window int64
	times  int // in a row
}

// reported is a larger window that reports speak for, but too few yet.
type reported struct {
	window  int64 // 0 where nothing is claimed
	context int64 // as reported last
	reply   uint64
	replies int
}

// Outliers are reports that cannot be true, or that the others contradict: a context that is no count or larger than any
// window that the model is known to have, or a window that the other reports do not state. They are ignored.
type Outliers struct {
	Reports int   `json:"reports"`
	Tokens  int64 `json:"tokens"` // what the last of them said, of the context or the window; 0 where it was no count
}

func (o *Outliers) add(reports int, tokens int64) { o.Reports, o.Tokens = o.Reports+reports, tokens }

const (
	provingReplies = 3         // consecutive replies that prove another window
	minWindow      = 8000      // a smaller window must be stated by as many before it is believed, tokens
	maxStated      = 100000000 // a larger window is never believed, tokens
)

func newGauge(o limits.Options) gauge { return gauge{window: o.Window, named: o.Window, assumed: true} }

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
func (g *gauge) take(o limits.Options, r *transcript.Record, chars int64) {
	if r.Chosen != "" {
		g.marked = isLarge(r.Chosen)
		g.lookUp(o)
	}
	if n := modelOf(r); n != "" && hashOf(n) != g.name {
		g.name = hashOf(n)
		g.model(o, n)
		g.changed = g.stated > 0
	}
	if u := r.Usage; u != nil && !u.Side {
		g.state(o, u)
		g.report(o, u)
	}
	used := g.reported
	if !g.reports {
		used = limits.Tokens(chars)
	}
	window, _ := g.size()
	g.pressure = pressureOf(used, window)
	if g.claim.window == 0 {
		g.certain = g.pressure
		if g.stated == 1 { // the next report may contradict the first
			g.certain = pressureOf(used, max(window, g.named))
		}
		g.highest = max(g.highest, g.certain)
	}
}

func pressureOf(used, window int64) float64 {
	if window <= 0 {
		return 0
	}
	return float64(used) / float64(window)
}

// state takes the window that a report states. The first one is believed if it is plausible; another one in its place
// takes more reports in a row than have stated the first, but no more than provingReplies. One that is too small, larger
// than all known ones, or contradicted by its own report, is an outlier until as many reports as that have stated it.
func (g *gauge) state(o limits.Options, u *transcript.Usage) {
	w := u.Window
	switch {
	case w <= 0:
		return
	case w == g.window && g.stated > 0:
		g.doubt(0)
		g.stated, g.changed = min(g.stated+1, provingReplies), false
		return
	case w > maxStated || u.Context > 0 && !Plausible(u.Context, w):
		g.doubt(0)
		if w > maxStated || Plausible(u.Context, g.window) { // else it is the context that cannot be
			g.ignored.add(1, w)
		}
		return
	}
	g.doubt(w)
	enough := min(g.stated+1, provingReplies)
	switch {
	case g.known(w), g.changed && g.plausible(o, w):
		enough = 1
	case !g.plausible(o, w):
		enough = provingReplies
	}
	if g.other.times < enough {
		return
	}
	if g.stated == 1 && !g.changed { // it stood alone, and is contradicted
		g.ignored.add(1, g.window)
	}
	if !Plausible(g.claim.context, w) {
		g.withdraw()
	}
	g.window, g.assumed, g.stated, g.changed = w, false, g.other.times, false
	g.claim, g.other = reported{}, statement{}
}

// doubt counts a report of a window that is not the believed one. A window that others contradict was an outlier.
func (g *gauge) doubt(window int64) {
	if window != g.other.window {
		if g.other.times > 0 {
			g.ignored.add(g.other.times, g.other.window)
		}
		g.other = statement{window: window}
	}
	if window > 0 {
		g.other.times++
	}
}

// known reports whether the model has such a window by its name or by the choice of a person.
func (g *gauge) known(window int64) bool { return g.listed && window == g.named }

// plausible reports whether a model may have such a window, by the windows of others.
func (g *gauge) plausible(o limits.Options, window int64) bool {
	most := max(g.named, o.LargeWindow)
	for _, w := range o.Windows {
		most = max(most, w)
	}
	return window >= minWindow && window <= most
}

// outliers are what was ignored, and what is not believed so far.
func (g *gauge) outliers() Outliers {
	all := g.ignored
	if g.other.times > 0 {
		all.add(g.other.times, g.other.window)
	}
	return all
}

// report takes what a reply says of the context.
func (g *gauge) report(o limits.Options, u *transcript.Usage) {
	most := g.window
	if g.stated == 0 {
		most = max(most, o.LargeWindow)
	}
	reply := hashOf(u.ID)
	switch {
	case u.Context == 0:
		return
	case !Plausible(u.Context, most):
		if u.ID == "" || reply != g.last {
			g.ignored.add(1, max(u.Context, 0))
		}
		g.last = reply
		return
	case u.Context > g.window && g.stated == 0 && g.window < o.LargeWindow:
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
		g.claim = reported{}
	}
}

// prove ends a claim that turned out to be true. The highest pressure was measured against the smaller window, and falls
// with it.
func (g *gauge) prove() {
	g.highest *= float64(g.window) / float64(g.claim.window)
	g.window, g.proven, g.assumed = g.claim.window, g.claim.window, false
	g.claim = reported{}
}

// modelOf is the model that answers this session itself: an inline sub-agent may have another.
func modelOf(r *transcript.Record) string {
	if (r.Usage != nil && r.Usage.Side) || (len(r.Items) > 0 && r.Items[0].Side) {
		return ""
	}
	return r.Model
}

// model looks the window up by the name of the model.
func (g *gauge) model(o limits.Options, model string) {
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
func (g *gauge) lookUp(o limits.Options) {
	if g.stated > 0 {
		return
	}
	g.window, g.claim = max(g.named, g.proven), reported{}
	if g.marked {
		g.window = max(g.window, o.LargeWindow)
	}
	g.assumed = !g.listed && !g.marked && g.proven == 0
}

// limit is the estimate of the context that triggers, in tokens.
func limit(o *limits.Options, window int64) int64 {
	if o.Threshold > 0 {
		return o.Threshold
	}
	return window - min(o.MaxOutput, 20000) - 13000
}

// trigger fires at most once; what has fired stays.
func (f *Fold) trigger(boundary bool) {
	s := &f.status
	if s.Trigger != "" {
		return
	}
	window, _ := f.gauge.size()
	saves := limits.Tokens(f.held.chars-f.held.newest()) >= f.o.MinSavings
	switch {
	case boundary:
		s.Trigger = "boundary"
	case saves && limits.Tokens(f.held.chars) > limit(&f.o, window):
		s.Trigger = "threshold"
	case saves && f.gauge.claim.window == 0 && f.gauge.certain >= f.o.Pressure:
		s.Trigger = "pressure"
	}
}

// Level is how hard the session is compacted: as the options say, or by the highest pressure so far; never ByPressure.
func (f *Fold) Level() limits.Level {
	switch h := f.gauge.highest; {
	case f.o.Level != limits.ByPressure:
		return min(f.o.Level, limits.Maximum)
	case h < 0.60:
		return limits.Gentle
	case h < 0.75:
		return limits.Standard
	case h < 0.90:
		return limits.Aggressive
	}
	return limits.Maximum
}
