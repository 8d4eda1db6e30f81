package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/internal/scorecard"
	"ccd/internal/transcript"
)

// smallest is how many chars of content a session has that is scored without being named.
const smallest = 40000

type scoreFlags struct {
	agent string
	size  int
}

// scoreOutput is what score prints with --json.
type scoreOutput struct {
	Sessions []scoredSession `json:"sessions"`
	Summary  scoredTotal     `json:"summary"`
	Damage   []damageOutput  `json:"damage"`
}

type scoredSession struct {
	*scorecard.Card
	Red []string `json:"red"`
}

type scoredTotal struct {
	scorecard.Total
	Red []string `json:"red"`
}

func (a *app) scoreCommand() *cobra.Command {
	p := page{
		use: "score [SESSION|FILE]...", group: care, short: "count what companions keep of what mattered",
		long: `Key facts of each session (what was asked, files, commands with status, errors, decisions, numbers,
names, plan, last answer) are counted as visible in the companion, recoverable through an ID in it, or
lost; and at one size beside it, for ccd, the agent's own summary where it wrote one, and three dumb ways
to shorten: tail, head and tail, stubs for all but the last three results. Without an argument: all
archived sessions over 40,000 characters that are no sub-agents. Nothing but counts is printed, nothing
is written.`,
		examples: []example{
			{"ccd score", "all archived sessions of some length"},
			{"ccd score latest", "the session that grew last, class by class"},
			{"ccd score --size 6000 session.jsonl", "a file, at another size than 12,000 chars"},
		},
		json: `one object: sessions [{agent, session, chars, original_tokens, tool_heavy, saved_percent, took_ns,
companion, stretches [{summary_record, size, texts {ccd, half, agent, tail, head_tail, stub}}], red}],
summary, damage (sessions that cannot be read, as in verify);
docs/SCORE.md tells what a text's grade holds`,
		exits: []int{exitNotFound, exitDamage},
	}
	var f scoreFlags
	c := p.command(cobra.ArbitraryArgs, func(c *cobra.Command, args []string) error {
		if f.size < 1000 || f.size > 50000 {
			return usage(c, errors.New("--size must be 1000 to 50000"))
		}
		return a.score(c.Context(), args, f)
	})
	c.Flags().IntVar(&f.size, "size", 12000, "compare at `CHARS` characters where the agent wrote no summary")
	agentFlag(c, &f.agent)
	return c
}

func (a *app) score(ctx context.Context, args []string, f scoreFlags) error {
	l, err := a.library(ctx)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		l.incomplete()
	}
	cards, failed := a.scoreAll(ctx, l, args, f)
	if len(cards) == 0 && failed != nil {
		return failed
	}
	return errors.Join(a.printScores(cards, l.damages()), failed)
}

