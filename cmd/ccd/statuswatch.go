package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"ccd/internal/mark"
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
	g, err := a.gauge()
	if err != nil {
		return err
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	var show func(statusOutput) error
	switch f, isFile := a.out.(*os.File); {
	case a.json:
		show = a.showChange(jsonLine)
	case isFile && terminal(f):
		show = func(o statusOutput) error { return a.redraw(o, every, f) }
	default:
		show = a.showChange(textBlock())
	}
	for {
		out, err := g.read(ctx)
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
func (a *app) showChange(form func(statusOutput) (string, error)) func(statusOutput) error {
	last := ""
	return func(o statusOutput) error {
		now, err := o.essence()
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
func (o statusOutput) essence() (string, error) {
	o.LastPass, o.LagSeconds, o.Archive.Space = nil, 0, 0
	b, err := json.Marshal(o)
	return string(b), err
}

func jsonLine(o statusOutput) (string, error) {
	b, err := json.Marshal(o)
	return string(b) + "\n", err
}

// textBlock returns what makes status a block of lines, with an empty line before each but the first.
func textBlock() func(statusOutput) (string, error) {
	apart := ""
	return func(o statusOutput) (string, error) {
		var b bytes.Buffer
		b.WriteString(apart)
		apart = "\n"
		err := writeTable(&b, o.rows())
		return b.String(), err
	}
}

// redraw puts status over what was drawn before: from the top left, each line cleared to its end, then the rest of the
// screen. Nothing of the terminal is switched, so that nothing has to be put back, however this process ends.
func (a *app) redraw(o statusOutput, every time.Duration, f *os.File) error {
	columns, lines := screen(f)
	var b bytes.Buffer
	title := fmt.Sprintf("ccd status every %s, %s; Ctrl-C ends it", every, time.Now().Format(time.TimeOnly))
	if err := writeTable(&b, o.drawn()); err != nil {
		return err
	}
	text := append([]string{title, ""}, strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")...)
	return a.draw(frame(text, columns, lines))
}

// drawn are status's rows with a bar before each live session.
func (o statusOutput) drawn() [][]string {
	rows := o.rows()
	at := len(rows) - len(o.Live)
	for i, s := range o.Live {
		rows[at+i][1] = bar(s.Pressure) + " " + rows[at+i][1]
	}
	return rows
}

// frame is what draws text on a terminal of so many columns and lines (0: not known): cut to them, and what has no place
// is counted in the last line.
func frame(text []string, columns, lines int) string {
	if most := lines - 1; lines > 1 && len(text) > most { // the cursor stands in the last line
		hidden := len(text) - (most - 1)
		text = append(text[:most-1:most-1], fmt.Sprintf("... %s; a higher window shows them", count(hidden, "more line")))
	}
	var b strings.Builder
	b.WriteString("\x1b[H")
	for _, line := range text {
		line = mark.Visible(line)
		if columns > 0 {
			line = cut(line, columns)
		}
		b.WriteString("\x1b[K" + line + "\r\n") // cleared first: behind a full line a terminal would clear its last cell
	}
	b.WriteString("\x1b[J")
	return b.String()
}
