package cli

import (
	"fmt"
	"io"
	"log/slog"

	"ccd/internal/config"
)

// LogTo returns a log that writes to w, by default warnings only. -q logs errors only, -v everything.
func (a *App) LogTo(w io.Writer, c config.Config) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Log.Level)); err != nil {
		return nil, fmt.Errorf("read log.level: %w", err)
	}
	if a.Quiet {
		level = slog.LevelError
	} else if a.Verbose {
		level = slog.LevelDebug
	}
	o := &slog.HandlerOptions{Level: level}
	if c.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return slog.New(slog.NewTextHandler(w, o)), nil
}
