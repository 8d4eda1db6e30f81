package session

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"ccd/compactor/lexicon"
	"ccd/compactor/limits"
	"ccd/internal/transcript"
)

// gauge measures the pressure on the context: reported tokens over the window, or estimated ones if none are reported.
type gauge struct {
	reported int64 // since the last boundary
	reports  bool  // the session reports tokens
	stated   int   // how often the transcript stated the window
	window   int64
	other    int64 // another one that the newest statement was of, 0 if none
	assumed  bool
	name     uint64 // hash of the model's name
	named    int64  // window of that model
	listed   bool   // the table of windows has that name
	marked   bool   // the model was chosen with the mark of a large window
	proven   int64  // window proved by reports, 0 if none
	above    int    // replies in a row that reported more than the window
	reply    uint64 // the last one of them
	used     int64  // tokens that pressure is measured of
	pressure float64
	certain  float64 // pressure that may trigger
	highest  float64
}

const (
	provingShare   = 60        // part of a window at which an agent's own compaction shows that it has no other, percent
	provingReplies = 3         // consecutive replies needed to prove another window
	minStated      = 8000      // a smaller window is never accepted, tokens
	maxStated      = 100000000 // nor a larger one
)

// cut forgets the reports of a context that was replaced. Agents compact by themselves shortly before their window is full, which
// confirms an assumed one.
func (g *gauge) cut(b *transcript.Boundary) {
	g.reported, g.above = 0, 0
	if b.Trigger == "auto" && b.Before > g.window*provingShare/100 && b.Before <= g.window {
		g.assumed = false
	}
}

// take takes the usage of one record, or the chars of the context where nothing is reported. A reply reports its usage several
// times and the last report counts. Each report replaces the previous one, so none has to be remembered.
func (g *gauge) take(o limits.Options, r *transcript.Record, chars int64) {
	if r.Chosen != "" {
		g.marked = isLarge(r.Chosen)
		g.setWindow(o)
	}
	if n := modelOf(r); n != "" && transcript.Hashed(n) != g.name {
		g.name = transcript.Hashed(n)
		g.takeModel(o, n)
	}
	if u := r.Usage; u != nil && !u.Side {
		g.takeWindow(u)
		g.takeContext(o, u)
	}
	used := g.reported
	if !g.reports {
		used = limits.Tokens(chars)
	}
	g.used, g.pressure = used, pressureOf(used, g.window)
	if g.above > 0 { // the report is wrong, or the window
		return
	}
	g.certain = g.pressure
	if g.stated == 1 { // the next report may contradict the first
		g.certain = pressureOf(used, max(g.window, g.named))
	}
	g.highest = max(g.highest, g.certain)
}

func pressureOf(used, window int64) float64 {
	if window <= 0 {
		return 0
	}
	return float64(used) / float64(window)
}

// takeWindow takes the window that a report states. The first one counts; after that the known one of the model does, or one that two
// reports in a row state. Others are ignored, and so are windows that are too small for the context in their own report.
func (g *gauge) takeWindow(u *transcript.Usage) {
	w := u.Window
	switch {
	case w <= 0:
	case w == g.window && g.stated > 0:
		g.other, g.stated = 0, g.stated+1
	case w < minStated || w > maxStated || u.Context > 0 && !Plausible(u.Context, w):
		g.other = 0
	case g.stated > 0 && w != g.other && w != g.named:
		g.other = w
	default:
		g.window, g.assumed, g.stated, g.above, g.other = w, false, 1, 0, 0
	}
}

// takeContext takes the context that a reply reports, unless it is impossible: no count, or larger than any known window of the model.
func (g *gauge) takeContext(o limits.Options, u *transcript.Usage) {
	most := g.window
	if g.stated == 0 {
		most = max(most, o.LargeWindow)
	}
	switch {
	case !Plausible(u.Context, most):
		return
	case u.Context > g.window && g.stated == 0 && g.window < o.LargeWindow:
		if reply := transcript.Hashed(u.ID); u.ID == "" || g.above == 0 || reply != g.reply {
			g.above, g.reply = g.above+1, reply
		}
		if g.above == provingReplies { // the highest pressure was measured against the smaller window
			g.highest *= float64(g.window) / float64(o.LargeWindow)
			g.window, g.proven, g.assumed, g.above = o.LargeWindow, o.LargeWindow, false, 0
		}
	default:
		g.above = 0
	}
	g.reported, g.reports = u.Context, true
}

// Plausible reports whether a context of so many tokens fits a window. It allows an eighth more, because agents reserve a part
// of the real window and report the rest.
func Plausible(context, window int64) bool { return context > 0 && context <= window+window/8 }

// modelOf returns the model in a record, or "" for a record of an inline sub-agent, which may have another model than the
// session.
func modelOf(r *transcript.Record) string {
	if (r.Usage != nil && r.Usage.Side) || (len(r.Items) > 0 && r.Items[0].Side) {
		return ""
	}
	return r.Model
}

