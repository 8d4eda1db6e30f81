package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/history"
	"ccd/internal/mark"
	"ccd/internal/transcript"
)

type restoreFlags struct {
	session, agent, output string
	file, at               string
	generation             int
	raw, full, info, force bool
}

var restorePage = page{
	use: "restore ID|SESSION#N", group: agents, short: "print an archived original, exactly",
	forms: []string{
		"ccd restore [--raw | --full | --info] [-o FILE [--force]] ID|SESSION#N",
		"ccd restore --session SESSION [--generation N] [--info] [-o FILE [--force]]",
		"ccd restore --file PATH [--at TIME] [--info] [-o FILE [--force]] [SESSION]",
	},
	long: `ID is what a marker "[ccd ID ...]" names, a unique prefix of it of 4 or more characters, or the whole
marker. SESSION#N is record number N of a session. ccd prints the original as the agent saw it:
strings unescaped, text blocks joined by newline, images decoded, anything else as it stands; of a record
its items in that way, or the line where it has none; of a range the lines as they stand.

What comes out hashes to what went in, or the command fails and says so. An ID that no companion has
published yet is looked for in all archived sessions, newest first. Pipes and files get the exact bytes;
a terminal gets control characters, bidi overrides and bytes that are not UTF-8 as \xNN, unless --raw.
Exits 4 instead of 3 if the item may be in a damaged part of the archive. Text that
looks like a secret is printed all the same, with one line of warning on stderr. --session prints what
is archived; if the transcript has more, a warning says how many bytes.

--file replays what the transcript tells of a file: the last read or write of all of it by then, and the
edits, patches, renames and plain shell commands after it, those of the session's sub-agents with them.
PATH is absolute, relative to the current or to the session's working directory, or the last elements of
a path; without SESSION it is the newest session that touched that file. What cannot be told for certain
(an edit that does not apply, the output of a program) is an error that says which lines are known, and
until when the file was: nothing is made up. Line ends are printed as newlines, as reading tools show
them; changes by other programs and people are seen only where the agent read the file again.`,
	examples: []example{
		{"ccd restore 4tq9c1m7x2ka", "the original, to stdout"},
		{"ccd restore 4tq9 | less", "a prefix will do while it is unique"},
		{"ccd restore --info 4tq9c1m7x2ka", "what it is, where it stood, its SHA-256"},
		{"ccd restore --raw 5d2f7a1e#611", "line 611 of a session, byte for byte"},
		{"ccd restore --full 9h2rv0s8d4pe -o build.log", "the whole of an output that the agent saw cut, into a file"},
		{"ccd restore --session latest -o session.jsonl", "a whole transcript, also when its file is gone"},
		{"ccd restore --file src/money.py --at 2026-01-29T10:30Z", "a file as the agent had it then"},
	},
	json: `one object, with --info only: id, kind, shape ("single", "lines", "list"), agent, session,
generation, path (of the transcript), record, last_record, time, offset and bytes (of the raw span),
size (bytes that restore prints), sha256 (of the raw span; of a range of its lines; of a list of its
raw parts joined by newline), parts, note. With --file: path, how ("read", "written", "edited",
"renamed"), agent, session, generation, record and time (of the last read or change), size, lines, sha256
(of the text), gone and doubt (null, or what, session, record, time: it was deleted or renamed since; a
command may have changed it since)`,
	exits: []int{exitNotFound, exitDamage},
}

