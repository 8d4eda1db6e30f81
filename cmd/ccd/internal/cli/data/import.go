package data

import (
	"context"
	"fmt"
	"os"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/doctor"
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/mark"
	"ccd/internal/words"
)

type importOutput struct {
	File     string          `json:"file"`
	Sessions int             `json:"sessions"`
	Grown    int             `json:"grown"`
	IDs      int             `json:"ids"`
	Raw      int64           `json:"raw_bytes"`
	Renamed  []string        `json:"renamed"`
	Damage   []reader.Damage `json:"damage"`
	Repaired int             `json:"repaired"`
	Left     []reader.Damage `json:"left"`
	Aside    string          `json:"old_file"`
}

func (a *app) importCommand() *cobra.Command {
	return &cobra.Command{
		Use: "import FILE", Short: "add the contents of another archive to this one",
		Long: `FILE is an archive: a backup, another machine's, or a damaged one, such as the
archive.db.damaged-TIME that ccd set aside. ccd scans it for what is intact, and
adds its sessions, longer versions of sessions, and its IDs. If your archive is
damaged, ccd rebuilds it first, with FILE as a source. Data that your archive
already has is not stored twice. A session whose content differs from yours gets
a new ID, which ends in ~ and the archive's ID. FILE does not change.

With --json: one object: file, sessions (new ones), grown (sessions that got
longer), ids, raw_bytes (of transcripts), renamed (IDs), damage (what is
missing in FILE) [{session, generation, offset, id, companion, cause}],
repaired (damaged places of your archive), left (those that still are), old_file
("" if it was not rebuilt)`,
		Example: `  ccd archive import /media/disk/ccd.db                      a backup
  ccd archive import archive.db.damaged-20260129-140000      a damaged archive`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.importArchive(c.Context(), a.Path(args[0])) },
	}
}

func (a *app) importArchive(ctx context.Context, file string) error {
	l, err := a.Locate(false)
	if err != nil {
		return err
	}
	if _, err := os.Stat(file); err != nil {
		return fmt.Errorf("open archive: %w", err)
	}
	show, wipe := a.Progress("importing:")
	im, err := l.Archive.Import(ctx, file, show)
	wipe()
	if err != nil {
		return err
	}
	out := importOutput{File: file, Sessions: im.Sessions, Grown: im.Grown, IDs: im.Pointers, Raw: im.Bytes, Renamed: []string{}, Damage: reader.DamagesOf(im.Damage), Left: reader.DamagesOf(im.Repaired.Left), Aside: im.Repaired.Aside}
	out.Repaired = im.Repaired.Found - min(im.Repaired.Found, len(out.Left))
	for _, k := range im.Renamed {
		out.Renamed = append(out.Renamed, mark.Name(k.ID))
	}
	if a.JSON {
		err = a.PrintJSON(out)
	} else {
		err = a.Print(damageLines("missing in FILE", out.Damage))
		for _, id := range out.Renamed {
			a.Say("differs from the session here; imported as %s", id)
		}
		if im.Repaired.Found > 0 {
			a.Say("fixed: archive: %s", doctor.Repaired(im.Repaired, "FILE").Detail)
		}
		a.Say("imported: %s and attachments, %s extended, %s of transcripts, %s", words.Count(out.Sessions, "new session"), words.Count(out.Grown, "session"),
			humanize.IBytes(uint64(out.Raw)), words.Count(out.IDs, "ID"))
	}
	if len(out.Left) > 0 {
		a.Say("hint: ccd doctor --fix")
	}
	if err == nil && len(out.Damage)+len(out.Left) > 0 {
		return cli.ErrDamaged
	}
	return err
}
