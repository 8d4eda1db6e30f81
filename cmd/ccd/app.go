package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"ccd/cmd/ccd/internal/account"
	"ccd/cmd/ccd/internal/status"
	"ccd/daemon"
	"ccd/internal/mark"
)

// std has the streams of a command.
type std struct {
	in       io.Reader
	out, err io.Writer
}

// app has what every command needs: the streams, the environment and the global flags.
type app struct {
	std
	account.Env
	run     func(ctx context.Context, args []string, s std, env account.Env) int // runs a whole command line
	release string                                                               // the version that the linker set, or ""
	process bool                                                                 // the process is this command's alone, so it may limit its memory
	agent   bool                                                                 // the caller is an agent, so only the sessions in its reach exist
	json    bool
	quiet   bool
	verbose bool
	resumes bool   // with machine: IDs of the copy are added to the index of its archive
	machine string // read the pulled archive of this machine instead of the own one
	verb    string // the command that a hint with --machine names: this one if it has that flag, else show
	damaged bool   // ccd said that the answer lacks something because of damage
}

// say prints a message on stderr, unless --quiet is given.
func (a *app) say(format string, args ...any) {
	if !a.quiet {
		fmt.Fprint(a.err, mark.Visible(fmt.Sprintf(format+"\n", args...)))
	}
}

func (a *app) printJSON(v any) error {
	return a.shown(func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
		return nil
	})
}

// print writes text to stdout. If that is a terminal, it escapes control characters.
func (a *app) print(text string) error {
	return a.shown(func(w io.Writer) error { return writeText(w, text) })
}

// printWrapped is print. On a terminal, long lines break between words.
func (a *app) printWrapped(text string) error {
	if width := a.width(); width > 0 {
		text = strings.Join(wrapLines(text, width), "\n") + "\n"
	}
	return a.print(text)
}

// draw writes text with control sequences. The caller has escaped what comes from transcripts.
func (a *app) draw(text string) error { return writeText(a.out, text) }

func writeText(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

func (a *app) table(rows [][]string) error {
	return a.shown(func(w io.Writer) error { return writeTable(w, rows) })
}

// shown calls write with stdout. If that is a terminal, control characters are escaped.
func (a *app) shown(write func(io.Writer) error) error {
	if !isTTY(a.out) {
		return write(a.out)
	}
	v := &mark.VisibleWriter{W: a.out}
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

// unguarded returns the terminal behind w, for control sequences and for child processes.
func unguarded(w io.Writer) io.Writer {
	if g, ok := w.(guarded); ok {
		return g.file
	}
	return w
}

func writeTable(to io.Writer, rows [][]string) error {
	w := tabwriter.NewWriter(to, 0, 8, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(w, strings.TrimRight(strings.Join(r, "\t"), "\t"))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// terminal reports whether w is a terminal that takes control sequences. Only there ccd uses color and progress bars.
func (a *app) terminal(w io.Writer) bool { return isTTY(w) && a.Getenv("TERM") != "dumb" }

// fileOf returns the file of a stream, also if it is guarded, or nil.
func fileOf(stream any) *os.File {
	switch s := stream.(type) {
	case guarded:
		return s.file
	case *os.File:
		return s
	}
	return nil
}

// isTTY reports whether a stream is a terminal of any kind.
func isTTY(stream any) bool {
	f := fileOf(stream)
	if f == nil {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&fs.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// progress returns a function that shows the progress of a long command, at most ten times a second and only on a
// terminal, and one that clears it.
func (a *app) progress(what string) (show func(done, total int64), wipe func()) {
	return a.progressWith(what, func(int64, int64) string { return "" })
}

// byteProgress is progress of bytes, with their total, the rate and the time left.
func (a *app) byteProgress(what string) (show func(done, total int64), wipe func()) {
	begun := time.Now()
	return a.progressWith(what, func(done, total int64) string {
		p := daemon.Progress{Since: begun, Bytes: total, Archived: done, Compacted: done}
		return " of " + status.Pace(p.At(time.Now()))
	})
}

func (a *app) progressWith(what string, rest func(done, total int64) string) (show func(done, total int64), wipe func()) {
	if a.quiet || a.json || !a.terminal(a.err) {
		return func(int64, int64) {}, func() {}
	}
	var last time.Time
	show = func(done, total int64) {
		if now := time.Now(); now.Sub(last) >= 100*time.Millisecond {
			last = now
			percent := int(100 * done / max(total, 1))
			bar := strings.Repeat("#", min(max(percent, 0), 100)/5)
			fmt.Fprintf(unguarded(a.err), "\r%s [%-20s] %d%%%s\x1b[K", what, bar, percent, rest(done, total))
		}
	}
	return show, func() {
		if !last.IsZero() {
			fmt.Fprint(unguarded(a.err), "\r\x1b[K")
		}
	}
}
