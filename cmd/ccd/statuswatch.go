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
	"ccd/cmd/ccd/internal/words"
)

// leastInterval is the shortest that status may be told again.
const leastInterval = 100 * time.Millisecond

// watchFlag is --watch: alone, with its interval behind =, or as the argument behind it.
type watchFlag struct {
	on       bool
	interval time.Duration
}

// String implements pflag.Value.
func (w *watchFlag) String() string { return "" }

// Type implements pflag.Value.
func (w *watchFlag) Type() string { return "INTERVAL" }

// Set implements pflag.Value: a duration, or a number of seconds.
func (w *watchFlag) Set(text string) error {
	d, err := time.ParseDuration(text)
	if n, numErr := strconv.ParseFloat(text, 64); err != nil && numErr == nil {
		d, err = time.Duration(n*float64(time.Second)), nil
	}
	switch {
	case err != nil:
		return errors.New("not a duration, such as 5s")
	case d < leastInterval || d > 24*time.Hour:
		return fmt.Errorf("not between %s and a day", leastInterval)
	}
	w.on, w.interval = true, d
	return nil
}

// watchStatus tells status again and again, until ctx ends.
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
	case isFile && terminal(f):
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

// showChange prints status in a form, where it tells something new.
func (a *app) showChange(form func(status.Report) (string, error)) func(status.Report) error {
	last := ""
	return func(o status.Report) error {
		now, err := essence(o)
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

// essence is what must differ for status to be told again to one who follows: the hands of clocks are left out, and what
// others write to the same disk.
func essence(o status.Report) (string, error) {
	o.LastPass, o.LagSeconds, o.Archive.Space = nil, 0, 0
	b, err := json.Marshal(o)
	return string(b), err
}

func jsonLine(o status.Report) (string, error) {
	b, err := json.Marshal(o)
	return string(b) + "\n", err
}

// textBlock returns what makes status a block of lines, with an empty line before each but the first.
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

// redraw puts status over what was drawn before: from the top left, each line cleared to its end, then the rest of the
// screen. Nothing of the terminal is switched, so that nothing has to be put back, however this process ends.
func (a *app) redraw(o status.Report, every time.Duration, f *os.File) error {
	columns, lines := screen(f)
	title := fmt.Sprintf("ccd status every %s, %s; Ctrl-C ends it", every, time.Now().Format(time.TimeOnly))
	return a.draw(frame(a.statusLines(title, o, cmp.Or(columns, unknownWidth)), columns, lines))
}

// unknownWidth is taken for the width of a terminal that does not tell it.
const unknownWidth = 200

// statusLines are the lines of status below a title, none of them wider than width.
func (a *app) statusLines(title string, o status.Report, width int) []string {
	colours := a.colours()
	lines := append([]string{cut(title, width), ""}, facts(o.Rows(), width, colours)...)
	if len(o.Live) > 0 {
		lines = append(append(lines, ""), fit(o.Live, a.liveColumns(), width, colours)...)
	}
	return lines
}

// frame is what draws lines that fit a terminal of so many columns (0: not known) where it has so many lines: those that
// do not fit are counted in the last one.
func frame(text []string, columns, lines int) string {
	if most := lines - 1; lines > 1 && len(text) > most { // the cursor stands in the last line
		hidden := len(text) - (most - 1)
		more := fmt.Sprintf("... %s; a higher window shows them", words.Count(hidden, "more line"))
		if columns > 0 {
			more = cut(more, columns)
		}
		text = append(text[:most-1:most-1], more)
	}
	var b strings.Builder
	b.WriteString("\x1b[H")
	for _, line := range text {
		b.WriteString("\x1b[K" + line + "\r\n") // cleared first: behind a full line a terminal would clear its last cell
	}
	b.WriteString("\x1b[J")
	return b.String()
}
