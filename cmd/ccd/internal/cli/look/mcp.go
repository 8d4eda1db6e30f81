package look

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/reader"
	"ccd/cmd/ccd/internal/tools"
	"ccd/internal/mark"
	"ccd/internal/words"
)

func (a *app) mcpCommand() *cobra.Command {
	c := &cobra.Command{
		Hidden: true, Use: "mcp", Short: "serve the archive to an agent as an MCP server on stdio",
		Long: `The agent starts it; ccd agents install configures that. The tools restore,
companion, search, sessions, timeline and diff are read-only and see only
sessions of the project in which the server was started, unless agents.reach
is "all". The server ends when stdin is closed.`,
		Example: `  ccd mcp                 wait for an agent on stdin
  ccd mcp -v 2> mcp.log   log each call, without its arguments and answers`,
	}
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.serveTools(c.Context())
	}
	return c
}

func (a *app) serveTools(ctx context.Context) error {
	log := slog.New(slog.DiscardHandler)
	if a.Verbose {
		log = slog.New(slog.NewTextHandler(a.Err, nil))
	}
	a.Agent = true
	err := tools.Serve(ctx, a.Version(), a.archiveTools(), a.In, a.Out, log)
	if errors.Is(err, cli.ErrTerminated) {
		return cli.ErrStopped
	}
	return err
}

// archiveTools implements the MCP tools with the commands of the same names.
func (a *app) archiveTools() tools.Archive {
	return tools.Archive{
		Sessions: a.toolSessions,
		Companion: func(ctx context.Context, q tools.CompanionQuery, w io.Writer) (string, error) {
			return a.ofSession(ctx, q.Session, q.Agent, w, func(a *app, arg string) error {
				return a.show(ctx, arg, showFlags{agent: q.Agent, section: q.Section})
			})
		},
		Timeline: func(ctx context.Context, q tools.OfSession, w io.Writer) (string, error) {
			return a.ofSession(ctx, q.Session, q.Agent, w, func(a *app, arg string) error { return a.timeline(ctx, arg, timelineFlags{agent: q.Agent}) })
		},
		Search: a.toolSearch,
		Diff: func(ctx context.Context, q tools.DiffQuery, w io.Writer) (string, error) {
			return a.ofSession(ctx, q.Session, q.Agent, w, func(a *app, arg string) error {
				return a.diff(ctx, arg, diffFlags{agent: q.Agent, all: q.All, by: dropped.Choice{Class: dropped.Class(q.Class), Boundary: max(q.Boundary, 0)}})
			})
		},
		Restore: a.toolRestore,
		Explain: toolError,
	}
}

