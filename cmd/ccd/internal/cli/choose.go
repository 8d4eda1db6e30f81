package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/table"
	"ccd/internal/mark"
	"ccd/internal/words"
)

// ThisDir is the SESSION argument for the session of the current directory, and the default.
const ThisDir = "."

// active is how recently a session must have grown to be mentioned beside latest.
const active = 10 * time.Minute

// mostListed limits the list of sessions to choose from.
const mostListed = 20

// OneSession accepts at most one SESSION argument.
func OneSession(c *cobra.Command, args []string) error {
	if len(args) == 1 && args[0] == "" {
		return errors.New("SESSION is empty")
	}
	return cobra.MaximumNArgs(1)(c, args)
}

// SessionOf returns the SESSION argument, or thisDir if there is none.
func SessionOf(args []string) string {
	if len(args) == 0 {
		return ThisDir
	}
	return args[0]
}

// Choose returns the session that arg names. For thisDir it returns the session of the current directory and says so;
// if there is none, it asks.
func (a *App) Choose(ctx context.Context, l *reader.Library, arg, agent string) (*reader.Entry, error) {
	if arg == "latest:" {
		return nil, words.Usage(errors.New("latest: needs a project, latest:PROJECT"))
	}
	e, err := a.chooseHere(ctx, l, arg, agent)
	return e, a.notHere(ctx, l, arg, agent, err)
}

func (a *App) chooseHere(ctx context.Context, l *reader.Library, arg, agent string) (*reader.Entry, error) {
	if arg != ThisDir {
		e, err := a.Find(l, arg, agent)
		if _, _, other := mark.PrefixRange(arg); errors.Is(err, archive.ErrNotFound) && other == nil && len(arg) == mark.IDLen {
			err = words.Hint(fmt.Errorf("%w: an ID of 12 characters names an original", err), "ccd restore %s", arg)
		} else if strings.Contains(arg, "#") && errors.Is(err, archive.ErrNotFound) {
			err = words.Hint(fmt.Errorf("%w: SESSION#N names a record", err), "ccd restore %s", words.Shell(arg))
		}
		return e, err
	}
	if e := l.Here(agent); e != nil {
		a.Incomplete(l)
		a.Say("session of this directory: %s; `ccd ls` lists others", SessionLine(e))
		return e, nil
	}
	all := l.Listed(agent)
	if len(all) == 0 {
		return l.Find("latest", agent) // fails with a hint
	}
	a.Incomplete(l)
	if !IsTTY(a.In) || !IsTTY(a.Err) {
		return nil, noChoice(all)
	}
	return a.askNumber(ctx, all)
}

// noChoice returns an error that lists the sessions to choose from.
func noChoice(all []*reader.Entry) error {
	err := &reader.AmbiguousError{What: "session", Why: "this directory has no session; the newest elsewhere", Matches: numbered(all, 3, 0)}
	return words.Hint(err, "add a session's ID, latest or latest:PROJECT")
}

// numbered lists the first sessions, one line each, of at most width cells if that is not 0.
func numbered(all []*reader.Entry, most, width int) []string {
	var lines []string
	for i, e := range all[:min(len(all), most)] {
		number, line := fmt.Sprintf("%2d  ", i+1), SessionLine(e)
		if width > 0 {
			line = table.Cut(line, width-len(number))
		}
		lines = append(lines, number+line)
	}
	if more := len(all) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("    %d more: ccd ls", more))
	}
	return lines
}

// askNumber lists the sessions and reads the number of one.
func (a *App) askNumber(ctx context.Context, all []*reader.Entry) (*reader.Entry, error) {
	fmt.Fprint(a.Err, mark.Visible("this directory has no session:\n"+strings.Join(numbered(all, mostListed, a.Width()), "\n")+"\n"))
	most := min(len(all), mostListed)
	in := bufio.NewReader(a.In)
	for {
		fmt.Fprintf(a.Err, "Number of a session (1-%d), empty to cancel: ", most)
		line, err := ReadLine(ctx, in)
		if line = strings.TrimSpace(line); err != nil {
			return nil, err
		}
		n, err := strconv.Atoi(line)
		switch {
		case line == "", line == "q":
			return nil, ErrInterrupted
		case err == nil && n >= 1 && n <= most:
			a.Say("session: %s", SessionLine(all[n-1]))
			return all[n-1], nil
		}
		fmt.Fprintf(a.Err, "%q is no number of the list\n", line)
	}
}