func (a *app) restoreCommand() *cobra.Command {
	var f restoreFlags
	args := func(_ *cobra.Command, args []string) error { return f.check(pasted(args), a.json) }
	c := restorePage.command(args, func(c *cobra.Command, args []string) error {
		if f.file != "" {
			return a.restoreFile(c.Context(), f, args)
		}
		return a.restore(c.Context(), f, pasted(args))
	})
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.raw, "raw", false, "print the transcript's line(s) that hold the original, byte for byte")
	flags.BoolVar(&f.full, "full", false, "print the whole of a result that the agent saw cut: what was spilled, or demoted")
	flags.BoolVar(&f.info, "info", false, "tell what it is instead of printing it")
	flags.StringVar(&f.session, "session", "", "restore the whole transcript of `SESSION`")
	flags.StringVar(&f.file, "file", "", "restore the file `PATH` as the agent last read or wrote it")
	flags.StringVar(&f.at, "at", "", "with --file: as of `TIME`, as companions show it (UTC; a minute or a day means all of it)")
	flags.IntVar(&f.generation, "generation", 0, "an earlier life `N` of that transcript's file (default: the last one)")
	agentFlag(c, &f.agent)
	flags.StringVarP(&f.output, "output", "o", "", "write to `FILE`, whole or not at all; refuses to overwrite")
	flags.BoolVar(&f.force, "force", false, "overwrite FILE")
	return c
}

func (f restoreFlags) check(args []string, json bool) error {
	switch {
	case f.file != "" && (len(args) > 1 || f.session != "" || f.raw || f.full || f.generation != 0):
		return fmt.Errorf("--file takes at most a SESSION, and neither --session, --generation, --raw nor --full")
	case f.at != "" && f.file == "":
		return fmt.Errorf("--at goes with --file")
	case f.file != "" && len(args) < 2:
	case f.session == "" && len(args) != 1:
		return fmt.Errorf("want one ID or SESSION#N, or --session SESSION; got %d arguments", len(args))
	case f.session != "" && len(args) != 0:
		return fmt.Errorf("--session takes no ID")
	case f.raw && f.full, f.full && f.session != "":
		return fmt.Errorf("--full goes with an ID or SESSION#N alone")
	}
	switch {
	case f.generation < 0:
		return fmt.Errorf("--generation counts from 1")
	case json && !f.info:
		return fmt.Errorf("--json goes with --info: an original is printed as it is")
	case f.info && f.output != "":
		return fmt.Errorf("--info writes no file")
	}
	return nil
}

func (a *app) restore(ctx context.Context, f restoreFlags, args []string) (err error) {
	l, err := a.locate(true)
	if err != nil {
		return err
	}
	var o original
	defer func() {
		if !f.info {
			l.noteRestore(f.kind(args), o.entry.Key, err)
		}
	}()
	if o, err = a.original(ctx, l, f, args); err != nil {
		return err
	}
	if f.info {
		return a.restoreInfo(ctx, o)
	}
	return a.deliver(f.output, f.force, f.raw, func(w io.Writer) error {
		watch := &secretWatch{w: w}
		err := o.write(ctx, watch)
		if watch.seen != "" {
			fmt.Fprintf(a.err, "ccd: warning: this looks like it holds %s\n", watch.seen)
		}
		if lag := o.entry.lag(); err == nil && lag > 0 && o.session != nil && o.session.N == o.entry.Tip().Generation {
			fmt.Fprintf(a.err, "ccd: warning: %s not archived yet\n", are(int(lag), "byte of "+o.entry.Path, "bytes of "+o.entry.Path))
		}
		return err
	})
}

// original finds what the command line asks for.
func (a *app) original(ctx context.Context, l *library, f restoreFlags, args []string) (original, error) {
	if f.session != "" {
		if err := l.load(ctx); err != nil {
			return original{}, err
		}
		return l.wholeSession(f)
	}
	named := unmark(args[0])
	name, number, isRecord := strings.Cut(named, "#")
	o := original{library: l, raw: f.raw}
	err := error(nil)
	if isRecord || f.full {
		err = l.load(ctx)
	}
	switch {
	case err != nil:
	case isRecord:
		o, err = l.record(ctx, name, number, f)
	default:
		if o.found, err = a.lookup(ctx, l, named); err == nil {
			o.entry = l.of(ctx, o.found.Key)
		}
	}
	if err != nil {
		return original{}, err
	}
	if f.full {
		return o.spilled(ctx)
	}
	return o, nil
}

