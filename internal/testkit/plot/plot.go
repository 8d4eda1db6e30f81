// Package plot draws curves with logarithmic axes as SVG, for the documents that benchmarks write.
package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Panel is one diagram.
type Panel struct {
	Title, Unit string    // Unit: of the horizontal axis
	At          []float64 // the places on it
	Low, High   int       // powers of ten of the vertical axis
	Tick        func(power int) string
	Lines       []Line
}

// Line is one curve: a value for each place. A value below the axis is drawn at its end.
type Line struct {
	Name   string
	Values []float64
}

// The panels are beside each other. Lengths are in pixels.
const (
	wide, high = 300, 340 // of a panel's area
	left, top  = 60, 40   // before it
	right      = 130      // after it, for the names
	labelHigh  = 15
)

// colours are distinct on white and on black.
var colours = []string{"#d1495b", "#3b82c4", "#8e6bc4", "#b8860b", "#2e9e6b", "#d9713c", "#6b8e9e", "#c25fa8", "#7a7a2e"}

// SVG draws panels.
func SVG(title string, panels ...Panel) string {
	var t strings.Builder
	step := left + wide + right
	fmt.Fprintf(&t, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="12">
<title>%s</title>
<style>text{fill:#24292f}.grid{stroke:#8884}.linear{stroke:#888;stroke-dasharray:4 4}polyline{fill:none;stroke-width:2}
@media(prefers-color-scheme:dark){text{fill:#d0d7de}}</style>
`, step*len(panels), top+high+45, title)
	for i, p := range panels {
		fmt.Fprintf(&t, "<g transform=\"translate(%d %d)\">\n%s</g>\n", i*step+left, top, p.svg())
	}
	return t.String() + "</svg>\n"
}

func (p *Panel) svg() string {
	var t strings.Builder
	first, last := math.Log10(p.At[0]), math.Log10(p.At[len(p.At)-1])
	x := func(at float64) float64 { return wide * (math.Log10(at) - first) / (last - first) }
	y := func(power float64) float64 {
		return high * (1 - (max(power, float64(p.Low))-float64(p.Low))/float64(p.High-p.Low))
	}
	fmt.Fprintf(&t, "<text x=\"0\" y=\"-16\" font-weight=\"600\">%s</text>\n", p.Title)
	for power := p.Low; power <= p.High; power++ {
		at := y(float64(power))
		fmt.Fprintf(&t, "<line class=\"grid\" x1=\"0\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"-8\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", wide, at, at, at+4, p.Tick(power))
	}
	for _, at := range p.At {
		fmt.Fprintf(&t, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%d\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n", x(at), x(at), high, x(at), high+18, at)
	}
	fmt.Fprintf(&t, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s (dashed: twice as many cost twice as much)</text>\n", wide/2, high+38, p.Unit)
	fmt.Fprintf(&t, "<line class=\"linear\" x1=\"0\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", wide, y(float64(p.Low)), y(float64(p.Low)+last-first))
	type label struct {
		y      float64
		text   string
		colour string
	}
	var labels []label
	for i, l := range p.Lines {
		var points []string
		var end float64
		for n, v := range l.Values {
			end = y(math.Log10(max(v, math.Pow10(p.Low))))
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(p.At[n]), end))
		}
		fmt.Fprintf(&t, "<polyline stroke=\"%s\" points=\"%s\"/>\n", colours[i], strings.Join(points, " "))
		labels = append(labels, label{end, l.Name, colours[i]})
	}
	slices.SortStableFunc(labels, func(x, y label) int { return int(x.y - y.y) })
	for i := range labels { // none covers another
		if i > 0 {
			labels[i].y = max(labels[i].y, labels[i-1].y+labelHigh)
		}
		l := labels[i]
		fmt.Fprintf(&t, "<circle cx=\"%d\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/><text x=\"%d\" y=\"%.1f\">%s</text>\n", wide+14, l.y, l.colour, wide+22, l.y+4, l.text)
	}
	return t.String()
}
