package look

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/cli/agents"
	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/table"
	"ccd/cmd/ccd/internal/top"
	"ccd/cmd/ccd/internal/view"
	"ccd/internal/mark"
	"ccd/internal/words"
)

func (a *app) topCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "top", GroupID: cli.Everyday, Short: "watch the sessions live",
		Long: `Lists the sessions and updates the list every 2 seconds: the ones that need
attention first, marked with "!", then the newest. STATE says who is next
(working: the agent; waiting: you), or for how long the agent was quiet: it
thinks, runs something, or has ended. CONTEXT is the share of the agent's
context window that is in use. HISTORY is the context over the session; ` + "`|`" + ` is
where the agent compacted it.

Enter shows a session's requests, failed commands, files and compactions, c
its companion, d what the agent's last compaction dropped, o the original of
an ID in the marked line. r twice resumes the session in a smaller copy, y
copies an ID, / filters, ? lists all keys.

In a script: ccd ls --json has the same sessions, state and attention.`,
	}
	agent := ""
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error { return a.top(c.Context(), agent) }
	a.AgentFlag(c, &agent)
	return c
}

func (a *app) top(ctx context.Context, agent string) error {
	g, err := status.NewGauge(a.Env, a.Version())
	if err != nil {
		return err
	}
	feed := &topFeed{app: a, gauge: g, agent: agent}
	in, out := cli.FileOf(a.In), cli.FileOf(a.Out)
	if in == nil || out == nil || !cli.IsTTY(a.In) || !a.Terminal(a.Out) {
		return words.Hint(errors.New("show sessions live: stdin and stdout must be a terminal"), "ccd ls")
	}
	viewed, stop := context.WithCancel(ctx)
	key, err := top.Run(ctx, in, out, a.Vars, top.Feed{
		List:     func(width int) (top.List, error) { return feed.list(viewed, width) },
		Text:     func(key string, what rune) (string, error) { return feed.text(viewed, key, what) },
		Original: func(key, id string) (string, error) { return feed.original(viewed, key, id) },
	})
	stop()
	if of, id, _ := strings.Cut(key, " "); id != "" && err == nil {
		err = agents.Resume(ctx, a.App, id, of)
	}
	return err
}

// Home is `ccd` without arguments: the live view if there are sessions and a terminal, else false.
func Home(ctx context.Context, shared *cli.App) (shown bool, err error) {
	a := &app{shared}
	if !cli.IsTTY(a.In) || !a.Terminal(a.Out) {
		return false, nil
	}
	l, err := a.Library(ctx)
	if err != nil || len(l.Listed("")) == 0 {
		return false, nil // help says how to begin; the commands themselves report what is wrong
	}
	return true, a.top(ctx, "")
}

// topFeed reads what the live view shows.
type topFeed struct {
	*app
	gauge *status.Gauge
	agent string
}

func (f *topFeed) rows(ctx context.Context) (status.Report, []status.Session, error) {
	report, all, err := f.gauge.List(ctx)
	if err != nil {
		return report, nil, err
	}
	rows := slices.DeleteFunc(all, func(s status.Session) bool {
		return f.agent != "" && s.Agent != f.agent || s.SubAgent() || s.Aside()
	})
	slices.SortStableFunc(rows, func(x, y status.Session) int { return cmp.Compare(rank(x), rank(y)) })
	return report, rows, nil
}

// rank is the order of the list: what needs attention, then what is live, then the rest.
func rank(s status.Session) int {
	switch {
	case s.Attention != "" && s.Active():
		return 0
	case s.Active():
		return 1
	}
	return 2
}

