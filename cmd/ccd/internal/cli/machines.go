package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/mark"
	"ccd/internal/remote/pulled"
	"ccd/internal/words"
)

// MachineFlag adds --machine to a command that can read another machine's sessions.
func (a *App) MachineFlag(c *cobra.Command) {
	c.Flags().StringVar(&a.Machine, "machine", "", "read the pulled sessions of machine `NAME`")
	Before(c, func() { a.others = true })
}

// readMachine makes a place read the pulled archive of the machine that --machine names.
func (a *App) readMachine(p *account.Place, readOnly bool) error {
	if !readOnly && !a.Resumes {
		return words.Usage(errors.New("--machine is only for commands that read, and for resume"))
	}
	all, err := pulled.List(pulled.Machines(p.StateDir))
	if err != nil {
		return err
	}
	found := pulled.Find(all, a.Machine)
	if len(found) != 1 {
		var names []string
		for _, m := range all {
			names = append(names, fmt.Sprintf("%s (%.8s)", m.Label, m.Machine))
		}
		known := "; known: " + strings.Join(names, ", ")
		if len(names) == 0 {
			known = "; no machine was pulled yet"
		}
		if len(found) > 1 {
			err := &reader.AmbiguousError{What: "machine " + a.Machine, Why: words.Count(len(found), "machine") + " have this name" + known}
			return words.Hint(err, "name it by its ID: --machine %.8s", found[0].Machine)
		}
		return words.Hint(fmt.Errorf("find machine %s: %w%s", a.Machine, archive.ErrNotFound, known), "ccd remote pull")
	}
	a.Machine = pulled.ShortName(all, found[0])
	err = openPulled(p, found[0], a.Machine, readOnly)
	a.SayOld(p)
	return err
}

// oldCopy is the age from which a copy is reported as old.
const oldCopy = 24 * time.Hour

// NameAndAge returns a machine's name and the age of its copy.
func NameAndAge(p *account.Place) string {
	if p.Pulled.IsZero() {
		return mark.Inline(p.Machine, 60) + " (never pulled completely)"
	}
	return fmt.Sprintf("%s (pulled %s)", mark.Inline(p.Machine, 60), words.Ago(p.Pulled, time.Now()))
}

// SayOld reports an old copy.
func (a *App) SayOld(p *account.Place) {
	if time.Since(p.Pulled) > oldCopy {
		a.Say("machine %s; `ccd remote pull` reads what is new", NameAndAge(p))
	}
}

// HasPulled reports whether there are sessions of other machines.
func (a *App) HasPulled(l *reader.Library) bool {
	for range a.OtherLibraries(l) {
		return true
	}
	return false
}

// openPulled makes a place read a machine's pulled archive.
func openPulled(p *account.Place, m pulled.Machine, name string, readOnly bool) (err error) {
	p.Machine, p.Pulled, p.ArchivePath = name, m.Pulled, pulled.Archive(pulled.Machines(p.StateDir), m.Machine)
	p.Archive, err = archive.Open(p.ArchivePath, archive.Options{ReadOnly: readOnly, MinFree: int64(p.Config.Archive.MinFree)})
	return err
}

// OtherLibraries yields the libraries of other machines that a command here also reads: none for an agent, which may read only
// this machine's sessions, and none if --machine has chosen one.
func (a *App) OtherLibraries(l *reader.Library) iter.Seq[*reader.Library] {
	if a.Agent || a.Machine != "" {
		return func(func(*reader.Library) bool) {}
	}
	return a.PulledLibraries(l)
}

// LoadedOthers yields the libraries of otherLibraries with their sessions. It reports those that cannot be read.
func (a *App) LoadedOthers(ctx context.Context, l *reader.Library) iter.Seq[*reader.Library] {
	return func(yield func(*reader.Library) bool) {
		for other := range a.OtherLibraries(l) {
			if err := other.Load(ctx); err != nil {
				a.Say("ccd: machine %s: %v", other.Machine, err)
			} else if !yield(other) {
				return
			}
		}
	}
}

// PulledLibraries yields the libraries of all pulled machines, that of the newest push first.
func (a *App) PulledLibraries(l *reader.Library) iter.Seq[*reader.Library] {
	return func(yield func(*reader.Library) bool) {
		all, err := pulled.List(pulled.Machines(l.StateDir))
		if err != nil {
			a.Say("ccd: %v", err)
		}
		newest := slices.SortedStableFunc(slices.Values(all), func(x, y pulled.Machine) int { return y.Time.Compare(x.Time) })
		for _, m := range newest {
			p := *l.Place
			if err := openPulled(&p, m, pulled.ShortName(all, m), true); err != nil {
				a.Say("ccd: machine %s: %v", pulled.ShortName(all, m), err)
				continue
			}
			other, err := reader.Open(&p, false)
			if err != nil || !yield(other) {
				return
			}
		}
	}
}

// pulledDamage adds to the error of a damaged archive of another machine what mends it.
func (a *App) pulledDamage(err error) error {
	if d := new(archive.DamageError); a.Machine != "" && errors.As(err, &d) {
		return words.Hint(err, "remove %s, then ccd remote pull", mark.Inline(d.Path, 0))
	}
	return err
}

// Copied finds an original of another machine's session if a copy by `ccd resume --machine` in this project names its ID. The
// index of a pulled archive has only such IDs.
func (a *App) Copied(ctx context.Context, l *reader.Library, want reader.Wanted) (o reader.Original, ok bool) {
	for other := range a.PulledLibraries(l) {
		if !other.Indexed(ctx, want.Name) {
			continue
		}
		o, err := other.Original(ctx, want, func(int64, int64) {})
		if err == nil && slices.ContainsFunc(l.Sessions, func(e *reader.Entry) bool {
			return e.Kept.Resumed.Records > 0 && e.Kept.Resumed.ID == o.Entry.ID
		}) {
			return o, true
		}
	}
	return o, false
}

// notHere adds the machine that has a session to the error that it is not here.
func (a *App) notHere(ctx context.Context, l *reader.Library, arg, agent string, err error) error {
	if _, latest := reader.LatestIn(arg); arg == ThisDir || latest || !errors.Is(err, archive.ErrNotFound) {
		return err
	}
	for other := range a.LoadedOthers(ctx, l) {
		if _, wrong := other.Find(arg, agent); wrong == nil {
			err = fmt.Errorf("find session %s: %w here, but on machine %s", arg, archive.ErrNotFound, other.Machine)
			if a.others {
				return words.Hint(err, "add --machine %s", words.Shell(other.Machine))
			}
			return words.Hint(err, "ccd show --machine %s %s", words.Shell(other.Machine), words.Argument(arg))
		}
	}
	return err
}
