package main

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/tools"
)

func (a *app) mcpCommand() *cobra.Command {
	p := page{
		use: "mcp", group: agents, short: "serve the archive to an agent as an MCP server on stdio",
		long: `An agent starts it, ` + "`ccd agents install`" + ` tells it how. Tools: restore (an original, in pages), companion,
search, sessions, timeline and diff. They only read; the archive is opened for each call, and nothing is
kept open between calls. They list only sessions of the project in the server's working directory,
unless agents.reach is "all". SESSION defaults to latest: the session with the newest record in that
directory, or else in its project. An answer says how to get the next page; it has at most 54,000
characters, and fewer where an agent would cut it (Claude Code, Codex). An original is a
block of its own, exact, between two that say what it is; images of up to 1 MiB come as images. The
server ends when its stdin does.`,
		examples: []example{
			{"ccd mcp", "wait for an agent on stdin"},
			{"ccd mcp -v 2> mcp.log", "with a line for each call, without anything of what was asked or answered"},
		},
	}
	return p.command(cobra.NoArgs, func(c *cobra.Command, _ []string) error {
		if err := a.noJSON(c); err != nil {
			return err
		}
		return a.serveTools(c.Context())
	})
}

func (a *app) serveTools(ctx context.Context) error {
	log := slog.New(slog.DiscardHandler)
	if a.verbose {
		log = slog.New(slog.NewTextHandler(a.err, nil))
	}
	a.agent = true
	err := tools.Serve(ctx, version().Version, a.archiveTools(), a.in, a.out, log)
	if errors.Is(err, errTerminated) {
		return errStopped
	}
	return err
}

// archiveTools answers the tools as the commands of the same names do.
func (a *app) archiveTools() tools.Archive {
	return tools.Archive{
		Sessions: a.toolSessions,
		Companion: func(ctx context.Context, q tools.CompanionQuery, w io.Writer) (string, error) {
			return a.ofSession(ctx, q.Session, q.Agent, w, func(a *app, arg string) error {
				return a.show(ctx, arg, showFlags{agent: q.Agent, section: q.Section})
			})
		},
		Timeline: func(ctx context.Context, q tools.TimelineQuery, w io.Writer) (string, error) {
			return a.ofSession(ctx, q.Session, q.Agent, w, func(a *app, arg string) error { return a.timeline(ctx, arg, q.Agent) })
		},
		Search: a.toolSearch,
		Diff: func(ctx context.Context, q tools.DiffQuery, w io.Writer) (string, error) {
			return a.ofSession(ctx, q.Session, q.Agent, w, func(a *app, arg string) error {
				return a.diff(ctx, arg, diffFlags{agent: q.Agent, class: q.Class, all: q.All, boundary: max(q.Boundary, 0)})
			})
		},
		Restore: a.toolRestore,
		Secret:  secretIn,
		Tell:    toolError,
	}
}
