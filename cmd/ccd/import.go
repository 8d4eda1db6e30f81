package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/mark"
	"ccd/internal/words"
)

// maxDamage is how many damaged places are listed as text.
const maxDamage = 20

// openArchiveFile opens an archive file that a person names. It must exist.
func openArchiveFile(file string) (*archive.Archive, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	return archive.Open(file, archive.Options{ReadOnly: true})
}

// listDamage prints the first damaged places, one a line.
func (a *app) listDamage(what string, all []reader.Damage) error {
	for i, d := range all {
		if i == maxDamage && !a.verbose {
			a.say("and %d more; -v lists them", len(all)-i)
			break
		}
		if err := a.print(fmt.Sprintf("%s: %s\n", what, d.Brief)); err != nil {
			return err
		}
	}
	return nil
}

type importOutput struct {
	File     string          `json:"file"`
	Sessions int             `json:"sessions"`
	Grown    int             `json:"grown"`
	IDs      int             `json:"ids"`
	Raw      int64           `json:"raw_bytes"`
	Renamed  []string        `json:"renamed"`
	Damage   []reader.Damage `json:"damage"`
}

func (a *app) importCommand() *cobra.Command {
	return &cobra.Command{
		Use: "import FILE", Short: "add the contents of another archive to this one",
		Long: `FILE is an archive: a backup, another machine's, or a damaged one, such as the
archive.db.damaged-TIME that ccd set aside. ccd adds its sessions, longer
versions of sessions, intact copies of what is damaged in your archive, and its
IDs. Data that your archive already has is not stored twice. A session whose
content differs from yours gets a new ID, which ends in ~ and the archive's ID.
FILE does not change. If it cannot be read as an archive, ccd reads each of its
pages and adds everything that matches its hash.

With --json: one object: file, sessions (new ones), grown (sessions that got
longer), ids, raw_bytes (of transcripts), renamed (IDs), damage (of FILE:
skipped) [{session, generation, offset, id, companion, cause}]`,
		Example: `  ccd archive import /media/disk/ccd.db                      a backup
  ccd archive import archive.db.damaged-20260129-140000      a damaged archive`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.importArchive(c.Context(), a.Path(args[0])) },
	}
}

func (a *app) importArchive(ctx context.Context, file string) error {
	l, err := a.locate(false)
	if err != nil {
		return err
	}
	from, err := openArchiveFile(file)
	if err != nil {
		return err
	}
	show, wipe := a.progress("importing:")
	im, err := l.Archive.Import(ctx, from, show)
	wipe()
	if errors.As(err, new(*archive.DamageError)) || len(im.Damage) > 0 {
		err = a.importDamaged(ctx, l, from, &im)
	}
	if err != nil {
		return err
	}
	out := importOutput{File: file, Sessions: im.Sessions, Grown: im.Grown, IDs: im.Pointers, Raw: im.Bytes, Renamed: []string{}, Damage: []reader.Damage{}}
	for _, k := range im.Renamed {
		out.Renamed = append(out.Renamed, mark.Name(k.ID))
	}
	for _, err := range im.Damage {
		if d := (*archive.DamageError)(nil); errors.As(err, &d) {
			out.Damage = append(out.Damage, reader.DamageOf(d))
		}
	}
	if a.json {
		err = a.printJSON(out)
	} else {
		err = a.listDamage("skipped", out.Damage)
		for _, id := range out.Renamed {
			a.say("differs from the session here; imported as %s", id)
		}
		a.say("imported: %s and attachments, %s extended, %s of transcripts, %s", words.Count(out.Sessions, "new session"), words.Count(out.Grown, "session"),
			humanize.IBytes(uint64(out.Raw)), words.Count(out.IDs, "ID"))
	}
	if err == nil && len(out.Damage) > 0 {
		return errDamaged
	}
	return err
}

// importDamaged imports what can be read of a damaged archive, page by page, and adds it to im.
func (a *app) importDamaged(ctx context.Context, l *reader.Library, from *archive.Archive, im *archive.Imported) error {
	dir, err := os.MkdirTemp(l.StateDir, ".ccd-import-")
	if err != nil {
		return fmt.Errorf("import archive: %w", err)
	}
	defer os.RemoveAll(dir)
	intact := filepath.Join(dir, "archive.db")
	show, wipe := a.progress("reading a damaged archive:")
	r, err := from.Salvage(ctx, intact, show)
	wipe()
	if err != nil {
		return err
	}
	part, err := openArchiveFile(intact)
	if err != nil {
		return err
	}
	rest, err := l.Archive.Import(ctx, part, func(int64, int64) {})
	im.Sessions, im.Grown, im.Pointers, im.Bytes = im.Sessions+rest.Sessions, im.Grown+rest.Grown, im.Pointers+rest.Pointers, im.Bytes+rest.Bytes
	im.Renamed, im.Damage = append(im.Renamed, rest.Renamed...), nil
	for _, d := range r.Damage {
		im.Damage = append(im.Damage, d)
	}
	return err
}
