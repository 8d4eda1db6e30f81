// Package cli has what all commands share: the streams, the environment, the global flags, how a session is chosen, how
// lists, errors and hints are printed, and the exit codes. Data goes to stdout, messages go to stderr, and a command that
// only reads opens no file for writing. The commands are in the packages below it, one file each.
package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/status"
	"ccd/cmd/ccd/internal/table"
	"ccd/daemon"
	"ccd/internal/lazy"
	"ccd/internal/mark"
	"ccd/internal/words"
)

// Std has the streams of a command.
type Std struct {
	In       io.Reader
	Out, Err io.Writer
}

// App has what every command needs: the streams, the environment and the global flags.
type App struct {
	Std
	account.Env
	Commands func(*App) []*cobra.Command                         // all of ccd
	Start    func(context.Context, *App) (shown bool, err error) // `ccd` without a command; shown is false where help is better
	Release  string                                              // the version that the linker set, or ""
	Process  bool                                                // the process is this command's alone, so it may limit its memory
	Agent    bool                                                // the caller is an agent, so only the sessions in its reach exist
	JSON     bool
	Quiet    bool
	Verbose  bool
	Resumes  bool   // with machine: IDs of the copy are added to the index of its archive
	Machine  string // read the pulled archive of this machine instead of the own one
	others   bool   // the command has --machine
	Damaged  bool   // ccd said that the answer lacks something because of damage
}

// Say prints a message on stderr, unless --quiet is given.
func (a *App) Say(format string, args ...any) {
	if !a.Quiet {
		fmt.Fprint(a.Err, a.wrapped(a.Err, mark.Visible(fmt.Sprintf(format+"\n", args...))))
	}
}

// SayMore says how much of a list is left out, and what prints it.
func (a *App) SayMore(n int, of, how string) {
	if n > 0 {
		a.Say("%s: %s", words.Count(n, "more "+of), how)
	}
}

// PrintJSON prints v as indented JSON on stdout.
func (a *App) PrintJSON(v any) error {
	return a.Shown(func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
		return nil
	})
}

// Print writes text to stdout. If that is a terminal, it escapes control characters.
func (a *App) Print(text string) error {
	return a.Shown(func(w io.Writer) error { return writeText(w, text) })
}

// PrintWrapped is Print. On a terminal, long lines break between words.
func (a *App) PrintWrapped(text string) error { return a.Print(a.wrapped(a.Out, text)) }

// Height returns at most how many lines of the terminal that stdout is a text takes.
func (a *App) Height(text string) int {
	return len(table.WrapLines(a.wrapped(a.Out, text), a.Width()))
}

func (a *App) wrapped(to io.Writer, text string) string {
	width := a.widthOf(to)
	if width <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		command := ""
		if at := copied().FindStringIndex(line); at != nil && table.CellsOf(line) > width { // the terminal wraps it, so that it is copied whole
			line, command = line[:at[0]+1], strings.TrimLeft(line[at[0]+1:], " ")
		}
		if line != "" {
			b.WriteString(strings.Join(table.WrapLines(line, width), "\n") + "\n")
		}
		b.WriteString(command)
	}
	return b.String()
}

// copied matches a command at the end of a line, or a path.
var copied = lazy.Regexp(`: (\S*ccd|rm|go run \S+) ([^:]|:\S)*\n?$|: ?/\S+\n?$`)

// Draw writes text with control sequences. The caller has escaped what comes from transcripts.
func (a *App) Draw(text string) error { return writeText(a.Out, text) }

