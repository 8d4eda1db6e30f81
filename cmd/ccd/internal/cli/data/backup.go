package data

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/words"
)

type backupOutput struct {
	File     string        `json:"file"`
	Archive  string        `json:"archive"`
	ID       string        `json:"id"`
	Sessions int           `json:"sessions"`
	IDs      int           `json:"ids"`
	Bytes    int64         `json:"bytes"`
	Raw      int64         `json:"raw_bytes"`
	Took     time.Duration `json:"took_ns"`

	Damage []reader.Damage `json:"damage"`
}

func (a *app) backupCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "backup FILE", Short: "copy the archive to FILE while ccd runs, and check the copy",
		Long: `The copy is a complete archive: set CCD_ARCHIVE_PATH=FILE to read it, or put
it in the archive's place on another machine. FILE appears only after ccd has
read back every hash, session and ID of the copy; with --force it replaces a
file. While the file is copied, ccd writes nothing. If bytes were lost in an
earlier repair, ccd lists them and exits 4.

With --json: one object: file, archive, id (of the archive), sessions
(including attachments), ids, bytes (of FILE), raw_bytes (of transcripts in
it), took_ns, damage (missing from FILE)`,
		Example: `  ccd archive backup /media/disk/ccd.db
      write a checked copy, or fail and write none
  ccd archive backup --json /media/disk/ccd.db
      the same, with counts`,
	}
	var force bool
	c.Args = cobra.ExactArgs(1)
	c.RunE = func(c *cobra.Command, args []string) error {
		if args[0] == "" {
			return cli.Usage(c, errors.New("FILE is empty"))
		}
		return a.backup(c.Context(), a.Path(args[0]), force)
	}
	c.Flags().BoolVar(&force, "force", false, "replace FILE if it exists")
	a.MachineFlag(c)
	return c
}

func (a *app) backup(ctx context.Context, file string, force bool) error {
	l, err := a.Locate(true)
	if err != nil {
		return err
	}
	begun := time.Now()
	if root, below := l.WatchedRoot(file); below {
		return words.Hint(fmt.Errorf("back up archive to %s: it is below the watched root %s", file, root), "choose a FILE elsewhere, preferably on another disk")
	}
	show, wipe := a.Progress("backing up:")
	c, err := l.Archive.Backup(ctx, file, force, show)
	wipe()
	switch {
	case errors.Is(err, archive.ErrOverwrite):
		return words.Hint(err, "use --force to overwrite it")
	case errors.Is(err, archive.ErrNotFound):
		return words.Hint(err, "ccd run --once")
	case errors.As(err, new(*archive.DamageError)):
		return words.Hint(err, "ccd doctor --fix")
	case err != nil:
		return err
	}
	out := backupOutput{
		File: c.File, Archive: l.ArchivePath, ID: c.ID, Sessions: c.Sessions, IDs: c.Pointers, Bytes: c.Size,
		Raw: c.Bytes, Took: time.Since(begun), Damage: reader.DamagesOf(c.Damage),
	}
	if err := a.printBackup(out); err != nil {
		return err
	}
	if len(out.Damage) > 0 {
		return cli.ErrDamaged
	}
	return nil
}

func (a *app) printBackup(out backupOutput) error {
	if a.JSON {
		return a.PrintJSON(out)
	}
	if err := a.Print(damageLines("missing", out.Damage)); err != nil {
		return err
	}
	if len(out.Damage) > 0 {
		a.Say("the backup is incomplete: %d blocks and IDs are missing", len(out.Damage))
	}
	a.Say("backed up and verified: %s and attachments, %s of transcripts, %s; %s in %s", words.Count(out.Sessions, "session"),
		humanize.IBytes(uint64(out.Raw)), words.Count(out.IDs, "ID"), humanize.IBytes(uint64(out.Bytes)), out.Took.Round(10*time.Millisecond))
	return a.Print(out.File + "\n")
}
