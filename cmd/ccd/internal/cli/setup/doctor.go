package setup

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/doctor"
	"ccd/internal/mark"
)

func (a *app) doctorCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "doctor", GroupID: cli.Setup, Short: "check the setup and suggest fixes",
		Long: `Checks the configuration, the watched directories, the archive and its disk
space, the service and the daemon, the agents' settings, and transcripts that
an agent may purge before they are archived. It takes about a second and exits
1 if something is wrong.

--fix makes only safe changes and lists them: it closes the state directory to
other users, and repairs and starts an installed service. It reads the whole
archive and repairs damage from transcripts that still exist. It does not
change transcripts, backups or agents' settings.

With --json: one array, an object per check: check, state ("ok", "note",
"wrong"), detail, fix (how to fix it), fixable (--fix would), fixed (--fix
just fixed it; detail says how), lag_bytes (in the check "lag": bytes of
transcripts that are not archived yet)`,
		Example: `  ccd doctor
      each check, and how to fix what is wrong
  ccd doctor --fix
      fix what can be fixed safely
  ccd doctor --json | jq '.[] | select(.state == "wrong")'
      only what is wrong`,
	}
	fix := false
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error { return a.doctor(c.Context(), fix) }
	c.Flags().BoolVar(&fix, "fix", false, "make the safe changes, then check again")
	return c
}

func (a *app) doctor(ctx context.Context, fix bool) error {
	show, wipe := a.Progress("checking:")
	d := doctor.Doctor{Env: a.Env, Version: a.Version(), Out: a.talkOut(), Progress: show}
	if s, err := a.AgentSetup(nil); err == nil {
		d.Agents = s
	}
	all := d.Examine(ctx)
	wipe()
	if fix && ctx.Err() == nil {
		fixed := doctor.Fix(ctx, all, func(f doctor.Finding, err error) {
			if err != nil {
				fmt.Fprintf(a.Err, "not fixed: %s: %v\n", f.Check, err)
				return
			}
			a.Say("fixed: %s: %s", f.Check, f.Detail)
		})
		healed, err := a.heal(ctx)
		if err != nil && ctx.Err() == nil {
			fmt.Fprintf(a.Err, "not fixed: archive: %v\n", err)
		}
		if fixed = append(fixed, healed...); len(fixed) > 0 {
			all = append(fixed, d.Examine(ctx)...)
			wipe()
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var err error
	if a.JSON {
		err = a.PrintJSON(all)
	} else if err = a.PrintFacts(findingRows(all)); err == nil {
		a.Say("%s", doctor.Count(all))
	}
	if err == nil && doctor.Worst(all) == "wrong" {
		return cli.ErrSaid
	}
	return err
}

// heal repairs the archive, and returns what it did as a finding, if there was damage.
func (a *app) heal(ctx context.Context) ([]doctor.Finding, error) {
	d, l, err := a.DaemonFor(ctx, false)
	if err != nil {
		return nil, err
	}
	if size, err := l.Archive.Size(ctx); err == nil && size.File == 0 {
		return nil, nil // there is no archive yet
	}
	show, wipe := a.Progress("reading the archive:")
	h, err := d.Heal(ctx, show)
	wipe()
	if err != nil || h.Found == 0 {
		return nil, err
	}
	f := doctor.Repaired(h, "transcripts")
	a.Say("fixed: %s: %s", f.Check, f.Detail)
	return []doctor.Finding{f}, nil
}

// findingRows formats the findings as lines, each with its fix below it.
func findingRows(all []doctor.Finding) (rows [][]string) {
	for _, f := range all {
		rows = append(rows, []string{f.State, f.Check, mark.Visible(f.Detail)})
		if f.Fix != "" {
			fix := "fix: " + f.Fix
			if f.Fixable {
				fix += " (or ccd doctor --fix)"
			}
			rows = append(rows, []string{"", "", mark.Visible(fix)})
		}
	}
	return rows
}
