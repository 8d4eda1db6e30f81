package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/history"
	"ccd/internal/mark"
	"ccd/internal/session"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// turnOutput is a turn in --json output. Unknown times are null.
type turnOutput struct {
	history.Turn
	Time *time.Time `json:"time"`
	End  *time.Time `json:"end"`
}

func (a *app) timelineCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "timeline [SESSION]", GroupID: everyday, Short: "show a session turn by turn, one line per turn",
		Long: `Each line shows the record, the time, the request and its ID, the tools, the
files changed, the commands that failed with the ID of their output, and
refused calls. What you sent while the agent worked, and your answers and
reasons, have lines of their own. ccd reads the archive, so this also works
after the transcript is deleted. If the agent rewrote its transcript, records
from before have numbers below 0.

With --json: one array, an object per turn: record, last, time, end, asked (at
most 2000 characters), id, words [{record, how, text, id, time}] (said within
the turn; how: queued, refusal or answer), taken_back, task, tools [{name,
calls}], files, more_files, commands [{record, command, exit, id}],
more_commands, failed (calls), refused, compactions, too_long (records over 16
MB), agents (calls to sub-agents)

` + sessionWords,
		Example: `  ccd timeline                   what happened in this directory's session
  ccd timeline 5d2f7a1e --json   all details of each turn`,
	}
	var agent string
	c.Args = oneSession
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.timeline(c.Context(), sessionOf(args), agent)
	}
	a.agentFlag(c, &agent)
	a.machineFlag(c)
	return c
}

func (a *app) timeline(ctx context.Context, arg, agent string) error {
	l, e, err := a.session(ctx, arg, agent)
	if err != nil {
		return err
	}
	g, err := e.Generation(0)
	if err != nil {
		return err
	}
	if err := a.printHeading(e); err != nil {
		return err
	}
	all, asked, width := []turnOutput{}, false, a.width()
	model, text, damage := l.Model(ctx, e, g.N, math.MaxInt)
	src := session.NewSource(model.Session, text)
	turns := history.Turns(model.Session, src.Said)
	if damage == nil {
		damage = src.Err
	}
	for _, t := range turns {
		asked = asked || t.ID != ""
		if a.json {
			all = append(all, turnOutput{t, words.Known(t.Time), words.Known(t.End)})
		} else if err := a.print(turnLines(t, width)); err != nil {
			return err
		}
	}
	if damage != nil {
		return damage
	}
	if !asked {
		a.say("session %s has no turns: it has no message from a person", e.Name())
	}
	if a.json {
		return a.printJSON(all)
	}
	return nil
}

// leastAsked is how many cells of a request are kept on the narrowest terminal.
const leastAsked = 12

// turnLines formats a turn in one line, and one for each message within it.
func turnLines(t history.Turn, width int) string {
	text := turnLine(t, width) + "\n"
	for _, w := range t.Words {
		text += turnLine(history.Turn{Record: w.Record, Time: w.Time, Asked: ways[w.How] + ": " + w.Text, Added: w.Added, ID: w.ID}, width) + "\n"
	}
	return text
}

// ways says how a person spoke within a turn.
var ways = map[string]string{history.Queued: "sent while the agent worked", history.Refusal: "refused", history.Answer: "answered"}

// turnLine formats a turn in one line. On a terminal it cuts the request first, then the end of the line. With width 0
// it cuts nothing and prints the time in UTC.
func turnLine(t history.Turn, width int) string {
	when, request := words.Local(t.Time), mark.Inline(t.Asked, 120)+mark.Added(t.Added)
	if width <= 0 {
		when = words.Minute(t.Time)
	}
	head := strings.TrimSpace("#"+strconv.Itoa(t.Record)+" "+when) + " · "
	tail := " " + mark.New(t.ID, "")
	switch {
	case t.ID == "":
		request, tail = "(no request)", ""
	case t.Back:
		request = "taken back: " + request
	case t.Task:
		request = "task given by the parent session: " + request
	}
	if t.Record < 0 {
		request = "before the rewrite at #1: " + request
	}
	for _, of := range []string{toolsOf(t), filesOf(t), exitsOf(t)} {
		if of != "" {
			tail += " · " + of
		}
	}
	if t.Refused > 0 {
		tail += fmt.Sprintf(" · %d refused", t.Refused)
	}
	if t.Compactions > 0 {
		tail += " · compacted by the agent"
	}
	if t.TooLong > 0 {
		tail += " · " + words.Count(t.TooLong, "record") + " over 16 MB not shown"
	}
	if width <= 0 {
		return head + request + tail
	}
	id := 0
	if t.ID != "" {
		id = cellsOf(mark.New(t.ID, "")) + 3 // with " …" after it
	}
	room := max(leastAsked, width-cellsOf(head)-cellsOf(tail), min(width/2, width-cellsOf(head)-id))
	return cut(head+cut(request, room)+tail, width)
}

func toolsOf(t history.Turn) string {
	var all []string
	for _, tool := range t.Tools {
		name := mark.Inline(tool.Name, 40)
		if tool.Calls > 1 {
			name += fmt.Sprintf(" %dx", tool.Calls)
		}
		all = append(all, name)
	}
	return strings.Join(all, ", ")
}

func filesOf(t history.Turn) string {
	const show = 6
	var all []string
	for _, f := range t.Files[:min(show, len(t.Files))] {
		all = append(all, "`"+mark.Inline(transcript.Base(f), 60)+"`")
	}
	if more := len(t.Files) - len(all) + t.MoreFiles; more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, ", ")
}

func exitsOf(t history.Turn) string {
	const show = 4
	var all []string
	good, bad := 0, 0
	for _, c := range t.Commands {
		switch {
		case c.Exit == nil:
		case *c.Exit == 0:
			good++
		case len(all) < show:
			all = append(all, fmt.Sprintf("`%s` -> %d %s", mark.Inline(c.Line, 60), *c.Exit, mark.New(c.ID, "")))
		default:
			bad++
		}
	}
	if bad > 0 {
		all = append(all, fmt.Sprintf("%d more failed", bad))
	}
	if good > 0 {
		all = append(all, fmt.Sprintf("%d exit 0", good))
	}
	return strings.Join(all, ", ")
}