// capture runs a command with w as its stdout and appends its messages.
func (a *app) capture(w io.Writer, do func(*app) error) error {
	var talk bytes.Buffer
	b := &app{&cli.App{Std: cli.Std{In: strings.NewReader(""), Out: w, Err: &talk}, Env: a.Env, Agent: a.Agent}}
	if err := do(b); err != nil && !errors.Is(err, cli.ErrDamaged) && !errors.Is(err, cli.ErrSaid) { // these were already reported
		return err
	}
	if _, err := talk.WriteTo(w); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// ofSession runs a command about one session. It returns the SESSION argument that it used.
func (a *app) ofSession(ctx context.Context, session, agent string, w io.Writer, do func(a *app, arg string) error) (string, error) {
	arg, err := a.named(ctx, session, agent)
	if err != nil {
		return "", err
	}
	return arg, a.capture(w, func(a *app) error { return do(a, arg) })
}

// named returns the SESSION argument of a tool for a command. For latest and for none it is the ID of the session of
// the server's directory.
func (a *app) named(ctx context.Context, session, agent string) (string, error) {
	if session != "" && session != "latest" {
		return session, nil
	}
	l, err := a.Library(ctx)
	if err != nil {
		return "", err
	}
	here, err := a.WorkingDir()
	if err != nil {
		return "", err
	}
	if e := l.Here(agent); e != nil {
		return e.ID, nil
	}
	latest := "latest:" + here
	if l.ForAgent() { // in the whole project
		latest = "latest"
	}
	e, err := l.Find(latest, agent)
	if err != nil {
		return "", err
	}
	return e.ID, nil
}

// toolError formats an error for a model as report does for a person.
func toolError(err error) string {
	var text strings.Builder
	cli.Report(&text, err, true)
	return cmp.Or(strings.ReplaceAll(text.String(), "hint: ask the user to run: ccd ls --all", "hint: the tool sessions lists them"), err.Error())
}

func (a *app) toolSessions(ctx context.Context, q tools.SessionsQuery, w io.Writer) (string, error) {
	return "", a.capture(w, func(a *app) error {
		return a.ls(ctx, lsFlags{narrow: narrow{agent: q.Agent, project: q.Project}, all: q.All})
	})
}

// toolSearch returns all hits; the reader stops when it has enough.
func (a *app) toolSearch(ctx context.Context, q tools.SearchQuery, w io.Writer) (_ string, err error) {
	f := searchFlags{narrow: narrow{since: q.Since}, tool: q.Tool, path: q.Path, all: q.All, session: q.Session, line: true}
	if q.Session != "" {
		if f.session, err = a.named(ctx, q.Session, ""); err != nil {
			return "", err
		}
	}
	return "", a.capture(w, func(a *app) error { return a.search(ctx, f, []string{q.Words}) })
}

// toolRestore finds an original as `ccd restore` does, and counts how that ended.
func (a *app) toolRestore(ctx context.Context, q tools.RestoreQuery) (tools.Original, error) {
	o, err := a.toolOriginal(ctx, q)
	switch {
	case q.Page > 1: // a further page
		return o, err
	case err != nil:
		return o, a.Restored(err)
	}
	write := o.Write
	o.Write = func(ctx context.Context, w io.Writer) error { return a.Restored(write(ctx, w)) }
	return o, nil
}

// toolOriginal finds an original. For a damaged one it returns an error with a marker.
func (a *app) toolOriginal(ctx context.Context, q tools.RestoreQuery) (tools.Original, error) {
	if q.File != "" {
		return a.toolFile(ctx, q)
	}
	id := reader.Unmark(q.ID)
	if name, number, isRecord := strings.Cut(id, "#"); isRecord {
		name, err := a.named(ctx, name, "")
		if err != nil {
			return tools.Original{}, err
		}
		id = name + "#" + number
	}
	l, err := a.Locate(true)
	if err != nil {
		return tools.Original{}, err
	}
	want := reader.Wanted{Name: id, Raw: q.Raw}
	o, err := a.original(ctx, l, want, func(int64, int64) {})
	if err != nil {
		return tools.Original{}, lostOriginal(err, mark.Inline(id, 100), "index")
	}
	write := o.Write
	text, images, err := o.Apart(ctx)
	if err != nil {
		return tools.Original{}, lostOriginal(err, string(o.ID()), o.Entry.Path)
	}
	if len(images) > 0 {
		write = func(_ context.Context, w io.Writer) error { return writeAll(w, text) }
	}
	return tools.Original{Name: id, About: o.About(), Bytes: o.Bytes(), Images: images, Hidden: func(ctx context.Context) (string, error) {
		hidden, err := o.Hidden(ctx)
		if hidden == "" || err != nil {
			return "", err
		}
		return fmt.Sprintf(hiddenNote, hidden, o.ID()), nil
	}, Write: func(ctx context.Context, w io.Writer) error {
		return lostOriginal(write(ctx, w), string(o.ID()), o.Entry.Path)
	}}, nil
}

// lostOriginal replaces a damage error by a marker that says what is lost.
func lostOriginal(err error, id, path string) error {
	if !errors.As(err, new(*archive.DamageError)) {
		return err
	}
	text := mark.New(mark.ID(id), fmt.Sprintf("content unavailable: %s, hash mismatch", mark.Inline(path, 400)))
	return words.Hint(fmt.Errorf("%s: %w", text, err), "ccd archive verify")
}

// toolFile finds a file as an agent last read or wrote it.
func (a *app) toolFile(ctx context.Context, q tools.RestoreQuery) (tools.Original, error) {
	l, err := a.Library(ctx)
	if err != nil {
		return tools.Original{}, err
	}
	want := reader.WantedFile{Path: q.File, At: q.At}
	if q.Session != "" {
		if want.Session, err = a.named(ctx, q.Session, ""); err != nil {
			return tools.Original{}, err
		}
	}
	v, err := l.File(ctx, want, func(int64, int64) {})
	if err != nil {
		return tools.Original{}, err
	}
	notes := v.Notes(want.Naming)
	if strings.Contains(v.Text, "[redacted ") {
		notes = append(notes, fmt.Sprintf(hiddenNote, "what is [redacted]", "--file "+words.Shell(v.Path)))
	}
	return tools.Original{About: "File " + notes[0], Notes: notes[1:], Bytes: int64(len(v.Text)), Write: func(_ context.Context, w io.Writer) error {
		return writeAll(w, []byte(v.Text))
	}}, nil
}