func (f *topFeed) list(ctx context.Context, width int) (top.List, error) {
	report, rows, err := f.rows(ctx)
	if err != nil {
		return top.List{}, err
	}
	out := top.List{Head: topHead(report, rows, width)}
	for _, s := range rows {
		out.Rows = append(out.Rows, top.Row{
			Key: s.Agent + " " + s.Session, ID: s.Session, Marked: s.Attention != "" && rank(s) == 0, Why: s.Attention,
			Match: strings.Join([]string{s.Labelled(), s.Title, s.Asked, s.Project, s.Agent, s.Session, s.State, s.Attention}, " "),
		})
	}
	colours := f.Colours()
	out.Table = func(width int) []string { return table.Fit(rows, topColumns(time.Now()), width, colours) }
	return out, nil
}

// topHead says how the daemon and the archive are, and what is wrong.
func topHead(r status.Report, rows []status.Session, width int) []string {
	state := "not running"
	if r.Running {
		state = fmt.Sprintf("running, pid %d", r.Pid)
	}
	sessions := words.Count(len(rows), "session")
	if hidden := r.Sessions - len(rows); hidden > 0 {
		sessions += fmt.Sprintf(", %d hidden", hidden)
	}
	line := fmt.Sprintf("ccd: daemon %s; %s; archive %s", state, sessions, humanize.IBytes(uint64(r.Archive.Bytes)))
	if r.LagBytes != nil && *r.LagBytes > 0 {
		line += fmt.Sprintf("; %s not archived yet", humanize.IBytes(uint64(*r.LagBytes)))
	}
	head := []string{table.Cut(line, width)}
	for i, d := range r.Degraded {
		if i == 2 {
			head = append(head, fmt.Sprintf("%d more problems: ccd status", len(r.Degraded)-i))
			break
		}
		head = append(head, table.Cut("problem: "+mark.Inline(d, 0), width))
	}
	return append(head, "")
}

func topColumns(now time.Time) []table.Column[status.Session] {
	identity := cli.SessionColumns(now)[1:] // without the ID, which y copies
	identity[0].Part = 0                    // a shorter title leaves room for the curve at 80 columns
	agent := cli.AgentColumn(func(s status.Session) string { return s.Agent })
	agent.Drop = 1
	return append([]table.Column[status.Session]{{
		Head: "STATE", Text: func(s status.Session) string {
			if s.Damaged() {
				return "damaged"
			}
			return s.Does()
		},
		Tone: func(s status.Session) table.Tone {
			switch {
			case s.Attention != "" && rank(s) == 0:
				return table.Warn
			case s.Damaged():
				return table.Bad
			}
			return table.NoTone
		},
	}}, append(identity,
		table.Column[status.Session]{
			Head: "CONTEXT", Text: func(s status.Session) string { return bar(s.Size(), barCells) },
			Tone: func(s status.Session) table.Tone { return cli.SizeTone(s.Size()) },
		},
		table.Column[status.Session]{Head: "HISTORY", Drop: 7, Text: func(s status.Session) string { return curve(s, curveCells) }},
		agent)...)
}

const (
	barCells   = 8
	curveCells = 12
)

// bar shows the used share of a context window: "████░░░░ 52%".
func bar(size status.Size, cells int) string {
	if size.Window <= 0 || size.Tokens == 0 {
		return size.Short()
	}
	n := min(cells, int(size.Share()*float64(cells)+0.5))
	return strings.Repeat("█", n) + strings.Repeat("░", cells-n) + " " + size.Filled()
}

// curve shows the context over a session in so many cells, the highest of each part; a part with a compaction is a "|".
func curve(s status.Session, cells int) string {
	all, marks := s.Curve, s.Marks()
	levels := []rune("▁▂▃▄▅▆▇█") // the lowest first
	most := max(s.Window, slices.Max(append([]int64{1}, all...)))
	var b strings.Builder
	for n := range min(cells, len(all)) {
		from, to := n*len(all)/min(cells, len(all)), (n+1)*len(all)/min(cells, len(all))
		if slices.Max(marks[from:to]) > 0 {
			b.WriteByte('|')
			continue
		}
		level := int(slices.Max(all[from:to])) * len(levels) / int(most)
		b.WriteRune(levels[min(level, len(levels)-1)])
	}
	return b.String()
}

