package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/history"
	"ccd/internal/mark"
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
	p := page{
		use: "timeline [SESSION]", group: everyday, short: "show a session turn by turn, one line per turn",
		long: `Each line shows the record, the time, the request and its ID, the tools, the files changed, the commands
that failed with the ID of their output, and refused calls. What you sent while the agent worked, and your
answers and reasons, have lines of their own. ccd reads the archive, so this also works after the transcript
is deleted.`,
		picks: true,
		examples: []example{
			{"ccd timeline", "what happened in this directory's session"},
			{"ccd timeline 5d2f7a1e --json", "all details of each turn"},
		},
		json: `one array, an object per turn: record, last, time, end, asked (at most 2000 characters), id,
words [{record, how, text, id, time}] (said within the turn; how: queued, refusal or answer), taken_back, task,
tools [{name, calls}], files, more_files, commands [{record, command, exit, id}], more_commands,
failed (calls), refused, compactions, too_long (records over 16 MB), agents (calls to sub-agents)`,
		exits: []int{exitNotFound, exitDamage},
	}
	var agent string
	c := p.command(oneSession, func(c *cobra.Command, args []string) error {
		return a.timeline(c.Context(), sessionOf(args), agent)
	})
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
	turns, damage := history.Turns(e.Session.Session, history.Records(ctx, l.History(), e.Session.Session, g.N))
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
		a.say("session %s has no turns: it has no message from a person", e.ID)
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
		line := message{w.Record, w.Time, ways[w.How] + ": " + mark.Inline(w.Text, 120) + mark.Added(w.Added), w.ID}
		text += line.format("", width) + "\n"
	}
	return text
}

// ways says how a person spoke within a turn.
var ways = map[string]string{history.Queued: "sent while the agent worked", history.Refusal: "refused", history.Answer: "answered"}

func turnLine(t history.Turn, width int) string {
	request, tail := mark.Inline(t.Asked, 120)+mark.Added(t.Added), ""
	switch {
	case t.ID == "":
		request = "(no request)"
	case t.Back:
		request = "taken back: " + request
	case t.Task:
		request = "task given by the parent session: " + request
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
	return message{t.Record, t.Time, request, t.ID}.format(tail, width)
}

// message is what a person said, in a line.
type message struct {
	record int
	at     time.Time
	text   string
	id     mark.ID // "" if there is none
}

// format adds what follows a message. On a terminal it cuts the message first, then the end of the line. With width 0 it cuts
// nothing and prints the time in UTC.
func (m message) format(tail string, width int) string {
	when, id := words.Local(m.at), ""
	if width <= 0 {
		when = words.Minute(m.at)
	}
	head := strings.TrimSpace("#"+strconv.Itoa(m.record)+" "+when) + " · "
	if m.id != "" {
		id = " " + mark.New(m.id, "")
	}
	if width <= 0 {
		return head + m.text + id + tail
	}
	least := cellsOf(id)
	if id != "" {
		least += 2 // " …" after it
	}
	room := max(leastAsked, width-cellsOf(head)-cellsOf(id+tail), min(width/2, width-cellsOf(head)-least))
	return cut(head+cut(m.text, room)+id+tail, width)
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