// scoreAll scores what the arguments name. What fails is told, and the others are scored all the same.
func (a *app) scoreAll(ctx context.Context, l *library, args []string, f scoreFlags) (cards []*scorecard.Card, failed error) {
	keep := func(c *scorecard.Card, err error) error {
		if err == nil {
			cards = append(cards, c)
			return nil
		}
		failed = errors.Join(failed, err)
		return ctx.Err()
	}
	for _, arg := range args {
		if err := keep(a.scoreOne(ctx, l, arg, f)); err != nil {
			return nil, err
		}
	}
	if len(args) > 0 {
		return cards, failed
	}
	show, wipe := a.progress("scoring")
	defer wipe()
	for i, e := range l.sessions {
		show(int64(i), int64(len(l.sessions)))
		if e.Class != transcript.Main || e.Root == "" || e.Tip().Offset < smallest {
			continue
		}
		if err := keep(l.scoreArchived(ctx, e, f.size)); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(cards, func(c *scorecard.Card) bool { return c.Chars <= smallest }), failed
}

func (a *app) scoreOne(ctx context.Context, l *library, arg string, f scoreFlags) (*scorecard.Card, error) {
	if !isFile(arg) {
		e, err := l.find(arg, f.agent)
		if err != nil {
			return nil, err
		}
		if e.Class == transcript.Attachment {
			return nil, hint(fmt.Errorf("score %s: an attachment has no companion", e.ID), "ccd restore --session %s", shellWord(e.ID))
		}
		return l.scoreArchived(ctx, e, f.size)
	}
	s, done, err := a.input(ctx, arg)
	if err != nil {
		return nil, err
	}
	defer done()
	return l.scoreFile(ctx, s, f.size)
}

// printScores prints cards: as JSON, or one line each and, of a single one, its classes; then what they do not reach.
func (a *app) printScores(cards []*scorecard.Card, damage []damageOutput) error {
	sum := scorecard.Sum(cards)
	if a.json {
		out := scoreOutput{Sessions: []scoredSession{}, Summary: scoredTotal{sum, append([]string{}, sum.Red()...)}, Damage: damage}
		for _, c := range cards {
			out.Sessions = append(out.Sessions, scoredSession{c, append([]string{}, c.Red(c.Due())...)})
		}
		return a.printJSON(out)
	}
	if len(cards) == 0 {
		a.say("no archived session has over %s characters", humanize.Comma(smallest))
		return nil
	}
	return a.printTables(cards, sum)
}

func (a *app) printTables(cards []*scorecard.Card, sum scorecard.Total) error {
	rows := [][]string{{"SESSION", "TOKENS (est)", "SAVED", "COMPANION", "LOST", "AT CHARS", "CCD", "HALF", "AGENT", "TAIL", "HEAD+TAIL", "STUB", "TIME"}}
	for _, c := range cards {
		rows = append(rows, scoreRows(c)...)
	}
	if err := a.table(rows); err != nil {
		return err
	}
	if len(cards) == 1 {
		if err := a.printClasses(cards[0]); err != nil {
			return err
		}
	} else if err := a.print(meanLine(len(cards), sum)); err != nil {
		return err
	}
	var red strings.Builder
	for _, c := range cards {
		for _, r := range c.Red(c.Due()) {
			fmt.Fprintf(&red, "%s: %s\n", c.Session, r)
		}
	}
	if red.Len() == 0 {
		return nil
	}
	return a.print("\nBelow what is due:\n" + red.String())
}

func meanLine(n int, sum scorecard.Total) string {
	return fmt.Sprintf("\nmean of %d: companion %.3f (worst %.3f), ccd %.3f (%.3f), half %.3f (%.3f), agent %s, tail %.3f, head+tail %.3f, stub %.3f; lost %d\n",
		n, sum.Companion.Mean, sum.Companion.Worst, sum.Texts["ccd"].Mean, sum.Texts["ccd"].Worst, sum.Texts["half"].Mean, sum.Texts["half"].Worst,
		meanOf(sum, "agent"), sum.Texts["tail"].Mean, sum.Texts["head_tail"].Mean, sum.Texts["stub"].Mean, sum.Lost)
}

func meanOf(sum scorecard.Total, name string) string {
	if s, ok := sum.Texts[name]; ok {
		return fmt.Sprintf("%.3f", s.Mean)
	}
	return "-"
}

// scoreRows are a session's lines: one for each stretch.
func scoreRows(c *scorecard.Card) (rows [][]string) {
	first := []string{
		c.Session, humanize.Comma(c.Original), fmt.Sprintf("%.1f %%", c.Saved), fmt.Sprintf("%.3f", c.Companion.Mean),
		strconv.Itoa(c.Lost()),
	}
	for _, s := range c.Stretches {
		row := append(first, humanize.Comma(int64(s.Size)))
		for _, name := range texts {
			cell := "-"
			if g, ok := s.Texts[name]; ok {
				cell = fmt.Sprintf("%.3f", g.Mean)
			}
			row = append(row, cell)
		}
		if first[0] != "" {
			row = append(row, fmt.Sprintf("%d ms", c.Took.Milliseconds()))
		}
		rows = append(rows, row)
		first = []string{"", "", "", "", ""}
	}
	return rows
}

// printClasses prints one session class by class, its stretches together.
func (a *app) printClasses(c *scorecard.Card) error {
	rows := [][]string{{"FACTS", "OF", "COMPANION", "RECOVERABLE", "LOST", "CCD", "HALF", "AGENT", "TAIL", "HEAD+TAIL", "STUB"}}
	for _, class := range append(scorecard.Classes(), scorecard.Traces()...) {
		n, ok := c.Companion.Classes[class]
		if !ok {
			n, ok = c.Companion.Traces[class]
		}
		if !ok {
			continue
		}
		row := []string{
			string(class), strconv.Itoa(n.Facts), fmt.Sprintf("%.3f", n.Share()), strconv.Itoa(n.Recoverable), strconv.Itoa(n.Lost),
		}
		for _, name := range texts {
			row = append(row, classShare(c, name, class))
		}
		rows = append(rows, row)
	}
	if err := a.print("\n"); err != nil {
		return err
	}
	return a.table(rows)
}

// texts are the texts of one size, in the order of the tables' columns.
var texts = []string{"ccd", "half", "agent", "tail", "head_tail", "stub"}

// classShare is what a text shows of a class in all stretches, "-" where they have no such facts.
func classShare(c *scorecard.Card, name string, class scorecard.Class) string {
	var visible, facts int
	for _, s := range c.Stretches {
		g := s.Texts[name]
		n := g.Classes[class]
		if n.Facts == 0 {
			n = g.Traces[class]
		}
		visible, facts = visible+n.Visible, facts+n.Facts
	}
	if facts == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", float64(visible)/float64(facts))
}
