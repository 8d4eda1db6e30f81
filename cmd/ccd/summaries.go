package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"ccd/daemon"
	"ccd/internal/config"
	"ccd/internal/summarizer"
)

// summarizerName names the configured command in the options of a companion, "" where none is.
func summarizerName(c config.Config) string {
	if len(c.Summarizer.Command) == 0 {
		return ""
	}
	return summarizer.Command{Args: c.Summarizer.Command}.Name()
}

// onBehalf reports whether this process runs below a summarizer's command. It then starts none, and follows nothing.
func (a *app) onBehalf() bool { return a.getenv(summarizer.Variable) != "" }

// summarize returns what has the configured command write a summary, nil where none is configured or may be run.
func (a *app) summarize(l *library) func(ctx context.Context, input string) ([]byte, error) {
	c := l.config.Summarizer
	if len(c.Command) == 0 || a.onBehalf() {
		return nil
	}
	command := summarizer.Command{
		Args: c.Command, Dir: filepath.Join(l.stateDir, "summarizer"), Env: a.env, Timeout: c.Timeout,
	}
	return func(ctx context.Context, input string) ([]byte, error) {
		out, err := command.Run(ctx, input)
		if errors.Is(err, summarizer.ErrNotStarted) {
			err = fmt.Errorf("%w: %w", daemon.ErrUnavailable, err)
		}
		return out, err
	}
}

// summariesLine tells people what writes summaries.
func summariesLine(c config.Config) string {
	return fmt.Sprintf("%s, at most %s for each", strings.Join(c.Summarizer.Command, " "), c.Summarizer.Timeout)
}

// checkSummarizer looks for the configured command; the service must have been installed since it was configured.
func checkSummarizer(_ context.Context, s *surroundings) []finding {
	const check = "summarizer"
	command := s.l.config.Summarizer.Command
	if len(command) == 0 {
		return nil
	}
	path, err := exec.LookPath(command[0])
	switch {
	case err != nil:
		return []finding{wrong(check, "name the program by its whole path in summarizer.command", "%v", err)}
	case s.service.state.Confined:
		return []finding{s.byInstall(wrong(check, s.install(), "%s cannot be run by the service: it was installed when no command was configured", path))}
	}
	return []finding{ok(check, "%s", path)}
}
