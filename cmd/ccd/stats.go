package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// tally is what stats tells, of all sessions or of one. Tokens are estimates.
type tally struct {
	Original     int64          `json:"original_tokens"`
	Compacted    int64          `json:"companion_tokens"`
	Saved        float64        `json:"saved_percent"`
	Strategies   []savingOutput `json:"strategies"`
	Compactions  int            `json:"compactions"`
	Milliseconds float64        `json:"milliseconds"`
	Fallbacks    []wayOutput    `json:"fallbacks"`
	Tried        int            `json:"restores_tried"`
	Succeeded    int            `json:"restores_succeeded"`

	gains map[string]savingOutput
	ways  map[string]int
}

// wayOutput is how often a second way was taken because the first would not do.
type wayOutput struct {
	Kind  string `json:"kind"`
	Items int    `json:"items"`
}

type statsOutput struct {
	Sessions   int `json:"sessions"`
	Companions int `json:"companions"`
	tally
	BySession []sessionTally `json:"by_session"`
	Damage    []damageOutput `json:"damage"`
}

type sessionTally struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`
	Parent  string `json:"parent"`
	Project string `json:"project"`
	tally
}

func (a *app) statsCommand() *cobra.Command {
	p := page{
		use: "stats [SESSION]", group: everyday, short: "tell what was saved, by which strategy, and what it took",
		long: `Of all sessions, or of one: tokens before and after, of what each companion covers and of the companion;
what each strategy saved in the companions as they stand; how often companions were written and how long
that took; how often a second way had to be taken (a check that failed, a short form that was not
shorter, a cut to hold the budget, a summary that a command did not give); restores tried and succeeded.

The strategies do not add up to the difference before and after: new text, such as headings,
takes room that they have saved. Restores are counted where the state directory can be written, the
newest ten thousand or so.`,
		examples: []example{
			{"ccd stats", "of all sessions, and each"},
			{"ccd stats latest", "of the session with the newest record"},
			{"ccd stats --json | jq '.strategies'", "for a script"},
		},
		json: `one object: sessions, companions, original_tokens and companion_tokens (estimated), saved_percent,
