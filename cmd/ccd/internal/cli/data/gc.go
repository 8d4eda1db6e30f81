package data

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/table"
	"ccd/daemon"
	"ccd/internal/config"
	"ccd/internal/mark"
	"ccd/internal/words"
)

type gcOutput struct {
	DryRun   bool           `json:"dry_run"`
	Sessions []gcSession    `json:"sessions"`
	Kept     map[string]int `json:"kept"`
	Free     int64          `json:"free_bytes"`
	Before   int64          `json:"before_bytes"`
	After    int64          `json:"after_bytes"`
}

type gcSession struct {
	ID    string    `json:"id"`
	Title string    `json:"title"`
	Cwd   string    `json:"cwd"`
	Last  time.Time `json:"last"`
	Files int       `json:"files"`
	Bytes int64     `json:"bytes"`
}

func (a *app) gcCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "gc", Short: "remove old sessions from the archive, and free space in its file",
		Long: `Lists the sessions to remove (--keep, --keep-size) and the free space in the
archive's file, and asks. Then it writes a new archive without them, checks it
and replaces the old file. Without these flags it removes no session, only free
space.

It keeps sessions whose transcript or companion exists, pinned ones (ccd label
--pin), those that were resumed as another session, and with --keep DURATION
those whose transcript ccd found deleted within DURATION. If a removed
transcript comes back, ccd archives it again. If the archive then still has
more than --keep-size, gc fails. Other commands and the daemon wait meanwhile.

With --json: one object: dry_run, sessions [{id, title, cwd, last, files (with
sub-agents and attachments), bytes}] to be removed, kept (number of sessions
that are old enough, by why they stay), free_bytes (in the file),
before_bytes, after_bytes (of the file)`,
		Example: `  ccd archive gc --dry-run
      what would be removed
  ccd archive gc --keep 365d
      remove sessions that were last active over a year ago
  ccd archive gc --keep-size 20GB --yes
      the oldest ones, until the archive has 20 GB; without a question, for a timer`,
	}
	var age config.Duration
	var size config.Bytes
	yes, dryRun := false, false
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.gc(c.Context(), daemon.Keep{Age: age.Duration, Size: int64(size)}, yes, dryRun)
	}
	c.Flags().Func("keep", "remove sessions that were last active longer ago than `DURATION` (365d)", func(s string) error { return age.UnmarshalText([]byte(s)) })
	c.Flags().Func("keep-size", "remove the oldest sessions until the archive has `SIZE` (20GB)", func(s string) error {
		if _, err := strconv.ParseFloat(s, 64); err == nil {
			return fmt.Errorf(`must be a size with its unit, such as "%sGB"`, s)
		}
		return size.UnmarshalText([]byte(s))
	})
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only list what would be removed")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func (a *app) gc(ctx context.Context, keep daemon.Keep, yes, dryRun bool) error {
	d, l, err := a.DaemonFor(ctx, dryRun)
	if err != nil {
		return err
	}
	all, kept, left, err := d.Candidates(ctx, keep, time.Now())
	if err != nil {
		return err
	}
	size, err := l.Archive.Size(ctx)
	if err != nil {
		return err
	}
	if size.File == 0 {
		a.Say("there is no archive yet")
		return nil
	}
	out := gcOutput{DryRun: dryRun, Sessions: []gcSession{}, Kept: kept, Free: size.Free, Before: size.File, After: size.File}
	for _, s := range all {
		out.Sessions = append(out.Sessions, gcSession{mark.Name(s.Keys[0].ID), s.Title, mark.Name(s.Cwd), s.Last, len(s.Keys), s.Bytes})
	}
	if err := a.listGC(out); err != nil {
		return err
	}
	if dryRun {
		if missed := out.missed(keep.Size, left); missed != "" {
			a.Say("%s", missed)
		}
		return nil
	}
	if !yes {
		question := "Write the archive again, without its free space?"
		if n := len(out.Sessions); n > 0 {
			question = fmt.Sprintf("Remove %s from the archive for good?", words.Count(n, "session"))
		}
		if err := a.sure(ctx, question); err != nil {
			return err
		}
	}
	show, wipe := a.Progress("writing a new archive:")
	done, err := d.Collect(ctx, all, show)
	wipe()
	if err != nil {
		return err
	}
	if out.Before, out.After = done.Before, done.After; a.JSON {
		err = a.PrintJSON(out)
	} else {
		a.Say("removed %s; the archive has %s (before: %s)", words.Count(len(out.Sessions), "session"), humanize.IBytes(uint64(out.After)), humanize.IBytes(uint64(out.Before)))
	}
	size, wrong := l.Archive.Size(ctx)
	if missed := out.missed(keep.Size, size.File-size.Free); missed != "" {
		wrong = cmp.Or(wrong, errors.New("collect garbage: "+missed))
	}
	return cmp.Or(err, wrong)
}

// missed says that the archive has more than it should, "" if it has not.
func (o gcOutput) missed(limit, has int64) string {
	if limit <= 0 || has <= limit {
		return ""
	}
	stay := 0
	for _, n := range o.Kept {
		stay += n
	}
	return fmt.Sprintf("the limit is not reached: %s of %s; %s kept", humanize.Bytes(uint64(has)), humanize.Bytes(uint64(limit)), words.Are(stay, "session", "sessions"))
}

// listGC prints what would be removed. As JSON it is printed once, at the end.
func (a *app) listGC(out gcOutput) error {
	if a.JSON {
		if out.DryRun {
			return a.PrintJSON(out)
		}
		return nil
	}
	rows := [][]string{}
	for _, s := range out.Sessions {
		rows = append(rows, []string{mark.Inline(s.ID, 0), cmp.Or(table.Cut(mark.Inline(s.Title, 0), 50), "-"), table.Cut(s.Cwd, 40), words.Ago(s.Last, time.Now()), humanize.IBytes(uint64(s.Bytes))})
	}
	if err := a.Table(rows); err != nil {
		return err
	}
	for _, why := range slices.Sorted(maps.Keys(out.Kept)) {
		a.Say("kept: %s (%s)", words.Count(out.Kept[why], "old session"), why)
	}
	a.Say("%s to remove; %s of %s in the archive's file are free", words.Count(len(out.Sessions), "session"), humanize.IBytes(uint64(out.Free)), humanize.IBytes(uint64(out.Before)))
	if len(out.Sessions) == 0 && len(out.Kept) == 0 {
		a.Say("hint: old sessions go with --keep 365d")
	}
	return nil
}
