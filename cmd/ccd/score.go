package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/score"
	"ccd/compactor"
	"ccd/internal/mark"
	"ccd/internal/scorecard"
	"ccd/internal/transcript"
	"ccd/internal/words"
	"ccd/watcher"
)

// smallest is how many characters of content a session must exceed to be scored without being named.
const smallest = 40000

type scoreFlags struct {
	agent string
	size  int
	least int // characters of content that a session must exceed to be scored
}

type scoreOutput struct {
	Sessions []*scorecard.Card `json:"sessions"`
	Summary  scorecard.Total   `json:"summary"`
	Damage   []reader.Damage   `json:"damage"`
}

func (a *app) scoreCommand() *cobra.Command {
	p := page{
		use: "score [SESSION|FILE]...", group: care, short: "compare what companions and the agent's summaries keep",
		long: `Shows how many of the key facts of your sessions their companions contain, and how many your agent's
own summaries contain: requests, answers, decisions, files, commands and their outcomes, errors, numbers and names.
Without an argument it measures all archived sessions over 40,000 characters, without sub-agents. It prints
counts only and writes nothing.`,
		more: `A fact is visible in a text, recoverable through an ID in it, or lost. The texts are the companion; a
companion of the size of the agent's own summary, or of --size characters if the agent wrote none; one
of half that size; the agent's own summary; what the hook adds after a compaction; and both together.
--verbose shows the share in each text, by session and by kind.`,
		examples: []example{
			{"ccd score", "all archived sessions over 40,000 characters"},
			{"ccd score latest", "the session with the newest record"},
			{"ccd score --verbose", "the score of each companion and summary"},
			{"ccd score --least 40000 sessions/*.jsonl", "files, without short ones"},
		},
		json: `one object: sessions [{agent, session, chars, original_tokens, tool_heavy, saved_percent, took_ns,
companion, stretches [{summary_record, size, texts {ccd, half, agent, injection, both}}]}],
summary {sessions, texts, classes, saved_percent_median, lost}, damage (sessions that cannot be
read, as in verify); docs/SCORE.md explains the grades`,
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
	c.Flags().IntVar(&f.size, "size", 12000, "limit companions to `CHARS` characters if the agent wrote no summary")
	c.Flags().IntVar(&f.least, "least", 0, "leave out sessions of up to `CHARS` characters (without an argument: 40000)")
	a.agentFlag(c, &f.agent)
	return c
}

func (a *app) score(ctx context.Context, args []string, f scoreFlags) error {
	l, err := a.library(ctx)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		a.incomplete(l)
	}
	cards, failed := a.scoreAll(ctx, l, args, f)
	if len(cards) == 0 && failed != nil {
		return failed
	}
	return errors.Join(a.printScores(cards, f.least, l.Damages()), failed)
}

// scoreAll scores the sessions that args name. It collects errors and continues with the others.
func (a *app) scoreAll(ctx context.Context, l *reader.Library, args []string, f scoreFlags) (cards []*scorecard.Card, failed error) {
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
	for i, e := range l.Sessions {
		show(int64(i), int64(len(l.Sessions)))
		if e.Class != transcript.Main || e.Root == "" || e.Tip().Offset < int64(f.least) {
			continue
		}
		if err := keep(scoreArchived(ctx, l, e, f.size)); err != nil {
			return nil, err
		}
	}
	return cards, failed
}

func (a *app) scoreOne(ctx context.Context, l *reader.Library, arg string, f scoreFlags) (*scorecard.Card, error) {
	if !isFile(a.Path(arg)) {
		e, err := a.choose(ctx, l, arg, f.agent)
		if err != nil {
			return nil, err
		}
		if e.Class == transcript.Attachment {
			return nil, words.Hint(fmt.Errorf("score %s: an attachment has no companion", e.ID), "ccd restore --session %s", words.Shell(e.ID))
		}
		return scoreArchived(ctx, l, e, f.size)
	}
	s, done, err := a.input(ctx, arg, false)
	if err != nil {
		return nil, err
	}
	defer done()
	return scoreOf(l, s, l.OptionsFor(s.Agent), watcher.Tail(ctx, s, transcript.Cursor{}, watcher.TailOptions{Rest: true, Torn: true}), f.size)
}

func scoreArchived(ctx context.Context, l *reader.Library, e reader.Entry, size int) (*scorecard.Card, error) {
	g, err := e.Generation(0)
	if err != nil {
		return nil, err
	}
	return scoreOf(l, e.Session.Session, l.Options(e), l.Archive.Reader(e.Key, g.N).Segments(ctx), size)
}

func scoreOf(l *reader.Library, s transcript.Session, o compactor.Options, segments iter.Seq2[transcript.Segment, error], size int) (*scorecard.Card, error) {
	data, err := joined(segments)
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", s.ID, err)
	}
	return (&score.Transcript{Session: s, Agents: l.Agents, Options: o, Data: data}).Card(size)
}

// joined returns the bytes of a transcript.
func joined(segments iter.Seq2[transcript.Segment, error]) (data []byte, err error) {
	for seg, err := range segments {
		if err != nil {
			return nil, err
		}
		data = append(data, seg.Data...)
	}
	return data, nil
}

