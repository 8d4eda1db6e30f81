package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/history"
	"ccd/cmd/ccd/internal/search"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

type searchFlags struct {
	tool, path, session, since, agent string
	phrase, all                       bool
	limit                             int
}

// hitOutput is a hit as --json prints it.
type hitOutput struct {
	Agent      string     `json:"agent"`
	Session    string     `json:"session"`
	Generation int        `json:"generation"`
	Record     int        `json:"record"`
	Line       int        `json:"line"`
	Kind       string     `json:"kind"`
	Tool       string     `json:"tool"`
	ID         mark.ID    `json:"id"`
	Time       *time.Time `json:"time"`
	Snippet    string     `json:"snippet"`
}

// searchLimit is how many hits are printed unless asked for otherwise: about what one answer of a tool may hold.
const searchLimit = 50

var searchPage = page{
	use: "search WORDS...", group: agents, short: "find what was said, run and read, in all archived sessions",
	forms: []string{
		"ccd search [--session SESSION | --agent AGENT] [--since TIME] [--tool NAME] [--path PATH] [--all] [--limit N] WORDS...",
		"ccd search --phrase WORDS...",
		"ccd search --tool NAME | --path PATH",
	},
	long: `A hit is an item of a transcript (a message, a call, a result) that holds all WORDS, in any order and in
upper or lower case, also as parts of longer words. An argument with blanks, or words in double quotes,
are a phrase: they stand in this order, with nothing but blanks and line ends between them; --phrase
makes one of all WORDS. Searched is what the agent saw, with the escapes in a call's input undone: not
the copies that a client keeps for its screen, nor images, nor encrypted reasoning.

All archived sessions are searched, the one with the newest record first, all generations, also where the
transcript is gone; in each the newest records first. Each hit is printed as soon as it is found: session
and record (SESSION#N), time, kind and tool, its ID, which ccd restore takes, the line of what restore
prints, and the text around the first match. Sub-agents, and the files in which long outputs were
spilled, are searched with --all, or when --session names one; only with --all is found what ccd's hooks
told an agent, and, without --session, what a copy made by ccd resume shares with its original.

Where stored bytes are damaged the rest is searched all the same, and the exit status is 4.`,
	examples: []example{
		{"ccd search overflow cents", "items with both words, newest first"},
		{`ccd search "exit status 2" --tool Bash`, "a phrase, in commands and their outputs"},
		{"ccd search --path src/money.py --since 2026-01-29", "each read and change of a file since that day"},
		{"ccd search --session latest --all --limit 0 panic", "every hit in the newest session and its sub-agents"},
		{"ccd search --json TypeError | jq -r '.[].id'", "the IDs of what was found"},
	},
	json: `one array, written while it is found, an object a hit: agent, session, generation, record (0 where
it is not known, and of a spilled file), line (of the first match, in what restore prints), kind, tool
("" where there is none), id, time, snippet (one line, at most 200 characters, control characters escaped)`,
	exits: []int{exitNotFound, exitDamage},
}

func (a *app) searchCommand() *cobra.Command {
	var f searchFlags
	check := func(_ *cobra.Command, args []string) error {
		_, err := f.query(args, time.Now())
		return err
	}
	c := searchPage.command(check, func(c *cobra.Command, args []string) error {
		return a.search(c.Context(), f, args)
	})
	c.Flags().SortFlags = false
	f.add(c)
	return c
}

// add adds the flags of a search to a command.
func (f *searchFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.BoolVar(&f.phrase, "phrase", false, "all WORDS are one phrase")
	flags.StringVar(&f.tool, "tool", "", "only calls of the tool `NAME`, and their results")
	flags.StringVar(&f.path, "path", "", "only calls on `PATH`, and their results: a file, the end of its path, a directory, or a pattern with * and **")
	flags.StringVar(&f.session, "session", "", "only in `SESSION`")
	agentFlag(c, &f.agent)
	flags.StringVar(&f.since, "since", "", "only from `TIME` on: 2026-01-29, 2026-01-29T10:30Z (UTC), or an age: 90m, 36h, 7d")
	flags.IntVar(&f.limit, "limit", searchLimit, fmt.Sprintf("stop after `N` hits, not %d; 0 for all of them", searchLimit))
	flags.BoolVar(&f.all, "all", false, "sub-agents and spilled files too")
}