// pasted makes one argument again of a marker that the shell split at its blanks.
func pasted(args []string) []string {
	if len(args) > 1 && args[0] == "[ccd" {
		return []string{strings.Join(args, " ")}
	}
	return args
}

// unmark takes the ID out of a whole marker, "[ccd ID ...]", as it is pasted from a companion.
func unmark(arg string) string {
	if rest, ok := strings.CutPrefix(strings.TrimSpace(arg), "[ccd "); ok {
		if words := strings.Fields(strings.TrimSuffix(rest, "]")); len(words) > 0 {
			return strings.TrimRight(words[0], "]")
		}
	}
	return arg
}

// lookup finds the one original that an ID, or a prefix of one, names.
func (a *app) lookup(ctx context.Context, l *library, prefix string) (archive.Found, error) {
	if _, _, err := mark.PrefixRange(prefix); err != nil {
		return archive.Found{}, hint(usageError{err}, "ccd restore --session %s, if that is a session", shellWord(prefix))
	}
	var found []archive.Found
	var err error
	if l.reach == nil { // what a companion names stands in the index: nothing else need be read
		found, err = l.archive.Lookup(ctx, prefix)
	}
	if len(found) == 0 {
		show, wipe := a.progress("looking through the archive:")
		defer wipe()
		if err := l.load(ctx); err != nil {
			return archive.Found{}, err
		}
		found, err = history.Find(ctx, l.search(show), prefix)
		err = l.missing(err)
	}
	if len(found) > 0 {
		err = nil // damage elsewhere in the index
	}
	switch {
	case errors.Is(err, history.ErrNotFound) && l.limited():
		return archive.Found{}, hint(err, widen)
	case err != nil && len(l.sessions) == 0:
		return archive.Found{}, hint(err, "ccd run --once (nothing is archived yet)")
	case err != nil:
		return archive.Found{}, err
	case len(found) > 1:
		return archive.Found{}, severalFound(prefix, found)
	}
	return found[0], nil
}

func severalFound(prefix string, found []archive.Found) error {
	e := &history.AmbiguousError{What: "id " + prefix}
	for _, f := range found {
		line := fmt.Sprintf("%s  %s  %s#%d", f.Hash.ID(), f.Note, f.Key.ID, f.Record)
		if len(found) > 1 && found[0].Hash.ID() == found[1].Hash.ID() {
			line += "  sha256 " + f.Hash.String()
		}
		e.Matches = append(e.Matches, line)
	}
	return e
}

func (l *library) wholeSession(f restoreFlags) (original, error) {
	e, err := l.find(f.session, f.agent)
	if err != nil {
		return original{}, err
	}
	if len(e.Generations) == 0 && f.generation == 0 { // an empty transcript comes back empty
		return original{library: l, entry: e, session: &archive.Generation{Sum: mark.Sum(nil)}}, nil
	}
	g, err := e.generation(f.generation)
	if err != nil {
		return original{}, err
	}
	return original{library: l, entry: e, session: &g}, nil
}

// record finds SESSION#N.
func (l *library) record(ctx context.Context, name, number string, f restoreFlags) (original, error) {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return original{}, usageError{fmt.Errorf("parse record %q: want a number from 1 on", number)}
	}
	e, err := l.find(name, f.agent)
	if err != nil {
		return original{}, err
	}
	g, err := e.generation(f.generation)
	if err != nil {
		return original{}, err
	}
	if e.Class == transcript.Attachment {
		return original{}, hint(fmt.Errorf("find record %s#%d: %w: it is an attachment, not lines", e.ID, n, history.ErrNotFound),
			"ccd restore --session %s", shellWord(e.ID))
	}
	r, err := history.Record(ctx, l.archive, e.Session.Session, g.N, n)
	if err != nil {
		return original{}, err
	}
	found := archive.Found{Pointer: history.Whole(r), Key: e.Key, Generation: g.N}
	if !f.raw {
		found.Pointer = history.Items(r)
	}
	return original{library: l, entry: e, found: found, raw: f.raw}, nil
}
