package data

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/disk"
	"ccd/cmd/ccd/internal/reader"
	"ccd/daemon"
	"ccd/internal/mark"
	"ccd/internal/remote/pulled"
	"ccd/internal/transcript"
	"ccd/internal/words"
)

type forgetOutput struct {
	DryRun   bool        `json:"dry_run"`
	Places   int         `json:"places"`
	Bytes    int64       `json:"bytes"`
	Sessions []string    `json:"sessions"`
	Removed  []string    `json:"removed"`
	IDs      int         `json:"ids"`
	StillIn  []stillHeld `json:"still_in"`
}

// stillHeld is a file that may have what was forgotten.
type stillHeld struct {
	Path string `json:"path"`
	What string `json:"what"` // "transcript", "hard link to the old", "copy in object storage" or "machine"
}

// Values of stillHeld.What for which forget prints what to do.
const (
	heldByMachine = "machine" // its pulled sessions have it
	heldByCopy    = "copy or fork"
	heldInStorage = "copy in object storage"
)

type forgetFlags struct {
	match, agent string
	yes, dryRun  bool
}

func (a *app) forgetCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "forget ID|SESSION|SESSION#N...", Short: "remove an original, a session or a text for good",
		Long: `Removes from the archive and all companions: an original (ID), a record
(SESSION#N), a session with its sub-agents and attachments (SESSION), or TEXT,
also as JSON escapes it. Equal text in other sessions is removed too; if it is
shorter than 16 bytes, only from equal records. Labels with TEXT are removed.

In a transcript, ccd replaces the text by "*" of the same length. IDs of
originals with it are no longer valid; ccd restore SESSION#N prints the rest.
ccd does not store the text again from these places, but a later paste, in
this session or another one, is a new place: run ccd archive forget again. A
forgotten session is not archived again.

ccd lists what it will remove and asks. Then it writes a new archive, checks
it and overwrites the old file, and the damaged ones that it had set aside. It
does not change transcripts, which it lists, and backups.

With --json: one object: dry_run, places, bytes, sessions (that have lost
text), removed (sessions), ids (that no longer resolve), still_in [{path,
what}]: files that may have it; of other machines, whose pulled sessions have
it, their names; of copies and forks of the removed sessions, their IDs`,
		Example: `  ccd archive forget --match sk-live-4242
      a key that an agent has printed
  ccd archive forget 4tq9c1m7x2ka
      an original
  ccd archive forget --dry-run 5d2f7a1e
      what would be removed with a session
  ccd archive forget --match -
      a text from stdin, so that it is not in the shell's history`,
	}
	var f forgetFlags
	c.Args = func(_ *cobra.Command, args []string) error {
		if (f.match == "") == (len(args) == 0) {
			return errors.New("expected IDs or sessions, or --match TEXT")
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, args []string) error { return a.forget(c.Context(), f, args) }
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.match, "match", "", "remove `TEXT`; -: read it from stdin")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only list what would be removed")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	a.AgentFlag(c, &f.agent)
	return c
}

func (a *app) forget(ctx context.Context, f forgetFlags, args []string) error {
	d, l, err := a.DaemonFor(ctx, f.dryRun)
	if err == nil {
		err = l.Load(ctx)
	}
	if err != nil {
		return err
	}
	removal, err := a.removal(ctx, d, l, f, args)
	if err != nil {
		return err
	}
	preview, machines, err := a.preview(ctx, l, removal)
	if err != nil {
		return err
	}
	out := forgetOutput{DryRun: f.dryRun, Places: preview.Places, Bytes: preview.Bytes, Sessions: names(slices.Concat(preview.Touched, preview.States)), Removed: names(preview.Sessions)}
	out.StillIn = slices.Concat(holders(l, preview), machines, copies(l, preview.Sessions))
	if f.dryRun {
		return a.printForget(out)
	}
	for _, k := range preview.Sessions {
		if e := l.Entry(k); e != nil {
			a.Say("session: %s", cli.SessionLine(e))
		}
	}
	if !f.yes {
		if preview.Places > 0 {
			a.Say("text: %s in %s", words.Count(preview.Places, "place"), words.Count(len(out.Sessions), "session"))
		}
		if err := a.sure(ctx, "Remove this for good?"); err != nil {
			return err
		}
	}
	show, wipe := a.Progress("forgetting:")
	done, err := d.Forget(ctx, removal, preview, show)
	wipe()
	if err != nil {
		return err
	}
	out.IDs, out.Places, out.Bytes = len(done.IDs), done.Places, done.Bytes
	if done.Links > 0 {
		out.StillIn = append(out.StillIn, stillHeld{mark.Name(l.ArchivePath), "hard link to the old"})
	}
	return a.printForget(out)
}