func (a *app) search(ctx context.Context, f searchFlags, args []string) error {
	q, err := f.query(args, time.Now())
	if err != nil {
		return err
	}
	l, err := a.library(ctx)
	if err != nil {
		return err
	}
	in, err := l.sources(f)
	if err != nil {
		return err
	}
	p := a.hitPrinter(q, f.limit)
	if !f.all && f.session == "" {
		p.copies = l.copies()
	}
	show, wipe := a.progress("searching:")
	p.wipe = wipe
	defer wipe()
	for h, err := range (search.Search{Archive: l.archive, Sources: in, Query: q, Progress: show}).Hits(ctx) {
		more, err := p.take(h, err)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	wipe()
	if err := p.end(); err != nil {
		return err
	}
	return a.searched(p, l, len(in), f)
}

// searched tells how the search ended.
func (a *app) searched(p *hitPrinter, l *library, sources int, f searchFlags) error {
	if f.session == "" {
		l.incomplete()
	}
	switch {
	case p.damage > 0:
		fmt.Fprintf(a.err, "ccd: %s could not be searched: %v\n", count(p.damage, "damaged stretch"), p.first)
		return errDamaged
	case p.hits > 0 && p.hits == f.limit:
		a.say("stopped after %s; there may be more: --limit %d, or --limit 0 for all", count(p.hits, "hit"), f.limit*4)
	case p.hits > 0, a.damaged:
	case len(l.sessions) == 0 && !l.limited():
		return hint(fmt.Errorf("search: %w: nothing is archived yet", history.ErrNotFound), "ccd run --once")
	default:
		return f.none(l, sources)
	}
	return nil
}

// none is the error of a search without hits, in so many sessions: what narrows it may hide what is looked for.
func (f searchFlags) none(l *library, sources int) error {
	err := fmt.Errorf("search: %w in any of %s", history.ErrNotFound, count(sources, "archived session"))
	if l.limited() {
		err = fmt.Errorf("search: %w%s (%d searched)", history.ErrNotFound, l.scope(), sources)
	}
	var narrow []string
	for name, set := range map[string]bool{
		"--since": f.since != "", "--tool": f.tool != "", "--path": f.path != "", "--session": f.session != "", "--agent": f.agent != "", "--phrase": f.phrase,
	} {
		if set {
			narrow = append(narrow, name)
		}
	}
	slices.Sort(narrow)
	switch {
	case len(narrow) > 0:
		return hint(err, "search without %s", strings.Join(narrow, ", "))
	case !f.all && sources > 0:
		return hint(err, "--all also searches sub-agents and spilled files")
	}
	return err
}

// query reads what is looked for from the command line.
func (f searchFlags) query(args []string, now time.Time) (q search.Query, err error) {
	q.Tool, q.Path, q.Retold = f.tool, f.path, f.all
	if f.limit < 0 {
		return q, errors.New("--limit counts from 0")
	}
	if q.Since, err = since(f.since, now); err != nil {
		return q, err
	}
	if f.phrase {
		args = []string{strings.Join(args, " ")}
	}
	for _, arg := range args {
		words := []string{arg}
		if strings.HasPrefix(arg, `"`) && !f.phrase {
			words = search.Words(arg)
		}
		q.Words = append(q.Words, words...)
	}
	return q, q.Check()
}

// since reads a time from which on something counts: a moment, or how long ago it was.
func since(text string, now time.Time) (time.Time, error) {
	if n, ok := strings.CutSuffix(text, "d"); ok {
		if days, err := strconv.ParseFloat(n, 64); err == nil && days >= 0 && days < 1e5 {
			return now.Add(-time.Duration(days * 24 * float64(time.Hour))), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	t, _, err := instant(text)
	if err != nil {
		return t, fmt.Errorf("%w; or an age such as 36h or 7d", err)
	}
	return t, nil
}

// sources are the sessions that a search looks through, newest first.
func (l *library) sources(f searchFlags) ([]search.Source, error) {
	in := slices.Clone(l.sessions)
	if f.session != "" {
		e, err := l.find(f.session, f.agent)
		if err != nil {
			return nil, err
		}
		in = slices.DeleteFunc(in, func(o entry) bool { return o.Key != e.Key && !(f.all && o.Agent == e.Agent && o.Parent == e.ID) })
	}
	var all []search.Source
	for _, e := range in {
		if f.agent != "" && e.Agent != f.agent || f.session == "" && !f.all && e.Class != transcript.Main {
			continue
		}
		all = append(all, search.Source{
			Session: e.Session, Last: e.last(), Records: e.state.Records,
			Taken: transcript.Cursor{Generation: e.state.At.Generation, Offset: e.state.At.Offset},
		})
	}
	return all, nil
}

// copies tells of the sessions that are copies made by ccd, of others that are archived here, how many of their records
// ccd wrote.
func (l *library) copies() map[transcript.Key]int {
	all := map[transcript.Key]int{}
	for _, e := range l.sessions {
		if _, ok := l.resumed(e); ok {
			all[e.Key] = e.state.Resumed.Records
		}
	}
	return all
}

// hitPrinter prints hits as they come.
type hitPrinter struct {
	*app
	query  search.Query
	limit  int
	colour bool
	wipe   func()
	copies map[transcript.Key]int // of copies that ccd wrote: records that stand in their originals too
	hits   int
	damage int
	first  error // damage
}

func (a *app) hitPrinter(q search.Query, limit int) *hitPrinter {
	return &hitPrinter{app: a, query: q, limit: limit, colour: terminal(a.out) && a.getenv("NO_COLOR") == ""}
}

// take prints a hit, or notes damage. It reports whether another one is wanted.
func (p *hitPrinter) take(h search.Hit, err error) (more bool, _ error) {
	if errors.As(err, new(*archive.DamageError)) {
		if p.damage++; p.first == nil {
			p.first = err
		}
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if h.Record > 0 && h.Record <= p.copies[h.Session.Key] {
		return true, nil
	}
	p.wipe()
	if p.json {
		err = p.object(h)
	} else {
		err = p.lines(h)
	}
	p.hits++
	return p.hits != p.limit, err
}

// lines prints a hit for people: where it is, and below it the text.
func (p *hitPrinter) lines(h search.Hit) error {
	where := h.Session.ID
	if h.Record > 0 {
		where += "#" + strconv.Itoa(h.Record)
	}
	parts := []string{mark.Inline(where, 0)}
	if t := minute(h.Time); t != "" {
		parts = append(parts, t)
	}
	parts = append(parts, strings.TrimSpace(h.Kind.String()+" "+mark.Inline(h.Tool, 60)))
	if h.Line > 1 {
		parts = append(parts, "line "+strconv.Itoa(h.Line))
	}
	return p.draw(strings.Join(parts, " · ") + " " + mark.New(h.ID, "") + "\n  > " + p.marked(h.Snippet) + "\n")
}

// marked marks what matches, on a terminal.
func (p *hitPrinter) marked(snippet string) string {
	if !p.colour {
		return snippet
	}
	var b strings.Builder
	at := 0
	for _, s := range p.query.Spans(snippet) {
		b.WriteString(snippet[at:s[0]] + "\x1b[1;31m" + snippet[s[0]:s[1]] + "\x1b[0m")
		at = s[1]
	}
	return b.String() + snippet[at:]
}

// object prints a hit as the next element of the array.
func (p *hitPrinter) object(h search.Hit) error {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetIndent("  ", "  ")
	e.SetEscapeHTML(false)
	err := e.Encode(hitOutput{
		h.Session.Agent, mark.Name(h.Session.ID), h.Generation, h.Record, h.Line, h.Kind.String(), h.Tool, h.ID, known(h.Time), h.Snippet,
	})
	if err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	before := ",\n  "
	if p.hits == 0 {
		before = "[\n  "
	}
	return p.print(before + strings.TrimSuffix(b.String(), "\n"))
}

// end closes the array.
func (p *hitPrinter) end() error {
	switch {
	case !p.json:
		return nil
	case p.hits == 0:
		return p.print("[]\n")
	}
	return p.print("\n]\n")
}