// takeModel looks the window up by the name of the model.
func (g *gauge) takeModel(o limits.Options, model string) {
	best := -1
	g.named = o.Window
	for prefix, w := range o.Windows {
		if len(prefix) > best && w > 0 && (strings.HasPrefix(model, prefix) || strings.HasPrefix(bareName(model), prefix)) {
			best, g.named = len(prefix), w
		}
	}
	g.listed = best >= 0
	if isLarge(model) {
		g.named, g.listed = max(g.named, o.LargeWindow), true
	}
	g.setWindow(o)
}

// bareName returns a model's name as its maker writes it: without the names of resellers and regions before it, and with hyphens
// in its version.
func bareName(model string) string {
	model = model[strings.LastIndexByte(model, '/')+1:]
	if i := strings.LastIndex(model, "anthropic."); i >= 0 {
		model = model[i+len("anthropic."):]
	}
	if strings.HasPrefix(model, "claude-") {
		model = strings.ReplaceAll(model, ".", "-")
	}
	return model
}

// isLarge reports whether a model's name has the mark of a large window.
func isLarge(model string) bool {
	return strings.Contains(model, "[1m]") || strings.Contains(model, "1M context")
}

// setWindow sets the window from the model and the reports so far. It keeps a window that the transcript states or that was
// proven.
func (g *gauge) setWindow(o limits.Options) {
	if g.stated > 0 {
		return
	}
	g.window, g.above = max(g.named, g.proven), 0
	if g.marked {
		g.window = max(g.window, o.LargeWindow)
	}
	g.assumed = !g.listed && !g.marked && g.proven == 0
}

// trigger sets the session's trigger, at most once.
func (t *Tracker) trigger(boundary bool) {
	st := &t.status
	if st.Trigger != "" {
		return
	}
	limit := cmp.Or(max(t.o.Threshold, 0), t.gauge.window-min(t.o.MaxOutput, 20000)-13000) // estimated tokens that trigger
	saves := limits.Tokens(t.held.chars-t.held.newest()) >= t.o.MinSavings
	switch {
	case boundary:
		st.Trigger = "boundary"
	case saves && limits.Tokens(t.held.chars) > limit:
		st.Trigger = "threshold"
	case saves && t.gauge.certain >= t.o.Pressure:
		st.Trigger = "pressure"
	}
}

// Level returns the level of the highest pressure so far.
func (t *Tracker) Level() limits.Level {
	switch h := t.gauge.highest; {
	case h < 0.60:
		return limits.Gentle
	case h < 0.75:
		return limits.Standard
	case h < 0.90:
		return limits.Aggressive
	}
	return limits.Maximum
}

// calibration measures the chars per token of this session: the chars added between two reports of the context, divided by
// the difference of the reports.
type calibration struct {
	total     int64 // chars of the context's items so far
	odd       bool  // something with tokens but no chars came after the newest report
	at        int64 // total at the newest report
	held      int64 // the newest report, 0 if there is none since the context was replaced
	intervals int
	chars     int64 // of all intervals
	tokens    int64
}

// Which intervals count, and how many are needed.
const (
	minIntervals  = 3
	minCalibrated = 4000 // chars
	leastRatio    = 0.5  // chars per token; an interval below it contains something that the transcript does not show
	mostRatio     = 12
	lowRatio      = 1.5 // minimum of CharsPerToken
	highRatio     = 6
)

// count counts an item of the context.
func (c *calibration) count(it *transcript.Item, chars int32) {
	if it.Side {
		return
	}
	c.total += int64(chars)
	if it.Kind == transcript.Image || it.Kind == transcript.File {
		c.odd = true
	}
}

// take takes a report of the context. One that repeats the figure before it says nothing of what came since.
func (c *calibration) take(context int64) {
	if context <= 0 || context == c.held {
		return
	}
	added, grown := c.total-c.at, context-c.held
	if ratio := float64(added) / float64(grown); c.held > 0 && !c.odd && ratio >= leastRatio && ratio <= mostRatio {
		c.intervals, c.chars, c.tokens = c.intervals+1, c.chars+added, c.tokens+grown
	}
	c.at, c.held, c.odd = c.total, context, false
}

// cut begins a new interval, because the context was replaced.
func (c *calibration) cut() { c.held, c.odd = 0, false }

// CharsPerToken returns the chars per real token of this session by its own reports: between 1.5 and 6, or 0 if there are
// fewer than 3 intervals between reports or fewer than 4,000 chars.
func (t *Tracker) CharsPerToken() float64 {
	c := &t.calibration
	if c.intervals < minIntervals || c.chars < minCalibrated {
		return 0
	}
	return max(lowRatio, min(highRatio, float64(c.chars)/float64(c.tokens)))
}

// script counts the chars of texts by the width of their script.
type script struct{ all, wide int64 }

// add counts the chars of a text.
func (s *script) add(text string) {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
		} else {
			r, size := utf8.DecodeRuneInString(text[i:])
			if lexicon.IsWide(r) {
				s.wide++
			}
			i += size
		}
		s.all++
	}
}

// WideShare returns the share of Chinese, Japanese and Korean characters in the messages, 0..1.
func (t *Tracker) WideShare() float64 {
	return float64(t.script.wide) / float64(max(1, t.script.all))
}
