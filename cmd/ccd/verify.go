package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/archive"
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
	Frames      int             `json:"frames"`
	Pieces      int             `json:"pieces"`
	Pointers    int             `json:"pointers"`
	Summaries   int             `json:"summaries"`
	Bytes       int64           `json:"bytes"`
	Companions  int             `json:"companions"`
	IDs         int             `json:"ids"`
	Unreadable  []string        `json:"unreadable"`
	Damage      []reader.Damage `json:"damage"`

	Root *rootOutput `json:"root,omitempty"`

	failed bool // a companion could not be read, for another reason than its permissions
}

func (a *app) verifyCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "verify", Short: "check every hash of the archive and every ID of every companion",
		Long: `Reads the whole archive and lists each damaged place; everything else can
still be restored exactly. A companion that is missing or unreadable is not
damage: ccd show rebuilds it.

--root prints a root: a hash of everything that the archive has. Note it. With
an earlier ROOT, ccd lists what ccd forget and ccd archive gc have removed
since. What else is missing or changed is "not declared", and ccd exits 4. ccd
adds salted hashes to the archive for this; without --root it changes nothing.

With --json: one object: sessions, attachments, generations, frames and pieces
(stored blocks of transcripts: complete ones and the newest), pointers
(originals with an ID), summaries (written by a command), bytes, companions,
ids, unreadable (paths of companions), damage [{session, generation, offset,
id, companion, cause}], root (with --root): {root, generations, added, grown
(since ROOT), declared and undeclared [{time, session, generation, what}]}`,
		Example: `  ccd archive verify
      exit 0 if nothing is damaged
  ccd archive verify --root
      print a root to note down
  ccd archive verify --root 12-9f2c0d6b1e8a4375c0ffee0123456789
      what was removed since
  ccd archive verify --json
      print counts and a list of the damage`,
	}
	withRoot := false
	args := func(_ *cobra.Command, args []string) error {
		if len(args) > 1 || len(args) == 1 && !withRoot {
			return errors.New("takes only a ROOT, with --root")
		}
		if len(args) == 1 && args[0] == "" {
			return errors.New("ROOT is empty")
		}
		return nil
	}
	c.Args = args
	c.RunE = func(c *cobra.Command, args []string) error {
		earlier := ""
		if len(args) == 1 {
			earlier = args[0]
		}
		return a.verify(c.Context(), withRoot, earlier)
	}
	c.Flags().BoolVar(&withRoot, "root", false, "print a root, and compare the archive with an earlier ROOT")
	a.machineFlag(c)
	return c
}

// rootOutput is what verify --root prints.
type rootOutput struct {
	Root        string       `json:"root"`
	Generations int          `json:"generations"`
	Added       int          `json:"added"`
	Grown       int          `json:"grown"`
	Declared    []rootChange `json:"declared"`
	Undeclared  []rootChange `json:"undeclared"`
}

type rootChange struct {
	Time       *time.Time `json:"time"`
	Session    string     `json:"session"`
	Generation int        `json:"generation"`
	What       string     `json:"what"`
}

func (a *app) rootSince(ctx context.Context, earlier string) (*rootOutput, error) {
	l, err := a.locate(false)
	if err != nil {
		return nil, err
	}
	r, err := l.Archive.Root(ctx, earlier)
	if err != nil {
		return nil, err
	}
	out := rootOutput{Root: r.Root, Generations: r.Held, Added: r.Added, Grown: r.Grown, Declared: []rootChange{}, Undeclared: []rootChange{}}
	change := func(c archive.RootChange) rootChange {
		one := rootChange{Session: mark.Name(c.Session.ID), Generation: c.Generation, What: c.What}
		if !c.Time.IsZero() {
			one.Time = &c.Time
		}
		return one
	}
	for _, c := range r.Declared {
		out.Declared = append(out.Declared, change(c))
	}
	for _, c := range r.Tampered {
		out.Undeclared = append(out.Undeclared, change(c))
	}
	return &out, nil
}

// printRoot prints what has changed since the earlier root, and the root.
func (a *app) printRoot(r rootOutput, earlier string) error {
	for _, c := range r.Declared {
		if err := a.print(fmt.Sprintf("%s: session %s, generation %d: ccd archive %s\n", words.Local(*c.Time), c.Session, c.Generation, c.What)); err != nil {
			return err
		}
	}
	for _, c := range r.Undeclared {
		what := c.What
		if c.Session != "" {
			what = fmt.Sprintf("session %s, generation %d: %s", c.Session, c.Generation, c.What)
		}
		if err := a.print("not declared: " + what + "\n"); err != nil {
			return err
		}
	}
	if earlier != "" {
		a.say("since %s: %d generations added, %d longer, %d removed by ccd, %d not declared", earlier, r.Added, r.Grown, len(r.Declared), len(r.Undeclared))
	}
	if r.Root == "" {
		return nil
	}
	return a.print(r.Root + "\n")
}

func (a *app) verify(ctx context.Context, withRoot bool, earlier string) error {
	l, err := a.library(ctx)
	if err != nil {
		return err
	}
	show, wipe := a.progress("verifying:")
	report, err := l.Archive.Verify(ctx, show)
	wipe()
	if err != nil {
		return fmt.Errorf("verify archive: %w", err)
	}
	out := verifyOutput{
		Sessions: report.Sessions, Generations: report.Generations, Frames: report.Frames, Pieces: report.Pieces,
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
	if withRoot {
		if out.Root, err = a.rootSince(ctx, earlier); err != nil {
			return err
		}
	}
	err = a.printVerify(out)
	if withRoot && !a.json && (err == nil || errors.Is(err, errDamaged)) {
		err = errors.Join(err, a.printRoot(*out.Root, earlier))
	}
	if err == nil && withRoot && len(out.Root.Undeclared) > 0 {
		return errDamaged
	}
	return err
}

// verifyCompanion looks up every ID of a companion. A missing or unreadable companion is not damage, because ccd can
// write it again.
func verifyCompanion(ctx context.Context, l *reader.Library, e reader.Entry, out *verifyOutput) error {
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
		switch found, err := l.Archive.Lookup(ctx, string(id)); {
		case errors.As(err, new(*archive.DamageError)):
			cause = err.Error()
		case err != nil && !errors.Is(err, archive.ErrNotFound):
			return fmt.Errorf("look up %s: %w", id, err)
		case len(found) > 0:
			continue
		default:
			cause = "the archive does not contain this ID"
		}
		out.Damage = append(out.Damage, reader.Damage{Session: mark.Name(e.ID), ID: id, Companion: mark.Name(file), Cause: cause, Brief: cause})
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

func (a *app) printVerify(out verifyOutput) error {
	if a.json {
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else {
		for _, d := range out.Damage {
			where := d.Brief
			if d.Companion != "" {
				where = fmt.Sprintf("%s: id %s: %s", d.Companion, d.ID, d.Brief)
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
		a.say("hint: ccd doctor --fix")
		return errDamaged
	case out.failed:
		return errSaid
	}
	return nil
}
