package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"ccd/internal/config"
)

// The journal's priorities, as systemd reads them at the beginning of a line.
const (
	priorityError   = 3
	priorityWarning = 4
	priorityInfo    = 6
	priorityDebug   = 7
)

// logger writes to stderr what [log] asks for, which is warnings where it says nothing: -q errors only, -v everything.
func (a *app) logger(c config.Config) (*slog.Logger, error) {
	level, err := a.logLevel(c)
	if err != nil {
		return nil, err
	}
	if a.journalled(a.err) {
		return slog.New(newJournalHandler(a.err, level, c.Log.Format)), nil
	}
	return slog.New(logHandler(a.err, &slog.HandlerOptions{Level: level}, c.Log.Format)), nil
}

func (a *app) logLevel(c config.Config) (level slog.Level, err error) {
	if err := level.UnmarshalText([]byte(c.Log.Level)); err != nil {
		return level, fmt.Errorf("read log.level: %w", err)
	}
	if a.quiet {
		level = slog.LevelError
	} else if a.verbose {
		level = slog.LevelDebug
	}
	return level, nil
}

func logHandler(w io.Writer, o *slog.HandlerOptions, format string) slog.Handler {
	if format == "json" {
		return slog.NewJSONHandler(w, o)
	}
	return slog.NewTextHandler(w, o)
}

// journalled reports whether w is a stream of systemd's journal: $JOURNAL_STREAM is then its device and inode. That the
// variable is there alone tells nothing: what the daemon starts, and a terminal of the session, inherits it.
func (a *app) journalled(w io.Writer) bool {
	f, ok := w.(*os.File)
	stream := a.getenv("JOURNAL_STREAM")
	if !ok || stream == "" {
		return false
	}
	dev, inode, ok := identity(f)
	return ok && stream == fmt.Sprintf("%d:%d", dev, inode)
}

// talk returns what writes to w lines of one priority, where w goes to the journal, else w.
func (a *app) talk(w io.Writer, priority int) io.Writer {
	if !a.journalled(w) {
		return w
	}
	return prioritized{w, priority}
}

// prioritized begins each line with a priority. It is given whole lines.
type prioritized struct {
	w        io.Writer
	priority int
}

// Write implements io.Writer.
func (p prioritized) Write(text []byte) (int, error) {
	var b bytes.Buffer
	for line := range bytes.Lines(text) {
		fmt.Fprintf(&b, "<%d>%s", p.priority, line)
	}
	if _, err := p.w.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(text), nil
}

// journalHandler has one handler for each priority. None writes a time: the journal has its own.
type journalHandler [priorityDebug + 1]slog.Handler

func newJournalHandler(w io.Writer, level slog.Level, format string) journalHandler {
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	var h journalHandler
	for _, p := range []int{priorityError, priorityWarning, priorityInfo, priorityDebug} {
		h[p] = logHandler(prioritized{w, p}, o, format)
	}
	return h
}

// priority is the journal's word for a level.
func priority(l slog.Level) int {
	switch {
	case l >= slog.LevelError:
		return priorityError
	case l >= slog.LevelWarn:
		return priorityWarning
	case l >= slog.LevelInfo:
		return priorityInfo
	}
	return priorityDebug
}

// Enabled implements slog.Handler.
func (h journalHandler) Enabled(ctx context.Context, l slog.Level) bool {
	return h[priority(l)].Enabled(ctx, l)
}

// Handle implements slog.Handler.
func (h journalHandler) Handle(ctx context.Context, r slog.Record) error {
	return h[priority(r.Level)].Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h journalHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.each(func(one slog.Handler) slog.Handler { return one.WithAttrs(attrs) })
}

// WithGroup implements slog.Handler.
func (h journalHandler) WithGroup(name string) slog.Handler {
	return h.each(func(one slog.Handler) slog.Handler { return one.WithGroup(name) })
}

func (h journalHandler) each(f func(slog.Handler) slog.Handler) journalHandler {
	for i, one := range h {
		if one != nil {
			h[i] = f(one)
		}
	}
	return h
}
