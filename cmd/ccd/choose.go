package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/history"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/internal/mark"
	"ccd/internal/words"
)

// thisDir is the SESSION argument for the session of the current directory, and the default.
const thisDir = "."

// active is how recently a session must have grown to be mentioned beside latest.
const active = 10 * time.Minute

// mostListed limits the list of sessions to choose from.
const mostListed = 20

// oneSession accepts at most one SESSION argument.
func oneSession(c *cobra.Command, args []string) error {
	if len(args) == 1 && args[0] == "" {
		return errors.New("SESSION is empty")
	}
	return cobra.MaximumNArgs(1)(c, args)
}

// sessionOf returns the SESSION argument, or thisDir if there is none.
func sessionOf(args []string) string {
	if len(args) == 0 {
		return thisDir
	}
	return args[0]
}

// choose returns the session that arg names. For thisDir it returns the session of the current directory and says so;
// if there is none, it asks. It reports what other machines have of the session.
func (a *app) choose(ctx context.Context, l *reader.Library, arg, agent string) (reader.Entry, error) {
	e, err := a.chooseHere(ctx, l, arg, agent)
	if err != nil {
		return e, a.notHere(ctx, l, arg, agent, err)
	}
	a.sayMore(ctx, l, e)
	return e, nil
}

func (a *app) chooseHere(ctx context.Context, l *reader.Library, arg, agent string) (reader.Entry, error) {
	if arg != thisDir {
		e, err := a.find(l, arg, agent)
		if _, _, other := mark.PrefixRange(arg); errors.Is(err, history.ErrNotFound) && other == nil && len(arg) == mark.IDLen {
			err = words.Hint(fmt.Errorf("%w: an ID of 12 characters names an original", err), "ccd restore %s", arg)
		} else if strings.Contains(arg, "#") && errors.Is(err, history.ErrNotFound) {
			err = words.Hint(fmt.Errorf("%w: SESSION#N names a record", err), "ccd restore %s", words.Shell(arg))
		}
		return e, err
	}
	if e, ok := l.Here(agent); ok {
		a.incomplete(l)
		a.say("session of this directory: %s; `ccd ls` lists others", sessionLine(&e))
		return e, nil
	}
	all := l.Listed(agent)
	if len(all) == 0 {
		return l.Find("latest", agent) // fails with a hint
	}
	a.incomplete(l)
	if !isTTY(a.in) || !isTTY(a.err) {
		return reader.Entry{}, noChoice(all)
	}
	return a.askNumber(ctx, all)
}

// noChoice returns an error that lists the sessions to choose from.
func noChoice(all []*reader.Entry) error {
	err := &history.AmbiguousError{What: "session", Why: "this directory has no session", Matches: numbered(all, 0)}
	return words.Hint(err, "add a session's ID, latest or latest:DIR")
}

// numbered lists sessions, one line each, of at most width cells if that is not 0.
func numbered(all []*reader.Entry, width int) []string {
	var lines []string
	for i, e := range all[:min(len(all), mostListed)] {
		number, line := fmt.Sprintf("%2d  ", i+1), sessionLine(e)
		if width > 0 {
			line = fittedLine(e, width-len(number))
		}
		lines = append(lines, number+line)
	}
	if more := len(all) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("    %d more: ccd ls", more))
	}
	return lines
}

// askNumber lists the sessions and reads the number of one.
func (a *app) askNumber(ctx context.Context, all []*reader.Entry) (reader.Entry, error) {
	fmt.Fprint(a.err, mark.Visible(strings.Join(numbered(all, a.width()), "\n")+"\n"))
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
		case line == "", line == "q":
			return reader.Entry{}, errInterrupted
		case err == nil && n >= 1 && n <= most:
			a.say("session: %s", sessionLine(all[n-1]))
			return *all[n-1], nil
		}
	}
}

// sayLatest says which session latest is, and which others are active.
func (a *app) sayLatest(l *reader.Library, e reader.Entry, dir, agent string) {
	a.say("latest is %s", sessionLine(&e))
	for other := range l.Latest(dir, agent) {
		if other.Key != e.Key && time.Since(other.Last()) < active {
			a.say("also active: %s; its ID is %s", sessionDetails(other), l.Argument(*other))
		}
	}
}

// sessionLine returns a session in one line, with its ID.
func sessionLine(e *reader.Entry) string { return shortID(e.ID) + ", " + sessionDetails(e) }

// fittedLine is sessionLine in at most width cells; the title is cut first.
func fittedLine(e *reader.Entry, width int) string {
	line, title := sessionLine(e), cut(status.Of(e).Called(), 60)
	room := max(leastTitle, cellsOf(title)-max(0, cellsOf(line)-width))
	return cut(strings.Replace(line, title, cut(title, room), 1), width)
}

const leastTitle = 12

// sessionDetails describes a session: its title, project, agent, age and size.
func sessionDetails(e *reader.Entry) string {
	s := status.Of(e)
	return strings.Join(append(titleAndProject(s), e.Agent, words.Ago(e.Last(), time.Now()), s.Size().String()), ", ")
}

// titleAndProject returns the title and the project of a session, if known.
func titleAndProject(s status.Session) (parts []string) {
	if title := cut(s.Called(), 60); title != "" {
		parts = append(parts, `"`+title+`"`)
	}
	if dir := s.Directory(); dir != "" {
		parts = append(parts, cut(dir, 30))
	}
	return parts
}

func shortID(id string) string { return status.Short(id) }
