package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/history"
	"ccd/cmd/ccd/internal/picker"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/words"
)

// thisDir is the SESSION argument that means the session of the current directory, as none does.
const thisDir = "."

// active is how recently a session grew that a person may mean by latest.
const active = 10 * time.Minute

// mostListed is how many sessions are listed to choose from where no picker can run.
const mostListed = 20

// oneSession takes a SESSION argument, or none.
func oneSession(c *cobra.Command, args []string) error {
	if len(args) == 1 && args[0] == "" {
		return errors.New("SESSION is empty")
	}
	return cobra.MaximumNArgs(1)(c, args)
}

// sessionOf is the SESSION argument of a command line, thisDir if it has none.
func sessionOf(args []string) string {
	if len(args) == 0 {
		return thisDir
	}
	return args[0]
}

// choose returns the session that a command is about: the one that arg names or, for thisDir, the one of the current
// directory, else the one that a person picks. It says which one it took.
func (a *app) choose(ctx context.Context, l *reader.Library, arg, agent string) (reader.Entry, error) {
	if arg != thisDir {
		return a.find(l, arg, agent)
	}
	if e, ok := l.Here(agent); ok {
		a.incomplete(l)
		a.say("session of this directory: %s; `ccd ls` lists others", described(e))
		return e, nil
	}
	all := l.Latest("", agent)
	if len(all) == 0 {
		return l.Find("latest", agent) // fails, and says what to do
	}
	a.incomplete(l)
	if !isTTY(a.in) || !isTTY(a.err) {
		return reader.Entry{}, unchosen(all)
	}
	return a.pick(ctx, all)
}

// unchosen lists the sessions to choose from.
func unchosen(all []reader.Entry) error {
	err := &history.AmbiguousError{What: "session", Why: "this directory has none", Matches: numbered(all)}
	return words.Hint(err, "add a session's ID, latest or latest:DIR")
}

// numbered is a list of sessions, one line each.
func numbered(all []reader.Entry) []string {
	var lines []string
	for i, e := range all[:min(len(all), mostListed)] {
		lines = append(lines, fmt.Sprintf("%2d  %s  %s", i+1, shortID(e.ID), told(e)))
	}
	if more := len(all) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("    %d more: ccd ls", more))
	}
	return lines
}

// pick asks a person for a session: with a picker, or by number on a terminal that a picker cannot be drawn on.
func (a *app) pick(ctx context.Context, all []reader.Entry) (reader.Entry, error) {
	in, out := a.in.(*os.File), unguarded(a.err).(*os.File)
	if !terminal(out) {
		return a.askNumber(ctx, all)
	}
	c := picker.Choice{Lines: func(width int) []string { return a.chooseLines(all, width) }}
	for _, e := range all {
		c.Match = append(c.Match, described(e))
	}
	n, err := picker.Pick(ctx, in, out, a.Vars, c)
	switch {
	case errors.Is(err, picker.ErrCanceled):
		return reader.Entry{}, errInterrupted
	case err != nil && ctx.Err() == nil:
		return a.askNumber(ctx, all)
	case err != nil:
		return reader.Entry{}, err
	}
	a.say("session: %s", described(all[n]))
	return all[n], nil
}

// chooseLines are the heading and the lines of a picker.
func (a *app) chooseLines(all []reader.Entry, width int) []string {
	rows := make([]status.Session, len(all))
	for i, e := range all {
		rows[i] = status.Of(e)
	}
	return fit(rows, a.liveColumns(), width, false)
}

// askNumber lists the sessions and reads the number of one.
func (a *app) askNumber(ctx context.Context, all []reader.Entry) (reader.Entry, error) {
	fmt.Fprintf(a.err, "%s\n", strings.Join(numbered(all), "\n"))
	most := min(len(all), mostListed)
	in := bufio.NewReader(a.in)
	for {
		fmt.Fprintf(a.err, "Number of a session (1-%d), empty to cancel: ", most)
		line, err := readLine(ctx, in)
		if line = strings.TrimSpace(line); err != nil {
			return reader.Entry{}, err
		}
		n, err := strconv.Atoi(line)
		switch {
		case line == "":
			return reader.Entry{}, errInterrupted
		case err == nil && n >= 1 && n <= most:
			return all[n-1], nil
		}
	}
}

// readLine reads a line that a person types, with its newline; "" at the end of input. It returns early when ctx ends.
func readLine(ctx context.Context, in *bufio.Reader) (string, error) {
	type answer struct {
		line string
		err  error
	}
	typed := make(chan answer, 1)
	go func() {
		line, err := in.ReadString('\n')
		typed <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case got := <-typed:
		if got.err != nil && !errors.Is(got.err, io.EOF) {
			return "", fmt.Errorf("read answer: %w", got.err)
		}
		return got.line, nil
	}
}

// sayLatest says which session latest is, and which others a person may have meant.
func (a *app) sayLatest(l *reader.Library, e reader.Entry, dir, agent string) {
	a.say("latest is %s", described(e))
	for _, other := range l.Latest(dir, agent) {
		if other.Key != e.Key && time.Since(other.Last()) < active {
			a.say("also active: %s; its name is %s", told(other), l.Argument(other))
		}
	}
}

// described is a session in one line: what names it, and what tells it from others.
func described(e reader.Entry) string { return shortID(e.ID) + ", " + told(e) }

// told is what tells a session from others: title, project, agent, age and size.
func told(e reader.Entry) string {
	s := status.Of(e)
	return strings.Join(append(titled(s), e.Agent, words.Ago(e.Last(), time.Now()), s.Size().String()), ", ")
}

// titled is a session's title and project, as far as they are known.
func titled(s status.Session) (parts []string) {
	if title := cut(s.Called(), 60); title != "" {
		parts = append(parts, `"`+title+`"`)
	}
	if dir := s.Directory(); dir != "" {
		parts = append(parts, cut(dir, 30))
	}
	return parts
}

// shortID is enough of an ID to name the session.
func shortID(id string) string { return status.Short(id) }
