package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

// verifyOutput is what verify prints. Unresolved are IDs that stand in a companion and that the index does not know.
type verifyOutput struct {
	Sessions    int            `json:"sessions"`
	Attachments int            `json:"attachments"`
	Generations int            `json:"generations"`
	Frames      int            `json:"frames"`
	Pieces      int            `json:"pieces"`
	Pointers    int            `json:"pointers"`
	Summaries   int            `json:"summaries"`
	Bytes       int64          `json:"bytes"`
	Companions  int            `json:"companions"`
	IDs         int            `json:"ids"`
	Unreadable  []string       `json:"unreadable"`
	Damage      []damageOutput `json:"damage"`

	failed bool // a companion could not be read, and not for want of a permission
}

type damageOutput struct {
	Session    string  `json:"session"`
	Generation int     `json:"generation"`
	Offset     int64   `json:"offset"`
	ID         mark.ID `json:"id"`
	Companion  string  `json:"companion"`
	Cause      string  `json:"cause"`
}

func damageOf(d *archive.DamageError) damageOutput {
	return damageOutput{Session: d.Session.ID, Generation: d.Generation, Offset: d.Offset, ID: d.ID, Cause: d.Error()}
}

func (a *app) verifyCommand() *cobra.Command {
	p := page{
		use: "verify", group: care, short: "check every hash of the archive and every ID of every companion",
		long: `It reads the whole archive and changes nothing. Damage is listed, one line each, and does not stop the
rest: what is not damaged still restores exactly. A companion that is gone, or stands where you may not
read, is no damage: ` + "`ccd show`" + ` makes it anew.`,
		examples: []example{
			{"ccd verify", "exit 0: all is well"},
			{"ccd verify --json", "counts, and the list of what is damaged"},
		},
		json: `one object: sessions, attachments, generations, frames and pieces (that transcripts are kept in: whole
ones, and what is new), pointers (originals that an ID names), summaries (kept ones of a command), bytes,
companions, ids, unreadable (paths of companions),
damage [{session, generation, offset, id, companion, cause}]`,
		exits: []int{exitDamage},
	}
	return p.command(cobra.NoArgs, func(c *cobra.Command, _ []string) error { return a.verify(c.Context()) })
}

func (a *app) verify(ctx context.Context) error {
	l, err := a.library(ctx)
	if err != nil {
		return err
	}
	show, wipe := a.progress("verifying:")
	report, err := l.archive.Verify(ctx, show)
	wipe()
	if err != nil {
		return fmt.Errorf("verify archive: %w", err)
	}
	out := verifyOutput{
		Sessions: report.Sessions, Generations: report.Generations, Frames: report.Frames, Pieces: report.Pieces,
		Pointers: report.Pointers, Summaries: report.Summaries, Bytes: report.Bytes, Unreadable: []string{}, Damage: []damageOutput{},
	}
	for _, d := range report.Damage {
		out.Damage = append(out.Damage, damageOf(d))
	}
	for _, e := range l.sessions {
		if e.Class == transcript.Attachment {
			out.Attachments++
			out.Sessions--
		}
		if err := l.verifyCompanion(ctx, e, &out); err != nil {
			return err
		}
	}
	return a.printVerify(out)
}

// verifyCompanion looks up every ID of one companion. That a companion is gone, or cannot be read, is no damage: it can
// be made anew.
func (l *library) verifyCompanion(ctx context.Context, e entry, out *verifyOutput) error {
	if e.state.Companion == "" {
		return nil
	}
	text, err := os.ReadFile(e.state.Companion)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		out.Unreadable = append(out.Unreadable, mark.Name(e.state.Companion))
		out.failed = out.failed || !errors.Is(err, fs.ErrPermission)
		return nil
	}
	out.Companions++
	for _, id := range mark.IDs(string(text)) {
		out.IDs++
		found, err := l.archive.Lookup(ctx, string(id))
		var damage *archive.DamageError
		switch {
		case errors.As(err, &damage):
			out.Damage = append(out.Damage, damageOutput{Session: mark.Name(e.ID), ID: id, Companion: mark.Name(e.state.Companion), Cause: err.Error()})
		case err != nil && !errors.Is(err, archive.ErrNotFound):
			return fmt.Errorf("look up %s: %w", id, err)
		case len(found) == 0:
			out.Damage = append(out.Damage, damageOutput{Session: mark.Name(e.ID), ID: id, Companion: mark.Name(e.state.Companion), Cause: "the archive does not know this id"})
		}
	}
	return nil
}

func verifiedLine(out verifyOutput) string {
	line := "verified " + count(out.Sessions, "session")
	if out.Attachments > 0 {
		line += ", " + count(out.Attachments, "attachment")
	}
	return line + fmt.Sprintf(", %s of transcripts, what %s stand for, %s in %s: %d damaged", humanize.IBytes(uint64(out.Bytes)),
		count(out.Pointers, "ID"), count(out.IDs, "ID"), count(out.Companions, "companion"), len(out.Damage))
}

func (a *app) printVerify(out verifyOutput) error {
	if a.json {
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else {
		for _, d := range out.Damage {
			where := d.Cause
			if d.Companion != "" {
				where = fmt.Sprintf("%s: id %s: %s", d.Companion, d.ID, d.Cause)
			}
			if err := a.print("damaged: " + where + "\n"); err != nil {
				return err
			}
		}
		for _, path := range out.Unreadable {
			a.say("cannot be read: %s", path)
		}
		a.say("%s", verifiedLine(out))
	}
	switch {
	case len(out.Damage) > 0:
		return errDamaged
	case out.failed:
		return errSaid
	}
	return nil
}
