package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"ccd/cmd/ccd/internal/status"
	"ccd/internal/words"
)

// minInterval is the shortest interval of --watch.
const minInterval = 100 * time.Millisecond

// watchFlag is the value of --watch, which may be given without an interval.
type watchFlag struct {
	on       bool
	interval time.Duration
}

// set accepts a duration or a number of seconds.
func (w *watchFlag) set(text string) error {
	d, err := time.ParseDuration(text)
	if n, numErr := strconv.ParseFloat(text, 64); err != nil && numErr == nil {
		d, err = time.Duration(n*float64(time.Second)), nil
	}
	switch {
	case err != nil:
		return errors.New("must be a duration such as 5s")
	case d < minInterval || d > 24*time.Hour:
		return fmt.Errorf("must be between %s and a day", minInterval)
	}
	w.on, w.interval = true, d
	return nil
}

// watchStatus shows the status at each interval, until ctx ends.
func (a *app) watchStatus(ctx context.Context, every time.Duration) error {
	g, err := status.NewGauge(a.Env, version().Version)
	if err != nil {
		return err
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	var show func(status.Report) error
	switch f, isFile := a.out.(*os.File); {
	case a.json:
		show = a.showChange(jsonLine)
	case isFile && a.terminal(f):
		show = func(o status.Report) error { return a.redraw(o, every, f) }
	default:
		show = a.showChange(a.textBlock())
	}
	for {
		out, err := g.Read(ctx)
		if err != nil {
			return err
		}
		if err := show(out); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// showChange returns a function that prints the status if it has changed.
func (a *app) showChange(form func(status.Report) (string, error)) func(status.Report) error {
	last := ""
	return func(o status.Report) error {
		now, err := changeKey(o)
		if err != nil || now == last {
			return err
		}
		last = now
		text, err := form(o)
		if err != nil {
			return err
		}
		return a.print(text)
	}
}

// changeKey returns what counts as a change: without times, and without disk space, which other programs change too.
func changeKey(o status.Report) (string, error) {
	o.LastPass, o.LagSeconds, o.Archive.Space = nil, 0, 0
	b, err := json.Marshal(o)
	return string(b), err
}

func jsonLine(o status.Report) (string, error) {
	b, err := json.Marshal(o)
	return string(b) + "\n", err
}

// textBlock returns a function that formats the status as lines, after an empty line except for the first time.
func (a *app) textBlock() func(status.Report) (string, error) {
	apart := ""
	return func(o status.Report) (string, error) {
		var b bytes.Buffer
		b.WriteString(apart)
		apart = "\n"
		err := writeTable(&b, o.Rows())
		if len(o.Live) > 0 {
			b.WriteString("\n" + tabbed(o.Live, a.liveColumns()))
		}
		return b.String(), err
	}
}

// redraw draws the status over the previous one: it clears each line from the top left, then the rest of the screen. It
// changes no terminal mode, so nothing must be restored if the process is killed.
func (a *app) redraw(o status.Report, every time.Duration, f *os.File) error {
	columns, lines := screen(f)
	title := fmt.Sprintf("ccd status every %s, %s; Ctrl-C to quit", every, time.Now().Format(time.TimeOnly))
	return a.draw(frame(a.statusLines(title, o, cmp.Or(columns, unknownWidth)), columns, lines))
}

// unknownWidth is assumed if the terminal's width is unknown.
const unknownWidth = 200

// statusLines returns the lines of the status below a title, each at most width cells wide.
func (a *app) statusLines(title string, o status.Report, width int) []string {
	colours := a.colours()
	lines := append([]string{cut(title, width), ""}, facts(o.Rows(), width, colours)...)
	if len(o.Live) > 0 {
		lines = append(append(lines, ""), fit(o.Live, a.liveColumns(), width, colours)...)
	}
	return lines
}

// frame returns the text that draws lines on a terminal of the given size (columns 0: unknown). If not all fit, the
// last line counts the others.
func frame(text []string, columns, lines int) string {
	if most := lines - 1; lines > 1 && len(text) > most { // the cursor needs the last line
		hidden := len(text) - (most - 1)
		more := fmt.Sprintf("... %s; enlarge the window to see them", words.Count(hidden, "more line"))
		if columns > 0 {
			more = cut(more, columns)
		}
		text = append(text[:most-1:most-1], more)
	}
	var b strings.Builder
	b.WriteString("\x1b[H")
	for _, line := range text {
		b.WriteString("\x1b[K" + line + "\r\n") // cleared first: after a full line, a terminal would clear its last cell
	}
	b.WriteString("\x1b[J")
	return b.String()
}
