package setup

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/table"
)

const statusHelp = `Shows the daemon, its service, the watched directories, the number of
sessions, the archive and the lag (bytes of transcripts that are not archived
yet), after a start how far it has got with older sessions, then the live
sessions (changed in the last 10 minutes) in the columns of ` + "`ccd ls`" + `. With
--totals: what is archived and what companions saved, by project; and, as far
back as small logs go, restores, compactions that clients let ccd answer, and
calls of the summarizer.

"degraded" lists each problem that ` + "`ccd doctor`" + ` can see at once, and its fix.
"not verified" counts companions whose text failed a check; their front matter
gives the reason.

status exits 4 if the index of sessions is damaged, 1 if anything is degraded,
else 0. ` + "`ccd archive verify`" + ` checks stored contents; ` + "`ccd doctor`" + `
checks the setup.

With --json: one object: running, should_run, stale (the daemon cannot write
run.json; what it does is unknown), degraded (reasons), damage (sessions that
cannot be read, as in verify), pid, version (of the daemon), this_version (of
this ccd), since, last_pass, lag_seconds (since last_pass), lag_bytes (of the
transcripts, not archived yet; null if unknown), waiting (files), catch_up
{since, bytes (of the files that a scan found), done (of these),
bytes_per_second, ends (about)} (null if there is none), overflows
(how often events were lost), unreadable (directories and files that are
skipped), hard_links (files with several names), failing (files), config (the
daemon's configuration file, else this command's; "" if none), service
{installed, enabled, active, detail}, roots [{agent, path, present, polled,
why}], sessions, attachments, companions (whose files exist), deferred (older
sessions, which get theirs when they grow or are asked for), unverified,
not_understood (sessions without any known record), unknown_records,
broken_records, rewritten (sessions whose transcript was replaced or rewritten
in place, and was archived again), forgotten (files of sessions that ccd
archive forget removed), live (sessions as in ls), archive {path,
bytes, free_bytes (the unused part of bytes), raw_bytes, max_bytes (0: no
limit), space_bytes (free on its file system)}, errors [{path, error, time}],
remote {url, machine, tried, pushed, error, hint, exit, damaged, behind
{sessions, bytes}} (null if ccd remote has not
pushed), agents {AGENT: last, as in agents status}. With --totals: sessions,
companions, messages_about and companion_about (real tokens of the messages of
the sessions with a companion, and of the companions, converted),
saved_percent, by_project [{project, sessions, companions, size_tokens,
size_about (some are converted from an estimate), bytes, last}], restores
{since, tried, succeeded, not_found, damaged}, compactions {since, answered,
skipped (there was too little to leave out), fallbacks (the client's own model
compacted), why (their number by reason)}, summarizer {since, calls, failed,
timed_out, ms}, damage; with --machine without restores, compactions and
summarizer`

func (a *app) statusCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "status", GroupID: cli.Setup, Short: "show the state of the daemon and live sessions",
		Long: statusHelp,
		Example: `  ccd status
      show the state once
  ccd status --totals
      what is archived and saved, by project
  ccd status -q || ccd doctor
      run doctor if anything is degraded`,
	}
	totals := false
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error {
		if totals {
			return a.totals(c.Context())
		}
		return a.status(c.Context())
	}
	a.MachineFlag(c)
	c.Flags().BoolVar(&totals, "totals", false, "show what is archived and what companions saved, by project")
	return c
}

func (a *app) status(ctx context.Context) error {
	a.CollectLess()
	g, err := status.NewGauge(a.Env, a.Version())
	if err != nil {
		return err
	}
	out, err := g.Read(ctx)
	if err != nil {
		return err
	}
	if g.Wrong != nil && !out.Running && !out.ShouldRun {
		return g.Wrong // nothing else to show
	}
	switch {
	case a.JSON:
		err = a.PrintJSON(out)
	case !a.Quiet:
		err = factsAndTable(a, out.Rows(), out.Live, cli.LsColumns(time.Now()))
	}
	switch {
	case err != nil:
		return err
	case len(out.Damage) > 0:
		return cli.ErrDamaged
	}
	if len(out.Degraded) > 0 {
		return cli.ErrSaid
	}
	return nil
}

// factsAndTable prints lines of a name and a value, then a table, if it has rows.
func factsAndTable[T any](a *app, facts [][]string, rows []T, columns []table.Column[T]) error {
	if err := a.PrintFacts(facts); err != nil || len(rows) == 0 {
		return err
	}
	if err := a.Print("\n"); err != nil {
		return err
	}
	return cli.PrintTable(a.App, rows, columns)
}