// sayLatest says which session latest is, and which others are active.
func (a *App) sayLatest(l *reader.Library, e *reader.Entry, dir, agent string) {
	a.Say("latest is %s", SessionLine(e))
	for other := range l.Latest(dir, agent) {
		if other.Key != e.Key && time.Since(other.Last()) < active {
			a.Say("also active: %s; its ID is %s", SessionDetails(other), l.Argument(other))
		}
	}
}

// SessionLine returns a session in one line, with its ID.
func SessionLine(e *reader.Entry) string { return mark.Inline(e.Short(), 0) + ", " + SessionDetails(e) }

// SessionDetails describes a session, what people know it by first: its title, age, project, size and agent. A terminal cuts the end.
func SessionDetails(e *reader.Entry) string {
	s := status.Of(e)
	size, title := s.Size(), s.Called()
	if title != "" {
		title = `"` + table.Cut(title, 40) + `"`
	}
	parts := []string{title, words.Ago(e.Last(), time.Now()), table.CutMiddle(s.Directory(), 24), size.Short() + " tokens"}
	if size.Window > 0 && size.Tokens > 0 {
		parts = append(parts, size.Filled()+" full")
	}
	return strings.Join(slices.DeleteFunc(append(parts, e.Agent), func(part string) bool { return part == "" }), ", ")
}

// Answers reports whether there is a terminal to ask on.
func (a *App) Answers() bool {
	in, ok := a.In.(*os.File)
	return ok && a.Terminal(in) && a.Terminal(a.Err)
}

// Yes asks a question on the terminal, and reports whether the answer is yes. An empty line is the usual answer.
func (a *App) Yes(ctx context.Context, question string, usual bool) (bool, error) {
	given, err := a.Ask(ctx, question+map[bool]string{true: " [Y/n] ", false: " [y/N] "}[usual], map[bool]string{true: "y", false: "n"}[usual])
	return given == "y" || given == "yes", err
}

// Ask asks a question on the terminal, and returns the answer in lower case: usual for an empty line, "" at the end of input.
func (a *App) Ask(ctx context.Context, question, usual string) (string, error) {
	fmt.Fprint(a.Err, question)
	line, err := ReadLine(ctx, bufio.NewReader(a.In))
	if line == "" {
		fmt.Fprintln(a.Err) // end the line of the question
		return "", err
	}
	return cmp.Or(strings.ToLower(strings.TrimSpace(line)), usual), err
}

// ReadLine reads a line with its newline, or "" at the end of input. It returns early if ctx ends.
func ReadLine(ctx context.Context, in *bufio.Reader) (string, error) {
	type answer struct {
		line string
		err  error
	}
	typed := make(chan answer, 1)
	go func() {
		line, err := in.ReadString('\n')
		typed <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case got := <-typed:
		if got.err != nil && !errors.Is(got.err, io.EOF) {
			return "", fmt.Errorf("read answer: %w", got.err)
		}
		return got.line, nil
	}
}

// Input is stdin until its end or that of ctx: a read of a terminal cannot be interrupted, only left behind.
func (a *App) Input(ctx context.Context) io.Reader {
	if IsTTY(a.In) {
		a.Say("reading stdin until Ctrl-D")
	}
	r, w := io.Pipe()
	go func() {
		_, err := io.Copy(w, a.In)
		w.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { w.CloseWithError(context.Cause(ctx)) })
	return r
}

// completeSessions completes SESSION and --session by ID, and describes each session.
func (a *App) completeSessions(root *cobra.Command) {
	sessions := func(c *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		l, err := a.Library(c.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		all := []cobra.Completion{"latest"}
		for _, e := range l.Listed("") {
			if id := e.Short(); strings.HasPrefix(id, typed) || strings.HasPrefix(e.ID, typed) {
				all = append(all, cobra.CompletionWithDesc(id, SessionDetails(e)))
			}
		}
		return all, cobra.ShellCompDirectiveKeepOrder
	}
	EachCommand(root, func(c *cobra.Command) {
		if strings.Contains(c.Use, "SESSION") && c.ValidArgsFunction == nil {
			c.ValidArgsFunction = sessions
		}
		if c.Flags().Lookup("session") != nil {
			_ = c.RegisterFlagCompletionFunc("session", sessions) // fails only if it is registered already
		}
	})
}
