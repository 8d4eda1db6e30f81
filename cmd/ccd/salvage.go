package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/mark"
	"ccd/internal/words"
)

// maxDamage is how many damaged places are listed as text.
const maxDamage = 20

type salvageOutput struct {
	File     string          `json:"file"`
	Sessions int             `json:"sessions"`
	Frames   int             `json:"frames"`
	IDs      int             `json:"ids"`
	Raw      int64           `json:"raw_bytes"`
	Damage   []reader.Damage `json:"damage"`
}

func (a *app) salvageCommand() *cobra.Command {
	p := page{
		use: "salvage FILE", group: care, short: "copy the intact parts of a damaged archive to a new one",
		forms: []string{"ccd salvage FILE -o NEW"},
		long: `FILE is an archive: one that ccd set aside (archive.db.damaged-TIME), a backup, or a copy. It may be truncated.
ccd reads every page, even those that no page refers to, and writes everything that matches its hash to NEW, which
must not exist. FILE does not change. ccd import NEW adds the result to your archive.`,
		examples: []example{
			{"ccd salvage archive.db.damaged-20260129-140000 -o new.db", "write new.db; exit 4 if something is missing from it"},
			{"ccd salvage --json copy.db -o new.db", "the same, with a list of what is missing"},
		},
		json:  "one object: file, sessions (including attachments), frames, ids, raw_bytes (of transcripts), damage [{session,\ngeneration, offset, id, companion, cause}]",
		exits: []int{exitNotFound, exitDamage},
	}
	out := ""
	c := p.command(cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		if out == "" {
			return usage(c, errors.New("-o NEW is required"))
		}
		return a.salvage(c.Context(), a.Path(args[0]), a.Path(out))
	})
	c.Flags().StringVarP(&out, "output", "o", "", "write the new archive to `NEW`")
	return c
}

func (a *app) salvage(ctx context.Context, file, to string) error {
	from, err := openArchiveFile(file)
	if err != nil {
		return err
	}
	show, wipe := a.progress("salvaging:")
	r, err := from.Salvage(ctx, to, show)
	wipe()
	if err != nil {
		return err
	}
	out := salvageOutput{File: disk.Absolute(to), Sessions: r.Sessions, Frames: r.Frames + r.Pieces, IDs: r.Pointers, Raw: r.Bytes, Damage: reader.DamagesOf(r.Damage)}
	if a.json {
		err = a.printJSON(out)
	} else {
		err = a.listDamage("missing", out.Damage)
		a.say("salvaged and verified: %s and attachments, %s of transcripts, %s; %d blocks and IDs missing", words.Count(out.Sessions, "session"),
			humanize.IBytes(uint64(out.Raw)), words.Count(out.IDs, "ID"), len(out.Damage))
		if err == nil {
			err = a.print(out.File + "\n")
		}
	}
	if err == nil && len(out.Damage) > 0 {
		return errDamaged
	}
	return err
}

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
	p := page{
		use: "import FILE", group: care, short: "add the contents of another archive to this one",
		long: `FILE is an archive: a backup, the result of ccd salvage, or another machine's. ccd adds its sessions, longer
versions of sessions, intact copies of what is damaged in your archive, and its IDs. Data that your archive already
has is not stored twice. A session whose content differs from yours gets a new ID, which ends in ~ and the archive's
ID. FILE does not change.`,
		examples: []example{
			{"ccd import /media/disk/ccd.db", "add the contents of a backup"},
			{"ccd import new.db", "add the result of ccd salvage"},
		},
		json:  "one object: file, sessions (new ones), grown (sessions that got longer), ids, raw_bytes (of transcripts), renamed\n(IDs), damage (of FILE: skipped) [{session, generation, offset, id, companion, cause}]",
		exits: []int{exitDamage},
	}
	return p.command(cobra.ExactArgs(1), func(c *cobra.Command, args []string) error { return a.importArchive(c.Context(), a.Path(args[0])) })
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
	if errors.As(err, new(*archive.DamageError)) {
		return words.Hint(err, "ccd salvage %s -o NEW, then ccd import NEW", words.Shell(file))
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
		if len(out.Damage) > 0 {
			a.say("hint: ccd salvage %s -o NEW, then ccd import NEW", words.Shell(file))
		}
	}
	if err == nil && len(out.Damage) > 0 {
		return errDamaged
	}
	return err
}