// find returns the session of a row.
func (f *topFeed) find(ctx context.Context, key string) (*reader.Library, *reader.Entry, error) {
	l, err := f.Library(ctx)
	if err != nil {
		return nil, nil, err
	}
	agent, id, _ := strings.Cut(key, " ")
	e, err := l.Find(id, agent)
	return l, e, err
}

func (f *topFeed) text(ctx context.Context, key string, what rune) (string, error) {
	l, e, err := f.find(ctx, key)
	if err != nil {
		return "", err
	}
	switch what {
	case top.Companion:
		c, err := l.Companion(ctx, e, false)
		return body(c.Text), err
	case top.Dropped:
		out, err := f.diffOf(ctx, l, e, dropped.Choice{Most: mostFacts})
		if errors.Is(err, archive.ErrNotFound) {
			return "The agent has not compacted this session.", nil
		}
		if err != nil {
			return "", err
		}
		return diffText(out, false, true), nil
	}
	return f.details(ctx, l, e)
}

func (f *topFeed) original(ctx context.Context, key, id string) (string, error) {
	l, e, err := f.find(ctx, key)
	if err != nil {
		return "", err
	}
	found, err := l.Original(ctx, reader.Wanted{Name: id, In: e}, nil)
	if err != nil {
		return "", err
	}
	o, err := view.Show(ctx, found)
	if err != nil {
		return "", err
	}
	head := fmt.Sprintf("%s of %s #%d, %s, SHA-256 %s, verified now\n", o.Kind, o.Session, o.Record, humanize.IBytes(uint64(o.Bytes)), o.SHA256)
	if o.Secrets != "" {
		head += fmt.Sprintf("redacted: %s; see them with: ccd restore %s\n", o.Secrets, o.ID)
	}
	if o.MediaType != "" {
		return head + "\n" + o.MediaType + "; save it with: ccd restore -o FILE " + string(o.ID) + "\n", nil
	}
	return head + "\n" + o.Text, nil
}

// details shows one session: its figures, compactions and requests, each with its files and failed commands.
func (f *topFeed) details(ctx context.Context, l *reader.Library, e *reader.Entry) (string, error) {
	var life view.Index
	if err := life.Grow(ctx, l, e); err != nil {
		return "", err
	}
	s := status.Of(e)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s, %s, %s\n", cmp.Or(s.Labelled(), "(no title)"), mark.Inline(e.ID, 0), e.Agent, mark.Inline(s.Project, 0))
	if s.Attention != "" {
		fmt.Fprintf(&b, "attention: %s\n", s.Attention)
	}
	fmt.Fprintf(&b, "context  %s  %s\n", bar(s.Size(), 2*barCells), curve(s, 48))
	fmt.Fprintf(&b, "%s, %s, %s, last record %s\n", words.Count(s.Records, "record"), humanize.IBytes(uint64(s.Bytes)), cli.Condition(s), words.Local(s.LastAt()))
	if len(life.Compactions) > 0 {
		b.WriteString("\nCompactions\n")
		for _, c := range slices.Backward(life.Compactions) {
			fmt.Fprintf(&b, "  #%d %s %s -> %s tokens, %s\n", c.Record, words.Local(c.Time), told(c.Before), told(c.After), mark.Inline(c.How(), 0))
		}
	}
	if len(life.Turns) > 0 {
		b.WriteString("\nRequests, newest first\n")
	}
	for _, t := range slices.Backward(life.Turns[max(0, len(life.Turns)-mostTopLines):]) {
		fmt.Fprintf(&b, "  #%d %s%s\n", t.Record, words.Local(t.Time), turnLine(t))
	}
	return b.String(), nil
}

// mostTopLines bounds the requests of the details.
const mostTopLines = 100

// told is a number of tokens, "?" for none: the agent did not report it.
func told(tokens int64) string {
	if tokens == 0 {
		return "?"
	}
	return words.Tokens(tokens)
}