// preview looks for what r removes here, and for the machines whose pulled archives may have it. It fails if nothing is here.
func (a *app) preview(ctx context.Context, l *reader.Library, r archive.Removal) (here archive.Removed, machines []stillHeld, err error) {
	show, wipe := a.Progress("searching the archive:")
	here, err = l.Archive.Preview(ctx, r, show)
	wipe()
	if err != nil {
		return here, nil, err
	}
	var names []string
	for other := range a.PulledLibraries(l) {
		if there, err := other.Archive.Preview(ctx, r, nil); err != nil || !there.Empty() {
			names = append(names, mark.Inline(other.Machine, 60))
			machines = append(machines, stillHeld{names[len(names)-1], heldByMachine})
		}
	}
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case here.Empty() && len(names) > 0:
		err = fmt.Errorf("forget: %w, but the pulled archive of %s has it", archive.ErrNotFound, strings.Join(names, ", "))
	case here.Empty():
		err = fmt.Errorf("forget: %w in any archived session", archive.ErrNotFound)
	}
	return here, machines, err
}

// removal returns what the arguments name.
func (a *app) removal(ctx context.Context, d *daemon.Daemon, l *reader.Library, f forgetFlags, args []string) (r archive.Removal, err error) {
	text := f.match
	if text == "-" {
		b, err := io.ReadAll(io.LimitReader(a.Input(ctx), transcript.MaxLine))
		if err != nil {
			return r, fmt.Errorf("read text: %w", err)
		}
		text = strings.TrimRight(string(b), "\r\n")
	}
	if f.match != "" && utf8.RuneCountInString(text) < minMatch {
		return r, words.Usage(fmt.Errorf("TEXT must have %d characters or more", minMatch))
	}
	if f.match != "" {
		for _, form := range EscapedForms(text) {
			r.Texts = append(r.Texts, archive.Text{Bytes: []byte(form), To: len(form), Fill: '*'})
		}
	}
	for _, arg := range args {
		arg = reader.Unmark(arg)
		_, _, bad := mark.PrefixRange(arg)
		e, err := a.Find(l, arg, f.agent)
		if err == nil {
			if found, err := l.Archive.Lookup(ctx, mark.ID(arg)); bad == nil && err == nil && len(found) > 0 {
				return r, fmt.Errorf("forget %s: a session's ID and an original's begin with it", arg)
			}
			r.Sessions = append(r.Sessions, d.Family(e.Key)...)
			continue
		}
		if !errors.Is(err, archive.ErrNotFound) || bad != nil && !strings.Contains(arg, "#") {
			return r, err
		}
		show, wipe := a.Progress("looking through the archive:")
		texts, err := l.Texts(ctx, reader.Wanted{Name: arg, Agent: f.agent}, show)
		wipe()
		if err != nil {
			return r, err
		}
		r.Texts = append(r.Texts, texts...)
	}
	return r, nil
}

// maxListed is how many files that may have a text are listed without -v.
const maxListed = 20

// minMatch is the shortest TEXT, in characters: a shorter one occurs in unrelated places.
const minMatch = 4

// EscapedForms returns the text and its forms in JSON, in JSON inside a JSON string, and so on.
func EscapedForms(text string) []string {
	forms := []string{text}
	level := forms
	for range 3 {
		var next []string
		for _, form := range level {
			for _, escape := range []func(string) string{PlainJSON, HtmlJSON, SlashJSON, asciiJSON(`\u%04x`), asciiJSON(`\u%04X`), StrictJSON} {
				next = append(next, escape(form))
			}
		}
		slices.Sort(next)
		level = slices.Compact(next)
		for _, form := range level {
			if !slices.Contains(forms, form) {
				forms = append(forms, form)
			}
		}
	}
	return forms
}

// PlainJSON returns a text as a JSON string has it.
func PlainJSON(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // cannot fail
	return strings.TrimSuffix(b.String(), "\n")[1 : b.Len()-2]
}

// HtmlJSON is plainJSON with <, > and & escaped.
func HtmlJSON(text string) string {
	b, _ := json.Marshal(text) // cannot fail
	return string(b[1 : len(b)-1])
}

// SlashJSON is plainJSON with slashes escaped.
func SlashJSON(text string) string { return strings.ReplaceAll(PlainJSON(text), "/", `\/`) }

