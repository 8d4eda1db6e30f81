package look

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/dropped"
	"ccd/cmd/ccd/internal/tools"
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
		if err := a.NoJSON(c); err != nil {
			return err
		}
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
				return a.diff(ctx, arg, diffFlags{agent: q.Agent, class: dropped.Class(q.Class), all: q.All, boundary: max(q.Boundary, 0)})
			})
		},
		Restore: a.toolRestore,
		Explain: toolError,
	}
}
