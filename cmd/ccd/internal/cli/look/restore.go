package look

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ccd/archive"
	"ccd/cmd/ccd/internal/cli"
	"ccd/cmd/ccd/internal/reader"
	"ccd/internal/atomicfile"
	"ccd/internal/mark"
	"ccd/internal/redact"
	"ccd/internal/words"
)

type restoreFlags struct {
	session, agent, output string
	file, at               string
	generation             int
	raw, info, force       bool
}

func (a *app) restoreCommand() *cobra.Command {
	var f restoreFlags
	c := &cobra.Command{
		Use: "restore ID|SESSION#N...", GroupID: cli.Everyday, Short: "print an archived original, exactly",
		Long: `ID is the ID in a marker "[ccd ID ...]", the first 4 or more characters of it,
or the whole marker. SESSION#N is record N of a session, SESSION#3-#9 are
several, SESSION#3- all from there. ccd prints the original as the agent saw it,
and fails if it does not match its hash; of several originals, each begins a
line. On a terminal, several have headings, control characters are shown as \xNN
and images are left out; pipes and files get the exact bytes.

--file prints a file as the agent last read or wrote it. If the transcript
does not show all of it at once, ccd fails. A path that is not absolute is one
of this project's; of another project's file ccd prints only where it is.

` + timeWords + `

With --json: one object (of several originals, an array), with --info only: id,
kind, shape ("single", "lines", "list"), agent, session, generation, path (of
the transcript), record, last_record, time, offset and bytes (of the raw span),
size (bytes that restore prints), sha256 (of the raw span; of a range of its
lines; of a list of its raw parts joined by newline), parts, note. With --file:
path, how ("read", "written", "edited", "renamed"; "found by an edit", which is
after TIME), agent, session, generation, record and time (of the last read or
change, or of that edit), size, lines, sha256 (of the text), gone (it was
deleted or renamed since) and doubt (a command may have changed it since): null
or {what, session, record, time}`,
		Example: `  ccd restore 4tq9c1m7x2ka
      the original behind a marker
  ccd restore 5d2f7a1e#3-#9
      seven records of a session
  ccd restore --session latest -o session.jsonl
      a whole transcript, even if its file is deleted
  ccd restore --file src/money.py --at yesterday
      a file as it was at the end of yesterday
  ccd restore --file src/money.py --at 5d2f7a1e#12
      a file as record 12 of a session, and the results of its calls, left it`,
	}
	c.Args = func(_ *cobra.Command, args []string) error { return f.check(joinMarker(args), a.JSON) }
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.file != "" {
			if f.session != "" {
				args = []string{f.session}
			}
			return a.counted(f, a.restoreFile(c.Context(), f, args))
		}
		return a.counted(f, a.restore(c.Context(), f, joinMarker(args)))
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.raw, "raw", false, "print the transcript's lines, byte for byte")
	flags.BoolVar(&f.info, "info", false, "describe the original instead of printing it")
	flags.StringVar(&f.session, "session", "", "print the whole transcript of `SESSION`")
	flags.StringVar(&f.file, "file", "", "print the file `PATH` as the agent last saw it")
	a.timeFlag(c, &f.at, "at", "with --file: as it was at the end of `TIME`, a day or a minute, or after SESSION#N", true)
	flags.IntVar(&f.generation, "generation", 0, "use generation `N` of the transcript, not the last one")
	a.AgentFlag(c, &f.agent)
	a.MachineFlag(c)
	outputFlags(flags, &f.output, &f.force)
	cli.NotWith(c, "file", "raw", "generation")
	cli.NotWith(c, "info", "output")
	return c
}

// counted counts the end of a restore; --info is none.
func (a *app) counted(f restoreFlags, err error) error {
	if f.info {
		return err
	}
	return a.Restored(err)
}

func (f restoreFlags) check(args []string, json bool) error {
	switch {
	case f.file != "" && (len(args) > 1 || len(args) == 1 && f.session != ""):
		return fmt.Errorf("--file takes at most one SESSION")
	case f.at != "" && f.file == "":
		return fmt.Errorf("--at needs --file")
	case f.file != "" && len(args) < 2:
	case f.session == "" && len(args) == 0:
		return errors.New("expected an ID or SESSION#N")
	case len(args) > 1 && slices.ContainsFunc(args, func(arg string) bool { return len(reader.Unmark(arg)) != mark.IDLen && !strings.Contains(arg, "#") }):
		return errors.New("of several originals, each must be a whole ID or SESSION#N")
	case f.session != "" && len(args) != 0:
		return fmt.Errorf("--session takes no ID")
	}
	switch {
	case f.generation < 0:
		return fmt.Errorf("--generation must be 1 or more")
	case json && !f.info:
		return fmt.Errorf("--json needs --info")
	}
	return nil
}

