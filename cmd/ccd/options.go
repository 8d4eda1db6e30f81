package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"ccd/archive"
	"ccd/compactor"
	"ccd/daemon"
	"ccd/internal/agent/registry"
	"ccd/internal/config"
	"ccd/watcher"
)

// config reads the configuration: defaults, file, environment. Its file is --config, else $CCD_CONFIG, else the usual
// place, where none needs to be.
func (a *app) config() (config.Config, error) {
	file, err := a.usualConfig()
	if err != nil {
		return config.Config{}, err
	}
	file, explicit := cmp.Or(a.configFile, file), a.configFile != "" || a.getenv("CCD_CONFIG") != ""
	c, err := config.Load(file, explicit, a.env)
	if errors.As(err, new(interface{ Hint() string })) {
		return c, err
	}
	return c, hint(err, "ccd config --default")
}

// usualConfig is the configuration's file unless --config names another one.
func (a *app) usualConfig() (string, error) {
	home, err := a.home()
	if file := a.getenv("CCD_CONFIG"); err != nil || file != "" {
		return file, err
	}
	return config.File(a.getenv, home)
}

// locate reads the configuration and finds what it names. Nothing is made, and nothing is read but the configuration.
func (a *app) locate(readOnly bool) (*library, error) {
	c, err := a.config()
	if err != nil {
		return nil, err
	}
	home, err := a.home()
	if err != nil {
		return nil, err
	}
	l := &library{app: a, config: c, configPath: c.Path()}
	for _, name := range []string{"CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID"} {
		if id := a.getenv(name); id != "" {
			l.callers = append(l.callers, id)
		}
	}
	if a.agent {
		if l.reach, err = reachOf(c, home, l.callers); err != nil {
			return nil, err
		}
	}
	if l.stateDir, err = config.StateDir(a.getenv, home); err != nil {
		return nil, err
	}
	if l.archivePath = c.Archive.Path; l.archivePath == "" {
		l.archivePath = filepath.Join(l.stateDir, "archive.db")
	}
	l.roots = a.roots(c, home)
	if err := l.logBeside(); err != nil {
		return nil, err
	}
	l.watch = watcher.Options{
		Roots: l.roots, Ignore: c.Watch.Ignore, Settle: c.Watch.Settle, MaxWait: c.Watch.MaxWait,
		RefreshIdle: c.Companion.RefreshIdle, ScanInterval: c.Watch.ScanInterval, Poll: c.Watch.Poll,
		Match: func(r watcher.Root, path string) bool { _, ok := registry.Find(r.Agent, r.Path, path); return ok },
	}
	o := archive.Options{ReadOnly: readOnly, MinFree: c.Archive.MinFree, MaxSize: c.Archive.MaxSize}
	l.archive, err = archive.Open(l.archivePath, o)
	return l, err
}

// roots are each agent's own directories, then those that the configuration adds.
func (a *app) roots(c config.Config, home string) []watcher.Root {
	var all []watcher.Root
	for _, f := range registry.All() {
		for _, dir := range append(f.Roots(a.getenv, home), c.Watch.Roots[f.Agent]...) {
			all = append(all, watcher.Root{Agent: f.Agent, Path: dir})
		}
	}
	return all
}

// compactionOptions is what the configuration says of everything that changes a companion.
func compactionOptions(c config.Config) compactor.Options {
	o := compactor.Defaults()
	o.MaxTokens, o.RestoreFiles, o.Host = c.Companion.MaxTokens, c.Companion.RestoreFiles, c.Companion.Host
	o.Windows = c.Models.Windows
	o.Threshold, o.Pressure, o.MinSavings = c.Trigger.Threshold, c.Trigger.Pressure, c.Trigger.MinSavings
	o.RecentShare, o.RecentMessages, o.RecentResults = c.Compaction.RecentShare, c.Compaction.RecentMessages, c.Compaction.RecentResults
	o.FileAge, o.TalkAge, o.OutputChars = c.Compaction.FileAge, c.Compaction.TalkAge, c.Compaction.OutputChars
	o.MicroKeep, o.MicroTokens, o.Dedup = c.Compaction.MicrocompactKeep, c.Compaction.MicrocompactTokens, c.Compaction.Dedup
	o.NearDedup, o.Contradictions, o.KeepImportance = c.Compaction.NearDedup, c.Compaction.Contradictions, c.Compaction.KeepImportance
	o.LargeTokens, o.LargeChars = c.Compaction.LargeOutputTokens, c.Compaction.LargeOutputChars
	o.SummaryChars, o.LongCap = c.Compaction.SummaryChars, c.Compaction.LongCap
	o.RestoreTokens, o.RestoreTotal = c.Compaction.RestoreFileTokens, c.Compaction.RestoreTotalTokens
	o.Off, o.Summarizer = c.Compaction.Off, summarizerName(c)
	if o.Host == "" {
		if name, err := os.Hostname(); err == nil {
			o.Host = name
		}
	}
	return o
}

// daemonFor makes a daemon of the configuration; readOnly for one that is only asked what it would do.
func (a *app) daemonFor(ctx context.Context, readOnly bool) (*daemon.Daemon, *library, error) {
	l, err := a.locate(readOnly)
	if err != nil {
		return nil, nil, err
	}
	log, err := a.logger(l.config)
	if err != nil {
		return nil, nil, err
	}
	d, err := daemon.New(ctx, a.daemonOptions(l, log))
	return d, l, err
}

// daemonOptions is what the configuration says to a daemon.
func (a *app) daemonOptions(l *library, log *slog.Logger) daemon.Options {
	config := ""
	if l.configPath != "" {
		config = absolute(l.configPath)
	}
	return daemon.Options{
		Config: config, Archive: l.archive, StateDir: l.stateDir, Watch: l.watch, Compaction: compactionOptions(l.config),
		CompanionDir: l.config.Companion.Dir, KeepAfterPurge: l.config.Companion.KeepAfterPurge, Log: log, Version: version().Version, Summarize: a.summarize(l),
	}
}

// logBeside fails where the daemon's log would lie among transcripts.
func (l *library) logBeside() error {
	file := l.config.Log.File
	for _, r := range l.roots {
		if rel, err := filepath.Rel(r.Path, file); file != "" && err == nil && filepath.IsLocal(rel) {
			return fmt.Errorf("read config: log.file (%s): %s lies below the watched root %s", l.source("log.file"), file, r.Path)
		}
	}
	return nil
}

func (l *library) minFree() int64 { return l.config.Archive.MinFree }

// source tells where a key's value comes from.
func (l *library) source(key string) string {
	for _, v := range l.config.Values() {
		if v.Key == key {
			return v.Source
		}
	}
	return ""
}

// written returns a key's value as the configuration has it: sizes in the units that they were given in.
func (l *library) written(key string) string {
	for _, v := range l.config.Values() {
		if v.Key == key {
			return fmt.Sprint(v.Value)
		}
	}
	return ""
}