strategies [{kind, items, tokens}], compactions, milliseconds, fallbacks [{kind, items}],
restores_tried, restores_succeeded, by_session [{agent, session, parent, project and, but for sessions
and companions, the same}], damage (sessions that cannot be read, as in verify)`,
		exits: []int{exitNotFound, exitDamage},
	}
	var agent string
	c := p.command(cobra.MaximumNArgs(1), func(c *cobra.Command, args []string) error {
		return a.stats(c.Context(), args, agent)
	})
	agentFlag(c, &agent)
	return c
}

func (a *app) stats(ctx context.Context, args []string, agent string) error {
	l, err := a.library(ctx)
	if err != nil {
		return err
	}
	sessions := slices.DeleteFunc(slices.Clone(l.sessions), func(e entry) bool { return agent != "" && e.Agent != agent })
	var one *entry
	if len(args) > 0 {
		e, err := l.find(args[0], agent)
		if err != nil {
			return err
		}
		sessions, one = []entry{e}, &e
	}
	if one == nil {
		l.incomplete()
	}
	out := tallied(sessions, l.restores(), one == nil && agent == "")
	out.Damage = l.damages()
	if a.json {
		return a.printJSON(out)
	}
	if out.Sessions == 0 && !a.damaged {
		a.say("nothing is archived yet; `ccd run --once` archives what there is")
	}
	return a.printStats(out, one)
}

// tallied adds up. A restore that found no session counts only where all of them are asked for.
func tallied(sessions []entry, restores []restored, strays bool) statsOutput {
	out := statsOutput{BySession: []sessionTally{}}
	tried := map[transcript.Key]tally{}
	for _, r := range restores {
		k := transcript.Key{Agent: r.Agent, ID: r.Session}
		t := tried[k]
		t.restored(r)
		tried[k] = t
		if strays {
			out.restored(r)
		}
	}
	for _, e := range sessions {
		t := sessionTally{Agent: e.Agent, Session: mark.Name(e.ID), Parent: mark.Name(e.Parent), Project: e.state.Cwd, tally: tried[e.Key]}
		if !strays {
			out.Tried += t.Tried
			out.Succeeded += t.Succeeded
		}
		if e.Class != transcript.Attachment {
			out.Sessions++
		}
		if e.state.Companion != "" {
			out.Companions++
		}
		t.add(e)
		out.add(e)
		t.finish()
		if e.state.Work.Compactions > 0 || e.state.Companion != "" || t.Tried > 0 {
			out.BySession = append(out.BySession, t)
		}
	}
	out.finish()
	return out
}

func (t *tally) restored(r restored) {
	t.Tried++
	if r.OK {
		t.Succeeded++
	}
}

func (t *tally) add(e entry) {
	w := e.state.Work
	t.Original += e.state.Original
	t.Compacted += e.state.Compacted
	t.Compactions += w.Compactions
	t.Milliseconds += float64(w.Microseconds) / 1000
	if t.gains == nil {
		t.gains, t.ways = map[string]savingOutput{}, map[string]int{}
	}
	for kind, g := range w.Saved {
		have := t.gains[kind]
		t.gains[kind] = savingOutput{kind, have.Items + g.Items, have.Tokens + g.Tokens}
	}
	for kind, n := range w.Fallbacks {
		t.ways[kind] += n
	}
}

// finish works out what the sums say. The strategy that saved most stands first.
func (t *tally) finish() {
	t.Strategies, t.Fallbacks = []savingOutput{}, []wayOutput{}
	for _, g := range t.gains {
		t.Strategies = append(t.Strategies, g)
	}
	slices.SortFunc(t.Strategies, func(x, y savingOutput) int {
		return cmp.Or(cmp.Compare(y.Tokens, x.Tokens), cmp.Compare(x.Kind, y.Kind))
	})
	for kind, n := range t.ways {
		t.Fallbacks = append(t.Fallbacks, wayOutput{kind, n})
	}
	slices.SortFunc(t.Fallbacks, func(x, y wayOutput) int { return cmp.Compare(x.Kind, y.Kind) })
	if t.Original > 0 {
		t.Saved = math.Round(1000*(1-float64(t.Compacted)/float64(t.Original))) / 10
	}
}

func (a *app) printStats(out statsOutput, one *entry) error {
	rows := [][]string{{"sessions", fmt.Sprintf("%d, %s", out.Sessions, count(out.Companions, "companion"))}}
	if one != nil {
		rows = [][]string{{"session", one.Agent + " " + mark.Inline(one.ID, maxName)}}
	}
	rows = append(rows,
		[]string{"tokens", fmt.Sprintf("%s -> %s (est), %.1f %% saved", humanize.Comma(out.Original), humanize.Comma(out.Compacted), out.Saved)},
		[]string{"time", count(out.Compactions, "compaction") + " in " + out.took()},
		[]string{"fallbacks", waysOf(out.Fallbacks)},
		[]string{"restores", fmt.Sprintf("%d tried, %d succeeded", out.Tried, out.Succeeded)})
	if err := a.table(rows); err != nil {
		return err
	}
	if len(out.Strategies) > 0 {
		if err := a.printStrategies("STRATEGY", out.Strategies); err != nil {
			return err
		}
	}
	if one != nil || len(out.BySession) == 0 {
		return nil
	}
	width := a.width()
	table := [][]string{{"AGENT", "SESSION", "PROJECT", "BEFORE (est)", "AFTER (est)", "SAVED", "COMPACTIONS", "TIME", "RESTORES"}}
	for _, t := range out.BySession {
		table = append(table, t.row(width > 0))
	}
	if err := a.print("\n"); err != nil {
		return err
	}
	return a.table(fit(table, width, column{at: 2, least: 8}, column{at: 1, least: shortUUID}))
}

func (a *app) printStrategies(title string, all []savingOutput) error {
	table := [][]string{{title, "ITEMS", "TOKENS SAVED (est)"}}
	for _, s := range all {
		table = append(table, []string{s.Kind, fmt.Sprint(s.Items), humanize.Comma(s.Tokens)})
	}
	if err := a.print("\n"); err != nil {
		return err
	}
	return a.table(table)
}

func (t sessionTally) row(brief bool) []string {
	id := mark.Inline(t.Session, maxName)
	if brief {
		id = shortID(t.Session)
	}
	return []string{
		t.Agent, id, mark.Inline(t.Project, maxName), humanize.Comma(t.Original), humanize.Comma(t.Compacted),
		fmt.Sprintf("%.1f%%", t.Saved), fmt.Sprint(t.Compactions), t.took(), fmt.Sprintf("%d of %d", t.Succeeded, t.Tried),
	}
}

// took is the time spent, as exactly as a person wants it.
func (t tally) took() string {
	d := time.Duration(t.Milliseconds * float64(time.Millisecond))
	if d < time.Second {
		return d.Round(time.Millisecond / 10).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

func waysOf(all []wayOutput) string {
	if len(all) == 0 {
		return "none"
	}
	var parts []string
	for _, w := range all {
		parts = append(parts, fmt.Sprintf("%s %d", w.Kind, w.Items))
	}
	return strings.Join(parts, ", ")
}