func (a *app) restore(ctx context.Context, f restoreFlags, args []string) error {
	l, err := a.Locate(true)
	if err != nil {
		return err
	}
	r := restoring{app: a, restoreFlags: f, library: l, rules: l.Agents.Redact, several: len(args) > 1}
	if !a.Agent {
		l.Agents = l.Agents.Exact()
	}
	for _, arg := range args {
		want := reader.Wanted{Name: reader.Unmark(arg), Agent: f.agent, Generation: f.generation, Raw: f.raw}
		if want.OfSession() {
			_, first, last, err := want.Range()
			if err != nil {
				return err
			}
			r.several = r.several || first != last
		}
		r.wanted = append(r.wanted, want)
	}
	if f.info {
		return r.infos(ctx)
	}
	return a.deliver(l, f.output, f.force, f.raw, func(w io.Writer) error { return r.write(ctx, w) })
}

// restoring is a run of `ccd restore`.
type restoring struct {
	*app
	restoreFlags
	library *reader.Library
	rules   *redact.Rules
	wanted  []reader.Wanted // none: the whole of a session
	several bool
}

// all yields what is wanted, as far as it is there: a session, originals, and records of sessions.
func (r *restoring) all(ctx context.Context) iter.Seq2[reader.Original, error] {
	return func(yield func(reader.Original, error) bool) {
		if r.session != "" {
			e, err := r.chosen(ctx, r.session)
			if err != nil {
				yield(reader.Original{}, err)
				return
			}
			yield(r.library.Whole(e, r.generation))
		}
		for _, want := range r.wanted {
			for o, err := range r.originals(ctx, want) {
				if !yield(o, err) {
					return
				}
			}
		}
	}
}

// chosen returns the session that arg names.
func (r *restoring) chosen(ctx context.Context, arg string) (*reader.Entry, error) {
	if err := r.library.Load(ctx); err != nil {
		return nil, err
	}
	return r.Choose(ctx, r.library, cmp.Or(arg, cli.ThisDir), r.agent)
}

// originals yields what an argument names: an original, or records of a session.
func (r *restoring) originals(ctx context.Context, want reader.Wanted) iter.Seq2[reader.Original, error] {
	one := func(o reader.Original, err error) iter.Seq2[reader.Original, error] {
		return func(yield func(reader.Original, error) bool) { yield(o, err) }
	}
	if !want.OfSession() {
		return one(r.found(ctx, want))
	}
	name, first, last, err := want.Range()
	if err != nil {
		return one(reader.Original{}, err)
	}
	e, err := r.chosen(ctx, name)
	if err != nil {
		return one(reader.Original{}, err)
	}
	return r.library.Records(ctx, e, want, first, last)
}

