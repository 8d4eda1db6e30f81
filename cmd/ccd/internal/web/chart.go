package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/view"
	"ccd/internal/words"
)

// chart is a picture of the context over a session's records. Its coordinates are of a box of chartWide by chartHigh.
type chart struct {
	Area    string // below the line, as an SVG path
	Line    string
	Window  float64 // height of the window's line; 0: there is none
	Tokens  int64
	Top     int64       // tokens of its upper edge
	From    view.Moment // at its left edge
	To      view.Moment // and at its right one
	Highest view.Moment
	Last    view.Moment
	Marks   []chartMark
	Wide    int
	High    int
}

type chartMark struct {
	X     float64
	N     int
	Title string
}

const (
	chartWide = 1000
	chartHigh = 180
)

// newChart draws the context of a session, of which a Life keeps the highest sizes.
func newChart(one *view.Index, window int64) (c chart) {
	c.Tokens, c.Wide, c.High = window, chartWide, chartHigh
	if len(one.Context) == 0 || one.Records == 0 {
		return c
	}
	at := func(record int) float64 {
		return chartWide * min(1, float64(max(0, record-one.First))/float64(max(1, one.Records-one.First)))
	}
	c.Highest = slices.MaxFunc(one.Context, func(a, b view.Moment) int { return cmp.Compare(a.Tokens, b.Tokens) })
	for _, k := range one.Compactions { // the last report before it may be lower
		if k.Before > c.Highest.Tokens {
			c.Highest = view.Moment{Record: k.Record, Tokens: k.Before}
		}
	}
	c.From, c.To = view.Moment{Record: one.First, Time: cmp.Or(one.Begun, one.Context[0].Time)}, view.Moment{Record: one.Records, Time: one.Ended}
	c.Last = one.Context[len(one.Context)-1]
	top := 1.04 * float64(max(c.Highest.Tokens, window, 1))
	c.Top = int64(top)
	y := func(tokens int64) float64 { return chartHigh * (1 - float64(tokens)/top) }
	var line []string
	point := func(record int, tokens int64) { line = append(line, fmt.Sprintf("%.1f %.1f", at(record), y(tokens))) }
	left := one.Compactions
	for _, m := range one.Context {
		for ; len(left) > 0 && left[0].Record <= m.Record; left = left[1:] {
			if left[0].Before > 0 && left[0].After > 0 { // the context falls at once, not from one report to the next
				point(left[0].Record, left[0].Before)
				point(left[0].Record, left[0].After)
			}
		}
		point(m.Record, m.Tokens)
	}
	c.Line = "M" + strings.Join(line, "L")
	c.Area = fmt.Sprintf("%sL%.1f %dL%.1f %dZ", c.Line, at(c.Last.Record), chartHigh, at(one.Context[0].Record), chartHigh)
	if window > 0 {
		c.Window = y(window)
	}
	for _, k := range one.Compactions {
		c.Marks = append(c.Marks, chartMark{at(k.Record), k.N, compactionTitle(k)})
	}
	return c
}

func compactionTitle(k dropped.Compaction) string {
	text := fmt.Sprintf("compaction %d at #%d", k.N, k.Record)
	if when := words.Local(k.Time); when != "" {
		text += ", " + when
	}
	if k.Trigger != "" || k.ByCCD {
		text += ", " + inline(k.How())
	}
	if k.Before > 0 {
		text += fmt.Sprintf(": %s tokens", words.Tokens(k.Before))
		if k.After > 0 {
			text += " to " + words.Tokens(k.After)
		}
	}
	return text
}

// spark is the small curve of a session in a list, 100 by 24.
type spark struct {
	Line  string
	Marks []float64
}

func newSpark(s status.Session) (p spark) {
	if len(s.Curve) < 2 {
		return p
	}
	top := max(1, s.Window)
	for _, n := range s.Curve {
		top = max(top, n)
	}
	step := 100 / float64(len(s.Curve)-1)
	var b strings.Builder
	last := ""
	for i, n := range s.Curve {
		point := fmt.Sprintf("%.0f %.0f", float64(i)*step, 23-22*float64(n)/float64(top))
		if point != last {
			b.WriteString("L" + point)
		}
		last = point
	}
	p.Line = "M" + strings.TrimPrefix(b.String(), "L")
	for i, n := range s.Marks() {
		if n > 0 {
			p.Marks = append(p.Marks, float64(int(float64(i)*step)))
		}
	}
	return p
}
