package data

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/mark"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

// verifyOutput is what verify prints. Unresolved are IDs in companions that the index does not have.
type verifyOutput struct {
	Sessions    int             `json:"sessions"`
	Attachments int             `json:"attachments"`
	Generations int             `json:"generations"`
	Blocks      int             `json:"blocks"`
	Pointers    int             `json:"pointers"`
	Summaries   int             `json:"summaries"`
	Bytes       int64           `json:"bytes"`
	Companions  int             `json:"companions"`
	IDs         int             `json:"ids"`
	Unreadable  []string        `json:"unreadable"`
	Damage      []reader.Damage `json:"damage"`

	failed bool // a companion could not be read, for another reason than its permissions
}

func (a *app) verifyCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "verify", Short: "check every hash of the archive and every ID of every companion",
		Long: `Reads the whole archive and lists each damaged place; everything else can
still be restored exactly. A companion that is missing or unreadable is not
damage: ccd show rebuilds it.

With --json: one object: sessions, attachments, generations, blocks (stored
pieces of transcripts), pointers (originals with an ID), summaries (written by
a command), bytes, companions, ids, unreadable (paths of companions), damage
[{session, generation, offset, id, companion, cause}]`,
		Example: `  ccd archive verify
      exit 0 if nothing is damaged
  ccd archive verify --json
      print counts and a list of the damage`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.verify(c.Context()) },
	}
	a.MachineFlag(c)
	return c
}

func (a *app) verify(ctx context.Context) error {
	l, err := a.Library(ctx)
	if err != nil {
		return err
	}
	show, wipe := a.Progress("verifying:")
	report, err := l.Archive.Verify(ctx, show)
	wipe()
	if err != nil {
		return fmt.Errorf("verify archive: %w", err)
	}
	out := verifyOutput{
		Sessions: report.Sessions, Generations: report.Generations, Blocks: report.Blocks,
		Pointers: report.Pointers, Summaries: report.Summaries, Bytes: report.Bytes, Unreadable: []string{}, Damage: reader.DamagesOf(report.Damage),
	}
	for _, e := range l.Sessions {
		if e.Class == transcript.Attachment {
			out.Attachments++
			out.Sessions--
		}
		if err := verifyCompanion(ctx, l, e, &out); err != nil {
			return err
		}
	}
	return a.printVerify(out)
}

// verifyCompanion looks up every ID of a companion. A missing or unreadable companion is not damage, because ccd can
// write it again.
func verifyCompanion(ctx context.Context, l *reader.Library, e *reader.Entry, out *verifyOutput) error {
	file := e.CompanionFile()
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		out.Unreadable = append(out.Unreadable, mark.Name(file))
		out.failed = out.failed || !errors.Is(err, fs.ErrPermission)
		return nil
	}
	out.Companions++
	for _, id := range mark.IDs(string(text)) {
		out.IDs++
		cause := ""
		switch found, err := l.Archive.Lookup(ctx, mark.ID(id)); {
		case errors.As(err, new(*archive.DamageError)):
			cause = err.Error()
		case err != nil && !errors.Is(err, archive.ErrNotFound):
			return fmt.Errorf("look up %s: %w", id, err)
		case len(found) > 0:
			continue
		default:
			cause = "the archive does not contain this ID"
		}
		out.Damage = append(out.Damage, reader.Damage{Session: mark.Name(e.ID), ID: id, Companion: mark.Name(file), Cause: cause, Brief: cause, Why: cause})
	}
	return nil
}

func verifiedLine(out verifyOutput) string {
	line := "verified " + words.Count(out.Sessions, "session")
	if out.Attachments > 0 {
		line += ", " + words.Count(out.Attachments, "attachment")
	}
	return line + fmt.Sprintf(", %s of transcripts, %s, %s in %s: %d damaged", humanize.IBytes(uint64(out.Bytes)),
		words.Count(out.Pointers, "archived original"), words.Count(out.IDs, "ID"), words.Count(out.Companions, "companion"), len(out.Damage))
}

// damageLines has a line for each cause in a generation or a companion, however many IDs it affects. what stands before each.
func damageLines(what string, all []reader.Damage) (text string) {
	type cause struct {
		session, companion, why string
		generation              int
	}
	of := func(d reader.Damage) cause { return cause{d.Session, d.Companion, d.Why, d.Generation} }
	more := map[cause]int{}
	for _, d := range all {
		more[of(d)]++
	}
	for _, d := range all {
		n, open := more[of(d)]
		if !open {
			continue
		}
		delete(more, of(d))
		line := what + ": " + d.Brief
		if d.Companion != "" {
			line = fmt.Sprintf("%s: %s: id %s: %s", what, d.Companion, d.ID, d.Brief)
		}
		if n > 1 {
			line += "; the same for " + words.Count(n-1, "more ID")
		}
		text += line + "\n"
	}
	return text
}

func (a *app) printVerify(out verifyOutput) error {
	if a.JSON {
		if err := a.PrintJSON(out); err != nil {
			return err
		}
	} else {
		if err := a.Print(damageLines("damaged", out.Damage)); err != nil {
			return err
		}
		for _, path := range out.Unreadable {
			a.Say("cannot be read: %s", path)
		}
		a.Say("%s", verifiedLine(out))
	}
	switch {
	case len(out.Damage) > 0:
		a.Say("hint: ccd doctor --fix")
		return cli.ErrDamaged
	case out.failed:
		return cli.ErrSaid
	}
	return nil
}
