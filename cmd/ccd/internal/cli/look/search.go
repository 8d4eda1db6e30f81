package look

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/search"
	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/table"
	"ccd/internal/lazy"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

type searchFlags struct {
	narrow
	tool, path, session string
	said                string // "", both or human
	all                 bool
	line                bool // the words are one line, which no shell has split
	limit, context      int
}

type hitOutput struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`
	*search.Hit
	Kind    string     `json:"kind"`
	Time    *time.Time `json:"time"`
	Machine string     `json:"machine,omitempty"`
	Pulled  *time.Time `json:"pulled,omitempty"`
	Left    int        `json:"sessions_not_searched,omitempty"`
}

// searchLimit is the default of --limit: about as many hits as fit into one tool's answer.
const searchLimit = 50

func (a *app) searchCommand() *cobra.Command {
	var f searchFlags
	c := &cobra.Command{
		Use: "search WORDS...", GroupID: cli.Everyday, Short: "search all archived sessions",
		Long: `Finds items (messages, calls, results) that contain all WORDS, in any order
and case, including inside longer words. Quoted words must be adjacent, A OR B
is one of them, NOT WORD leaves out what has it. ccd searches all
archived sessions, and prints what people and agents said first, then the rest;
of each first what has the words whole, then inside longer words; newest first.
A hit has its session and record, time, kind, ID, and the line of the match;
equal originals are one hit. Secrets that ccd redacts are not searched:
ccd archive forget --match - --dry-run finds one.

` + timeWords + `