// each does something with each original. One that cannot be restored is reported, and does not stop the others.
func (r *restoring) each(ctx context.Context, do func(reader.Original) error) (failed error) {
	for o, err := range r.all(ctx) {
		if err == nil {
			err = do(o)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && failed != nil {
			r.Say("ccd: %v", failed)
		}
		failed = cmp.Or(err, failed)
	}
	return failed
}

func (r *restoring) infos(ctx context.Context) error {
	infos := []reader.Info{}
	failed := r.each(ctx, func(o reader.Original) error {
		i, err := o.Info(ctx)
		if err == nil {
			infos = append(infos, i)
		}
		return err
	})
	if r.JSON && r.several {
		return cmp.Or(r.PrintJSON(infos), failed)
	}
	for _, i := range infos {
		if !r.JSON && i.Note == i.Kind {
			i.Note = ""
		}
		failed = cmp.Or(failed, r.PrintObject(i))
	}
	return failed
}

// write writes the originals. Of several, each begins a line.
func (r *restoring) write(ctx context.Context, w io.Writer) error {
	out := &lastByte{w: w}
	return r.each(ctx, func(o reader.Original) error {
		if r.several && r.output == "" && !r.raw && r.Terminal(r.Out) {
			out.heading(o.Heading())
		}
		if err := r.writeOne(ctx, out, o); err != nil || !r.several {
			return err
		}
		return out.endLine()
	})
}

// found finds an original here or on another machine.
func (r *restoring) found(ctx context.Context, want reader.Wanted) (reader.Original, error) {
	show, wipe := r.Progress("looking through the archive:")
	o, err := r.original(ctx, r.library, want, show)
	wipe()
	if err != nil && !r.Agent {
		err = r.meant(ctx, want, err)
	}
	return o, err
}

// meant adds to the error of an argument that names no original what else it names.
func (r *restoring) meant(ctx context.Context, want reader.Wanted, err error) error {
	if !errors.As(err, new(words.UsageError)) && !errors.Is(err, archive.ErrNotFound) || r.library.Load(ctx) != nil {
		return err
	}
	if e, wrong := r.library.Find(want.Name, want.Agent); wrong == nil {
		return words.Hint(fmt.Errorf("%w: it names a session", err), "ccd restore --session %s prints all of it", r.library.Argument(e))
	}
	if strings.Contains(want.Name, ".") {
		return words.Hint(err, "ccd restore --file %s", words.Shell(want.Name))
	}
	return err
}

// writeOne writes an original, and says which secrets it has, what of it is left out, and what is not archived yet. An agent gets it
// without secrets.
func (r *restoring) writeOne(ctx context.Context, w io.Writer, o reader.Original) error {
	write := r.seen(ctx, o)
	var err error
	if r.Agent || o.Whole && !cli.IsTTY(r.Err) { // to look for secrets takes longer than the rest
		err = write(w)
	} else {
		err = r.countSecrets(r.rules, w, write)
	}
	if err != nil {
		return err
	}
	if r.Agent {
		hidden, err := o.Hidden(ctx)
		if hidden != "" {
			r.Say(hiddenNote, hidden, o.ID())
		}
		if err != nil {
			return err
		}
	}
	if lag := o.Lag(); lag > 0 {
		fmt.Fprintf(r.Err, "ccd: warning: %s not archived yet\n", words.Are(int(lag), "byte of "+o.Entry.Path, "bytes of "+o.Entry.Path))
	}
	return nil
}

// seen returns what writes an original: to a terminal without its images.
func (r *restoring) seen(ctx context.Context, o reader.Original) func(io.Writer) error {
	if r.output == "" && !r.raw && !r.Agent && r.Terminal(r.Out) {
		text, images, err := o.Apart(ctx)
		if err == nil && (o.Picture() || len(images) > 0) {
			r.Say("%s left out: ccd restore -o FILE %s", words.Count(max(1, len(images)), "image"), o.ID())
			return func(w io.Writer) error { return writeAll(w, text) }
		}
	}
	return func(w io.Writer) error { return o.Write(ctx, w) }
}

func writeAll(w io.Writer, text []byte) error {
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// original finds what an ID names here, or in the archives that were pulled of other machines: it means the same bytes in each of them.
func (a *app) original(ctx context.Context, l *reader.Library, want reader.Wanted, show func(done, total int64)) (reader.Original, error) {
	o, err := l.Original(ctx, want, show)
	if want.OfSession() || !errors.Is(err, archive.ErrNotFound) {
		return o, err
	}
	if a.Agent {
		if o, ok := a.Copied(ctx, l, want); ok {
			return o, nil
		}
	}
	var names []string
	for other := range a.OtherLibraries(l) {
		if o, err := other.Original(ctx, want, show); err == nil {
			a.Say("from machine %s", cli.NameAndAge(other.Place))
			return o, nil
		}
		names = append(names, cli.NameAndAge(other.Place))
	}
	switch {
	case ctx.Err() != nil:
		return o, ctx.Err()
	case len(names) > 0:
		return o, words.Hint(fmt.Errorf("%w, nor on %s", err, strings.Join(names, ", ")), "ccd remote pull")
	}
	return o, err
}

// hiddenNote tells an agent what it did not get. Its arguments are reader.Kinds and an ID.
const hiddenNote = "redacted: %s; only the user can print them: ccd restore %s"

// countSecrets calls write with w, and says on stderr which secrets were written.
func (a *app) countSecrets(rules *redact.Rules, w io.Writer, write func(io.Writer) error) error {
	secrets := redact.NewStream(rules.Session(), io.Discard)
	err := write(io.MultiWriter(w, secrets))
	if err := cmp.Or(err, secrets.Close()); err != nil {
		return err
	}
	if found := reader.Kinds(secrets.Kinds()); found != "" {
		a.Say("ccd: this text has %s", found)
	}
	return nil
}

// joinMarker joins a marker that the shell split at its spaces.
func joinMarker(args []string) []string {
	if len(args) > 1 && args[0] == "[ccd" {
		return []string{strings.Join(args, " ")}
	}
	return args
}

// timeFlag adds a flag for a time: its beginning or, if it ends, its end. An empty one, such as an unset variable, must not mean every time.
// How it is read is said, but of a date.
func (a *app) timeFlag(c *cobra.Command, to *string, name, text string, ends bool) {
	c.Flags().Func(name, text, func(given string) error {
		if strings.TrimSpace(given) == "" {
			return errors.New("must not be empty")
		}
		*to = given
		return nil
	})
	cli.Before(c, func() {
		at, span, err := words.Instant(*to, time.Now())
		if ends {
			at = at.Add(max(0, span-time.Nanosecond))
		}
		if _, date := time.Parse(time.DateOnly, (*to)[:min(len(*to), len(time.DateOnly))]); date != nil && err == nil && *to != "" {
			a.Say("--%s %s is %s", name, *to, at.Local().Format("Mon 2006-01-02 15:04:05"))
		}
	})
}

// timeWords explains TIME.
const timeWords = `TIME is a time (14:00, 2026-01-29 14:00, 2026-01-29T14:00Z), a day (2026-01-29,
today, yesterday, tuesday), both (tuesday 14:00), or an age (3h, 2d, 1w). Times
without a zone are local.`

// restoreFile prints a file as the agent last read or wrote it.
func (a *app) restoreFile(ctx context.Context, f restoreFlags, args []string) error {
	l, err := a.Library(ctx)
	if err != nil {
		return err
	}
	rules := l.Agents.Redact
	l.Agents = l.Agents.Exact()
	want := reader.WantedFile{Path: f.file, At: f.at, Agent: f.agent}
	if a.Terminal(a.Err) {
		want.Naming = l.ShortName
	}
	if len(args) == 1 {
		e, err := a.Choose(ctx, l, args[0], f.agent)
		if err != nil {
			return err
		}
		want.Session, want.Agent = e.ID, e.Agent
	} else {
		a.Incomplete(l) // a damaged session may have changed the file later
	}
	show, wipe := a.Progress("looking for the file:")
	v, err := l.File(ctx, want, show)
	wipe()
	if err != nil {
		return err
	}
	if f.info {
		return a.PrintObject(*v)
	}
	for _, line := range v.Notes(want.Naming) {
		a.Say("%s", line)
	}
	return a.deliver(l, f.output, f.force, false, func(w io.Writer) error {
		return a.countSecrets(rules, w, func(w io.Writer) error { return writeAll(w, []byte(v.Text)) })
	})
}

// deliver sends what write produces to stdout or to a file that appears completely or not at all. It escapes control
// characters only on a terminal, unless raw is set.
func (a *app) deliver(l *reader.Library, file string, force, raw bool, write func(io.Writer) error) error {
	if file == "" || file == "-" {
		end := &lastByte{}
		through := func(w io.Writer) error {
			end.w = w
			return write(end)
		}
		var err error
		if raw {
			err = through(a.Out)
		} else {
			err = a.Shown(through)
		}
		if err == nil && end.inLine() && cli.IsTTY(a.Out) {
			fmt.Fprintln(a.Err) // a newline on stderr for the prompt; stdout stays exact
		}
		return err
	}
	file = a.Path(file)
	refuse := words.Hint(fmt.Errorf("write %s: %w", file, fs.ErrExist), "use --force to overwrite it")
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(file); err == nil {
		root, watched := l.WatchedRoot(file)
		switch {
		case !info.Mode().IsRegular(): // which nothing may replace
			return fmt.Errorf("write %s: it is no regular file", file)
		case watched:
			return words.Hint(fmt.Errorf("write %s: it is below the watched root %s, where ccd changes nothing", file, root), "choose a FILE elsewhere")
		}
		mode = info.Mode().Perm()
	}
	if _, err := os.Lstat(file); err == nil && !force {
		return refuse
	}
	p, err := atomicfile.Create(file, mode)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(p, 256<<10)
	if err := errors.Join(write(b), b.Flush()); err != nil {
		p.Discard()
		return err
	}
	if force {
		return p.Commit()
	}
	if err := p.CommitNew(); errors.Is(err, fs.ErrExist) {
		return refuse
	} else if err != nil {
		return err
	}
	return nil
}

// lastByte remembers the last byte written through it.
type lastByte struct {
	w    io.Writer
	last byte
	any  bool
}

// Write implements io.Writer.
func (l *lastByte) Write(p []byte) (int, error) {
	if len(p) > 0 {
		l.last, l.any = p[len(p)-1], true
	}
	return l.w.Write(p)
}

// inLine reports whether what was written ends within a line.
func (l *lastByte) inLine() bool { return l.any && l.last != '\n' }

// heading writes a line above what comes, with an empty one after what came before.
func (l *lastByte) heading(text string) {
	if l.any {
		text = "\n" + text
	}
	fmt.Fprintln(l, text)
}

// endLine ends a line that is not ended.
func (l *lastByte) endLine() error {
	if !l.inLine() {
		return nil
	}
	if _, err := io.WriteString(l, "\n"); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}
