package main

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"

	"ccd/internal/config"
)

// The priorities of systemd's journal, which reads them at the start of a line.
const (
	priorityError   = 3
	priorityWarning = 4
	priorityInfo    = 6
	priorityDebug   = 7
)

// logger returns the log on stderr, by default warnings only. -q logs errors only, -v everything.
func (a *app) logger(c config.Config) (*slog.Logger, error) {
	level, err := a.logLevel(c)
	if err != nil {
		return nil, err
	}
	if a.journalled(a.err) {
		return slog.New(logHandler(journal{a.err}, &slog.HandlerOptions{Level: level, ReplaceAttr: untimed}, c.Log.Format)), nil
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

// journalled reports whether w goes to systemd's journal: $JOURNAL_STREAM then has its device and inode. The variable
// alone proves nothing, because child processes and terminals inherit it.
func (a *app) journalled(w io.Writer) bool {
	f, ok := w.(*os.File)
	stream := a.Getenv("JOURNAL_STREAM")
	if !ok || stream == "" {
		return false
	}
	dev, inode, ok := identity(f)
	return ok && stream == fmt.Sprintf("%d:%d", dev, inode)
}

// talk returns a writer that gives each line a priority if w goes to the journal, else w.
func (a *app) talk(w io.Writer, priority int) io.Writer {
	if !a.journalled(w) {
		return w
	}
	return prioritized{w, priority}
}

// prioritized starts each line with a priority. Each Write must have whole lines.
type prioritized struct {
	w        io.Writer
	priority int
}

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

// journal gives each line of a log the priority of its level.
type journal struct{ w io.Writer }

// Write expects one line that starts with its level.
func (j journal) Write(line []byte) (int, error) {
	p := prioritized{j.w, priorityInfo}
	for level, priority := range map[string]int{"ERROR": priorityError, "WARN": priorityWarning, "DEBUG": priorityDebug} {
		if bytes.HasPrefix(line, []byte("level="+level)) || bytes.HasPrefix(line, []byte(`{"level":"`+level)) {
			p.priority = priority
		}
	}
	return p.Write(line)
}

// untimed removes the time, because the journal adds its own.
func untimed(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}