// printScores prints cards as JSON or as a table with the classes below it.
func (a *app) printScores(cards []*scorecard.Card, least int, damage []reader.Damage) error {
	sum := scorecard.Sum(cards)
	if a.json {
		return a.printJSON(scoreOutput{append([]*scorecard.Card{}, cards...), sum, damage})
	}
	if len(cards) == 0 {
		a.say("no session has over %s characters", humanize.Comma(int64(least)))
		return nil
	}
	if a.verbose {
		return a.printTables(cards, sum)
	}
	return a.printPlain(cards, sum)
}

// printPlain summarizes what companions and the agents' own summaries show.
func (a *app) printPlain(cards []*scorecard.Card, sum scorecard.Total) error {
	facts, own := 0, []scorecard.Stretch{}
	for _, c := range cards {
		facts += c.Companion.All.Facts
		for _, s := range c.Stretches {
			if _, ok := s.Texts[scorecard.Agent]; ok {
				own = append(own, s)
			}
		}
	}
	rest := "; the rest can be restored by ID"
	switch {
	case sum.Lost > 0:
		rest = "; " + words.Count(sum.Lost, "fact") + " cannot be restored"
	case sum.Texts[scorecard.Companion].Mean == 1:
		rest = ""
	}
	summaries := "none large enough to compare"
	if len(own) > 0 {
		summaries = fmt.Sprintf("%d compared: summaries show %s, companions of the same size %s, summaries with what ccd adds after a compaction %s",
			len(own), percent(meanOf(own, scorecard.Agent)), percent(meanOf(own, scorecard.CCD)), percent(meanOf(own, scorecard.Both)))
	}
	which := []string{"sessions", strconv.Itoa(len(cards))}
	if len(cards) == 1 {
		which = []string{"session", mark.Inline(cards[0].Session, 0)}
	}
	err := a.printFacts([][]string{
		{which[0], fmt.Sprintf("%s, with %s key facts", which[1], humanize.Comma(int64(facts)))},
		{"companions", fmt.Sprintf("show %s%s", percent(sum.Texts[scorecard.Companion].Mean), rest)},
		{"agent summaries", summaries},
	})
	if err != nil {
		return err
	}
	if err := a.print("\n"); err != nil {
		return err
	}
	columns := []column[kindShown]{
		{head: "FACTS", least: 8, text: func(k kindShown) string { return strings.ReplaceAll(string(k.class), "_", " ") }},
		{head: "NUMBER", text: func(k kindShown) string { return strconv.Itoa(k.facts) }},
		{head: "COMPANION", text: func(k kindShown) string { return percent(sum.Classes[k.class][scorecard.Companion]) }},
	}
	if len(own) > 0 {
		columns = append(columns, column[kindShown]{head: "AGENT'S SUMMARY", text: func(k kindShown) string {
			if share, ok := sum.Classes[k.class][scorecard.Agent]; ok {
				return percent(share)
			}
			return "-"
		}})
	}
	var kinds []kindShown
	for _, class := range scorecard.Classes() {
		if n := factsOf(cards, class); n > 0 {
			kinds = append(kinds, kindShown{class, n})
		}
	}
	return printTable(a, kinds, columns)
}

// kindShown is a kind of facts and how many of them the sessions have.
type kindShown struct {
	class scorecard.Class
	facts int
}

func factsOf(cards []*scorecard.Card, class scorecard.Class) (n int) {
	for _, c := range cards {
		n += c.Companion.Count(class).Facts
	}
	return n
}

// meanOf returns the mean share of facts that a text shows over several stretches.
func meanOf(all []scorecard.Stretch, name string) float64 {
	sum := 0.0
	for _, s := range all {
		sum += s.Texts[name].Mean
	}
	return sum / float64(len(all))
}

// percent formats a share. It never rounds up to 100%.
func percent(share float64) string {
	n := math.Round(100 * share)
	if share < 1 {
		n = min(n, 99)
	}
	return fmt.Sprintf("%.0f%%", n)
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
	return a.table(classRows(cards, sum))
}

// headings returns the column heads of the texts of a stretch.
func headings() (all []string) {
	for _, name := range scorecard.Texts() {
		all = append(all, strings.ToUpper(name))
	}
	return all
}

// scoreRows returns the lines of a session, one per stretch.
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

// classRows returns a line per class with its number of facts and the mean share of each text, then the means of all
// classes.
func classRows(cards []*scorecard.Card, sum scorecard.Total) [][]string {
	rows := [][]string{append([]string{"FACTS", "TOTAL", "COMPANION"}, headings()...)}
	names := append([]string{scorecard.Companion}, scorecard.Texts()...)
	all := []string{fmt.Sprintf("mean of %d", len(cards)), ""}
	for _, name := range names {
		s, ok := sum.Texts[name]
		all = append(all, shareCell(s.Mean, ok))
	}
	for _, class := range append(scorecard.Classes(), scorecard.Traces()...) {
		facts := factsOf(cards, class)
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

// shareCell formats a share, or returns "-" if there is none.
func shareCell(share float64, ok bool) string {
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.3f", share)
}
