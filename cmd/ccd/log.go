package main

import (
	"fmt"
	"io"
	"log/slog"

	"ccd/internal/config"
)

// logger returns the log on stderr, by default warnings only. -q logs errors only, -v everything.
func (a *app) logger(c config.Config) (*slog.Logger, error) {
	level, err := a.logLevel(c)
	if err != nil {
		return nil, err
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