func writeText(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// Table prints rows in columns of equal width on stdout.
func (a *App) Table(rows [][]string) error {
	return a.Shown(func(to io.Writer) error {
		w := tabwriter.NewWriter(to, 0, 8, 2, ' ', 0)
		for _, r := range rows {
			fmt.Fprintln(w, strings.TrimRight(strings.Join(r, "\t"), "\t"))
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
		return nil
	})
}

// Shown calls write with stdout. If that is a terminal, control characters are escaped.
func (a *App) Shown(write func(io.Writer) error) error {
	if !IsTTY(a.Out) {
		return write(a.Out)
	}
	v := &mark.VisibleWriter{W: a.Out}
	err := write(v)
	if cerr := v.Close(); err == nil {
		err = cerr
	}
	return err
}

// guarded is the terminal of stderr. It escapes control characters in everything that is written to it, in whole
// characters.
type guarded struct{ file *os.File }

// Write escapes and writes whole characters. It returns the length of p, or 0 with the error of the terminal.
func (g guarded) Write(p []byte) (int, error) {
	if _, err := g.file.WriteString(mark.Visible(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Unguarded returns the terminal behind w, for control sequences and for child processes.
func Unguarded(w io.Writer) io.Writer {
	if g, ok := w.(guarded); ok {
		return g.file
	}
	return w
}

// Terminal reports whether w is a terminal that takes control sequences. Only there ccd uses color and progress bars.
func (a *App) Terminal(w io.Writer) bool { return IsTTY(w) && a.Getenv("TERM") != "dumb" }

// FileOf returns the file of a stream, also if it is guarded, or nil.
func FileOf(stream any) *os.File {
	switch s := stream.(type) {
	case guarded:
		return s.file
	case *os.File:
		return s
	}
	return nil
}

// IsTTY reports whether a stream is a terminal.
func IsTTY(stream any) bool {
	f := FileOf(stream)
	return f != nil && term.IsTerminal(f.Fd())
}

// Progress returns a function that shows the progress of a long command, at most ten times a second and only on a
// terminal, and one that clears it.
func (a *App) Progress(what string) (show func(done, total int64), wipe func()) {
	return a.progressWith(what, func(int64, int64) string { return "" })
}

// ByteProgress is progress of bytes, with their total, the rate and the time left.
func (a *App) ByteProgress(what string) (show func(done, total int64), wipe func()) {
	begun := time.Now()
	return a.progressWith(what, func(done, total int64) string {
		p := daemon.Progress{Since: begun, Bytes: total, Done: done}
		return " of " + status.Pace(p.At(time.Now()))
	})
}

func (a *App) progressWith(what string, rest func(done, total int64) string) (show func(done, total int64), wipe func()) {
	if a.Quiet || a.JSON || !a.Terminal(a.Err) {
		return func(int64, int64) {}, func() {}
	}
	var last time.Time
	show = func(done, total int64) {
		if now := time.Now(); now.Sub(last) >= 100*time.Millisecond {
			last = now
			percent := int(100 * done / max(total, 1))
			bar := strings.Repeat("#", min(max(percent, 0), 100)/10)
			line := fmt.Sprintf("%s [%-10s] %d%%%s", what, bar, percent, rest(done, total))
			fmt.Fprintf(Unguarded(a.Err), "\r%s\x1b[K", table.Cut(line, cmp.Or(a.widthOf(a.Err), 80)-1)) // one that wraps is not overwritten
		}
	}
	return show, func() {
		if !last.IsZero() {
			fmt.Fprint(Unguarded(a.Err), "\r\x1b[K")
		}
	}
}

// Waiting says on a terminal, after a second, what takes so long. The returned function clears that.
func (a *App) Waiting() (done func()) {
	if a.Quiet || a.JSON || !a.Terminal(a.Err) {
		return func() {}
	}
	said := make(chan bool)
	timer := time.AfterFunc(time.Second, func() {
		fmt.Fprint(Unguarded(a.Err), "reading the session…")
		close(said)
	})
	return func() {
		if !timer.Stop() {
			<-said
			fmt.Fprint(Unguarded(a.Err), "\r\x1b[K")
		}
	}
}

// PrintTable prints a table: fitted to a terminal, else one tab-separated line per row, with nothing cut.
func PrintTable[T any](a *App, rows []T, columns []table.Column[T]) error {
	width := a.Width()
	if width <= 0 {
		return a.Print(table.Tabbed(rows, columns))
	}
	return a.Draw(strings.Join(table.Fit(rows, columns, width, a.Colours()), "\n") + "\n")
}

// PrintFacts prints lines of a name and a value. On a terminal, long values continue on the next line.
func (a *App) PrintFacts(rows [][]string) error {
	width := a.Width()
	if width <= 0 {
		return a.Table(rows)
	}
	return a.Draw(strings.Join(table.Facts(rows, width, a.Colours()), "\n") + "\n")
}

// PrintObject prints an object with --json, else a line for each of its keys that is not empty.
func (a *App) PrintObject(object any) error {
	if a.JSON {
		return a.PrintJSON(object)
	}
	var rows [][]string
	v := reflect.ValueOf(object)
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("json")
		if value := v.Field(i); name != "-" && !value.IsZero() {
			text := fmt.Sprint(value.Interface())
			if t, ok := value.Interface().(*time.Time); ok {
				if text = t.Format(time.RFC3339); a.Width() > 0 {
					text = words.Local(*t)
				}
			}
			rows = append(rows, []string{name, mark.Inline(text, 0)})
		}
	}
	if width := a.Width(); width > 0 { // without colors: a key may be named like a state
		return a.Draw(strings.Join(table.Facts(rows, width, false), "\n") + "\n")
	}
	return a.Table(rows)
}

// Width returns the width of the terminal that stdout is, or 0 if it is none.
func (a *App) Width() int { return a.widthOf(a.Out) }

// Lines returns the lines of the terminal that stdout is, or 0 if it is none or they are unknown.
func (a *App) Lines() int {
	_, lines := a.screen(a.Out)
	return lines
}

func (a *App) widthOf(w io.Writer) int {
	columns, _ := a.screen(w)
	return columns
}

func (a *App) screen(w io.Writer) (columns, lines int) {
	if a.Terminal(w) {
		columns, lines, _ = term.GetSize(FileOf(w).Fd()) // 0 if unknown
	}
	return columns, lines
}

// Colours reports whether stdout takes colors: it is a terminal and NO_COLOR is not set.
func (a *App) Colours() bool { return a.Terminal(a.Out) && a.Getenv("NO_COLOR") == "" }
