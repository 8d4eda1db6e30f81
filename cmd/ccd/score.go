package main

import (
	"context"
	"errors"
	"fmt"
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
	least int // chars of content that a session must exceed to be scored
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
		long: `Counts the key facts of each session (what was asked, the agent's answers, questions, refusals,
decisions, reports, files, commands and their outcomes, errors, git, numbers and names in their
sentences, the plan) as visible in a text, recoverable through an ID in it, or lost. The texts are the
default companion; a companion of the size of the agent's own summary, or of --size characters where
the agent wrote none; one of half that size; the agent's own summary; what the hook adds after a
compaction; and both together. Without an argument: all archived sessions over 40,000 characters that
are no sub-agents. Prints counts only, writes nothing.`,
		examples: []example{
			{"ccd score", "all archived sessions of some length"},
			{"ccd score latest", "the session with the newest record"},
			{"ccd score --size 6000 session.jsonl", "a file, at another size than 12,000 chars"},
			{"ccd score --least 40000 sessions/*.jsonl", "files, without the short ones"},
		},
		json: `one object: sessions [{agent, session, chars, original_tokens, tool_heavy, saved_percent, took_ns,
companion, stretches [{summary_record, size, texts {ccd, half, agent, injection, both}}], red}],
summary {sessions, texts, classes, saved_percent_median, lost, red}, damage (sessions that cannot be
read, as in verify); docs/SCORE.md documents a grade`,
		exits: []int{exitNotFound, exitDamage},
	}
	var f scoreFlags
	c := p.command(cobra.ArbitraryArgs, func(c *cobra.Command, args []string) error {
		if f.size < 1000 || f.size > 50000 {
			return usage(c, errors.New("--size must be 1000 to 50000"))
		}
		if len(args) == 0 && !c.Flags().Changed("least") {
			f.least = smallest
		}
		return a.score(c.Context(), args, f)
	})
	c.Flags().IntVar(&f.size, "size", 12000, "compare at `CHARS` characters where the agent wrote no summary")
	c.Flags().IntVar(&f.least, "least", 0, "leave out sessions of up to `CHARS` characters (without an argument: 40000)")
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
	return errors.Join(a.printScores(cards, f.least, l.damages()), failed)
}

// scoreAll scores what the arguments name. What fails is told, and the others are scored all the same.
func (a *app) scoreAll(ctx context.Context, l *library, args []string, f scoreFlags) (cards []*scorecard.Card, failed error) {
	keep := func(c *scorecard.Card, err error) error {
		if err == nil {
			if c.Chars > int64(f.least) {
				cards = append(cards, c)
			}
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
		if e.Class != transcript.Main || e.Root == "" || e.Tip().Offset < int64(f.least) {
			continue
		}
		if err := keep(l.scoreArchived(ctx, e, f.size)); err != nil {
			return nil, err
		}
	}
	return cards, failed
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
	s, done, err := a.input(ctx, arg, false)
	if err != nil {
		return nil, err
	}
	defer done()
	return l.scoreFile(ctx, s, f.size)
}

// printScores prints cards: as JSON, or one line each, then their classes, then what they do not reach.
func (a *app) printScores(cards []*scorecard.Card, least int, damage []damageOutput) error {
	sum := scorecard.Sum(cards)
	if a.json {
		out := scoreOutput{Sessions: []scoredSession{}, Summary: scoredTotal{sum, append([]string{}, sum.Red()...)}, Damage: damage}
		for _, c := range cards {
			out.Sessions = append(out.Sessions, scoredSession{c, append([]string{}, c.Red(c.Due())...)})
		}
		return a.printJSON(out)
	}
	if len(cards) == 0 {
		a.say("no session has over %s characters", humanize.Comma(int64(least)))
		return nil
	}
	return a.printTables(cards, sum)
}

func (a *app) printTables(cards []*scorecard.Card, sum scorecard.Total) error {
	rows := [][]string{append([]string{"SESSION", "TOKENS (est)", "SAVED", "COMPANION", "LOST", "AT CHARS"}, append(headings(), "TIME")...)}
	for _, c := range cards {
		rows = append(rows, scoreRows(c)...)
	}
	if err := a.table(rows); err != nil {
		return err
	}
	if err := a.print("\n"); err != nil {
		return err
	}
	if err := a.table(classRows(cards, sum)); err != nil {
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

// headings are the columns of the texts of a stretch.
func headings() (all []string) {
	for _, name := range scorecard.Texts() {
		all = append(all, strings.ToUpper(name))
	}
	return all
}

// scoreRows are a session's lines: one for each stretch.
func scoreRows(c *scorecard.Card) (rows [][]string) {
	first := []string{
		c.Session, humanize.Comma(c.Original), fmt.Sprintf("%.1f %%", c.Saved), fmt.Sprintf("%.3f", c.Companion.Mean),
		strconv.Itoa(c.Lost()),
	}
	for _, s := range c.Stretches {
		row := append(first, humanize.Comma(int64(s.Size)))
		for _, name := range scorecard.Texts() {
			g, ok := s.Texts[name]
			row = append(row, shareCell(g.Mean, ok))
		}
		if first[0] != "" {
			row = append(row, fmt.Sprintf("%d ms", c.Took.Milliseconds()))
		}
		rows = append(rows, row)
		first = []string{"", "", "", "", ""}
	}
	return rows
}

// classRows are a line for each class: how many facts, and the mean of the sessions' shares in each text; then the means of
// all classes.
func classRows(cards []*scorecard.Card, sum scorecard.Total) [][]string {
	rows := [][]string{append([]string{"FACTS", "OF", "COMPANION"}, headings()...)}
	names := append([]string{scorecard.Companion}, scorecard.Texts()...)
	all := []string{fmt.Sprintf("mean of %d", len(cards)), ""}
	for _, name := range names {
		s, ok := sum.Texts[name]
		all = append(all, shareCell(s.Mean, ok))
	}
	for _, class := range append(scorecard.Classes(), scorecard.Traces()...) {
		facts := 0
		for _, c := range cards {
			facts += c.Companion.Count(class).Facts
		}
		if class == scorecard.Traces()[0] {
			rows = append(rows, all)
		}
		if facts == 0 {
			continue
		}
		row := []string{string(class), strconv.Itoa(facts)}
		for _, name := range names {
			share, ok := sum.Classes[class][name]
			row = append(row, shareCell(share, ok))
		}
		rows = append(rows, row)
	}
	return rows
}

// shareCell is a share, "-" where there is none.
func shareCell(share float64, ok bool) string {
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.3f", share)
}