With --json: one array in that order, an object per hit: agent, session,
generation, record (0 if unknown, and of a spilled file), line (of the first
match, in what restore prints), kind, tool ("" if none), id, time, snippet
(the line of the match, at most 200 characters, control characters escaped),
taken_back (by the person), copies (how many forks have the same record),
equal (how many more equal originals), before and after (lines, with
--context), machine and pulled (when its copy was
last read), if it is another machine's (--machine),
sessions_not_searched (if --limit ended the search, how many more may have hits)`,
		Example: `  ccd search overflow cents
      items with both words
  ccd search "exit status 2" --tool Bash
      a phrase, in commands and their outputs
  ccd search rounding OR cents NOT test --project . -C 3
      either word but not "test", in this project, with three lines around each
  ccd search --path src/money.py --since 2d
      each read and change of a file in the last 2 days
  ccd search --session . --all --limit 0 panic
      every hit in this directory's session and its sub-agents
  ccd search --said=human --session 5d2f7a1e -n 5
      the last five things that you said in a session`,
	}
	c.Args = func(_ *cobra.Command, args []string) error {
		_, _, err := f.query(a, args)
		return err
	}
	c.RunE = func(c *cobra.Command, args []string) error { return a.search(c.Context(), f, args) }
	c.Flags().SortFlags = false
	f.add(a, c)
	a.MachineFlag(c)
	return c
}

// Values of --said: who said it.
const (
	both  = "both"
	human = "human"
)

func (f *searchFlags) add(a *app, c *cobra.Command) {
	flags := c.Flags()
	cli.OneOf(flags, &f.said, "said", "only what people and agents said; --said=`human`: only what people said", both, human)
	flags.Lookup("said").NoOptDefVal = both
	flags.StringVar(&f.tool, "tool", "", "only calls to the tool `NAME`, and their results")
	flags.StringVar(&f.path, "path", "", "only calls that read or change `PATH`: a file, the end of its path, a directory, or a pattern with * and **")
	flags.StringVar(&f.session, "session", "", "only in `SESSION` (. for this directory's)")
	f.narrow.add(a, c, "items")
	flags.IntVarP(&f.context, "context", "C", 0, "print `N` lines before and after that of each match")
	limitFlag(flags, &f.limit, searchLimit, fmt.Sprintf("stop after `N` hits (default %d)", searchLimit))
	flags.BoolVar(&f.all, "all", false, "include sub-agents, what ccd compact was given, outputs in separate files and, on a terminal, what was not said")
}

func (a *app) search(ctx context.Context, f searchFlags, args []string) error {
	q, which, err := f.query(a, args)
	if err != nil {
		return words.Usage(err)
	}
	l, err := a.Library(ctx)
	if err != nil {
		return err
	}
	if atTheEdge(args) {
		a.Say("at the beginning and the end, AND, OR and NOT are words: an operator needs the words that it is about")
	}
	in, err := f.sources(ctx, a, l, which)
	if err != nil {
		return err
	}
	show, wipe := a.Progress("searching:")
	one := search.Search{Library: l, Sessions: in, Query: q, Most: f.limit, Whole: f.all || f.session != "", Progress: show}
	saidFirst := a.Width() > 0 && !a.JSON && !f.all && f.tool+f.path == ""
	if saidFirst {
		one.Counts = search.Hit.Said
	}
	found, err := one.Best(ctx)
	wipe()
	if err != nil {
		return err
	}
	l.Damage = append(l.Damage, found.Damage...)
	hits, rest := found.All(), 0
	if said := slices.DeleteFunc(slices.Clone(hits), func(h *search.Hit) bool { return !h.Said() }); saidFirst && len(said) > 0 {
		hits, rest = said, found.Unsaid()
	}
	if err := a.printHits(l, q, hits, found.Left); err != nil {
		return err
	}
	a.Incomplete(l)
	a.SayLag(l, which.Filter(l.Sessions)...)
	if len(hits) == 0 && !a.Damaged {
		return f.none(ctx, a, l, q, args, in, which)
	}
	if rest > 0 {
		a.Say("\nmore hits, in thoughts, calls and results: ccd search --all%s%s", f.typed(), cli.Typed(args))
	}
	f.sayMore(a, len(hits), found.Left)
	return nil
}

// typed returns the flags that narrow the search, as they are typed.
func (f searchFlags) typed() string {
	line := f.narrow.typed() + typedFlags("session", f.session, "tool", f.tool, "path", f.path)
	if f.said != "" {
		line += strings.TrimSuffix(" --said="+f.said, "="+both)
	}
	return line
}

// sayMore says that the search has ended before all was searched.
func (f searchFlags) sayMore(a *app, n, left int) {
	switch {
	case left > 0:
		a.Say("stopped after %s; %s not searched: --limit %d searches more, --limit 0 all", words.Count(n, "hit"), words.Count(left, "more session"), f.limit*4)
	case n > 0 && n == f.limit:
		a.Say("stopped after %s; there may be more: --limit %d, or --limit 0 for all", words.Count(n, "hit"), f.limit*4)
	}
}

// atTheEdge reports whether the first or the last of some words looks like an operator and is none.
func atTheEdge(args []string) bool {
	operators := []string{"AND", "OR", "NOT"}
	return len(args) > 1 && (slices.Contains(operators[:2], args[0]) || slices.Contains(operators, args[len(args)-1]))
}

// none returns the error of a search without hits in some sessions. Its hint is a wider search.
func (f searchFlags) none(ctx context.Context, a *app, l *reader.Library, q search.Query, args []string, in []*reader.Entry, which reader.Choice) error {
	if len(l.Sessions) == 0 && !l.Limited() {
		return words.Hint(fmt.Errorf("search: %w: nothing is archived yet", archive.ErrNotFound), "ccd run --once")
	}
	if err := f.missing(a, l); err != nil {
		return err
	}
	err := fmt.Errorf("search: %w in any of %s", archive.ErrNotFound, words.Count(len(in), "archived session"))
	if l.Limited() {
		err = fmt.Errorf("search: %w%s (%d searched)", archive.ErrNotFound, l.Scope(), len(in))
	}
	if line := f.typed(); line != "" {
		err = fmt.Errorf("%w with%s", err, line)
	}
	if at := slices.IndexFunc(in, func(e *reader.Entry) bool { return q.In(status.Of(e).Called()) }); at >= 0 && f.narrow.typed() == "" {
		err = fmt.Errorf("%w, but in the title of session %s", err, in[at].Short())
	}
	if len(args) == 0 { // the flags say what was searched
		return err
	}
	return f.wider(ctx, l, q, args, in, which, err)
}

// wider adds the hint of a wider search to the error of one without hits.
func (f searchFlags) wider(ctx context.Context, l *reader.Library, q search.Query, args []string, in []*reader.Entry, which reader.Choice, err error) error {
	what := cli.Typed(args)
	narrow := f.typed() != ""
	switch {
	case f.said == both && len(args) > 1 && args[0] == human: // the flag takes its value after "=" only
		return words.Hint(err, "ccd search --said=human%s", cli.Typed(args[1:]))
	case l.Agents.Redact != nil && !l.ForAgent() && slices.ContainsFunc(args, func(word string) bool { return len(l.Agents.Redact.Session().Marks([]byte(word))) > 0 }):
		return words.Hint(err, "secrets are not searched: ccd archive forget --match - --dry-run finds them")
	case narrow && f.all:
		return words.Hint(err, "ccd search --all%s", what)
	case narrow:
		return words.Hint(err, "ccd search%s", what)
	case slices.ContainsFunc(args, looksRegexp().MatchString):
		return words.Hint(err, "search does not support regular expressions")
	}
	each := wordsOf(q)
	switch {
	case f.allFinds(ctx, l, q, in, which):
		return words.Hint(err, "ccd search --all%s", what)
	case len(each) > len(q.Words):
		each = slices.DeleteFunc(each, func(w string) bool { return w == "NOT" }) // it would be an operator
		return words.Hint(fmt.Errorf("%w as a phrase", err), "ccd search%s", cli.Typed(each))
	case len(each) > 1 && len(q.Any)+len(q.None) == 0: // no record has all of the words
		return words.Hint(err, "ccd search%s", cli.Typed(strings.Fields(strings.Join(each, " OR "))))
	}
	return err
}

// allFinds reports whether --all finds what is not in some sessions.
func (f searchFlags) allFinds(ctx context.Context, l *reader.Library, q search.Query, in []*reader.Entry, which reader.Choice) bool {
	f.all, q.Retold = true, true
	all := f.of(l.Sessions, which)
	if len(all) <= len(in) {
		return false
	}
	found, err := search.Search{Library: l, Sessions: all, Query: q, Most: 1, Whole: true}.Best(ctx)
	return err == nil && len(found.All()) > 0
}

// wordsOf returns each word of a query by itself, in quotes if it would be left out, or taken for a flag.
func wordsOf(q search.Query) []string {
	each := strings.Fields(strings.Join(q.Words, " "))
	for i, word := range each {
		if strings.HasPrefix(word, "-") {
			each[i] = `"` + word + `"`
		}
	}
	return each
}

// looksRegexp matches words that are probably meant as regular expressions.
var looksRegexp = lazy.Regexp(`\\[dDwWsSbB.]|[.)\]][*+]|\w\|\w|\[[^\]]+-[^\]]+\]|^\^|\$$`)

// query makes the query of the command line, and says of which sessions it is.
func (f searchFlags) query(a *app, args []string) (q search.Query, which reader.Choice, err error) {
	if which, err = f.read(a); err == nil && f.context < 0 {
		err = errors.New("--context must be 0 or more")
	}
	if err != nil {
		return q, which, err
	}
	q = search.Query{
		Tool: f.tool, Path: f.path, Said: f.said != "", Human: f.said == human, Retold: f.all, Since: which.Since, Until: which.Until, Around: f.context,
	}
	if f.line {
		q.Parse(strings.Join(args, " "))
	} else {
		q.ParseArgs(args)
	}
	return q, which, q.Check()
}

// family returns a session and, with --all, its sub-agents and files.
func (f searchFlags) family(in []*reader.Entry, e *reader.Entry) []*reader.Entry {
	return slices.DeleteFunc(slices.Clone(in), func(o *reader.Entry) bool {
		return o.Key != e.Key && (o.Agent != e.Agent || !(f.all && o.Parent == e.Name() || o.Class == transcript.Earlier && o.Name() == e.Name()))
	})
}

// sources returns the sessions that are searched.
func (f searchFlags) sources(ctx context.Context, a *app, l *reader.Library, which reader.Choice) ([]*reader.Entry, error) {
	if f.session == "" {
		return f.of(l.Sessions, which), nil
	}
	e, err := a.Choose(ctx, l, f.session, f.agent)
	if err != nil {
		return nil, err
	}
	l.Damage = nil // what is damaged is not searched
	return f.of(f.family(l.Sessions, e), which), nil
}

// of returns those of some sessions that are searched.
func (f searchFlags) of(in []*reader.Entry, which reader.Choice) []*reader.Entry {
	return slices.DeleteFunc(slices.Clone(in), func(e *reader.Entry) bool {
		return !which.Session(e) || f.session == "" && !f.all && (!e.Conversation() || e.Root == "")
	})
}

// printHits prints hits. left sessions were not searched.
func (a *app) printHits(l *reader.Library, q search.Query, hits []*search.Hit, left int) error {
	if a.JSON {
		out := []hitOutput{}
		for _, h := range hits {
			out = append(out, hitOutput{h.Session.Agent, mark.Name(h.Session.Name()), h, h.What(), words.Known(h.Time), l.Machine, words.Known(l.Pulled), left})
		}
		return a.PrintJSON(out)
	}
	p := &hitPrinter{app: a, library: l, query: q, width: a.Width(), colour: a.Colours()}
	for _, h := range hits {
		if err := p.lines(h); err != nil {
			return err
		}
		p.begun = true
	}
	return nil
}

type hitPrinter struct {
	*app
	library *reader.Library // of the hits
	query   search.Query
	width   int // of the terminal; 0: not a terminal
	colour  bool
	last    transcript.Key // session of the previous hit
	below   string         // stands above the hits that are like the previous one
	begun   bool
}

// lines prints a hit. On a terminal, hits are grouped by session and fit its lines; elsewhere, each names its session.
func (p *hitPrinter) lines(h *search.Hit) error {
	var b strings.Builder
	cut := func(line string, _ int) string { return line }
	snippet, when, where := []string{h.Snippet}, words.Minute(h.Time), strings.TrimSpace(p.library.Machine+" "+h.Session.Name())
	if p.width > 0 {
		p.heading(&b, h)
		cut, snippet = table.Cut, table.WrapCells(h.Snippet, max(p.width-len("  > "), table.MinCells))
		when, where = words.Local(h.Time), ""
	}
	if h.Record > 0 && !h.Rewritten {
		where += "#" + strconv.Itoa(h.Record)
	}
	head := strings.Join(append([]string{mark.Inline(where, 0)}, p.hitPlace(h, when)...), " · ")
	id := " " + mark.New(h.ID, "")
	b.WriteString(cut(strings.TrimPrefix(head, " · "), max(1, p.width-table.CellsOf(id))) + id + "\n")
	around := func(lines []string) {
		for _, line := range lines {
			b.WriteString(cut(strings.TrimRight("    "+line, " "), p.width) + "\n")
		}
	}
	around(h.Before)
	for i, line := range snippet {
		b.WriteString([]string{"  > ", "    "}[min(i, 1)] + p.marked(line) + "\n")
	}
	around(h.After)
	return p.Draw(b.String())
}

// heading is what stands above a hit: where those begin that are less likely wanted, and the session.
func (p *hitPrinter) heading(b *strings.Builder, h *search.Hit) {
	below := ""
	switch {
	case !h.Said():
		below = "Not said, but thought, run or read:"
	case h.Part:
		below = "Inside longer words:"
	}
	if below != "" && below != p.below && p.begun {
		b.WriteString("\n" + below + "\n")
		p.last = transcript.Key{}
	}
	p.below = below
	if h.Session.Key == p.last {
		return
	}
	if p.begun && b.Len() == 0 {
		b.WriteString("\n")
	}
	b.WriteString(table.Cut(cli.SessionLine(p.library.Entry(h.Session.Key)), p.width) + "\n")
	p.last = h.Session.Key
}

// hitPlace says when the hit was written, and in what.
func (p *hitPrinter) hitPlace(h *search.Hit, when string) (parts []string) {
	if when != "" {
		parts = append(parts, when)
	}
	parts = append(parts, strings.TrimSpace(h.What()+" "+mark.Inline(h.Tool, 60)))
	if h.Line > 1 {
		parts = append(parts, "line "+strconv.Itoa(h.Line))
	}
	if h.Back {
		parts = append(parts, "taken back")
	}
	if h.Rewritten {
		parts = append(parts, "before the rewrite")
	}
	if h.Copies > 0 { // in forks
		parts = append(parts, fmt.Sprintf("%d copies", h.Copies+1))
	}
	if h.Equal > 0 {
		parts = append(parts, fmt.Sprintf("and %d equal", h.Equal))
	}
	return parts
}

// marked highlights the matches in a snippet.
func (p *hitPrinter) marked(snippet string) string {
	var b strings.Builder
	at := 0
	for _, s := range p.query.Spans(snippet) {
		b.WriteString(snippet[at:s[0]] + table.Match.Paint(snippet[s[0]:s[1]], p.colour))
		at = s[1]
	}
	return b.String() + snippet[at:]
}