// asciiJSON returns the form of PlainJSON in which everything but ASCII is escaped by a format.
func asciiJSON(format string) func(string) string {
	return func(text string) string {
		return escaped(PlainJSON(text), format, func(c rune) bool { return c >= 0x7f })
	}
}

// StrictJSON escapes as .NET does: everything that means something in HTML too.
func StrictJSON(text string) string {
	quoted := strings.ReplaceAll(PlainJSON(text), `\"`, `\u0022`)
	return escaped(quoted, `\u%04X`, func(c rune) bool { return c >= 0x7f || strings.ContainsRune("<>&'+`", c) })
}

// escaped escapes some characters of a text by a format of UTF-16 units.
func escaped(text, format string, which func(rune) bool) string {
	var b strings.Builder
	for _, c := range text {
		if !which(c) {
			b.WriteRune(c)
			continue
		}
		for _, unit := range utf16.Encode([]rune{c}) {
			fmt.Fprintf(&b, format, unit)
		}
	}
	return b.String()
}

func names(keys []transcript.Key) []string {
	all := []string{}
	for _, k := range keys {
		all = append(all, mark.Name(k.ID))
	}
	return all
}

// holders returns the files that may have what is forgotten, and that ccd does not change.
func holders(l *reader.Library, r archive.Removed) []stillHeld {
	all := []stillHeld{}
	for _, k := range slices.Concat(r.Touched, r.Sessions) {
		e := l.Entry(k)
		if e == nil || !disk.Exists(e.Path) {
			continue
		}
		if known := slices.ContainsFunc(all, func(h stillHeld) bool { return h.Path == mark.Name(e.Path) }); !known {
			all = append(all, stillHeld{mark.Name(e.Path), "transcript"})
		}
	}
	if p, err := pulled.ReadPush(filepath.Join(l.StateDir, pulled.Dir)); err == nil && !p.Pushed.IsZero() {
		all = append(all, stillHeld{p.URL, heldInStorage})
	}
	return all
}

// copies returns the sessions that stay and are copies or forks of removed ones, or of such ones: they may have the same records.
func copies(l *reader.Library, removed []transcript.Key) (all []stillHeld) {
	of := map[string]bool{}
	for _, k := range removed {
		of[k.ID] = true
	}
	for n := -1; n < len(all); {
		n = len(all)
		for _, e := range l.Sessions {
			if !of[e.ID] && (of[e.Kept.Resumed.ID] || of[e.Kept.Origin]) {
				of[e.ID] = true
				all = append(all, stillHeld{mark.Name(e.ID), heldByCopy})
			}
		}
	}
	return all
}

// sure asks a question, and fails unless the answer is yes. Without a terminal that is an error of usage, as of setup.
func (a *app) sure(ctx context.Context, question string) error {
	if !a.Answers() {
		return words.Hint(words.Usage(errors.New("no terminal to confirm on; nothing was removed")), "add --yes")
	}
	yes, err := a.Yes(ctx, question, false)
	if err == nil && !yes {
		err = errors.New("not confirmed; nothing removed")
	}
	return err
}

func (a *app) printForget(out forgetOutput) error {
	if a.JSON {
		return a.PrintJSON(out)
	}
	var parts []string
	if out.Places > 0 {
		parts = append(parts, fmt.Sprintf("%s in %s", words.Count(out.Places, "place"), words.Count(len(out.Sessions), "session")))
	}
	if len(out.Removed) > 0 {
		parts = append(parts, words.Count(len(out.Removed), "whole file"))
	}
	did := "forgotten"
	if out.DryRun {
		did = "would be forgotten"
	}
	a.Say("%s: %s (%s)", did, strings.Join(parts, " and "), humanize.IBytes(uint64(out.Bytes)))
	if out.IDs > 0 {
		a.Say("%s no longer valid", words.Are(out.IDs, "ID", "IDs"))
	}
	if len(out.Sessions) > 0 {
		a.Say("a later paste of it is a new place: ccd archives that")
	}
	for i, s := range out.StillIn {
		if i == maxListed && !a.Verbose {
			a.SayMore(len(out.StillIn)-i, "file", "add -v")
			break
		}
		switch s.What {
		case heldInStorage:
			s.Path += " (ccd remote push hides it there, ccd remote gc removes it)"
		case heldByCopy:
			s.Path += " (ccd archive forget " + s.Path + ")"
		case heldByMachine:
			s.Path += " (ccd archive forget and ccd remote push there, then ccd remote pull here)"
		}
		if err := a.Print(fmt.Sprintf("not changed, may still contain it: %s %s\n", s.What, s.Path)); err != nil {
			return err
		}
	}
	return nil
}
