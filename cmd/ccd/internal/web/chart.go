package web

import (
	"fmt"
	"strings"

	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/view"
	"ccd/internal/words"
)

// chart is a picture of the context over a session's records. Its coordinates are of a box of chartWide by chartHigh.
type chart struct {
	Area    string      `json:"-"` // the outline of the lowest and highest sizes per column, as an SVG path
	Line    string      `json:"-"`
	Window  float64     `json:"-"` // height of the window's line; 0: there is none
	Tokens  int64       `json:"window"`
	Top     int64       `json:"-"` // tokens of its upper edge
	Highest view.Moment `json:"highest"`
	First   view.Moment `json:"-"`
	Last    view.Moment `json:"last"`
	Marks   []chartMark `json:"-"`
	Steps   []chartStep `json:"-"` // columns that lead to their records
	Wide    int         `json:"-"`
	High    int         `json:"-"`
}

type chartMark struct {
	X     float64
	N     int
	Title string
}

type chartStep struct {
	X, Wide float64
	Record  int
	Title   string
}

const (
	chartWide  = 1000
	chartHigh  = 180
	chartSteps = 50
)

// column has the sizes of a chart's column of pixels.
type column struct{ low, high int64 }

func (c *column) add(tokens int64) {
	if c.high == 0 || tokens < c.low {
		c.low = tokens
	}
	c.high = max(c.high, tokens)
}

// newChart draws the context of a session. A column shows the lowest and the highest size of its records.
func newChart(one *view.Life, window int64) (c chart) {
	c.Tokens, c.Wide, c.High = window, chartWide, chartHigh
	if len(one.Context) == 0 || one.Records == 0 {
		return c
	}
	at := func(record int) float64 {
		return chartWide * min(1, float64(max(0, record-1))/float64(max(1, one.Records-1)))
	}
	columns := make([]column, chartWide+1)
	for _, k := range one.Compactions { // the context falls at once, not from one report to the next
		if k.Before > 0 && k.After > 0 {
			columns[int(at(k.Record))].add(k.Before)
			columns[int(at(k.Record))].add(k.After)
		}
	}
	for _, m := range one.Context {
		columns[int(at(m.Record))].add(m.Tokens)
		if m.Tokens > c.Highest.Tokens {
			c.Highest = m
		}
	}
	c.First, c.Last = one.Context[0], one.Context[len(one.Context)-1]
	top := 1.04 * float64(max(c.Highest.Tokens, window, 1))
	c.Top = int64(top)
	y := func(tokens int64) float64 { return chartHigh * (1 - float64(tokens)/top) }
	c.outline(columns, y)
	if window > 0 {
		c.Window = y(window)
	}
	for _, k := range one.Compactions {
		c.Marks = append(c.Marks, chartMark{at(k.Record), k.N, compactionTitle(k)})
	}
	c.steps(one)
	return c
}

// outline draws the columns that have a size.
func (c *chart) outline(columns []column, y func(int64) float64) {
	var line, back []string
	for x, col := range columns {
		if col.high == 0 {
			continue
		}
		line = append(line, fmt.Sprintf("%d %.1f", x, y(col.high)))
		if col.low != col.high {
			line = append(line, fmt.Sprintf("%d %.1f", x, y(col.low)))
		}
	}
	if len(line) == 0 {
		return
	}
	first, _, _ := strings.Cut(line[0], " ")
	last, _, _ := strings.Cut(line[len(line)-1], " ")
	back = append(back, last+" "+fmt.Sprint(chartHigh), first+" "+fmt.Sprint(chartHigh))
	c.Line = "M" + strings.Join(line, "L")
	c.Area = c.Line + "L" + strings.Join(back, "L") + "Z"
}

// steps divides the chart into columns that lead to their first record.
func (c *chart) steps(one *view.Life) {
	n := min(chartSteps, one.Records)
	next := 0
	for i := range n {
		record := 1 + i*one.Records/n
		for next < len(one.Context)-1 && one.Context[next].Record < record {
			next++
		}
		m := one.Context[next]
		c.Steps = append(c.Steps, chartStep{
			chartWide * float64(i) / float64(n), chartWide / float64(n), record,
			fmt.Sprintf("#%d %s, %s tokens", record, words.Local(m.Time), words.Tokens(m.Tokens)),
		})
	}
}

func compactionTitle(k view.Compaction) string {
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
